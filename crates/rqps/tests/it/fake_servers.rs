//! What stands in for real servers: a run on fake ones, from their start to the report, and with faults that
//! no test can bring about on a real one at a given moment.

use rqps_fake_server::{Fault, When};

use crate::bench::{Bench, assert_complete};
use crate::failed_servers::{failed, short_plan, warnings};
use crate::fake::{for_each_family, write_plan};

#[test]
fn a_run_on_a_fake_server_is_as_on_a_real_one() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let plan = format!(
            "name = 'fake'\n[[system]]\ndbms = {dbms:?}\nversion = {version:?}\n\
             [[suite]]\nrows = 2_000\nclients = [1, 2]\n\
             steps = ['point-query', 'range-covered-pk', 'scan', 'update-index', \
             'read-write_range=10', 'delete', 'insert']\n\
             [suite.seconds]\nread = 0.05\nwrite = 0.05\ninsert = 0.05\nwarm_up = 0.02\n\
             fixed_at_most = 0.05\n[schedule]\nstarts = 1\nslices = 2\n"
        );
        let _trees = write_plan(&bench, &plan);
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert_complete(&run, 2);
        let id = run["id"].as_str().unwrap();
        bench.assert_tidy(id);
        let version_text = run["systems"][0]["version_text"].as_str().unwrap();
        assert!(version_text.contains(version), "{version_text}");
        let log = bench.path(&format!("rqps-results/artifacts/{id}/server-0.log"));
        let log = std::fs::read_to_string(log).unwrap();
        assert!(!log.contains("does not know"), "{log}");
    });
}

#[test]
fn a_server_that_finds_no_space_costs_its_step_and_the_run_goes_on() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let servers = [("a", dbms, version), ("b", dbms, version)];
        let mut trees = write_plan(&bench, &short_plan(&servers, "sequential"));
        trees[0].fail(When::Text(20, "UPDATE sbtest1".to_owned()), Fault::DiskFull).unwrap();
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains("rqps: error: 1 step failed: "), "{}", said.stderr);
        let run = bench.latest();
        assert_eq!(run["status"], "finished");
        let [(step, 0, reason)] = &failed(&run)[..] else { panic!("{run}") };
        assert_eq!(step, "update-index");
        for words in ["no space is left for the data of ", "; free space, or ", " of its log:\n"] {
            assert!(reason.contains(words), "no {words:?} in {reason}");
        }
        bench.output(&["runs", "verify"]);
        bench.assert_tidy(run["id"].as_str().unwrap());
    });
}

#[test]
fn a_step_behind_a_proxy_that_loses_statements_names_the_remedy() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let mut trees = write_plan(&bench, &short_plan(&[("a", dbms, version)], "sequential"));
        trees[0].fail(When::Text(20, "UPDATE sbtest1".to_owned()), Fault::LoseStatements).unwrap();
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        let run = bench.latest();
        let failed = failed(&run);
        assert!(!failed.is_empty(), "{run}");
        for (step, _, reason) in failed {
            let words = "does not keep prepared statements; write protocol = \"text\"";
            assert!(reason.contains(words), "{step}: {reason}");
        }
    });
}

#[test]
fn a_load_that_lost_a_row_is_no_load() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let mut trees = write_plan(&bench, &short_plan(&[("a", dbms, version)], "sequential"));
        trees[0].fail(When::Text(1, "COUNT(*)".to_owned()), Fault::WrongRows(-1)).unwrap();
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        let words = "table 1 has 1999 rows after a load of 2000";
        assert!(said.stderr.contains(words), "{}", said.stderr);
    });
}

#[test]
fn a_connection_that_a_server_ends_costs_its_step() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let mut trees = write_plan(&bench, &short_plan(&[("a", dbms, version)], "sequential"));
        trees[0].fail(When::Text(20, "UPDATE sbtest1".to_owned()), Fault::EndConnection).unwrap();
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        let run = bench.latest();
        assert_eq!(run["status"], "finished");
        let [(step, 0, reason)] = &failed(&run)[..] else { panic!("{run}") };
        assert!(step == "update-index" && reason.contains("connection lost"), "{step}: {reason}");
        // The server is there, and nothing of it is started again.
        assert!(warnings(&run).is_empty(), "{}", run["warnings"]);
        assert_eq!(trees[0].n_starts(), 1);
    });
}
