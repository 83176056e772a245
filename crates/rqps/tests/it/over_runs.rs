//! `rqps compare` and `rqps history` on stored runs: what is read, written and refused.

use std::fs;

use crate::bench::Bench;
use crate::null_client::assert_follows_schema;
use crate::stored::{run, store};

/// Three nights; the third lost 10%.
fn nights() -> Bench {
    let bench = Bench::new();
    for (day, qps) in [(1, 20_000), (2, 20_010), (3, 18_000)] {
        store(&bench, &run(day, &["17.4", "18.0"], &[("point-query", &[19_000, qps])]));
    }
    bench
}

#[test]
fn systems_of_two_runs_in_one_report() {
    let bench = nights();
    let text = bench.output(&[
        "compare",
        "20261101",
        "latest",
        "--base",
        "20261101:pg180.small",
        "--full",
    ]);
    assert!(text.contains("The systems are of 2 runs."), "{text}");
    assert!(text.contains("pg180.small@20261103"), "{text}");
    let json = bench.json(&["compare", "20261101", "latest", "--format", "json"]);
    assert_follows_schema(&json);
    assert_eq!(json["systems"].as_array().unwrap().len(), 4);
    assert_eq!(json["base"], "pg174.small@20261101");
    let json = bench.json(&[
        "compare",
        "20261102",
        "latest",
        "--base",
        "latest:pg174.small",
        "--format",
        "json",
    ]);
    assert_eq!(json["base"], "pg174.small@20261103");
    let none =
        bench.output(&["compare", "20261101", "20261102", "--format", "html", "-o", "page.html"]);
    assert_eq!(none, "");
    assert!(fs::read_to_string(bench.path("page.html")).unwrap().contains("id=\"runs\""));
    for (args, words) in [
        (&["compare", "latest"][..], "there is one run"),
        (&["compare", "latest", "20261103"], "is named twice"),
        (&["compare", "20261101", "20261102", "--base", "pg180.small"], "in several runs"),
    ] {
        let said = bench.run(args);
        assert_eq!(said.code(), 2, "{}", said.stdout);
        assert!(said.stderr.contains(words), "{}", said.stderr);
    }
}

#[test]
fn a_history_leaves_out_what_cannot_be_read() {
    let bench = nights();
    let whole = bench.output(&["history", "--by", "time"]);
    let mut broken = run(4, &["17.4", "18.0"], &[("point-query", &[19_000, 20_000])]);
    broken.base = 9;
    store(&bench, &broken);
    let said = bench.run(&["history", "--by", "time"]);
    assert_eq!((said.code(), &said.stdout), (0, &whole), "{}", said.stderr);
    let words = "excluded from the history: cannot read run 20261104-080000-nightly in ";
    assert!(said.stderr.contains(words), "{}", said.stderr);
    assert!(said.stderr.contains("`rqps runs rm 20261104-080000-nightly` removes the run"));
    let said = bench.run(&["history", "20261101", "20261104"]);
    assert_eq!(said.code(), 2, "{}", said.stdout);
}

#[test]
fn a_history_of_all_runs() {
    let bench = nights();
    let text = bench.output(&["history", "--by", "time"]);
    assert!(text.starts_with("1 change of level in 1 series, by time.\n"), "{text}");
    let change = "point-query got slower on 2026-11-03 (run 20261103-080000-nightly), 10";
    assert!(text.contains(change), "{text}");
    assert!(!text.contains('\x1b'), "colours without a terminal");
    let json = bench.json(&["history", "--format", "json"]);
    assert_eq!(json["order"], "version");
    let csv = bench.output(&["history", "--by", "time", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 4, "{csv}");
    bench.output(&["history", "--format", "html", "-o", "page.html"]);
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && !page.contains("<script"));
    let some = bench.json(&["history", "20261101", "latest", "--by", "time", "--format", "json"]);
    assert_eq!(some["series"][0]["points"].as_array().unwrap().len(), 2);
    let some =
        bench.json(&["history", "--system", "postgres@18*", "--by", "time", "--format", "json"]);
    assert_eq!(some["series"].as_array().unwrap().len(), 1);
    let short = bench.json(&["history", "--system", "pg@18*", "--by", "time", "--format", "json"]);
    assert_eq!(short["series"], some["series"]);
}

#[test]
fn a_history_of_nothing_is_refused() {
    let bench = nights();
    for (args, words) in [
        (&["history", "--steps", "nosuch"][..], "--steps \"nosuch\": no step of this name"),
        (&["history", "--system", "my*"], "--system \"my*\": no system of this name"),
        (&["history", "nosuch"], "no run matches \"nosuch\""),
    ] {
        let said = bench.run(args);
        assert_eq!((said.code(), said.stdout.as_str()), (2, ""));
        assert!(said.stderr.contains(words), "{}", said.stderr);
    }
}
