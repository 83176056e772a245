//! Systems that are not alike: what a run says before it measures, what it refuses, and what its
//! reports say first.

use serde_json::Value;

use crate::bench::{Bench, for_each_server};
use crate::null_client::assert_follows_schema;

/// Two of one server, the second with `other`; short steps on small tables.
fn plan(server: (&str, &str), other: &str, steps: &str, mode: &str) -> String {
    let (dbms, version) = server;
    let system = |label: &str, own: &str| {
        format!("[[system]]\ndbms = {dbms:?}\nversion = {version:?}\nlabel = '{label}'\n{own}\n")
    };
    format!(
        "name = 'alike'\n{}{}[[suite]]\nrows = 20_000\nclients = [1]\nsteps = [{steps}]\n\
         [suite.seconds]\nread = 0.3\nwrite = 0.3\ninsert = 0.3\nwarm_up = 0.05\n\
         fixed_at_most = 3\n[schedule]\nstarts = 1\nmode = {mode:?}\nslices = 2\n",
        system("a", ""),
        system("b", other)
    )
}

const PLAIN_AND_TLS: &str = "Severe: The benchmark's sessions differ in tls: no TLS on a, TLSv1";

#[test]
#[ignore = "make test-all: real servers"]
fn tls_on_one_of_two_is_said_before_anything_is_measured_and_refused_by_strict() {
    for mode in ["interleaved", "sequential"] {
        let bench = Bench::new();
        let server = ("postgres", "11.22");
        bench.write("plan.toml", &plan(server, "transport = 'tls'", "'point-query'", mode));
        let refused = bench.run(&["run", "plan.toml", "--audit", "strict"]);
        assert_eq!(refused.code(), 2, "{}", refused.stderr);
        let error = &refused.stderr;
        assert!(
            error.contains("tls: The benchmark's sessions differ in tls: no TLS on a"),
            "{error}"
        );
        assert!(error.contains("give all systems the same `transport`"), "{error}");
        // There is nothing to keep and nothing to resume with.
        assert_eq!(bench.json(&["runs", "list", "--json"]), serde_json::json!([]));
        bench.assert_tidy(&bench.dir().display().to_string());
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let lines: Vec<&str> = said.stderr.lines().collect();
        let at = |word: &str| lines.iter().position(|line| line.contains(word));
        let warned = at(PLAIN_AND_TLS).unwrap_or_else(|| panic!("{}", said.stderr));
        let measured = at("point-query").unwrap_or(lines.len());
        assert!(warned < measured, "{mode}: {}", said.stderr);
        for args in [
            vec!["report"],
            vec!["report", "--summary"],
            vec!["report", "--format", "markdown"],
            vec!["gate"],
        ] {
            let said = bench.run(&args);
            let severe = said.stdout.lines().find(|line| line.contains("Severe: "));
            assert!(severe.is_some_and(|line| line.contains("tls")), "{args:?}: {}", said.stdout);
        }
        let report = bench.json(&["report", "--format", "json"]);
        assert_follows_schema(&report);
        let severe = report["severe"].as_array().unwrap();
        let is_tls = |text: &Value| text.as_str().unwrap().starts_with(PLAIN_AND_TLS);
        assert!(severe.iter().any(is_tls), "{severe:?}");
    }
}

const SAID: &str = "Tables with the same rows differ in size: ";

#[test]
#[ignore = "make test-all: real servers"]
fn tables_twice_as_large_are_said_before_a_step_and_refused_by_strict() {
    // Two more indexes of about the size of the table.
    let larger = "sql_after_load = ['create index wide_1 on sbtest1 (c, pad)', \
                  'create index wide_2 on sbtest1 (pad, c)']";
    for mode in ["interleaved", "sequential"] {
        let bench = Bench::new();
        bench.write("plan.toml", &plan(("postgres", "11.22"), larger, "'point-query'", mode));
        let refused = bench.run(&["run", "plan.toml", "--audit", "strict"]);
        assert_eq!(refused.code(), 2, "{mode}: {}", refused.stderr);
        let error = &refused.stderr;
        assert!(error.contains(&format!("data size: {SAID}")), "{mode}: {error}");
        // The same command does not measure them either, though its tables are filled.
        let again = bench.run(&["run", "plan.toml", "--audit", "strict"]);
        assert_eq!(again.code(), 2, "{mode}: {}", again.stderr);
        assert!(again.stderr.contains(&format!("data size: {SAID}")), "{mode}: {}", again.stderr);
        let run = bench.latest();
        let step = run["steps"].as_array().unwrap().last().unwrap();
        assert_eq!(step["systems"][1]["slices"], serde_json::json!([]), "{mode}");
        let told = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(told.code(), 0, "{mode}: {}", told.stderr);
        assert!(told.stderr.contains(&format!("Severe: {SAID}")), "{mode}: {}", told.stderr);
        let report = bench.json(&["report", "--format", "json"]);
        let severe = report["severe"].as_array().unwrap();
        assert!(severe.iter().any(|text| text.as_str().unwrap().contains(SAID)), "{severe:?}");
    }
}

#[test]
#[ignore = "make test-all: real servers"]
fn strict_measures_what_is_alike() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let text = plan((dbms, version), "", "'point-query'", "interleaved");
        bench.write("plan.toml", &format!("audit = 'strict'\n{text}"));
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert!(!said.stderr.contains("Severe"), "{}", said.stderr);
        let report = bench.json(&["report", "--format", "json"]);
        // Other tests may have the CPUs meanwhile.
        let severe = report["severe"].as_array().unwrap().iter();
        let severe: Vec<_> =
            severe.filter(|text| !text.as_str().unwrap().starts_with("Unreliable")).collect();
        assert!(severe.is_empty(), "{severe:?}");
        for step in report["steps"].as_array().unwrap() {
            assert_eq!(step["systems"][1]["plan_difference"], Value::Null, "{}", step["name"]);
        }
    });
}

/// The plan of the only statement of a step on a system, in words.
fn words<'v>(report: &'v Value, step: &str, system: usize) -> &'v str {
    let steps = report["steps"].as_array().unwrap();
    let step = steps.iter().find(|s| s["name"] == step).unwrap();
    step["systems"][system]["plans"][0]["words"].as_str().unwrap()
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_planner_without_index_scans_is_a_difference_of_plans() {
    let bench = Bench::new();
    let options = "options = { enable_indexscan = 'off', enable_indexonlyscan = 'off', \
                   enable_bitmapscan = 'off' }";
    let steps = "'point-query', 'read-only_range=10'";
    bench.write("plan.toml", &plan(("postgres", "11.22"), options, steps, "sequential"));
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let report = bench.json(&["report", "--format", "json"]);
    assert_follows_schema(&report);
    let text = bench.output(&["report", "--summary"]);
    assert!(text.contains("Query plans that differ from the base's"), "{text}");
    let index = words(&report, "point-query", 0);
    assert!(index.starts_with("lookup on PRIMARY"), "{index}");
    let scan = words(&report, "point-query", 1);
    assert!(scan.starts_with("full scan"), "{scan}");
    let names: Vec<&Value> = report["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|s| s["systems"][1]["plan_difference"] != Value::Null)
        .map(|s| &s["name"])
        .collect();
    assert_eq!(names, ["read-only_range=10", "point-query"]);
}
