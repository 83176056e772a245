//! Stack profiles of real servers: recorded apart, shown, and no part of what was measured.

use std::fs;

use serde_json::Value;

use crate::bench::{Bench, for_each_server, slices};
use crate::null_client::assert_follows_schema;

fn plan(dbms: &str, version: &str, profile: &str) -> String {
    format!(
        "name = 'stacks'\n{profile}\n[[system]]\ndbms = {dbms:?}\nversion = {version:?}\n\
         [[system]]\ndbms = {dbms:?}\nversion = {version:?}\nlabel = 'again'\n\
         [[suite]]\nrows = 20_000\nclients = [1]\nsteps = ['point-query', 'update-index', 'delete']\n\
         [suite.seconds]\nread = 0.2\nwrite = 0.2\ninsert = 0.2\nwarm_up = 0.05\n\
         fixed_at_most = 0.2\n[schedule]\nstarts = 1\nslices = 2\nseed = 5\n"
    )
}

/// Which steps have slices, on which systems.
fn shape(run: &Value) -> Vec<(String, bool)> {
    let steps = run["steps"].as_array().unwrap().iter();
    steps
        .flat_map(|step| {
            let name = step["info"]["name"].as_str().unwrap().to_owned();
            let systems = step["systems"].as_array().unwrap().iter();
            systems.map(move |s| (name.clone(), !s["slices"].as_array().unwrap().is_empty()))
        })
        .collect()
}

/// Slices of 20 ms make eight blocks of so short a step; fewer where the host was so busy that an
/// event outlasted them.
fn assert_blocks(run: &Value) {
    assert_eq!(run["status"], "finished");
    for step in run["steps"].as_array().unwrap() {
        let (name, kind) = (&step["info"]["name"], step["info"]["kind"].as_str().unwrap());
        let allowed = match kind {
            "warm-up" | "index" => 1..=1,
            "load" => 1..=20,
            _ => 2..=8,
        };
        let idxs = |system: usize| -> Vec<u64> {
            slices(step, system).iter().map(|slice| slice.0).collect()
        };
        assert!(allowed.contains(&idxs(0).len()), "{name}: {:?}", idxs(0));
        assert!(idxs(0).iter().copied().eq(0..idxs(0).len() as u64), "{name}: {:?}", idxs(0));
        assert_eq!(idxs(0), idxs(1), "{name}");
    }
}

/// What recordings of any process have below the directory for temporary files.
fn temporary_files() -> Vec<String> {
    let entries = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("rqps-stacks-")).collect()
}

#[test]
#[ignore = "make test-all: real servers"]
fn extra_slices_are_stored_apart_and_shown() {
    for_each_server(|dbms, version| {
        let without = Bench::new();
        without.write("plan.toml", &plan(dbms, version, ""));
        let said = without.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);

        let bench = Bench::new();
        // Rows that `delete` has taken are not there to be updated when stacks are recorded.
        let profile = "profile = { seconds = 1, steps = ['point-query', 'update-index'] }";
        bench.write("plan.toml", &plan(dbms, version, profile));
        let before = temporary_files();
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert_blocks(&run);
        // What was measured is the same as without.
        assert_eq!(shape(&run), shape(&without.latest()));
        let report = bench.json(&["report", "--format", "json"]);
        assert_follows_schema(&report);
        let id = run["id"].as_str().unwrap();
        bench.assert_tidy(id);
        let stacks = report["stacks"].as_array().unwrap();
        let names: Vec<&str> = stacks.iter().map(|s| s["step"].as_str().unwrap()).collect();
        assert_eq!(names, ["update-index", "point-query"]);
        for step in stacks {
            for system in step["systems"].as_array().unwrap() {
                check_recorded(system);
            }
            let waits = step["waits"].as_array().unwrap();
            assert!(waits.iter().any(|w| w["kind"] == "serving clients"), "{waits:?}");
        }
        // Nothing that was measured began after an extra slice on the same tables wrote.
        let dir = bench.path(&format!("rqps-results/artifacts/{id}/stacks"));
        let files: Vec<String> = fs::read_dir(&dir)
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        assert!(files.iter().any(|f| f.ends_with("point-query.html")), "{files:?}");
        assert!(files.iter().any(|f| f.ends_with("-waits.folded")), "{files:?}");
        let of_ended = temporary_files().into_iter().filter(|name| {
            let pid = name.split('-').nth(2).unwrap_or_default();
            !before.contains(name) && !std::path::Path::new("/proc").join(pid).exists()
        });
        assert_eq!(of_ended.count(), 0, "files of perf are left");
    });
}

/// The samples of a system, where perf may sample here.
fn check_recorded(system: &Value) {
    assert!(system["operations"].as_u64().unwrap() > 0, "{system}");
    assert!(system["threads"]["n_looks"].as_u64().unwrap() > 10, "{system}");
    let missing = system["missing"].as_array().unwrap();
    if let Some(reason) = missing.iter().find(|m| m["what"] == "stacks") {
        assert!(!reason["remedy"].as_str().unwrap().is_empty(), "{reason}");
        eprintln!("stacks are not tested: {reason}");
        return;
    }
    let cpu = &system["cpu"];
    assert!(cpu["n_samples"].as_u64().unwrap() > 10, "{system}");
    let (sampled, clock) =
        (system["sampled_us"].as_f64().unwrap(), system["server_cpu_us"].as_f64().unwrap());
    // The timer of the samples is late on a busy host, and never early.
    assert!(sampled > 0.0 && sampled < clock * 1.5, "{sampled} of {clock} us");
    assert!(!system["functions"].as_array().unwrap().is_empty(), "{system}");
}

#[test]
fn a_step_that_cannot_be_profiled_is_refused_before_anything_is_fetched() {
    let bench = Bench::new();
    let said = bench.run(&["profile", "no-such-step", "--systems", "null"]);
    assert_eq!(said.code(), 2);
    assert!(said.stderr.contains("no-such-step"), "{}", said.stderr);
    let said = bench.run(&["profile", "load", "--systems", "null,null"]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
}

/// There is no server to look into: measured as ever, and nothing beside it.
#[test]
fn the_null_client_has_no_stacks() {
    let bench = Bench::new();
    let said = bench.run(&[
        "profile",
        "point-query",
        "--systems",
        "null",
        "--size",
        "tiny",
        "--slices",
        "1",
    ]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let report = bench.json(&["report", "--format", "json"]);
    assert!(report.get("stacks").is_none());
    assert_follows_schema(&report);
}
