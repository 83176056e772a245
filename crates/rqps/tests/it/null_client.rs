//! The whole tool on the null client: every command of a run's life, in seconds.

use std::fs;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::bench::{Bench, assert_complete, warned};

/// Two systems and slices as short as they can be.
const SHORT: &str = r#"
name = "short"
base = "null"
[[system]]
dbms = "null"
[[system]]
dbms = "null"
label = "again"
[[suite]]
rows = 1000
seconds = { read = 0.01, write = 0.01, insert = 0.01, warm_up = 0.002, fixed_at_most = 0.01 }
[schedule]
mode = "sequential"
slices = 2
seed = 7
"#;

/// A run that lasts long enough to be interrupted in the middle of a slice.
const LONGER: &str = r#"
name = "longer"
[[system]]
dbms = "null"
[[suite]]
rows = 1000
steps = ["point-query", "range-*", "update-*"]
seconds = { read = 0.2, write = 0.2, insert = 0.2, warm_up = 0.01, fixed_at_most = 0.02 }
[schedule]
slices = 2
"#;

#[test]
fn a_run_of_the_whole_suite_and_what_follows_it() {
    let bench = Bench::new();
    bench.write("plan.toml", SHORT);
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 2);
    assert_eq!(run["seed"], 7);
    assert_eq!(run["n_resumed"], 0);
    let id = run["id"].as_str().unwrap();
    let figures = run["steps"].as_array().unwrap();
    assert!(figures.len() > 32, "{} steps", figures.len());
    for step in figures {
        let slice = &step["systems"][1]["slices"][0];
        assert!(slice["n_operations"].as_u64().unwrap() > 0, "{}", step["info"]["name"]);
    }
    // The summary on standard output names both, and the report's file.
    assert!(said.stdout.contains("rQPS") && said.stdout.contains("again"), "{}", said.stdout);
    assert!(said.stdout.ends_with(&format!("\nreport: rqps-results/{id}.html\n")));
    reports(&bench, id);
    lists(&bench, id);
}

fn reports(bench: &Bench, id: &str) {
    let text = bench.output(&["report", "--full"]);
    assert!(text.contains("read-only_range=10000"), "{text}");
    assert!(!text.contains('\x1b'), "colours without a terminal");
    let markdown = bench.output(&["report", "latest", "--format", "markdown"]);
    assert!(markdown.contains("| point-query"), "{markdown}");
    let csv = bench.output(&["report", id, "--format", "csv"]);
    let n_columns = csv.lines().next().unwrap().split(',').count();
    assert!(n_columns > 5 && csv.lines().count() > 64, "{csv}");
    bench.output(&["report", "--format", "html", "-o", "page.html"]);
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("again"));
    assert_eq!(page, fs::read_to_string(bench.path(&format!("rqps-results/{id}.html"))).unwrap());
    let json = bench.json(&["report", "--format", "json"]);
    assert_follows_schema(&json);
    assert_eq!(json["systems"][0]["source"], "builtin");
}

/// A report as JSON is what `docs/reference/report.schema.json` says.
pub(crate) fn assert_follows_schema(json: &Value) {
    let schema: Value =
        serde_json::from_str(include_str!("../../../../docs/reference/report.schema.json"))
            .unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(json).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert_eq!(errors, Vec::<String>::new());
}

fn lists(bench: &Bench, id: &str) {
    let list = bench.output(&["runs", "list"]);
    let line = list.lines().nth(1).unwrap();
    assert!(line.starts_with(id) && line.contains("finished"), "{list}");
    assert!(line.ends_with("null again"), "{list}");
    let list = bench.json(&["runs", "list", "--json"]);
    assert_eq!(list.as_array().unwrap().len(), 1);
    assert_eq!(list[0]["id"], id);
    let show = bench.output(&["runs", "show"]);
    for word in ["command    rqps run plan.toml", "seed       7", "[schedule]", "2 slices"] {
        assert!(show.contains(word), "no {word:?} in {show}");
    }
    assert_eq!(bench.output(&["runs", "rm", id]), format!("removed {id}\n"));
    let empty = "no runs yet: start one with `rqps run PLAN.toml`\n";
    assert_eq!(bench.output(&["runs", "list"]), empty);
    assert_eq!(bench.json(&["runs", "list", "--json"]), serde_json::json!([]));
    let said = bench.run(&["report"]);
    assert_eq!(said.code(), 2);
    assert_eq!(said.stderr, "rqps: error: no run matches \"latest\"; the store is empty\n");
    // What the plan was is no reason to take up what is gone.
    assert!(!bench.path(&format!("rqps-results/artifacts/{id}")).exists());
}

/// Starts `plan.toml` and interrupts it in the step after the third.
fn interrupted(bench: &Bench) -> String {
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    for _ in 0..3 {
        running.await_line("/s");
    }
    running.signal(Signal::SIGINT);
    let said = running.finish();
    assert_eq!(said.code(), 130, "{}", said.stderr);
    let last = said.stderr.lines().last().unwrap();
    assert_eq!(last, "rqps: interrupted; run the same command again to resume");
    id
}

#[test]
fn an_interrupted_run_resumes_where_it_was() {
    let bench = Bench::new();
    bench.write("plan.toml", LONGER);
    let id = interrupted(&bench);
    let before = bench.latest();
    assert_eq!(before["status"], "interrupted");
    let pending = |run: &Value| {
        let steps = run["steps"].as_array().unwrap();
        steps.iter().filter(|s| s["systems"][0]["outcome"]["outcome"] == "pending").count()
    };
    assert!(pending(&before) > 0, "it was not interrupted");
    // A report of what there is can be had.
    assert!(bench.output(&["report", "--full"]).contains("interrupted"));
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains(&format!("run {id} resumes: ")), "{}", said.stderr);
    assert!(said.stderr.contains("tables are filled again before the run resumes"));
    let after = bench.latest();
    assert_eq!(after["id"], before["id"]);
    assert_eq!(after["n_resumed"], 1);
    assert_complete(&after, 2);
    // Every step from there on was measured on tables filled again, and says so.
    assert_eq!(warned(&after, "resumed").len(), pending(&before));
    // What was measured before is as it was.
    for (old, new) in
        before["steps"].as_array().unwrap().iter().zip(after["steps"].as_array().unwrap())
    {
        let n = old["systems"][0]["slices"].as_array().unwrap().len();
        let kept = &new["systems"][0]["slices"].as_array().unwrap()[..n];
        assert_eq!(old["systems"][0]["slices"].as_array().unwrap(), kept);
    }
    assert_eq!(bench.json(&["runs", "list", "--json"]).as_array().unwrap().len(), 1);
}

#[test]
fn an_interrupted_run_can_be_left_for_a_new_one() {
    let bench = Bench::new();
    bench.write("plan.toml", LONGER);
    let id = interrupted(&bench);
    let said = bench.run(&["run", "plan.toml", "--new", "--steps", "point-query", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(!said.stdout.contains("report:"), "{}", said.stdout);
    // Another plan, so no reason to resume in any case; the same plan with --new is one more run.
    let mut running = bench.spawn(&["run", "plan.toml", "--new"]);
    let other = running.run_id();
    assert_ne!(other, id);
    running.await_line("/s");
    running.signal(Signal::SIGTERM);
    assert_eq!(running.finish().code(), 130);
    let runs = bench.json(&["runs", "list", "--json"]);
    let status: Vec<&str> =
        runs.as_array().unwrap().iter().map(|r| r["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["interrupted", "finished", "interrupted"]);
}

#[test]
fn one_run_is_measured_by_one_process() {
    let bench = Bench::new();
    bench.write("plan.toml", LONGER);
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    // It must not end meanwhile.
    running.signal(Signal::SIGSTOP);
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    assert!(said.stderr.contains(&format!("run {id} is in use by process")), "{}", said.stderr);
    let said = bench.run(&["runs", "rm", &id]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    running.signal(Signal::SIGINT);
    running.signal(Signal::SIGCONT);
    assert_eq!(running.finish().code(), 130);
}

#[test]
fn one_of_several_systems_that_cannot_be_measured_is_excluded() {
    let bench = Bench::new();
    let system = |label: &str, what: &str| format!("[[system]]\nlabel = '{label}'\n{what}\n");
    let (null, gone) = ("dbms = 'null'", "dsn = 'mysql://nobody@127.0.0.1:1/x'");
    let rest = "[[suite]]\nrows = 1000\nsteps = ['point-query']\n\
                [suite.seconds]\nread = 0.05\nwarm_up = 0.05\nfixed_at_most = 0.05\n\
                [schedule]\nmode = 'sequential'\nslices = 2\n";
    let plan = |systems: [(&str, &str); 3]| {
        systems.map(|(label, what)| system(label, what)).concat() + rest
    };
    bench.write("plan.toml", &plan([("a", null), ("b", gone), ("c", null)]));
    for n_resumed in [0, 1] {
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains("b: excluded: measure b: open a connection"));
        assert!(said.stderr.contains("1 of 3 systems not measured in all steps:"));
        assert!(said.stderr.ends_with("run the same command again to measure the rest\n"));
        let lacks = "Not reached on b: load, create-index and point-query";
        let report = bench.output(&["report", "--summary"]);
        assert!(report.contains(lacks), "{report}");
        let run = bench.latest();
        assert_eq!((&run["status"], &run["n_resumed"]), (&"failed".into(), &n_resumed.into()));
        let step = run["steps"].as_array().unwrap().last().unwrap();
        let done = [0, 1, 2].map(|system| step["systems"][system]["outcome"]["outcome"] == "done");
        assert_eq!(done, [true, false, true], "{step}");
    }
    // Without the base there is nothing to compare with.
    bench.write("plan.toml", &plan([("a", gone), ("b", null), ("c", null)]));
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 2);
    assert!(!said.stderr.contains("excluded"), "{}", said.stderr);
}

#[test]
fn a_run_stops_when_its_time_is_over_and_resumes() {
    let bench = Bench::new();
    bench.write("plan.toml", LONGER);
    // Of four seconds at least.
    let said = bench.run(&["run", "plan.toml", "--stop-after", "2s"]);
    assert_eq!(said.code(), 130, "{}", said.stderr);
    let words = "stopped after 2s, as --stop-after says";
    assert!(said.stderr.contains(words), "{}", said.stderr);
    let before = bench.latest();
    assert_eq!(before["status"], "interrupted");
    // A second attempt has a time of its own, and more of it than it needs.
    let said = bench.run(&["run", "plan.toml", "--stop-after", "1h"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_eq!((&run["id"], &run["status"]), (&before["id"], &"finished".into()));
    assert_eq!(run["n_resumed"], 1);
    let text = bench.output(&["report", "--full"]);
    assert!(text.contains(words), "{text}");
    let said = bench.run(&["run", "plan.toml", "--stop-after", "soon"]);
    assert_eq!(said.code(), 2);
    assert!(said.stderr.contains("--stop-after \"soon\" is not a valid time"), "{}", said.stderr);
}

#[test]
fn a_step_of_one_of_several_suites_is_repeated_by_its_command() {
    let bench = Bench::new();
    let suite = |name: &str| {
        format!(
            "[[suite]]\nname = '{name}'\nrows = 1000\nsteps = ['point-query', 'update-index']\n\
             clients = [1]\nseconds = {{ read = 0.02, write = 0.02, warm_up = 0.002, \
             fixed_at_most = 0.02 }}\n"
        )
    };
    let (first, second) = (suite("first"), suite("second"));
    let schedule = "[schedule]\nmode = 'sequential'\nslices = 1\n";
    bench.write("plan.toml", &format!("[[system]]\ndbms = 'null'\n{first}{second}{schedule}"));
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let report = bench.json(&["report", "--format", "json"]);
    let mut steps = report["steps"].as_array().unwrap().iter();
    let step = steps.find(|step| step["name"] == "second/update-index").unwrap();
    let command = step["repeat"].as_str().unwrap();
    assert!(command.contains(" --steps second/update-index "), "{command}");
    let args: Vec<&str> = command.split(' ').skip(1).collect();
    let said = bench.run(&args);
    assert_eq!(said.code(), 0, "{command}: {}", said.stderr);
    let run = bench.latest();
    let seed = run["seed"].as_u64().unwrap();
    assert_eq!(report["run"]["seed"], seed.to_string());
    let steps = run["steps"].as_array().unwrap().iter();
    let names: Vec<&str> = steps.map(|step| step["info"]["name"].as_str().unwrap()).collect();
    assert!(names.iter().all(|name| name.starts_with("second/")), "{names:?}");
    assert!(names.contains(&"second/update-index"), "{names:?}");
    assert!(!names.iter().any(|name| name.contains("point-query.pre")), "{names:?}");
    let said = bench.run(&["run", "plan.toml", "--steps", "third/update-index"]);
    assert_eq!(said.code(), 2);
    assert!(said.stderr.contains("write one of first/STEP, second/STEP"), "{}", said.stderr);
    let said = bench.run(&["run", "plan.toml", "--steps", "first/update-indx"]);
    assert_eq!(said.code(), 2);
    assert!(said.stderr.contains("did you mean update-index"), "{}", said.stderr);
}
