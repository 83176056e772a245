//! Stores and reads the query plans of a step on a system.

use rqps_model::QueryPlan;
use rusqlite::{Connection, Row, params};

use crate::Error;
use crate::slices::Place;
use crate::store::Store;
use crate::values::{Json, Word};

impl Store {
    /// Stores a system's query plans of a step, in the order of the statements.
    ///
    /// # Errors
    /// When plans of it are stored already, the run has no such step or system, or the store cannot be
    /// written.
    pub fn insert_plans(
        &self,
        run_id: &str,
        step_idx: usize,
        system_idx: usize,
        plans: &[QueryPlan],
    ) -> Result<(), Error> {
        let place = Place { run_id, step_idx, system_idx };
        let action = format!(
            "store the query plans of step {step_idx} on system {system_idx} of run {run_id}"
        );
        self.transact(&action, |transaction| insert(transaction, place, plans))
    }
}

/// Inserts the plans of a step on a system, of which none may be there.
pub(crate) fn insert(
    connection: &Connection,
    place: Place<'_>,
    plans: &[QueryPlan],
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO query_plan (run_id, step_idx, system_idx, statement_idx, dbms, sql, asked,
           shape, reason, server_text, counts)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?;
    for (statement_idx, plan) in plans.iter().enumerate() {
        let QueryPlan { dbms, sql, asked, shape, reason, text, counts } = plan;
        statement.execute(params![
            place.run_id,
            place.step_idx,
            place.system_idx,
            statement_idx,
            Word(dbms),
            sql,
            Word(asked),
            shape.as_ref().map(Json),
            reason,
            text,
            counts.as_ref().map(Json),
        ])?;
    }
    Ok(())
}

/// The plans of a step on a system, in the order of its statements.
pub(crate) fn select(
    connection: &Connection,
    place: Place<'_>,
) -> rusqlite::Result<Vec<QueryPlan>> {
    let mut statement = connection.prepare_cached(
        "SELECT dbms, sql, asked, shape, reason, server_text, counts FROM query_plan
         WHERE run_id = ? AND step_idx = ? AND system_idx = ? ORDER BY statement_idx",
    )?;
    let plan = |row: &Row<'_>| {
        Ok(QueryPlan {
            dbms: row.get::<_, Word<_>>(0)?.0,
            sql: row.get(1)?,
            asked: row.get::<_, Word<_>>(2)?.0,
            shape: row.get::<_, Option<Json<_>>>(3)?.map(|json| json.0),
            reason: row.get(4)?,
            text: row.get(5)?,
            counts: row.get::<_, Option<Json<_>>>(6)?.map(|json| json.0),
        })
    };
    let of = params![place.run_id, place.step_idx, place.system_idx];
    statement.query_map(of, plan)?.collect()
}
