//! What an import yields: runs, and what was not taken over.

use std::path::Path;

use rqps_model::Run;

use crate::Error;

/// Runs whose ids are still to be given, and what is in none of them.
#[derive(Debug, Default)]
pub struct Imports {
    /// The runs; at least one.
    pub runs: Vec<Run>,
    /// Files that were not taken over, each with what to do about it.
    pub skipped: Vec<Error>,
}

impl Imports {
    /// The imports of `dir`, if there is a run among them.
    pub(crate) fn or_error(mut self, dir: &Path) -> Result<Self, Error> {
        if !self.runs.is_empty() {
            return Ok(self);
        }
        Err(match self.skipped.pop() {
            Some(problem) if self.skipped.is_empty() => problem,
            last => {
                self.skipped.extend(last);
                Error::NothingTaken { dir: dir.to_path_buf(), problems: self.skipped }
            }
        })
    }
}
