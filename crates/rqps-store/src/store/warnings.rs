//! Warnings of slices and of runs: the kind is a column, its facts are JSON in another.

use rqps_model::{Scope, Slice, Warning, WarningKind};
use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};
use serde_json::Value;

use crate::Error;
use crate::store::Store;

/// The key of the kind in its JSON.
const KIND: &str = "kind";

impl Store {
    /// Adds a warning to a run.
    ///
    /// # Errors
    /// When there is no such run, or the store cannot be written.
    pub fn add_warning(&self, run_id: &str, warning: &Warning) -> Result<(), Error> {
        let action = format!("store a warning of run {run_id}");
        self.transact(&action, |transaction| insert(transaction, run_id, warning))
    }
}

/// The facts of a kind as JSON, without its name.
fn facts(kind: &WarningKind) -> rusqlite::Result<String> {
    let unstorable = |e: serde_json::Error| rusqlite::Error::ToSqlConversionFailure(e.into());
    let mut facts = serde_json::to_value(kind).map_err(unstorable)?;
    if let Value::Object(fields) = &mut facts {
        fields.remove(KIND);
    }
    Ok(facts.to_string())
}

/// The kind of a row, whose name is in column `first` and whose facts are in the next.
fn kind_of_row(row: &Row<'_>, first: usize) -> rusqlite::Result<WarningKind> {
    let unreadable = |column, e: serde_json::Error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, e.into())
    };
    let (name, facts): (String, String) = (row.get(first)?, row.get(first + 1)?);
    let mut value: Value = serde_json::from_str(&facts).map_err(|e| unreadable(first + 1, e))?;
    let Value::Object(fields) = &mut value else {
        let problem = format!("the facts of a warning are not an object: {facts}");
        let problem = problem.into();
        return Err(rusqlite::Error::FromSqlConversionFailure(first + 1, Type::Text, problem));
    };
    fields.insert(KIND.to_owned(), Value::String(name));
    serde_json::from_value(value).map_err(|e| unreadable(first, e))
}

pub(crate) fn insert(
    connection: &Connection,
    run_id: &str,
    warning: &Warning,
) -> rusqlite::Result<()> {
    let Warning { at_unix_ms, scope, kind } = warning;
    connection
        .prepare_cached(
            "INSERT INTO run_warning (run_id, warning_idx, at_unix_ms, system_idx, kind, facts)
             VALUES (?1, (SELECT count(*) FROM run_warning WHERE run_id = ?1), ?2, ?3, ?4, ?5)",
        )?
        .execute(params![run_id, at_unix_ms, scope.system(), kind.key(), facts(kind)?])?;
    Ok(())
}

pub(crate) fn select(connection: &Connection, run_id: &str) -> rusqlite::Result<Vec<Warning>> {
    let mut statement = connection.prepare_cached(
        "SELECT at_unix_ms, system_idx, kind, facts FROM run_warning WHERE run_id = ?
         ORDER BY warning_idx",
    )?;
    let warning = |row: &Row<'_>| {
        let scope = row.get::<_, Option<usize>>(1)?.map_or(Scope::Run, Scope::System);
        Ok(Warning { at_unix_ms: row.get(0)?, scope, kind: kind_of_row(row, 2)? })
    };
    statement.query_map([run_id], warning)?.collect()
}

pub(crate) fn insert_of_slice(
    connection: &Connection,
    slice_id: i64,
    slice: &Slice,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO warning (slice_id, warning_idx, kind, facts) VALUES (?, ?, ?, ?)",
    )?;
    for (idx, kind) in slice.warnings.iter().enumerate() {
        statement.execute(params![slice_id, idx, kind.key(), facts(kind)?])?;
    }
    Ok(())
}

pub(crate) fn select_of_slice(
    connection: &Connection,
    slice_id: i64,
) -> rusqlite::Result<Vec<WarningKind>> {
    let mut statement = connection.prepare_cached(
        "SELECT kind, facts FROM warning WHERE slice_id = ? ORDER BY warning_idx",
    )?;
    statement.query_map([slice_id], |row| kind_of_row(row, 0))?.collect()
}
