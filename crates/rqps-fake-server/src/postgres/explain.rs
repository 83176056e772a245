//! PostgreSQL's EXPLAIN as JSON, for statements on the tables.

use crate::answer::{Answer, Failure};
use crate::statement::{Column, Filter, Statement, Value, Wanted};

/// Explains a statement; the plan of one that is prepared holds its parameters.
pub(super) fn explain(sql: &str) -> Result<Answer, Failure> {
    let statement = Statement::parse(sql).ok_or_else(|| Failure::unknown(sql))?;
    let (table, filter, is_covering, is_write) = match &statement {
        Statement::Select { table, wanted, filter } => {
            let column = match filter {
                Filter::In(column, _) | Filter::Between(column, ..) => Some(*column),
                _ => None,
            };
            let is_covering = column.is_some_and(|column| *wanted == Wanted::Columns(vec![column]));
            (table, filter, is_covering, false)
        }
        Statement::Update { table, filter, .. } | Statement::Delete { table, filter } => {
            (table, filter, false, true)
        }
        _ => return Err(Failure::unknown(sql)),
    };
    let read = node(table, filter, is_covering);
    let plan = if is_write {
        format!(
            "{{\"Node Type\": \"ModifyTable\", \"Relation Name\": \"{table}\", \"Plans\": [{read}]}}"
        )
    } else {
        read
    };
    Ok(Answer::one("QUERY PLAN", format!("[{{\"Plan\": {plan}}}]")))
}

fn node(table: &str, filter: &Filter, is_covering: bool) -> String {
    let index = |column: &Column| match column {
        Column::K => format!("k_{}", table.trim_start_matches(|c: char| !c.is_ascii_digit())),
        _ => format!("{table}_pkey"),
    };
    let (index, condition) = match filter {
        Filter::All | Filter::Never => {
            return format!("{{\"Node Type\": \"Seq Scan\", \"Relation Name\": \"{table}\"}}");
        }
        Filter::In(column, values) if values.len() == 1 => {
            let value = values.first().map(shown).unwrap_or_default();
            (index(column), format!("({} = {value})", column.name()))
        }
        Filter::In(column, values) => {
            let list: Vec<String> = values.iter().map(shown).collect();
            let list = list.join(",");
            (index(column), format!("({} = ANY ('{{{list}}}'::integer[]))", column.name()))
        }
        Filter::Between(column, first, last) => {
            let name = column.name();
            let (first, last) = (shown(first), shown(last));
            (index(column), format!("(({name} >= {first}) AND ({name} <= {last}))"))
        }
    };
    let kind = if is_covering { "Index Only Scan" } else { "Index Scan" };
    format!(
        "{{\"Node Type\": \"{kind}\", \"Relation Name\": \"{table}\", \"Index Name\": \"{index}\", \
         \"Index Cond\": \"{condition}\"}}"
    )
}

fn shown(value: &Value) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        Value::Param(n) => format!("${}", n + 1),
        Value::Text(_) => "text".to_owned(),
        Value::Null => "NULL".to_owned(),
    }
}
