//! A run from its beginning to its removal.

use rqps_model::run::SystemStep;
use rqps_model::{Check, RunStatus, Scope, Sizes, StepOutcome, Warning, WarningKind};
use rqps_store::{Artifact, Error, RunRef, Store};

use crate::generate::{self, Draw};

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("results")).unwrap();
    (dir, store)
}

fn ended(at_unix_ms: i64, scope: Scope, reason: &str) -> Warning {
    let kind = WarningKind::RunEnded { reason: reason.to_owned() };
    Warning { at_unix_ms: Some(at_unix_ms), scope, kind }
}

#[test]
fn changes_are_seen() {
    let (_dir, store) = store();
    let mut run = generate::plain_run("r1");
    store.create_run(&run).unwrap();

    let facts = generate::plain_run("other").systems[1].clone();
    store.set_system_facts("r1", 1, &facts).unwrap();
    let spec = run.systems[1].spec.clone();
    run.systems[1] = facts;
    run.systems[1].spec = spec;

    let mut slice = generate::slice(&mut Draw(3), 0);
    slice.warnings = vec![WarningKind::Resumed, WarningKind::ClockSet { by_ms: -7 }];
    store.insert_slice("r1", 1, 0, &slice).unwrap();
    run.steps[1].systems[0].slices.push(slice);
    let sizes = Sizes {
        database_bytes: Some(4096),
        data_dir_bytes: Some(9000),
        redo_bytes: Some(3000),
        binlog_bytes: None,
    };
    let state = &mut run.steps[1].systems[0];
    state.outcome = StepOutcome::Done;
    state.sizes = sizes;
    state.debt.insert("dead tuples".to_owned(), 7);
    let check = |name: &str| Check { name: name.to_owned(), passed: true, found: "10".to_owned() };
    state.checks = vec![check("rows per query"), check("gap")];
    store.set_outcome("r1", 1, 0, state).unwrap();
    let state = &mut run.steps[1].systems[1];
    state.outcome = StepOutcome::Failed { reason: "the server ended".to_owned() };
    store.set_outcome("r1", 1, 1, state).unwrap();

    for (scope, reason) in [(Scope::System(1), "its server ended"), (Scope::Run, "no space left")] {
        let warning = ended(70, scope, reason);
        store.add_warning("r1", &warning).unwrap();
        run.warnings.push(warning);
    }

    store.set_run_status("r1", RunStatus::Interrupted, Some(77)).unwrap();
    let kind = WarningKind::RunResumed { last: None };
    let warning = Warning { at_unix_ms: Some(78), scope: Scope::Run, kind };
    store.mark_resumed("r1", &warning).unwrap();
    run.warnings.push(warning);
    run.n_resumed = 1;
    assert_eq!(store.select_run(&RunRef::Latest).unwrap(), run);
    store.set_run_status("r1", RunStatus::Finished, Some(99)).unwrap();

    let [summary] = store.list_runs().unwrap().try_into().unwrap();
    assert_eq!((summary.status, summary.finished_unix_ms), (RunStatus::Finished, Some(99)));
    assert_eq!((summary.n_steps, summary.n_done, summary.n_failed), (4, 1, 1));
    assert_eq!((summary.n_slices, summary.systems.len()), (1, 2));
}

#[test]
fn what_does_not_exist_cannot_change() {
    let (_dir, store) = store();
    let run = generate::plain_run("r1");
    store.create_run(&run).unwrap();
    assert!(store.set_run_status("r2", RunStatus::Failed, None).is_err());
    let warning = ended(1, Scope::Run, "lost");
    assert!(store.mark_resumed("r2", &warning).is_err());
    assert!(store.add_warning("r2", &warning).is_err());
    assert!(store.set_system_facts("r1", 2, &run.systems[0]).is_err());
    assert!(store.set_outcome("r1", 0, 2, &SystemStep::pending()).is_err());
    let slice = generate::slice(&mut Draw(3), 0);
    assert!(store.insert_slice("r1", 2, 0, &slice).is_err());
    assert_eq!(store.select_run(&RunRef::Latest).unwrap(), run);
}

#[test]
fn a_slice_is_final() {
    let (dir, store) = store();
    store.create_run(&generate::plain_run("r1")).unwrap();
    let mut slice = generate::slice(&mut Draw(3), 0);
    slice.warnings = vec![WarningKind::Resumed];
    slice.samples.resize_with(1, Default::default);
    slice.series.resize_with(1, Default::default);
    store.insert_slice("r1", 0, 0, &slice).unwrap();
    let error = store.insert_slice("r1", 0, 0, &generate::slice(&mut Draw(4), 0)).unwrap_err();
    assert!(matches!(error, Error::Exists { .. }), "{error}");

    // Not even by another tool.
    let other = rusqlite::Connection::open(dir.path().join("results/rqps.db")).unwrap();
    for sql in [
        "UPDATE slice SET n_queries = 1",
        "DELETE FROM slice",
        "UPDATE warning SET kind = 'steal'",
        "DELETE FROM sample",
        "DELETE FROM second",
    ] {
        let error = other.execute(sql, []).unwrap_err().to_string();
        assert!(error.contains("stored slice"), "{sql}: {error}");
    }
    assert_eq!(store.select_run(&RunRef::Latest).unwrap().steps[0].systems[0].slices, [slice]);
}

/// A directory is made for files alone.
#[test]
fn several_runs_are_stored_together_or_not_at_all() {
    let (dir, store) = store();
    store.create_run(&generate::plain_run("r2")).unwrap();
    let ids = || store.list_runs().unwrap().into_iter().map(|run| run.id).collect::<Vec<_>>();
    let runs = ["r1", "r2", "r3"].map(generate::plain_run);
    assert!(matches!(store.create_runs(&runs), Err(Error::Exists { .. })));
    assert_eq!(ids(), ["r2"]);
    store.create_runs(&["r1", "r3"].map(generate::plain_run)).unwrap();
    assert_eq!(ids().len(), 3);
    assert_eq!(std::fs::read_dir(dir.path().join("results/artifacts")).unwrap().count(), 0);
    assert_eq!(store.verify().unwrap().problems, [""; 0]);
    assert!(!store.is_held("r1").unwrap());
    assert_eq!(store.remove_run(&RunRef::Id("r1".to_owned())).unwrap(), "r1");
    store.create_runs(&[]).unwrap();
}

#[test]
fn removal_takes_everything() {
    let (dir, store) = store();
    let mut other = generate::plain_run("r2");
    other.started_unix_ms -= 1;
    other.steps[0].systems[0].slices.push(generate::slice(&mut Draw(4), 0));
    store.create_run(&generate::plain_run("r1")).unwrap();
    store.create_run(&other).unwrap();
    store.insert_slice("r1", 0, 0, &generate::slice(&mut Draw(3), 0)).unwrap();
    std::fs::write(store.artifact_dir("r1").unwrap().join("log"), "text").unwrap();
    let artifact = Artifact { path: "log".to_owned(), what: "server log".to_owned() };
    store.insert_artifact("r1", &artifact).unwrap();
    assert_eq!(store.list_artifacts("r1").unwrap(), [artifact]);

    let lock = store.lock_run("r1").unwrap();
    assert!(matches!(store.remove_run(&RunRef::Latest), Err(Error::RunInUse { .. })));
    drop(lock);
    assert_eq!(store.remove_run(&RunRef::Latest).unwrap(), "r1");

    assert!(!dir.path().join("results/artifacts/r1").exists());
    assert!(store.list_artifacts("r1").unwrap().is_empty());
    assert_eq!(store.select_run(&RunRef::Latest).unwrap(), other);
    store.integrity_check().unwrap();
    let database = rusqlite::Connection::open(store.path()).unwrap();
    let n_left: i64 = database
        .query_row("SELECT count(*) FROM slice JOIN sample USING (slice_id)", [], |r| r.get(0))
        .unwrap();
    let samples = other.steps[0].systems[0].slices[0].samples.len();
    assert_eq!(n_left, i64::try_from(samples).unwrap());
}

#[test]
fn resumes_the_latest_unfinished_run_of_the_same_plan() {
    let (_dir, store) = store();
    let plan = |id: &str, started: i64, status, plan: &str| {
        let mut run = generate::plain_run(id);
        run.started_unix_ms = started;
        run.status = status;
        plan.clone_into(&mut run.plan);
        store.create_run(&run).unwrap();
    };
    plan("a", 1, RunStatus::Interrupted, "p");
    plan("b", 2, RunStatus::Running, "p");
    plan("c", 3, RunStatus::Finished, "p");
    plan("d", 4, RunStatus::Failed, "q");
    let found = |plan: &str| store.select_latest_unfinished(plan).unwrap().map(|run| run.id);
    assert_eq!(found("p").as_deref(), Some("b"));
    assert_eq!(found("q").as_deref(), Some("d"));
    assert_eq!(found("r"), None);
}

#[test]
fn a_lock_names_its_holder_and_ends_with_it() {
    let (_dir, store) = store();
    let lock = store.lock_run("r1").unwrap();
    let error = store.lock_run("r1").unwrap_err().to_string();
    let pid = std::process::id();
    assert_eq!(error, format!("run r1 is in use by process {pid}; wait for it to end, or stop it"));
    store.lock_run("r2").unwrap();
    drop(lock);
    store.lock_run("r1").unwrap();
}

#[test]
fn the_blocks_of_a_round_are_stored_together_or_not_at_all() {
    let (_dir, store) = store();
    let mut run = generate::plain_run("r1");
    store.create_run(&run).unwrap();
    let (first, second) = (generate::slice(&mut Draw(3), 0), generate::slice(&mut Draw(4), 0));
    store.insert_block("r1", 1, &[(0, &first), (1, &second)]).unwrap();
    run.steps[1].systems[0].slices.push(first);
    run.steps[1].systems[1].slices.push(second.clone());
    assert_eq!(store.select_run(&RunRef::Latest).unwrap(), run);
    // The second is there already, so that nothing of the first is stored either.
    let next = generate::slice(&mut Draw(5), 1);
    assert!(store.insert_block("r1", 1, &[(0, &next), (1, &second)]).is_err());
    assert_eq!(store.select_run(&RunRef::Latest).unwrap(), run);
}
