//! Loads in blocks of equally many rows, and the indexes after them.

use std::time::Duration;

use nix::sys::signal::Signal;
use rqps_fake_server::{Fault, When};
use serde_json::Value;

use crate::bench::{Bench, assert_complete, for_one_server};
use crate::fake::{for_each_family, write_plan};
use crate::interleaved_runs::until;

/// Two servers that fill a table from so many clients.
struct Wanted<'a> {
    dbms: &'a str,
    version: &'a str,
    mode: &'a str,
    rows: u32,
    clients: u32,
}

fn plan(wanted: &Wanted<'_>) -> String {
    let Wanted { dbms, version, mode, rows, clients } = wanted;
    let system = |label: &str| {
        format!("[[system]]\nlabel = {label:?}\ndbms = {dbms:?}\nversion = {version:?}\n")
    };
    format!(
        "name = 'loads'\n{}{}[[suite]]\nrows = {rows}\nclients = [{clients}]\nsteps = ['load']\n\
         seconds = {{ read = 0.02, warm_up = 0.01, fixed_at_most = 0.02 }}\n\
         [schedule]\nstarts = 1\nmode = {mode:?}\nslices = 1\nseed = 7\n",
        system("a"),
        system("b")
    )
}

/// The slices of a step on a system.
fn slices_of<'r>(run: &'r Value, step: &str, system: usize) -> &'r Vec<Value> {
    let mut steps = run["steps"].as_array().unwrap().iter();
    let step = steps.find(|one| one["info"]["name"] == step).unwrap();
    step["systems"][system]["slices"].as_array().unwrap()
}

/// A number of each slice.
fn numbers(slices: &[Value], key: &str) -> Vec<u64> {
    slices.iter().map(|slice| slice[key].as_u64().unwrap()).collect()
}

/// What a report says of the second system in a step.
fn compared(bench: &Bench, step: &str) -> Value {
    // Other tests may have the CPUs meanwhile.
    let json = bench.json(&["report", "--format", "json", "--allow-busy-host"]);
    let mut steps = json["steps"].as_array().unwrap().iter();
    steps.find(|one| one["name"] == step).unwrap()["systems"][1].clone()
}

#[test]
fn blocks_are_equal_interleaved_and_all_of_the_rows() {
    for_each_family(|dbms, version| {
        for mode in ["interleaved", "sequential"] {
            let bench = Bench::new();
            let _trees = write_plan(
                &bench,
                &plan(&Wanted { dbms, version, mode, rows: 10_000, clients: 2 }),
            );
            let said = bench.run(&["run", "plan.toml", "--no-html"]);
            assert_eq!(said.code(), 0, "{}", said.stderr);
            let run = bench.latest();
            assert_complete(&run, 1);
            let starts = |system: usize| numbers(slices_of(&run, "load", system), "start_unix_ms");
            for system in 0..2 {
                // Each of two connections sends 500 rows.
                let slices = slices_of(&run, "load", system);
                assert_eq!(numbers(slices, "n_operations"), [1000; 10], "{mode}");
                assert_eq!(numbers(slices, "n_queries"), [2; 10], "{mode}");
                let created = slices_of(&run, "create-index", system);
                assert_eq!(numbers(created, "n_operations"), [10_000], "{mode}");
            }
            // Blocks of systems that are interleaved begin at once.
            assert_eq!(starts(0) == starts(1), mode == "interleaved", "{mode}");
            bench.assert_tidy(run["id"].as_str().unwrap());
        }
    });
}

#[test]
fn a_system_that_is_slower_at_loading_gets_a_verdict() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let mut trees = write_plan(
            &bench,
            &plan(&Wanted { dbms, version, mode: "interleaved", rows: 10_000, clients: 1 }),
        );
        for (tree, ms) in trees.iter_mut().zip([30, 120]) {
            let first = When::Text(1, "INSERT INTO sbtest1".to_owned());
            tree.fail(first, Fault::Slow(Duration::from_millis(ms))).unwrap();
        }
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let load = compared(&bench, "load");
        assert_eq!(load["verdict"], "slower", "{load}");
        assert_eq!(slices_of(&bench.latest(), "load", 1).len(), 20);
        // Indexes are created once.
        assert_eq!(compared(&bench, "create-index")["verdict"], "unclear");
    });
}

#[test]
fn a_load_in_which_a_server_dies_begins_again() {
    for_each_family(|dbms, version| {
        for mode in ["interleaved", "sequential"] {
            let bench = Bench::new();
            let mut trees = write_plan(
                &bench,
                &plan(&Wanted { dbms, version, mode, rows: 10_000, clients: 1 }),
            );
            let tenth = When::Text(10, "INSERT INTO sbtest1".to_owned());
            trees[1].fail(tenth, Fault::Die(Signal::SIGKILL)).unwrap();
            let said = bench.run(&["run", "plan.toml", "--no-html"]);
            assert_eq!(said.code(), 0, "{}", said.stderr);
            let run = bench.latest();
            assert_complete(&run, 1);
            assert_eq!(trees[1].n_starts(), trees[0].n_starts() + 1, "{mode}");
            for system in 0..2 {
                let slices = slices_of(&run, "load", system);
                assert_eq!(numbers(slices, "n_operations"), [500; 20], "{mode}");
            }
            bench.output(&["runs", "verify"]);
            bench.assert_tidy(run["id"].as_str().unwrap());
        }
    });
}

#[test]
fn an_interrupted_load_is_resumed_on_new_tables() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let mut trees = write_plan(
            &bench,
            &plan(&Wanted { dbms, version, mode: "interleaved", rows: 10_000, clients: 1 }),
        );
        // Of the first server's life alone: slow enough to be met in the load.
        let first = When::Text(1, "INSERT INTO sbtest1".to_owned());
        trees[0].fail(first, Fault::Slow(Duration::from_millis(300))).unwrap();
        let mut running = bench.spawn(&["run", "plan.toml", "--no-html"]);
        running.run_id();
        until("blocks of the load", || slices_of(&bench.latest(), "load", 0).len() >= 3);
        running.signal(Signal::SIGINT);
        assert_eq!(running.finish().code(), 130);
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert_complete(&run, 1);
        for system in 0..2 {
            let slices = slices_of(&run, "load", system);
            assert_eq!(numbers(slices, "n_operations"), [500; 20]);
        }
        bench.assert_tidy(run["id"].as_str().unwrap());
    });
}

#[test]
#[ignore = "make test-all: a real server"]
fn equal_servers_are_compared_in_their_loads() {
    for_one_server(|dbms, version| {
        let bench = Bench::new();
        bench.write(
            "plan.toml",
            &plan(&Wanted { dbms, version, mode: "interleaved", rows: 100_000, clients: 2 }),
        );
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let load = compared(&bench, "load");
        assert_eq!(load["rqps"]["n"], 20, "{load}");
        assert!(load["rqps"]["low"].is_number() || load["rqps"]["interval"].is_array(), "{load}");
        let ratio = load["rqps"]["point"].as_f64().unwrap();
        assert!((0.5..2.0).contains(&ratio), "{load}");
    });
}
