//! A script and where it is.

use std::path::PathBuf;

/// A script to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Script {
    /// Its name in messages: `oltp_read_only`, `my.lua`.
    pub(crate) name: String,
    /// Where it is.
    pub(crate) place: Place,
}

/// Where a script is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A file.
    File(PathBuf),
    /// In the program or from standard input: its name for messages and its text.
    Text(String, String),
}

impl Script {
    /// Its path, or what stands for it.
    pub(super) fn path(&self) -> String {
        match &self.place {
            Place::File(path) => path.display().to_string(),
            Place::Text(..) => self.name.clone(),
        }
    }
}
