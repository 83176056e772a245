//! What reports and histories make of folders as their authors leave them: many systems, long names, zeros,
//! digits, groups that share systems.

use std::fs;

use crate::bench::Bench;
use crate::readable::readable;

/// A bench with a table of QPS in a folder, a row of values per step.
fn with_table(labels: &[String], rows: &[(&str, Vec<String>)]) -> Bench {
    let bench = Bench::new();
    add_table(&bench, "in.1u/qps.abs.t.tsv", labels, rows);
    bench
}

fn add_table(bench: &Bench, path: &str, labels: &[String], rows: &[(&str, Vec<String>)]) {
    let folder = bench.path(path);
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    let mut text = String::new();
    for (at, label) in labels.iter().enumerate() {
        text.push_str(&format!("col-{} : {label}\n", at + 1));
    }
    for (step, values) in rows {
        text.push_str(&format!("{}\t{step}\n", values.join("\t")));
    }
    bench.write(path, &text);
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Values that grow a little from system to system.
fn growing(first: u32, n: u32) -> Vec<String> {
    (0..n).map(|i| (first + 3 * i).to_string()).collect()
}

/// The lines of a text that have each of some words behind their last space.
fn systems_of(text: &str, wanted: &str) -> Vec<String> {
    let lines = text.lines().filter(|line| line.contains(wanted));
    lines.map(|line| line.trim_end_matches(" (base)").to_owned()).collect()
}

#[test]
fn a_headline_of_many_imported_systems() {
    let labels: Vec<String> = (10..22).map(|n| format!("x.my80{n}_a")).collect();
    let rows = [
        ("points-notcovered-pk_range=100", growing(1000, 12)),
        ("random-points_range=1000", growing(700, 12)),
    ];
    let bench = with_table(&labels, &rows);
    bench.output(&["import", "mytools", "in.1u"]);
    let text = bench.output(&["report", "--full"]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.starts_with(
            "11 systems against MySQL 8.0.10, 2 steps: 11 imported, without a verdict. \
             Median rQPS from 1.00 (MySQL 8.0.11) to 1.04 (MySQL 8.0.21)."
        ),
        "{text}"
    );
    assert!(!text.contains("could not be compared"), "{text}");
    // A system that was not run is still told.
    let mut rows = rows;
    for (_, values) in &mut rows {
        values[11] = "-".to_owned();
    }
    let bench = with_table(&labels, &rows);
    bench.output(&["import", "mytools", "in.1u"]);
    let text = bench.output(&["report", "--format", "markdown"]);
    assert!(text.contains("10 imported, without a verdict and 1 could not be compared."), "{text}");
}

#[test]
fn long_names_stay_different() {
    let long = |n: u32| format!("x.ma110410_rel_withdbg_native_lto.z12b_c8r32.pk{n}");
    let labels: Vec<String> = (0..12).map(long).collect();
    let rows = [
        ("points-notcovered-pk_range=100", growing(1000, 12)),
        ("points-notcovered-si_range=100", growing(2000, 12)),
        ("random-points_range=10", growing(9000, 12)),
        ("random-points_range=100", growing(3000, 12)),
        ("random-points_range=1000", growing(700, 12)),
    ];
    let bench = with_table(&labels, &rows);
    bench.output(&["import", "mytools", "in.1u"]);
    for format in ["text", "terminal", "markdown"] {
        let text = bench.output(&crate::report_in(format));
        let text = text.replace('\\', "");
        for label in &labels {
            let end = &label[label.rfind(".pk").unwrap()..];
            let own = systems_of(&text, &format!("c8r32{end}"));
            assert!(own.len() >= 2, "{format} {label}: {text}");
        }
    }
    for format in ["terminal", "markdown"] {
        let text = bench.output(&crate::report_in(format)).replace('\\', "");
        for step in ["ered-pk", "ered-si", "nge=10 ", "nge=100 ", "nge=1000"] {
            let heads = text.lines().filter(|line| line.contains("rQPS") && line.contains(step));
            assert!(heads.count() >= 1, "{format} {step}: {text}");
        }
    }
}

#[test]
fn zero_is_a_value() {
    let labels = strings(&["x.pg172_a", "x.pg174_a"]);
    let rows = [
        ("points-covered-si_range=100", strings(&["2450", "0"])),
        ("point-query_range=100", strings(&["1000", "990"])),
        ("range-covered-si_range=100", strings(&["0", "0"])),
        ("range-covered-pk_range=100", strings(&["0", "980"])),
    ];
    let bench = with_table(&labels, &rows);
    bench.output(&["import", "mytools", "in.1u"]);
    let text = bench.output(&["report", "--format", "text"]);
    assert!(text.contains("2450    1.00    x.pg172_a\n0       0.00    x.pg174_a\n"), "{text}");
    // Nothing is a multiple of nothing.
    assert!(text.contains("0       1.00    x.pg172_a\n0       -       x.pg174_a\n"), "{text}");
    assert!(text.contains("0       1.00    x.pg172_a\n980     -       x.pg174_a\n"), "{text}");
    let text = bench.output(&["report", "--full"]);
    assert!(text.contains("rQPS from 0.00 (points-covered-si) to 0.99 (point-query)."), "{text}");
    for format in ["csv", "json", "html"] {
        let out = bench.output(&crate::report_in(format));
        assert!(!readable(&out).contains("NaN"), "{format}");
    }
}

/// One folder that a job rewrites each night, with values that repeat by chance.
#[test]
fn nights_of_one_folder_are_measurements_of_their_own() {
    let bench = Bench::new();
    for night in 0..12_u32 {
        let works = (10_000 + 50 * (night % 3)).to_string();
        let rows = [("point-query_range=100", strings(&[if night < 6 { &works } else { "0" }]))];
        add_table(&bench, "nightly/qps.abs.t.tsv", &strings(&["x.my8043_a"]), &rows);
        let date = format!("2026-01-{:02}", night + 1);
        let args =
            ["import", "mytools", "nightly", "--clients", "1", "--host", "h", "--date", &date];
        bench.output(&args);
    }
    let text = bench.output(&["history", "--by", "time"]);
    assert!(text.contains("point-query stopped on 2026-01-07"), "{text}");
    assert!(!text.contains("Excluded"), "{text}");
}

/// Nights of one system: a step that stops, and one that begins.
#[test]
fn a_history_has_zeros() {
    let bench = Bench::new();
    for night in 0..12_u32 {
        let works = (10_000 + 50 * (night % 3)).to_string();
        let (first, second) = if night < 6 { (&*works, "0") } else { ("0", &*works) };
        let path = format!("night{night:02}/qps.abs.t.tsv");
        let rows = [
            ("point-query_range=100", strings(&[first])),
            ("range-covered-pk_range=100", strings(&[second])),
        ];
        add_table(&bench, &path, &strings(&["x.my8043_a"]), &rows);
        let date = format!("2026-01-{:02}", night + 1);
        let args = ["import", "mytools", &format!("night{night:02}"), "--clients", "1"];
        bench.output(&[&args[..], &["--host", "h", "--date", &date]].concat());
    }
    let args = ["history", "--by", "time"];
    let text = bench.output(&args);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains(
            "point-query stopped on 2026-01-07 (run 20260107-000000-night06): nothing was done from there on."
        ),
        "{text}"
    );
    assert!(words.contains("range-covered-pk began on 2026-01-07"), "{text}");
    assert!(!text.contains("Excluded"), "{text}");
    for format in ["csv", "json", "html"] {
        let out = bench.output(&[&args[..], &["--format", format]].concat());
        assert!(!readable(&out).contains("NaN"));
    }
}

#[test]
fn figures_have_the_digits_of_their_files() {
    let labels = strings(&["x.my8028_a", "x.my8030_a"]);
    let rows = [
        ("random-points_range=1000", strings(&["86", "68"])),
        ("random-points_range=100", strings(&["5.25", "0.5"])),
        ("point-query_range=100", strings(&["24575.5", "24000"])),
    ];
    let bench = with_table(&labels, &rows);
    bench.output(&["import", "mytools", "in.1u"]);
    let text = bench.output(&["report", "--format", "text"]);
    for line in [
        "86      1.00    x.my8028_a",
        "68      0.79    x.my8030_a",
        "5.25    1.00    x.my8028_a",
        "0.5     0.10    x.my8030_a",
        "24575.5 1.00    x.my8028_a",
        "24000   0.98    x.my8030_a",
    ] {
        assert!(text.lines().any(|own| own == line), "{line}: {text}");
    }
    let text = bench.output(&["report", "--full"]);
    assert!(text.contains("5.25") && !text.contains("86.0"), "{text}");
}

/// Five groups of one folder with the same QPS are one measurement each.
#[test]
fn copies_are_no_evidence() {
    let bench = Bench::new();
    let versions = ["8043", "8044", "9400", "9500"];
    let qps = |version: &str| if version < "9" { "1000" } else { "997" };
    for (group, chosen) in [
        ("a", &versions[..]),
        ("b", &versions[1..]),
        ("c", &versions[..2]),
        ("d", &versions[2..]),
        ("e", &["9500", "9400", "8044", "8043"]),
    ] {
        let labels: Vec<String> = chosen.iter().map(|v| format!("x.my{v}_a")).collect();
        let values = chosen.iter().map(|v| qps(v).to_owned()).collect();
        let path = format!("in/qps.abs.{group}.tsv");
        add_table(&bench, &path, &labels, &[("point-query_range=100", values)]);
    }
    let import = ["import", "mytools", "in", "--clients", "1", "--host", "h"];
    bench.output(&import);
    let json = bench.json(&["history", "--by", "version", "--format", "json"]);
    let series = json["series"].as_array().unwrap();
    assert_eq!(series.len(), 1);
    assert_eq!(series[0]["points"].as_array().unwrap().len(), 4, "{json:#}");
    assert_eq!(series[0]["changes"].as_array().unwrap().len(), 0, "{json:#}");
    let text = bench.output(&["history", "--by", "version"]);
    assert!(text.contains("in.a has all its results"), "{text}");
    // Nobody knows in which order they were measured.
    assert!(!text.contains("sequential"), "{text}");
    // The same folder once more adds nothing.
    bench.output(&import);
    let again = bench.json(&["history", "--by", "version", "--format", "json"]);
    assert_eq!(again["series"][0]["points"].as_array().unwrap().len(), 4, "{again:#}");
}

/// A group that has a system of its own beside shared ones.
#[test]
fn shared_systems_of_two_groups_are_one_point() {
    let bench = Bench::new();
    let row = |values: &[&str]| [("point-query_range=100", strings(values))];
    let labels = strings(&["x.my8043_a", "x.my8044_a"]);
    add_table(&bench, "in/qps.abs.a.tsv", &labels, &row(&["1000", "990"]));
    let labels = strings(&["x.my8044_a", "x.my9400_a"]);
    add_table(&bench, "in/qps.abs.b.tsv", &labels, &row(&["990", "980"]));
    // Another QPS of the same system is another measurement.
    let labels = strings(&["x.my8043_a", "x.my9500_a"]);
    add_table(&bench, "in/qps.abs.c.tsv", &labels, &row(&["1001", "970"]));
    bench.output(&["import", "mytools", "in", "--clients", "1", "--host", "h"]);
    let json = bench.json(&["history", "--by", "version", "--format", "json"]);
    let points = json["series"][0]["points"].as_array().unwrap();
    let values: Vec<f64> = points.iter().map(|p| p["value"]["point"].as_f64().unwrap()).collect();
    assert_eq!(values, [1000.0, 1001.0, 990.0, 980.0, 970.0], "{json:#}");
}

#[test]
fn what_is_not_taken_is_named_and_nothing_at_all_is_an_error() {
    let bench = Bench::new();
    let labels = strings(&["x.pg176_a", "x.pg180_a"]);
    add_table(
        &bench,
        "in/qps.abs.all.tsv",
        &labels,
        &[("point-query_range=100", growing(1000, 2))],
    );
    bench.write("in/qps.abs.sb.met.tsv", "col-1 : 24\ncol-2 : x.pg180_a\n\t139731\t\n");
    let said = bench.run(&["import", "mytools", "in", "--clients", "24"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(
        said.stderr.contains(
            "note: Not imported: in/qps.abs.sb.met.tsv, line 3: \"\" is not the name of a step."
        ),
        "{}",
        said.stderr
    );
    fs::remove_file(bench.path("in/qps.abs.all.tsv")).unwrap();
    let said = bench.run(&["import", "mytools", "in", "--clients", "24"]);
    assert_eq!(said.code(), 2, "{}", said.stdout);
    assert!(said.stderr.contains("in/qps.abs.sb.met.tsv, line 3"), "{}", said.stderr);
    // Of one log of two.
    bench.write("good.log", &crate::imported::log(1000));
    bench.write("bad.log", "hello\n");
    let args = ["import", "sysbench", "my8043:x=good.log", "my8044:x=bad.log"];
    let said = bench.run(&args);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains("bad.log: this is no log of sysbench"), "{}", said.stderr);
    assert_eq!(bench.run(&["import", "sysbench", "my8044:x=bad.log"]).code(), 2);
}

/// Warnings of a log stand at its QPS.
#[test]
fn a_log_with_dead_threads_has_a_footnote() {
    let bench = Bench::new();
    let dead = crate::imported::log(1000).replace(
        "SQL statistics:",
        "[ 1s ] thds: 5 tps: 900.00 qps: 900.00 lat\n[ 2s ] thds: 5 tps: 900.00 qps: 900.00 lat\nSQL statistics:",
    );
    bench.write("died.log", &dead);
    let said = bench.run(&["import", "sysbench", "my8043:x=died.log"]);
    assert!(
        said.stderr.contains("died.log: sysbench continued with 5 of 8 threads."),
        "{}",
        said.stderr
    );
    for format in ["text", "terminal", "markdown", "html"] {
        let text = bench.output(&crate::report_in(format));
        assert!(text.contains("sysbench continued with 5 of 8 threads"), "{format}: {text}");
    }
}
