//! Stack profiles beside a run: kept as files, never part of what was measured.

use rqps_stacks::profile::{CpuSampling, Facts, NotHad, StackProfile, Unwind, WaitSampling};
use rqps_stacks::{Counter, Stacks};
use rqps_store::{Error, RunRef, Store};

use crate::generate::{self, Draw};

fn profile() -> StackProfile {
    let facts = Facts {
        start_unix_ms: 1_700_000_000_000,
        duration_ns: 5_000_000_000,
        n_operations: 123_456,
        server_cpu_ns: 4_000_000_000,
        cpu: Some(CpuSampling {
            event: "cpu-clock".to_owned(),
            unwind: Unwind::Dwarf,
            frequency_hz: 499,
            n_samples: 3,
            period_ns: 3_000_000,
            n_user: 3,
            n_complete: 2,
            n_frames: 9,
            n_unknown: 1,
            symbols: ".symtab".to_owned(),
            is_stripped: false,
            cost_ns: 20_000_000,
        }),
        waits: Some(WaitSampling {
            n_looks: 250,
            n_threads: 30,
            cost_ns: 30_000_000,
            has_places: true,
            has_calls: true,
            has_kinds: true,
        }),
        counters: vec![Counter { event: "cycles".to_owned(), value: None, counted_share: 1.0 }],
        missing: vec![NotHad {
            what: "hardware counters".to_owned(),
            reason: "the CPU gives none".to_owned(),
            remedy: String::new(),
        }],
    };
    let stacks = Stacks::parse("main;operator new 2\nmain;f 1\n").unwrap();
    let waits = Stacks::parse("threads;asleep;futex 7\n").unwrap();
    StackProfile { step_idx: 1, system_idx: 0, facts, stacks, waits }
}

#[test]
fn a_stack_profile_comes_back_and_changes_nothing_that_was_measured() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_run(&generate::plain_run("r1")).unwrap();
    let slice = generate::slice(&mut Draw(3), 0);
    store.insert_slice("r1", 1, 0, &slice).unwrap();
    let before = store.select_run(&RunRef::Latest).unwrap();
    assert_eq!(store.select_stack_profiles(&RunRef::Latest).unwrap(), []);

    store.insert_stack_profile("r1", &profile(), ("point-query", "my5614")).unwrap();
    assert_eq!(store.select_stack_profiles(&RunRef::Latest).unwrap(), [profile()]);
    assert_eq!(store.select_run(&RunRef::Latest).unwrap(), before);
    let files = store.list_artifacts("r1").unwrap();
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["stacks/01-0-cpu.folded", "stacks/01-0-waits.folded"]);
    let text = std::fs::read_to_string(dir.path().join("artifacts/r1").join(paths[0])).unwrap();
    assert_eq!(text, "main;f 1\nmain;operator new 2\n");

    let error = store.insert_stack_profile("r1", &profile(), ("x", "y")).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");
    let other = rusqlite::Connection::open(store.path()).unwrap();
    for sql in ["UPDATE stack_profile SET n_operations = 1", "DELETE FROM stack_profile"] {
        assert!(other.execute(sql, []).is_err(), "{sql}");
    }
    // A file that somebody removed or broke.
    let path = dir.path().join("artifacts/r1/stacks/01-0-waits.folded");
    std::fs::write(&path, "no number\n").unwrap();
    let error = store.select_stack_profiles(&RunRef::Latest).unwrap_err().to_string();
    assert!(error.contains("cannot understand") && error.contains("01-0-waits"), "{error}");
    std::fs::remove_file(&path).unwrap();
    let read = store.select_stack_profiles(&RunRef::Latest).unwrap();
    assert!(read[0].waits.is_empty() && !read[0].stacks.is_empty());

    store.remove_run(&RunRef::Latest).unwrap();
    let n: i64 =
        other.query_row("SELECT count(*) FROM stack_profile", [], |row| row.get(0)).unwrap();
    assert_eq!(n, 0);
    assert!(!dir.path().join("artifacts/r1").exists());
}
