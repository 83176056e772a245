//! A disk that becomes full while a run is stored on it.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::bench::{Bench, assert_complete, for_each_server};
use crate::fake::write_plan;

/// A file system of a few megabytes; only root can have one.
struct Small(PathBuf);

impl Small {
    fn mount(at: &Path, size_mb: u32) -> Option<Self> {
        fs::create_dir(at).unwrap();
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size_mb}m,mode=755"), "rqps-test"])
            .arg(at)
            .output();
        if output.is_ok_and(|output| output.status.success()) {
            return Some(Self(at.to_owned()));
        }
        eprintln!("NOT RUN: a full disk takes the right to mount a small one, which root has");
        None
    }

    fn fill(&self) {
        fill(&self.0);
    }

    fn free(&self) {
        fs::remove_file(self.0.join("filler")).unwrap();
    }
}

/// Leaves not one byte on the file system of a directory.
fn fill(dir: &Path) {
    let mut file = fs::File::create(dir.join("filler")).unwrap();
    while file.write_all(&[1; 4096]).is_ok() {}
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn what_was_measured_survives_a_full_disk() {
    let bench = Bench::new();
    let Some(small) = Small::mount(&bench.path("rqps-results"), 8) else { return };
    bench.write(
        "plan.toml",
        "name = 'full'\n[[system]]\ndbms = 'null'\n[[suite]]\nrows = 1000\n\
         steps = ['point-query', 'range-*', 'update-*']\n\
         seconds = { read = 0.2, write = 0.2, warm_up = 0.01, fixed_at_most = 0.1 }\n\
         [schedule]\nstarts = 1\nslices = 3\n",
    );
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    running.await_line("inserts/s");
    running.await_line("queries/s");
    small.fill();
    let said = running.finish();
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let last = said.stderr.lines().last().unwrap();
    let store = bench.path("rqps-results/rqps.db");
    let words = format!(
        "the disk that holds {} is full; stored results are safe: free some space and run \
         the same command again to resume",
        store.display()
    );
    assert!(last.starts_with("rqps: error: ") && last.ends_with(&words), "{}", said.stderr);
    small.free();
    let before = bench.latest();
    assert_eq!(before["id"], id.as_str());
    let n: usize = before["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["systems"][0]["slices"].as_array().unwrap().len())
        .sum();
    assert!(n >= 2, "{n} slices are left");
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let after = bench.latest();
    assert_eq!(after["id"], before["id"]);
    assert_complete(&after, 3);
}

/// It would meet every other system as well.
#[test]
fn a_full_disk_leaves_no_system_out() {
    let bench = Bench::new();
    let Some(small) = Small::mount(&bench.path("rqps-results"), 8) else { return };
    let systems = ["a", "b", "c"].map(|l| format!("[[system]]\ndbms = 'null'\nlabel = '{l}'\n"));
    bench.write(
        "plan.toml",
        &format!(
            "{}[[suite]]\nrows = 1000\nsteps = ['point-query', 'range-*']\n\
             seconds = {{ read = 0.2, write = 0.2, warm_up = 0.01, fixed_at_most = 0.1 }}\n\
             [schedule]\nstarts = 1\nmode = 'sequential'\nslices = 3\n",
            systems.concat()
        ),
    );
    let mut running = bench.spawn(&["run", "plan.toml"]);
    running.await_line(" b  ");
    small.fill();
    let said = running.finish();
    assert_eq!(said.code(), 2, "{}", said.stderr);
    assert!(!said.stderr.contains("excluded"), "{}", said.stderr);
    assert!(said.stderr.contains("stored results are safe"), "{}", said.stderr);
    small.free();
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert_complete(&bench.latest(), 3);
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_server_without_space_is_told_as_that() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let Some(_small) = Small::mount(&bench.path("rqps-results"), 60) else { return };
        bench.write(
            "plan.toml",
            &format!(
                "[[system]]\ndbms = {dbms:?}\nversion = {version:?}\n[[suite]]\nrows = 1_000_000\n"
            ),
        );
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(!said.stderr.contains("FAILED"), "{}", said.stderr);
        let message = &said.stderr[said.stderr.find("rqps: error: ").unwrap()..];
        assert!(message.lines().next().unwrap().contains("no space "), "{message}");
        assert!(message.contains("; free space, or "), "{message}");
        bench.assert_tidy(&bench.dir().display().to_string());
    });
}

/// The results are on another file system, so that what was measured can be stored.
#[test]
#[ignore = "make test-all: real servers"]
fn a_full_disk_of_a_server_costs_its_step_and_the_run_goes_on() {
    let bench = Bench::new();
    fs::create_dir(bench.path("rqps-results")).unwrap();
    let Some(_small) = Small::mount(&bench.path("rqps-results/data"), 600) else { return };
    bench.write(
        "plan.toml",
        "name = 'full'\n[[system]]\nlabel = 'a'\ndbms = 'postgres'\nversion = '11.22'\n\
         [[system]]\nlabel = 'b'\ndbms = 'postgres'\nversion = '11.22'\n\
         [[suite]]\nrows = 10_000\nsteps = ['update-index', 'point-query', 'range-covered-pk']\n\
         seconds = { read = 1.5, write = 20, warm_up = 0.1, fixed_at_most = 0.2 }\n\
         [schedule]\nstarts = 1\nmode = 'sequential'\nslices = 1\n",
    );
    let mut running = bench.spawn(&["run", "plan.toml", "--no-html"]);
    let id = running.run_id();
    // After the scan that warms caches comes the step that writes.
    running.await_line("scan.warmpre");
    // What fills the disk goes with the data: the server is started again a moment after it has failed.
    fill(&bench.path(&format!("rqps-results/data/{id}-0")));
    running.await_line("the server failed and is started again (failure 1 of at most 3): ");
    let said = running.finish();
    assert_eq!(said.code(), 2, "{}", said.stderr);
    assert!(said.stderr.contains("rqps: error: 1 step failed: "), "{}", said.stderr);
    let run = bench.latest();
    assert_eq!(run["status"], "finished");
    for step in run["steps"].as_array().unwrap() {
        let outcomes = [0, 1].map(|idx| &step["systems"][idx]["outcome"]);
        if step["info"]["name"] != "update-index" {
            assert!(outcomes.iter().all(|outcome| outcome["outcome"] == "done"), "{step}");
            continue;
        }
        assert_eq!(outcomes.map(|outcome| &outcome["outcome"]), ["failed", "done"]);
        let reason = outcomes[0]["reason"].as_str().unwrap();
        for words in ["no space is left for the data of ", "; free space, or ", " of its log:\n"] {
            assert!(reason.contains(words), "no {words:?} in {reason}");
        }
    }
    bench.output(&["runs", "verify"]);
    bench.assert_tidy(&id);
}

/// A query whose temporary file found no room costs what it costs; the disk is not full for good.
#[test]
fn a_disk_that_was_full_in_an_earlier_step_is_no_cause_of_a_later_failure() {
    let bench = Bench::new();
    let _trees = write_plan(
        &bench,
        "name = 'was-full'\n[[system]]\nlabel = 'a'\ndbms = 'postgres'\nversion = '11.22'\n\
         [[suite]]\nrows = 2_000\n\
         steps = ['point-query', 'range-covered-pk', 'range-notcovered-pk']\n\
         seconds = { read = 0.5, warm_up = 0.1, fixed_at_most = 0.2 }\n[schedule]\nstarts = 1\nslices = 1\n",
    );
    let mut running = bench.spawn(&["run", "plan.toml", "--no-html"]);
    let id = running.run_id();
    running.await_line("rows/s");
    let log = bench.path(&format!("rqps-results/data/{id}-0/server.log"));
    let mut log = fs::OpenOptions::new().append(true).open(log).unwrap();
    log.write_all(b"ERROR:  could not write block 7: No space left on device\n").unwrap();
    running.await_line("range-covered-pk");
    let pid = bench.process_of(&format!("{id}-0/"));
    kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
    let said = running.finish();
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let run = bench.latest();
    let steps = run["steps"].as_array().unwrap().iter();
    let reasons: Vec<&str> =
        steps.filter_map(|step| step["systems"][0]["outcome"]["reason"].as_str()).collect();
    let [reason] = reasons[..] else { panic!("{reasons:?}") };
    assert!(reason.contains(" died (it was killed by signal 9"), "{reason}");
    assert!(!reason.contains("no space is left for the data"), "{reason}");
    bench.assert_tidy(&id);
}
