//! Parquet files: what a reader finds in them.
#![expect(clippy::panic, reason = "what tests share is outside of test functions")]

use std::path::Path;

use expect_test::expect;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use rqps_store::Table;
use rqps_store::tables::{Kind, Value};

use crate::tables::small;
use crate::{run_ref, store};

/// The table by way of a file.
fn read_back(table: &Table, dir: &Path) -> SerializedFileReader<std::fs::File> {
    let path = dir.join("table.parquet");
    std::fs::write(&path, rqps_export::parquet::render(table, "rqps test").unwrap()).unwrap();
    SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap()
}

/// The rows that a reader finds, as values of the store.
fn rows(file: &SerializedFileReader<std::fs::File>) -> Vec<Vec<Value>> {
    let value = |field: &Field| match field {
        Field::Null => Value::Null,
        Field::Long(n) => Value::Integer(*n),
        Field::Double(x) => Value::Real(*x),
        Field::Str(text) => Value::Text(text.clone()),
        Field::Bytes(bytes) => Value::Blob(bytes.data().to_vec()),
        other => panic!("{other:?}"),
    };
    let rows = file.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap().get_column_iter().map(|(_, field)| value(field)).collect())
        .collect()
}

#[test]
fn columns_have_their_types() {
    let dir = tempfile::tempdir().unwrap();
    let file = read_back(&small(), dir.path());
    let mut schema = Vec::new();
    let metadata = file.metadata().file_metadata();
    parquet::schema::printer::print_schema(&mut schema, metadata.schema());
    expect![[r#"
        message small {
          OPTIONAL INT64 n;
          OPTIONAL DOUBLE x;
          OPTIONAL BYTE_ARRAY word (STRING);
          OPTIONAL BYTE_ARRAY bytes;
        }
    "#]]
    .assert_eq(&String::from_utf8(schema).unwrap());
    assert_eq!(metadata.created_by(), Some("rqps test"));
}

#[test]
fn values_come_back() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(rows(&read_back(&small(), dir.path())), small().rows);
}

#[test]
fn the_tables_of_a_run_come_back() {
    let dir = tempfile::tempdir().unwrap();
    for mut table in store(dir.path()).select_tables(&run_ref()).unwrap() {
        let file = read_back(&table, dir.path());
        for row in &mut table.rows {
            for (value, column) in row.iter_mut().zip(&table.columns) {
                if let (Kind::Real, Value::Integer(n)) = (column.kind, &value) {
                    *value = Value::Real(*n as f64);
                }
            }
        }
        assert_eq!(rows(&file), table.rows, "{}", table.name);
    }
}

#[test]
fn a_value_of_another_kind_is_an_error() {
    let mut table = small();
    table.rows[0][0] = Value::Text("one".to_owned());
    let error = rqps_export::parquet::render(&table, "rqps test").unwrap_err();
    assert_eq!(error.to_string(), "cannot write table small as Parquet");
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("column n is Integer and holds Text"), "{source}");
}
