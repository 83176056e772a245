//! Several runs as one: goldens of every format, whose ratios are paired, what is not alike.

use expect_test::expect_file;
use proptest::prelude::*;
use rqps_analysis::join::JoinError;
use rqps_analysis::{Analysis, Joined};
use rqps_model::warning::ServerFault;
use rqps_model::{
    Dbms, Figure, Group, Placement, Run, RunStep, Schedule, Scope, Slice, StepKind, Verdict,
    Warning, WarningKind,
};
use rqps_report::warning::InWords;
use rqps_report::{Detail, TextOptions, csv, json, markdown, text, warning};

use crate::details_of;
use rqps_fixtures::several::two;
use rqps_fixtures::{self as fixture, Draw, Shape, done, info, system};

fn joined(base: Option<&str>) -> Joined {
    let command = "rqps compare 20261121-203015-demo 20261123-080000-demo";
    Joined::of(two(), base, &fixture::words(command)).unwrap()
}

#[test]
fn every_format_of_two_runs() {
    let joined = joined(None);
    let analysis = Analysis::of_joined(&joined, 0.05);
    let options = TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH };
    let out = text::render(&analysis, options);
    assert!(out.lines().all(|l| l.chars().count() <= text::WIDTH), "{out}");
    expect_file!["../data/compare.txt"].assert_eq(&out);
    expect_file!["../data/compare.md"].assert_eq(&markdown::render(&analysis));
    let rows = csv::render(&analysis);
    let runs: Vec<&str> = rows.lines().skip(1).filter_map(|l| l.split(',').next()).collect();
    assert_eq!(
        runs[..3],
        ["20261121-203015-demo"; 2].into_iter().chain(["20261123-080000-demo"]).collect::<Vec<_>>()
    );
    let value: serde_json::Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    assert_eq!(crate::schema::errors(&value), Vec::<String>::new());
    assert_eq!(value["systems"][2]["run"], "20261123-080000-demo");
    let compared = serde_json::to_string_pretty(&value["compared_runs"]["differences"]).unwrap();
    expect_file!["../data/compare.differences.json"].assert_eq(&(compared + "\n"));
}

#[test]
fn a_step_is_repeated_by_the_commands_of_all_runs_that_have_it() {
    let mut runs = two();
    (runs[0].seed, runs[1].seed) = (7, 8);
    runs[0].command_line = fixture::words("rqps run a.toml");
    runs[1].command_line = fixture::words("rqps profile scan --systems mysql@8.0.33");
    let ids = [runs[0].id.clone(), runs[1].id.clone()];
    let joined = Joined::of(runs, None, &[]).unwrap();
    let analysis = Analysis::of_joined(&joined, 0.05);
    let value: serde_json::Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    assert_eq!(crate::schema::errors(&value), Vec::<String>::new());
    let first = |name: &str| format!("rqps run a.toml --steps {name} --seed 7");
    let second = |name: &str| format!("rqps profile {name} --systems mysql@8.0.33 --seed 8");
    let step = |name: &str| {
        let steps = value["steps"].as_array().unwrap();
        steps.iter().find(|step| step["name"] == name).unwrap()
    };
    assert_eq!(step("scan")["repeat"], first("scan").as_str());
    assert_eq!(step("scan")["repeat_of_runs"][&ids[0]], first("scan").as_str());
    assert_eq!(step("scan")["repeat_of_runs"][&ids[1]], second("scan").as_str());
    // What only one run has is repeated by that one.
    assert_eq!(step("insert")["repeat"], serde_json::Value::Null);
    assert_eq!(step("insert")["repeat_of_runs"][&ids[1]], second("insert").as_str());
    assert_eq!(step("update-index")["repeat_of_runs"].as_object().unwrap().len(), 1);
    let options = TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH };
    let out = text::render(&analysis, options);
    // What is compared the base's run has.
    assert!(out.contains(&format!("repeat one step of {}: rqps run a.toml", ids[0])), "{out}");
}

#[test]
fn labels_of_several_runs_are_told_apart() {
    let labels: Vec<String> =
        joined(None).run.systems.iter().map(|s| s.spec.label.0.clone()).collect();
    assert_eq!(labels, ["my5614.small", "my8033.small@20261121", "my8033.small@20261123"]);
}

#[test]
fn ratios_of_one_run_stay_what_they_are_in_its_own_report() {
    let (runs, joined) = (two(), joined(None));
    let (alone, together) = (Analysis::of(&runs[0], 0.05), Analysis::of_joined(&joined, 0.05));
    for own in &alone.steps {
        let step = together.steps.iter().find(|s| s.title == own.title).unwrap();
        let (a, b) = (&own.cells[1], &step.cells[1]);
        assert_eq!(
            (a.rqps(), a.server_cpu_ratio()),
            (b.rqps(), b.server_cpu_ratio()),
            "{}",
            own.title
        );
        assert_eq!(a.verdict(), b.verdict());
        assert!(b.warnings.len() == a.warnings.len(), "{}", own.title);
    }
    // The base is of the other run: two samples, and marked.
    let point = together.steps.iter().find(|s| s.title == "point-query.pre").unwrap();
    let figures = |cell: usize| point.cells[cell].slices();
    let wanted = rqps_stats::ratio(figures(0), figures(2)).unwrap();
    let found = point.cells[2].rqps().unwrap();
    assert!((wanted.point - found.point).abs() < 1e-12 && found.n == 3, "{found:?}");
    // Wider than its slices make it: each side is of one start.
    let (low, high) = found.interval.unwrap();
    let (wanted_low, wanted_high) = wanted.interval.unwrap();
    assert!(low < wanted_low - 0.02 && high > wanted_high + 0.02, "{found:?} {wanted:?}");
    let note = |at: usize| &together.footnotes[point.cells[2].warnings[at].footnote_idx];
    assert_eq!(note(0).kind.key(), "unlike-run");
    assert_eq!(
        warning::detail(&point.cells[2].warnings[0]),
        "other kernel, schedule mode and suite rows"
    );
    let scan = together.steps.iter().find(|s| s.title == "scan").unwrap();
    assert!(warning::detail(&scan.cells[2].warnings[0]).ends_with("placement free against paired"));
}

/// A run of one system; for each start of it operations per second of its slices.
fn on_starts(version: &str, starts: &[[u64; 2]]) -> Run {
    let mut draw = Draw(3);
    let shape = Shape { qps: 1000.0, noise: 0.0, seconds: 2, server_us: 20.0, written_kb: 0.0 };
    let step = |(rates, start): (&[u64; 2], u32)| {
        let slice = |(rate, idx): (&u64, u32)| Slice {
            n_operations: rate * shape.seconds,
            ..fixture::slice(idx, shape, &mut draw)
        };
        RunStep {
            info: info("point-query", StepKind::Read, Group::Point),
            clients: 1,
            placement: Placement::Paired,
            start,
            systems: vec![done(rates.iter().zip(0..).map(slice).collect())],
        }
    };
    let steps = starts.iter().zip(0..).map(step).collect();
    let mut run = fixture::run(vec![system(Dbms::Mysql, version)], steps);
    run.id = version.to_owned();
    run.schedule = Schedule::Sequential { slices: 2 };
    run
}

#[test]
fn over_runs_starts_are_the_observations_and_what_would_settle_it() {
    let base = on_starts("5.6.14", &[[1000, 4000], [2000, 8000]]);
    let candidate = on_starts("8.0.33", &[[1000, 1000], [4000, 4000]]);
    let joined = Joined::of(vec![base, candidate], None, &[]).unwrap();
    let analysis = Analysis::of_joined(&joined, 0.05);
    let cell = &analysis.steps[0].cells[1];
    // Geometric means of 2000 and 4000 beside 1000 and 4000.
    let found = cell.comparison().unwrap().rqps.found;
    assert!((found.tested.estimate.point - 0.5_f64.sqrt()).abs() < 1e-9, "{found:?}");
    assert!(found.holds_starts && found.starts == 2 && found.start_sd.is_none());
    // The logarithms of the base's are ln 2 apart, those of the candidate's ln 4.
    let error = (2.0_f64.ln().powi(2) / 4.0 + 4.0_f64.ln().powi(2) / 4.0).sqrt();
    assert!((found.tested.error().unwrap() / error - 1.0).abs() < 1e-6);
    assert_eq!(cell.verdict(), Some(Verdict::Unclear));
    let settle = cell.settle().unwrap();
    assert!(settle.starts().is_some() && settle.seconds().is_none(), "{settle:?}");
    let value: serde_json::Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    let told = &value["steps"][0]["systems"][1]["comparison"]["to_settle"];
    assert!(told["starts"].is_u64() && told["seconds"].is_null(), "{told}");
    let unclear = "Unclear: the interval is too wide for a verdict; more starts of the servers \
                   would probably settle it: about ";
    let details = details_of(&analysis);
    assert!(details.iter().any(|detail| detail.starts_with(unclear)), "{details:?}");
}

#[test]
fn runs_alike_are_marked_as_other_runs_only() {
    let mut runs = two();
    (runs[1].host, runs[1].plan) = (runs[0].host.clone(), runs[0].plan.clone());
    let joined = Joined::of(runs, None, &[]).unwrap();
    assert!(joined.conditions.is_empty(), "{:?}", joined.conditions);
    let analysis = Analysis::of_joined(&joined, 0.05);
    let key = |title: &str| {
        let step = analysis.steps.iter().find(|s| s.title == title).unwrap();
        analysis.footnotes[step.cells[2].warnings[0].footnote_idx].kind.key()
    };
    assert_eq!((key("point-query.pre"), key("scan")), ("other-run", "unlike-run"));
}

#[test]
fn read_ahead_is_compared_where_it_is_known() {
    let joined = |all: [Option<u32>; 3]| {
        let mut runs = two();
        (runs[1].host, runs[1].plan) = (runs[0].host.clone(), runs[0].plan.clone());
        let mut third = runs[1].clone();
        third.id = "20261124-080000-demo".to_owned();
        runs.push(third);
        for (run, kb) in runs.iter_mut().zip(all) {
            run.host.read_ahead_kb = kb;
        }
        Joined::of(runs, None, &[]).unwrap()
    };
    let unlike = joined([Some(128), None, Some(8192)]);
    let analysis = Analysis::of_joined(&unlike, 0.05);
    let said = "differ in their conditions: read-ahead 128 KB in 20261121-203015-demo, unknown in \
                20261123-080000-demo, 8192 KB in 20261124-080000-demo.";
    assert!(
        InWords::of(&analysis).before_reading().iter().any(|text| text.contains(said)),
        "{:?}",
        InWords::of(&analysis).before_reading()
    );
    let point = analysis.steps.iter().find(|s| s.title == "point-query.pre").unwrap();
    let mark = |cell: usize| {
        let mark = &point.cells[cell].warnings[0];
        (mark.kind.key(), warning::detail(mark))
    };
    assert_eq!((mark(2).0, mark(3)), ("other-run", ("unlike-run", "other read-ahead".to_owned())));
    // Runs of before it was recorded are no other than those of today for that.
    assert!(joined([None, Some(128), Some(128)]).conditions.is_empty());
}

#[test]
fn runs_of_other_machines_are_told_no_cause() {
    let cause = |change: fn(&mut Run)| {
        let mut runs = two();
        runs[1].host = runs[0].host.clone();
        change(&mut runs[1]);
        let joined = Joined::of(runs, None, &[]).unwrap();
        let analysis = Analysis::of_joined(&joined, 0.05);
        let step = analysis.steps.iter().find(|s| s.title == "point-query.pre").unwrap();
        rqps_report::causes::sentence::of_cell(&step.cells[2]).unwrap()
    };
    let alike = cause(|_| {});
    assert!(!alike.contains("measured on"), "{alike}");
    let host = cause(|run| run.host.cpu_model = "another".to_owned());
    assert!(host.ends_with("not explained: measured on different hosts"), "{host}");
    let kernel = cause(|run| run.host.kernel = "6.9.1".to_owned());
    assert!(kernel.ends_with("not explained: measured on different kernels"), "{kernel}");
}

#[test]
fn steps_that_one_run_lacks_say_so() {
    let joined = joined(None);
    let analysis = Analysis::of_joined(&joined, 0.05);
    let titles: Vec<&str> = analysis.steps.iter().map(|s| s.title.as_str()).collect();
    assert_eq!(titles, ["point-query.pre", "scan", "insert", "update-index"]);
    let said = InWords::of(&analysis).not_measured.join("\n");
    for text in [
        "Not measured on my5614.small, because run 20261121-203015-demo lacks these steps: insert.",
        "Not measured on my8033.small@20261123, because run 20261123-080000-demo lacks these steps: \
         update-index.",
    ] {
        assert!(said.contains(text), "{said}");
    }
    assert!(!said.contains("Not reached"), "{said}");
}

#[test]
fn the_base_is_a_label_or_that_of_a_run() {
    let label = |base: &str| {
        let joined = Joined::of(two(), Some(base), &[])?;
        Ok::<_, JoinError>(joined.run.base_label().0.clone())
    };
    assert_eq!(label("my5614.small").unwrap(), "my5614.small");
    assert_eq!(label("20261123:my8033.small").unwrap(), "my8033.small@20261123");
    let error = label("my8033.small").unwrap_err();
    assert!(matches!(error, JoinError::ManyBases { .. }));
    assert!(error.to_string().contains("20261123-080000-demo:my8033.small"), "{error}");
    let error = label("pg").unwrap_err().to_string();
    assert!(error.contains("20261121-203015-demo:my5614.small"), "{error}");
}

#[test]
fn one_run_is_refused() {
    let error = |runs: Vec<Run>| Joined::of(runs, None, &[]).unwrap_err();
    let one = two().swap_remove(0);
    assert!(matches!(error(vec![one.clone()]), JoinError::OneRun { .. }));
    assert!(matches!(error(vec![one.clone(), one.clone()]), JoinError::Twice { .. }));
    let mut empty = one.clone();
    (empty.id, empty.systems) = ("other".to_owned(), Vec::new());
    assert!(matches!(error(vec![one, empty]), JoinError::Empty { .. }));
}

#[test]
fn hostile_text_stays_text() {
    let hostile = "</td><script>alert(1)</script>\u{1b}[31m\u{202e}";
    let mut runs = two();
    for (run, n) in runs.iter_mut().zip(0..) {
        run.id = format!("{n}{hostile}");
        (run.name, run.command_line) = (hostile.to_owned(), vec![hostile.to_owned()]);
        run.plan = format!("[[suite]]\n'</td><script>' = '<script>{n}'\n");
        (run.host.hostname, run.host.kernel) = (format!("{hostile}{n}"), format!("{hostile}{n}"));
        for system in &mut run.systems {
            system.spec.label.0 += hostile;
        }
    }
    let joined = Joined::of(runs, None, &[hostile.to_owned()]).unwrap();
    let analysis = Analysis::of_joined(&joined, 0.05);
    let options = TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH };
    for out in [text::render(&analysis, options), markdown::render(&analysis)] {
        assert!(!out.contains(['\u{1b}', '\u{202e}']), "{out}");
    }
    let plain = markdown::render(&analysis).replace("\\`", "");
    let outside_code: String = plain.split('`').step_by(2).collect();
    assert!(!outside_code.contains("<script"), "{outside_code}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn swapping_base_and_candidate_inverts_every_ratio(ratio in 0.3_f64..3.0) {
        let mut runs = two();
        for step in &mut runs[1].steps {
            for slice in &mut step.systems[0].slices {
                slice.n_operations = fixture::whole(slice.n_operations as f64 * ratio).max(1);
            }
        }
        let there = Joined::of(runs.clone(), Some("my5614.small"), &[]).unwrap();
        let back = Joined::of(runs, Some("20261123:my8033.small"), &[]).unwrap();
        let (there, back) = (Analysis::of_joined(&there, 0.05), Analysis::of_joined(&back, 0.05));
        for (a, b) in there.steps.iter().zip(&back.steps) {
            let (Some(a), Some(b)) = (a.cells[2].rqps(), b.cells[0].rqps()) else { continue };
            prop_assert!((a.point * b.point - 1.0).abs() < 1e-9);
            prop_assert!((a.interval.unwrap().0 * b.interval.unwrap().1 - 1.0).abs() < 1e-6);
        }
        let (a, b) = (there.steps[0].cells[2].verdict(), back.steps[0].cells[0].verdict());
        let is_mirrored = matches!((a, b), (Some(a), Some(b)) if mirrored(a, b));
        prop_assert!(is_mirrored, "{:?} {:?}", a, b);
    }
}

/// The bounds 0.95 and 1.05 are no exact mirrors, so that only the opposite is ruled out.
fn mirrored(a: rqps_model::Verdict, b: rqps_model::Verdict) -> bool {
    use rqps_model::Verdict::{Faster, Slower};
    !matches!((a, b), (Slower, Slower) | (Faster, Faster))
}

/// Imported files may have two of a name: `point-query_range=10` and `point-query_range=100`.
#[test]
fn two_steps_of_a_name_stay_two() {
    let mut runs = two();
    let again = runs[0].steps[0].clone();
    let n = runs[0].steps.len();
    runs[0].steps.insert(1, again);
    runs[0].steps[1].systems[0].slices.truncate(1);
    let joined = Joined::of(runs, None, &[]).unwrap();
    let slices: Vec<usize> =
        joined.run.steps[..2].iter().map(|step| step.systems[0].slices.len()).collect();
    assert!(slices[0] > 1 && slices[1] == 1, "{slices:?}");
    assert_eq!(joined.run.steps.len(), n + 2);
    // The other run has one of them, and the report says of the second that it has none, not that it was not
    // reached.
    let name = &joined.run.steps[1].info.name;
    let report = text::render(
        &Analysis::of_joined(&joined, 0.05),
        TextOptions { colour: false, detail: Detail::Full, width: 400 },
    );
    let is_told = |line: &str| line.contains("lacks these steps") && line.contains(name.as_str());
    assert!(report.lines().any(is_told) && !report.contains("Not reached on"), "{report}");
}

/// A log that was imported as queries has no row per second of a scan.
#[test]
fn a_step_whose_figure_counts_something_else_is_another() {
    let mut runs = two();
    let n = Joined::of(runs.clone(), None, &[]).unwrap().run.steps.len();
    let step = runs[1].steps.iter_mut().find(|step| step.info.name == "scan").unwrap();
    assert_eq!(step.info.figure, Figure::RowsRead);
    step.info.figure = Figure::Queries;
    assert_eq!(Joined::of(runs, None, &[]).unwrap().run.steps.len(), n + 1);
}

/// Labels that both runs have are told apart in reports, and commands name them by their runs; one run's id may
/// begin another's.
#[test]
fn what_names_a_system_is_taken_as_the_base() {
    let mut runs = two();
    runs[1].id = format!("{}-2", runs[0].id);
    runs[1].systems[0].spec.label = runs[0].systems[1].spec.label.clone();
    let joined = Joined::of(runs.clone(), None, &[]).unwrap();
    for system_idx in 0..3 {
        let again = Joined::of(runs.clone(), Some(joined.name(system_idx)), &[]).unwrap();
        assert_eq!(again.run.base, system_idx, "{}", joined.name(system_idx));
    }
}

#[test]
fn what_happened_to_either_run_is_told_with_its_own_systems() {
    let mut runs = two();
    let warning = |scope, kind| Warning { at_unix_ms: Some(5_000), scope, kind };
    let reason = "killed\nthe end of its log:\nready".to_owned();
    let fault = ServerFault { n: 1, n_tolerated: 3, reason };
    runs[0].warnings.push(warning(Scope::System(1), WarningKind::ServerFailed { fault }));
    let ended = WarningKind::RunEnded { reason: "full".to_owned() };
    runs[1].warnings =
        vec![warning(Scope::System(0), WarningKind::NewTables), warning(Scope::Run, ended)];
    let id = runs[1].id.clone();
    let joined = Joined::of(runs, None, &[]).unwrap();
    let analysis = Analysis::of_joined(&joined, 0.05);
    let labels = [1, 2].map(|idx| analysis.label(idx));
    let told = [
        format!(
            "1970-01-01 00:00:05 UTC, {}: the server failed and is started again (failure 1 of at most 3): killed; the \
             end of its log: ready",
            labels[0]
        ),
        format!(
            "1970-01-01 00:00:05 UTC, {}: the system has new tables, because those of another system could not be used",
            labels[1]
        ),
        format!("1970-01-01 00:00:05 UTC, run {id}: the run ended: full"),
    ];
    assert_eq!(InWords::of(&analysis).happened, told);
    let options = TextOptions { colour: false, detail: Detail::Full, width: 400 };
    let report = text::render(&analysis, options);
    assert!(report.contains("What happened during the run"), "{report}");
    assert!(told.iter().all(|sentence| report.contains(sentence.as_str())), "{report}");
}
