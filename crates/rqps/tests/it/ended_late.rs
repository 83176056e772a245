//! Runs that were killed when a step had all its blocks and had not ended: the store says so by hand, as no
//! test can hit that moment.

use rqps_model::{Run, RunStatus, StepOutcome, SystemStep};
use rqps_store::{RunRef, Store};

use crate::bench::Bench;

/// Two interleaved systems until the ratio is known within a half, which is after the fewest blocks
/// that a ratio takes.
const PRECISE: &str = "[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\nlabel = 'again'\n\
                       [[suite]]\nrows = 1000\nclients = [1]\nsteps = ['point-query']\n\
                       [suite.seconds]\nread = 0.1\nwarm_up = 0.01\nfixed_at_most = 0.01\n\
                       [schedule]\nstarts = 1\nslice = '20ms'\nbudget = '4s'\nprecision = '50%'\n";

fn stored(bench: &Bench) -> Run {
    let store = Store::open_existing(&bench.path("rqps-results")).unwrap();
    store.select_run(&RunRef::Latest).unwrap()
}

/// Makes a step of a system what it is before it has ended.
fn reopen(bench: &Bench, run: &Run, step: &str, system_idx: usize) -> usize {
    let store = Store::open_existing(&bench.path("rqps-results")).unwrap();
    let step_idx = run.steps.iter().position(|s| s.info.name == step).unwrap();
    store.set_outcome(&run.id, step_idx, system_idx, &SystemStep::pending()).unwrap();
    store.set_run_status(&run.id, RunStatus::Running, None).unwrap();
    step_idx
}

fn resumed(bench: &Bench) -> Run {
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains(" resumes: "), "{}", said.stderr);
    stored(bench)
}

#[test]
#[ignore = "make test-all: takes long"]
fn a_system_whose_partner_has_ended_the_step_is_not_measured_alone() {
    for system_idx in [0, 1] {
        let bench = Bench::new();
        bench.write("plan.toml", PRECISE);
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let before = stored(&bench);
        let step_idx = reopen(&bench, &before, "point-query", system_idx);
        let after = resumed(&bench);
        let slices = |run: &Run| run.steps[step_idx].systems[system_idx].slices.clone();
        let n_blocks = slices(&before).len();
        // Fewer than twelve only where a host held them up until 4 s were over, but for half a block.
        let systems = before.steps[step_idx].systems.iter();
        let spent_ns = systems.map(|s| s.slices.iter().map(|b| b.duration_ns).sum::<u64>()).max();
        let is_spent = spent_ns > Some(3_900_000_000);
        assert!(
            n_blocks < 20 && (n_blocks >= 12 || is_spent),
            "it did not end before its time: {n_blocks} blocks, {spent_ns:?} ns"
        );
        assert_eq!(slices(&after), slices(&before));
        assert_eq!(after.steps[step_idx].systems[system_idx].outcome, StepOutcome::Done);
    }
}

/// The second could not be started, and the others were interrupted in the step, or as it ended.
#[test]
fn a_system_that_was_out_has_all_blocks_of_the_step_that_was_under_way() {
    for n_blocks in [usize::MAX, 5] {
        let bench = Bench::new();
        bench.write("plan.toml", &PRECISE.replace("4s", "2s"));
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let mut run = stored(&bench);
        let step_idx = run.steps.iter().position(|s| s.info.name == "point-query").unwrap();
        let systems = &mut run.steps[step_idx].systems;
        systems[0].slices.truncate(n_blocks);
        systems[1].slices.clear();
        systems.iter_mut().for_each(|system| system.outcome = StepOutcome::Pending);
        (run.status, run.finished_unix_ms) = (RunStatus::Running, None);
        let store = Store::open_existing(&bench.path("rqps-results")).unwrap();
        // The file that says whether the suite is the same.
        let steps = store.artifact_dir(&run.id).unwrap().join("steps.sha256");
        let digest = std::fs::read(&steps).unwrap();
        store.remove_run(&RunRef::Latest).unwrap();
        store.create_run(&run).unwrap();
        std::fs::create_dir_all(steps.parent().unwrap()).unwrap();
        std::fs::write(&steps, digest).unwrap();
        drop(store);
        let after = resumed(&bench);
        let [first, late] = &after.steps[step_idx].systems[..] else { panic!("{after:?}") };
        assert_eq!([&first.outcome, &late.outcome], [&StepOutcome::Done; 2]);
        let before = &run.steps[step_idx].systems[0].slices;
        assert_eq!(first.slices[..before.len()], before[..]);
        let idxs: Vec<u32> = late.slices.iter().map(|slice| slice.idx).collect();
        assert!(idxs.len() >= 5, "{idxs:?}");
        assert!(idxs.iter().zip(0..).all(|(idx, n)| *idx == n), "{idxs:?}");
    }
}

#[test]
fn tables_that_were_filled_again_are_not_checked_for_what_a_step_did() {
    for mode in ["sequential", "interleaved"] {
        let bench = Bench::new();
        let plan = format!(
            "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'insert'\nrows = 20_000\nrows_later = 5_000\n\
             clients = [2]\nrates = [50]\nseconds = {{ query = 1, wait = 0 }}\n\
             [schedule]\nstarts = 1\nmode = '{mode}'\nslices = 1\n"
        );
        bench.write("plan.toml", &plan);
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let before = stored(&bench);
        let step_idx = reopen(&bench, &before, "l.i2", 0);
        let after = resumed(&bench);
        let state = &after.steps[step_idx].systems[0];
        assert_eq!(state.slices, before.steps[step_idx].systems[0].slices);
        assert_eq!(state.outcome, StepOutcome::Done);
        let checks: Vec<&str> = state.checks.iter().map(|check| check.name.as_str()).collect();
        assert_eq!(checks, ["not checked, interrupted"]);
        assert!(state.debt.is_empty());
    }
}
