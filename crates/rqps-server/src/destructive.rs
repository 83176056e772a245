//! Statements that destroy or change more than a benchmark's rows: the only place that sends them.
//!
//! Each function asks the running server first where it works. On a server that this run started, every
//! variable that the statement depends on must lie in the run's directory. On a server of somebody else's,
//! rqps's own schema is all that a statement may touch.

mod guard;

use rqps_client::Connection;
use rqps_model::{Dbms, Version};

use crate::{Error, Refusal};
pub use guard::Scope;
use guard::{OF_BINARY_LOGS, OF_SETTINGS, OF_TABLES};

/// Deletes all binary logs.
///
/// # Errors
/// [`Refusal::OutsideOfRun`] and [`Refusal::PlaceUntold`] from the guard; [`Error::Client`].
pub fn reset_binary_logs(
    scope: Scope<'_>,
    (dbms, version): (Dbms, &Version),
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let renamed = dbms == Dbms::Mysql && version.at_least(&[8, 4]);
    let sql = if renamed { "RESET BINARY LOGS AND GTIDS" } else { "RESET MASTER" };
    guard::require_own(scope, sql)?;
    guard::require(scope, (dbms, sql), OF_BINARY_LOGS, connection)?;
    send(sql, connection)
}

/// Sets a variable of the whole server; `value` is a literal of SQL.
///
/// # Errors
/// [`Refusal::SettingsNotAllowed`] on a guest's server without the user's consent; the guard's errors;
/// [`Error::Client`].
pub fn set_global(
    scope: Scope<'_>,
    dbms: Dbms,
    (name, value): (&str, &str),
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let sql = format!("SET GLOBAL {name} = {value}");
    if !scope.allows_settings() {
        return Err(Refusal::SettingsNotAllowed { statement: sql }.into());
    }
    guard::require(scope, (dbms, &sql), OF_SETTINGS, connection)?;
    send(&sql, connection)
}

/// Drops a table of the benchmark, there or not.
///
/// # Errors
/// The guard's errors; [`Error::Client`].
pub fn drop_table(
    scope: Scope<'_>,
    dbms: Dbms,
    table: &str,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let name = match scope {
        Scope::Own { .. } => table.to_owned(),
        Scope::Guest { schema, .. } => format!("{}.{}", quoted(dbms, schema), quoted(dbms, table)),
    };
    let sql = format!("DROP TABLE IF EXISTS {name}");
    guard::require(scope, (dbms, &sql), OF_TABLES, connection)?;
    send(&sql, connection)
}

/// Drops rqps's own schema of a guest's server with everything in it.
///
/// # Errors
/// [`Refusal::SchemaInUse`] where something outside of it depends on it; the guard's errors; [`Error::Client`].
pub fn drop_schema(
    scope: Scope<'_>,
    dbms: Dbms,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let Scope::Guest { schema, .. } = scope else {
        return Err(Refusal::PlaceUntold {
            statement: "DROP SCHEMA".to_owned(),
            why: "a server of this run keeps its schemas".to_owned(),
        }
        .into());
    };
    // MySQL refuses by itself what a foreign key of another schema needs.
    let cascade = if dbms == Dbms::Postgres { " CASCADE" } else { "" };
    let sql = format!("DROP SCHEMA {}{cascade}", quoted(dbms, schema));
    guard::require(scope, (dbms, &sql), OF_TABLES, connection)?;
    if dbms == Dbms::Postgres {
        guard::require_no_dependents(schema, connection)?;
    }
    send(&sql, connection)
}

/// A name as SQL takes it whatever is in it.
pub(crate) fn quoted(dbms: Dbms, name: &str) -> String {
    if dbms == Dbms::Postgres {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        format!("`{}`", name.replace('`', "``"))
    }
}

fn send(sql: &str, connection: &mut dyn Connection) -> Result<(), Error> {
    connection.query(sql).map(|_| ()).map_err(|e| Error::client(sql, e))
}

#[cfg(test)]
mod tests;
