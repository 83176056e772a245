//! A table as CSV: RFC 4180 with a header line, full precision, bytes in hexadecimal.
//!
//! Text is written as it is, for programs: a spreadsheet may take one that begins with `=` for a formula.

use rqps_store::Table;
use rqps_store::tables::Value;

/// The table as text.
#[must_use]
pub fn render(table: &Table) -> String {
    let names: Vec<String> = table.columns.iter().map(|c| c.name.clone()).collect();
    let mut out = names.join(",") + "\r\n";
    for row in &table.rows {
        let fields: Vec<String> = row.iter().map(field).collect();
        out.push_str(&fields.join(","));
        out.push_str("\r\n");
    }
    out
}

/// An empty field stands for what is absent; an empty text is quoted.
fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(n) => n.to_string(),
        Value::Real(x) => x.to_string(),
        Value::Blob(bytes) => hex(bytes),
        Value::Text(text) if text.is_empty() || text.contains([',', '"', '\n', '\r']) => {
            format!("\"{}\"", text.replace('"', "\"\""))
        }
        Value::Text(text) => text.clone(),
    }
}

/// Two digits a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}
