//! Runs on several starts of the servers.

use std::collections::BTreeSet;

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::bench::{Bench, assert_complete, for_each_server, warned};
use crate::fake::write_plan;

const PLAN: &str = "
    [[system]]
    dbms = 'null'
    [[system]]
    dbms = 'null'
    label = 'second'
    [[system]]
    dbms = 'null'
    label = 'third'
    [[suite]]
    rows = 100
    steps = ['point-query']
    clients = [1]
    seconds = { read = 0.05, warm_up = 0.001, fixed_at_most = 0.01 }
    [schedule]
    mode = 'sequential'
    slices = 1
    starts = 4
    seed = 7
";

/// The steps of a run of that name, one for each start.
fn steps_named<'r>(run: &'r Value, name: &str) -> Vec<&'r Value> {
    let steps = run["steps"].as_array().unwrap().iter();
    steps.filter(|step| step["info"]["name"] == name).collect()
}

#[test]
fn systems_come_in_another_order_on_each_start() {
    let bench = Bench::new();
    bench.write("plan.toml", PLAN);
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 1);
    let orders: Vec<Vec<usize>> = steps_named(&run, "point-query").into_iter().map(order).collect();
    assert_eq!(orders.len(), 4);
    assert!(orders.iter().any(|order| *order != orders[0]), "{orders:?}");
}

/// The systems of a step by the start of their slices.
fn order(step: &Value) -> Vec<usize> {
    let systems = step["systems"].as_array().unwrap().iter().enumerate();
    let mut starts: Vec<(i64, usize)> = systems
        .map(|(idx, system)| (system["slices"][0]["start_unix_ms"].as_i64().unwrap(), idx))
        .collect();
    starts.sort_unstable();
    starts.into_iter().map(|(_, idx)| idx).collect()
}

/// Two starts of interleaved systems; each step is long enough to be met.
const INTERLEAVED: &str = "
    [[system]]
    dbms = 'null'
    [[system]]
    dbms = 'null'
    label = 'second'
    [[suite]]
    rows = 100
    steps = ['point-query', 'range-covered-pk', 'update-index']
    clients = [1]
    seconds = { read = 0.2, write = 0.2, warm_up = 0.001, fixed_at_most = 0.01 }
    [schedule]
    slice = '20ms'
    slices = 2
    starts = 2
    seed = 7
";

#[test]
fn an_interleaved_run_killed_on_its_second_start_resumes_there() {
    let bench = Bench::new();
    bench.write("plan.toml", INTERLEAVED);
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    running.await_line("start 2 of 3 of the servers");
    running.await_line("point-query");
    running.signal(Signal::SIGKILL);
    assert_eq!(running.finish().code(), 128 + 9);
    let before = bench.latest();
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains(&format!("run {id} resumes: ")), "{}", said.stderr);
    // The first start is over: its servers are not started once more.
    assert!(!said.stderr.contains("start 1 of 3"), "{}", said.stderr);
    let run = bench.latest();
    assert_complete(&run, 4);
    let starts: Vec<&Value> =
        steps_named(&run, "update-index").into_iter().map(|step| &step["start"]).collect();
    assert_eq!(starts, [0, 1]);
    let (old, new) = (before["steps"].as_array().unwrap(), run["steps"].as_array().unwrap());
    for (old, new) in old.iter().zip(new) {
        let name = &new["info"]["name"];
        for system in 0..2 {
            let there = old["systems"][system]["slices"].as_array().unwrap();
            let now = new["systems"][system]["slices"].as_array().unwrap();
            assert_eq!(there[..], now[..there.len()], "{name}");
            let is_marked = |slice: &Value| {
                slice["warnings"].as_array().unwrap().iter().any(|mark| mark["kind"] == "resumed")
            };
            // The null client has no data to resume with, on this start and on those after it.
            assert!(now[there.len()..].iter().all(is_marked), "{name}");
        }
    }
    assert!(!warned(&run, "resumed").is_empty());
    let text = bench.output(&["report", "--full"]);
    assert!(text.contains("Each step was measured on 2 starts of the servers"), "{text}");
}

/// Two fake servers on three starts: reads, then writes, in five launches.
fn on_the_same_data(mode: &str) -> String {
    format!(
        "name = 'restarted'\n\
         [[system]]\nlabel = 'a'\ndbms = 'postgres'\nversion = '11.22'\n\
         [[system]]\nlabel = 'b'\ndbms = 'postgres'\nversion = '11.22'\n\
         [[suite]]\nrows = 2_000\nclients = [1]\nsteps = ['point-query.pre', 'update-index', 'update-nonindex']\n\
         seconds = {{ read = 0.3, write = 0.3, warm_up = 0.02, fixed_at_most = 0.1 }}\n\
         [schedule]\nmode = '{mode}'\nslices = 2\nstarts = 3\n"
    )
}

/// The warnings of all slices, each once.
fn kinds_of_warnings(run: &Value) -> BTreeSet<String> {
    let steps = run["steps"].as_array().unwrap().iter();
    let systems = steps.flat_map(|step| step["systems"].as_array().unwrap());
    let slices = systems.flat_map(|system| system["slices"].as_array().unwrap());
    let warnings = slices.flat_map(|slice| slice["warnings"].as_array().unwrap());
    warnings.map(|warning| warning["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn servers_are_started_again_on_their_data() {
    for mode in ["interleaved", "sequential"] {
        let bench = Bench::new();
        let _trees = write_plan(&bench, &on_the_same_data(mode));
        let said = bench.run(&["run", "plan.toml", "--no-html"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert!(said.stderr.contains("start 5 of 5 of the servers"), "{}", said.stderr);
        assert!(!said.stderr.contains("filled again"), "{}", said.stderr);
        let run = bench.latest();
        assert_eq!(
            (steps_named(&run, "load").len(), run["status"].as_str()),
            (1, Some("finished"))
        );
        for name in ["point-query.pre", "update-index", "update-nonindex"] {
            let starts: Vec<&Value> =
                steps_named(&run, name).into_iter().map(|step| &step["start"]).collect();
            assert_eq!(starts, [0, 1, 2], "{name}");
        }
        // What was planned is nothing to warn of.
        let kinds = kinds_of_warnings(&run);
        assert!(!kinds.contains("started-again") && !kinds.contains("resumed"), "{kinds:?}");
        let id = run["id"].as_str().unwrap();
        for (system, launch) in [(0, ""), (1, "-start-2"), (1, "-start-5")] {
            let log = format!("rqps-results/artifacts/{id}/server-{system}{launch}.log");
            assert!(bench.path(&log).is_file(), "{log}");
        }
        let text = bench.output(&["report", "--full"]);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("Each step was measured on 3 starts of the servers."), "{text}");
        bench.assert_tidy(id);
    }
}

#[test]
fn a_run_that_is_interrupted_after_a_restart_goes_on_with_the_data() {
    let bench = Bench::new();
    let _trees = write_plan(&bench, &on_the_same_data("interleaved"));
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    running.await_line("start 4 of 5 of the servers");
    // The first step of the launch has ended.
    running.await_line("queries/s");
    running.signal(Signal::SIGINT);
    assert_eq!(running.finish().code(), 130);
    bench.assert_left(&id);
    let said = bench.run(&["run", "plan.toml", "--no-html"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(!said.stderr.contains("filled again"), "{}", said.stderr);
    assert!(!said.stderr.contains("start 3 of 5"), "{}", said.stderr);
    let run = bench.latest();
    assert_eq!(run["status"], "finished");
    // The launch that was broken off has a warning; the one after it is as planned.
    let of_start = |start: u64| -> bool {
        let steps = steps_named(&run, "update-nonindex").into_iter();
        let step = steps.into_iter().find(|step| step["start"] == start).unwrap();
        step.to_string().contains("started-again")
    };
    assert!(of_start(1) && !of_start(2), "{}", said.stderr);
    bench.assert_tidy(&id);
}

#[test]
#[ignore = "make test-all: real servers"]
fn real_servers_are_started_again_on_their_data_by_default() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let system = |label: &str| {
            format!("[[system]]\nlabel = '{label}'\ndbms = '{dbms}'\nversion = '{version}'\n")
        };
        let plan = format!(
            "{}{}[[suite]]\nrows = 20_000\nclients = [1]\nsteps = ['point-query.pre', 'update-index']\n\
             seconds = {{ warm_up = 0.2, fixed_at_most = 0.5, read = 0.5 }}\n[schedule]\nbudget = '2s'\n",
            system("a"),
            system("b")
        );
        bench.write("plan.toml", &plan);
        let said = bench.run(&["run", "plan.toml", "--no-html", "--null"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        // Four starts of reads and four of writes; the last of reads is the first of writes.
        assert!(said.stderr.contains("start 7 of 7 of the servers"), "{}", said.stderr);
        let run = bench.latest();
        assert_eq!(run["systems"].as_array().unwrap().len(), 3);
        for name in ["point-query.pre", "update-index"] {
            assert_eq!(steps_named(&run, name).len(), 4, "{name}");
        }
        let kinds = kinds_of_warnings(&run);
        assert!(!kinds.contains("started-again") && !kinds.contains("resumed"), "{kinds:?}");
        let text =
            bench.output(&["report", "--full"]).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("Each step was measured on 4 starts of the servers."), "{text}");
        assert!(text.contains("a-again is a again, as a separate server."), "{text}");
        bench.assert_tidy(run["id"].as_str().unwrap());
    });
}

/// Two of PostgreSQL whose caches are more than half of the memory each: nothing ever fills them.
fn too_large(memory_bytes: u64) -> String {
    let cache_mb = memory_bytes * 6 / 10 / (1 << 20);
    let system = |label: &str| {
        format!(
            "[[system]]\nlabel = '{label}'\ndbms = 'postgres'\nversion = '11.22'\n\
             options = {{ shared_buffers = '{cache_mb}MB' }}\n"
        )
    };
    format!(
        "name = 'large'\n{}{}[[suite]]\nrows = 1000\nsteps = ['point-query']\nclients = [1]\n\
         seconds = {{ read = 5, warm_up = 0.05, fixed_at_most = 0.1 }}\n\
         [schedule]\nbudget = '2s'\nprecision = '1%'\n",
        system("a"),
        system("b")
    )
}

#[test]
#[ignore = "make test-all: takes long"]
fn systems_that_do_not_fit_together_are_measured_one_after_the_other() {
    let bench = Bench::new();
    let memory_bytes = rqps_sample::host_info(bench.dir()).unwrap().memory_bytes;
    let _trees = write_plan(&bench, &too_large(memory_bytes));
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    for words in [
        "the systems do not fit into memory together (caches of a ",
        "one after the other, with 4 starts each, in a new random order",
        "; the budget is 2 slices of 0.25 s on each start; no step ends early",
        "start 4 of 4 of the servers",
    ] {
        assert!(said.stderr.contains(words), "no {words:?} in {}", said.stderr);
    }
    let run = bench.latest();
    assert_complete(&run, 2);
    assert_eq!(run["schedule"]["mode"], "sequential");
    let steps = steps_named(&run, "point-query");
    assert_eq!(steps.len(), 4);
    for slice in steps.iter().flat_map(|step| step["systems"][1]["slices"].as_array().unwrap()) {
        assert!(slice["duration_ns"].as_u64().unwrap() >= 250_000_000, "{slice}");
    }
    let text = bench.output(&["report", "--full"]);
    assert!(text.contains("do not fit into memory together"), "{text}");
    bench.assert_tidy(run["id"].as_str().unwrap());
}
