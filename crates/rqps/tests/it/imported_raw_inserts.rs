//! `rqps import iibench` of raw folders: seconds and response times by bucket come out of every format.

use std::fs;

use serde_json::Value;

use crate::bench::Bench;
use crate::null_client::assert_follows_schema;
use crate::readable::readable;

/// Two systems with two clients; the first with the scripts' summaries.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../rqps-import/tests/data/ib-raw.2u");

fn imported() -> Bench {
    let bench = Bench::new();
    let said = bench.output(&["import", "iibench", FOLDER, "--date", "2025-08-31"]);
    let id = "20250831-000000-ib-raw.2u";
    let report = format!("report: rqps report {id}\n");
    assert_eq!(said, format!("imported {id}: 2 systems, 4 steps, 8 rates\n{report}"));
    bench
}

/// The lines of a system in the table below a title within a step's details.
fn lines(text: &str, step: &str, title: &str) -> Vec<String> {
    let details = text.split_once(&format!("\n{step} (")).unwrap().1;
    let below = details.split_once(title).unwrap().1;
    let table = below.lines().skip(2).take_while(|line| !line.starts_with("---"));
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    table.take_while(|line| !line.is_empty()).map(words).collect()
}

#[test]
fn response_times_by_bucket_on_a_terminal() {
    let text = imported().output(&["report", "--full"]);
    // 9736 of 9756 queries, and 19336 of 19356.
    assert_eq!(
        lines(&text, "qr100.L1", "percent of responses up to")[..2],
        [
            "queries 99.79 0.185 0.021 0 0 0 0 0 0 0 my8043_rel.cz12a",
            "queries 99.90 0.093 0.010 0 0 0 0 0 0 0 pg174.x10a",
        ]
    );
    assert_eq!(
        lines(&text, "qr100.L1", "response time, ")[..2],
        ["queries - - - - - 3.10 9756 my8043_rel.cz12a", "queries - - - - - 3.10 19356 pg174.x10a",]
    );
    let failed_by_start = "the insert rate of its summary, 184.6/s, includes the start";
    assert!(text.replace("\n  ", " ").contains(failed_by_start), "{text}");
}

#[test]
fn flows_in_json() {
    let json = imported().json(&["report", "--format", "json"]);
    assert_follows_schema(&json);
    let steps = json["steps"].as_array().unwrap();
    let cell = |name: &str, at: usize| -> &Value {
        &steps.iter().find(|step| step["name"] == name).unwrap()["systems"][at]
    };
    let rated = &cell("qr100.L1", 1)["insert"];
    let flow = |role: &str| -> &Value {
        rated["flows"].as_array().unwrap().iter().find(|flow| flow["role"] == role).unwrap()
    };
    let queries = &flow("query")["response_times"];
    assert_eq!((&queries["mean_ns"], &queries["min_ns"]), (&Value::Null, &Value::Null));
    assert_eq!((&queries["n"], &queries["max_ns"]), (&19356.into(), &3_100_000.into()));
    assert_eq!(queries["buckets"]["1ms"], 18);
    let inserts = flow("insert");
    assert_eq!(inserts["response_times"]["buckets"]["4ms"], 2);
    assert_eq!(inserts["rate_per_s"], 181.8);
    // Nothing was inserted in one of twelve seconds.
    let sla = &rated["sla"];
    let held = ["seconds", "seconds_held", "longest_gap_s"].map(|key| sla[key].as_u64());
    assert_eq!(held, [Some(12), Some(11), Some(1)]);
    assert_eq!(flow("delete")["operations"], 2400);
    // The client's single insert is not in the rate.
    assert_eq!(cell("l.x", 0)["response_times"], Value::Null);
    assert_eq!(cell("l.i0", 1)["insert"]["flows"][0]["seconds"][0].as_array().unwrap().len(), 12);
}

#[test]
fn other_formats() {
    let bench = imported();
    let csv = bench.output(&["report", "--format", "csv"]);
    assert!(!csv.contains("NaN"), "{csv}");
    bench.output(&["report", "--format", "markdown"]);
    bench.output(&["report", "--format", "html", "-o", "page.html"]);
    let page = readable(&fs::read_to_string(bench.path("page.html")).unwrap());
    assert!(page.contains("Inserted rows per second") && !page.contains("NaN"));
}
