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
    assert!(error.to_string().contains("the latest results are still in"), "{error}");
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

#[test]
fn of_many_problems_some_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.connection.pragma_update(None, "foreign_keys", false).unwrap();
    let orphans = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
                   INSERT INTO note SELECT 'run ' || i, 'x' FROM n";
    store.connection.execute_batch(orphans).unwrap();
    let error = store.integrity_check().unwrap_err().to_string();
    assert_eq!(error.matches("a row of note refers to a missing row").count(), 20, "{error}");
    assert!(error.contains("; and more;"), "{error}");
}

/// The ids of slices of another store can be any numbers: what is added later comes after them.
#[test]
fn slices_of_another_store_get_new_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let from = Store::open(&dir.path().join("from")).unwrap();
    let slice = |idx: u32| generate::slice(&mut Draw(5 + u64::from(idx)), idx);
    from.create_run(&generate::plain_run("r1")).unwrap();
    for idx in 0..2 {
        from.insert_slice("r1", 0, 0, &slice(idx)).unwrap();
    }
    from.connection.pragma_update(None, "foreign_keys", false).unwrap();
    let sql = "SELECT group_concat('DROP TRIGGER ' || name, ';') FROM sqlite_schema
               WHERE type = 'trigger'";
    let drops: String = from.connection.query_row(sql, [], |row| row.get(0)).unwrap();
    from.connection.execute_batch(&drops).unwrap();
    for table in crate::store::tables::described(&from.connection).unwrap() {
        if table.columns.iter().any(|(name, ..)| name == "slice_id") {
            let largest = format!(
                "UPDATE {} SET slice_id = 9223372036854775807 WHERE slice_id = 2",
                table.name
            );
            from.connection.execute_batch(&largest).unwrap();
        }
    }
    let to = Store::open(&dir.path().join("to")).unwrap();
    to.take_run(&from, "r1").unwrap();
    let last = |store: &Store| {
        let sql = "SELECT max(slice_id) FROM slice";
        store.connection.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!((last(&from), last(&to)), (i64::MAX, 2));
    assert_eq!(to.select_run(&RunRef::Latest).unwrap(), from.select_run(&RunRef::Latest).unwrap());
    to.insert_slice("r1", 0, 0, &slice(2)).unwrap();
    to.integrity_check().unwrap();
    // Nothing can come after the largest.
    to.create_run(&generate::plain_run("r2")).unwrap();
    to.insert_slice("r2", 0, 0, &slice(0)).unwrap();
    assert!(from.take_run(&to, "r2").is_err());
    assert_eq!(from.list_runs().unwrap().len(), 1);
}

#[test]
fn a_run_that_came_in_an_archive_before_it_had_finished_does_not_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let open = |name: &str| Store::open(&dir.path().join(name)).unwrap();
    let (from, archived, copied) = (open("from"), open("archived"), open("copied"));
    from.create_run(&generate::plain_run("r1")).unwrap();
    from.create_run(&generate::plain_run("r2")).unwrap();
    from.set_run_status("r2", rqps_model::RunStatus::Finished, Some(1)).unwrap();
    for id in ["r1", "r2"] {
        archived.take_in(&from, id).unwrap();
        copied.take_run(&from, id).unwrap();
    }
    let ids = |store: &Store| -> Vec<String> {
        store.list_unfinished().unwrap().into_iter().map(|run| run.run_id).collect()
    };
    assert_eq!((ids(&archived), ids(&copied)), (Vec::new(), vec!["r1".to_owned()]));
    let told = |id: &str| {
        let run = archived.select_run(&RunRef::Id(id.to_owned())).unwrap();
        run.warnings.into_iter().map(|warning| warning.kind).collect::<Vec<_>>()
    };
    assert_eq!(told("r1"), [rqps_model::WarningKind::UnfinishedArchive]);
    assert!(told("r2").is_empty());
}

#[test]
fn a_value_that_takes_all_memory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_run(&generate::plain_run("r1")).unwrap();
    let note = "INSERT INTO note VALUES ('r1', hex(zeroblob(33554433)))";
    store.connection.execute_batch(note).unwrap();
    store.close_into_one_file().unwrap();
    let error = Store::open_foreign(dir.path()).unwrap_err().to_string();
    assert!(error.contains("its table note has a value of more than 64 MB"), "{error}");
}
