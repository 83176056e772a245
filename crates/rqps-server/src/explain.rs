//! Asks a server how it goes about a statement, in the way in which the benchmark sends it.
//!
//! Nothing is executed. A session that has measured is asked about the statement that it has prepared itself, where the
//! server lists such statements. Elsewhere, where the benchmark prepares, the plan is that of a prepared statement with
//! parameters: servers plan those otherwise than values in the text.
//!
//! The MySQL family is asked for the table of `EXPLAIN`, which every version from 5.5 on has with the
//! same columns; its JSON came with 5.6, has another shape in MariaDB and got another in MySQL 8.3.
//! PostgreSQL is asked for JSON, which it has since 9.0, without costs.

mod prepared;
mod question;

use rqps_client::{Connection, Error, Protocol};
use rqps_model::query_plan::Asked;
use rqps_model::{Dbms, PlanShape, QueryPlan, Version};

use crate::dbms::driver;
use crate::dbms::driver::ExplainDriver;
pub use prepared::{Executions, PreparedStatement};
pub(crate) use question::{NAME, Reason, Told, with_values};
pub use question::{Question, numbered};

/// Asks for a statement's plan. A refusal becomes the plan's reason, as a step can be measured without.
pub fn explain(
    dbms: Dbms,
    version: Option<&Version>,
    connection: &mut dyn Connection,
    question: &Question<'_>,
) -> QueryPlan {
    let without = |reason: &str| QueryPlan::without(dbms, question.shown.to_owned(), reason);
    let is_write = !is_verb(question.sql, "SELECT");
    let driver = match &driver(dbms).explain {
        Ok(driver) => driver,
        Err(why) => return without(why),
    };
    if is_verb(question.sql, "INSERT") {
        return without("an INSERT of values reads nothing");
    }
    if let Some(reason) = (driver.why_not)(version, is_write) {
        return without(reason);
    }
    let mut asked = match question.protocol {
        Protocol::Prepared if !question.types.is_empty() => Asked::Prepared,
        _ => Asked::Text,
    };
    let mut told = ask(driver, version, connection, question, asked);
    // Versions that do not prepare EXPLAIN say so before anything else.
    if asked == Asked::Prepared && driver.may_refuse_prepared && matches!(told, Ok(Err(_))) {
        asked = Asked::Text;
        told = ask(driver, version, connection, question, asked);
    }
    match told {
        Ok(Ok((shape, text))) => QueryPlan {
            dbms,
            sql: question.shown.to_owned(),
            asked,
            shape: Some(PlanShape { is_write, ..shape }),
            reason: String::new(),
            text,
            counts: None,
        },
        Ok(Err(reason)) => without(&reason),
        Err(error) => without(&error.to_string()),
    }
}

/// The statements that a session has prepared; empty if the server does not list them.
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

/// A refusal by the server is a reason, a lost connection an error.
fn ask(
    driver: &ExplainDriver,
    version: Option<&Version>,
    connection: &mut dyn Connection,
    question: &Question<'_>,
    asked: Asked,
) -> Result<Result<Told, Reason>, Error> {
    match (driver.ask)(version, connection, question, asked) {
        Err(Error::Server(error)) => Ok(Err(error.to_string())),
        other => other,
    }
}

fn is_verb(sql: &str, verb: &str) -> bool {
    sql.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case(verb))
}

#[cfg(test)]
mod tests;
