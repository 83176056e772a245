//! Handicaps on real servers: whatever ends a run, nothing stays stopped.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::bench::{Bench, Running, assert_complete, for_each_server};

fn plan(dbms: &str, version: &str) -> String {
    format!(
        "name = 'handicap'\n[[system]]\ndbms = {dbms:?}\nversion = {version:?}\nhandicap = 50\n\
         [[suite]]\nrows = 10_000\nclients = [2]\nsteps = ['point-query', 'update-index']\n\
         [suite.seconds]\nread = 1.5\nwrite = 1.5\nwarm_up = 0.1\nfixed_at_most = 0.2\n\
         [schedule]\nslices = 2\n"
    )
}

/// Whether any thread of the run's servers is stopped: by tracing it, or by a signal.
fn is_any_stopped(id: &str) -> bool {
    let tasks =
        |pid: &i32| fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let all = Bench::processes_of(id);
    all.iter().flat_map(tasks).any(|task| {
        let text = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        let state = text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        matches!(state, Some('t' | 'T'))
    })
}

/// Starts the run, or goes on with it, and waits until a thread is stopped.
fn slowed(bench: &Bench) -> (Running, String) {
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    let since = Instant::now();
    while !is_any_stopped(&id) {
        assert!(since.elapsed() < Duration::from_secs(120), "nothing was ever stopped");
    }
    (running, id)
}

#[test]
fn whatever_ends_a_slowed_run_nothing_stays_stopped() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write("plan.toml", &plan(dbms, version));
        // By the user.
        let (running, id) = slowed(&bench);
        running.signal(Signal::SIGINT);
        let said = running.finish();
        assert_eq!(said.code(), 130, "{}", said.stderr);
        bench.assert_tidy(&id);
        // By the death of rqps.
        let (running, id) = slowed(&bench);
        running.signal(Signal::SIGKILL);
        assert_eq!(running.finish().code(), 128 + 9);
        Bench::await_no_process(&id);
        // And then it goes on to its end, and says what was done to it.
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert_complete(&bench.latest(), 2);
        let words = "Slowed down on purpose (handicap): the threads that serve the clients";
        assert!(said.stdout.contains(words), "{}", said.stdout);
        bench.assert_tidy(&id);
    });
}
