//! Servers that die or hang in the middle of a run: it costs their step, and the run continues.

use std::fs;
use std::path::PathBuf;
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rqps_fake_server::{Fault, When};
use serde_json::Value;

use crate::bench::{Bench, DEADLINE, Running, Said, for_one_server, parent, pause};
use crate::fake::{for_each_family, write_plan};

pub(crate) fn plan(servers: &[(&str, &str, &str)], mode: &str) -> String {
    let system = |(label, dbms, version): &(&str, &str, &str)| {
        format!("[[system]]\nlabel = {label:?}\ndbms = {dbms:?}\nversion = {version:?}\n")
    };
    format!(
        "name = 'failing'\n{}[[suite]]\nrows = 10_000\n\
         steps = ['point-query', 'range-covered-pk', 'range-notcovered-pk', 'update-index']\n\
         [suite.seconds]\nread = 1.5\nwrite = 1.5\nwarm_up = 0.1\nfixed_at_most = 0.2\n\
         [schedule]\nstarts = 1\nmode = {mode:?}\nslices = 2\n",
        servers.iter().map(system).collect::<String>()
    )
}

/// The same for fake servers, which need less time.
pub(crate) fn short_plan(servers: &[(&str, &str, &str)], mode: &str) -> String {
    plan(servers, mode)
        .replace("1.5", "0.06")
        .replace("warm_up = 0.1", "warm_up = 0.02")
        .replace("fixed_at_most = 0.2", "fixed_at_most = 0.04")
        .replace("10_000", "2_000")
}

/// The first process of the server of system `idx`, once it is there.
pub(crate) fn server_of(bench: &Bench, running: &Running, id: &str, idx: usize) -> i32 {
    let since = Instant::now();
    loop {
        let data = format!("{id}-{idx}/");
        let of_rqps = |pid: &i32| parent(*pid) == Some(running.pid());
        if let Some(pid) = bench.processes_of(&data).into_iter().find(of_rqps) {
            return pid;
        }
        assert!(since.elapsed() < DEADLINE, "no server of system {idx}");
        pause();
    }
}

/// Steps that failed, each with its system and the reason.
pub(crate) fn failed(run: &Value) -> Vec<(String, usize, String)> {
    let mut found = Vec::new();
    for step in run["steps"].as_array().unwrap() {
        for (system, state) in step["systems"].as_array().unwrap().iter().enumerate() {
            match state["outcome"]["outcome"].as_str().unwrap() {
                "failed" => {
                    let reason = state["outcome"]["reason"].as_str().unwrap().to_owned();
                    found.push((step["info"]["name"].as_str().unwrap().to_owned(), system, reason));
                }
                "done" => assert!(!state["slices"].as_array().unwrap().is_empty()),
                other => panic!("{}: {other}", step["info"]["name"]),
            }
        }
    }
    found
}

/// The warnings of a run, each with its system, except servers that were slow to stop: the kind, how often it
/// happened, and the reason.
pub(crate) fn warnings(run: &Value) -> Vec<(Option<u64>, String)> {
    let all = run["warnings"].as_array().map_or(&[][..], Vec::as_slice).iter();
    all.filter(|warning| warning["kind"] != "not-stopped")
        .map(|warning| {
            let kind = warning["kind"].as_str().unwrap();
            let reason = warning["reason"].as_str().unwrap_or_default();
            let n = warning["n"].as_u64().map_or_else(String::new, |n| format!(" {n}"));
            (warning["scope"]["system"].as_u64(), format!("{kind}{n}: {reason}"))
        })
        .collect()
}

/// The steps of a system whose warnings say that its server was started again before.
pub(crate) fn started_again(run: &Value, system: usize) -> Vec<String> {
    let says = |state: &Value| {
        let marks = |slice: &Value| slice["warnings"].as_array().unwrap().clone();
        let slices = state["slices"].as_array().unwrap().iter();
        slices.flat_map(marks).any(|warning| warning["kind"] == "started-on-new-data")
    };
    let steps = run["steps"].as_array().unwrap().iter();
    steps
        .filter(|step| says(&step["systems"][system]))
        .map(|step| step["info"]["name"].as_str().unwrap().to_owned())
        .collect()
}

/// A point query of the step that follows the first one.
pub(crate) const SECOND_STEP: &str = "SELECT id FROM sbtest1 WHERE id BETWEEN";

#[test]
fn a_server_that_dies_costs_its_step_and_the_run_goes_on() {
    for_each_family(|dbms, version| {
        for mode in ["sequential", "interleaved"] {
            let bench = Bench::new();
            let servers = [("a", dbms, version), ("b", dbms, version)];
            let mut trees = write_plan(&bench, &short_plan(&servers, mode));
            let when = When::Text(20, SECOND_STEP.to_owned());
            trees[0].fail(when, Fault::Die(Signal::SIGKILL)).unwrap();
            check_death(&bench, &bench.run(&["run", "plan.toml", "--no-html"]), mode);
        }
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_real_server_that_dies_costs_its_step_and_the_run_goes_on() {
    for_one_server(|dbms, version| {
        let bench = Bench::new();
        let servers = [("a", dbms, version), ("b", dbms, version)];
        bench.write("plan.toml", &plan(&servers, "interleaved"));
        let mut running = bench.spawn(&["run", "plan.toml"]);
        let id = running.run_id();
        running.await_line("queries/s");
        let pid = server_of(&bench, &running, &id, 0);
        kill(Pid::from_raw(pid), Signal::SIGKILL).unwrap();
        check_death(&bench, &running.finish(), "interleaved");
    });
}

/// The server of the first of two systems was killed in a step.
fn check_death(bench: &Bench, said: &Said, mode: &str) {
    assert_eq!(said.code(), 2, "{mode}: {}", said.stderr);
    let words = "the server failed and is started again (failure 1 of at most 3): ";
    assert_eq!(said.stderr.matches(words).count(), 1, "{mode}: {}", said.stderr);
    assert!(said.stderr.contains("rqps: error: 1 step failed: "), "{}", said.stderr);
    let run = bench.latest();
    assert_eq!(run["status"], "finished");
    let [(step, system, reason)] = &failed(&run)[..] else { panic!("{run}") };
    assert_eq!(*system, 0);
    let words = "died (it was killed by signal 9 (SIGKILL))\nthe end of its log:\n";
    assert!(reason.contains(words) && reason.lines().count() > 3, "{step}: {reason}");
    // What comes after says so; the other system has nothing to say.
    assert!(!started_again(&run, 0).is_empty(), "{mode}");
    assert!(started_again(&run, 1).is_empty(), "{mode}");
    let [incident] = &warnings(&run)[..] else { panic!("{}", run["warnings"]) };
    assert!(incident.0 == Some(0) && incident.1.contains("SIGKILL"), "{incident:?}");
    let report = bench.output(&["report", "--full"]);
    assert!(report.contains("SIGKILL"), "{report}");
    bench.output(&["runs", "verify"]);
    bench.assert_tidy(run["id"].as_str().unwrap());
}

#[test]
fn a_server_that_crashes_tells_of_its_signal_and_core() {
    let bench = Bench::new();
    let plan = short_plan(&[("a", "postgres", "11.22")], "sequential");
    let mut trees = write_plan(&bench, &plan);
    let when = When::Text(20, SECOND_STEP.to_owned());
    trees[0].fail(when, Fault::Die(Signal::SIGSEGV)).unwrap();
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let run = bench.latest();
    let [(_, 0, reason)] = &failed(&run)[..] else { panic!("{run}") };
    assert!(reason.contains("died (it was killed by signal 11 (SIGSEGV); "), "{reason}");
    let on_cores = ["no core was dumped", "its core was "];
    assert!(on_cores.iter().any(|words| reason.contains(words)), "{reason}");
    let pattern = fs::read_to_string("/proc/sys/kernel/core_pattern").unwrap();
    let words = format!("kernel.core_pattern is {:?}", pattern.trim());
    assert!(reason.contains(&words), "no {words} in {reason}");
    bench.assert_tidy(run["id"].as_str().unwrap());
}

#[test]
fn what_no_step_tells_stands_in_the_report() {
    let bench = Bench::new();
    let plan = short_plan(&[("a", "postgres", "11.22")], "sequential");
    let mut trees = write_plan(&bench, &plan);
    let when = When::Text(1, "INSERT INTO sbtest1".to_owned());
    trees[0].fail(when, Fault::Die(Signal::SIGKILL)).unwrap();
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    // The load is done again, so that no step has failed.
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert!(run["status"] == "finished" && failed(&run).is_empty());
    let [(Some(0), what)] = &warnings(&run)[..] else { panic!("{}", run["warnings"]) };
    assert!(what.starts_with("server-failed 1: "), "{what}");
    let json = bench.json(&["report", "--format", "json"]);
    assert_eq!(json["run"]["warnings"][0]["system"], "a");
    for format in ["terminal", "markdown"] {
        let report = bench.output(&crate::report_in(format));
        assert!(report.contains("What happened during the run"), "{format}: {report}");
        assert!(report.contains("SIGKILL"), "{format}: {report}");
    }
    bench.assert_tidy(run["id"].as_str().unwrap());
}

#[test]
fn a_server_that_fails_again_and_again_is_taken_out_and_the_others_are_measured() {
    let bench = Bench::new();
    let servers = ["a", "b", "c"].map(|label| (label, "postgres", "11.22"));
    let mut trees = write_plan(&bench, &short_plan(&servers, "sequential"));
    // In a step, on each start; its first one is no more than looked at.
    let when = When::Text(20, "FROM sbtest1 WHERE id".to_owned());
    trees[1].fail_each_time(when, Fault::Die(Signal::SIGKILL)).unwrap();
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    for n in 1..=2 {
        let words = format!("the server failed and is started again (failure {n} of at most 3)");
        assert!(said.stderr.contains(&words), "{}", said.stderr);
    }
    assert!(said.stderr.contains("b: excluded: "), "{}", said.stderr);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    assert!(said.stderr.contains("b is excluded after 3 failures"), "{}", said.stderr);
    assert!(said.stderr.contains("1 of 3 systems not measured in all steps"), "{}", said.stderr);
    let run = bench.latest();
    assert_eq!(run["status"], "failed");
    let (system, what) = warnings(&run).pop().unwrap();
    assert!(system == Some(1) && what.starts_with("excluded: "), "{what}");
    for step in run["steps"].as_array().unwrap() {
        for system in [0, 2] {
            assert_eq!(step["systems"][system]["outcome"]["outcome"], "done", "{step}");
        }
    }
    let id = run["id"].as_str().unwrap().to_owned();
    bench.assert_tidy(&id);
    // The same command tries it again.
    trees[1].heal().unwrap();
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    let run = bench.latest();
    assert_eq!((run["id"].as_str(), run["status"].as_str()), (Some(id.as_str()), Some("finished")));
    let n_failed = failed(&run).len();
    assert!((1..=3).contains(&n_failed), "{n_failed}");
    assert_eq!(said.code(), 2, "steps that failed stay failed: {}", said.stderr);
    bench.assert_tidy(&id);
}

/// Where the programs of one system's server lie, and a plan of three systems.
fn plan_with_own(bench: &Bench) -> (Vec<rqps_fake_server::Tree>, PathBuf) {
    let servers = ["a", "b", "c"].map(|label| (label, "postgres", "11.22"));
    let trees = write_plan(bench, &short_plan(&servers, "interleaved"));
    let programs = trees[1].dir().join("bin");
    (trees, programs)
}

#[test]
fn a_server_that_does_not_start_at_first_is_excluded_and_measured_alone_later() {
    let bench = Bench::that_makes_data();
    let (_trees, programs) = plan_with_own(&bench);
    let (initdb, away) = (programs.join("initdb"), programs.join("initdb.away"));
    fs::rename(&initdb, &away).unwrap();
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    assert!(said.stderr.contains("b: excluded: start b: "), "{}", said.stderr);
    let summary = "1 of 3 systems not measured in all steps";
    assert!(said.stderr.contains(summary), "{}", said.stderr);
    let text = bench.output(&["report", "--full"]);
    assert!(text.contains("b: excluded: start b: "), "{text}");
    let run = bench.latest();
    let id = run["id"].as_str().unwrap().to_owned();
    let outcomes = |run: &Value, step: usize| {
        let systems = run["steps"][step]["systems"].as_array().unwrap().clone();
        systems.iter().map(|s| s["outcome"]["outcome"].as_str().unwrap().to_owned()).collect()
    };
    for step in 0..run["steps"].as_array().unwrap().len() {
        let found: Vec<String> = outcomes(&run, step);
        assert_eq!(found, ["done", "pending", "done"], "{}", run["steps"][step]);
    }
    bench.assert_tidy(&id);
    // No system remains to interleave with.
    fs::rename(&away, &initdb).unwrap();
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_eq!((run["id"].as_str(), run["status"].as_str()), (Some(id.as_str()), Some("finished")));
    let says_alone = |state: &Value| state.to_string().contains("without-base");
    for step in run["steps"].as_array().unwrap() {
        let is_compared = !matches!(step["info"]["kind"].as_str().unwrap(), "index" | "warm-up");
        let found: Vec<bool> = (0..3).map(|idx| says_alone(&step["systems"][idx])).collect();
        assert_eq!(found, [false, is_compared, false], "{step}");
    }
    bench.output(&["runs", "verify"]);
    bench.assert_tidy(&id);
}

#[test]
fn a_server_that_does_not_start_again_is_excluded_and_the_others_are_measured() {
    let bench = Bench::that_makes_data();
    let (_trees, programs) = plan_with_own(&bench);
    let text = fs::read_to_string(bench.path("plan.toml")).unwrap();
    bench.write("plan.toml", &text.replace("starts = 1", "starts = 1\nloads = 2"));
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    // All are up, and something is measured.
    running.await_line("update-index");
    fs::remove_file(programs.join("initdb")).unwrap();
    running.await_line("b: excluded: ");
    let said = running.finish();
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let summary = "1 of 3 systems not measured in all steps";
    assert!(said.stderr.contains(summary), "{}", said.stderr);
    let run = bench.latest();
    let steps = run["steps"].as_array().unwrap();
    let outcome = |step: &Value, system: usize| {
        step["systems"][system]["outcome"]["outcome"].as_str().unwrap().to_owned()
    };
    for step in steps {
        let of_b = if step["start"] == 0 { "done" } else { "pending" };
        assert_eq!([0, 1, 2].map(|i| outcome(step, i)), ["done", of_b, "done"], "{step}");
    }
    let text = bench.output(&["report", "--full"]);
    assert!(text.contains("b: excluded: start b: "), "{text}");
    bench.assert_tidy(&id);
}

/// The socket on which a process listens.
pub(crate) fn socket_of(pid: i32) -> PathBuf {
    let inode = |entry: fs::DirEntry| {
        let to = fs::read_link(entry.path()).ok()?;
        Some(to.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    };
    let files = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let inodes: Vec<String> = files.filter_map(inode).collect();
    // Num RefCount Protocol Flags Type St Inode Path; 00010000 are those that listen.
    let sockets = fs::read_to_string("/proc/net/unix").unwrap();
    let listens = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [_, _, _, "00010000", _, _, inode, path] = words[..] else { return None };
        (path.starts_with('/') && inodes.iter().any(|one| one == inode)).then(|| path.into())
    };
    sockets.lines().find_map(listens).expect("it listens on no socket")
}

#[test]
fn a_server_that_lets_nobody_in_costs_one_step() {
    for_each_family(|dbms, version| {
        let bench = Bench::impatient();
        let mut trees = write_plan(&bench, &short_plan(&[("a", dbms, version)], "sequential"));
        let when = When::Text(1, "SELECT c FROM sbtest1 WHERE id".to_owned());
        trees[0].fail(when, Fault::Refuse).unwrap();
        check_refusal(&bench, &bench.run(&["run", "plan.toml", "--no-html"]));
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_real_server_that_lets_nobody_in_costs_one_step() {
    let bench = Bench::new();
    bench.write("plan.toml", &plan(&[("a", "postgres", "11.22")], "sequential"));
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    running.await_line("point-query ");
    // Who is in stays in, and it goes on to answer them.
    fs::remove_file(socket_of(server_of(&bench, &running, &id, 0))).unwrap();
    check_refusal(&bench, &running.finish());
}

/// The server of the only system has let nobody in any more.
fn check_refusal(bench: &Bench, said: &Said) {
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let run = bench.latest();
    assert_eq!(run["status"], "finished");
    let [(step, 0, reason)] = &failed(&run)[..] else { panic!("{run}") };
    assert!(reason.contains("runs but lets no client in ("), "{step}: {reason}");
    assert!(reason.contains("No such file"), "{step}: {reason}");
    assert!(!started_again(&run, 0).is_empty(), "{run}");
    bench.assert_tidy(run["id"].as_str().unwrap());
}
