//! `rqps runs export` and `rqps runs import`: a run on another host says what it said on its own.

use std::fs;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2DeflateSerializer};
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
    let slices = run.steps.iter_mut().flat_map(|step| &mut step.systems);
    for (at, slice) in (1..).zip(slices.flat_map(|system| &mut system.slices)) {
        let mut times = Histogram::<u64>::new(3).unwrap();
        (1..=2000).for_each(|i| times.record(i * at * 100).unwrap());
        V2DeflateSerializer::new().serialize(&times, &mut slice.response_times).unwrap();
    }
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
    assert!(said.stderr.contains("Nothing was taken from it"), "{}", said.stderr);
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
    bench.output(&["runs", "export", "--format", "parquet"]);
    let parquet = fs::read(bench.path("20261101-080000-nightly.parquet/slice.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let said = bench.run(&["runs", "export", "--format", "csv", "-o", "csv"]);
    assert_eq!(said.code(), 2, "{}", said.stdout);
    assert!(said.stderr.contains("csv is not empty"), "{}", said.stderr);
}
