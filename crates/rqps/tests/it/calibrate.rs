//! `rqps calibrate`: what it stores, what plans and reports make of it, and a server that dies in it.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rqps_model::calibration::{Best, Disturbance};
use rqps_model::{Calibration, Placement, WarningKind};
use rqps_store::Store;

use crate::bench::{Bench, for_each_server};

/// One step on the null client, interleaved as the host's calibration says.
const AUTO: &str = "[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\nlabel = 'again'\n\
    [[suite]]\nrows = 1000\nsteps = ['point-query']\nclients = [1]\n\
    [suite.seconds]\nread = 0.1\nwarm_up = 0.01\nfixed_at_most = 0.01\n\
    [schedule]\nmode = 'interleaved'\nslice = 'auto'\nslices = 1\n";

#[test]
#[ignore = "make test-all: takes long"]
fn a_calibration_is_stored_and_told() {
    let bench = Bench::new();
    let found = bench.json(&["calibrate", "null", "--seconds", "0.2", "--json"]);
    let trials = found["trials"].as_array().unwrap();
    let (n_clients, n_trials) = (found["best"].as_array().unwrap().len(), trials.len());
    // Each number of clients in each placement, with three lengths of slices and without any.
    assert!(n_trials == n_clients * 12 || n_trials == n_clients * 8, "{n_trials}");
    for trial in trials {
        assert!(trial["figure_per_s"].as_f64().unwrap() > 0.0, "{trial}");
        assert_eq!(trial["located"][0]["location"], "average", "{trial}");
    }
    // Told in the order of the table, whatever the order in which they were measured.
    let order = |trial: &serde_json::Value| (trial["clients"].as_u64(), trial["slice_ms"].as_u64());
    let half = n_trials / n_clients;
    assert!(trials[..half].iter().all(|trial| trial["clients"] == 1), "{trials:?}");
    let first: Vec<_> = trials[..4].iter().map(order).collect();
    assert_eq!(first, [Some(20), Some(50), Some(100), None].map(|ms| (Some(1), ms)));
    assert!(found["n_slices"].as_u64().unwrap() >= n_trials as u64 * 2, "{found}");
    assert_eq!(found["floors"].as_array().unwrap().len(), 2 * n_clients);
    assert_eq!(found["power"].as_array().unwrap().len(), 0);
    assert_eq!(found["system"], "the null client");
    bench.write("plan.toml", AUTO);
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let text = bench.output(&["report", "--full"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Calibrated on "), "{text}");
    let words = "with the null client on one start of each server: A/A differs by";
    assert!(text.contains(words), "{text}");
    assert_eq!(bench.latest()["calibration"]["made_unix_ms"], found["made_unix_ms"]);
}

/// Puts a calibration of this host into the store, which says what nobody takes by default.
fn store(bench: &Bench, made_unix_ms: i64, (placement, slice_ms): (Placement, u32), n_stolen: u32) {
    let host = rqps_sample::host_info(bench.dir()).unwrap();
    let calibration = Calibration {
        made_unix_ms,
        rqps_version: "0.1.0".to_owned(),
        host,
        system: "PostgreSQL 17.4".to_owned(),
        seconds: 10.0,
        trials: Vec::new(),
        best: vec![Best { clients: 1, placement }],
        slice_ms,
        floors: Vec::new(),
        starts: Vec::new(),
        power: Vec::new(),
        n_slices: 100,
        disturbances: vec![Disturbance { kind: WarningKind::Steal { pct: 7 }, n: n_stolen }],
        narrowest: None,
    };
    let store = Store::open(&bench.path("rqps-results")).unwrap();
    store.insert_calibration(&calibration).unwrap();
}

#[test]
fn plans_follow_the_calibration_of_their_host() {
    let bench = Bench::new();
    store(&bench, 1, (Placement::Free, 50), 9);
    bench.write("plan.toml", AUTO);
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(!said.stderr.contains("disturbed"), "{}", said.stderr);
    let run = bench.latest();
    assert_eq!(run["schedule"]["slice_ms"], 50);
    let steps = run["steps"].as_array().unwrap();
    let read = steps.iter().find(|step| step["info"]["name"] == "point-query").unwrap();
    assert_eq!(read["placement"], "free");
    // One that the host disturbed is not followed without a word.
    store(&bench, 2, (Placement::Paired, 250), 10);
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    let words = "`auto` uses a calibration that was disturbed (the hypervisor took up to 7% of the \
                 CPU time in 10 of 100 slices)";
    assert!(said.stderr.contains(words), "{}", said.stderr);
    assert_eq!(bench.latest()["schedule"]["slice_ms"], 250);
}

#[test]
fn what_cannot_be_calibrated_is_said() {
    let bench = Bench::new();
    for (args, words) in [
        (vec!["calibrate", "null", "--seconds", "0"], "expected a number from 0.2 to 600"),
        (vec!["calibrate", "null", "--power"], "no server to slow down; leave out"),
        (vec!["calibrate", "null", "--looks", "2"], "--power"),
        (
            vec!["calibrate", "null", "--power", "--looks", "0"],
            "expected a whole number from 1 to 1000",
        ),
        (vec!["calibrate", "mysql://u@h/d"], "starts its own server; name DBMS@VERSION"),
        (vec!["calibrate", "mysql"], "is not DBMS@VERSION"),
    ] {
        let said = bench.run(&args);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains(words), "no {words:?} in {}", said.stderr);
    }
}

/// All of it on a real server, in the shortest time that can be asked for: what it finds is the host's, but not
/// that it looks for it.
#[test]
#[ignore = "make test-all: real servers"]
fn a_server_is_calibrated_and_its_injected_slowdowns_are_looked_for() {
    for_each_server(|dbms, version| {
        // One is enough: how threads are found and stopped on each is tested elsewhere.
        if dbms != "postgres" {
            return;
        }
        let bench = Bench::new();
        let system = format!("{dbms}@{version}");
        let args = ["calibrate", &system, "--seconds", "0.2", "--power", "--looks", "2"];
        let said = bench.run(&args);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        for words in [
            "noise floor",
            "starts of the servers",
            "injected slowdown",
            "beyond chance: the whole interval is below 1",
        ] {
            assert!(said.stdout.contains(words), "no {words:?} in {}", said.stdout);
        }
        let store = Store::open(&bench.path("rqps-results")).unwrap();
        let host = rqps_sample::host_info(bench.dir()).unwrap();
        let found = store.select_calibration(&host).unwrap().unwrap();
        assert_eq!(found.system, format!("PostgreSQL {version}"));
        let n_clients = found.best.len();
        assert!(
            found.best.windows(2).all(|two| two[0].clients < two[1].clients),
            "{:?}",
            found.best
        );
        assert!([8, 12].contains(&(found.trials.len() / n_clients)), "{:?}", found.trials);
        assert!(found.trials.iter().all(|trial| trial.figure_per_s > 0.0), "{:?}", found.trials);
        assert_eq!(found.floors.len(), 2 * n_clients);
        assert!(found.floors.iter().all(|floor| floor.visible().is_some()), "{:?}", found.floors);
        let starts = found.starts.iter().map(|found| (found.step.as_str(), found.n_starts));
        assert!(starts.eq([("point-query", 6), ("update-index", 6)]), "{:?}", found.starts);
        let most = found.best.last().unwrap().clients;
        let looked: Vec<(&str, f64)> = found
            .power
            .iter()
            .map(|power| (power.step.as_str(), power.injected_slowdown_pct))
            .collect();
        let of_step = |step: &'static str| [0.0, 2.0, 5.0, 10.0].map(|percent| (step, percent));
        assert_eq!(looked, [of_step("point-query"), of_step("update-index")].concat());
        for power in &found.power {
            assert!(power.n == 2 && power.n_found <= 2 && power.clients == most, "{power:?}");
            assert_eq!(
                power.n_judged_at_half.is_some(),
                power.injected_slowdown_pct > 0.0,
                "{power:?}"
            );
            // Two looks have an interval over both.
            assert!(power.ratio.interval.is_some() && power.ratio.point > 0.0, "{power:?}");
        }
        let left = fs::read_dir(bench.path("rqps-results/data")).unwrap().count();
        assert_eq!(left, 0, "data are left");
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_server_that_dies_is_told_of_with_its_log() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let system = format!("{dbms}@{version}");
        let mut running = bench.spawn(&["calibrate", &system, "--seconds", "2"]);
        running.await_line("trial 1 of ");
        let tag = format!("calibrate-{}-", running.pid());
        kill(Pid::from_raw(bench.process_of(&format!("{tag}0"))), Signal::SIGKILL).unwrap();
        let said = running.finish();
        assert_eq!(said.code(), 2, "{}", said.stderr);
        let words = "died (it was killed by signal 9 (SIGKILL))\nthe end of its log:\n";
        let (_, log) = said.stderr.split_once(words).unwrap_or_else(|| panic!("{}", said.stderr));
        assert!(!log.trim().is_empty(), "no log in {}", said.stderr);
        bench.await_no_process(&tag);
        let left = fs::read_dir(bench.path("rqps-results/data")).unwrap().count();
        assert_eq!(left, 0, "data are left");
    });
}
