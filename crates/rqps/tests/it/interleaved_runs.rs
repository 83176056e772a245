//! Interleaved runs: on the null client, and on real servers that are broken off while some of them
//! are stopped.

use std::fs;
use std::time::Instant;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::bench::{
    Bench, DEADLINE, Running, assert_complete, for_one_server, pause, processes, slices, warned,
};
use crate::fake::{for_each_family, write_plan};
use crate::null_client::assert_follows_schema;

/// Three systems interleaved; each step is measured for 160 ms on each.
const NULL: &str = r#"
name = "interleaved"
base = "null"
[[system]]
dbms = "null"
[[system]]
dbms = "null"
label = "again"
[[system]]
dbms = "null"
label = "third"
[[suite]]
rows = 1000
clients = [1, 2]
steps = ["point-query", "update-index", "insert"]
seconds = { read = 0.08, write = 0.08, insert = 0.08, warm_up = 0.002, fixed_at_most = 0.02 }
[schedule]
slice = "20ms"
slices = 2
seed = 7
"#;

#[test]
fn systems_are_interleaved() {
    let bench = Bench::new();
    bench.write("plan.toml", NULL);
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 8);
    assert_eq!(run["schedule"]["mode"], "interleaved");
    for step in run["steps"].as_array().unwrap() {
        let name = step["info"]["name"].as_str().unwrap();
        // All systems do the same events in the same blocks.
        if matches!(step["info"]["kind"].as_str(), Some("warm-up" | "load" | "index")) {
            continue;
        }
        for system in 0..3 {
            assert_eq!(slices(step, 0), slices(step, system), "{name}");
            for block in step["systems"][system]["slices"].as_array().unwrap() {
                assert_eq!(block["n_rounds"], 1, "{name}");
                let ns = block["duration_ns"].as_u64().unwrap();
                let n = block["n_operations"].as_u64().unwrap();
                assert!(ns >= 20_000_000 && n > 0, "{name}: {n} in {ns} ns");
                // Time and CPU of the slices alone: what lies between them is excluded.
                let wall_ns = block["usage"]["wall_ns"].as_u64().unwrap();
                assert!(wall_ns >= ns, "{name}: {ns} in {wall_ns} ns");
                let windows = block["windows"]["counts"].as_array().unwrap();
                assert_eq!(windows.len(), 1, "{name}");
            }
        }
    }
    assert!(said.stdout.contains("again"), "{}", said.stdout);
    let text = bench.output(&["report", "--full"]);
    assert!(text.contains("The systems were interleaved: slices of 20 ms"), "{text}");
    assert_follows_schema(&bench.json(&["report", "--format", "json"]));
    bench.output(&["report", "--format", "html", "-o", "page.html"]);
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.contains("interleaved: all systems up, slices of 20 ms"));
    // The same plan one system after the other.
    let said = bench.run(&["run", "plan.toml", "--schedule", "sequential", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert_complete(&bench.latest(), 2);
}

#[test]
fn an_interrupted_run_resumes_where_it_was() {
    let bench = Bench::new();
    bench.write("plan.toml", &NULL.replace("0.08", "0.12"));
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    running.await_line("queries/s");
    running.signal(Signal::SIGINT);
    let said = running.finish();
    assert_eq!(said.code(), 130, "{}", said.stderr);
    let before = stored(&bench.latest());
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains(&format!("run {id} resumes: ")), "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 8);
    let after = stored(&run);
    assert!(!before.is_empty() && before.iter().all(|s| after.contains(s)), "a block was lost");
    assert!(!warned(&run, "resumed").is_empty());
}

#[test]
fn a_system_that_does_not_start_is_excluded_and_the_others_are_interleaved() {
    let gone = "dsn = 'mysql://nobody@127.0.0.1:1/x'\n";
    let plan = |idx: usize, n: usize| {
        let system = |at: usize| {
            let what = if at == idx { gone } else { "dbms = 'null'\n" };
            format!("[[system]]\nlabel = 's{at}'\n{what}")
        };
        format!(
            "{}[[suite]]\nrows = 1000\nsteps = ['point-query']\n\
             [suite.seconds]\nread = 0.05\nwarm_up = 0.05\nfixed_at_most = 0.05\n\
             [schedule]\nstarts = 1\nmode = 'interleaved'\nslices = 2\n",
            (0..n).map(system).collect::<String>()
        )
    };
    let bench = Bench::new();
    bench.write("plan.toml", &plan(1, 3));
    for n_resumed in [0, 1] {
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains("s1: excluded: start s1: open a connection"));
        assert!(said.stderr.contains("1 of 3 systems not measured in all steps:"));
        let run = bench.latest();
        assert_eq!((&run["status"], &run["n_resumed"]), (&"failed".into(), &n_resumed.into()));
        for step in run["steps"].as_array().unwrap() {
            let done = [0, 1, 2].map(|idx| step["systems"][idx]["outcome"]["outcome"] == "done");
            assert_eq!(done, [true, false, true], "{step}");
        }
    }
    let report = bench.output(&["report", "--full"]);
    assert!(report.contains("s1: excluded: start s1: "), "{report}");
    // Without the base, or with the base alone, nothing is compared.
    let ends = [
        (0, 3, "the run ends, as s0 is its base: start s0: open a connection"),
        (1, 2, "without s1 no system can be compared with s0: start s1: open a connection"),
    ];
    for (idx, n, words) in ends {
        bench.write("plan.toml", &plan(idx, n));
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains(words), "no {words:?} in {}", said.stderr);
        assert!(!said.stderr.contains("excluded"), "{}", said.stderr);
    }
}

#[test]
fn caches_that_do_not_fit_at_all_are_refused() {
    let bench = Bench::new();
    let huge = "options = { shared_buffers = \"100TB\" }\n";
    let system = |label: &str| {
        format!("[[system]]\nlabel = {label:?}\ndbms = \"postgres\"\nversion = \"11.22\"\n{huge}")
    };
    bench.write("plan.toml", &format!("{}{}", system("a"), system("b")));
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    for words in ["a does not fit into memory", "caches of 104857600 MB", "make its caches smaller"]
    {
        assert!(said.stderr.contains(words), "no {words:?} in {}", said.stderr);
    }
    assert_eq!(bench.json(&["runs", "list", "--json"]), serde_json::json!([]));
}

#[test]
fn a_step_ends_when_it_is_precise() {
    let bench = Bench::new();
    let plan = NULL.replace("slices = 2", "budget = \"3s\"\nprecision = \"50%\"");
    bench.write("plan.toml", &plan.replace("[1, 2]", "[1]"));
    let said = bench.run(&["run", "plan.toml", "--steps", "point-query", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    let steps = run["steps"].as_array().unwrap();
    let read = steps.iter().find(|step| step["info"]["name"] == "point-query").unwrap();
    // Of 20 blocks of 150 ms, the twelve before which no width is believed; fewer where a host held them up
    // until their time was over, but for half a block.
    let n = slices(read, 0).len();
    let spent = |system: &Value| -> u64 {
        let blocks = system["slices"].as_array().unwrap().iter();
        blocks.map(|block| block["duration_ns"].as_u64().unwrap()).sum()
    };
    let spent_ns = read["systems"].as_array().unwrap().iter().map(spent).max();
    assert!(n < 20 && (n >= 12 || spent_ns > Some(2_925_000_000)), "{n} blocks, {spent_ns:?} ns");
    assert_eq!((slices(read, 1).len(), slices(read, 2).len()), (n, n));
    assert_eq!(run["status"], "finished");
    // It is done: the same command has nothing to resume.
    let mut running = bench.spawn(&["run", "plan.toml", "--steps", "point-query", "--no-html"]);
    running.run_id();
    running.signal(Signal::SIGINT);
    assert_eq!(running.finish().code(), 130);
    assert_eq!(bench.json(&["runs", "list", "--json"]).as_array().unwrap().len(), 2);
}

/// So many of PostgreSQL, with so many clients each.
fn of_postgres(n: usize, clients: u32) -> String {
    let system =
        |n: usize| format!("[[system]]\nlabel = 's{n}'\ndbms = 'postgres'\nversion = '11.22'\n");
    let systems: String = (0..n).map(system).collect();
    format!(
        "{systems}[[suite]]\nrows = 1000\nsteps = ['point-query']\nclients = [{clients}]\n\
         seconds = {{ read = 2.0, warm_up = 0.05, fixed_at_most = 0.1 }}\n\
         [schedule]\nstarts = 1\nmode = 'interleaved'\nslices = 1\n"
    )
}

#[test]
fn more_clients_than_open_files_are_refused_before_anything_is_fetched() {
    let bench = Bench::new();
    bench.write("plan.toml", &of_postgres(3, 64));
    let said = bench.run_after("ulimit -n 400", &["run", "plan.toml"]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let words = "64 connections on each of 3 interleaved systems need 544 open files, and rqps may \
                 have 400: raise the hard limit (ulimit -Hn 544), or use fewer clients or mode = \
                 \"sequential\"";
    assert!(said.stderr.contains(words), "{}", said.stderr);
    assert_eq!(bench.json(&["runs", "list", "--json"]), serde_json::json!([]));
}

#[test]
fn the_limit_of_open_files_is_raised_where_it_can_be() {
    let bench = Bench::new();
    let plan = of_postgres(2, 20).replace("read = 2.0", "read = 0.16");
    let _trees = write_plan(&bench, &plan);
    let said = bench.run_after("ulimit -Sn 50", &["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert_complete(&bench.latest(), 8);
}

#[test]
fn of_three_systems_two_wait() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let third = format!("[[system]]\nlabel = 'c'\ndbms = {dbms:?}\nversion = {version:?}\n");
        let plan = short_plan(dbms, version).replace("[[suite]]", &format!("{third}[[suite]]"));
        let _trees = write_plan(&bench, &plan);
        let mut running = bench.spawn(&["run", "plan.toml", "--steps", "point-query"]);
        let id = running.run_id();
        let since = Instant::now();
        let is_stopped = |pid: &i32| state(*pid).is_some_and(|(letter, _)| letter == 'T');
        let waits =
            |system: &i32| bench.processes_of(&format!("{id}-{system}")).iter().any(is_stopped);
        while (0..3).filter(waits).count() < 2 {
            assert!(since.elapsed() < DEADLINE, "no two were stopped");
            pause();
        }
        let said = running.finish();
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert_complete(&run, 8);
        assert_figures(&run);
        bench.assert_tidy(&id);
    });
}

/// The CPUs that a process may run on: proc(5), `Cpus_allowed_list`.
fn cpus_of(pid: i32) -> Option<Vec<usize>> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let list = text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let cpus = list.trim().parse::<rqps_model::CpuSet>().ok()?;
    Some(cpus.numbers().to_vec())
}

#[test]
fn split_gives_the_server_one_half_of_the_cpus() {
    let own = cpus_of(std::process::id().cast_signed()).unwrap();
    if own.len() < 2 {
        eprintln!("skipped: one CPU cannot be split");
        return;
    }
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let _trees = write_plan(&bench, &short_plan(dbms, version));
        let args = ["run", "plan.toml", "--placement", "split", "--steps", "point-query"];
        let mut running = bench.spawn(&args);
        let id = running.run_id();
        let since = Instant::now();
        let half = Some(own[..own.len() / 2].to_vec());
        while !bench.processes_of(&id).iter().any(|&pid| cpus_of(pid) == half) {
            assert!(since.elapsed() < DEADLINE, "no server was ever on {half:?}");
            pause();
        }
        let said = running.finish();
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = bench.latest();
        assert_complete(&run, 8);
        let steps = run["steps"].as_array().unwrap().iter();
        let read = steps.filter(|step| step["info"]["kind"] == "read");
        assert!(read.clone().count() > 0 && read.clone().all(|step| step["placement"] == "split"));
        bench.assert_tidy(&id);
    });
}

/// All slices and blocks that are stored.
pub(crate) fn stored(run: &Value) -> Vec<Value> {
    let steps = run["steps"].as_array().unwrap().iter();
    steps
        .flat_map(|step| step["systems"].as_array().unwrap())
        .flat_map(|system| system["slices"].as_array().unwrap())
        .cloned()
        .collect()
}

pub(crate) fn plan(dbms: &str, version: &str) -> String {
    let system = |label: &str| {
        format!("[[system]]\nlabel = {label:?}\ndbms = {dbms:?}\nversion = {version:?}\n")
    };
    format!(
        "name = 'interleaved'\n{}{}[[suite]]\nrows = 20_000\nclients = [2]\n\
         steps = ['point-query', 'scan', 'update-index']\n\
         [suite.seconds]\nread = 1.2\nwrite = 1.2\nwarm_up = 0.1\nfixed_at_most = 0.2\n\
         [schedule]\nstarts = 1\nmode = 'interleaved'\nslices = 2\n",
        system("a"),
        system("b")
    )
}

/// The same for fake servers, which need less time.
pub(crate) fn short_plan(dbms: &str, version: &str) -> String {
    plan(dbms, version)
        .replace("= 1.2", "= 0.2")
        .replace("warm_up = 0.1", "warm_up = 0.02")
        .replace("fixed_at_most = 0.2", "fixed_at_most = 0.05")
        .replace("20_000", "2_000")
}

/// State letter and parent of a process; `None` when it is gone.
fn state(pid: i32) -> Option<(char, i32)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut words = text.rsplit_once(") ")?.1.split(' ');
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}

/// The run's servers: the first process of each, and whether all of its processes are stopped.
pub(crate) fn servers(bench: &Bench, id: &str) -> Vec<(i32, bool)> {
    let all = bench.processes_of(id);
    let states: Vec<_> = all.iter().filter_map(|&pid| Some((pid, state(pid)?))).collect();
    let parent = |pid: i32| states.iter().find(|(other, _)| *other == pid).map(|(_, s)| s.1);
    let root = |mut pid: i32| {
        while let Some(above) = parent(pid).filter(|above| all.contains(above)) {
            pid = above;
        }
        pid
    };
    let mut servers: Vec<(i32, bool)> = Vec::new();
    for &(pid, (letter, _)) in states.iter().filter(|(_, (letter, _))| *letter != 'Z') {
        let is_stopped = letter == 'T';
        match servers.iter_mut().find(|(first, _)| *first == root(pid)) {
            Some((_, all_stopped)) => *all_stopped &= is_stopped,
            None => servers.push((root(pid), is_stopped)),
        }
    }
    servers
}

/// Waits until one of the run's servers is stopped with all its processes, and gives the first of these.
fn stopped(bench: &Bench, id: &str) -> i32 {
    let since = Instant::now();
    loop {
        if let Some((pid, _)) = servers(bench, id).into_iter().find(|(_, is_stopped)| *is_stopped) {
            return pid;
        }
        let all = bench.processes_of(id);
        assert!(since.elapsed() < DEADLINE, "none of {all:?} was ever stopped");
        pause();
    }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let since = Instant::now();
    while !done() {
        assert!(since.elapsed() < DEADLINE, "{what}");
        pause();
    }
}

/// Starts or resumes the run, and waits for a slice of its next step.
fn in_a_slice(bench: &Bench) -> (Running, String, i32) {
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    if !bench.has_tables(&id) {
        // Loads are interleaved as well.
        running.await_line("indexed rows/s");
    }
    let pid = stopped(bench, &id);
    (running, id, pid)
}

#[test]
#[ignore = "make test-all: takes long"]
fn whatever_ends_a_run_nothing_stays_stopped_or_running() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let _trees = write_plan(&bench, &short_plan(dbms, version));
        check_every_end(&bench);
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn whatever_ends_a_run_no_real_server_stays_stopped_or_running() {
    for_one_server(|dbms, version| {
        let bench = Bench::new();
        bench.write("plan.toml", &plan(dbms, version));
        check_every_end(&bench);
    });
}

fn check_every_end(bench: &Bench) {
    // By the user, or by whoever stops services.
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        let (running, id, _) = in_a_slice(bench);
        running.signal(signal);
        let said = running.finish();
        assert_eq!(said.code(), 130, "{}", said.stderr);
        bench.assert_left(&id);
    }
    // By a user who does not wait for a clean end.
    let (running, id, _) = in_a_slice(bench);
    running.signal(Signal::SIGINT);
    // Two at once would be one.
    pause();
    running.signal(Signal::SIGINT);
    assert_eq!(running.finish().code(), 130);
    bench.await_no_process(&id);
    // By the death of rqps, which leaves the data for the next attempt.
    let (mut running, _, _) = in_a_slice(bench);
    running.await_line("queries/s");
    running.signal(Signal::SIGKILL);
    assert_eq!(running.finish().code(), 128 + 9);
    bench.await_no_process(&id);
    let before = stored(&bench.latest());
    // And then it is resumed to its end.
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 8);
    let after = stored(&run);
    assert!(!before.is_empty() && before.iter().all(|s| after.contains(s)), "a block was lost");
    assert_figures(&run);
    assert_follows_schema(&bench.json(&["report", "--format", "json"]));
    bench.assert_tidy(&id);
}

/// The watchdog of a run, once it has one that is not the one before.
fn watchdog_of(running: &Running, before: Option<i32>) -> i32 {
    let mut found = None;
    until("no watchdog, or the one before", || {
        let all = processes(|text| text.contains("watchdog"));
        found = all.into_iter().find(|&pid| {
            Some(pid) != before
                && state(pid).is_some_and(|(letter, above)| letter != 'Z' && above == running.pid())
        });
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn a_watchdog_that_is_killed_has_a_successor() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let _trees = write_plan(&bench, &short_plan(dbms, version));
        let (running, id, _) = in_a_slice(&bench);
        let first = watchdog_of(&running, None);
        // It may have ended with its step by now.
        let _ = kill(Pid::from_raw(first), Signal::SIGKILL);
        watchdog_of(&running, Some(first));
        let _ = stopped(&bench, &id);
        running.signal(Signal::SIGKILL);
        assert_eq!(running.finish().code(), 128 + 9);
        bench.await_no_process(&id);
    });
}

#[test]
#[ignore = "make test-all: takes long"]
fn a_run_that_is_suspended_stops_no_server_with_it() {
    for_each_family(|dbms, version| {
        let bench = Bench::new();
        let _trees = write_plan(&bench, &short_plan(dbms, version));
        let (running, id, _) = in_a_slice(&bench);
        running.signal(Signal::SIGTSTP);
        until("not suspended", || state(running.pid()).is_some_and(|(letter, _)| letter == 'T'));
        assert!(
            servers(&bench, &id).iter().all(|(_, is_stopped)| !is_stopped),
            "{:?}",
            servers(&bench, &id)
        );
        running.signal(Signal::SIGCONT);
        let _ = stopped(&bench, &id);
        let said = running.finish();
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert_complete(&bench.latest(), 8);
        bench.assert_tidy(&id);
    });
}

#[test]
fn the_watchdog_needs_nothing_of_its_surroundings() {
    let bench = Bench::new();
    bench.write("config", "no directory");
    let mut command = bench.command(&["watchdog"]);
    command.env_clear().env("XDG_CONFIG_HOME", bench.path("config"));
    let output = command.output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!((output.status.code(), &output.stdout[..]), (Some(0), &b"ready\n"[..]), "{words}");
}

#[test]
fn steps_that_are_shorter_than_a_slice_are_measured() {
    let bench = Bench::new();
    let plan = NULL.replace("0.08", "0.04").replace("\"20ms\"", "\"5s\"");
    bench.write("plan.toml", &plan.replace("slices = 2", "slices = 1"));
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert_complete(&bench.latest(), 1);
}

/// Every block of every system did something and used CPU of its own server, and no more of it than
/// the CPUs could give in its slices.
fn assert_figures(run: &Value) {
    for step in run["steps"].as_array().unwrap() {
        for system in step["systems"].as_array().unwrap() {
            for block in system["slices"].as_array().unwrap() {
                let name = &step["info"]["name"];
                let number = |value: &Value| value.as_u64().unwrap();
                assert!(number(&block["n_operations"]) > 0, "{name}");
                let server = number(&block["usage"]["server"]["cpu_total_ns"]);
                let wall = number(&block["usage"]["wall_ns"]);
                let host = wall * number(&block["usage"]["host"]["n_cpus"]);
                // Clocks of the scheduler and of the slices' ends differ by some milliseconds.
                assert!(
                    server > 0 && server < host * 11 / 10 + 50_000_000,
                    "{name}: {server} of {host}"
                );
            }
        }
    }
}
