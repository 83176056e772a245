//! A statement that a server is asked about.

use rqps_client::{ParamType, Protocol};
use rqps_model::PlanShape;

/// The name of a prepared statement, and the beginning of the names of variables, on the connection
/// that asks.
pub(crate) const NAME: &str = "rqps_explain";

/// A statement whose plan is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// SQL with `?` for each parameter.
    pub sql: &'a str,
    /// The SQL as shown to people.
    pub shown: &'a str,
    /// How the benchmark sends it.
    pub protocol: Protocol,
    /// Types of the parameters.
    pub types: &'a [ParamType],
    /// Several sets of parameter values, as SQL literals.
    pub values: &'a [Vec<String>],
    /// The name of the statement in a session that has prepared and executed it.
    pub prepared_as: Option<&'a str>,
}

/// SQL with `$1` and so on in place of `?`: the text under which a session of PostgreSQL lists a statement.
#[must_use]
pub fn numbered(sql: &str) -> String {
    filled(sql, |idx| format!("${}", idx + 1))
}

/// A plan's shape and the server's own words.
pub(crate) type Told = (PlanShape, String);

/// Why there is no plan, in a sentence without a full stop.
pub(crate) type Reason = String;

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
pub(crate) fn with_values(question: &Question<'_>) -> String {
    let none = Vec::new();
    let values = question.values.first().unwrap_or(&none);
    filled(question.sql, |idx| values.get(idx).cloned().unwrap_or_else(|| "NULL".to_owned()))
}
