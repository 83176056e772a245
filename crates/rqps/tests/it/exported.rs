//! `rqps runs export` and `rqps runs import`: a run on another host says what it said on its own.

use std::collections::BTreeSet;
use std::fs;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
use rqps_model::{
    HostCounters, ProcessCounters, Run, Schedule, SeriesPoint, Slice, StorageCounters, Usage,
    Waits, Windows,
};
use serde_json::Value;

use crate::bench::Bench;
use crate::stored::{run, store};

fn bench() -> Bench {
    let bench = Bench::new();
    store(&bench, &run(1, &["17.4", "18.0"], &[("point-query", &[19_000, 20_000])]));
    bench
}

#[test]
fn the_same_report_on_another_host() {
    let bench = bench();
    let id = "20261101-080000-nightly";
    assert_eq!(bench.output(&["runs", "export"]), format!("wrote {id}.tar.zst\n"));
    let there = |args: &[&str]| bench.output(&[&["--results", "there"], args].concat());
    assert_eq!(there(&["runs", "import", &format!("{id}.tar.zst")]), format!("imported {id}\n"));
    for format in ["terminal", "text", "markdown", "csv", "json", "html"] {
        let args = ["report", "--format", format];
        assert_eq!(there(&args), bench.output(&args), "{format}");
    }
    // By the name of the file alone, as the run's id.
    let named = bench.output(&["runs", "export", "20261101.tar.zst"]);
    assert_eq!(named, "wrote 20261101.tar.zst\n");
    let again = bench.run(&["--results", "there", "runs", "import", "20261101.tar.zst"]);
    assert_eq!(again.code(), 2, "{}", again.stdout);
    assert!(again.stderr.contains("is in the store already"), "{}", again.stderr);
}

/// A small archive has all percentiles, and no ratios of them.
#[test]
fn percentiles_of_a_small_archive() {
    let bench = Bench::new();
    let mut run = run(1, &["17.4", "18.0"], &[("point-query", &[19_000, 20_000])]);
    record(&mut run);
    store(&bench, &run);
    bench.output(&["runs", "export", "--small", "-o", "small.tar.zst"]);
    let results = |args: &[&str]| -> Vec<Value> {
        let text = bench.output(&[args, &["--format", "json"]].concat());
        let mut report: Value = serde_json::from_str(&text).unwrap();
        let systems = report["steps"][0]["systems"].as_array_mut().unwrap();
        std::mem::take(systems)
    };
    let (whole, small) = (results(&["report"]), results(&["report", "small.tar.zst"]));
    for (whole, small) in whole.iter().zip(&small) {
        assert!(whole["response_times"]["percentiles_ns"]["p99.9"].as_u64() > Some(100_000));
        for what in ["response_times", "figure", "rqps", "verdict", "windows", "totals"] {
            assert_eq!(whole[what], small[what], "{what}");
        }
    }
    let ratios = |of: &Value| of["comparison"]["response_times"].as_object().unwrap().len();
    assert_eq!((ratios(&whole[1]), ratios(&small[1])), (3, 0));
}

/// Gives each slice response times of its own.
fn record(run: &mut Run) {
    let systems = run.steps.iter_mut().flat_map(|step| &mut step.systems);
    for (at, slice) in (1..).zip(systems.flat_map(|system| &mut system.slices)) {
        let mut times = Histogram::<u64>::new(3).unwrap();
        (1..=2000).for_each(|i| times.record(i * at * 100).unwrap());
        V2DeflateSerializer::new().serialize(&times, &mut slice.response_times).unwrap();
    }
}

/// An interleaved run on two starts of the servers, with all that blocks have but response times.
fn interleaved() -> Run {
    let mut run = run(1, &["17.4", "18.0"], &[("point-query", &[19_000, 20_000])]);
    run.schedule = Schedule::interleaved(20, 6);
    let mut again = run.steps.clone();
    again.iter_mut().for_each(|step| step.start = 1);
    run.steps.extend(again);
    let systems = run.steps.iter_mut().flat_map(|step| &mut step.systems);
    (1..).zip(systems.flat_map(|system| &mut system.slices)).for_each(|(n, slice)| fill(slice, n));
    run
}

/// Makes a block of a slice, in which everything is a little different from the others.
fn fill(slice: &mut Slice, n: u32) {
    slice.n_rounds = Some(500);
    slice.start_unix_ms = i64::from(slice.idx) * 60_000;
    let counts = (0..500_u32).map(|i| 370 + (i * 7 + n) % 21).collect();
    slice.windows = Windows { length_ns: 20_000_000, counts };
    let second = |i: u32| SeriesPoint {
        queries: 19_000 + i + n,
        events: 19_000 + i + n,
        errors: 0,
        sum_ns: 990_000_000,
        max_ns: 2_000_000 + u64::from(i * n),
    };
    slice.series = (0..10).map(second).collect();
    slice.usage = usage(u64::from(n));
    let counters = [
        ("pg_stat_database.blks_hit", 570_000 + u64::from(n)),
        ("pg_stat_database.blks_read", 0),
        ("pg_stat_database.tup_returned", 190_000 + u64::from(n)),
        ("pg_stat_database.xact_commit", 190_000 + u64::from(n)),
    ];
    slice.counters = counters.map(|(name, value)| (name.to_owned(), value)).into();
}

/// What ten seconds on two CPUs used, `n` for some difference.
fn usage(n: u64) -> Usage {
    let ns = |ms: u64| ms * 1_000_000;
    let process = |ms: u64| ProcessCounters {
        cpu_user_ns: ns(ms / 10 * 7 + 10 * n),
        cpu_system_ns: ns(ms / 10 * 3),
        cpu_total_ns: ns(ms + 9 * n),
        rss_bytes: (100 + n) << 20,
        minor_faults: 1000 + n,
        major_faults: n,
        voluntary_switches: 40_000 + n,
        involuntary_switches: 100 + n,
        read_bytes: 4096 * n,
        write_bytes: 8192 * n,
        n_processes: 1,
        n_threads: 20,
    };
    Usage {
        wall_ns: ns(10_000),
        host: HostCounters {
            cpu_user_ns: ns(6500 + 20 * n),
            cpu_system_ns: ns(2700),
            cpu_idle_ns: ns(9600),
            cpu_iowait_ns: ns(300),
            cpu_steal_ns: ns(900),
            context_switches: 400_000 + n,
            procs_running: n,
            procs_blocked: 1,
            memory_available_bytes: n << 20,
            swap_in_pages: n,
            swap_out_pages: n,
            n_cpus: 2,
        },
        server: Some(process(7000)),
        client: process(1500),
        storage: Some(StorageCounters {
            reads: n,
            read_bytes: 4096 * n,
            writes: 30 + n,
            write_bytes: 8192 * (30 + n),
            busy_ns: ns(n),
        }),
        sampler_cpu_ns: ns(n),
        waits: Waits {
            server_run_wait_ns: Some(ns(60 + n)),
            served_cpu_ns: Some(ns(6900)),
            served_run_wait_ns: Some(ns(50 + n)),
            client_threads_cpu_ns: Some(ns(1450)),
            client_threads_run_wait_ns: Some(ns(20 + n)),
            io_stalled_ns: Some(ns(30 + n)),
        },
    }
}

/// Takes out of a report what a small archive of blocks lacks: their seconds, and ratios of percentiles.
fn cut(report: &mut Value) {
    match report {
        Value::Array(all) => all.iter_mut().for_each(cut),
        Value::Object(all) => {
            all.remove("queries_per_second");
            if let Some(Value::Object(comparison)) = all.get_mut("comparison") {
                comparison.remove("response_times");
            }
            all.values_mut().for_each(cut);
        }
        _ => {}
    }
}

/// A small archive of an interleaved run says all that the run says, except what
/// docs/how-to/export.md names.
#[test]
fn a_small_archive_of_an_interleaved_run() {
    let bench = Bench::new();
    store(&bench, &interleaved());
    bench.output(&["runs", "export", "--small", "-o", "small.tar.zst"]);
    let report = |of: &[&str], format: &str| bench.output(&[of, &["--format", format]].concat());
    for format in ["terminal", "text", "markdown", "csv"] {
        let (whole, small) = (&["report"][..], &["report", "small.tar.zst"][..]);
        assert_eq!(report(small, format), report(whole, format), "{format}");
    }
    let page = report(&["report", "small.tar.zst"], "html");
    assert!(page.contains("Queries per second, block by block"));

    let bench = Bench::new();
    let mut run = interleaved();
    record(&mut run);
    store(&bench, &run);
    bench.output(&["runs", "export", "--small", "-o", "small.tar.zst"]);
    let report = |of: &[&str]| -> Value {
        let text = bench.output(&[of, &["--format", "json"]].concat());
        let mut report = serde_json::from_str(&text).unwrap();
        cut(&mut report);
        report
    };
    let whole = report(&["report"]);
    let first = &whole["steps"][0]["systems"][0];
    assert!(first["response_times"]["percentiles_ns"]["p99.9"].is_u64(), "{first}");
    assert_eq!(report(&["report", "small.tar.zst"]), whole);
}

/// What stays behind is gone from its tables.
#[test]
fn rows_of_a_small_archive() {
    let bench = Bench::new();
    let mut run = interleaved();
    record(&mut run);
    store(&bench, &run);
    bench.output(&["runs", "export", "--small", "-o", "small.tar.zst"]);
    let there = |args: &[&str]| bench.output(&[&["--results", "there"], args].concat());
    there(&["runs", "import", "small.tar.zst"]);
    there(&["runs", "export", "--format", "json", "-o", "small.json"]);
    let text = fs::read_to_string(bench.path("small.json")).unwrap();
    let tables: Value = serde_json::from_str(&text).unwrap();
    assert!(tables.get("second").is_none() && tables.get("sample").is_none());
    let slices = tables["slice"].as_array().unwrap();
    assert_eq!(slices.len(), 24);
    for slice in slices {
        for column in ["client_rss_bytes", "host_swap_in_pages", "storage_busy_ns"] {
            assert_eq!(slice[column], 0, "{column}");
        }
        let counters = slice["dbms_counters"].as_str().unwrap();
        // A counter that stands still is not one that the server lacks.
        assert!(counters.contains(r#""pg_stat_database.blks_read":0"#), "{counters}");
        assert!(!counters.contains("xact_commit"), "{counters}");
        let has_memory = slice["server_rss_bytes"].as_u64().unwrap() > 0;
        assert_eq!(has_memory, slice["slice_idx"] == 5);
    }
    // One of each system for both starts, and one without a value.
    let times = slices.iter().map(|slice| slice["response_times"].as_str().unwrap());
    assert_eq!(times.collect::<BTreeSet<&str>>().len(), 3);
}

/// An archive is read where it lies, without a store.
#[test]
fn the_same_report_from_the_file() {
    let bench = bench();
    bench.output(&["runs", "export", "-o", "whole.tar.zst"]);
    bench.output(&["runs", "export", "--small", "-o", "small.tar.zst"]);
    let elsewhere = |args: &[&str]| bench.output(&[&["--results", "nowhere"], args].concat());
    for file in ["whole.tar.zst", "small.tar.zst"] {
        for format in ["terminal", "text", "csv", "json"] {
            let report = bench.output(&["report", "--format", format]);
            assert_eq!(elsewhere(&["report", file, "--format", format]), report, "{file}");
        }
        assert_eq!(elsewhere(&["gate", file]), bench.output(&["gate"]), "{file}");
    }
    let compared = elsewhere(&["compare", "whole.tar.zst", "small.tar.zst", "--format", "text"]);
    assert!(compared.contains("point-query"), "{compared}");
    assert!(!bench.path("nowhere").exists());
    let said = bench.run(&["report", "absent.tar.zst"]);
    assert_eq!(said.code(), 2, "{}", said.stdout);
    assert!(said.stderr.contains("cannot read absent.tar.zst"), "{}", said.stderr);
    let said = bench.run(&["runs", "export", "--small", "--format", "csv"]);
    assert_eq!(said.code(), 2, "{}", said.stdout);
    assert!(said.stderr.contains("cannot be used with"), "{}", said.stderr);
}

#[test]
fn half_an_archive_is_refused() {
    let bench = bench();
    bench.output(&["runs", "export", "-o", "run.tar.zst"]);
    let whole = fs::read(bench.path("run.tar.zst")).unwrap();
    fs::write(bench.path("half.tar.zst"), &whole[..whole.len() / 2]).unwrap();
    let said = bench.run(&["--results", "there", "runs", "import", "half.tar.zst"]);
    assert_eq!(said.code(), 2, "{}", said.stdout);
    assert!(said.stderr.contains("half.tar.zst is incomplete"), "{}", said.stderr);
    assert!(said.stderr.contains("Nothing was imported"), "{}", said.stderr);
    let list = bench.output(&["--results", "there", "runs", "list"]);
    assert!(list.starts_with("no runs yet"), "{list}");
}

#[test]
fn all_that_is_stored_for_other_programs() {
    let bench = bench();
    bench.output(&["runs", "export", "--format", "json", "-o", "run.json"]);
    let text = fs::read_to_string(bench.path("run.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["slice"].as_array().unwrap().len(), 12);
    assert_eq!(json["slice"][0]["figure_per_s"], 19_095.0);
    bench.output(&["runs", "export", "--format", "csv", "-o", "csv"]);
    let csv = fs::read_to_string(bench.path("csv/system.csv")).unwrap();
    assert!(csv.starts_with("run_id,system_idx,label,"), "{csv}");
    assert!(csv.contains("20261101-080000-nightly,0,pg174.small,postgres,heap"), "{csv}");
    let said = bench.run(&["runs", "export", "--format", "csv", "-o", "csv"]);
    assert_eq!(said.code(), 2, "{}", said.stdout);
    assert!(said.stderr.contains("csv is not empty"), "{}", said.stderr);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_files_of_all_tables() {
    let bench = bench();
    bench.output(&["runs", "export", "--format", "parquet"]);
    let parquet = fs::read(bench.path("20261101-080000-nightly.parquet/slice.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
}

#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_refused_in_a_build_without_it() {
    let bench = bench();
    let said = bench.run(&["runs", "export", "--format", "parquet"]);
    assert_eq!(said.code(), 2, "{}", said.stdout);
    let hint = "no Parquet support (`make dist` adds it); use --format csv or --format json";
    assert!(said.stderr.contains(hint), "{}", said.stderr);
    assert!(!bench.path("20261101-080000-nightly.parquet").exists());
}
