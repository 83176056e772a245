//! A writer that is killed: what it reported as stored is there, and nothing is half there.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use rqps_model::Slice;
use rqps_store::{Error, RunRef, Store};

use crate::generate::{self, Draw};

/// Tells the child, which is this same test program, where to write.
const DIR_VARIABLE: &str = "RQPS_STORE_TEST_DIR";

fn slice(idx: u32) -> Slice {
    let mut slice = generate::slice(&mut Draw(idx.into()), idx);
    slice.samples.resize_with(200, Default::default);
    slice
}

/// The child's part; without a parent it does nothing.
#[test]
fn writer() {
    #[expect(clippy::disallowed_methods, reason = "a test program takes no other arguments")]
    let Some(dir) = std::env::var_os(DIR_VARIABLE) else { return };
    let store = Store::open(&PathBuf::from(dir)).unwrap();
    let _lock = store.lock_run("r1").unwrap();
    store.create_run(&generate::plain_run("r1")).unwrap();
    for idx in 0.. {
        store.insert_slice("r1", 0, 1, &slice(idx)).unwrap();
        println!("stored {idx}");
    }
}

#[test]
fn a_killed_writer_loses_at_most_the_slice_under_way() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "interrupted::writer", "--nocapture"])
        .env(DIR_VARIABLE, dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let n_reported = 7;
    let last = format!("stored {}", n_reported - 1);
    assert!(lines.any(|line| line.unwrap() == last));

    let store = Store::open_existing(dir.path()).unwrap();
    let held = store.lock_run("r1").unwrap_err();
    assert!(matches!(&held, Error::RunInUse { pid, .. } if *pid == child.id().to_string()));
    child.kill().unwrap();
    child.wait().unwrap();

    let _lock = store.lock_run("r1").unwrap();
    store.integrity_check().unwrap();
    let run = store.select_run(&RunRef::Latest).unwrap();
    let slices = &run.steps[0].systems[1].slices;
    assert!(slices.len() >= n_reported, "{} slices", slices.len());
    for (idx, stored) in (0..).zip(slices) {
        assert_eq!(*stored, slice(idx));
    }
    // And it resumes where it stopped.
    let next = u32::try_from(slices.len()).unwrap();
    store.insert_slice("r1", 0, 1, &slice(next)).unwrap();
}

#[test]
fn two_connections_write_in_turn() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_run(&generate::plain_run("r1")).unwrap();
    let dir = dir.path();
    std::thread::scope(|scope| {
        for system_idx in 0..2 {
            scope.spawn(move || {
                let store = Store::open(dir).unwrap();
                for idx in 0..10 {
                    store.insert_slice("r1", 0, system_idx, &slice(idx)).unwrap();
                }
            });
        }
    });
    let run = store.select_run(&RunRef::Latest).unwrap();
    assert!(run.steps[0].systems.iter().all(|system| system.slices.len() == 10));
}
