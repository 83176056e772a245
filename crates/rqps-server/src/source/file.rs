//! An archive that the user has: unpacked from where it is, never changed.

use std::path::PathBuf;

use serde::Deserialize;

use super::Checksum;
use crate::Error;

/// An archive on this host.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalFile {
    /// Where it is; relative to the catalogue's file.
    pub path: PathBuf,
    /// Its checksum, if it should be checked.
    pub checksum: Option<Checksum>,
    /// Name of the layout by which it is unpacked.
    pub layout: String,
}

impl LocalFile {
    /// What to say when it is not there.
    pub(super) fn missing(&self) -> Error {
        Error::FileMissing { path: self.path.clone() }
    }
}
