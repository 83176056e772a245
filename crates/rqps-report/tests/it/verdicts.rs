//! Verdicts over a whole run: what nothing differs in, what does not stand among many, what would
//! settle it, starts of the servers.

use std::cmp::Ordering;

use rqps_analysis::Analysis;
use rqps_analysis::{Bar, Cell, Settle};
use rqps_model::run::Check;
use rqps_model::slice::Lateness;
use rqps_model::{Group, Run, RunStep, Schedule, StepKind, Verdict, WarningKind};
use rqps_report::warning::InWords;
use rqps_report::{Detail, TextOptions, csv, json, markdown, text};

use crate::details_of;
use rqps_fixtures::Draw;
use rqps_fixtures::blocks::{Wanted, around, reads, run, without_servers};

fn cells<'a>(analysis: &'a Analysis<'_>) -> Vec<&'a Cell> {
    analysis.steps.iter().map(|step| &step.cells[1]).collect()
}

fn full(analysis: &Analysis<'_>) -> String {
    let options = TextOptions { colour: false, detail: Detail::Full, width: text::WIDTH };
    text::render(analysis, options)
}

/// Twenty steps of a server against itself, blocks that spread by 3%.
fn same_twice() -> Run {
    let mut draw = Draw(11);
    let mut logs = || (0..12).map(|_| 0.1 * (draw.unit() - 0.5)).collect::<Vec<f64>>();
    run(&[(0..20).map(|i| reads(&format!("step-{i}"), &logs())).collect()])
}

#[test]
fn a_server_against_itself_is_the_same_or_unclear() {
    let run = same_twice();
    let analysis = Analysis::of(&run, 0.05);
    let n = |wanted| cells(&analysis).iter().filter(|c| c.verdict() == Some(wanted)).count();
    assert_eq!(n(Verdict::Slower) + n(Verdict::Faster), 0);
    assert!(n(Verdict::Same) >= 15, "{} of 20 steps are the same", n(Verdict::Same));
    assert!(cells(&analysis).iter().all(|cell| cell.direction().is_none()));
    let text = full(&analysis);
    assert!(text.contains("adjustment for all 20 ratios of the run (Benjamini-Hochberg"), "{text}");
    assert!(!text.contains("not adjusted"));
    let p = |cell: &&Cell| cell.comparison().unwrap().rqps.found.tested.p.unwrap();
    let adjusted = |cell: &&Cell| cell.comparison().unwrap().rqps.adjusted_p.unwrap();
    assert!(cells(&analysis).iter().all(|cell| adjusted(cell) >= p(cell)));
    let widths = "Median half-width of the intervals of rQPS: ";
    assert!(
        InWords::of(&analysis)
            .certainty
            .iter()
            .any(|c| c.starts_with(widths) && c.ends_with("on read steps."))
    );
}

/// Eight percent slower with p of about 0.03: slower alone, and not among twenty.
fn doubtful() -> Wanted {
    reads("doubtful", &around(-0.08, 0.1, 12))
}

fn with_others(n: usize) -> Run {
    let mut steps = vec![doubtful()];
    steps.extend((0..n).map(|i| reads(&format!("calm-{i}"), &around(0.0, 0.01, 12))));
    without_servers(run(&[steps]))
}

#[test]
fn a_doubtful_difference_stands_alone_and_falls_among_many() {
    let run = with_others(0);
    let analysis = Analysis::of(&run, 0.05);
    assert_eq!(analysis.steps[0].cells[1].verdict(), Some(Verdict::Slower));
    let run = with_others(19);
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[0].cells[1];
    let comparison = cell.comparison().unwrap();
    assert_eq!(
        (cell.verdict(), cell.fallen_verdict()),
        (Some(Verdict::Unclear), Some(Verdict::Slower))
    );
    assert!(!comparison.rqps.is_significant());
    assert_eq!(analysis.headlines[0].counts.unclear, 1);
    let detail = "Unclear on doubtful: slower or faster alone, but not after adjustment for all \
                  20 ratios of the run.";
    assert!(details_of(&analysis).iter().any(|d| d == detail));
    // More of the same would settle it, and it takes more among many than alone.
    let seconds = |settle: Option<Settle>| settle.unwrap().seconds().unwrap();
    let among = seconds(cell.settle());
    assert!(among > 4.0, "{among}");
    let out = full(&analysis);
    assert!(out.contains("slower on its own (p 0.0"), "{out}");
    let value: serde_json::Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    let told = &value["steps"][0]["systems"][1];
    assert_eq!(
        (&told["verdict"], &told["comparison"]["verdict_alone"]),
        (&"unclear".into(), &"slower".into())
    );
    assert_eq!(told["comparison"]["to_settle"]["seconds"].as_f64(), Some(among));
    for out in [csv::render(&analysis), markdown::render(&analysis)] {
        assert!(out.contains("unclear"));
    }
}

#[test]
fn verdicts_go_by_large_differences_and_signs_by_all() {
    // Twenty steps are slower by 1% for certain, and one by 8%, as one in thirty is by chance.
    let mut steps = vec![doubtful()];
    steps.extend((0..20).map(|i| reads(&format!("small-{i}"), &around(-0.01, 0.001, 12))));
    let run = without_servers(run(&[steps]));
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[0].cells[1];
    let comparison = cell.comparison().unwrap();
    assert!(cell.verdict() == Some(Verdict::Unclear) && cell.fallen_verdict().is_some());
    // The small ones do not help it to a verdict: p * 21 / 1. Of all it is the last: p * 21 / 21.
    let p = comparison.rqps.found.tested.p.unwrap();
    assert!((comparison.decision.unwrap().verdict_p.unwrap() - 21.0 * p).abs() < 1e-9, "{p}");
    assert!((comparison.rqps.adjusted_p.unwrap() - p).abs() < 1e-12);
    // It is beyond chance as the smaller ones are.
    let all: Vec<_> = cells(&analysis).iter().map(|cell| cell.direction()).collect();
    assert_eq!(all, [Some(Ordering::Less); 21]);
    let text = full(&analysis);
    assert!(text.contains("unclear <") && text.contains("same <"), "{text}");
}

#[test]
fn at_a_set_rate_all_ratios_but_the_rqps_are_tested() {
    let mut run = run(&[vec![reads("point-query", &around(-0.1, 0.01, 12))]]);
    for slice in run.steps[0].systems.iter_mut().flat_map(|system| &mut system.slices) {
        slice.lateness = Some(Lateness { n_due: 1000, ..Lateness::default() });
    }
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[0].cells[1];
    assert_eq!((cell.bar(), cell.verdict()), (Some(Bar::Rate), None));
    let comparison = cell.comparison().unwrap();
    assert_eq!((comparison.rqps.adjusted_p, analysis.n_tests()), (None, 0));
    // Each is the only one of its kind, so that its number changes nothing.
    for judged in [comparison.server_cpu, comparison.responses[0].judged].map(Option::unwrap) {
        assert_eq!(judged.adjusted_p, judged.found.tested.p);
        assert!(judged.is_significant(), "{judged:?}");
    }
    // What did other work is compared with nothing.
    let (name, found) = ("rows per query".to_owned(), "3 of 100".to_owned());
    run.steps[0].systems[1].checks = vec![Check { name, passed: false, found }];
    let analysis = Analysis::of(&run, 0.05);
    let comparison = analysis.steps[0].cells[1].comparison().unwrap();
    assert_eq!(comparison.server_cpu.unwrap().adjusted_p, None);
}

#[test]
fn no_time_is_asked_for_where_the_work_is_fixed() {
    let logs = around(-0.03, 0.2, 8);
    let fixed = Wanted { name: "l.i1".to_owned(), kind: StepKind::Write, logs };
    let mut run = run(&[vec![reads("timed", &around(-0.03, 0.08, 8)), fixed]]);
    (run.steps[1].info.kind, run.steps[1].info.family) = (StepKind::Insert, "l.i".into());
    let analysis = Analysis::of(&run, 0.05);
    assert_eq!(analysis.headlines[0].counts.unclear, 2);
    let all = details_of(&analysis);
    let details: Vec<&String> = all.iter().filter(|d| d.starts_with("Unclear")).collect();
    let more = "Unclear on timed: the interval is too wide for a verdict; more starts of the servers would \
                probably settle it:";
    let starts = "Unclear on l.i1: the interval is too wide for a verdict; the work is fixed, so \
                  only more loads (`loads`) measure more of it.";
    assert!(details.len() == 2 && details[0].starts_with(more), "{details:?}");
    assert_eq!(details[1], starts);
}

#[test]
fn a_bound_that_is_wider_takes_other_steps_into_account() {
    // A strong loss lets a doubtful one beside it stand: of two, the second needs p at 5%.
    let strong = reads("strong", &around(-0.3, 0.01, 12));
    let run = run(&[vec![doubtful(), strong]]);
    let analysis = Analysis::of(&run, 0.05);
    assert!(cells(&analysis).iter().all(|cell| cell.verdict() == Some(Verdict::Slower)));
    // Within 20% one of them is the same, though slower beyond chance.
    let analysis = Analysis::of(&run, 0.2);
    let doubtful = cells(&analysis)[0];
    assert_eq!(
        (doubtful.verdict(), doubtful.direction()),
        (Some(Verdict::Same), Some(Ordering::Less))
    );
    let text = full(&analysis);
    assert!(
        text.contains("same <") && text.contains("slower beyond chance, but by less than 20%"),
        "{text}"
    );
}

/// Three starts whose log ratios differ, blocks' noise far below that.
fn restarted() -> Run {
    let of = |middle: f64| {
        vec![reads("point-query", &around(middle, 0.001, 8)), reads("scan", &around(0.0, 0.001, 8))]
    };
    run(&[of(-0.12), of(-0.10), of(-0.08)])
}

#[test]
fn starts_of_the_servers_are_joined_and_decide_the_interval() {
    let run = restarted();
    let analysis = Analysis::of(&run, 0.05);
    assert_eq!((analysis.n_starts, analysis.steps.len()), (3, 2));
    let cell = &analysis.steps[0].cells[1];
    let rqps = cell.comparison().unwrap().rqps.found;
    assert!(rqps.holds_starts && rqps.starts == 3 && cell.slices().len() == 24);
    // Student's t of the three means: 4.303 times 0.02 over the root of three.
    let (low, high) = cell.rqps().unwrap().interval.unwrap();
    let half = 4.302_652_7 * 0.02 / 3.0_f64.sqrt();
    assert!((low.ln() + 0.1 + half).abs() < 1e-4 && (high.ln() + 0.1 - half).abs() < 1e-4);
    assert!((rqps.start_sd.unwrap() - 0.02).abs() < 1e-3);
    let text = full(&analysis);
    let told = "Each step was measured on 3 starts of the servers";
    assert!(
        InWords::of(&analysis).certainty.iter().any(|c| c.starts_with(told)),
        "{:?}",
        InWords::of(&analysis).certainty
    );
    assert!(!text.contains("started once"));
    let value: serde_json::Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    assert_eq!(value["run"]["n_starts"], 3);
    assert_eq!(value["steps"][0]["systems"][0]["slices"][23]["start"], 2);
}

#[test]
fn blocks_are_partners_within_their_start_only() {
    let mut run = restarted();
    // The second start of the candidate lacks its first block: no other start's takes its place.
    run.steps[2].systems[1].slices.remove(0);
    let analysis = Analysis::of(&run, 0.05);
    assert_eq!(analysis.steps[0].cells[1].rqps().unwrap().n, 23);
    // On a start without the candidate there is no ratio.
    run.steps[2].systems[1].slices.clear();
    let analysis = Analysis::of(&run, 0.05);
    let found = analysis.steps[0].cells[1].comparison().unwrap().rqps.found;
    assert_eq!((found.starts, found.tested.estimate.n), (2, 16));
}

#[test]
fn blocks_of_another_time_are_no_partners() {
    let mut run = run(&[vec![reads("point-query", &around(-0.1, 0.001, 8))]]);
    assert!(Analysis::of(&run, 0.05).steps[0].cells[1].rqps().is_some());
    // The candidate could not be started at first, and was measured alone an hour later.
    for slice in &mut run.steps[0].systems[1].slices {
        slice.start_unix_ms += 3_600_000;
    }
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[0].cells[1];
    assert!(cell.figure().is_some() && cell.rqps().is_none() && cell.verdict().is_none());
    // Nothing else of a report needs partners.
    assert!(full(&analysis).contains("point-query"));
    assert!(!json::render(&analysis).is_empty());
}

#[test]
fn ageings_of_another_time_are_not_compared() {
    let twins = ["point-query.pre", "point-query"].map(|name| reads(name, &around(0.0, 0.001, 8)));
    let mut run = run(&[Vec::from(twins)]);
    let ageing = |run: &Run| Analysis::of(run, 0.05).steps[1].cells[1].ageing.unwrap();
    assert!(ageing(&run).relative.is_some());
    for slice in run.steps.iter_mut().flat_map(|step| &mut step.systems[1].slices) {
        slice.start_unix_ms += 3_600_000;
    }
    assert!(ageing(&run).relative.is_none());
}

#[test]
fn a_sequential_run_with_restarts_has_one_ratio_a_start() {
    let mut run = restarted();
    run.schedule = Schedule::Sequential { slices: 24 };
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[0].cells[1];
    let ratio = cell.rqps().unwrap();
    let half = 4.302_652_7 * 0.02 / 3.0_f64.sqrt();
    assert_eq!(ratio.n, 3);
    assert!((ratio.interval.unwrap().1.ln() + 0.1 - half).abs() < 1e-4);
    assert!(cell.warnings.is_empty(), "8 slices on each of 3 starts are all that were planned");
    run.steps[4].systems[1].slices.truncate(7);
    let analysis = Analysis::of(&run, 0.05);
    assert_eq!(
        analysis.steps[0].cells[1].warnings[0].kind,
        WarningKind::Incomplete { n: 23, n_planned: Some(24) }
    );
}

#[test]
fn starts_that_differ_take_more_starts_and_not_more_time() {
    let of = |middle: f64| vec![reads("point-query", &around(middle, 0.001, 8))];
    let run = run(&[of(-0.14), of(-0.02)]);
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[0].cells[1];
    assert_eq!(cell.verdict(), Some(Verdict::Unclear));
    let settle = cell.settle().unwrap();
    assert!(
        settle.seconds().is_none()
            && rqps_report::settle::words(&settle).contains("starts of the servers")
    );
    let words: Vec<String> = full(&analysis).split_whitespace().map(str::to_owned).collect();
    assert!(words.join(" ").contains("starts of the servers would probably settle it"));
}

#[test]
fn starts_that_agree_are_told_as_such() {
    let of = || vec![reads("point-query", &around(0.0, 0.01, 8))];
    let run = run(&[of(), of()]);
    let told = "Starts differed no more than their blocks explain.";
    assert!(InWords::of(&Analysis::of(&run, 0.05)).certainty.iter().any(|c| c.ends_with(told)));
}

/// Tables are filled in blocks, so that a load is compared; a suite's indexes are created once.
#[test]
fn the_indexes_of_a_suite_are_no_part_of_what_was_tried() {
    let wanted = |name: &str, kind, log| Wanted { name: name.to_owned(), kind, logs: vec![log] };
    let of = |log| {
        let load = wanted("load", StepKind::Load, log);
        let index = wanted("create-index", StepKind::Index, log);
        vec![load, index, reads("point-query", &around(log, 0.01, 12))]
    };
    let mut run = run(&[of(-0.1), of(-0.1), of(-0.11)]);
    let is_index = |step: &&mut RunStep| step.info.kind == StepKind::Index;
    run.steps.iter_mut().filter(is_index).for_each(|step| step.info.group = Group::Other);
    let analysis = Analysis::of(&run, 0.05);
    assert_eq!(analysis.n_tests(), 2);
    let is_compared: Vec<bool> = analysis.steps.iter().map(|step| step.is_compared()).collect();
    assert_eq!(is_compared, [true, false, true]);
    let rqps = analysis.steps[1].cells[1].rqps().unwrap();
    assert!(rqps.n == 3 && rqps.interval.is_some(), "{rqps:?}");
}

/// A step that warms caches has no row: that it failed stands where it is told what was not measured.
#[test]
fn a_warm_up_that_failed_is_told() {
    let mut run = rqps_fixtures::demo();
    let sound = InWords::of(&Analysis::of(&run, 0.05)).not_measured.len();
    let step = run.steps.iter_mut().find(|s| s.info.kind == StepKind::WarmUp).unwrap();
    let reason =
        "the server died (it was killed by signal 9 (SIGKILL))\nthe end of its log:\nready\n"
            .to_owned();
    step.systems[1].outcome = rqps_model::StepOutcome::Failed { reason };
    let told = InWords::of(&Analysis::of(&run, 0.05)).not_measured;
    assert_eq!(told.len(), sound + 1);
    let line = "point-query.warm, which warms caches, failed on my8033.small: the server died (it was \
                killed by signal 9 (SIGKILL)). Later steps may have begun with colder caches.";
    assert!(told.iter().any(|l| l == line), "{told:?}");
}
