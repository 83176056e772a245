//! A full disk, which needs the connection itself; a store that is taken away, or locked.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::RunRef;

#[path = "../../tests/it/generate.rs"]
pub(crate) mod generate;

use generate::Draw;

/// The file's largest size stands in for the disk's.
#[test]
fn a_full_disk_loses_nothing_that_was_stored() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let run = generate::plain_run("r1");
    store.create_run(&run).unwrap();
    let slice = generate::slice(&mut Draw(5), 0);
    store.insert_slice("r1", 0, 0, &slice).unwrap();
    let n_pages: i64 =
        store.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    store.connection.pragma_update(None, "max_page_count", n_pages + 2).unwrap();
    let mut large = generate::slice(&mut Draw(6), 1);
    large.response_times = vec![7; 1 << 20];
    let error = store.insert_slice("r1", 0, 0, &large).unwrap_err();
    assert!(matches!(error, Error::DiskFull { .. }), "{error}");
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    store.integrity_check().unwrap();
    assert_eq!(store.select_run(&RunRef::Latest).unwrap().steps[0].systems[0].slices, [slice]);
    store.insert_slice("r1", 0, 0, &large).unwrap();
}

#[test]
fn a_store_that_cannot_be_written_can_be_read() {
    let temp = tempfile::tempdir().unwrap();
    // Characters with a meaning in an address are part of the name here.
    let dir = temp.path().join("a?b#c%20d");
    let store = Store::open(&dir).unwrap();
    store.create_run(&generate::plain_run("r1")).unwrap();
    let error = Store::open_to_read(&dir).unwrap_err();
    assert!(error.to_string().contains("what was stored last is still in"), "{error}");
    drop(store);
    let store = Store::open_to_read(&dir).unwrap();
    assert_eq!(store.select_run(&RunRef::Latest).unwrap().id, "r1");
    assert_eq!(store.list_runs().unwrap().len(), 1);
    let error = store.create_run(&generate::plain_run("r2")).unwrap_err();
    assert!(matches!(error, Error::NotWritable { .. }), "{error}");
}

#[test]
fn a_store_that_was_taken_away_is_not_written_any_more() {
    let temp = tempfile::tempdir().unwrap();
    let (dir, aside) = (temp.path().join("results"), temp.path().join("aside"));
    let store = Store::open(&dir).unwrap();
    store.create_run(&generate::plain_run("r1")).unwrap();
    let refused = |id: &str| {
        let error = store.create_run(&generate::plain_run(id)).unwrap_err();
        assert!(matches!(error, Error::Gone { .. }), "{error}");
        assert!(error.to_string().contains(&store.path().display().to_string()), "{error}");
    };
    fs::rename(&dir, &aside).unwrap();
    refused("moved");
    // Another store in its place is not it.
    drop(Store::open(&dir).unwrap());
    refused("replaced");
    fs::remove_dir_all(&dir).unwrap();
    fs::rename(&aside, &dir).unwrap();
    store.create_run(&generate::plain_run("r2")).unwrap();
    fs::remove_file(store.path()).unwrap();
    refused("removed");
}

#[test]
fn whoever_has_patience_waits_for_a_lock_and_is_asked_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let other = Connection::open(store.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // Whoever does not want to wait on gets the error.
    let store = store.waiting_while(|_| false);
    let error = store.create_run(&generate::plain_run("r1")).unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error}");
    let n_asked = Arc::new(AtomicU32::new(0));
    let asked = Arc::clone(&n_asked);
    let store = store.waiting_while(move |waited| {
        assert!(waited >= ASK_EVERY / 2, "{waited:?}");
        if asked.fetch_add(1, Ordering::Relaxed) == 1 {
            other.execute_batch("COMMIT").unwrap();
        }
        true
    });
    store.create_run(&generate::plain_run("r1")).unwrap();
    assert_eq!(n_asked.load(Ordering::Relaxed), 2);
}
