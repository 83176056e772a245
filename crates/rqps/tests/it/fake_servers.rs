//! What stands in for real servers: a run on fake ones, from their start to the report.

use crate::bench::{Bench, assert_complete};
use crate::fake::{for_each_family, write_plan};

#[test]
fn a_run_on_a_fake_server_is_as_on_a_real_one() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let _trees = write_plan(
            &bench,
            &format!(
                "name = 'fake'\n[[system]]\ndbms = {dbms:?}\nversion = {version:?}\n[[suite]]\nrows = 2_000\nclients = [1, 2]\n\
                 steps = ['point-query', 'range-covered-pk', 'scan', 'update-index', \
                 'read-write_range=10', 'delete', 'insert']\n\
                 [suite.seconds]\nread = 0.1\nwrite = 0.1\ninsert = 0.1\nwarm_up = 0.05\n\
                 fixed_at_most = 0.1\n[schedule]\nslices = 2\n"
            ),
        );
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert_complete(&run, 2);
        let id = run["id"].as_str().unwrap();
        bench.assert_tidy(id);
        let log = bench.path(&format!("rqps-results/artifacts/{id}/server-0.log"));
        let log = std::fs::read_to_string(log).unwrap();
        assert!(!log.contains("does not know"), "{log}");
    });
}
