//! The statements that a session has prepared, and how often it ran generic and custom plans of them.

use rqps_client::{Connection, Error};
use rqps_model::{Dbms, Version};

use crate::dbms::driver;

/// A statement that a session has prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedStatement {
    /// Its name in the session.
    pub name: String,
    /// SQL with `$1` and so on for each parameter.
    pub sql: String,
    /// Executions of generic and of custom plans; absent where the server does not count them.
    pub executions: Option<Executions>,
}

/// How often a session executed a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Executions {
    /// With a generic plan.
    pub n_generic: u64,
    /// With a custom plan.
    pub n_custom: u64,
}

/// The statements that a session has prepared; none of a server that does not list them.
///
/// # Errors
/// What the server refuses, and a lost connection.
pub fn prepared_statements(
    dbms: Dbms,
    version: Option<&Version>,
    connection: &mut dyn Connection,
) -> Result<Vec<PreparedStatement>, Error> {
    let Ok(explain) = &driver(dbms).explain else { return Ok(Vec::new()) };
    let Some(ask) = explain.prepared_statements else { return Ok(Vec::new()) };
    ask(version, connection)
}
