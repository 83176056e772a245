//! Unfinished runs, with what says whether one of them can be resumed.

use rqps_model::{RunStatus, Schedule, Scope, Warning, WarningKind};
use rusqlite::{Connection, params};

use crate::store::Store;
use crate::store::warnings;
use crate::values::{Json, Word};
use crate::{Error, unix_ms};

/// A run that has not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// Its id.
    pub run_id: String,
    /// Its plan as TOML, with every default written out.
    pub plan: String,
    /// Its schedule, as carried out.
    pub schedule: Schedule,
}

/// Says of a run in the main database that it is not to be resumed here, unless it has finished.
pub(crate) fn keep_from_going_on(connection: &Connection, run_id: &str) -> rusqlite::Result<()> {
    let sql = "SELECT status FROM main.run WHERE run_id = ?";
    let status: Word<RunStatus> = connection.query_row(sql, [run_id], |row| row.get(0))?;
    if status.0 == RunStatus::Finished {
        return Ok(());
    }
    // Its servers' data are elsewhere, and maybe its host was another.
    let (scope, kind) = (Scope::Run, WarningKind::UnfinishedArchive);
    let warning = Warning { at_unix_ms: Some(unix_ms()), scope, kind };
    warnings::insert(connection, run_id, &warning)
}

impl Store {
    /// All runs that can be resumed here, the latest first: unfinished ones that did not come in an archive.
    /// [`Store::lock_run`] says whether a process still works on one; the list may be outdated when the lock
    /// is held.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list_unfinished(&self) -> Result<Vec<Unfinished>, Error> {
        let read = || {
            let mut statement = self.connection.prepare_cached(
                "SELECT run_id, plan, schedule FROM run WHERE status <> ?
                   AND run_id NOT IN (SELECT run_id FROM run_warning WHERE kind = ?)
                 ORDER BY started_unix_ms DESC, run_id DESC",
            )?;
            let rows = statement.query_map(
                params![Word(RunStatus::Finished), WarningKind::UnfinishedArchive.key()],
                |row| {
                    let schedule = row.get::<_, Json<_>>(2)?.0;
                    Ok(Unfinished { run_id: row.get(0)?, plan: row.get(1)?, schedule })
                },
            )?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        read().map_err(|e| self.sql_error("find runs to resume", e))
    }
}
