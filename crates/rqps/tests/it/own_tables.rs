//! Suites of one's own that read tables of one's own, which `sql_after_load` makes.

use crate::bench::{Bench, for_each_server};
use crate::failed_servers::failed;

const SUITE: &str = "name = 'own'
[[statement]]
name = 'small'
sql = 'SELECT b FROM small_table WHERE b = 1 /* {table} */'
params = []
expect = 'any'
[[statement]]
name = 'joined'
sql = 'SELECT s.a FROM small_table AS s JOIN {table} AS t ON t.id = s.a WHERE s.a = 7'
params = []
expect = '1'
[[step]]
family = 'load'
kind = 'load'
figure = 'rows-inserted'
always = true
short = 'run'
[[step]]
family = 'create-index'
kind = 'index'
always = true
short = 'run'
[[step]]
family = 'small'
kind = 'read'
group = 'range'
event = ['small']
short = 'figure'
[[step]]
family = 'joined'
kind = 'read'
group = 'point'
event = ['joined']
short = 'figure'
";

const MAKES_TABLE: [&str; 2] = [
    "CREATE TABLE small_table (a int PRIMARY KEY, b int)",
    "INSERT INTO small_table SELECT id, 1 FROM sbtest1 WHERE id <= 900",
];

/// A bench with a plan of two systems with these statements after their load.
fn with_plan(dbms: &str, version: &str, sql_after_load: [&[&str]; 2]) -> Bench {
    let bench = Bench::new();
    bench.write("own.toml", SUITE);
    let mut plan = String::new();
    for (label, sql) in ["a", "b"].iter().zip(sql_after_load) {
        plan.push_str(&format!(
            "[[system]]\nlabel = '{label}'\ndbms = '{dbms}'\nversion = '{version}'\nsql_after_load = {sql:?}\n"
        ));
    }
    plan.push_str("[[suite]]\nkind = 'own.toml'\nsize = 'tiny'\nrows = 2000\n");
    plan.push_str("[schedule]\nstarts = 2\n");
    bench.write("plan.toml", &plan);
    bench
}

#[test]
#[ignore = "make test-all: real servers"]
fn an_own_table_is_read_alone_and_joined_with_the_benchmarks() {
    for_each_server(|dbms, version| {
        let bench = with_plan(dbms, version, [&MAKES_TABLE; 2]);
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert_eq!(failed(&bench.latest()), []);
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_table_that_one_system_lacks_costs_that_systems_steps() {
    for_each_server(|dbms, version| {
        let bench = with_plan(dbms, version, [&MAKES_TABLE, &[]]);
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains("2 steps failed: small, joined"), "{}", said.stderr);
        let failed = failed(&bench.latest());
        let why: Vec<(&str, usize)> = failed.iter().map(|(step, at, _)| (&**step, *at)).collect();
        assert_eq!(
            why,
            [("small", 1), ("joined", 1), ("small", 1), ("joined", 1)],
            "on each start"
        );
        assert!(failed.iter().all(|(.., reason)| reason.contains("small_table")), "{failed:?}");
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn statements_after_the_load_that_fail_are_named() {
    for_each_server(|dbms, version| {
        // The benchmark's own table is in the way; a table is missing.
        for sql in ["CREATE TABLE sbtest1 (a int)", "INSERT INTO nosuch VALUES (1)"] {
            let bench = with_plan(dbms, version, [&[], &[sql]]);
            let said = bench.run(&["run", "plan.toml", "--no-html"]);
            assert_eq!(said.code(), 2, "{}", said.stderr);
            let error = format!("run the plan's sql_after_load: {sql}: server error ");
            assert_eq!(said.stderr.matches(&error).count(), 1, "{}", said.stderr);
        }
    });
}
