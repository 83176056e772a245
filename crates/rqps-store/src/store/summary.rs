//! Runs in a line each, for listings.

use rqps_model::{Imported, Label, RunStatus, Tool};
use rusqlite::{Connection, Row};
use serde::Serialize;

use crate::Error;
use crate::store::Store;
use crate::values::{Json, Word};

/// A run without its slices.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RunSummary {
    /// Its id.
    pub id: String,
    /// The plan's name.
    pub name: String,
    /// Status.
    pub status: RunStatus,
    /// Start, milliseconds since 1970.
    pub started_unix_ms: i64,
    /// End, where it has ended, milliseconds since 1970.
    pub finished_unix_ms: Option<i64>,
    /// Number of resumptions.
    pub n_resumed: u32,
    /// Labels of its systems in the plan's order.
    pub systems: Vec<Label>,
    /// Index of the base among the systems.
    pub base: usize,
    /// Steps on systems: one for each pair of a step and a system.
    pub n_steps: u64,
    /// Those of them that are done.
    pub n_done: u64,
    /// Those of them that failed.
    pub n_failed: u64,
    /// Slices stored.
    pub n_slices: u64,
    /// The tool whose files were imported; absent for a measured run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub imported: Option<Tool>,
}

impl Store {
    /// All runs, the latest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list_runs(&self) -> Result<Vec<RunSummary>, Error> {
        select_summaries(&self.connection).map_err(|e| self.sql_error("list the runs", e))
    }
}

fn select_summaries(connection: &Connection) -> rusqlite::Result<Vec<RunSummary>> {
    let mut statement = connection.prepare_cached(
        "SELECT run_id, name, status, started_unix_ms, finished_unix_ms, n_resumed,
           base_system_idx,
           (SELECT count(*) FROM step_system AS s WHERE s.run_id = run.run_id),
           (SELECT count(*) FROM step_system AS s WHERE s.run_id = run.run_id
              AND outcome = 'done'),
           (SELECT count(*) FROM step_system AS s WHERE s.run_id = run.run_id
              AND outcome = 'failed'),
           (SELECT count(*) FROM slice AS s WHERE s.run_id = run.run_id), imported
         FROM run ORDER BY started_unix_ms DESC, run_id DESC",
    )?;
    let mut labels = connection
        .prepare_cached("SELECT label FROM system WHERE run_id = ? ORDER BY system_idx")?;
    let summaries = statement.query_map([], summary_of)?;
    let mut summaries = summaries.collect::<rusqlite::Result<Vec<_>>>()?;
    for summary in &mut summaries {
        let systems = labels.query_map([&summary.id], |row| Ok(Label(row.get(0)?)))?;
        summary.systems = systems.collect::<rusqlite::Result<_>>()?;
    }
    Ok(summaries)
}

fn summary_of(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    Ok(RunSummary {
        id: row.get(0)?,
        name: row.get(1)?,
        status: row.get::<_, Word<_>>(2)?.0,
        started_unix_ms: row.get(3)?,
        finished_unix_ms: row.get(4)?,
        n_resumed: row.get(5)?,
        systems: Vec::new(),
        base: row.get(6)?,
        n_steps: row.get(7)?,
        n_done: row.get(8)?,
        n_failed: row.get(9)?,
        n_slices: row.get(10)?,
        imported: row.get::<_, Option<Json<Imported>>>(11)?.map(|json| json.0.tool),
    })
}
