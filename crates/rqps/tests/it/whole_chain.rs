//! The whole chain on a small server of each family: fetched, initialised, loaded, measured
//! interleaved, killed, resumed, reported.

use nix::sys::signal::Signal;

use crate::bench::Bench;

/// Two interleaved systems of one version, so that there is a ratio.
fn plan(dbms: &str, version: &str) -> String {
    let system = |label: &str| {
        format!("[[system]]\nlabel = {label:?}\ndbms = {dbms:?}\nversion = {version:?}\n")
    };
    format!(
        "name = 'chain'\n{}{}[[suite]]\nrows = 5_000\n\
         steps = ['point-query', 'range-notcovered-si', 'update-index', 'insert']\n\
         [suite.seconds]\nread = 0.6\nwrite = 0.6\ninsert = 0.6\nwarm_up = 0.05\nfixed_at_most = 0.1\n\
         [schedule]\nmode = 'interleaved'\nslice = '20ms'\nslices = 1\n",
        system("a"),
        system("b")
    )
}

fn chain(dbms: &str, version: &str) {
    let bench = Bench::that_makes_data();
    bench.write("plan.toml", &plan(dbms, version));
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    running.await_line("queries/s");
    running.signal(Signal::SIGKILL);
    assert_eq!(running.finish().code(), 128 + 9);
    bench.await_no_process(&id);
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_eq!((run["id"].as_str(), &run["n_resumed"]), (Some(id.as_str()), &1.into()));
    assert_eq!(run["status"], "finished");
    for system in run["systems"].as_array().unwrap() {
        let told = system["version_text"].as_str().unwrap();
        assert!(told.contains(version), "{told}");
        assert!(system["settings"].as_object().unwrap().len() > 100);
    }
    for step in run["steps"].as_array().unwrap() {
        let name = &step["info"]["name"];
        for system in step["systems"].as_array().unwrap() {
            assert_eq!(system["outcome"]["outcome"], "done", "{name}: {}", system["outcome"]);
            for slice in system["slices"].as_array().unwrap() {
                assert!(slice["n_operations"].as_u64().unwrap() > 0, "{name}: no operation");
                assert!(slice["usage"]["server"]["cpu_total_ns"].as_u64().unwrap() > 0, "{name}");
            }
        }
    }
    let report = bench.output(&["report", "--full"]);
    for words in ["point-query", "update-index", "insert", "rQPS"] {
        assert!(report.contains(words), "no {words} in {report}");
    }
    assert!(bench.path(&format!("rqps-results/{id}.html")).is_file());
    bench.output(&["runs", "verify"]);
    bench.assert_tidy(&id);
}

#[test]
fn a_postgresql_from_the_registry_to_the_report() {
    chain("postgres", "11.22");
}

#[test]
fn a_mariadb_from_the_registry_to_the_report() {
    chain("mariadb", "10.2.11");
}

/// The newest MySQL: what a server does since 5.7, `--initialize` among it, no older one shows.
#[test]
fn a_mysql_from_the_registry_to_the_report() {
    chain("mysql", "9.7.4");
}
