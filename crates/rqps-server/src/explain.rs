//! Asks a server how it goes about a statement, in the way in which the benchmark sends it.
//!
//! Nothing is executed. Where the benchmark prepares, the plan is that of a prepared statement with
//! parameters: servers plan those otherwise than values in the text.
//!
//! The MySQL family is asked for the table of `EXPLAIN`, which every version from 5.5 on has with the
//! same columns; its JSON came with 5.6, has another shape in MariaDB and got another in MySQL 8.3.
//! PostgreSQL is asked for JSON, which it has since 9.0, without costs.

mod mysql;
mod postgres;

use rqps_client::{Connection, Error, ParamType, Protocol};
use rqps_model::query_plan::Asked;
use rqps_model::{Dbms, PlanShape, QueryPlan, Version};

/// The name of a prepared statement, and the beginning of the names of variables, on the connection
/// that asks.
const NAME: &str = "rqps_explain";

/// A statement that is asked about.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// SQL with `?` for each parameter.
    pub sql: &'a str,
    /// The same for people.
    pub shown: &'a str,
    /// How the benchmark sends it.
    pub protocol: Protocol,
    /// Types of the parameters.
    pub types: &'a [ParamType],
    /// Values of the parameters as SQL literals, several times over.
    pub values: &'a [Vec<String>],
}

/// A plan's shape and the server's own words.
type Told = (PlanShape, String);

/// Why there is no plan, in a sentence without a full stop.
type Reason = String;

/// Asks for the plan of a statement. What a server refuses is told in the plan's place: a step can be
/// measured without.
pub fn explain(
    (dbms, version): (Dbms, Option<&Version>),
    connection: &mut dyn Connection,
    question: &Question<'_>,
) -> QueryPlan {
    let without = |reason: &str| QueryPlan::without(dbms, question.shown.to_owned(), reason);
    let is_write = !is_verb(question.sql, "SELECT");
    if dbms == Dbms::Null {
        return without("the null client has no plans");
    }
    if is_verb(question.sql, "INSERT") {
        return without("an INSERT of values reads nothing");
    }
    let old = |numbers: &[u32]| version.is_some_and(|v| !v.at_least(numbers));
    if is_write && dbms == Dbms::Mysql && old(&[5, 6, 3]) {
        return without("MySQL explains UPDATE and DELETE from 5.6.3 on");
    }
    let mut asked = match question.protocol {
        Protocol::Prepared if !question.types.is_empty() => Asked::Prepared,
        _ => Asked::Text,
    };
    let head = mysql::head(dbms, version);
    let mut told = ask((dbms, head), connection, question, asked);
    // Versions that do not prepare EXPLAIN say so before anything else.
    if asked == Asked::Prepared && dbms.is_mysql_family() && matches!(told, Ok(Err(_))) {
        asked = Asked::Text;
        told = ask((dbms, head), connection, question, asked);
    }
    match told {
        Ok(Ok((shape, text))) => QueryPlan {
            dbms,
            sql: question.shown.to_owned(),
            asked,
            shape: Some(PlanShape { is_write, ..shape }),
            reason: String::new(),
            text,
        },
        Ok(Err(reason)) => without(&reason),
        Err(error) => without(&error.to_string()),
    }
}

/// A refusal by the server is a reason, a lost connection an error.
fn ask(
    (dbms, head): (Dbms, &str),
    connection: &mut dyn Connection,
    question: &Question<'_>,
    asked: Asked,
) -> Result<Result<Told, Reason>, Error> {
    let told = match dbms {
        Dbms::Postgres => postgres::ask(connection, question, asked),
        _ => mysql::ask(connection, (head, question), asked),
    };
    match told {
        Err(Error::Server(error)) => Ok(Err(error.to_string())),
        other => other,
    }
}

fn is_verb(sql: &str, verb: &str) -> bool {
    sql.split_whitespace().next().is_some_and(|word| word.eq_ignore_ascii_case(verb))
}

/// SQL with what `parameter` gives for each placeholder, by its number from 0.
fn filled(sql: &str, parameter: impl Fn(usize) -> String) -> String {
    let mut parts = sql.split('?');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for (idx, part) in parts.enumerate() {
        out.push_str(&parameter(idx));
        out.push_str(part);
    }
    out
}

/// SQL with the first of the question's values in it.
fn with_values(question: &Question<'_>) -> String {
    let none = Vec::new();
    let values = question.values.first().unwrap_or(&none);
    filled(question.sql, |idx| values.get(idx).cloned().unwrap_or_else(|| "NULL".to_owned()))
}

#[cfg(test)]
mod tests;
