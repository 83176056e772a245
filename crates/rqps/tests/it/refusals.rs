//! What a server itself refuses ends a run before it begins.

use crate::bench::{Bench, for_each_server};

#[test]
#[ignore = "make test-all: real servers"]
fn an_option_that_the_server_does_not_know() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write(
            "plan.toml",
            &format!(
                "[[system]]\ndbms = {dbms:?}\nversion = {version:?}\n\
                 options = {{ max_connectoins = 100 }}\n"
            ),
        );
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        let error = said.stderr.lines().last().unwrap();
        assert!(error.contains("option \"max_connectoins\" is not known to"), "{}", said.stderr);
        assert!(error.contains("remove it, or check its name"), "{}", said.stderr);
        // There is nothing to keep and nothing to resume with.
        assert_eq!(bench.json(&["runs", "list", "--json"]), serde_json::json!([]));
        bench.assert_tidy(&bench.dir().display().to_string());
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_value_that_the_server_does_not_take() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let option = if dbms == "postgres" { "max_connections" } else { "innodb_flush_method" };
        bench.write(
            "plan.toml",
            &format!(
                "[[system]]\ndbms = {dbms:?}\nversion = {version:?}\n\
                 options = {{ {option} = \"sideways\" }}\n"
            ),
        );
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains("sideways"), "{}", said.stderr);
        assert!(said.stderr.contains(option), "{}", said.stderr);
        assert_eq!(bench.json(&["runs", "list", "--json"]), serde_json::json!([]));
        bench.assert_tidy(&bench.dir().display().to_string());
    });
}
