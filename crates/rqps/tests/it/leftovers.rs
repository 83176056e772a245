//! Data directories that killed runs left: they go with their run, nothing else does.

use std::fs::{self, File};
use std::path::PathBuf;

use nix::fcntl::{Flock, FlockArg};
use nix::sys::signal::Signal;

use crate::bench::Bench;
use crate::fake::write_plan;

/// Long enough to be killed in the middle.
fn plan(system: &str) -> String {
    format!(
        "[[system]]\n{system}\n[[suite]]\nrows = 1000\nsteps = ['point-query', 'range-*']\n\
         seconds = {{ read = 0.2, write = 0.2, insert = 0.2, warm_up = 0.01, fixed_at_most = 0.1 }}\n\
         [schedule]\nstarts = 1\nslices = 2\n"
    )
}

/// Starts the plan again and kills it while it measures.
fn killed(bench: &Bench) -> String {
    let mut running = bench.spawn(&["run", "plan.toml", "--new"]);
    let id = running.run_id();
    running.await_line("/s");
    running.signal(Signal::SIGKILL);
    assert_eq!(running.finish().code(), 128 + 9);
    bench.await_no_process(&id);
    id
}

fn data(bench: &Bench, name: &str) -> PathBuf {
    bench.path("rqps-results/data").join(name)
}

/// A directory as a killed rqps leaves it.
fn warned(bench: &Bench, name: &str) -> PathBuf {
    let dir = data(bench, name);
    fs::create_dir_all(dir.join("data")).unwrap();
    fs::write(dir.join("data/ibdata1"), "pages").unwrap();
    let marker =
        r#"{"dbms":"mysql","version":"8.0.33","password":"","rqps_pid":7,"initialised":true}"#;
    fs::write(dir.join("rqps-instance.json"), marker).unwrap();
    dir
}

/// A directory that has such a name and is not ours.
fn unmarked(bench: &Bench, name: &str) -> PathBuf {
    let dir = data(bench, name);
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("thesis.txt"), "the only copy").unwrap();
    dir
}

fn held(dir: &std::path::Path) -> Flock<File> {
    let marker = File::open(dir.join("rqps-instance.json")).unwrap();
    Flock::lock(marker, FlockArg::LockExclusiveNonblock).unwrap()
}

#[test]
fn a_run_is_removed_with_its_data_and_nothing_else() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan("dbms = \"null\""));
    let id = killed(&bench);
    let ours = warned(&bench, &format!("{id}-0"));
    let used = warned(&bench, &format!("{id}-1"));
    let theirs = unmarked(&bench, &format!("{id}-2"));
    let of_another = warned(&bench, &format!("{id}-other-0"));
    let lock = held(&used);
    let said = bench.run(&["runs", "rm", &id]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert_eq!(said.stdout, format!("removed {}\nremoved {id}\n", ours.display()));
    let warnings: Vec<&str> = said.stderr.lines().collect();
    let [in_use, not_ours] = warnings[..] else { panic!("{}", said.stderr) };
    let begin = |dir: &PathBuf| format!("rqps: warning: {} was not removed: ", dir.display());
    assert!(in_use.starts_with(&begin(&used)) && in_use.contains("process 7"), "{in_use}");
    assert!(not_ours.starts_with(&begin(&theirs)), "{not_ours}");
    assert!(not_ours.contains("files that rqps did not create"), "{not_ours}");
    assert!(!ours.exists() && of_another.join("data/ibdata1").exists());
    assert!(used.join("data/ibdata1").exists() && theirs.join("thesis.txt").exists());
    drop(lock);
}

#[test]
fn the_next_run_removes_what_killed_ones_left_and_says_so() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan("dbms = \"null\""));
    let (first, second) = (killed(&bench), killed(&bench));
    let ours = warned(&bench, &format!("{first}-0"));
    let theirs = unmarked(&bench, &format!("{second}-0"));
    let of_no_run = warned(&bench, "20200101-000000-x-0");
    // A run that is under way keeps its own. It does not end meanwhile.
    bench.write("long.toml", &plan("dbms = \"null\"").replace("read = 0.2", "read = 900"));
    let mut running = bench.spawn(&["run", "long.toml"]);
    let under_way = running.run_id();
    running.await_line(&format!("{}, left by run {first} when it was killed", ours.display()));
    running.await_line("/s");
    let its_own = warned(&bench, &format!("{under_way}-0"));
    let said = bench.run(&["run", "plan.toml", "--new", "--steps", "point-query", "--no-html"]);
    running.signal(Signal::SIGKILL);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let stays = format!("{} has the name of data of run {second}, but stays: ", theirs.display());
    assert!(said.stderr.contains(&stays), "{}", said.stderr);
    assert!(!said.stderr.contains("removed"), "{}", said.stderr);
    assert!(!ours.exists() && theirs.exists() && of_no_run.exists() && its_own.exists());
    drop(running.finish());
}

#[test]
fn a_run_that_can_be_resumed_keeps_its_data() {
    let bench = Bench::new();
    let _trees = write_plan(&bench, &plan("dbms = 'postgres'\nversion = '11.22'"));
    bench.write("other.toml", &plan("dbms = \"null\""));
    let id = killed(&bench);
    let dir = data(&bench, &format!("{id}-0"));
    let other = ["run", "other.toml", "--new", "--steps", "point-query", "--no-html"];
    let said = bench.run(&other);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let words = format!(
        "the unfinished run {id} keeps its data in {}; its command resumes the run, `rqps runs rm \
         {id}` removes both",
        dir.display()
    );
    assert!(said.stderr.contains(&words), "{}", said.stderr);
    assert!(dir.join("data/base").exists());
    // A new run of the same plan is the one that is resumed.
    let said = bench.run(&["run", "plan.toml", "--new", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let words = format!("removed {}, left by run {id} when it was killed", dir.display());
    assert!(said.stderr.contains(&words) && !dir.exists(), "{}", said.stderr);
}

#[test]
fn what_was_started_for_no_run_goes_with_the_next_command() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan("dbms = \"null\""));
    let names =
        ["calibrate-4000001-0", "calibrate-4000001-1", "audit-4000002-0", "sandbox-4000003"];
    let strays = names.map(|name| warned(&bench, name));
    let used = warned(&bench, "audit-4000004-0");
    let theirs = unmarked(&bench, "sandbox-4000005");
    let other = warned(&bench, "audit-of-mine");
    let lock = held(&used);
    let said = bench.run(&["run", "plan.toml", "--steps", "point-query", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    for (stray, what) in
        strays.iter().zip(["a calibration", "a calibration", "an audit", "a shell"])
    {
        let words = format!("removed {}, left by {what} that was killed", stray.display());
        assert!(said.stderr.contains(&words) && !stray.exists(), "{}", said.stderr);
    }
    assert_eq!(said.stderr.matches("removed ").count(), 4, "{}", said.stderr);
    assert!(used.join("data/ibdata1").exists() && other.join("data/ibdata1").exists());
    assert!(theirs.join("thesis.txt").exists());
    drop(lock);
    // A calibration removes them as well.
    let mut running = bench.spawn(&["calibrate", "null", "--seconds", "0.2"]);
    running.await_line("left by an audit");
    assert!(!used.exists());
    running.signal(Signal::SIGINT);
    assert_eq!(running.finish().code(), 130);
}

#[test]
#[ignore = "make test-all: real servers"]
fn the_data_of_a_real_server_go_with_their_killed_run() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan("dbms = 'postgres'\nversion = '11.22'"));
    let id = killed(&bench);
    let dir = data(&bench, &format!("{id}-0"));
    assert!(dir.join("data/base").exists(), "a killed run left nothing to remove");
    let said = bench.run(&["runs", "rm", &id]);
    assert_eq!((said.code(), said.stderr.as_str()), (0, ""));
    bench.assert_tidy(&id);
}

/// As left by a server that was stopping when rqps was killed: it has nothing more to do.
#[test]
fn data_of_a_system_that_has_finished_go_when_its_run_resumes() {
    let bench = Bench::new();
    let both = "label = 'a'\ndbms = 'null'\n[[system]]\nlabel = 'b'\ndbms = 'null'";
    bench.write("plan.toml", &format!("{}mode = 'sequential'\n", plan(both)));
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    running.await_line(" b  ");
    running.signal(Signal::SIGKILL);
    assert_eq!(running.finish().code(), 128 + 9);
    let left = [0, 1].map(|idx| warned(&bench, &format!("{id}-{idx}")));
    for dir in &left {
        let path = dir.join("rqps-instance.json");
        let marker = fs::read_to_string(&path).unwrap();
        let noted = marker.replace('}', ",\"note\":\"start=0 load=0\"}");
        fs::write(path, noted).unwrap();
        fs::write(dir.join("server.log"), "ready\n").unwrap();
    }
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let words = format!("a: removed {}, left when rqps was killed", left[0].display());
    assert!(said.stderr.contains(&words), "no {words:?} in {}", said.stderr);
    // The other one has steps left, for which its data could be of use.
    assert!(!left[0].exists() && left[1].join("server.log").exists());
    let log = bench.path(&format!("rqps-results/artifacts/{id}/server-0.log"));
    assert_eq!(fs::read_to_string(log).unwrap(), "ready\n");
}
