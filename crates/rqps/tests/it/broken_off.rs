//! Runs on real servers that are interrupted in every way, and resumed each time.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nix::sys::signal::Signal;
use rqps_fake_server::{Fault, When};
use serde_json::Value;

use crate::bench::{
    Bench, DEADLINE, Running, assert_complete, for_each_server, for_one_server, pause, warned,
};
use crate::failed_servers::warnings;
use crate::fake::{for_each_family, write_plan};

fn plan(dbms: &str, version: &str) -> String {
    format!(
        "name = 'broken'\n[[system]]\ndbms = {dbms:?}\nversion = {version:?}\n\
         [[suite]]\nrows = 20_000\n\
         steps = ['point-query', 'range-covered-pk', 'range-notcovered-pk', 'update-index',\n\
         'update-nonindex']\n\
         [suite.seconds]\nread = 1.0\nwrite = 1.0\nwarm_up = 0.1\nfixed_at_most = 0.2\n\
         [schedule]\nstarts = 1\nslices = 2\n"
    )
}

/// The same for a fake server, which needs less time.
fn short_plan(dbms: &str, version: &str) -> String {
    plan(dbms, version)
        .replace("= 1.0", "= 0.15")
        .replace("warm_up = 0.1", "warm_up = 0.02")
        .replace("fixed_at_most = 0.2", "fixed_at_most = 0.05")
        .replace("20_000", "4_000")
}

/// Starts or resumes the run, and waits for the end of its next measured step.
fn started(bench: &Bench) -> (Running, String) {
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    running.await_line("queries/s");
    (running, id)
}

/// The slices that are stored, of all steps.
fn stored(run: &Value) -> Vec<Value> {
    let steps = run["steps"].as_array().unwrap().iter();
    steps.flat_map(|s| s["systems"][0]["slices"].as_array().unwrap()).cloned().collect()
}

/// Whether slices say that a server was started again on its data.
fn started_again(run: &Value) -> bool {
    let all = stored(run);
    let mut warnings = all.iter().flat_map(|slice| slice["warnings"].as_array().unwrap());
    warnings.any(|warning| warning["kind"] == "started-again")
}

#[test]
fn whatever_ends_a_run_the_next_command_resumes() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let _trees = write_plan(&bench, &short_plan(dbms, version));
        check_every_end(&bench);
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn whatever_ends_a_run_on_a_real_server_the_next_command_resumes() {
    for_one_server(|dbms, version| {
        let bench = Bench::new();
        bench.write("plan.toml", &plan(dbms, version));
        check_every_end(&bench);
    });
}

fn check_every_end(bench: &Bench) {
    let id = interrupted_by_the_user(bench);
    let kept = stored(&bench.latest());
    assert!(kept.len() >= 2, "{} slices", kept.len());
    let said = rqps_killed(bench, &id);
    assert!(said.contains("resumes with its data"), "{said}");
    data_of_somebody_else(bench, &id);
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains("resumes with its data"), "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 2);
    assert_eq!((run["id"].as_str(), &run["n_resumed"]), (Some(id.as_str()), &3.into()));
    assert_eq!(warned(&run, "resumed"), Vec::<String>::new(), "tables were filled again");
    assert!(started_again(&run));
    let all = stored(&run);
    assert!(kept.iter().all(|slice| all.contains(slice)), "a slice was lost or changed");
    bench.assert_tidy(&id);
    // Every attempt that could has left its server's log, each once.
    let log = bench.path(&format!("rqps-results/artifacts/{id}/server-0.log"));
    let log = String::from_utf8_lossy(&fs::read(log).unwrap()).to_lowercase();
    let n_starts = log.matches("ready for connections").count()
        + log.matches("ready to accept connections").count();
    assert_eq!(n_starts, 3, "{log}");
}

#[test]
fn data_that_are_not_sound_are_filled_again() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let _trees = write_plan(&bench, &short_plan(dbms, version));
        let id = interrupted_by_the_user(&bench);
        spoil(&bench.path(&format!("rqps-results/data/{id}-0/rqps-instance.json")));
        let (running, _) = started(&bench);
        running.signal(Signal::SIGKILL);
        let said = running.finish();
        bench.await_no_process(&id);
        let why = "the data of the earlier attempt are not used: the data in ";
        assert!(said.stderr.contains(why), "{}", said.stderr);
        assert!(said.stderr.contains("the host went down while its server ran"), "{}", said.stderr);
        // Once more: it resumes with these.
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert!(said.stderr.contains("resumes with its data"), "{}", said.stderr);
        let run = bench.latest();
        assert_complete(&run, 2);
        let told = warnings(&run);
        assert!(told.iter().any(|(_, what)| what.starts_with("data-not-used: ")), "{told:?}");
        // Each time it was resumed where it had been interrupted.
        let resumed = told.iter().filter(|(_, what)| what.starts_with("run-resumed: "));
        assert_eq!(resumed.count(), 2, "{told:?}");
        // What was not in the tables when they were filled again is not in them now.
        let steps = run["steps"].as_array().unwrap();
        let last = steps.last().unwrap()["info"]["name"].as_str().unwrap();
        assert!(warned(&run, "resumed").iter().any(|name| name == last), "{last}");
        bench.assert_tidy(&id);
    });
}

/// Makes a marker that of a host that went down while the server ran.
fn spoil(marker: &Path) {
    let text = fs::read_to_string(marker).unwrap();
    assert!(text.contains("\"is_stopped\": true"), "{text}");
    let mut left: Value = serde_json::from_str(&text).unwrap();
    (left["is_stopped"], left["boot"]) = (false.into(), "another".into());
    fs::write(marker, left.to_string()).unwrap();
}

#[test]
fn systems_that_are_compared_have_tables_of_one_age() {
    let bench = Bench::new();
    let second = "[[system]]\ndbms = \"postgres\"\nversion = \"11.22\"\nlabel = \"b\"\n[[suite]]";
    let plan = short_plan("postgres", "11.22").replace("[[suite]]", second);
    let _trees = write_plan(&bench, &plan);
    let (running, id) = started(&bench);
    running.signal(Signal::SIGINT);
    assert_eq!(running.finish().code(), 130);
    spoil(&bench.path(&format!("rqps-results/data/{id}-1/rqps-instance.json")));
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let words = "the system has new tables, because those of another system could not be used";
    assert_eq!(said.stderr.matches(words).count(), 1, "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 8);
    let steps = run["steps"].as_array().unwrap();
    let last = steps.last().unwrap()["systems"].as_array().unwrap();
    for system in last {
        let slices = system["slices"].as_array().unwrap().iter();
        let marks = slices.map(|slice| slice["warnings"].as_array().unwrap());
        let is_marked = |marks: &Vec<Value>| marks.iter().any(|mark| mark["kind"] == "resumed");
        assert!(marks.clone().all(is_marked), "{system}");
    }
    bench.assert_tidy(&id);
}

#[test]
fn tables_that_lack_rows_are_filled_again() {
    let bench = Bench::new();
    let _trees = write_plan(&bench, &short_plan("postgres", "11.22"));
    let id = interrupted_by_the_user(&bench);
    // A table that somebody has emptied.
    let data = bench.path(&format!("rqps-results/data/{id}-0/data/base"));
    let files: Vec<PathBuf> = fs::read_dir(data).unwrap().map(|f| f.unwrap().path()).collect();
    let [table] = &files[..] else { panic!("{files:?}") };
    fs::write(table, "").unwrap();
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains("table 1 has 0 of 4000 rows"), "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 2);
    assert!(!warned(&run, "resumed").is_empty());
    bench.assert_tidy(&id);
}

fn interrupted_by_the_user(bench: &Bench) -> String {
    let (running, id) = started(bench);
    running.signal(Signal::SIGINT);
    let said = running.finish();
    assert_eq!(said.code(), 130, "{}", said.stderr);
    assert!(said.stderr.contains("-0 until the run is resumed or removed\n"), "{}", said.stderr);
    assert!(said.stderr.ends_with("interrupted; run the same command again to resume\n"));
    assert_eq!(bench.latest()["status"], "interrupted");
    bench.assert_left(&id);
    id
}

/// Goes on with the run and kills it in its next step; gives what it said.
fn rqps_killed(bench: &Bench, id: &str) -> String {
    let (running, _) = started(bench);
    running.signal(Signal::SIGKILL);
    let said = running.finish();
    assert_eq!(said.code(), 128 + 9);
    bench.await_no_process(id);
    said.stderr
}

/// The data that a killed rqps left are its own; here they are somebody else's.
fn data_of_somebody_else(bench: &Bench, id: &str) {
    let dir: PathBuf = bench.path(&format!("rqps-results/data/{id}-0"));
    assert!(dir.join("rqps-instance.json").exists());
    let put_aside = bench.path("put-aside");
    fs::rename(&dir, &put_aside).unwrap();
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("thesis.txt"), "the only copy").unwrap();
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    assert!(said.stderr.contains("has files that rqps did not create"), "{}", said.stderr);
    assert!(said.stderr.contains(&dir.display().to_string()), "{}", said.stderr);
    assert_eq!(fs::read_to_string(dir.join("thesis.txt")).unwrap(), "the only copy");
    fs::remove_dir_all(&dir).unwrap();
    fs::rename(&put_aside, &dir).unwrap();
}

#[test]
fn a_log_that_cannot_be_kept_leaves_no_server_and_no_data() {
    let bench = Bench::new();
    let _trees = write_plan(&bench, &short_plan("postgres", "11.22"));
    let (running, id) = started(&bench);
    // The log is kept at the end, where a directory is now in its way.
    let log = bench.path(&format!("rqps-results/artifacts/{id}/server-0.log"));
    fs::create_dir(&log).unwrap();
    let said = running.finish();
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let message = format!("keep the server's log as {}", log.display());
    assert!(said.stderr.contains(&message), "{}", said.stderr);
    assert_eq!(said.stderr.matches("rqps: error: ").count(), 1, "{}", said.stderr);
    let run = bench.latest();
    let ended = &warnings(&run)[0].1;
    assert!(ended.starts_with("run-ended: ") && ended.contains(&message), "{ended}");
    bench.assert_tidy(&id);
    // Everything was measured by then, and the same command ends the run once the way is free.
    fs::remove_dir(&log).unwrap();
    let again = bench.run(&["run", "plan.toml"]);
    assert_eq!(again.code(), 0, "{}", again.stderr);
    assert_complete(&bench.latest(), 2);
}

#[test]
#[ignore = "make test-all: real servers"]
fn the_insert_benchmark_resumes_with_its_tables() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let plan = format!(
            "name = 'insert'\n[[system]]\ndbms = {dbms:?}\nversion = {version:?}\n\
             [[suite]]\nkind = 'insert'\nrows = 20_000\nrows_later = 10_000\nclients = [2]\n\
             rates = [50]\nseconds = {{ query = 2, wait = 0 }}\n[schedule]\nstarts = 1\nslices = 2\n"
        );
        bench.write("plan.toml", &plan);
        let mut running = bench.spawn(&["run", "plan.toml"]);
        let id = running.run_id();
        // The step whose deletes follow its inserts has ended, and another one has begun.
        running.await_line(" l.i1 ");
        running.signal(Signal::SIGINT);
        let said = running.finish();
        assert_eq!(said.code(), 130, "{}", said.stderr);
        bench.assert_left(&id);
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert!(said.stderr.contains("resumes with its data"), "{}", said.stderr);
        let run = bench.latest();
        assert_eq!(run["status"], "finished");
        assert!(started_again(&run));
        // Rows were counted where it was resumed, and those that the steps after it moved are there.
        let checks: Vec<&Value> = run["steps"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|step| step["systems"][0]["checks"].as_array().unwrap())
            .collect();
        assert!(checks.iter().all(|check| check["passed"] == true), "{checks:?}");
        let is_of_rows = |check: &&&Value| check["name"].as_str().unwrap().starts_with("rows of ");
        assert!(checks.iter().filter(is_of_rows).count() >= 2, "{checks:?}");
        bench.assert_tidy(&id);
    });
}

#[test]
fn whoever_interrupts_does_not_wait_for_a_long_statement() {
    let bench = Bench::new();
    let asleep = "version = \"11.22\"\nsql_after_load = [\"select pg_sleep(1800)\"]";
    let plan = short_plan("postgres", "11.22").replace("version = \"11.22\"", asleep);
    let mut trees = write_plan(&bench, &plan);
    trees[0].fail(When::Text(1, "pg_sleep".to_owned()), Fault::Hang).unwrap();
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    let since = Instant::now();
    while trees[0].n_met() == 0 {
        assert!(since.elapsed() < DEADLINE, "no statement was seen");
        pause();
    }
    running.signal(Signal::SIGINT);
    let since = Instant::now();
    let said = running.finish();
    assert_eq!(said.code(), 130, "{}", said.stderr);
    assert!(since.elapsed() < DEADLINE, "it waited for {:?}", since.elapsed());
    bench.assert_tidy(&id);
}
