//! Histories: goldens of every format, which points make a series, where it changes.

use expect_test::expect_file;
use rqps_analysis::history::{Choice, History, HistoryError, Order, Scale};
use rqps_model::run::Check;
use rqps_model::slice::Lateness;
use rqps_model::{
    COMMITS_AFTER_BASE, Dbms, Run, RunSystem, Schedule, StepOutcome, SystemSource, Transport,
};
use rqps_report::history::words::{because, certainty, sentence, sentences, verdicts};
use rqps_report::history::{csv, json, names, text};

use rqps_fixtures::system;
use rqps_fixtures::versions::{commits, run, versions, versions_with_warnings};

fn choice<'c>() -> Choice<'c> {
    Choice { order: None, all_hosts: false, step: &|_| true, system: &|_| true }
}

fn servers(history: &History, series: usize) -> Vec<&str> {
    history.series[series].points.iter().map(|p| p.server.as_str()).collect()
}

#[test]
fn every_format_of_a_history_by_version() {
    let history = History::of(versions_with_warnings(), choice()).unwrap();
    let out = text::render(&history, false, 100);
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    expect_file!["../data/history.txt"].assert_eq(&out);
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
    let Scale::Relative { base } = &history.series[0].scale else { panic!("no base") };
    assert_eq!(names::base(base), "MariaDB 10.1.23, innodb, small");
}

#[test]
fn commits_follow_one_another_as_their_branch_has_them() {
    let history = History::of(commits(), choice()).unwrap();
    assert_eq!(history.order, Order::Version);
    let point = &history.series[0];
    let after: Vec<Option<i64>> =
        point.points.iter().map(|p| p.commit.as_ref().unwrap().after_base).collect();
    // The seventh commit's clock was wrong, which does not matter.
    let wanted = [None, Some(2), Some(2), Some(7), Some(7), Some(19), Some(19), Some(20)];
    assert_eq!(after, wanted);
    let Scale::Relative { base } = &point.scale else { panic!("no base") };
    assert_eq!(names::base(base), "PostgreSQL 17.4 (000000000000), innodb, small");
    let text = sentences(&history);
    assert!(
        text[0].starts_with(
            "point-query got slower at PostgreSQL 17.4 (131313131313) or at a commit before it that \
             was not measured, 8% ["
        ),
        "{text:?}"
    );
    // Of many commits the verdict on the latest.
    let verdicts = verdicts(&history);
    assert_eq!(verdicts.len(), 1, "{verdicts:?}");
    assert!(verdicts[0].starts_with("PostgreSQL 17.4 (141414141414) against"), "{verdicts:?}");
    let out = text::render(&history, false, 100);
    assert!(out.lines().all(|l| l.chars().count() <= 100), "{out}");
    expect_file!["../data/history-commits.txt"].assert_eq(&out);
    let narrow = text::render(&history, false, 80);
    assert!(narrow.lines().all(|l| l.chars().count() <= 80), "{narrow}");
}

#[test]
fn commits_of_two_branches_follow_their_dates() {
    let mut runs = commits();
    for system in runs.iter_mut().flat_map(|run| &mut run.systems) {
        system.build.remove(COMMITS_AFTER_BASE);
    }
    let history = History::of(runs, choice()).unwrap();
    let days: Vec<&str> =
        history.series[0].points.iter().map(|p| p.commit.as_ref().unwrap().day()).collect();
    assert!(days.is_sorted() && days.last() == Some(&"2026-11-28"), "{days:?}");
}

#[test]
fn a_change_is_told_at_its_version_with_its_size() {
    let history = History::of(versions(), choice()).unwrap();
    let point = &history.series[0];
    // The first step is from the exact base to its successors.
    let at: Vec<usize> = point.changes.iter().map(|c| c.at).collect();
    assert_eq!(at, [1, 4], "{:?}", sentences(&history));
    let change = &point.changes[1];
    assert!((change.size.point - 0.92).abs() < 0.01, "{change:?}");
    let text = sentence(&history, point, change);
    assert!(text.starts_with("point-query got slower at MariaDB 10.11.5, 8% [5, 11]."), "{text}");
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
    assert_eq!(series.changes.len(), 1, "{:?}", sentences(&history));
    assert_eq!(series.changes[0].at, 2);
    let text = &sentences(&history)[0];
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
    let said = sentences(&history);
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
    assert!(because(&one.left_out[0].because).contains("bench1, 8 x AMD"), "{:?}", one.left_out);
    let all = History::of(runs, Choice { all_hosts: true, ..choice() }).unwrap();
    assert_eq!((all.series[0].points.len(), &all.host), (6, &None));
    assert!(certainty(&all).iter().any(|c| c.contains("several hosts")));
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
    assert!(sentences(&few).is_empty(), "{:?}", sentences(&few));
    assert!(certainty(&few).iter().any(|c| c.contains("too few to tell")));
    assert_eq!(many.series[0].method.key(), "e-divisive");
    assert_eq!(many.series[0].changes[0].at, 10, "{:?}", sentences(&many));
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
        .map(|l| format!("{} {}: {}", l.run_id, names::what(l), because(&l.because)))
        .collect();
    let said = said.join("\n");
    assert!(
        said.contains(
            "nightly point-query and scan: differs from the latest: suite rows 10, not none"
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
    assert!(error.starts_with("none of 5 runs has a result"), "{error}");
}

#[test]
fn by_time_the_base_is_no_series() {
    let history = History::of(versions(), Choice { order: Some(Order::Time), ..choice() }).unwrap();
    assert!(
        history.series.iter().all(|s| !names::line(s).contains("100123")),
        "{:?}",
        history.series
    );
    assert_eq!(history.series.len(), 2 * 5);
}

#[test]
fn the_history_follows_its_schema() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../../docs/reference/history.schema.json"))
            .unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let history = History::of(versions(), choice()).unwrap();
    let value: serde_json::Value = serde_json::from_str(&json::render(&history)).unwrap();
    let errors: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new());
}

#[test]
fn hostile_text_stays_text() {
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
    for out in [text::render(&history, false, 100), csv::render(&history)] {
        assert!(!out.contains(['\u{1b}', '\u{202e}']), "{out}");
    }
    assert!(!csv::render(&history).contains(",=1"));
}

/// Two starts of one server differ by 2% now and then; nothing changed.
#[test]
fn what_a_start_draws_is_no_change() {
    let base = || system(Dbms::Mariadb, "10.1.23");
    let of = |version: &str, day: i64, ratio: f64| {
        let systems = vec![base(), system(Dbms::Mariadb, version)];
        run(day, systems, &[("point-query", &[20_000.0, 20_000.0 * ratio])])
    };
    let said = |runs: Vec<Run>, order: Order| {
        let history = History::of(runs, Choice { order: Some(order), ..choice() }).unwrap();
        let starts = certainty(&history).iter().any(|c| c.contains("a standard deviation of 1.5%"));
        assert!(starts, "{:?}", certainty(&history));
        sentences(&history)
    };
    let nights = |last: f64| vec![of("11.4.5", 0, 1.0), of("11.4.5", 1, last)];
    assert_eq!(said(nights(0.98), Order::Time), Vec::<String>::new());
    assert_eq!(said(vec![of("11.4.5", 0, 0.98)], Order::Version), Vec::<String>::new());
    // A start draws no tenth.
    assert_eq!(said(nights(0.88), Order::Time).len(), 1);
    assert_eq!(said(vec![of("11.4.5", 0, 0.9)], Order::Version).len(), 1);
}

#[test]
fn starts_that_were_measured_need_no_assumption() {
    let systems = vec![system(Dbms::Mariadb, "10.1.23"), system(Dbms::Mariadb, "11.4.5")];
    let scan: (&str, &[f64]) = ("scan", &[20_000.0, 19_000.0]);
    let mut one = run(0, systems, &[scan; 3]);
    for (step, start) in one.steps.iter_mut().zip(0..) {
        step.start = start;
        for slice in step.systems.iter_mut().flat_map(|system| &mut system.slices) {
            slice.start = start;
        }
    }
    let history = History::of(vec![one], choice()).unwrap();
    let point = &history.series[0].points[1];
    let known = point.uncertainty.unwrap();
    // Of 18 blocks, and with the degrees of freedom of three starts.
    assert_eq!((point.starts, point.value.n), (3, 18));
    assert!((known.df - 2.0).abs() < 1e-9, "{known:?}");
    assert_eq!(names::schedule(&point.surroundings), "slices of 100 ms, 3 starts");
    assert!(
        certainty(&history)
            .iter()
            .any(|c| c.contains("intervals include differences between starts"))
    );
}

#[test]
fn a_change_with_another_kernel_or_schedule_says_so() {
    let night = |day: i64| {
        let systems = vec![system(Dbms::Postgres, "17.4"), system(Dbms::Postgres, "18.0")];
        let lost = if day < 4 { 1.0 } else { 0.9 };
        run(day, systems, &[("scan", &[9_000.0, 9_000.0 * lost])])
    };
    let said = |change: &dyn Fn(&mut Run)| {
        let mut runs: Vec<Run> = (0..8).map(night).collect();
        runs[4..].iter_mut().for_each(change);
        let by_time = Choice { order: Some(Order::Time), ..choice() };
        let history = History::of(runs, by_time).unwrap();
        assert_eq!(history.series[0].points.len(), 8, "{:?}", history.left_out);
        let marks = history.series[0]
            .points
            .iter()
            .map(|p| p.warning_names().join(" "))
            .collect::<Vec<_>>();
        (sentences(&history)[0].clone(), marks)
    };
    let (calm, marks) = said(&|_| {});
    assert!(!calm.contains("also changed") && marks.iter().all(String::is_empty), "{calm}");
    let (text, marks) = said(&|run| run.host.kernel = "6.12.0".to_owned());
    let wanted = "; also changed: kernel (6.8.0-31-generic, then 6.12.0).";
    assert!(text.ends_with(wanted), "{text}");
    assert_eq!(marks[3..5], ["other-kernel".to_owned(), String::new()]);
    let (text, marks) = said(&|run| run.host.memory_bytes = 16 << 30);
    assert!(text.ends_with("memory (32.0 GB, then 16.0 GB)."), "{text}");
    assert_eq!(marks[0], "other-memory");
    let (text, marks) = said(&|run| run.host.storage = "ext4 on /dev/sda1".to_owned());
    assert!(text.ends_with("storage (ext4 on /dev/nvme*, then ext4 on /dev/sd*)."), "{text}");
    assert_eq!(marks[0], "other-storage");
    let (text, _) = said(&|run| run.host.storage = "ext4 on /dev/nvme1n1".to_owned());
    assert!(!text.contains("also changed"), "{text}");
    let (text, marks) = said(&|run| run.host.read_ahead_kb = Some(8192));
    assert!(text.ends_with("read-ahead (128 KB, then 8192 KB)."), "{text}");
    assert_eq!(marks[0], "other-read-ahead");
    // Runs of before it was recorded.
    let (text, _) = said(&|run| run.host.read_ahead_kb = None);
    assert!(!text.contains("also changed"), "{text}");
    let (text, _) = said(&|run| run.schedule = Schedule::interleaved(50, 6));
    assert!(text.ends_with("schedule (slices of 100 ms, then slices of 50 ms)."), "{text}");
    // Ratios of sequential runs hold the host's drift.
    let (text, marks) = said(&|run| run.schedule = Schedule::Sequential { slices: 6 });
    let wanted = ", or the host did; also changed: schedule (slices of 100 ms, then one system \
                  after the other).";
    assert!(text.ends_with(wanted), "{text}");
    assert_eq!((marks[3].as_str(), marks[4].as_str()), ("other-schedule", "sequential"));
}

#[test]
fn a_system_with_a_injected_slowdown_is_another() {
    let of = |day: i64, injected_slowdown_bp: u32| {
        let mut systems = vec![system(Dbms::Mariadb, "10.11.5"), system(Dbms::Mariadb, "11.4.5")];
        systems[1].spec.variant.injected_slowdown_bp = injected_slowdown_bp;
        run(day, systems, &[("scan", &[9_000.0, 8_900.0])])
    };
    let lines = |order: Order| {
        let choice = Choice { order: Some(order), ..choice() };
        let runs = vec![of(0, 0), of(1, 500), of(2, 504)];
        let history = History::of(runs, choice).unwrap();
        history.series.iter().map(names::line).collect::<Vec<_>>()
    };
    assert_eq!(
        lines(Order::Time),
        [
            "ma110405.small",
            "ma110405.small, injected slowdown 5%",
            "ma110405.small, injected slowdown 5.04%"
        ]
    );
    let by_version = lines(Order::Version);
    assert!(
        by_version.contains(&"MariaDB, innodb, small, injected slowdown 5%".to_owned()),
        "{by_version:?}"
    );
}

#[test]
fn a_transport_is_in_the_name() {
    let of = |(day, transport)| {
        let mut systems = vec![system(Dbms::Mariadb, "10.11.5"), system(Dbms::Mariadb, "11.4.5")];
        for system in &mut systems {
            system.spec.transport = transport;
        }
        run(day, systems, &[("scan", &[9_000.0, 8_900.0])])
    };
    let runs = [(0, Transport::Socket), (1, Transport::Tcp), (2, Transport::Tls)].map(of).to_vec();
    let history = History::of(runs, Choice { order: Some(Order::Version), ..choice() }).unwrap();
    let lines: Vec<String> = history.series.iter().map(names::line).collect();
    let name = "MariaDB, innodb, small";
    assert_eq!(lines, [name.to_owned(), format!("{name}, tcp"), format!("{name}, tls")]);
}

#[test]
fn beside_the_base_a_history_of_one_run_says_what_its_report_says() {
    // The versions after the base differ so much that they are no one level.
    let versions = ["10.2.11", "10.5.23", "10.11.5", "11.4.5", "11.8.9"];
    let systems = versions.map(|v| system(Dbms::Mariadb, v)).into();
    let qps: &[f64] = &[10_000.0, 4_700.0, 8_800.0, 5_600.0, 9_300.0];
    let one = run(0, systems, &[("update-index", qps)]);
    let history = History::of(vec![one.clone()], choice()).unwrap();
    let change = &history.series[0].changes[0];
    assert_eq!((change.at, change.p), (1, None));
    assert!((change.size.point - 0.47).abs() < 0.01, "{change:?}");
    let text = &sentences(&history)[0];
    assert!(text.starts_with("update-index got slower at MariaDB 10.5.23, 53%"), "{text}");
    // By another base the step is at the same place, and as large.
    let history = History::of(vec![Run { base: 1, ..one.clone() }], choice()).unwrap();
    let change = &history.series[0].changes[0];
    assert!(change.at == 1 && (change.size.point - 0.47).abs() < 0.01, "{change:?}");
    // A single slow version among others is no level, and the headline says that there is one.
    let systems = versions.map(|v| system(Dbms::Mariadb, v)).into();
    let qps: &[f64] = &[10_000.0, 10_010.0, 8_000.0, 10_020.0, 9_990.0];
    let history = History::of(vec![run(0, systems, &[("scan", qps)])], choice()).unwrap();
    assert!(history.series[0].changes.is_empty());
    let head = text::head(&history);
    assert!(head.contains("1 series has a slower or faster version"), "{head}");
}

#[test]
fn warnings_with_the_base_are_those_of_the_point() {
    let mut runs = versions();
    runs[4].steps[0].systems[0].slices[2]
        .warnings
        .push(rqps_model::WarningKind::Swapped { pages: 9 });
    let history = History::of(runs, choice()).unwrap();
    let marked: Vec<(&str, String)> = history.series[0]
        .points
        .iter()
        .filter(|point| !point.warnings.is_empty())
        .map(|point| (point.server.as_str(), point.warning_names().join(" ")))
        .collect();
    let wanted = [("MariaDB 10.1.23", "swapped"), ("MariaDB 10.11.4", "swapped-on-base")];
    assert_eq!(marked, wanted.map(|(server, mark)| (server, mark.to_owned())));
}

#[test]
fn what_cannot_be_compared_is_left_out_and_named() {
    let mut runs = versions();
    let found = "3 of 100".to_owned();
    let check = Check { name: "rows per query".to_owned(), passed: false, found };
    runs[0].steps[0].systems[1].checks = vec![check];
    for slice in runs[1].steps[0].systems.iter_mut().flat_map(|system| &mut system.slices) {
        slice.lateness = Some(Lateness { n_due: 100, ..Lateness::default() });
    }
    let history = History::of(runs, choice()).unwrap();
    let wanted = ["10.1.23", "10.2.11", "10.11.4", "11.4.5"].map(|v| format!("MariaDB {v}"));
    assert_eq!(servers(&history, 0), wanted);
    let left_out: Vec<String> = history.left_out.iter().map(|l| because(&l.because)).collect();
    let check = "a check of its work failed (rows per query, 3 of 100)";
    assert!(left_out.iter().any(|l| l == check), "{left_out:?}");
    assert!(left_out.iter().any(|l| l.starts_with("a rate was set")), "{left_out:?}");
}

#[test]
fn where_nothing_is_left_the_reasons_are_known() {
    let mut one = versions().swap_remove(0);
    for slice in one.steps.iter_mut().flat_map(|step| &mut step.systems).flat_map(|s| &mut s.slices)
    {
        slice.lateness = Some(Lateness { n_due: 100, ..Lateness::default() });
    }
    let HistoryError::Nothing { n_runs, left_out } = History::of(vec![one], choice()).unwrap_err();
    let why = rqps_report::history::words::left_out(&left_out);
    assert!(n_runs == 1 && why.iter().all(|why| why.contains("a rate was set")), "{why:?}");
    assert!(!why.is_empty());
}

#[test]
fn what_was_measured_without_its_base_is_told_as_such() {
    let mut runs = versions();
    // It was left out of the turns, and measured alone an hour later.
    for slice in &mut runs[0].steps[0].systems[1].slices {
        slice.start_unix_ms += 3_600_000;
    }
    let history = History::of(runs, choice()).unwrap();
    let left_out: Vec<String> = history.left_out.iter().map(|l| because(&l.because)).collect();
    assert!(
        left_out.iter().any(|because| because == "it was not measured beside the base"),
        "{left_out:?}"
    );
}

/// A base that is built anew each night moves by itself: ratios to it would be of two builds.
#[test]
fn a_base_that_was_built_anew_is_no_common_one() {
    let night = |day: i64| {
        let systems = vec![system(Dbms::Postgres, "17.4"), system(Dbms::Postgres, "18.0")];
        run(day, systems, &[("scan", &[9_000.0, 9_000.0])])
    };
    let mut runs: Vec<Run> = (0..6).map(night).collect();
    let by_time = Choice { order: Some(Order::Time), ..choice() };
    let has_absolute = |runs: &[Run]| {
        let history = History::of(runs.to_vec(), by_time).unwrap();
        history.series.iter().any(|series| matches!(series.scale, Scale::Absolute { .. }))
    };
    assert!(!has_absolute(&runs));
    let change = |runs: &mut [Run], change: fn(&mut RunSystem, String)| {
        for (night, run) in runs.iter_mut().enumerate() {
            run.systems.iter_mut().for_each(|system| change(system, night.to_string()));
        }
    };
    change(&mut runs, |system, night| {
        system.build.insert("program_sha256".to_owned(), night);
    });
    assert!(has_absolute(&runs));
    change(&mut runs, |system, _| system.build.clear());
    change(&mut runs, |system, night| system.origin = format!("pg.tar.gz (changed {night}.0)"));
    assert!(has_absolute(&runs));
    // Files that were imported are others each night.
    change(&mut runs, |system, _| system.spec.source = SystemSource::Imported);
    assert!(!has_absolute(&runs));
}

/// What a host does from run to run is in no interval of a figure: two figures tell nothing.
#[test]
fn figures_need_two_on_each_side() {
    let nightly = |day: i64| {
        let qps = if day < 2 { 9_000.0 } else { 7_000.0 };
        run(day, vec![system(Dbms::Postgres, "18.0")], &[("scan", &[qps])])
    };
    let of =
        |days: std::ops::Range<i64>| History::of(days.map(nightly).collect(), choice()).unwrap();
    let three = of(1..4);
    assert!(sentences(&three).is_empty(), "{:?}", sentences(&three));
    assert!(certainty(&three).iter().any(|c| c.contains("fewer than 4 rates")));
    assert_eq!(sentences(&of(0..4)).len(), 1);
}
