//! The Insert Benchmark in every format: goldens, verdicts, rates, metrics, what other runs lack.

use expect_test::expect_file;
use proptest::prelude::*;
use rqps_analysis::Analysis;
use rqps_analysis::{Bar, CellState, Level};
use rqps_model::ErrorCount;
use rqps_model::{Role, Run, Verdict, WarningKind};
use rqps_report::warning::InWords;
use rqps_report::{Detail, TextOptions, csv, json, markdown, text, warning};

use rqps_fixtures as fixture;
use rqps_fixtures::inserts::{self, interleaved, run};

fn full() -> TextOptions {
    TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH }
}

fn at(run: &Run, name: &str) -> usize {
    run.steps.iter().position(|step| step.info.name == name).unwrap()
}

#[test]
fn text_of_an_insert_benchmark() {
    let run = run();
    let out = text::render(&Analysis::of(&run, 0.05), full());
    expect_file!["../data/insert.txt"].assert_eq(&out);
    let wide: Vec<&str> = out.lines().filter(|l| l.chars().count() > text::WIDTH).collect();
    assert_eq!(wide, [""; 0]);
}

#[test]
fn markdown_of_an_insert_benchmark() {
    let run = run();
    expect_file!["../data/insert.md"].assert_eq(&markdown::render(&Analysis::of(&run, 0.05)));
}

#[test]
fn a_failed_rate_has_no_verdict() {
    let run = run();
    let analysis = Analysis::of(&run, 0.05);
    let step = &analysis.steps[at(&run, "qr1000")];
    let third = &step.cells[2];
    let sla = third.sla().unwrap();
    assert!(!sla.is_held && third.failed_sla() && third.bar() == Some(Bar::Sla));
    assert_eq!((sla.n_seconds, sla.n_held, sla.longest_gap_s), (30, 6, 4));
    assert_eq!(third.verdict(), None);
    assert!(third.rqps().is_some() && third.comparable_rqps().is_none());
    assert_eq!(step.level(2), Level::Unheld);
    // The others are compared among themselves.
    assert_eq!(step.cells[1].verdict(), Some(Verdict::Slower));
    assert_eq!(step.level(1), Level::Bottom);
    let counts = analysis.headlines[1].counts;
    assert_eq!((counts.sla_failed, counts.missing, counts.failed), (2, 0, 0));
    assert_eq!(counts.total(), run.steps.len());
    let group = |name: rqps_model::Group, idx: usize| {
        analysis.groups.iter().find(|g| g.group == name && g.system_idx == idx).unwrap().n_steps
    };
    assert_eq!(group(rqps_model::Group::Range, 1), 2);
    assert_eq!(group(rqps_model::Group::Range, 2), 1);
    // Where the base fails, nobody has one.
    let mut run = run.clone();
    run.base = 2;
    let analysis = Analysis::of(&run, 0.05);
    let step = &analysis.steps[at(&run, "qr1000")];
    for cell in &step.cells[..2] {
        assert!(cell.verdict().is_none() && cell.is_barred() && !cell.failed_sla());
        let note = &analysis.footnotes[cell.warnings.last().unwrap().footnote_idx];
        assert_eq!(note.kind.key(), "sla-failed-on-base");
    }
}

#[test]
fn errors_and_missed_starts_of_every_client_are_footnotes() {
    let mut run = run();
    let qr = at(&run, "qr100");
    let slice = &mut run.steps[qr].systems[1].slices[0];
    let error = |code: &str, n| ErrorCount { code: code.to_owned(), n };
    slice.errors = vec![error("1213", 1)];
    slice.streams[0].errors = vec![error("1213", 2), error("1205", 4)];
    slice.warnings = vec![
        WarningKind::Errors { n: 7, by_code: Vec::new() },
        WarningKind::RateMissed { n_missed: 3 },
    ];
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[qr].cells[1];
    let told: Vec<(&str, String)> =
        cell.warnings.iter().map(|own| (own.kind.key(), warning::detail(own))).collect();
    let expected = [("errors", "7 errors: 1213 x3, 1205 x4"), ("rate-missed", "3 starts missed")];
    assert_eq!(told, expected.map(|(key, detail)| (key, detail.to_owned())));
    assert_eq!(cell.totals().n_errors, 7);
}

#[test]
fn a_stall_is_seen() {
    let run = run();
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[at(&run, "qr1000")].cells[1];
    let sla = cell.sla().unwrap();
    assert!(sla.is_held, "the average makes up for it");
    assert_eq!((sla.n_held, sla.longest_gap_s), (29, 1));
    let flow = cell.insert().unwrap().flow(Role::Insert).unwrap();
    let times = flow.response.as_ref().unwrap();
    assert!(times.max_ns > 990_000_000 && times.percentile_ns(99.9).unwrap() > 900_000_000);
    assert!(flow.late_p99_ns.unwrap() > 100_000_000);
    assert_eq!(flow.seconds[1][4..6], [0.0, 2000.0]);
}

#[test]
fn trends_checks_and_debt_are_told() {
    let run = run();
    let analysis = Analysis::of(&run, 0.05);
    let keys = |step: &str, idx: usize| -> Vec<&str> {
        let warnings = &analysis.steps[at(&run, step)].cells[idx].warnings;
        warnings.iter().map(|own| own.kind.key()).collect()
    };
    assert_eq!(keys("l.i1", 0), ["trend"]);
    assert!(keys("l.i1", 1).is_empty());
    assert_eq!(keys("l.i2", 1), ["check-failed"]);
    let warned =
        |word: &str| InWords::of(&analysis).before_reading().iter().any(|w| w.contains(word));
    assert!(warned("l.i2 on my8033.small: rows in the tables, 199990 of 200000"));
}

#[test]
fn the_fields_metrics_by_hand() {
    let mut run = run();
    let qr = at(&run, "qr100");
    for system in &mut run.steps[qr].systems {
        system.slices.truncate(1);
        let slice = &mut system.slices[0];
        (slice.n_operations, slice.n_queries, slice.duration_ns) = (20_000, 20_000, 10_000_000_000);
        let usage = &mut slice.usage;
        (usage.host.cpu_user_ns, usage.host.cpu_system_ns) = (3_000_000_000, 1_000_000_000);
        (usage.host.context_switches, usage.host.n_cpus) = (80_000, 2);
        let storage = usage.storage.as_mut().unwrap();
        (storage.reads, storage.read_bytes) = (0, 0);
        (storage.writes, storage.write_bytes) = (500, 50 << 20);
    }
    run.steps[qr].systems[1].slices[0].usage.storage.as_mut().unwrap().reads = 10;
    let analysis = Analysis::of(&run, 0.05);
    let own = |idx: usize| analysis.steps[qr].cells[idx].insert().unwrap();
    let value = |name: &str| own(0).field.get(name).unwrap();
    for (name, expected) in [
        ("qps", 2000.0),
        ("ips", 100.0),
        ("rps", 0.0),
        ("wps", 50.0),
        ("wmbps", 5.0),
        ("wpi", 0.5),
        ("wkbpi", 51.2),
        ("csps", 8000.0),
        ("cpups", 20.0),
        ("cspq", 4.0),
        ("cpupq", 200.0),
    ] {
        assert!((value(name) - expected).abs() < 1e-9, "{name}: {}", value(name));
    }
    // 0/0 is 1, x/0 is inf, and the base has none.
    let against = |idx: usize| analysis.steps[qr].cells[idx].against.as_ref();
    let relative =
        |idx: usize, name: &str| against(idx).unwrap().field_relative.as_ref().unwrap().get(name);
    assert_eq!(relative(2, "rps"), Some(1.0));
    assert_eq!(relative(1, "rps"), Some(f64::INFINITY));
    assert!(against(0).is_none());
}

#[test]
fn blocks_run_on_as_one_series() {
    let run = interleaved();
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[at(&run, "qp1000")].cells[2];
    assert_eq!(cell.sla().unwrap().longest_gap_s, 30);
    let flow = cell.insert().unwrap().flow(Role::Query).unwrap();
    assert_eq!((flow.seconds.len(), flow.seconds[0].len()), (1, 30));
    let caveat = &InWords::of(&analysis).certainty[0];
    assert!(
        caveat.starts_with("The systems were interleaved: slices of one second, or a part"),
        "{caveat}"
    );
    let indexes = "Indexes were created one system after the other, in random order.";
    assert!(caveat.contains(indexes), "{caveat}");
}

#[test]
fn csv_and_json_have_all_of_it() {
    let run = run();
    let analysis = Analysis::of(&run, 0.05);
    let rows = csv::render(&analysis);
    let mut lines = rows.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = lines
        .find(|line| line.contains(",qr1000,") && line.contains("ma110405.small,my5614"))
        .unwrap();
    // The statement's text and the footnotes hold no comma here that is not quoted.
    let mut fields = Vec::new();
    let mut is_quoted = false;
    fields.push(String::new());
    for c in row.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    assert_eq!(names.len(), fields.len());
    let field = |name: &str| &fields[names.iter().position(|n| *n == name).unwrap()];
    assert_eq!((field("sla").as_str(), field("level").as_str()), ("failed", "unheld"));
    assert_eq!((field("verdict").as_str(), field("insert_gap_s").as_str()), ("", "4"));
    assert_eq!(field("debt"), "dirty pages=903; history list length=360");
    // The clients' own part is 30 us at most, by the fixture.
    let own_us: f64 = field("insert_own_late_p99_us").parse().unwrap();
    assert!((29.0..=30.0).contains(&own_us), "{own_us}");
    let other = csv::render(&Analysis::of(&fixture::demo(), 0.05));
    assert!(!other.lines().next().unwrap().contains("ips"));
    let value: serde_json::Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    let result = &value["steps"][at(&run, "qr1000")]["systems"][2];
    assert_eq!(result["insert"]["sla"]["held"], false);
    assert_eq!(result["verdict"], serde_json::Value::Null);
    assert_eq!(value["insert_benchmark"]["inserts_per_s"].as_array().unwrap().len(), 4);
    assert_eq!(value["candidates"][1]["n_sla_failed"], 2);
}

#[test]
fn hostile_names_stay_text() {
    let mut run = run();
    let evil = "<script>alert(1)</script>|\u{1b}[31m`";
    for system in run.steps.iter_mut().flat_map(|s| &mut s.systems) {
        system.debt.insert(evil.to_owned(), 1);
        for passed in [true, false] {
            let (name, found) = (format!("{evil}{passed}"), evil.to_owned());
            system.checks.push(rqps_model::run::Check { name, passed, found });
        }
    }
    let analysis = Analysis::of(&run, 0.05);
    let texts = [text::render(&analysis, full()), markdown::render(&analysis)];
    assert!(!texts[1].contains("<script>"));
    for out in texts.into_iter().chain([csv::render(&analysis)]) {
        assert!(!out.contains('\u{1b}'));
    }
}

#[test]
fn other_inserts_are_none_of_it() {
    let demo = fixture::demo();
    assert!(Analysis::of(&demo, 0.05).insert.is_none());
    // The microbenchmark counts rows, too.
    let mut counting = demo.clone();
    let insert = at(&counting, "insert");
    counting.steps[insert].info.figure = rqps_model::Figure::RowsInserted;
    assert!(Analysis::of(&counting, 0.05).insert.is_none());
    // The first step alone is enough, and so is a stream of inserts.
    let mut first = run();
    first.steps.truncate(1);
    assert_eq!(Analysis::of(&first, 0.05).insert.unwrap().steps, [0]);
    let stream = inserts::stream(Role::Insert, Some(100.0), &[100.0; 10]);
    counting.steps[2].systems[0].slices[0].streams.push(stream);
    assert_eq!(Analysis::of(&counting, 0.05).insert.unwrap().rated.len(), 1);
}

#[test]
fn steps_that_failed_or_were_not_reached_are_shown_as_such() {
    let mut run = run();
    let qr = at(&run, "qr1000");
    run.steps[qr].systems[1] = rqps_model::run::SystemStep::pending();
    let reason = "gone".to_owned();
    run.steps[qr].systems[2].outcome = rqps_model::StepOutcome::Failed { reason };
    let analysis = Analysis::of(&run, 0.05);
    assert!(matches!(analysis.steps[qr].cells[2].state, CellState::Failed { .. }));
    for out in [
        text::render(&analysis, full()),
        markdown::render(&analysis),
        csv::render(&analysis),
        json::render(&analysis),
    ] {
        assert!(!out.contains("NaN"));
    }
    run.systems.truncate(1);
    run.steps.iter_mut().for_each(|step| step.systems.truncate(1));
    assert!(text::render(&Analysis::of(&run, 0.05), full()).contains("(target)"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn never_a_verdict_where_a_rate_failed(shares in prop::array::uniform3(0.5_f64..1.1)) {
        let mut run = run();
        run.steps.retain(|s| s.info.name == "qr1000");
        let qr = 0;
        for (system, share) in run.steps[qr].systems.iter_mut().zip(shares) {
            for slice in &mut system.slices {
                let rows = [1000.0 * share; 10];
                slice.streams = vec![inserts::stream(Role::Insert, Some(1000.0), &rows)];
            }
        }
        let analysis = Analysis::of(&run, 0.05);
        let cells = &analysis.steps[qr].cells;
        let held = |idx: usize| cells[idx].sla().unwrap().average_per_s >= 950.0;
        for idx in [1, 2] {
            prop_assert_eq!(cells[idx].verdict().is_some(), held(0) && held(idx));
            prop_assert_eq!(cells[idx].comparable_rqps().is_some(), held(0) && held(idx));
            let counts = analysis.headlines[idx - 1].counts;
            prop_assert!(counts.sla_failed >= usize::from(!(held(0) && held(idx))));
        }
        for idx in 0..cells.len() {
            prop_assert_eq!(analysis.steps[qr].level(idx) == Level::Unheld, !held(idx));
        }
    }
}
