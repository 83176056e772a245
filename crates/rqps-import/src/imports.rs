//! The result of an import: runs, and the files that were not imported.

use std::path::Path;

use rqps_model::Run;

use crate::Error;

/// Runs without ids, and the problems of files that are in no run.
#[derive(Debug, Default)]
pub struct Imports {
    /// The runs; at least one.
    pub runs: Vec<Run>,
    /// Files that were not imported, each with what to do.
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
