//! `rqps runs export` and `rqps runs import`: a run on another host says what it said on its own.

use std::fs;

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
    bench.output(&["runs", "export", "--format", "parquet"]);
    let parquet = fs::read(bench.path("20261101-080000-nightly.parquet/slice.parquet")).unwrap();
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    let said = bench.run(&["runs", "export", "--format", "csv", "-o", "csv"]);
    assert_eq!(said.code(), 2, "{}", said.stdout);
    assert!(said.stderr.contains("csv is not empty"), "{}", said.stderr);
}
