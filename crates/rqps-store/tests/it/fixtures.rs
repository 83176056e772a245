//! Stores of every schema that there was: each opens in this rqps, with a copy of what it was beside it.
//!
//! `tests/data/schema-N.sql` is a store of schema N as text, with its own tables and not those of today's
//! migrations, so that a migration that is changed afterwards is noticed. Those up to 10 were made after
//! the fact: the tables by the migrations up to N, the rows from a generated run, as far as schema N has
//! columns for them. `UPDATE_EXPECT=1` writes the one of the newest schema when it is missing; those that
//! are there are never written again.

use std::fs;
use std::path::{Path, PathBuf};

use rqps_model::{Incident, Run, Slice};
use rqps_store::{RunRef, Store};
use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::generate::{self, Draw};

const NEWEST: usize = 14;

/// The first one with the read-ahead of the host's storage.
const WITH_READ_AHEAD: usize = 13;

/// `rQPS` in ASCII.
const APPLICATION_ID: i64 = 0x7251_5053;

fn path_of(number: usize) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/schema-{number}.sql"))
}

fn slices() -> Vec<Slice> {
    let slice = |idx: u32| {
        let mut slice = generate::slice(&mut Draw(40 + u64::from(idx)), idx);
        // Words that the first schema did not know.
        slice.marks.clear();
        slice
    };
    (0..3).map(slice).collect()
}

/// What the fixtures are made of.
fn run() -> Run {
    let mut run = generate::plain_run("r1");
    run.steps[0].systems[1].slices = slices();
    run.host.read_ahead_kb = Some(128);
    let what = "its server was killed by signal 9".to_owned();
    run.incidents = vec![Incident { at_unix_ms: 1_800_000_000_000, system: Some(1), what }];
    run
}

/// A database as the migrations up to `number` leave it, with the rows of a store of today.
fn made(number: usize, today: &Path) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    for migration in 1..=number {
        let name = format!("migrations/{migration:04}.sql");
        let sql = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
        connection.execute_batch(&sql).unwrap();
    }
    let names = |sql: &str| -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let names = statement.query_map([], |row| row.get(0)).unwrap();
        names.collect::<rusqlite::Result<_>>().unwrap()
    };
    let tables = names("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid");
    connection.execute("ATTACH DATABASE ? AS today", [today.to_str().unwrap()]).unwrap();
    for table in tables {
        // Generated columns are not among those that this pragma tells.
        let columns = names(&format!("SELECT name FROM pragma_table_info('{table}')")).join(", ");
        connection
            .execute_batch(&format!(
                "INSERT INTO main.{table} ({columns}) SELECT {columns} FROM today.{table}"
            ))
            .unwrap();
    }
    connection
}

/// A database as SQL that makes it.
fn dumped(connection: &Connection, number: usize) -> String {
    let mut text = format!(
        "PRAGMA application_id = {APPLICATION_ID};\nPRAGMA user_version = {number};\nBEGIN;\n"
    );
    let all = |kind: &str| -> Vec<(String, String)> {
        let sql = format!(
            "SELECT name, sql FROM main.sqlite_schema WHERE sql IS NOT NULL AND {kind} ORDER BY rowid"
        );
        let mut statement = connection.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        rows.collect::<rusqlite::Result<_>>().unwrap()
    };
    for (table, sql) in all("type = 'table'") {
        text.push_str(&format!("{sql};\n"));
        let mut statement =
            connection.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
        let columns: Vec<String> = statement
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        let columns = columns.join(", ");
        let mut statement =
            connection.prepare(&format!("SELECT {columns} FROM main.{table} ORDER BY 1")).unwrap();
        let n = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<String> = (0..n).map(|i| literal(row.get_ref(i).unwrap())).collect();
            text.push_str(&format!(
                "INSERT INTO {table} ({columns}) VALUES ({});\n",
                values.join(", ")
            ));
        }
    }
    for (_, sql) in all("type <> 'table'") {
        text.push_str(&format!("{sql};\n"));
    }
    text.push_str("COMMIT;\n");
    text
}

fn literal(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Null => "NULL".to_owned(),
        ValueRef::Integer(n) => n.to_string(),
        ValueRef::Real(x) => format!("{x:?}"),
        ValueRef::Text(text) => {
            format!("'{}'", std::str::from_utf8(text).unwrap().replace('\'', "''"))
        }
        ValueRef::Blob(bytes) => {
            let hex: String = bytes.iter().map(|b| format!("{b:02X}")).collect();
            format!("X'{hex}'")
        }
    }
}

#[test]
fn there_is_one_of_the_newest_schema() {
    #[expect(clippy::disallowed_methods, reason = "the switch of all expectations")]
    let is_wanted = std::env::var_os("UPDATE_EXPECT").is_some();
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_run(&run()).unwrap();
    store.integrity_check().unwrap();
    for number in 1..=NEWEST {
        let path = path_of(number);
        if is_wanted && !path.exists() {
            fs::write(&path, dumped(&made(number, store.path()), number)).unwrap();
        }
        assert!(path.exists(), "{} is missing: UPDATE_EXPECT=1 writes it", path.display());
    }
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    assert_eq!(fs::read_dir(migrations).unwrap().count(), NEWEST, "a schema without a fixture");
}

/// A results directory with the store of a fixture in it.
fn laid_out(number: usize) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let connection = Connection::open(dir.path().join("rqps.db")).unwrap();
    connection.execute_batch(&fs::read_to_string(path_of(number)).unwrap()).unwrap();
    let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
    connection.query_row("PRAGMA journal_mode = WAL", [], mode).unwrap();
    dir
}

#[test]
fn each_opens_and_holds_what_it_held() {
    for number in 1..=NEWEST {
        let dir = laid_out(number);
        let store = Store::open(dir.path()).unwrap();
        let found = store.verify().unwrap();
        assert_eq!(found.problems, Vec::<String>::new(), "schema {number}");
        assert_eq!((found.n_runs, found.n_slices), (1, 3), "schema {number}");
        let read = store.select_run(&RunRef::Latest).unwrap();
        let mut wanted = run();
        wanted.host.read_ahead_kb = (number >= WITH_READ_AHEAD).then_some(128);
        assert_eq!((read.plan, read.seed, read.host), (wanted.plan, wanted.seed, wanted.host));
        for (read, wanted) in read.steps[0].systems[1].slices.iter().zip(slices()) {
            // What every schema has had.
            assert_eq!(
                (read.seed, read.duration_ns, read.n_queries, &read.windows),
                (wanted.seed, wanted.duration_ns, wanted.n_queries, &wanted.windows)
            );
            assert_eq!(read.response_times, wanted.response_times);
            assert_eq!(read.usage.host, wanted.usage.host);
            assert_eq!(read.series, wanted.series);
            assert_eq!(read.errors, wanted.errors);
        }
        // And it goes on.
        store.insert_slice("r1", 0, 1, &generate::slice(&mut Draw(9), 3)).unwrap();
    }
}

#[test]
fn what_was_there_is_kept_beside_it() {
    for number in 1..=NEWEST {
        let dir = laid_out(number);
        drop(Store::open(dir.path()).unwrap());
        let copy = dir.path().join(format!("rqps.db.schema-{number}"));
        assert_eq!(copy.exists(), number < NEWEST, "schema {number}");
        let names = fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name());
        let half: Vec<_> = names.filter(|n| n.to_string_lossy().contains("half")).collect();
        assert!(half.is_empty(), "{half:?}");
        if number == NEWEST {
            continue;
        }
        let copy = Connection::open(copy).unwrap();
        let number_of = |sql: &str| copy.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(number_of("PRAGMA user_version"), i64::try_from(number).unwrap());
        assert_eq!(number_of("PRAGMA application_id"), APPLICATION_ID);
        assert_eq!(number_of("SELECT count(*) FROM slice"), 3);
    }
}
