//! Stores and reads the recall of a search on a system.

use std::collections::BTreeMap;

use rqps_model::Recall;
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::Error;
use crate::slices::Place;
use crate::store::Store;

impl Store {
    /// Stores the recall of a step on a system.
    ///
    /// # Errors
    /// When one is stored already, the run has no such step or system, or the store cannot be written.
    pub fn insert_recall(
        &self,
        run_id: &str,
        step_idx: usize,
        system_idx: usize,
        recall: &Recall,
    ) -> Result<(), Error> {
        let place = Place { run_id, step_idx, system_idx };
        let action =
            format!("store the recall of step {step_idx} on system {system_idx} of run {run_id}");
        self.transact(&action, |transaction| insert(transaction, place, Some(recall)))
    }
}

/// Inserts the recall of a step on a system, if there is one.
pub(crate) fn insert(
    connection: &Connection,
    place: Place<'_>,
    recall: Option<&Recall>,
) -> rusqlite::Result<()> {
    let Some(Recall { k, n_queries, mean, sd, p5 }) = recall else { return Ok(()) };
    let mut statement = connection.prepare_cached(
        "INSERT INTO recall (run_id, step_idx, system_idx, k, n_queries, mean, sd, p5)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    let Place { run_id, step_idx, system_idx } = place;
    statement.execute(params![run_id, step_idx, system_idx, k, n_queries, mean, sd, p5])?;
    Ok(())
}

/// The recall of a step on a system, by the start that it was measured on; empty where there is none.
pub(crate) fn select(
    connection: &Connection,
    place: Place<'_>,
    start: u32,
) -> rusqlite::Result<BTreeMap<u32, Recall>> {
    let mut statement = connection.prepare_cached(
        "SELECT k, n_queries, mean, sd, p5 FROM recall
         WHERE run_id = ? AND step_idx = ? AND system_idx = ?",
    )?;
    let of = params![place.run_id, place.step_idx, place.system_idx];
    let recall = statement
        .query_row(of, |row| {
            Ok(Recall {
                k: row.get(0)?,
                n_queries: row.get(1)?,
                mean: row.get(2)?,
                sd: row.get(3)?,
                p5: row.get(4)?,
            })
        })
        .optional()?;
    Ok(recall.map(|recall| (start, recall)).into_iter().collect())
}
