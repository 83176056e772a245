//! A set rate through the whole tool: held, missed, stored, shown. Nothing here depends on how fast
//! the machine is: any machine starts an event every 10 ms, none starts one every nanosecond.

use serde_json::Value;

use crate::bench::{Bench, warned};
use crate::null_client::assert_follows_schema;

/// 100 events a second: 50 starts in each slice of half a second.
const PACED: &str = r#"
name = "paced"
[[system]]
SYSTEM
[[suite]]
rows = 1000
rate = 100
clients = [1, 2]
steps = ["point-query"]
seconds = { read = 0.5, write = 0.5, insert = 0.5, warm_up = 0.01, fixed_at_most = 0.5 }
[schedule]
slices = 2
starts = 1
"#;

const N_DUE: u64 = 50;

fn paced_on(bench: &Bench, system: &str) {
    bench.write("plan.toml", &PACED.replace("SYSTEM", system));
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
}

/// The slices of the steps called `name`, of all numbers of clients.
fn slices<'a>(run: &'a Value, name: &str) -> Vec<&'a Value> {
    let steps = run["steps"].as_array().unwrap().iter();
    let steps = steps.filter(|s| s["info"]["name"] == name);
    steps.flat_map(|s| s["systems"][0]["slices"].as_array().unwrap()).collect()
}

/// Every start that was due came or was counted as missed, and the slice says so.
fn assert_accounted(run: &Value) {
    let slices = slices(run, "point-query");
    assert_eq!(slices.len(), 4, "two slices with one client, two with two");
    for slice in slices {
        let late = &slice["lateness"];
        let count = |key: &str| late[key].as_u64().unwrap();
        assert_eq!(count("n_due"), N_DUE, "{late}");
        assert_eq!(slice["n_events"].as_u64().unwrap(), N_DUE - count("n_missed"), "{slice}");
        let is_marked =
            slice["warnings"].as_array().unwrap().iter().any(|m| m["kind"] == "rate-missed");
        assert_eq!(is_marked, count("n_missed") > 0, "{slice}");
        assert!(slice["duration_ns"].as_u64().unwrap() >= 500_000_000);
    }
}

#[test]
fn a_rate_that_can_be_held_is_stored_and_shown() {
    let bench = Bench::new();
    paced_on(&bench, "dbms = \"null\"");
    let run = bench.latest();
    assert_accounted(&run);
    for slice in slices(&run, "point-query") {
        // The null client takes no time; a host that stands still for a quarter of a second would.
        let n_missed = slice["lateness"]["n_missed"].as_u64().unwrap();
        assert!(n_missed < N_DUE / 2, "{slice}");
    }
    // What only fills tables and caches goes as fast as it can.
    assert!(slices(&run, "load").iter().all(|s| s["lateness"].is_null()));
    let warm = slices(&run, "point-query.warm");
    assert!(!warm.is_empty() && warm.iter().all(|s| s["lateness"].is_null()), "{warm:?}");
    let json = bench.json(&["report", "--format", "json"]);
    assert_follows_schema(&json);
    let result = |name: &str| {
        let steps = json["steps"].as_array().unwrap();
        steps.iter().find(|s| s["name"] == name).unwrap()["systems"][0].clone()
    };
    assert_eq!(result("point-query")["lateness"]["due"], 2 * N_DUE);
    assert!(result("load")["lateness"].is_null());
    let text = bench.output(&["report", "--full"]);
    assert!(text.contains("--- starts at the set rate"), "{text}");
    assert!(text.contains("The plan sets a rate. QPS and ratios say"), "{text}");
    bench.output(&["report", "--format", "html", "-o", "page.html"]);
    let page = std::fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.contains("Starts at the set rate"));
}

#[test]
#[ignore = "make test-all: takes long"]
fn a_low_rate_is_held_over_slices() {
    let bench = Bench::new();
    let two = "dbms = \"null\"\n[[system]]\ndbms = \"null\"\nlabel = \"again\"";
    let plan = PACED.replace("SYSTEM", two).replace("rate = 100", "rate = 15");
    bench.write("plan.toml", &plan.replace("0.5", "1.0"));
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_eq!(run["schedule"]["mode"], "interleaved");
    for step in run["steps"].as_array().unwrap() {
        if step["info"]["name"] != "point-query" {
            continue;
        }
        for system in step["systems"].as_array().unwrap() {
            let blocks = system["slices"].as_array().unwrap();
            let number = |value: &Value| value.as_u64().unwrap();
            let due: u64 = blocks.iter().map(|b| number(&b["lateness"]["n_due"])).sum();
            let ns: u64 = blocks.iter().map(|b| number(&b["duration_ns"])).sum();
            let wanted = 15.0 * ns as f64 / 1e9;
            // Two seconds of slices of 100 ms, each of which would have two starts on a clock of its own.
            assert!((due as f64 - wanted).abs() <= 3.0, "{due} starts where {wanted} are due");
        }
    }
}

#[test]
fn an_impossible_rate_marks_every_slice() {
    let bench = Bench::new();
    bench.write("plan.toml", &PACED.replace("SYSTEM", "dbms = \"null\""));
    // The command line's rate replaces the plan's.
    let said = bench.run(&["run", "plan.toml", "--rate", "1e9"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_eq!(warned(&run, "rate-missed"), ["point-query", "point-query"]);
    for slice in slices(&run, "point-query") {
        let late = &slice["lateness"];
        let count = |key: &str| late[key].as_u64().unwrap();
        assert_eq!(count("n_due"), 500_000_000, "{late}");
        assert_eq!(slice["n_events"].as_u64().unwrap(), count("n_due") - count("n_missed"));
        assert!(count("n_missed") > count("n_due") / 2, "{late}");
        assert!(count("n_late") > 0 && count("max_ns") > 1_000_000, "{late}");
    }
    let text = bench.output(&["report", "--full"]);
    assert!(text.contains("the set rate was not held"), "{text}");
    let json = bench.json(&["report", "--format", "json"]);
    let kinds: Vec<&Value> =
        json["footnotes"].as_array().unwrap().iter().map(|n| &n["kind"]).collect();
    assert!(kinds.contains(&&Value::from("rate-missed")), "{kinds:?}");
    let said = bench.run(&["run", "plan.toml", "--rate", "0"]);
    assert_eq!(said.code(), 2);
    assert!(said.stderr.contains("expected a number from 0.001 to 1000000000"), "{}", said.stderr);
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_real_server_is_asked_at_a_rate() {
    let bench = Bench::new();
    paced_on(&bench, "dbms = \"postgres\"\nversion = \"11.22\"");
    // How many it misses is the host's business: another server may be measured beside this one.
    assert_accounted(&bench.latest());
    bench.assert_tidy(bench.latest()["id"].as_str().unwrap());
}
