//! All tables as one JSON object: a table's name to its rows, a row's columns by name. Bytes are hexadecimal
//! text; whole numbers have up to 63 bits, which some readers round.

use rqps_store::Table;
use rqps_store::tables::Value;
use serde_json::{Map, Number};

use crate::csv::hex;

/// The tables as indented text with a line break at its end.
#[must_use]
pub fn render(tables: &[Table]) -> String {
    let mut all = Map::new();
    for table in tables {
        let row = |values: &Vec<Value>| {
            let pairs = table.columns.iter().zip(values);
            pairs.map(|(column, value)| (column.name.clone(), json(value))).collect::<Map<_, _>>()
        };
        let rows = table.rows.iter().map(|values| serde_json::Value::Object(row(values)));
        all.insert(table.name.clone(), serde_json::Value::Array(rows.collect()));
    }
    // Keys are text and numbers finite: nothing can fail.
    let mut out = serde_json::to_string_pretty(&all).unwrap_or_default();
    out.push('\n');
    out
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Integer(n) => serde_json::Value::Number((*n).into()),
        Value::Real(x) => Number::from_f64(*x).map_or(serde_json::Value::Null, Into::into),
        Value::Text(text) => serde_json::Value::String(text.clone()),
        Value::Blob(bytes) => serde_json::Value::String(hex(bytes)),
    }
}
