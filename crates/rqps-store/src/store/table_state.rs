//! Stores and reads the state of the tables of a step on a system.

use rqps_model::TableState;
use rusqlite::{Connection, Row, params};

use crate::Error;
use crate::slices::Place;
use crate::store::Store;
use crate::values::Word;

impl Store {
    /// Stores facts of the tables of a step on a system, in place of earlier values.
    ///
    /// # Errors
    /// When the run has no such step or system, or the store cannot be written.
    pub fn keep_table_state(
        &self,
        run_id: &str,
        step_idx: usize,
        system_idx: usize,
        state: &TableState,
    ) -> Result<(), Error> {
        let place = Place { run_id, step_idx, system_idx };
        let action = format!(
            "store the state of the tables of step {step_idx} on system {system_idx} of run {run_id}"
        );
        self.transact(&action, |transaction| insert(transaction, place, state))
    }
}

/// Inserts the state of a step on a system.
pub(crate) fn insert(
    connection: &Connection,
    place: Place<'_>,
    state: &TableState,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO table_state (run_id, step_idx, system_idx, fact, value)
         VALUES (?, ?, ?, ?, ?)",
    )?;
    for (fact, value) in state {
        let Place { run_id, step_idx, system_idx } = place;
        statement.execute(params![run_id, step_idx, system_idx, Word(fact), value])?;
    }
    Ok(())
}

/// The state of a step on a system; empty where nothing is known.
pub(crate) fn select(connection: &Connection, place: Place<'_>) -> rusqlite::Result<TableState> {
    let mut statement = connection.prepare_cached(
        "SELECT fact, value FROM table_state WHERE run_id = ? AND step_idx = ? AND system_idx = ?",
    )?;
    let fact = |row: &Row<'_>| Ok((row.get::<_, Word<_>>(0)?.0, row.get(1)?));
    let of = params![place.run_id, place.step_idx, place.system_idx];
    statement.query_map(of, fact)?.collect()
}
