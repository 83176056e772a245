//! Causes, splits and ageing, from the run to every format.

use expect_test::expect;
use rqps_analysis::Analysis;
use rqps_explain::{Kind, Quantity, TimePart, work::Work};
use rqps_model::query_plan::{Access, Asked, Extra, Path};
use rqps_model::{Dbms, PlanShape, QueryPlan, Run, StepKind, Waits};
use rqps_report::causes::sentence;
use rqps_report::{Detail, TextOptions, csv, json, markdown, text};

use rqps_stacks::Stacks;

use crate::details_of;
use rqps_fixtures::blocks::{self, around, reads};
use rqps_fixtures::{causes, stacks};

fn full(analysis: &Analysis<'_>) -> String {
    text::render(analysis, TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH })
}

/// Words with one space between them.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn every_format_tells_the_causes() {
    let run = causes::run();
    let analysis = Analysis::of(&run, 0.05);
    let causes: Vec<_> = analysis.steps.iter().map(|s| s.cells[1].cause()).collect();
    let kinds: Vec<_> = causes.iter().map(|cause| cause.map(|c| c.kind)).collect();
    assert_eq!(kinds, [Some(Kind::CpuOverhead), Some(Kind::Waiting), None]);
    let cells = analysis.steps.iter().map(|step| &step.cells[1]);
    let sentences: Vec<String> = cells.filter_map(sentence::of_cell).collect();
    expect![[r#"
        0.74: server CPU per query 2.75x (+35 µs of +35 µs), IO unchanged: new CPU overhead
        0.74: waiting +28 µs of +35 µs per query, server CPU 1.35x, IO unchanged: contention or waiting"#]].assert_eq(&sentences.join("\n"));
    let formats = [
        ("text", full(&analysis)),
        ("markdown", markdown::render(&analysis).replace('\\', "")),
        ("csv", csv::render(&analysis)),
        ("json", json::render(&analysis)),
    ];
    for (name, out) in &formats {
        let out = flat(out);
        for sentence in &sentences {
            assert!(out.contains(sentence), "{name} lacks {sentence}");
        }
    }
    // The summary stands in the head of each.
    for (name, out) in formats.iter().filter(|(name, _)| *name != "csv") {
        let told = "New CPU overhead: server CPU per query rose to";
        assert!(flat(out).contains(told), "{name} lacks {told}");
    }
    expect![[r#"
        Median rQPS 0.74.
        Largest loss: point-query 0.74 [0.72, 0.76], server CPU per query 2.75x [2.66, 2.84].
        Cause: New CPU overhead: server CPU per query rose to 2.75x on point-query, IO unchanged.
        Cause: Contention or waiting: +28 µs per query on range-covered-pk.
        1 the same of 3 steps."#]]
    .assert_eq(&details_of(&analysis).join("\n"));
}

#[test]
fn slots_are_of_the_cpus_that_the_run_may_use() {
    let n_cpus = |allowed: u32| {
        let mut run = causes::run();
        run.host.n_cpus = allowed;
        let analysis = Analysis::of(&run, 0.05);
        analysis.steps[0].cells[1].split().unwrap().slots.n_cpus
    };
    assert!((n_cpus(1) - 1.0).abs() < 1e-9 && (n_cpus(8) - 2.0).abs() < 1e-9);
}

#[test]
fn parts_add_up_to_the_time_and_their_changes_to_its_change() {
    let run = causes::run();
    let analysis = Analysis::of(&run, 0.05);
    for step in &analysis.steps {
        let split = step.cells[1].split().unwrap();
        let sum = |of: fn(&rqps_explain::Change) -> f64| -> f64 {
            split.parts.iter().map(|(_, change)| of(change)).sum()
        };
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6 * b.abs().max(1.0);
        assert!(near(sum(|c| c.base), split.total.base));
        assert!(near(sum(|c| c.candidate), split.total.candidate));
        assert!(near(sum(|c| c.difference.point), split.total.difference.point));
        let shares: f64 = TimePart::ALL.into_iter().filter_map(|part| split.share(part)).sum();
        assert!(near(shares, 1.0) || split.total.difference.point.abs() < 1e-9);
    }
}

#[test]
fn what_was_not_counted_is_absent_and_no_zero() {
    let mut run = causes::run();
    for slice in &mut run.steps[0].systems[0].slices {
        slice.counters.insert("Handler_read_key".to_owned(), slice.n_operations);
        slice.usage.waits = Waits { server_run_wait_ns: Some(7), ..Waits::default() };
    }
    let analysis = Analysis::of(&run, 0.05);
    let split = analysis.steps[0].cells[1].split().unwrap();
    // The candidate does not count them.
    assert_eq!(split.quantity(Quantity::Work(Work::Rows)), None);
    assert_eq!(split.quantity(Quantity::ServerRunWait), None);
    assert!(split.quantity(Quantity::Voluntary).is_some());
}

#[test]
fn ageing_is_that_of_each_system_and_apart_from_the_base() {
    let run = causes::ageing();
    let analysis = Analysis::of(&run, 0.05);
    assert!(analysis.steps[0].cells.iter().all(|cell| cell.ageing.is_none()));
    let of = |idx: usize| analysis.steps[2].cells[idx].ageing.unwrap();
    assert!((of(0).ratio.point - 1.0).abs() < 1e-3 && of(0).relative.is_none());
    let relative = of(1).relative.unwrap();
    assert!((of(1).ratio.point - (-0.2_f64).exp()).abs() < 1e-3);
    assert!((relative.point - (-0.2_f64).exp()).abs() < 1e-3);
    let (low, high) = relative.interval.unwrap();
    assert!(low < relative.point && relative.point < high && high < 0.85);
    let out = full(&analysis);
    let at = out.find("Ageing").unwrap();
    let table: Vec<&str> = out[at..].lines().take(7).collect();
    expect![[r#"
        Ageing: QPS after the steps that write / QPS before them; below 1 is slower
          own  95% interval    / base  95% interval    step         system
        1.00   [1.00, 1.00]                            point-query  ma101105.small
        0.819  [0.812, 0.826]   0.819  [0.812, 0.826]  point-query  ma110405.small
        own: of the system alone, changes of the host included; / base: own / that of the base, in which
        changes of the host cancel where systems were interleaved.
    "#]].assert_eq(&table.join("\n"));
    assert!(json::render(&analysis).contains("\"ageing\""));
}

#[test]
fn ageing_in_turns_is_of_blocks_with_their_partners() {
    let steps = vec![
        reads("point-query.pre", &around(-0.1, 0.01, 12)),
        reads("point-query", &around(-0.3, 0.01, 12)),
    ];
    let mut run = blocks::run(&[steps]);
    // The host gets slower from block to block: only partners say how the systems differ.
    for system in &mut run.steps[1].systems {
        for slice in &mut system.slices {
            slice.duration_ns *= 1 + u64::from(slice.idx);
        }
    }
    run.steps[1].systems[0].slices.remove(0);
    run.steps[1].systems[1].slices.pop();
    let analysis = Analysis::of(&run, 0.05);
    let relative = analysis.steps[1].cells[1].ageing.unwrap().relative.unwrap();
    assert!((relative.point - (-0.2_f64).exp()).abs() < 0.02, "{relative:?}");
}

fn plan(path: Path, index: Option<&str>, extras: &[Extra]) -> QueryPlan {
    let sql = "SELECT c FROM sbtest1 WHERE k = ?".to_owned();
    let index = index.map(str::to_owned);
    let access = Access { table: "sbtest1".to_owned(), path, index, is_covering: false };
    let extras = extras.iter().copied().collect();
    QueryPlan {
        asked: Asked::Prepared,
        shape: Some(PlanShape { accesses: vec![access], extras, ..PlanShape::default() }),
        ..QueryPlan::without(Dbms::Mariadb, sql, "")
    }
}

/// The cause of the step that loses by CPU, and the one of the step that loses by waiting.
fn two_causes(run: &Run) -> [(Kind, String); 2] {
    let analysis = Analysis::of(run, 0.05);
    [0, 1].map(|at| {
        let cell = &analysis.steps[at].cells[1];
        (cell.cause().unwrap().kind, sentence::of_cell(cell).unwrap())
    })
}

#[test]
fn another_way_to_the_rows_is_a_plan_change() {
    let mut run = causes::run();
    let lookup = || plan(Path::Lookup, Some("k_\u{1b}[2J1"), &[]);
    for step in &mut run.steps[..2] {
        step.systems[0].plans = vec![lookup()];
        step.systems[1].plans = vec![plan(Path::WholeTable, None, &[])];
    }
    let [(cpu, sentence), (waiting, _)] = two_causes(&run);
    assert_eq!(cpu, Kind::PlanChange);
    // Names of indexes are a server's words.
    expect!["0.74: full scan instead of lookup on k_\u{fffd}[2J1, server CPU per query 2.75x, +35 µs in total: plan change"].assert_eq(&sentence);
    let summary = details_of(&Analysis::of(&run, 0.05));
    assert!(summary.iter().any(|line| line.contains("Plan change")), "{summary:?}");
    // Threads that read no more storage do not wait longer because of another plan.
    assert_eq!(waiting, Kind::Waiting);
    for step in &mut run.steps[..2] {
        // A sort that a version does not tell is no other way to the rows.
        step.systems[1].plans = vec![plan(Path::Lookup, Some("k_\u{1b}[2J1"), &[Extra::Sort])];
    }
    let [(cpu, sentence), (waiting, _)] = two_causes(&run);
    assert_eq!((cpu, waiting), (Kind::CpuOverhead, Kind::Waiting), "{sentence}");
    // The same change on a system that is faster by it.
    let mut run = causes::run();
    run.steps[0].systems[0].plans = vec![plan(Path::WholeTable, None, &[])];
    run.steps[0].systems[1].plans = vec![lookup()];
    run.steps[0].systems.swap(0, 1);
    let [(faster, sentence), _] = two_causes(&run);
    assert_eq!(faster, Kind::PlanChange, "{sentence}");
    assert!(sentence.contains("full scan instead of lookup"), "{sentence}");
}

#[test]
fn severe_differences_stand_behind_the_causes_that_they_can_move() {
    let mut run = causes::run();
    let set = |run: &mut Run, name: &str, values: [&str; 2]| {
        for (system, value) in run.systems.iter_mut().zip(values) {
            system.settings.insert(name.to_owned(), value.to_owned());
        }
    };
    set(&mut run, "general_log", ["OFF", "ON"]);
    // Of no weight to steps that read.
    set(&mut run, "log_bin", ["ON", "ON"]);
    set(&mut run, "sync_binlog", ["0", "1"]);
    set(&mut run, "innodb_doublewrite", ["ON", "OFF"]);
    run.systems[1].build.insert("assertions".to_owned(), "on".to_owned());
    let [(kind, sentence), (_, waiting)] = two_causes(&run);
    assert_eq!(kind, Kind::CpuOverhead);
    expect!["0.74: server CPU per query 2.75x (+35 µs of +35 µs), IO unchanged, with statements logged all against none and build with assertions on against off: new CPU overhead"].assert_eq(&sentence);
    assert!(waiting.contains("with statements logged"), "{waiting}");
    // Many are counted.
    set(&mut run, "performance_schema", ["OFF", "ON"]);
    set(&mut run, "innodb_page_size", ["16384", "4096"]);
    let [(_, sentence), _] = two_causes(&run);
    assert!(sentence.contains(" and 1 difference more"), "{sentence}");
    // On steps that write they are told of waiting.
    for step in &mut run.steps {
        step.info.kind = StepKind::Write;
    }
    let mut run = Run { systems: causes::run().systems, ..run };
    set(&mut run, "log_bin", ["ON", "ON"]);
    set(&mut run, "sync_binlog", ["0", "1"]);
    let [(_, cpu), (kind, waiting)] = two_causes(&run);
    assert!(!cpu.contains("sync_binlog"), "{cpu}");
    assert_eq!(kind, Kind::Waiting);
    assert!(waiting.contains("with sync_binlog 1 against 0"), "{waiting}");
}

#[test]
fn waiting_is_told_by_its_place_where_threads_were_looked_at() {
    let run = causes::run();
    let mut profiles = stacks::pair(1);
    let looks = |places: &str| Stacks::parse(places).unwrap();
    let running = "serving clients;running or runnable 200\n";
    profiles[0].waits = looks(&format!("{running}serving clients;asleep;futex;futex_wait 10\n"));
    profiles[1].waits = looks(&format!(
        "{running}serving clients;asleep;futex;futex\u{1b}[2J_wait 10\n\
         serving clients;asleep;futex;futex_wait 120\n\
         background;asleep;futex;futex_wait 9000\n"
    ));
    let said = |profiles: &[rqps_stacks::StackProfile], at: usize| {
        let analysis = Analysis::of(&run, 0.05).with_profiles(profiles);
        sentence::of_cell(&analysis.steps[at].cells[1]).unwrap()
    };
    expect!["0.74: waiting +28 µs of +35 µs per query, server CPU 1.35x, IO unchanged, threads +24.0 µs asleep: futex, futex_wait in extra slices: contention or waiting"].assert_eq(&said(&profiles, 1));
    // Of a step without a profile nothing more is said, and nothing of a difference by chance.
    assert!(!said(&profiles, 0).contains("extra slices"));
    profiles[1].waits = looks(&format!("{running}serving clients;asleep;futex;futex_wait 14\n"));
    assert!(!said(&profiles, 1).contains("extra slices"), "{}", said(&profiles, 1));
    // A server's words do not reach a terminal as they are.
    profiles[1].waits =
        looks(&format!("{running}serving clients;asleep;futex;futex\u{1b}[2J_wait 120\n"));
    let sentence = said(&profiles, 1);
    assert!(sentence.contains("in extra slices") && !sentence.contains('\u{1b}'), "{sentence}");
}
