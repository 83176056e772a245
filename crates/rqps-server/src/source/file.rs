//! An archive that the user has: unpacked from where it is, never changed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Checksum;
use crate::Error;

/// An archive on this host.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LocalFile {
    /// Where it is; relative to the catalogue's file.
    pub path: PathBuf,
    /// Its checksum, if any.
    pub checksum: Option<Checksum>,
    /// Name of the layout by which it is unpacked.
    pub layout: String,
    /// Its size and when it was changed, as of when the catalogue was read; empty where it is not there.
    #[serde(skip)]
    state: String,
}

impl LocalFile {
    /// Makes its path one of `base`, and looks at what is there. Once: systems of one run that are made of it are
    /// made of the same, and an archive that is put in its place meanwhile is another one to the next command.
    pub(super) fn resolve(&mut self, base: &Path) {
        self.path = base.join(&self.path);
        self.state = self.state_now();
    }

    fn state_now(&self) -> String {
        fs::metadata(&self.path).map_or_else(
            |_| String::new(),
            |there| {
                let (n, s, ns) = (there.len(), there.mtime(), there.mtime_nsec());
                format!("{n} bytes, changed {s}.{ns:09}")
            },
        )
    }

    /// Refuses what was made of it when it was changed on the way; a checksum tells by itself.
    pub(super) fn check_unchanged(&self) -> Result<(), Error> {
        if self.checksum.is_some() || self.state_now() == self.state {
            return Ok(());
        }
        Err(Error::FileChanged { path: self.path.clone() })
    }

    /// Which file it is; by its state where no checksum tells.
    pub(super) fn identity(&self) -> String {
        let path = self.path.display();
        if self.checksum.is_some() || self.state.is_empty() {
            return path.to_string();
        }
        format!("{path} ({})", self.state)
    }

    /// Whether `identity` is of a file at its path that is no longer there.
    pub(super) fn was(&self, identity: &str) -> bool {
        let is_gone = self.checksum.is_none() && self.state.is_empty();
        is_gone && identity.starts_with(&format!("{} (", self.path.display()))
    }

    /// What to say when it is not there.
    pub(super) fn missing(&self) -> Error {
        Error::FileMissing { path: self.path.clone() }
    }
}
