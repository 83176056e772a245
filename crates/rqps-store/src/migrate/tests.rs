//! Databases of earlier schemas are read as they were.

use super::*;
use crate::slices::{self, Place};
use crate::store::tests::generate;

/// A database as migration `number` leaves it.
fn of_schema(number: usize) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch("PRAGMA foreign_keys = ON").unwrap();
    for migration in &MIGRATIONS[..number] {
        connection.execute_batch(migration).unwrap();
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    connection.pragma_update(None, "user_version", number).unwrap();
    connection
}

/// A slice of a run before there were waits and the server's counters is read as it was; what it
/// lacks is absent, not zero.
#[test]
fn slices_of_schema_6_are_read_after_schema_7() {
    let dir = tempfile::tempdir().unwrap();
    let store = crate::Store::open(dir.path()).unwrap();
    store.create_run(&generate::plain_run("r1")).unwrap();
    let mut slice = generate::slice(&mut generate::Draw(3), 0);
    slice.streams.clear();
    slice.marks.clear();
    slice.errors.clear();
    slice.series.clear();
    store.insert_slice("r1", 0, 0, &slice).unwrap();

    let old = of_schema(6);
    let path = store.path().display().to_string();
    old.execute("ATTACH DATABASE ? AS whole", [path]).unwrap();
    for table in ["run", "system", "step", "step_system", "slice", "sample"] {
        let columns: Vec<String> = old
            .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<rusqlite::Result<_>>()
            .unwrap();
        let columns = columns.join(", ");
        let copy =
            format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM whole.{table}");
        old.execute_batch(&copy).unwrap();
    }
    old.execute_batch("DETACH DATABASE whole").unwrap();

    migrate(&old, Path::new("old.db")).unwrap();
    let place = Place { run_id: "r1", step_idx: 0, system_idx: 0 };
    let read = slices::select(&old, place).unwrap();
    slice.counters.clear();
    slice.whole_operations = None;
    slice.stated = None;
    slice.usage.waits = rqps_model::Waits::default();
    for sample in &mut slice.samples {
        sample.waits = rqps_model::Waits::default();
    }
    assert_eq!(read, [slice]);
}

#[test]
fn commands_of_schema_13_are_lists_of_words_after_schema_14() {
    let old = of_schema(13);
    let commands = [
        ("r1", "rqps --results 'my runs' run a.toml --steps 'range-*'"),
        ("r2", r"rqps profile 'it'\''s'"),
        ("r3", ""),
        ("r4", "no 'end"),
    ];
    for (id, command) in commands {
        let sql = "INSERT INTO run (run_id, name, status, started_unix_ms, n_resumed, rqps_version,
                     command_line, plan, seed, schedule, base_system_idx, host_name, host_kernel,
                     host_os, host_cpu_model, host_n_cpus, host_memory_bytes,
                     host_virtual_machine, host_storage)
                   VALUES (?, '', 'finished', 0, 0, '', ?, '', '0', '{}', 0, '', '', '', '', 1, 1, 0, '')";
        old.execute(sql, [id, command]).unwrap();
    }
    migrate(&old, Path::new("old.db")).unwrap();
    let mut statement = old.prepare("SELECT command_line FROM run ORDER BY run_id").unwrap();
    let words = statement.query_map([], |row| row.get::<_, Json<Vec<String>>>(0)).unwrap();
    let words: Vec<Vec<String>> = words.map(|one| one.unwrap().0).collect();
    assert_eq!(words[0], ["rqps", "--results", "my runs", "run", "a.toml", "--steps", "range-*"]);
    assert_eq!(words[1], ["rqps", "profile", "it's"]);
    assert!(words[2].is_empty());
    assert_eq!(words[3], ["no 'end"]);
}
