//! The Insert Benchmark as a user runs it: on the null client, and on real servers, one of which stalls.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rqps_model::{Lateness, Role, Run, StepOutcome};
use rqps_store::{RunRef, Store};

use crate::bench::{Bench, for_each_server};

fn plan(system: &str, rest: &str) -> String {
    format!(
        "name = 'insert'\n[[system]]\n{system}\n[[suite]]\nkind = 'insert'\nrows = 20_000\n\
         rows_later = 5_000\nclients = [2]\nseconds = {{ query = 1, wait = 0 }}\n{rest}\n\
         [schedule]\nstarts = 1\nmode = 'sequential'\nslices = 1\n"
    )
}

fn stored(bench: &Bench) -> Run {
    let store = Store::open_existing(&bench.path("rqps-results")).unwrap();
    store.select_run(&RunRef::Latest).unwrap()
}

/// Every step has its rate, its streams, and checks that passed.
fn assert_sound(run: &Run, holds: bool) {
    for step in &run.steps {
        let (name, state) = (&step.info.name, &step.systems[0]);
        assert_eq!(state.outcome, StepOutcome::Done, "{name}");
        assert!(!state.slices.is_empty(), "{name}");
        assert!(state.checks.iter().all(|check| check.passed), "{name}: {:?}", state.checks);
        let roles: Vec<Role> = state.slices[0].streams.iter().map(|s| s.role).collect();
        let wanted: &[Role] = match name.as_str() {
            "l.i0" | "l.x" => &[],
            "l.i1" | "l.i2" => &[Role::Delete],
            _ if holds => &[Role::Insert, Role::Delete, Role::Hold],
            _ => &[Role::Insert, Role::Delete],
        };
        assert_eq!(roles, wanted, "{name}");
        for slice in &state.slices {
            assert!(slice.n_operations > 0, "{name}");
            for stream in &slice.streams {
                assert!(stream.n_operations > 0, "{name}: {:?}", stream.role);
                let is_rated = name.starts_with('q') && stream.role != Role::Hold;
                assert_eq!(stream.target_per_s.is_some(), is_rated, "{name}");
            }
        }
    }
}

#[test]
fn every_step_runs_on_the_null_client() {
    let bench = Bench::new();
    for more in ["", "shared_table = true\nprotocol = 'text'\nrates = [50]"] {
        bench.write("plan.toml", &plan("dbms = 'null'", more));
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert_sound(&stored(&bench), false);
    }
    let run = stored(&bench);
    let names: Vec<&str> = run.steps.iter().map(|step| step.info.name.as_str()).collect();
    assert_eq!(names, ["l.i0", "l.x", "l.i1", "l.i2", "qr50", "qp50"]);
}

#[test]
#[ignore = "make test-all: real servers"]
fn the_benchmark_is_sound_on_real_servers() {
    for_each_server(|dbms, version| {
        let system = format!("dbms = '{dbms}'\nversion = '{version}'");
        for more in [
            "rates = [100]",
            "rates = [100]\nshared_table = true\nprotocol = 'text'",
            "rates = [100]\npartitions = 4",
        ] {
            if dbms == "postgres" && more.contains("partitions") && version.starts_with('9') {
                continue;
            }
            let bench = Bench::new();
            let holds = more.contains("partitions");
            let text = plan(&system, more);
            let with_hold = text.replace("query = 1,", "query = 1, hold = 1,");
            bench.write("plan.toml", if holds { &with_hold } else { &text });
            let said = bench.run(&["run", "plan.toml"]);
            assert_eq!(said.code(), 0, "{dbms} {version}, {more}: {}", said.stderr);
            let run = stored(&bench);
            assert_sound(&run, holds);
            let last = run.steps.last().unwrap();
            assert!(!last.systems[0].debt.is_empty(), "no debt was read");
        }
    });
}

/// The smallest server with the engine; it is in the cache for the tests of rqps-server.
#[test]
#[ignore = "make test-all: real servers"]
fn a_bulk_load_fills_the_tables_of_myrocks() {
    let bench = Bench::new();
    let system = "dbms = 'mariadb'\nversion = '10.11.19'\nengine = 'rocksdb'";
    bench.write("plan.toml", &plan(system, "bulk_load = true\nrates = [100]"));
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let run = stored(&bench);
    assert_sound(&run, false);
    let names: Vec<&str> = run.steps.iter().map(|step| step.info.name.as_str()).collect();
    assert_eq!(names, ["l.i0", "l.x", "l.i1", "l.i2", "qr100", "qp100"]);
    // Two clients with a table each.
    let n_rows: u64 = run.steps[0].systems[0].slices.iter().map(|slice| slice.n_operations).sum();
    assert_eq!(n_rows, 40_000);
}

#[test]
#[ignore = "make test-all: real servers"]
fn tables_that_are_not_compressed_as_meant_stop_the_run() {
    for_each_server(|dbms, version| {
        if dbms != "mariadb" {
            return;
        }
        let system = format!("dbms = '{dbms}'\nversion = '{version}'\ncompression = 'row'");
        let bench = Bench::new();
        let steps = "steps = ['l.i0', 'l.x']";
        bench.write("plan.toml", &plan(&system, steps));
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{dbms} {version}: {}", said.stderr);
        assert_sound(&stored(&bench), false);
        // Without a file of its own a table cannot be compressed, and without strictness it is made
        // all the same.
        let options = "options = { innodb_file_per_table = 0, innodb_strict_mode = 0 }";
        bench.write("plan.toml", &plan(&format!("{system}\n{options}"), steps));
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 2, "{dbms} {version}: {}", said.stderr);
        assert!(said.stderr.contains("expected compression = \"row\""), "{}", said.stderr);
    });
}

/// A stored histogram.
fn histogram(bytes: &[u8]) -> Histogram<u64> {
    Deserializer::new().deserialize(&mut &*bytes).unwrap()
}

/// Milliseconds below which `quantile` of the values of stored histograms lie.
fn quantile_ms<'a>(all: impl Iterator<Item = &'a Vec<u8>>, quantile: f64) -> u64 {
    let mut sum = Histogram::<u64>::new(3).unwrap();
    for bytes in all {
        sum.add(histogram(bytes)).unwrap();
    }
    sum.value_at_quantile(quantile) / 1_000_000
}

/// Waits until a run tells of itself that it measures its step `idx`.
fn await_measured(bench: &Bench, id: &str, idx: usize) {
    let path = bench.path(&format!("rqps-results/artifacts/{id}/live"));
    let since = Instant::now();
    loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        if text.contains(&format!("\"step_idx\":{idx},")) && text.contains("\"rates\":[{") {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(120), "{text}");
        pause(1);
    }
}

/// Waits until a system's next slice is `ms` old: its server was stopped, and has run for as long. It also
/// goes on for moments in which it is not measured. At once when it is gone.
fn await_slice(pid: i32, ms: u64) {
    let mut ran_since = None;
    while let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        if stat.rsplit(')').next().unwrap().trim_start().starts_with('T') {
            ran_since = Some(Instant::now());
        }
        if ran_since.is_some_and(|since| since.elapsed() >= Duration::from_millis(ms)) {
            return;
        }
        pause(1);
    }
}

#[expect(clippy::disallowed_methods, reason = "the stall's length is what is tested")]
fn pause(ms: u64) {
    std::thread::sleep(Duration::from_millis(ms));
}

/// Runs a plan, and stops the server of its only real system for a second in the middle of qr1000. Where
/// systems are interleaved, in the middle of three of its own.
fn stalled(text: &str) -> Run {
    let bench = Bench::new();
    bench.write("plan.toml", text);
    let mut running = bench.spawn(&["run", "plan.toml"]);
    let id = running.run_id();
    running.await_line(" l.x ");
    let server = bench.process_of(&id);
    let is_interleaved = text.contains("interleaved");
    await_measured(&bench, &id, 2);
    for _ in 0..if is_interleaved { 3 } else { 1 } {
        if is_interleaved {
            await_slice(server, 300);
        }
        let all = rqps_server::process::tree(server);
        // One may have ended meanwhile.
        let signal = |signal| {
            for pid in &all {
                let _ = kill(Pid::from_raw(*pid), signal);
            }
        };
        signal(Signal::SIGSTOP);
        pause(1000);
        signal(Signal::SIGCONT);
    }
    let said = running.finish();
    assert_eq!(said.code(), 0, "{}", said.stderr);
    stored(&bench)
}

/// What the inserts of qr1000 on the first system say of their delays.
fn assert_stall_is_seen(run: &Run, planned: f64, stalled_share: f64) {
    let step = run.steps.iter().find(|step| step.info.name == "qr1000").unwrap();
    let slices = &step.systems[0].slices;
    let inserts: Vec<_> =
        slices.iter().flat_map(|s| &s.streams).filter(|s| s.role == Role::Insert).collect();
    let times = |quantile| quantile_ms(inserts.iter().map(|s| &s.response_times), quantile);
    // 100 statements a second: those due in the stall waited for what was left of it.
    assert!(times(1.0) >= 900, "max {} ms", times(1.0));
    assert!(times(0.999) >= 850, "p99.9 {} ms", times(0.999));
    // Those that a stall meets wait evenly from 0 to 1 s: two thirds of them 300 ms and more.
    let some = 1.0 - stalled_share / 2.0;
    assert!(times(some) >= 300, "quantile {some}: {} ms", times(some));
    let longest = inserts.iter().flat_map(|s| &s.series).map(|point| point.max_ns).max();
    assert!(longest.unwrap() >= 900_000_000, "the series shows at most {longest:?} ns");
    let delayed = quantile_ms(inserts.iter().map(|s| &s.delays), some);
    assert!(delayed >= 300, "starts were delayed by {delayed} ms at {some}");
    // Nothing that was due is dropped: it came, or it is told of as missed, with the time that it waited.
    let lateness = |count: fn(&Lateness) -> u64| {
        inserts.iter().map(|s| count(&s.lateness.unwrap())).sum::<u64>()
    };
    let (due, missed) = (lateness(|l| l.n_due), lateness(|l| l.n_missed));
    assert_eq!(inserts.iter().map(|s| s.n_events).sum::<u64>() + missed, due);
    let n_delays: u64 = inserts.iter().map(|s| histogram(&s.delays).len()).sum();
    assert_eq!(n_delays, due, "delays of starts");
    // What a stall adds to the last slice is after the last start that was due.
    assert!(due as f64 >= 98.0 * planned, "{due} were due in {planned} s");
}

/// 100 statements a second.
const STALLED: &str = "rates = [1000]\nsteps = ['qr1000']\nrows_per_commit = [100, 50, 5, 10]";

#[test]
#[ignore = "make test-all: real servers"]
fn a_stall_of_the_server_is_seen_by_every_insert_that_it_delayed() {
    for_each_server(|dbms, version| {
        let text = plan(&format!("dbms = '{dbms}'\nversion = '{version}'"), STALLED);
        let text = text.replace("query = 1", "query = 7").replace("[2]", "[1]");
        let text = text.replace("'insert'\n[[system]]", "'stall-alone'\n[[system]]");
        // One of seven seconds.
        assert_stall_is_seen(&stalled(&text), 7.0, 1.0 / 7.0);
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_stall_in_a_slice_is_seen_as_well() {
    for_each_server(|dbms, version| {
        let systems = format!("dbms = '{dbms}'\nversion = '{version}'\n[[system]]\ndbms = 'null'");
        let text = plan(&systems, STALLED).replace("[2]", "[1]");
        let text = text.replace("'insert'\n[[system]]", "'stall-in-slice'\n[[system]]");
        // Eight slices of a second, as many of the null client between them; one of them stalls at least.
        let text = text.replace("'sequential'\nslices = 1", "'interleaved'\nslices = 8");
        assert_stall_is_seen(&stalled(&text), 8.0, 1.0 / 9.0);
    });
}
