//! Files that are no store, stores that cannot be used, ids that are no ids.

use rqps_model::{Metric, Stated};
use rqps_store::{Artifact, Error, RunRef, Store};

use crate::generate;

#[test]
fn a_missing_store_is_not_made_by_reading() {
    let dir = tempfile::tempdir().unwrap();
    let error = Store::open_existing(&dir.path().join("none")).unwrap_err();
    assert!(error.to_string().contains("measure something with `rqps run`"), "{error}");
    assert!(!dir.path().join("none").exists());
}

#[test]
fn other_files_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("rqps.db");

    std::fs::write(&path, "This is a text of mine, and it is long enough to be read.").unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, Error::NotADatabase { .. }), "{error}");
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("This is a text of mine"));

    std::fs::remove_file(&path).unwrap();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE mine (x); PRAGMA user_version = 1").unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, Error::NotOurs { .. }), "{error}");
    let n: i64 =
        other.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(n, 1);
}

#[test]
fn a_later_schema_is_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = Store::open(dir.path()).unwrap().path().to_path_buf();
    let other = rusqlite::Connection::open(&path).unwrap();
    other.pragma_update(None, "user_version", 99).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, Error::OtherSchema { found: 99, known: 17, .. }), "{error}");
    assert!(error.to_string().contains("use the rqps that wrote it"));
}

#[test]
fn a_directory_that_cannot_be_made() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = Store::open(&file).unwrap_err();
    assert!(matches!(error, Error::NotADirectory { .. }), "{error}");
    let below = file.join("results");
    let error = Store::open(&below).unwrap_err();
    assert!(error.to_string().contains(&format!("cannot create {}", below.display())), "{error}");
    std::fs::create_dir_all(dir.path().join("results/rqps.db")).unwrap();
    let error = Store::open(&dir.path().join("results")).unwrap_err();
    assert!(matches!(error, Error::NotWritable { .. }), "{error}");
}

#[test]
fn damage_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_run(&generate::plain_run("r1")).unwrap();
    let other = rusqlite::Connection::open(store.path()).unwrap();
    other.execute_batch("PRAGMA foreign_keys = OFF; DELETE FROM system").unwrap();
    let error = store.integrity_check().unwrap_err().to_string();
    assert!(error.contains("a row of step_system refers to a missing row"), "{error}");
    assert!(store.select_run(&RunRef::Latest).is_err());
}

#[test]
fn ids_that_would_leave_the_directory() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    for id in ["", "..", "a/b", "/etc", ".hidden", "a b", "ü"] {
        assert!(matches!(store.artifact_dir(id), Err(Error::BadRunId { .. })), "{id}");
        let error = store.create_run(&generate::plain_run(id)).unwrap_err();
        assert!(matches!(error, Error::BadRunId { .. }), "{id}");
    }
    store.create_run(&generate::plain_run("r1")).unwrap();
    let error = store.create_run(&generate::plain_run("r1")).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
    for path in ["", "/etc/passwd", "../r2/log", "."] {
        let artifact = Artifact { path: path.to_owned(), what: String::new() };
        assert!(store.insert_artifact("r1", &artifact).is_err(), "{path}");
    }
}

/// JSON has no words for them: the run could not be read again.
#[test]
fn numbers_that_are_not_finite() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut slice = generate::slice(&mut generate::Draw(1), 0);
    slice.stated = Some(Stated { figure: Some(1.0), ..Stated::default() });
    store.create_run(&generate::plain_run("r1")).unwrap();
    let with = |change: &dyn Fn(&mut Stated)| {
        let mut slice = slice.clone();
        change(slice.stated.as_mut().unwrap());
        store.insert_slice("r1", 0, 0, &slice)
    };
    for wrong in [f64::NAN, f64::INFINITY] {
        let in_figure = with(&|stated| stated.figure = Some(wrong));
        let in_column = with(&|stated| stated.columns = vec![("rps".to_owned(), wrong)]);
        let in_metric = with(&|stated| stated.metrics = vec![(Metric::Reads, wrong)]);
        for stored in [in_figure, in_column, in_metric] {
            let error = stored.unwrap_err();
            let source =
                std::error::Error::source(&error).map_or(String::new(), ToString::to_string);
            let said = format!("{error}: {source}");
            assert!(said.contains("which is not a finite number"), "{said}");
        }
    }
    with(&|_| ()).unwrap();
    store.select_run(&RunRef::Latest).unwrap();
}
