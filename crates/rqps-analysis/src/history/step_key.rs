//! A step as series know it: the same one in every run.

use rqps_model::RunStep;

/// A step as series know it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StepKey {
    pub(super) name: String,
    pub(super) clients: u32,
}

/// The key of a step.
pub(super) fn key(step: &RunStep) -> StepKey {
    StepKey { name: step.info.name.clone(), clients: step.clients }
}
