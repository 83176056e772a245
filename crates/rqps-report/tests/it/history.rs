//! Histories: goldens of every format, which points make a series, where it changes.

use expect_test::expect_file;
use rqps_model::{Dbms, Group, Host, Run, RunStep, RunSystem, StepKind, StepOutcome};
use rqps_report::history::{Choice, History, Order, Scale, csv, json, text};
use rqps_report::html;

use crate::fixture::{self, Draw, Shape, done, info, slice, system};

const DAY_MS: i64 = 86_400_000;

/// A step with a steady rate: slices spread by half a percent.
fn steady(name: &str, qps: &[f64], seed: u64) -> RunStep {
    let mut draw = Draw(seed);
    let systems = qps
        .iter()
        .map(|&qps| {
            let shape =
                Shape { qps, noise: 0.005, seconds: 10, server_us: 1e6 / qps, written_kb: 0.0 };
            done((0..6).map(|idx| slice(idx, shape, &mut draw)).collect())
        })
        .collect();
    let info = info(name, StepKind::Read, Group::Point);
    RunStep { info, clients: 1, placement: rqps_model::Placement::Paired, start: 0, systems }
}

/// A run of systems on the day `day`; per step its name and the systems' QPS.
fn run(day: i64, systems: Vec<RunSystem>, steps: &[(&str, &[f64])]) -> Run {
    let seed = day.unsigned_abs() + 11;
    let steps = steps.iter().map(|(name, qps)| steady(name, qps, seed)).collect();
    let mut run = fixture::run(systems, steps);
    run.id = format!("202611{:02}-080000-nightly", day + 1);
    run.started_unix_ms = 1_793_491_200_000 + (day + 1) * DAY_MS - DAY_MS / 3 * 2;
    run
}

/// A run per version against the same base, in another order than that of the versions; 10.11.5 lost
/// 8% of point-query.
fn versions() -> Vec<Run> {
    ["10.11.5", "10.6.5", "11.4.5", "10.2.11", "10.11.4"]
        .iter()
        .zip(0..)
        .map(|(version, day)| {
            let systems = vec![system(Dbms::Mariadb, "10.1.23"), system(Dbms::Mariadb, version)];
            let lost = if ["10.11.5", "11.4.5"].contains(version) { 0.92 } else { 1.0 };
            // The host is slower every day, which the base shares.
            let host = 1.0 - 0.03 * f64::from(u8::try_from(day).unwrap());
            let point = [20_000.0 * host, 19_000.0 * host * lost];
            let scan = [4_000_000.0 * host, 4_100_000.0 * host];
            run(day, systems, &[("point-query", &point), ("scan", &scan)])
        })
        .collect()
}

fn choice<'c>() -> Choice<'c> {
    Choice { order: None, all_hosts: false, step: &|_| true, system: &|_| true }
}

fn servers(history: &History, series: usize) -> Vec<&str> {
    history.series[series].points.iter().map(|p| p.server.as_str()).collect()
}

#[test]
fn every_format_of_a_history_by_version() {
    let mut runs = versions();
    let mut other = runs[0].clone();
    other.id = "20261101-070000-elsewhere".to_owned();
    other.started_unix_ms -= 1;
    other.host = Host { hostname: "bench2".to_owned(), ..fixture::host() };
    runs.push(other);
    let left = "dirty pages".to_owned();
    runs[2].steps[1].systems[1].slices[0].marks.push(rqps_model::Mark::NotSettled { left });
    let history = History::of(runs, choice()).unwrap();
    let out = text::render(&history, false, 100);
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    expect_file!["../data/history.txt"].assert_eq(&out);
    expect_file!["../data/history.html"].assert_eq(&html::history::render(&history));
    expect_file!["../data/history.json"].assert_eq(&json::render(&history));
    let rows = csv::render(&history);
    expect_file!["../data/history.csv"].assert_eq(&rows.replace("\r\n", "\n"));
    let head = rows.lines().next().unwrap();
    assert!(rows.lines().all(|l| l.matches(',').count() >= head.matches(',').count()));
}

#[test]
fn versions_follow_one_another_by_number() {
    let history = History::of(versions(), choice()).unwrap();
    assert_eq!(history.order, Order::Version);
    let wanted = ["10.1.23", "10.2.11", "10.6.5", "10.11.4", "10.11.5", "11.4.5"];
    assert_eq!(servers(&history, 0), wanted.map(|v| format!("MariaDB {v}")));
    // The base stands there once, however many runs have it.
    assert_eq!(history.series[0].points.iter().filter(|p| p.is_base).count(), 1);
    let base = "MariaDB 10.1.23, innodb, small".to_owned();
    assert_eq!(history.series[0].scale, Scale::Relative { base });
}

#[test]
fn a_change_is_told_at_its_version_with_its_size() {
    let history = History::of(versions(), choice()).unwrap();
    let point = &history.series[0];
    // The first step is from the exact base to its successors.
    let at: Vec<usize> = point.changes.iter().map(|c| c.at).collect();
    assert_eq!(at, [1, 4], "{:?}", history.sentences());
    let change = &point.changes[1];
    assert!((change.size.point - 0.92).abs() < 0.01, "{change:?}");
    let text = change.sentence.as_str();
    assert!(text.starts_with("point-query got slower at MariaDB 10.11.5, 8."), "{text}");
}

#[test]
fn one_run_of_several_versions_has_a_history() {
    let systems = ["5.5.34", "5.6.14", "8.0.33", "9.7.4"].map(|v| system(Dbms::Mysql, v)).into();
    let qps: &[f64] = &[20_000.0, 20_050.0, 15_000.0, 15_050.0];
    let one = run(0, systems, &[("point-query", qps)]);
    let history = History::of(vec![one], choice()).unwrap();
    let series = &history.series[0];
    assert_eq!(
        servers(&history, 0),
        ["5.5.34", "5.6.14", "8.0.33", "9.7.4"].map(|v| format!("MySQL {v}"))
    );
    assert!(series.points[0].is_base && !series.points[1].is_base);
    assert_eq!(series.changes.len(), 1, "{:?}", history.sentences());
    assert_eq!(series.changes[0].at, 2);
    let text = history.sentences()[0];
    assert!(text.starts_with("point-query got slower at MySQL 8.0.33, 2"), "{text}");
    assert!((series.changes[0].size.point - 0.75).abs() < 0.01, "{text}");
}

#[test]
fn without_a_common_base_points_are_figures_of_one_host() {
    let nightly =
        |day: i64, qps: f64| run(day, vec![system(Dbms::Postgres, "18.0")], &[("scan", &[qps])]);
    let mut runs: Vec<Run> =
        (0..6).map(|day| nightly(day, if day < 3 { 9_000.0 } else { 8_100.0 })).collect();
    let history = History::of(runs.clone(), choice()).unwrap();
    assert_eq!(history.order, Order::Time);
    assert!(matches!(history.series[0].scale, Scale::Absolute { unit: "rows/s" }));
    let said = history.sentences();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(
        said[0].starts_with("scan got slower on 2026-11-04 (run 20261104-080000-nightly), 10.0% ["),
        "{said:?}"
    );
    assert!(said[0].ends_with("], or the host did."), "{said:?}");
    // A run of another host is left out and named, and taken in on request.
    runs[5].host.hostname = "bench2".to_owned();
    let one = History::of(runs.clone(), choice()).unwrap();
    assert_eq!(one.series[0].points.len(), 1);
    assert_eq!(one.left_out.len(), 5);
    assert!(one.left_out[0].because.contains("bench1, 8 x AMD"), "{:?}", one.left_out);
    let all = History::of(runs, Choice { all_hosts: true, ..choice() }).unwrap();
    assert_eq!((all.series[0].points.len(), &all.host), (6, &None));
    assert!(all.caveats().iter().any(|c| c.contains("several hosts")));
}

#[test]
fn points_without_intervals_need_many() {
    let single = |day: i64, qps: f64| {
        let mut run = run(day, vec![system(Dbms::Postgres, "18.0")], &[("scan", &[qps])]);
        run.steps[0].systems[0].slices.truncate(1);
        run
    };
    let of = |n: i64| -> History {
        let runs = (0..n).map(|day| single(day, if day < n / 2 { 9_000.0 } else { 7_000.0 }));
        History::of(runs.collect(), choice()).unwrap()
    };
    let (few, many) = (of(4), of(20));
    assert!(few.sentences().is_empty(), "{:?}", few.sentences());
    assert!(few.caveats().iter().any(|c| c.contains("too few to tell")));
    assert_eq!(many.series[0].method.key(), "e-divisive");
    assert_eq!(many.series[0].changes[0].at, 10, "{:?}", many.sentences());
}

#[test]
fn what_was_measured_otherwise_is_left_out_and_named() {
    let mut runs = versions();
    runs[0].plan = "[[suite]]\nrows = 10\n".to_owned();
    runs[1].steps[0].placement = rqps_model::Placement::Free;
    runs[2].steps[0].systems[1].outcome = StepOutcome::Failed { reason: "no".to_owned() };
    let history = History::of(runs, choice()).unwrap();
    let wanted = ["10.1.23", "10.2.11", "10.11.4"].map(|v| format!("MariaDB {v}"));
    assert_eq!(servers(&history, 0), wanted);
    let said: Vec<String> = history
        .left_out
        .iter()
        .map(|l| format!("{} {}: {}", l.run_id, l.what, l.because))
        .collect();
    let said = said.join("\n");
    assert!(
        said.contains(
            "nightly point-query and scan: other than the latest: suite rows 10, not none"
        ),
        "{said}"
    );
    assert!(said.contains("placement free, not paired"), "{said}");
}

#[test]
fn steps_and_systems_are_chosen() {
    let of = |choice: Choice<'_>| History::of(versions(), choice);
    let one = of(Choice { step: &|step| step.name == "scan", ..choice() }).unwrap();
    assert!(one.series.iter().all(|s| s.step == "scan"));
    let late = |s: &RunSystem| s.version.as_ref().is_some_and(|v| v.at_least(&[10, 11]));
    let some = of(Choice { system: &late, ..choice() }).unwrap();
    assert_eq!(servers(&some, 0), ["10.11.4", "10.11.5", "11.4.5"].map(|v| format!("MariaDB {v}")));
    // They are relative to the base all the same.
    assert!(matches!(some.series[0].scale, Scale::Relative { .. }));
    let error = of(Choice { step: &|_| false, ..choice() }).unwrap_err().to_string();
    assert!(error.starts_with("none of 5 runs has a figure"), "{error}");
}

#[test]
fn by_time_the_base_is_no_series() {
    let history = History::of(versions(), Choice { order: Some(Order::Time), ..choice() }).unwrap();
    assert!(history.series.iter().all(|s| !s.line.contains("100123")), "{:?}", history.series);
    assert_eq!(history.series.len(), 2 * 5);
}

#[test]
fn the_history_follows_its_schema() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../../docs/history.schema.json")).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let history = History::of(versions(), choice()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json::render(&history)).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn hostile_text_stays_text_and_nothing_is_referred_to() {
    let mut runs = versions();
    let hostile = "</title><script>alert(1)</script>\u{202e}\u{1b}[31m\"=1+1";
    for run in &mut runs {
        run.id += hostile;
        run.host.hostname = hostile.to_owned();
        run.steps[0].info.name = hostile.to_owned();
        run.systems[1].spec.label.0 += hostile;
        run.systems[1].spec.config = hostile.to_owned();
    }
    let history = History::of(runs, choice()).unwrap();
    let page = html::history::render(&history);
    assert!(!page.contains("<script") && !page.contains("src="), "{page}");
    assert!(page.split("href=\"").skip(1).all(|target| target.starts_with('#')));
    for out in [page, text::render(&history, false, 100), csv::render(&history)] {
        assert!(!out.contains(['\u{1b}', '\u{202e}']), "{out}");
    }
    assert!(!csv::render(&history).contains(",=1"));
}
