//! `rqps import` and what every command makes of an imported run.

use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use serde_json::Value;

use crate::bench::Bench;
use crate::null_client::assert_follows_schema;
use crate::redact::redact;

/// The small folders that the importer's own tests have.
fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../rqps-import/tests/data").join(name)
}

/// A bench with a copy of a folder, so that no path of the machine is in any report.
fn with_folder(name: &str) -> Bench {
    let bench = Bench::new();
    copy(&data(name), &bench.path(name));
    bench
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A whole log of sysbench 1.0 by eight threads.
pub(crate) fn log(qps: u32) -> String {
    format!(
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nNumber of threads: 8\n\n\
         SQL statistics:\n    transactions:                        {n}  ({qps}.00 per sec.)\n\
         \u{20}   queries:                             {n}  ({qps}.00 per sec.)\n\n\
         General statistics:\n    total time:                          10.0000s\n\n\
         Threads fairness:\n    execution time (avg/stddev):   9.9947/0.00\n",
        n = qps * 10
    )
}

#[test]
fn tables_in_every_format() {
    let bench = with_folder("tables.1u");
    let args = ["import", "mytools", "tables.1u", "--date", "2025-08-31"];
    let said = bench.output(&args);
    assert_eq!(
        said,
        "imported 20250831-000000-tables.1u: 3 systems, 6 steps, 14 rates, 4 not run\n\
         report: rqps report 20250831-000000-tables.1u\n"
    );
    // The run's name is enough.
    assert_eq!(
        bench.output(&["report", "tables.1u", "--full"]),
        bench.output(&["report", "--full"])
    );
    let text = redact(&bench.output(&["report", "--full"]), bench.dir());
    expect_file!["../data/imported.txt"].assert_eq(&text);
    let text = redact(&bench.output(&["report", "--format", "markdown"]), bench.dir());
    expect_file!["../data/imported.md"].assert_eq(&text);
    let csv = bench.output(&["report", "--format", "csv"]);
    expect_file!["../data/imported.csv"].assert_eq(&redact(&csv, bench.dir()));
    let json = bench.json(&["report", "--format", "json"]);
    assert_follows_schema(&json);
    assert_eq!(json["run"]["imported"]["tool"], "mytools");
    let of = |step: &str, system: usize| {
        let steps = json["steps"].as_array().unwrap();
        steps.iter().find(|s| s["name"] == step).unwrap()["systems"][system].clone()
    };
    let cell = of("point-query", 2);
    assert_eq!((&cell["rqps"]["point"], &cell["rqps"]["interval"]), (&1.125.into(), &Value::Null));
    assert_eq!((&cell["verdict"], &cell["totals"]["queries"]), (&Value::Null, &Value::Null));
    assert_eq!(of("random-points_range=10", 1)["outcome"], "pending");
    bench.output(&["report", "--format", "html", "-o", "page.html"]);
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    assert!(page.contains("Imported from") && page.contains("not run"), "{page}");
    for made_up in ["Repeat this step", "sign unclear", "socket</td>", "innodb</td>"] {
        assert!(!page.contains(made_up), "{made_up}");
    }
}

#[test]
fn other_commands_know_that_it_is_imported() {
    let bench = with_folder("tables.1u");
    bench.output(&["import", "mytools", "tables.1u", "--date", "2025-08-31"]);
    let list = bench.output(&["runs", "list"]);
    assert!(list.contains("20250831-000000-tables.1u  imported  14/18"), "{list}");
    assert_eq!(bench.json(&["runs", "list", "--json"])[0]["imported"], "mytools");
    let shown = bench.output(&["runs", "show"]);
    assert!(shown.contains("imported   tables.1u\n"), "{shown}");
    let said = bench.run(&["gate"]);
    assert_eq!(said.code(), 2, "{}", said.stdout);
    assert!(said.stdout.contains("not judged"), "{}", said.stdout);
}

/// Two folders of two hosts: one history where that is asked for, else that of the latest alone.
#[test]
fn histories_have_imported_figures() {
    let bench = with_folder("tables.1u");
    bench.output(&["import", "mytools", "tables.1u", "--date", "2025-08-30"]);
    // The same files are the same measurements.
    copy(&data("tables.1u"), &bench.path("again.1u"));
    bench.output(&["import", "mytools", "again.1u", "--date", "2025-08-31"]);
    let json = bench.json(&["history", "--by", "time", "--format", "json", "--all-hosts"]);
    let series = json["series"].as_array().unwrap();
    let point_queries: Vec<&Value> = series.iter().filter(|s| s["step"] == "point-query").collect();
    let values: Vec<Vec<f64>> = point_queries
        .iter()
        .map(|s| {
            let points = s["points"].as_array().unwrap();
            points.iter().map(|p| p["value"]["point"].as_f64().unwrap()).collect()
        })
        .collect();
    assert_eq!(values, [[0.985, 0.985], [1.125, 1.125]], "{json:#}");
    // The engine of imported systems is not known.
    let by_version = bench.output(&["history", "--by", "version", "--all-hosts"]);
    assert!(!by_version.contains("innodb"), "{by_version}");
    // Two files that do not say what they count are not compared with one another.
    let json = bench.json(&["compare", "20250830", "20250831", "--format", "json"]);
    let steps = json["steps"].as_array().unwrap();
    let scan = steps.iter().find(|s| s["name"] == "scan_range=100").unwrap();
    let cells = scan["systems"].as_array().unwrap();
    let lack: Vec<bool> = cells.iter().map(|cell| cell["rqps"].is_null()).collect();
    assert_eq!(lack, [true, false, false, true, true, true], "{scan:#}");
    let text = bench.output(&["history", "--by", "time"]);
    assert!(text.contains("it is of another host"), "{text}");
}

#[test]
fn imported_and_measured_systems_in_one_report() {
    let bench = with_folder("tables.1u");
    crate::stored::store(
        &bench,
        &crate::stored::run(1, &["17.4", "18.0"], &[("point-query", &[19_000, 20_000])]),
    );
    bench.output(&["import", "mytools", "tables.1u", "--date", "2025-08-31"]);
    let args = ["compare", "20261101", "20250831"];
    let text = bench.output(&[&args[..], &["--full"]].concat());
    assert!(text.contains("The results of x.my5651_rel.z12a.pk1"), "{text}");
    let json = bench.json(&[&args[..], &["--format", "json"]].concat());
    assert_follows_schema(&json);
    let steps = json["steps"].as_array().unwrap();
    let step = steps.iter().find(|s| s["name"] == "point-query").unwrap();
    let imported =
        step["systems"].as_array().unwrap().iter().find(|s| s["system"] == "x.pg174.x10a.pk1");
    let imported = imported.unwrap();
    assert_eq!(imported["verdict"], Value::Null, "{imported:#}");
    assert!(imported["rqps"]["point"].as_f64().unwrap() < 0.1, "{imported:#}");
    for format in ["markdown", "csv", "html"] {
        assert!(!bench.output(&[&args[..], &["--format", format]].concat()).is_empty());
    }
}

#[test]
fn raw_files_and_refusals() {
    let bench = with_folder("raw");
    let said = bench.run(&["import", "mytools", "raw"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(
        said.stdout.contains("-raw: 2 systems, 2 steps, 3 rates, 1 not run"),
        "{}",
        said.stdout
    );
    assert!(
        said.stderr.contains("sysbench stopped and said \"mysql_stmt_execute()"),
        "{}",
        said.stderr
    );
    let text = redact(&bench.output(&["report", "--full"]), bench.dir());
    expect_file!["../data/imported-raw.txt"].assert_eq(&text.replace(&today(&text), "DATE"));
    for (args, words) in [
        (&["import", "mytools", "nowhere"][..], "cannot read nowhere"),
        (&["import", "mytools", "raw", "--base", "my1"], "there is no system \"my1\""),
        (&["import", "mytools", "raw", "--dbms", "oracle"], "unknown dbms \"oracle\""),
        (&["import", "mytools", "raw", "--date", "31.8.2025"], "write it as 2025-08-31"),
    ] {
        let said = bench.run(args);
        assert_eq!(said.code(), 2, "{}", said.stdout);
        assert!(said.stderr.contains(words), "{}", said.stderr);
    }
}

/// The date that the head of a report has, which is that of the import.
fn today(text: &str) -> String {
    let at = text.find("(raw), ").unwrap() + "(raw), ".len();
    text[at..at + "2025-08-31 00:00:00".len()].to_owned()
}

#[test]
fn tables_and_charts_to_paste() {
    let bench = with_folder("tables.1u");
    bench.output(&["import", "mytools", "tables.1u", "--date", "2025-08-31"]);
    expect_file!["../data/imported.tables.txt"]
        .assert_eq(&bench.output(&["report", "--format", "text"]));
    let said = bench.output(&["report", "--charts", "charts"]);
    assert!(said.contains("wrote charts/point-queries.svg"), "{said}");
    let svg = fs::read_to_string(bench.path("charts/point-queries.svg")).unwrap();
    assert!(svg.starts_with("<?xml") && svg.contains("imported, n=1: no intervals"), "{svg}");
    // A host without any font has no PNG.
    if let Ok(png) = fs::read(bench.path("charts/point-queries.png")) {
        assert!(png.starts_with(b"\x89PNG"));
    }
}
