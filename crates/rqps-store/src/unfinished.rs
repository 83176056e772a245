//! Runs that have not finished, with what says whether one of them can go on.

use rqps_model::{RunStatus, Schedule};
use rusqlite::params;

use crate::Error;
use crate::store::Store;
use crate::values::{Json, Word};

/// A run that has not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// Its id.
    pub run_id: String,
    /// Its plan as TOML, with every default written out.
    pub plan: String,
    /// Its order of slices, as it was carried out.
    pub schedule: Schedule,
}

impl Store {
    /// All runs that have not finished, the latest first. Whether a process still works on one is for
    /// [`Store::lock_run`] to say; what this gives may be old by the time that the lock is held.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list_unfinished(&self) -> Result<Vec<Unfinished>, Error> {
        let read = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT run_id, plan, schedule FROM run WHERE status <> ?
                 ORDER BY started_unix_ms DESC, run_id DESC",
            )?;
            let rows = statement.query_map(params![Word(RunStatus::Finished)], |row| {
                let schedule = row.get::<_, Json<_>>(2)?.0;
                Ok(Unfinished { run_id: row.get(0)?, plan: row.get(1)?, schedule })
            })?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|e| self.sql_error("look for runs to go on with", e))
    }
}
