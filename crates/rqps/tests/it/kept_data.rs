//! Data that an attempt has left for the next one: nobody loses them by looking at them, nor by being in the
//! way.

use std::fs::File;
use std::path::PathBuf;
use std::process::Command;

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;

use crate::bench::{Bench, assert_complete, warned};
use crate::fake::write_plan;

const RESUMES: &str = "resumes with its data";

fn plan(n: usize, mode: &str) -> String {
    let system =
        |idx| format!("[[system]]\nlabel = 's{idx}'\ndbms = 'postgres'\nversion = '11.22'\n");
    format!(
        "name = 'kept'\n{}[[suite]]\nrows = 2_000\n\
         steps = ['point-query', 'range-covered-pk', 'range-notcovered-pk']\n\
         [suite.seconds]\nread = 0.15\nwarm_up = 0.02\nfixed_at_most = 0.1\n\
         [schedule]\nstarts = 1\nmode = '{mode}'\nslices = 2\n",
        (0..n).map(system).collect::<String>()
    )
}

/// Begins a run, interrupts it, and gives its id.
fn interrupted(bench: &Bench) -> String {
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    running.await_line("queries/s");
    running.signal(Signal::SIGINT);
    let said = running.finish();
    assert_eq!(said.code(), 130, "{}", said.stderr);
    bench.assert_left(&id);
    id
}

fn data(bench: &Bench, id: &str, idx: usize) -> PathBuf {
    bench.path(&format!("rqps-results/data/{id}-{idx}"))
}

#[test]
fn who_looks_at_them_is_not_in_the_way() {
    let bench = Bench::new();
    let _trees = write_plan(&bench, &plan(1, "sequential"));
    let dir = data(&bench, &interrupted(&bench), 0);
    let mut looking = Command::new("sh");
    looking.args(["-c", "read line"]).arg(dir.join("server.log"));
    let mut looking =
        looking.current_dir(&dir).stdin(std::process::Stdio::piped()).spawn().unwrap();
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    let is_there = looking.try_wait().unwrap().is_none();
    looking.kill().unwrap();
    looking.wait().unwrap();
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains(RESUMES), "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 2);
    assert_eq!(warned(&run, "resumed"), Vec::<String>::new(), "tables were filled again");
    assert!(is_there, "what only looked was ended");
    assert!(!dir.exists());
}

#[test]
fn who_is_in_the_way_costs_an_attempt_and_no_data() {
    for (n, mode) in [(1, "sequential"), (3, "interleaved")] {
        let bench = Bench::new();
        let _trees = write_plan(&bench, &plan(n, mode));
        let id = interrupted(&bench);
        let dir = data(&bench, &id, n - 1);
        let marker = File::open(dir.join("rqps-instance.json")).unwrap();
        let lock = Flock::lock(marker, FlockArg::LockExclusiveNonblock).unwrap();
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 2, "{mode}: {}", said.stderr);
        let words = format!("the data of this run stay in {}; run the same command", dir.display());
        assert!(said.stderr.contains(&words), "no {words:?} in {}", said.stderr);
        assert!(said.stderr.contains(" is in use by process "), "{}", said.stderr);
        assert!((0..n).all(|idx| data(&bench, &id, idx).join("data/base").exists()), "{mode}");
        drop(lock);
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{mode}: {}", said.stderr);
        assert_eq!(said.stderr.matches(RESUMES).count(), n, "{mode}: {}", said.stderr);
        let run = bench.latest();
        assert_eq!((run["id"].as_str(), &run["status"]), (Some(id.as_str()), &"finished".into()));
        assert_eq!(warned(&run, "resumed"), Vec::<String>::new(), "tables were filled again");
        bench.assert_tidy(&id);
    }
}
