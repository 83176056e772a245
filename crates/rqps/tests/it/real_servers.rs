//! Real servers, fetched, started, measured and removed by one command.

use serde_json::json;

use crate::bench::{Bench, assert_complete, for_each_server};
use crate::null_client::assert_follows_schema;

/// Steps of every kind: point, range, scan, updates, a transaction, deletes, inserts.
const STEPS: &str = r#"["point-query", "range-covered-pk", "scan", "update-index",
    "read-write_range=10", "delete", "insert"]"#;

#[test]
#[ignore = "make test-all: real servers"]
fn every_kind_of_step() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write(
            "plan.toml",
            &format!(
                "name = 'kinds'\n[[system]]\ndbms = {dbms:?}\nversion = {version:?}\n\
                 [[suite]]\nrows = 20_000\nclients = [1, 2]\nsteps = {STEPS}\n\
                 [suite.seconds]\nread = 0.3\nwrite = 0.3\ninsert = 0.3\nwarm_up = 0.05\n\
                 fixed_at_most = 0.3\n[schedule]\nstarts = 1\nslices = 2\n"
            ),
        );
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert_complete(&run, 2);
        let id = run["id"].as_str().unwrap();
        bench.assert_tidy(id);
        let log = bench.path(&format!("rqps-results/artifacts/{id}/server-0.log"));
        assert!(std::fs::metadata(log).unwrap().len() > 0, "the server's log is empty");
        let system = &run["systems"][0];
        assert!(
            system["version_text"].as_str().unwrap().contains(version),
            "{}",
            system["version_text"]
        );
        assert!(system["settings"].as_object().unwrap().len() > 100);
        let steps = run["steps"].as_array().unwrap();
        for name in ["point-query", "scan", "delete", "insert"] {
            let n = steps.iter().filter(|s| s["info"]["name"] == name).count();
            // The scan has one client whatever the plan says.
            assert!(n == 2 || (n == 1 && name == "scan"), "{n} x {name}");
        }
        for step in steps {
            let name = format!("{} with {}", step["info"]["name"], step["clients"]);
            for slice in step["systems"][0]["slices"].as_array().unwrap() {
                let n = slice["n_operations"].as_u64().unwrap();
                let server = slice["usage"]["server"]["cpu_total_ns"].as_u64().unwrap();
                let host_ns = slice["usage"]["wall_ns"].as_u64().unwrap()
                    * slice["usage"]["host"]["n_cpus"].as_u64().unwrap();
                assert!(n > 0, "{name}: no operation");
                assert!(server > 0, "{name}: no server CPU");
                // Clocks of the scheduler and of the slice's ends differ by some milliseconds.
                assert!(
                    server < host_ns * 11 / 10 + 50_000_000,
                    "{name}: {server} of {host_ns} ns"
                );
            }
            let size = |part: &str| step["systems"][0][part].as_u64().unwrap();
            assert!(size("database_bytes") > 1_000_000, "{name}");
            assert!(size("data_dir_bytes") > size("database_bytes") + size("redo_bytes"), "{name}");
            assert!(size("redo_bytes") > 1_000_000, "{name}");
            let binlog = step["systems"][0]["binlog_bytes"].as_u64();
            assert_eq!(binlog.is_some_and(|n| n > 0), dbms != "postgres", "{name}: {binlog:?}");
        }
        let report = bench.json(&["report", "--format", "json"]);
        assert_follows_schema(&report);
        for step in report["steps"].as_array().unwrap() {
            let state = &step["systems"][0];
            assert_eq!(state["outcome"], "measured", "{state}");
            let us = state["per_operation"]["server_cpu_us"].as_f64().unwrap();
            assert!(us > 0.0 && us < 1e7, "{}: {us} us of server CPU", step["name"]);
        }
    });
}

/// Connections that fill one table in bulk would write the same files.
#[test]
#[ignore = "make test-all: real servers"]
fn more_clients_than_tables_fill_the_tables_of_myrocks() {
    let bench = Bench::new();
    bench.write(
        "plan.toml",
        "name = 'bulk'\n[[system]]\ndbms = 'mariadb'\nversion = '10.11.19'\nengine = 'rocksdb'\n\
         [[suite]]\nrows = 20_000\nclients = [4]\nsteps = ['point-query']\n\
         [suite.seconds]\nread = 0.3\nwarm_up = 0.05\nfixed_at_most = 0.3\n[schedule]\nstarts = 1\nslices = 1\n",
    );
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 1);
    let warnings = &run["steps"][0]["systems"][0]["slices"][0]["warnings"];
    let bulk = json!({"kind": "bulk-load", "n_loaders": 1, "n_clients": 4});
    assert!(warnings.as_array().unwrap().contains(&bulk), "{warnings}");
}
