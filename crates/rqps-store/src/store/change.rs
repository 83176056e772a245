//! What of a run may change: its status, what is learnt of its systems, outcomes of steps; and its
//! removal as a whole.

use rqps_model::run::SystemStep;
use rqps_model::{RunStatus, RunSystem, Sizes, Warning};
use rusqlite::{Connection, Params, params};

use crate::store::Store;
use crate::store::insert::{insert_settings, outcome_columns};
use crate::store::warnings;
use crate::values::{Json, Text, Word};
use crate::{Error, RunRef};

impl Store {
    /// Sets a run's status and end (`None` while it is under way).
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be written.
    pub fn set_run_status(
        &self,
        run_id: &str,
        status: RunStatus,
        finished_unix_ms: Option<i64>,
    ) -> Result<(), Error> {
        self.transact(&format!("set the status of run {run_id}"), |transaction| {
            change_one(
                transaction,
                "UPDATE run SET status = ?, finished_unix_ms = ? WHERE run_id = ?",
                params![Word(status), finished_unix_ms, run_id],
            )
        })
    }

    /// Counts a resumption, stores its warning, and sets the run under way.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be written.
    pub fn mark_resumed(&self, run_id: &str, warning: &Warning) -> Result<(), Error> {
        self.transact(&format!("resume run {run_id}"), |transaction| {
            change_one(
                transaction,
                "UPDATE run SET n_resumed = n_resumed + 1, status = ?, finished_unix_ms = NULL
                 WHERE run_id = ?",
                params![Word(RunStatus::Running), run_id],
            )?;
            warnings::insert(transaction, run_id, warning)
        })
    }

    /// Replaces the facts of a system: version, origin, build, settings, session. What the plan asked for
    /// (`spec`) is unchanged.
    ///
    /// # Errors
    /// When there is no such run or system, or the store cannot be written.
    pub fn set_system_facts(
        &self,
        run_id: &str,
        system_idx: usize,
        system: &RunSystem,
    ) -> Result<(), Error> {
        let RunSystem { version, version_text, origin, .. } = system;
        let action = format!("store the facts of system {system_idx} of run {run_id}");
        self.transact(&action, |transaction| {
            change_one(
                transaction,
                "UPDATE system SET version = ?, version_text = ?, origin = ?
                 WHERE run_id = ? AND system_idx = ?",
                params![version.as_ref().map(Text), version_text, origin, run_id, system_idx],
            )?;
            let of = params![run_id, system_idx];
            transaction.execute("DELETE FROM setting WHERE run_id = ? AND system_idx = ?", of)?;
            insert_settings(transaction, run_id, system_idx, system)
        })
    }

    /// Sets the outcome of a step on a system, and its facts besides the slices.
    ///
    /// # Errors
    /// When there is no such run, step or system, or the store cannot be written.
    pub fn set_outcome(
        &self,
        run_id: &str,
        step_idx: usize,
        system_idx: usize,
        state: &SystemStep,
    ) -> Result<(), Error> {
        let SystemStep {
            outcome,
            slices: _,
            sizes,
            debt,
            checks,
            plans: _,
            plans_of_starts: _,
            table_state: _,
            recalls: _,
        } = state;
        let (word, reason) = outcome_columns(outcome);
        let Sizes { database_bytes, data_dir_bytes, redo_bytes, binlog_bytes } = sizes;
        let action =
            format!("store the outcome of step {step_idx} on system {system_idx} of run {run_id}");
        self.transact(&action, |transaction| {
            change_one(
                transaction,
                "UPDATE step_system SET outcome = ?, failure_reason = ?, database_bytes = ?,
                   data_dir_bytes = ?, redo_bytes = ?, binlog_bytes = ?, debt = ?, checks = ?
                 WHERE run_id = ? AND step_idx = ? AND system_idx = ?",
                params![
                    word,
                    reason,
                    database_bytes,
                    data_dir_bytes,
                    redo_bytes,
                    binlog_bytes,
                    Json(debt),
                    Json(checks),
                    run_id,
                    step_idx,
                    system_idx
                ],
            )
        })
    }

    /// Removes a run with all its rows and artifacts, and returns its id.
    ///
    /// # Errors
    /// When there is no such run, another process works on it, or something cannot be removed.
    pub fn remove_run(&self, run: &RunRef) -> Result<String, Error> {
        let run_id = self.resolve(run)?;
        // Held until the end, so that no other process begins to work on it meanwhile.
        let lock = self.lock_run(&run_id)?;
        self.transact(&format!("remove run {run_id}"), |transaction| {
            change_one(transaction, "DELETE FROM run WHERE run_id = ?", [&run_id])
        })?;
        // The report that was written beside it, where there is one.
        let _ = std::fs::remove_file(self.dir().join(format!("{run_id}.html")));
        let path = self.artifact_path(&run_id)?;
        std::fs::remove_dir_all(&path).map_err(|source| Error::File {
            action: "remove",
            path,
            source,
        })?;
        drop(lock);
        Ok(run_id)
    }
}

/// Runs a statement that must change one row.
fn change_one(connection: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<()> {
    match connection.execute(sql, params)? {
        1 => Ok(()),
        0 => Err(rusqlite::Error::QueryReturnedNoRows),
        n => Err(rusqlite::Error::StatementChangedRows(n)),
    }
}
