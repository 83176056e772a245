//! Runs of which nobody hears: whose terminal is closed, whose report has nowhere to go, whose store is
//! taken away, or which are stopped for a while.

use std::fs;

use nix::sys::signal::Signal;

use crate::bench::{Bench, assert_complete, pause};

const PLAN: &str = "name = 'unheard'\n[[system]]\ndbms = 'null'\n[[suite]]\nrows = 1000\n\
                    steps = ['point-query', 'range-*']\n\
                    seconds = { read = 0.2, warm_up = 0.01, fixed_at_most = 0.1 }\n\
                    [schedule]\nstarts = 1\nslices = 2\n";

#[test]
fn a_run_under_nohup_goes_on_when_its_terminal_is_closed() {
    let bench = Bench::new();
    bench.write("plan.toml", PLAN);
    // What nohup does.
    let mut running = bench.spawn_after("trap '' HUP", &["run", "plan.toml", "--no-html"]);
    running.await_line("queries/s");
    running.signal(Signal::SIGHUP);
    let said = running.finish();
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert_complete(&bench.latest(), 2);
    // Any other run ends by it; the tests themselves may be under nohup.
    let heard = "exec env --default-signal=HUP \"$0\" \"$@\"";
    let mut running = bench.spawn_after(heard, &["run", "plan.toml", "--new", "--no-html"]);
    running.await_line("queries/s");
    // As a terminal that is closed does: its shell sends one, and the kernel another when that ends.
    running.signal(Signal::SIGHUP);
    pause();
    running.signal(Signal::SIGHUP);
    assert_eq!(running.finish().code(), 130);
    assert_eq!(bench.latest()["status"], "interrupted");
}

#[test]
fn a_report_that_cannot_be_printed_is_on_disk_and_can_be_had_again() {
    let bench = Bench::new();
    bench.write("plan.toml", PLAN);
    // Standard output has no room, as it is where a terminal is gone or a disk is full.
    let said = bench.run_after("exec >/dev/full", &["run", "plan.toml"]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 2);
    let id = run["id"].as_str().unwrap();
    assert!(bench.path(&format!("rqps-results/{id}.html")).exists());
    let words = format!("\nrun {id} is finished; `rqps report {id}` shows it\n");
    assert!(said.stderr.contains("rqps: error: write to standard output: "), "{}", said.stderr);
    assert!(said.stderr.ends_with(&words), "{}", said.stderr);
    assert!(bench.output(&["report", id]).contains("point-query"));
}

#[test]
fn a_store_that_is_taken_away_ends_the_run_with_an_error() {
    let bench = Bench::new();
    bench.write("plan.toml", PLAN);
    let mut running = bench.spawn(&["run", "plan.toml", "--no-html"]);
    running.await_line("queries/s");
    let store = bench.path("rqps-results/rqps.db");
    fs::remove_file(&store).unwrap();
    let said = running.finish();
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let words = format!("{} was removed, moved or replaced", store.display());
    assert!(said.stderr.contains(&words), "{}", said.stderr);
}

/// Two systems, sequential and interleaved: in neither schedule a slice holds the pause.
#[test]
#[ignore = "make test-all: takes long"]
fn what_was_under_way_while_rqps_was_stopped_is_measured_once_more() {
    let systems = ["a", "b"].map(|l| format!("[[system]]\ndbms = 'null'\nlabel = '{l}'\n"));
    for mode in ["sequential", "interleaved"] {
        let bench = Bench::new();
        let plan = format!(
            "{}[[suite]]\nrows = 1000\nsteps = ['point-query', 'range-covered-pk']\n\
             seconds = {{ read = 2.0, warm_up = 0.01, fixed_at_most = 0.1 }}\n\
             [schedule]\nstarts = 1\nmode = '{mode}'\nslices = 2\n",
            systems.concat()
        );
        bench.write("plan.toml", &plan);
        let mut running = bench.spawn(&["run", "plan.toml", "--no-html"]);
        running.await_line("queries/s");
        // Into the first slice of the next step.
        (0..50).for_each(|_| pause());
        running.signal(Signal::SIGSTOP);
        (0..900).for_each(|_| pause());
        running.signal(Signal::SIGCONT);
        let said = running.finish();
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert_eq!(run["status"], "finished");
        let steps = run["steps"].as_array().unwrap().iter();
        let systems = steps.flat_map(|step| step["systems"].as_array().unwrap());
        let slices = systems.flat_map(|system| system["slices"].as_array().unwrap());
        let longest_ns = slices.map(|slice| slice["duration_ns"].as_u64().unwrap()).max();
        assert!(longest_ns.unwrap() < 8_000_000_000, "{mode}: {longest_ns:?}");
        assert!(said.stderr.contains("rqps or the host was paused for "), "{}", said.stderr);
    }
}

/// A load is not done once more: its rate says so.
#[test]
#[ignore = "make test-all: takes long"]
fn a_load_during_which_rqps_was_stopped_says_so() {
    let bench = Bench::new();
    let plan = PLAN.replace("rows = 1000", "rows = 20_000_000").replace(", 'range-*'", "");
    bench.write("plan.toml", &plan);
    let mut running = bench.spawn(&["run", "plan.toml", "--no-html"]);
    running.await_line(": load, 1 client");
    // Filling takes seconds, of which this is a few hundredths.
    (0..5).for_each(|_| pause());
    running.signal(Signal::SIGSTOP);
    (0..500).for_each(|_| pause());
    running.signal(Signal::SIGCONT);
    let said = running.finish();
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    let load = &run["steps"][0]["systems"][0]["slices"][0];
    let is_paused = |mark: &serde_json::Value| mark["kind"] == "paused";
    assert!(load["warnings"].as_array().unwrap().iter().any(is_paused), "{load}");
}
