//! A system of a run, and the version that it is of.

use rqps_model::{RunSystem, SystemSource, Version};

/// A system of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) run_idx: usize,
    pub(super) system_idx: usize,
}

/// The version that the server says, else the one that was asked for.
pub(super) fn version_of(system: &RunSystem) -> Option<Version> {
    match (&system.version, &system.spec.source) {
        (Some(version), _) | (None, SystemSource::Catalogue { version, .. }) => {
            Some(version.clone())
        }
        (None, _) => None,
    }
}
