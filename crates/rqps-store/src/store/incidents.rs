//! What happened to runs on the way.

use rqps_model::Incident;
use rusqlite::{Connection, params};

use crate::Error;
use crate::store::Store;

impl Store {
    /// Adds what happened to a run after all that is known of it.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be written.
    pub fn add_incident(&self, run_id: &str, incident: &Incident) -> Result<(), Error> {
        let action = format!("store what happened to run {run_id}");
        self.transact(&action, |transaction| insert(transaction, run_id, incident))
    }
}

pub(crate) fn insert(
    connection: &Connection,
    run_id: &str,
    incident: &Incident,
) -> rusqlite::Result<()> {
    let Incident { at_unix_ms, system, what } = incident;
    connection
        .prepare_cached(
            "INSERT INTO incident (run_id, incident_idx, at_unix_ms, system_idx, what)
             VALUES (?1, (SELECT count(*) FROM incident WHERE run_id = ?1), ?2, ?3, ?4)",
        )?
        .execute(params![run_id, at_unix_ms, system, what])?;
    Ok(())
}

pub(crate) fn select(connection: &Connection, run_id: &str) -> rusqlite::Result<Vec<Incident>> {
    let mut statement = connection.prepare_cached(
        "SELECT at_unix_ms, system_idx, what FROM incident WHERE run_id = ? ORDER BY incident_idx",
    )?;
    let incident = |row: &rusqlite::Row<'_>| {
        Ok(Incident { at_unix_ms: row.get(0)?, system: row.get(1)?, what: row.get(2)? })
    };
    statement.query_map([run_id], incident)?.collect()
}
