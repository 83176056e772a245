//! Runs on real servers that are broken off in every way, and go on each time.

use std::fs;
use std::path::PathBuf;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::bench::{Bench, Running, assert_complete, for_each_server, marked};

fn plan(dbms: &str, version: &str) -> String {
    format!(
        "name = 'broken'\n[[system]]\ndbms = {dbms:?}\nversion = {version:?}\n\
         [[suite]]\nrows = 20_000\n\
         steps = ['point-query', 'range-covered-pk', 'range-notcovered-pk', 'update-index',\n\
         'update-nonindex']\n\
         [suite.seconds]\nread = 1.0\nwrite = 1.0\nwarm_up = 0.1\nfixed_at_most = 0.2\n\
         [schedule]\nslices = 2\n"
    )
}

/// Starts the run, or goes on with it, and waits for the end of its next measured step.
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

#[test]
fn whatever_ends_a_run_the_next_command_goes_on() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write("plan.toml", &plan(dbms, version));
        let id = interrupted_by_the_user(&bench);
        let kept = stored(&bench.latest());
        assert!(kept.len() >= 2, "{} slices", kept.len());
        rqps_killed(&bench, &id);
        data_of_somebody_else(&bench, &id);
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert_complete(&run, 2);
        assert_eq!((run["id"].as_str(), &run["n_resumed"]), (Some(id.as_str()), &3.into()));
        assert!(!marked(&run, "resumed").is_empty());
        let all = stored(&run);
        assert!(kept.iter().all(|slice| all.contains(slice)), "a slice was lost or changed");
        bench.assert_tidy(&id);
        // Every attempt that could has left its server's log.
        let log = bench.path(&format!("rqps-results/artifacts/{id}/server-0.log"));
        assert!(fs::metadata(log).unwrap().len() > 0);
    });
}

fn interrupted_by_the_user(bench: &Bench) -> String {
    let (running, id) = started(bench);
    running.signal(Signal::SIGINT);
    let said = running.finish();
    assert_eq!(said.code(), 130, "{}", said.stderr);
    assert!(said.stderr.ends_with("interrupted; run the same command again to go on\n"));
    assert_eq!(bench.latest()["status"], "interrupted");
    bench.assert_tidy(&id);
    id
}

fn rqps_killed(bench: &Bench, id: &str) {
    let (running, _) = started(bench);
    running.signal(Signal::SIGKILL);
    assert_eq!(running.finish().code(), 128 + 9);
    bench.await_no_process(id);
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
    assert!(said.stderr.contains("holds somebody else's files"), "{}", said.stderr);
    assert!(said.stderr.contains(&dir.display().to_string()), "{}", said.stderr);
    assert_eq!(fs::read_to_string(dir.join("thesis.txt")).unwrap(), "the only copy");
    fs::remove_dir_all(&dir).unwrap();
    fs::rename(&put_aside, &dir).unwrap();
}

#[test]
fn a_log_that_cannot_be_kept_leaves_no_server_and_no_data() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan("postgres", "11.22"));
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
    let ended = run["incidents"][0]["what"].as_str().unwrap();
    assert!(ended.starts_with("the run ended: ") && ended.contains(&message), "{ended}");
    bench.assert_tidy(&id);
    // Everything was measured by then, and the same command ends the run once the way is free.
    fs::remove_dir(&log).unwrap();
    let again = bench.run(&["run", "plan.toml"]);
    assert_eq!(again.code(), 0, "{}", again.stderr);
    assert_complete(&bench.latest(), 2);
}
