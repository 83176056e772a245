//! Statements with values for EXPLAIN: not measured, and not part of any client's events.

use rqps_client::{ParamType, Params, Protocol, Value};

/// How often values are drawn for a probe. PostgreSQL plans a prepared statement again five times before
/// it decides whether one plan does for all values (PostgreSQL's manual, PREPARE, "Notes"): the sixth
/// time is what a client has from then on.
pub const N_DRAWS: usize = 6;

/// More placeholders in a row than this are counted in place of being written.
const MAX_PLACEHOLDERS: usize = 4;

/// A statement of a step on its first table, with values as clients draw them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// SQL with `?` for each parameter.
    pub sql: String,
    /// How it is sent.
    pub protocol: Protocol,
    /// The parameters' types.
    pub types: Vec<ParamType>,
    /// [`N_DRAWS`] times the parameters' values, as SQL literals.
    pub values: Vec<Vec<String>>,
}

impl Probe {
    /// The statement in short: long lists of placeholders are counted.
    #[must_use]
    pub fn shown(&self) -> String {
        let mut out = String::new();
        let mut rest = self.sql.as_str();
        while let Some(at) = rest.find('?') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let mut n = 1;
            while let Some(after) = rest.strip_prefix(", ?") {
                rest = after;
                n += 1;
            }
            if n > MAX_PLACEHOLDERS {
                out.push_str(&format!("{n} values"));
            } else {
                out.push_str(&vec!["?"; n].join(", "));
            }
        }
        out + rest
    }
}

/// The values of parameters as SQL literals.
#[must_use]
pub fn literals(params: &Params) -> Vec<String> {
    let literal = |value: &Value| match *value {
        Value::Int(n) => n.to_string(),
        Value::Null => "NULL".to_owned(),
        Value::Text { start, end } => {
            let text = String::from_utf8_lossy(params.text(start, end)).replace('\'', "''");
            format!("'{text}'")
        }
    };
    params.values().iter().map(literal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_are_counted() {
        let shown = |sql: &str| {
            let sql = sql.to_owned();
            Probe { sql, protocol: Protocol::Text, types: Vec::new(), values: Vec::new() }.shown()
        };
        let list = vec!["?"; 100].join(", ");
        assert_eq!(shown(&format!("WHERE id IN ({list})")), "WHERE id IN (100 values)");
        assert_eq!(shown("SET c=? WHERE id=?"), "SET c=? WHERE id=?");
        assert_eq!(shown("VALUES (?, ?, ?)"), "VALUES (?, ?, ?)");
        assert_eq!(shown("BEGIN"), "BEGIN");
    }

    #[test]
    fn values_are_literals() {
        let mut params = Params::new();
        params.push_int(-7);
        params.push_text(|out| out.extend(b"it's"));
        assert_eq!(literals(&params), ["-7", "'it''s'"]);
    }
}
