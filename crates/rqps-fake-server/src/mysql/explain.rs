//! The table of MySQL's EXPLAIN, for statements on the tables.

use crate::answer::{Answer, Failure};
use crate::statement::{Column, Filter, Statement, Wanted};

const COLUMNS: [&str; 10] = [
    "id",
    "select_type",
    "table",
    "type",
    "possible_keys",
    "key",
    "key_len",
    "ref",
    "rows",
    "Extra",
];

/// Explains a statement.
pub(super) fn explain(sql: &str) -> Result<Answer, Failure> {
    let statement = Statement::parse(sql).ok_or_else(|| Failure::unknown(sql))?;
    let (kind, table, filter, is_covering) = match &statement {
        Statement::Select { table, wanted, filter } => {
            let by_k = matches!(filter, Filter::In(Column::K, _) | Filter::Between(Column::K, ..));
            let is_k = *wanted == Wanted::Columns(vec![Column::K]);
            ("SIMPLE", table, filter, by_k && is_k)
        }
        Statement::Update { table, filter, .. } => ("UPDATE", table, filter, false),
        Statement::Delete { table, filter } => ("DELETE", table, filter, false),
        _ => return Err(Failure::unknown(sql)),
    };
    let key = |column: &Column| match column {
        Column::K => format!("k_{}", table.trim_start_matches(|c: char| !c.is_ascii_digit())),
        _ => "PRIMARY".to_owned(),
    };
    let (path, key) = match filter {
        Filter::All | Filter::Never => ("ALL", String::new()),
        Filter::In(Column::Id, values) if values.len() == 1 => ("const", key(&Column::Id)),
        Filter::In(column, values) if values.len() == 1 => ("ref", key(column)),
        Filter::In(column, _) | Filter::Between(column, ..) => ("range", key(column)),
    };
    let extra = if is_covering { "Using where; Using index" } else { "Using where" };
    let row = ["1", kind, table.as_str(), path, &key, &key, "4", "", "1", extra];
    Ok(Answer::rows(&COLUMNS, vec![row.to_vec()]))
}
