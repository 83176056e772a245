//! Injected slowdowns on real servers: they are seen, and whatever ends a run, nothing stays stopped.

use std::fs;
use std::ops::RangeInclusive;
use std::time::Instant;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::bench::{Bench, DEADLINE, Running, assert_complete, for_each_server, pause};

fn plan(dbms: &str, version: &str, base: &str) -> String {
    format!(
        "name = 'injected_slowdown'\n{base}[[system]]\ndbms = {dbms:?}\nversion = {version:?}\n\
         label = 'slowed'\ninjected_slowdown = 50\n[[suite]]\nrows = 10_000\nclients = [2]\nsteps = ['point-query', 'update-index']\n\
         [suite.seconds]\nread = 1.5\nwrite = 1.5\nwarm_up = 0.1\nfixed_at_most = 0.2\n\
         [schedule]\nstarts = 1\nslices = 2\n"
    )
}

/// Whether any thread of the run's servers is stopped: by tracing it, or by a signal.
fn is_any_stopped(bench: &Bench, id: &str) -> bool {
    let tasks =
        |pid: &i32| fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let all = bench.processes_of(id);
    all.iter().flat_map(tasks).any(|task| {
        let text = fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        let state = text.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        matches!(state, Some('t' | 'T'))
    })
}

/// Starts or resumes the run, and waits until a thread is stopped.
fn slowed(bench: &Bench) -> (Running, String) {
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    let since = Instant::now();
    if !bench.has_tables(&id) {
        running.await_line("indexed rows/s");
    }
    while !is_any_stopped(bench, &id) {
        assert!(since.elapsed() < DEADLINE, "nothing was ever stopped");
        pause();
    }
    (running, id)
}

#[test]
#[ignore = "make test-all: real servers"]
fn whatever_ends_a_slowed_run_nothing_stays_stopped() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write("plan.toml", &plan(dbms, version, ""));
        // By the user.
        let (running, id) = slowed(&bench);
        running.signal(Signal::SIGINT);
        let said = running.finish();
        assert_eq!(said.code(), 130, "{}", said.stderr);
        bench.assert_left(&id);
        // By the death of rqps.
        let (running, id) = slowed(&bench);
        running.signal(Signal::SIGKILL);
        assert_eq!(running.finish().code(), 128 + 9);
        bench.await_no_process(&id);
        // And then it is resumed to its end, and says what was done to it.
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert_complete(&bench.latest(), 2);
        let words = "Injected slowdown: rqps stopped connection threads on purpose";
        let report = bench.output(&["report", "--summary"]);
        assert!(report.contains(words), "{report}");
        bench.assert_tidy(&id);
    });
}

/// Operations over time of all blocks of a step on a system.
fn figure(system: &Value) -> f64 {
    let slices = system["slices"].as_array().unwrap();
    let sum = |key: &str| slices.iter().map(|slice| slice[key].as_u64().unwrap()).sum::<u64>();
    sum("n_operations") as f64 / sum("duration_ns") as f64
}

/// The least and the most of the shares of its time for which the second system was stopped in a block, in basis
/// points.
fn pauses(run: &Value) -> RangeInclusive<u64> {
    let is_measured =
        |s: &&Value| !matches!(s["info"]["kind"].as_str(), Some("load" | "index" | "warm-up"));
    let mut shares = Vec::new();
    for step in run["steps"].as_array().unwrap().iter().filter(is_measured) {
        let name = &step["info"]["name"];
        for block in step["systems"][1]["slices"].as_array().unwrap() {
            let marks = block["warnings"].as_array().unwrap();
            let mark = marks.iter().find(|mark| mark["kind"] == "injected-slowdown").unwrap();
            shares.push(mark["share_bp"].as_u64().unwrap());
            if mark["way"] != "tracing" {
                eprintln!("{name}: {} and not by tracing", mark["way"]);
            }
        }
    }
    *shares.iter().min().unwrap()..=*shares.iter().max().unwrap()
}

#[test]
#[ignore = "make test-all: real servers"]
fn half_of_the_time_is_missing() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let base = format!("[[system]]\ndbms = {dbms:?}\nversion = {version:?}\nlabel = 'base'\n");
        bench.write("plan.toml", &plan(dbms, version, &base));
        // On a host whose CPUs others want too, pauses come late and part of the loss is given back, and all of it
        // where they want all: of three runs one must show it.
        let mut seen = Vec::new();
        let run = loop {
            let said = bench.run(&["run", "plan.toml", "--new"]);
            assert_eq!(said.code(), 0, "{}", said.stderr);
            let run = bench.latest();
            let pauses = pauses(&run);
            // Not of updates, which wait for storage.
            let steps = run["steps"].as_array().unwrap();
            let read = steps.iter().find(|step| step["info"]["name"] == "point-query").unwrap();
            let systems = &read["systems"];
            let ratio = figure(&systems[1]) / figure(&systems[0]);
            if (0.2..0.85).contains(&ratio) && *pauses.start() > 3000 && *pauses.end() < 7000 {
                break run;
            }
            seen.push((ratio, pauses));
            assert!(seen.len() < 3, "{seen:?}");
        };
        let report = bench.output(&["report", "--full"]);
        assert!(report.contains("stopped on purpose (injected slowdown): "), "{report}");
        bench.assert_tidy(run["id"].as_str().unwrap());
    });
}
