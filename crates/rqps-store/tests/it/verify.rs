//! What `Store::verify` finds, and what it leaves alone.

use rqps_model::{RunStatus, StepOutcome};
use rqps_store::{Artifact, Store};

use crate::generate::{self, Draw};

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut run = generate::plain_run("r1");
    run.steps[0].info.name = "point-query".to_owned();
    store.create_run(&run).unwrap();
    for idx in 0..3 {
        store.insert_slice("r1", 0, 0, &generate::slice(&mut Draw(1), idx)).unwrap();
    }
    (dir, store)
}

#[test]
fn a_run_that_was_broken_off_is_sound() {
    let (dir, store) = store();
    let found = store.verify().unwrap();
    assert_eq!((found.n_runs, found.n_slices), (1, 3));
    assert_eq!(found.problems, Vec::<String>::new());
    assert_eq!(found.notes, ["run r1 ended unexpectedly; the command that began it resumes it"]);
    // Looking takes hold of nothing and writes nothing.
    assert!(!dir.path().join("artifacts/r1").exists());
    let _lock = store.lock_run("r1").unwrap();
    assert_eq!(store.verify().unwrap().notes, ["run r1 is being measured"]);
}

#[test]
fn what_is_missing_is_told() {
    let (dir, store) = store();
    let log = Artifact { path: "server-0.log".to_owned(), what: "server log of a".to_owned() };
    store.insert_artifact("r1", &log).unwrap();
    std::fs::create_dir_all(dir.path().join("artifacts/of-nobody")).unwrap();
    let mut state = generate::plain_run("r1").steps[0].systems[1].clone();
    state.outcome = StepOutcome::Done;
    store.set_outcome("r1", 0, 1, &state).unwrap();
    store.set_run_status("r1", RunStatus::Finished, Some(1)).unwrap();
    let raw = rusqlite::Connection::open(store.path()).unwrap();
    // The database itself refuses to lose one.
    raw.execute_batch("DELETE FROM slice WHERE slice_idx = 1").unwrap_err();
    let found = store.verify().unwrap();
    let has = |words: &str| found.problems.iter().any(|problem| problem.contains(words));
    assert!(has("server-0.log (server log of a) is missing"), "{found:?}");
    assert!(has("the run is finished, but step point-query"), "{found:?}");
    assert!(has("is done but has no slice"), "{found:?}");
    assert!(found.notes[0].contains("of-nobody belongs to no run"), "{found:?}");
}

#[test]
fn a_gap_between_slices_is_told() {
    let (_dir, store) = store();
    store.insert_slice("r1", 0, 0, &generate::slice(&mut Draw(1), 4)).unwrap();
    let found = store.verify().unwrap();
    assert_eq!(found.problems.len(), 1, "{found:?}");
    assert!(found.problems[0].starts_with("run r1: slices of step point-query on "), "{found:?}");
}

#[test]
fn a_damaged_page_is_told_and_nothing_is_added_to_such_a_store() {
    let (dir, store) = store();
    for idx in 3..40 {
        store.insert_slice("r1", 0, 0, &generate::slice(&mut Draw(u64::from(idx)), idx)).unwrap();
    }
    let path = store.path().to_owned();
    drop(store);
    let mut bytes = std::fs::read(&path).unwrap();
    let pages = bytes.len() / 4096;
    assert!(pages > 20, "{pages} pages");
    // Headers of pages: the first one of the file, which says what it is, stays.
    for page in (pages / 2)..pages {
        bytes[page * 4096..page * 4096 + 64].fill(0xA5);
    }
    std::fs::write(&path, bytes).unwrap();
    let error = Store::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("is damaged or not an SQLite database"), "{error}");
    let found = Store::open_existing(dir.path()).and_then(|store| store.verify());
    if let Ok(found) = found {
        assert!(!found.problems.is_empty(), "{found:?}");
    }
}
