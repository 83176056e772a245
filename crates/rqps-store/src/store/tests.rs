//! A full disk, which needs the connection itself.

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
