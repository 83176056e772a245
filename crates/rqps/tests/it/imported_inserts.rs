//! `rqps import iibench`: the field's tables of the Insert Benchmark come out of every format as they went in.

use std::fs;

use serde_json::Value;

use crate::bench::Bench;
use crate::null_client::assert_follows_schema;

const HEADS: &str = "ips\tqps\trps\trmbps\twps\twmbps\trpq\trkbpq\twpi\twkbpi\tcsps\tcpups\tcspq\tcpupq\
                     \tdbgb1\tdbgb2\trss\tmaxop\tp50\tp99\ttag\n";

/// A line of a table: what the tests look at, and the same of all else.
fn line(tag: &str, [ips, qps, rss, maxop, p50, p99]: [&str; 6]) -> String {
    format!(
        "{ips}\t{qps}\t3\t0.0\t120\t1.2\t0.000\t0.010\t0.020\t0.240\t18387\t71.1\t0.365\t14\t6.4\t8.1\
         \t{rss}\t{maxop}\t{p50}\t{p99}\t{tag}\n"
    )
}

const SYSTEMS: [&str; 3] = ["my5651_rel.cz11a", "my8043_rel.cz11a", "pg174.x10a"];

/// One client. The second system is the slowest at loading and fails its SLA at 100 inserts/s, where the third
/// holds it by a hair; the third was not run to the end.
fn folder() -> Bench {
    let bench = Bench::new();
    fs::create_dir(bench.path("ib.1u")).unwrap();
    let table = |step: &str, lines: &[[&str; 6]]| {
        let lines = SYSTEMS.iter().zip(lines).map(|(tag, values)| line(tag, *values));
        let text = format!("{HEADS}{}", lines.collect::<Vec<_>>().join("-\n"));
        bench.write(&format!("ib.1u/mrg.{step}"), &text);
    };
    table(
        "l.i0",
        &[
            ["100000", "0", "2.5", "0.477", "99000", "61000"],
            ["75000", "0", "3.0", "1.250", "74000", "30000"],
            ["120000", "0", "NA", "0.200", "119000", "90000"],
        ],
    );
    table(
        "l.x",
        &[
            ["500000", "0", "2.6", "NA", "NA", "NA"],
            ["510000", "0", "3.1", "NA", "NA", "NA"],
            ["480000", "0", "4.0", "NA", "NA", "NA"],
        ],
    );
    table(
        "qr100.L1",
        &[
            ["100", "5000", "2.7", "0.077", "5100", "3050"],
            ["94", "6000", "3.2", "0.154", "6100", "3660"],
            ["95", "3900", "4.1", "0.000", "4000", "2000"],
        ],
    );
    table(
        "qp100.L2",
        &[
            ["100", "9000", "2.7", "0.020", "9100", "7050"],
            ["99", "9100", "3.2", "0.020", "9200", "7050"],
        ],
    );
    // Response times stand beside the tables.
    bench.write("ib.1u/mrg.l.i0.rt.insert", "not a table of figures\n");
    let said = bench.output(&["import", "iibench", "ib.1u", "--date", "2025-08-31"]);
    let id = "20250831-000000-ib.1u";
    assert_eq!(
        said,
        format!(
            "imported {id}: 3 systems, 4 steps, 11 rates, 1 not run\nreport: rqps report {id}\n"
        )
    );
    bench
}

/// The words of a system's row in the table below a title of a report on a terminal.
fn row(text: &str, title: &str, last: &str) -> String {
    let below = text.split_once(title).unwrap().1;
    let line = below.lines().take_while(|line| !line.contains(':') && !line.starts_with('<'));
    let line = line.skip(1).find(|line| line.split_whitespace().last() == Some(last)).unwrap();
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_three_tables_on_a_terminal() {
    let bench = folder();
    let text = bench.output(&["report", "--full"]);
    let rows = |title: &str, last: &[&str]| -> Vec<String> {
        last.iter().map(|last| row(&text, title, last)).collect()
    };
    assert_eq!(
        rows("Insert Benchmark, operations per second", &SYSTEMS),
        [
            "100000 500000 5000 + 9000 my5651_rel.cz11a",
            "75000 - 510000 + 6000 ! 9100 + my8043_rel.cz11a",
            "120000 + 480000 3900 - not run pg174.x10a",
        ]
    );
    assert_eq!(
        rows("Insert Benchmark, relative to my5651_rel.cz11a", &SYSTEMS),
        [
            "1.00 1.00 1.00 1.00 my5651_rel.cz11a",
            "0.75 1.02 1.20 ! 1.01 my8043_rel.cz11a",
            "1.20 0.96 0.78 not run pg174.x10a",
        ]
    );
    assert_eq!(
        rows(
            "Insert Benchmark, background inserts per second",
            &[&SYSTEMS[..], &["(target)"]].concat()
        ),
        [
            "100 100 my5651_rel.cz11a",
            "94 ! 99 my8043_rel.cz11a",
            "95 not run pg174.x10a",
            "100 100 (target)",
        ]
    );
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in [
        "SLA failed: inserts reached less than 95% of their rate",
        "imported from ib.1u (iibench)",
        "one reading each (n=1)",
        "Resident memory of the server",
    ] {
        assert!(words.contains(said), "{said}: {text}");
    }
    assert!(!words.contains("check-failed"), "{text}");
}

#[test]
fn the_three_tables_as_json() {
    let bench = folder();
    let json = bench.json(&["report", "--format", "json"]);
    assert_follows_schema(&json);
    let tables = &json["insert_benchmark"];
    let of_step = |all: &Value, key: &str, step: &str| -> Value {
        let all = all.as_array().unwrap();
        all.iter().find(|one| one[key] == step).unwrap()["systems"].clone()
    };
    let values = |table: &str, step: &str| -> Vec<Option<f64>> {
        let systems = of_step(&tables[table], "step", step);
        SYSTEMS.map(|label| systems[label].as_f64()).to_vec()
    };
    assert_eq!(values("operations_per_s", "l.x"), [Some(500e3), Some(510e3), Some(480e3)]);
    assert_eq!(values("operations_per_s", "qp100.L2"), [Some(9000.0), Some(9100.0), None]);
    assert_eq!(values("relative", "l.i0"), [None, Some(0.75), Some(1.2)]);
    assert_eq!(values("relative", "qr100.L1"), [None, Some(1.2), Some(0.78)]);
    assert_eq!(values("inserts_per_s", "qr100.L1"), [Some(100.0), Some(94.0), Some(95.0)]);
    let cell = |step: &str, at: usize| of_step(&json["steps"], "name", step)[at].clone();
    for (at, held, level) in [(0, true, "top"), (1, false, "unheld"), (2, true, "bottom")] {
        let cell = cell("qr100.L1", at);
        let insert = &cell["insert"];
        assert_eq!((&insert["sla"]["held"], &insert["level"]), (&held.into(), &level.into()));
        assert_eq!(insert["sla"]["target_per_s"], 100.0);
        assert_eq!(insert["sla"]["longest_gap_s"], Value::Null);
        assert_eq!(insert["flows"][1]["operations"], Value::Null, "{insert:#}");
    }
    let failed = cell("qr100.L1", 1);
    assert_eq!((&failed["no_verdict"], &failed["verdict"]), (&"SLA failed".into(), &Value::Null));
    assert_eq!((&failed["rqps"]["n"], &failed["rqps"]["interval"]), (&1.into(), &Value::Null));
    let loaded = cell("l.i0", 1);
    for (name, value, relative) in [
        ("maxop", 1.25, 1.25 / 0.477),
        ("p50", 74e3, 74.0 / 99.0),
        ("p99", 30e3, 30.0 / 61.0),
        ("rss", 3.0, 1.2),
        ("wmbps", 1.2, 1.0),
    ] {
        let insert = &loaded["insert"];
        assert_eq!(insert["metrics"][name], value, "{name}");
        let found = insert["metrics_relative"][name].as_f64().unwrap();
        assert!((found - relative).abs() < 1e-9, "{name}: {found}");
    }
    assert_eq!(loaded["server_rss_bytes"], 3_u64 << 30);
    assert_eq!(cell("l.i0", 2)["server_rss_bytes"], Value::Null);
    assert_eq!(cell("l.x", 1)["insert"]["metrics"]["maxop"], Value::Null);
}

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let (mut all, mut is_quoted) = (vec![String::new()], false);
    for c in line.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => all.push(String::new()),
            c => all.last_mut().unwrap().push(c),
        }
    }
    all
}

#[test]
fn the_metrics_in_csv_and_on_the_page() {
    let bench = folder();
    let csv = bench.output(&["report", "--format", "csv"]);
    let mut lines = csv.split("\r\n").map(fields);
    let heads = lines.next().unwrap();
    let rows: Vec<Vec<String>> = lines.filter(|row| row.len() == heads.len()).collect();
    assert_eq!(rows.len(), 12);
    let place = |head: &str| heads.iter().position(|known| known == head).unwrap();
    let values = |step: &str, label: &str, columns: &[&str]| -> Vec<String> {
        let is_it =
            |row: &&Vec<String>| row[place("step")] == step && row[place("system")] == label;
        let row = rows.iter().find(is_it).unwrap();
        columns.iter().map(|head| row[place(head)].clone()).collect()
    };
    let columns = ["figure", "rss", "maxop", "p50", "p99", "level", "sla", "n_slices"];
    let of = |step: &str, label: &str| values(step, label, &columns).join(" ");
    assert_eq!(of("l.i0", SYSTEMS[0]), "100000 2.5 0.477 99000 61000 middle  1");
    assert_eq!(of("qr100.L1", SYSTEMS[1]), "6000 3.2 0.154 6100 3660 unheld failed 1");
    assert_eq!(of("qr100.L1", SYSTEMS[2]), "3900 4.1 0 4000 2000 bottom held 1");
    let columns = ["rqps", "insert_per_s", "insert_target_per_s", "insert_gap_s", "imported"];
    assert_eq!(values("qr100.L1", SYSTEMS[1], &columns), ["1.2", "94", "100", "", "true"]);

    bench.output(&["report", "--format", "html", "-o", "page.html"]);
    let page = fs::read_to_string(bench.path("page.html")).unwrap();
    for cell in [
        "<td class=\"num first unheld\" title=\"SLA failed\">6000",
        "<td class=\"num first rqps unheld\">1.20",
        "title=\"94% of the target\">94 !",
        "<td class=\"num first best\" title=\"top quarter\">120000",
        "<td class=\"num first worst\" title=\"bottom quarter\">75000",
        "<td>0.477</td>",
        "<td>61000</td>",
    ] {
        assert!(page.contains(cell), "{cell}");
    }
    assert!(!page.contains("Inserted rows per second"), "a chart of what no file tells");
    let said = bench.run(&["gate"]);
    assert_eq!(said.code(), 2, "{}", said.stdout);
    assert!(said.stdout.contains("not judged"), "{}", said.stdout);
}

#[test]
fn what_is_wrong_with_a_table() {
    let bench = Bench::new();
    fs::create_dir(bench.path("bad.1u")).unwrap();
    let good = line("my5651_rel.cz11a", ["100", "5000", "2.7", "0.077", "5100", "3050"]);
    let slow = line("my8043_rel.cz11a", ["100", "5000", "2.7", "fast", "5100", "3050"]);
    for (text, problem) in [
        (
            format!("{HEADS}{good}{slow}"),
            "line 3: maxop of my8043_rel.cz11a: \"fast\" is not a number from 0 on; write NA where there is none",
        ),
        (
            format!("{HEADS}{good}{good}"),
            "line 3: system my5651_rel.cz11a occurs twice: give each line",
        ),
        (good.clone(), "line 1: 21 fields with no headings above: begin with a line of headings"),
        (HEADS.to_owned(), "it has no line of a system: merge its step again"),
        (HEADS.replace("qps\t", "") + &good, "line 1: no heading qps"),
    ] {
        bench.write("bad.1u/mrg.qr100.L1", &text);
        let said = bench.run(&["import", "iibench", "bad.1u"]);
        assert_eq!(said.code(), 2, "{}", said.stdout);
        assert!(said.stderr.contains("bad.1u/mrg.qr100.L1"), "{}", said.stderr);
        assert!(said.stderr.contains(problem), "{}", said.stderr);
    }
    let said = bench.run(&["import", "iibench", "nowhere"]);
    assert!(said.code() == 2 && said.stderr.contains("cannot read nowhere"), "{}", said.stderr);
}
