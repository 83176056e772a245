//! A run's tables for other programs.

use expect_test::{expect, expect_file};
use rqps_export::{csv, json};
use rqps_store::Table;
use rqps_store::tables::{Column, Kind, Value};

use crate::{run_ref, store};

/// A table with a value of every kind, and one of every kind that is absent.
pub(crate) fn small() -> Table {
    let column = |name: &str, kind| Column { name: name.to_owned(), kind };
    let text = |text: &str| Value::Text(text.to_owned());
    Table {
        name: "small".to_owned(),
        columns: vec![
            column("n", Kind::Integer),
            column("x", Kind::Real),
            column("word", Kind::Text),
            column("bytes", Kind::Blob),
        ],
        rows: vec![
            vec![Value::Integer(-1), Value::Real(0.5), text("a,\"b\""), Value::Blob(vec![0, 255])],
            vec![Value::Null, Value::Null, Value::Null, Value::Null],
            vec![Value::Integer(i64::MAX), Value::Real(1e300), text(""), Value::Blob(Vec::new())],
            vec![Value::Integer(0), Value::Null, text("é\n"), Value::Null],
        ],
    }
}

#[test]
fn csv_and_json() {
    expect![[r#"
        n,x,word,bytes
        -1,0.5,"a,""b""",00ff
        ,,,
        9223372036854775807,1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000,"",
        0,,"é
        ",
    "#]]
    .assert_eq(&csv::render(&small()).replace("\r\n", "\n"));
    expect_file!["../data/small.json"].assert_eq(&json::render(&[small()]));
}

/// Every table of a run with rows is there, with all its columns.
#[test]
fn the_tables_of_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let tables = store.select_tables(&run_ref()).unwrap();
    let told: Vec<String> = tables
        .iter()
        .map(|table| {
            format!("{}: {} rows, {} columns", table.name, table.rows.len(), table.columns.len())
        })
        .collect();
    expect_file!["../data/tables.told"].assert_eq(&(told.join("\n") + "\n"));
    for table in &tables {
        assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.name);
    }
    let slices = tables.iter().find(|table| table.name == "slice").unwrap();
    let at = slices.columns.iter().position(|column| column.name == "stated").unwrap();
    assert!(matches!(&slices.rows[0][at], Value::Text(text) if text.contains("1000.12")));
}
