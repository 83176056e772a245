//! `rqps servers audit`, and what a run records of its servers.

use serde_json::Value;

use crate::bench::{Bench, for_each_server};

#[test]
#[ignore = "make test-all: real servers"]
fn a_server_says_what_it_runs_with() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let system = format!("{dbms}@{version}");
        let found = bench.json(&["servers", "audit", &system, "--json"]);
        let one = &found["systems"][0];
        assert_eq!(one["version"], version);
        assert_eq!(one["session"]["transport"], "socket");
        assert_eq!(one["session"]["tls"], "");
        let build = &one["build"];
        assert!(build["source"].as_str().is_some_and(|s| s != "basedir"), "{build}");
        let is_postgres = dbms == "postgres";
        assert_eq!(build[if is_postgres { "assertions" } else { "debug" }], "off", "{build}");
        let engines = build["engines"].as_str().unwrap();
        assert!(engines.contains(if is_postgres { "heap" } else { "InnoDB" }), "{engines}");
        let configured = if is_postgres { "shared_buffers" } else { "innodb_buffer_pool_size" };
        assert_eq!(one["settings"][configured]["source"], "config");
        assert_eq!(one["settings"]["port"]["source"], "command-line");
        let n_defaults = one["settings"].as_object().unwrap().values();
        let n_defaults = n_defaults.filter(|s| s["source"] == "default").count();
        assert!(n_defaults > 100, "{n_defaults}");
        bench.assert_tidy(&bench.dir().display().to_string());
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn differences_are_explained_and_those_of_the_plan_on_purpose() {
    let bench = Bench::new();
    bench.write(
        "plan.toml",
        "[[system]]\ndbms = 'postgres'\nversion = '11.22'\nlabel = 'a'\n\
         [[system]]\ndbms = 'postgres'\nversion = '11.22'\nlabel = 'b'\n\
         transport = 'tcp'\noptions = { wal_compression = 'on' }\n",
    );
    let said = bench.output(&["servers", "audit", "--plan", "plan.toml"]);
    let first = said.lines().next().unwrap();
    assert_eq!(
        first,
        "! The benchmark's sessions differ in transport: socket on a, tcp on b. TCP on loopback costs more"
    );
    assert!(said.contains("Unplanned settings that can change QPS: none\n"), "{said}");
    assert!(said.contains("  wal_compression: off / pglz\n"), "{said}");
    // Wherever its lines break.
    let words: Vec<&str> = said.split_whitespace().collect();
    assert!(words.join(" ").contains("(notable: writes; on purpose, by the plan)"), "{said}");
    let all = bench.json(&["servers", "audit", "--plan", "plan.toml", "--json"]);
    let settings = all["differences"]["settings"].as_array().unwrap();
    let names: Vec<&Value> = settings.iter().map(|s| &s["name"]).collect();
    assert_eq!(names, ["wal_compression"]);
    assert_eq!(all["differences"]["unknown"], serde_json::json!([]));
}

#[test]
fn what_cannot_be_looked_at_is_refused() {
    let bench = Bench::new();
    let said = bench.run(&["servers", "audit", "postgres@11.22", "--option", "jit"]);
    assert_eq!(said.code(), 2);
    assert!(said.stderr.contains("option \"jit\" is not NAME=VALUE"), "{}", said.stderr);
    assert_eq!(bench.run(&["servers", "audit"]).code(), 2);
}
