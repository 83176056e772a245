//! A run as the plain tables that it is stored in, for other programs.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use crate::store::Store;
use crate::{Error, RunRef};

/// Type of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers of 64 bits.
    Integer,
    /// Floating-point numbers of 64 bits.
    Real,
    /// Text.
    Text,
    /// Bytes.
    Blob,
}

/// A column; `docs/reference/store.md` says what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Type of its values.
    pub kind: Kind,
}

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Absent.
    Null,
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Blob(Vec<u8>),
}

/// The rows of one run in one table.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, a value per column, in the order in which they are stored.
    pub rows: Vec<Vec<Value>>,
}

/// How a table's rows are told to be of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Key {
    /// By the run's id.
    Run,
    /// By the id of a slice of it.
    Slice,
}

impl Key {
    /// What a row of the run fulfils; its parameter is the run's id. `schema` is the database that
    /// slices are looked up in.
    pub(crate) fn condition(self, schema: &str) -> String {
        match self {
            Self::Run => "run_id = ?1".to_owned(),
            Self::Slice => {
                format!("slice_id IN (SELECT slice_id FROM {schema}.slice WHERE run_id = ?1)")
            }
        }
    }
}

/// A table with rows of runs, as the database describes it.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) name: String,
    pub(crate) key: Key,
    /// Name, declared type, and whether the database computes it from others.
    pub(crate) columns: Vec<(String, String, bool)>,
}

impl Store {
    /// The tables with rows of the run, in the order of the schema.
    ///
    /// # Errors
    /// When no run or several runs are meant, or the store cannot be read.
    pub fn select_tables(&self, run: &RunRef) -> Result<Vec<Table>, Error> {
        let run_id = self.resolve(run)?;
        let read = || {
            let transaction = self.connection.unchecked_transaction()?;
            let described = described(&transaction)?;
            let tables = described.into_iter().map(|table| read(&transaction, table, &run_id));
            let mut tables = tables.collect::<rusqlite::Result<Vec<Table>>>()?;
            tables.retain(|table| !table.rows.is_empty());
            Ok(tables)
        };
        read().map_err(|e| self.sql_error(&format!("read the tables of run {run_id}"), e))
    }
}

/// The tables that have rows of runs, those that others refer to first.
pub(crate) fn described(connection: &Connection) -> rusqlite::Result<Vec<Described>> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
               ORDER BY rowid";
    let mut statement = connection.prepare(sql)?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?;
    let names = names.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut out = Vec::new();
    for name in names {
        let mut statement =
            connection.prepare("SELECT name, type, hidden FROM pragma_table_xinfo(?)")?;
        let column = |row: &Row<'_>| {
            let declared: String = row.get(1)?;
            let declared = declared.replace(" GENERATED ALWAYS", "");
            Ok((row.get(0)?, declared, row.get::<_, i64>(2)? != 0))
        };
        let columns = statement.query_map([&name], column)?;
        let columns = columns.collect::<rusqlite::Result<Vec<(String, String, bool)>>>()?;
        let has = |wanted: &str| columns.iter().any(|(name, ..)| name == wanted);
        let key = match (has("run_id"), has("slice_id")) {
            (true, _) => Key::Run,
            (false, true) => Key::Slice,
            (false, false) => continue,
        };
        out.push(Described { name, key, columns });
    }
    // A table of the schema refers to earlier ones only.
    Ok(out)
}

fn read(connection: &Connection, table: Described, run_id: &str) -> rusqlite::Result<Table> {
    let Described { name, key, columns } = table;
    let list: Vec<&str> = columns.iter().map(|(name, ..)| name.as_str()).collect();
    let condition = key.condition("main");
    let sql = format!("SELECT {} FROM {name} WHERE {condition}", list.join(", "));
    let mut statement = connection.prepare(&sql)?;
    let n = columns.len();
    let row = |row: &Row<'_>| (0..n).map(|at| Ok(value(row.get_ref(at)?))).collect();
    let rows =
        statement.query_map([run_id], row)?.collect::<rusqlite::Result<Vec<Vec<Value>>>>()?;
    let columns = columns
        .into_iter()
        .map(|(name, declared, _)| Column { name, kind: kind(&declared) })
        .collect();
    Ok(Table { name, columns, rows })
}

fn kind(declared: &str) -> Kind {
    match declared.trim() {
        "INTEGER" => Kind::Integer,
        "REAL" => Kind::Real,
        "BLOB" => Kind::Blob,
        _ => Kind::Text,
    }
}

fn value(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(n) => Value::Integer(n),
        ValueRef::Real(x) => Value::Real(x),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Blob(bytes.to_vec()),
    }
}
