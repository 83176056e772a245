//! Servers that fail between steps, and connections that a server ends though it is well.

use std::fs;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rqps_client::{Address, Connection, Endpoint, Password, Tls};
use rqps_fake_server::{Fault, When};
use rqps_model::Dbms;
use serde_json::Value;

use crate::bench::{Bench, DEADLINE, Running, for_each_server, pause, processes};
use crate::failed_servers::{
    failed, plan, server_of, short_plan, socket_of, started_again, warnings,
};
use crate::fake::{for_each_family, write_plan};

/// A connection to the server of the first system, which is up.
fn connected(bench: &Bench, running: &Running, id: &str, dbms: Dbms) -> Box<dyn Connection> {
    let marker = bench.path(&format!("rqps-results/data/{id}-0/rqps-instance.json"));
    let marker: Value = serde_json::from_str(&fs::read_to_string(marker).unwrap()).unwrap();
    let endpoint = Endpoint {
        address: Address::Unix(socket_of(server_of(bench, running, id, 0))),
        tls: Tls::Off,
        server_public_key: None,
        user: "rqps".to_owned(),
        password: Password(marker["password"].as_str().unwrap().to_owned()),
        database: "rqps".to_owned(),
        on_login: None,
        startup: rqps_client::Startup::default(),
        connect_timeout: Duration::from_secs(10),
    };
    rqps_server::connect(dbms, &endpoint).unwrap()
}

fn wait(time: Duration) {
    let since = Instant::now();
    while since.elapsed() < time {
        pause();
    }
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_server_that_ends_idle_connections_costs_nothing() {
    for_each_server(|dbms, version| {
        if dbms == "postgres" {
            // It has such a limit from 14 on.
            return;
        }
        let bench = Bench::new();
        let text = plan(&[("a", dbms, version)], "sequential").replace("1.5", "4");
        let options = "options = { wait_timeout = '2' }\n[[suite]]";
        bench.write("plan.toml", &text.replace("[[suite]]", options));
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert!(run["status"] == "finished" && failed(&run).is_empty());
        assert!(warnings(&run).is_empty(), "{}", run["warnings"]);
        // The option is in force, and told as it is.
        assert_eq!(run["systems"][0]["settings"]["wait_timeout"], "2");
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_connection_for_questions_that_is_gone_is_opened_again() {
    for_each_server(|name, version| {
        let dbms = if name == "postgres" { Dbms::Postgres } else { Dbms::Mysql };
        let bench = Bench::new();
        let text = plan(&[("a", name, version)], "sequential").replace("1.5", "3");
        bench.write("plan.toml", &text);
        let mut running = bench.spawn(&["run", "plan.toml", "--no-html"]);
        let id = running.run_id();
        running.await_line("point-query ");
        // In the middle of the step that follows, in which nothing is asked.
        wait(Duration::from_secs(2));
        let mut connection = connected(&bench, &running, &id, dbms);
        if dbms == Dbms::Postgres {
            let sql = "select pg_terminate_backend((select pid from pg_stat_activity where \
                       backend_type = 'client backend' order by backend_start limit 1))";
            assert_eq!(connection.query(sql).unwrap().scalar(), Some("t"));
        } else {
            let sql = "select min(id) from information_schema.processlist where user = 'rqps'";
            let first = connection.query(sql).unwrap().scalar().unwrap().to_owned();
            connection.query(&format!("kill {first}")).unwrap();
        }
        let said = running.finish();
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert!(run["status"] == "finished" && failed(&run).is_empty());
        assert!(warnings(&run).is_empty(), "{}", run["warnings"]);
        bench.assert_tidy(&id);
    });
}

#[test]
fn a_step_that_is_measured_is_done_when_its_server_dies_as_it_settles() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let steps = "steps = ['update-index', 'read-write*', 'point-query']";
        let text = short_plan(&[("a", dbms, version)], "sequential");
        let of_plan = text.lines().find_map(|line| line.trim().strip_prefix("steps = ")).unwrap();
        let mut trees = write_plan(&bench, &text.replace(&format!("steps = {of_plan}"), steps));
        // It settles after the load for the first time.
        let settles = if dbms == "postgres" { "VACUUM" } else { "ANALYZE TABLE" };
        trees[0].fail(When::Text(2, settles.to_owned()), Fault::Die(Signal::SIGKILL)).unwrap();
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert!(run["status"] == "finished" && failed(&run).is_empty());
        let [(Some(0), what)] = &warnings(&run)[..] else { panic!("{}", run["warnings"]) };
        assert!(what.starts_with("server-failed 1: "), "{what}");
        assert!(what.contains("SIGKILL"), "{what}");
        let is_it =
            |step: &&Value| step["info"]["name"].as_str().unwrap().starts_with("read-write");
        let step = run["steps"].as_array().unwrap().iter().find(is_it).unwrap();
        let state = &step["systems"][0];
        assert_eq!(state["slices"].as_array().unwrap().len(), 2);
        assert!(state["sizes"]["database_bytes"].is_null(), "{}", state["sizes"]);
        assert!(started_again(&run, 0).contains(&"point-query".to_owned()), "{run}");
        bench.output(&["runs", "verify"]);
        bench.assert_tidy(run["id"].as_str().unwrap());
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_process_that_outlives_its_server_is_not_waited_for() {
    let bench = Bench::new();
    let text = plan(&[("a", "postgres", "11.22")], "sequential");
    // Who sleeps does not look whether the first process is there. Later none sleeps.
    let later = SystemTime::now() + Duration::from_secs(20);
    let sql = format!(
        "select pg_sleep(case when clock_timestamp() < to_timestamp({}) then 3600 else 0 end)",
        later.duration_since(UNIX_EPOCH).unwrap().as_secs()
    );
    bench.write(
        "plan.toml",
        &text.replace("[[suite]]", &format!("sql_after_load = [\"{sql}\"]\n[[suite]]")),
    );
    let mut running = bench.spawn(&["run", "plan.toml", "--no-html"]);
    let id = running.run_id();
    // The statement shows in the name of the process that serves it, and stays.
    let at_it = || processes(|text| text.contains(&id) && text.contains(" SELECT"));
    let since = Instant::now();
    let mut seen = at_it();
    while seen.is_empty() || at_it() != seen {
        assert!(since.elapsed() < DEADLINE, "no statement was seen");
        seen = at_it();
        wait(Duration::from_millis(400));
    }
    wait(later.duration_since(SystemTime::now()).unwrap_or_default() + Duration::from_secs(1));
    kill(Pid::from_raw(server_of(&bench, &running, &id, 0)), Signal::SIGKILL).unwrap();
    let said = running.finish();
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert!(run["status"] == "finished" && failed(&run).is_empty());
    let [(Some(0), what)] = &warnings(&run)[..] else { panic!("{}", run["warnings"]) };
    assert!(what.starts_with("server-failed 1: "), "{what}");
    assert!(what.contains("SIGKILL"), "{what}");
    bench.assert_tidy(&id);
}

#[test]
fn a_server_that_dies_while_others_start_is_started_again() {
    let bench = Bench::new();
    let servers = ["a", "b", "c"].map(|label| (label, "postgres", "11.22"));
    let _trees = write_plan(&bench, &short_plan(&servers, "interleaved"));
    let mut running = bench.spawn(&["run", "plan.toml", "--no-html"]);
    let id = running.run_id();
    // They are started in an order that is drawn. When the last one's data are made, the others are up.
    let mut begun: Vec<usize> = Vec::new();
    let since = Instant::now();
    while begun.len() < 3 {
        assert!(since.elapsed() < DEADLINE, "only {begun:?} have begun");
        let is_new = |idx: &usize| {
            let dir = bench.path(&format!("rqps-results/data/{id}-{idx}"));
            !begun.contains(idx) && dir.exists()
        };
        begun.extend((0..3).filter(is_new).collect::<Vec<_>>());
        pause();
    }
    let first = begun[0];
    kill(Pid::from_raw(server_of(&bench, &running, &id, first)), Signal::SIGKILL).unwrap();
    let said = running.finish();
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert!(run["status"] == "finished" && failed(&run).is_empty());
    let [(Some(idx), what)] = &warnings(&run)[..] else { panic!("{}", run["warnings"]) };
    assert!(*idx == first as u64 && what.contains("SIGKILL"), "{idx} {first}: {what}");
    bench.assert_tidy(&id);
}

#[test]
fn what_makes_the_data_of_a_server_is_started_again_when_it_was_killed() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let mut trees = write_plan(&bench, &short_plan(&[("a", dbms, version)], "sequential"));
        trees[0].fail(When::Initialise(1), Fault::Die(Signal::SIGKILL)).unwrap();
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert!(run["status"] == "finished" && failed(&run).is_empty());
        let [(Some(0), what)] = &warnings(&run)[..] else { panic!("{}", run["warnings"]) };
        let words = "killed-at-start 1: ";
        assert!(what.starts_with(words) && what.contains("could not create its data"), "{what}");
        bench.assert_tidy(run["id"].as_str().unwrap());
    });
}
