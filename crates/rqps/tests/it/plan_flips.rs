//! Starts of real servers that run another plan than the others.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::bench::{Bench, pause};
use crate::null_client::assert_follows_schema;

const PLAN: &str = "
    [[system]]
    label = 'a'
    dbms = 'postgres'
    version = '17.4'
    [[system]]
    label = 'b'
    dbms = 'postgres'
    version = '17.4'
    [[suite]]
    rows = 20_000
    steps = ['point-query', 'range-covered-si']
    clients = [1]
    seconds = { read = 0.5, warm_up = 0.1, fixed_at_most = 0.1 }
    [schedule]
    starts = 4
    budget = '1s'
";

/// The file with settings that a server of the run reads when it starts, beside its configuration.
fn settings_file(bench: &Bench, system: usize) -> PathBuf {
    let data = bench.path("rqps-results/data");
    let is_of_system = |path: &Path| path.to_string_lossy().ends_with(&format!("-{system}"));
    let mut dirs = std::fs::read_dir(&data).unwrap().map(|entry| entry.unwrap().path());
    dirs.find(|path| is_of_system(path)).unwrap().join("data/postgresql.auto.conf")
}

/// Runs the plan with `settings` for the third start of system `b` alone; its JSON report and its text.
fn with_a_third_start(settings: &str) -> (Value, String) {
    let bench = Bench::new();
    bench.write("plan.toml", PLAN);
    let mut running = bench.spawn(&["run", "plan.toml", "--no-html"]);
    // The servers of a start have read their settings when its first step is over, and its second gives the time to
    // change those of the next.
    for (start, settings) in [(2, settings), (3, "")] {
        running.await_line(&format!("start {start} of 4 of the servers"));
        running.await_line("point-query");
        pause();
        std::fs::write(settings_file(&bench, 1), settings).unwrap();
    }
    let said = running.finish();
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let report = bench.json(&["report", "--format", "json"]);
    assert_follows_schema(&report);
    let text = bench.output(&["report", "--full"]).split_whitespace().collect::<Vec<_>>().join(" ");
    bench.assert_tidy(report["run"]["id"].as_str().unwrap());
    (report, text)
}

fn result<'r>(report: &'r Value, step: &str, system: usize) -> &'r Value {
    let steps = report["steps"].as_array().unwrap();
    &steps.iter().find(|s| s["name"] == step).unwrap()["systems"][system]
}

/// The plans of the only statement of a step on the starts of a system.
fn variation(report: &Value, step: &str) -> Vec<(String, String)> {
    let plans = result(report, step, 1)["plan_variations"][0]["plans"].as_array().unwrap();
    let of =
        |plan: &Value| (plan["words"].as_str().unwrap().to_owned(), plan["starts"].to_string());
    plans.iter().map(of).collect()
}

fn assert_barred(report: &Value, text: &str, step: &str) {
    let own = result(report, step, 1);
    assert_eq!(
        (&own["verdict"], &own["no_verdict"]),
        (&Value::Null, &"plans vary".into()),
        "{own}"
    );
    let ratios = own["plan_ratios"].as_array().unwrap();
    let starts: Vec<String> = ratios.iter().map(|ratio| ratio["starts"].to_string()).collect();
    assert_eq!(starts, ["[0,1,3]", "[2]"]);
    assert_eq!((&ratios[0]["is_same"], &ratios[1]["is_same"]), (&true.into(), &false.into()));
    assert!(
        text.contains(&format!("{step}, b: ")) && text.contains("on start 3 instead of"),
        "{text}"
    );
    assert!(result(report, step, 0).get("plan_variations").is_none());
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_start_with_custom_plans_in_place_of_generic_ones() {
    let (report, text) = with_a_third_start("plan_cache_mode = force_custom_plan\n");
    let counts = &result(&report, "point-query", 0)["plans"][0]["counts"];
    assert_eq!((&counts["n_custom"], &counts["n_trial"]), (&0.into(), &5.into()), "{counts}");
    assert!(counts["n_generic"].as_u64().unwrap() > 100, "{counts}");
    assert_barred(&report, &text, "point-query");
    let [usual, other] = variation(&report, "point-query").try_into().unwrap();
    assert_eq!(usual, ("lookup on PRIMARY; generic plan".to_owned(), "[0,1,3]".to_owned()));
    assert_eq!(other, ("lookup on PRIMARY; custom plan".to_owned(), "[2]".to_owned()));
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_start_that_finds_no_index_worth_its_cost() {
    let settings = "enable_indexscan = off\nenable_indexonlyscan = off\nenable_bitmapscan = off\n";
    let (report, text) = with_a_third_start(settings);
    assert_barred(&report, &text, "point-query");
    let [usual, other] = variation(&report, "point-query").try_into().unwrap();
    assert_eq!(usual.1, "[0,1,3]");
    assert!(
        usual.0.starts_with("lookup on PRIMARY") && other.0.starts_with("full scan"),
        "{other:?}"
    );
    let ratios = &result(&report, "point-query", 1)["plan_ratios"];
    let point = |at: usize| ratios[at]["rqps"]["point"].as_f64().unwrap();
    assert!(point(1) < 0.5 * point(0), "{ratios}");
}
