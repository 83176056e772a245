//! Warnings that are seen in the blocks of a step: levels, drift, stalls; percentiles that
//! blocks cannot carry.

use rqps_analysis::Analysis;
use rqps_model::{Run, Schedule, Slice, StepKind, StepOutcome, WarningKind};
use rqps_report::warning;
use rqps_report::warning::InWords;
use rqps_report::{Detail, TextOptions, csv, json, text};

use rqps_fixtures::blocks::{Wanted, around, reads, run, without_servers};
use rqps_fixtures::response_times;

fn update(logs: &[f64]) -> Run {
    run(&[vec![Wanted {
        name: "update-index".to_owned(),
        kind: StepKind::Write,
        logs: logs.to_vec(),
    }]])
}

/// The details of the candidate's marks of one kind.
fn details(run: &Run, key: &str, system_idx: usize) -> Vec<String> {
    let analysis = Analysis::of(run, 0.05);
    let warnings = &analysis.steps[0].cells[system_idx].warnings;
    warnings.iter().filter(|own| own.kind.key() == key).map(warning::detail).collect()
}

fn slices(run: &mut Run, system_idx: usize) -> &mut Vec<Slice> {
    &mut run.steps[0].systems[system_idx].slices
}

/// Every third window of a slice at a tenth, and what that leaves of its operations.
fn stall(slice: &mut Slice, every: usize) {
    let before: u64 = slice.windows.counts.iter().map(|c| u64::from(*c)).sum();
    for count in slice.windows.counts.iter_mut().step_by(every) {
        *count /= 10;
    }
    let after: u64 = slice.windows.counts.iter().map(|c| u64::from(*c)).sum();
    slice.n_operations = slice.n_operations * after / before;
}

#[test]
fn calm_steps_have_no_mark() {
    let run = update(&around(0.0, 0.005, 12));
    let analysis = Analysis::of(&run, 0.05);
    assert!(analysis.footnotes.is_empty(), "{:?}", analysis.footnotes);
    let cell = &analysis.steps[0].cells[1];
    let steady = cell.comparison().unwrap().steady.unwrap().estimate();
    assert!((steady.point - 1.0).abs() < 0.02 && steady.n == 12);
    // The better windows lie above the average: uniform between 0.85 and 1.15 of it.
    assert!((cell.steady_rate().unwrap() / cell.figure().unwrap().point - 1.11).abs() < 0.02);
}

#[test]
fn slices_that_are_missing_are_counted_over_all_starts() {
    let mut run = update(&around(0.0, 0.005, 12));
    run.schedule = Schedule::Sequential { slices: 24 };
    let mut second = run.steps[0].clone();
    second.start = 1;
    for system in &mut second.systems {
        system.slices.clear();
        system.outcome = StepOutcome::Pending;
    }
    run.steps.push(second);
    assert_eq!(details(&run, "incomplete", 1), ["12 of 24"]);
}

#[test]
fn small_shares_of_other_processes_are_told_of_all_slices_together() {
    let mut run = update(&around(0.0, 0.005, 12));
    let ms = 1_000_000;
    // Of two CPUs for a second each: all of one for the run, of the other `others` for somebody else.
    let mut with_others = |others: &[u64]| {
        for (slice, others) in slices(&mut run, 1).iter_mut().zip(others.iter().cycle()) {
            let usage = &mut slice.usage;
            usage.server.as_mut().unwrap().cpu_total_ns = 900 * ms;
            usage.client.cpu_total_ns = 100 * ms;
            usage.host.cpu_user_ns = 1000 * ms + others * ms;
            (usage.host.cpu_system_ns, usage.host.cpu_iowait_ns) = (0, 0);
            usage.host.cpu_idle_ns = 1000 * ms - others * ms;
            (usage.host.cpu_steal_ns, usage.host.n_cpus) = (0, 2);
            assert_eq!(usage.others_pct(), None, "no slice tells it alone");
        }
        details(&run, "other-processes", 1)
    };
    assert_eq!(with_others(&[100]), ["5% of all CPU time"]);
    // Ticks that came too often in one slice came too seldom in the next.
    assert_eq!(with_others(&[130, 0]), Vec::<String>::new());
    // One that is marked is told of, with how many there are.
    slices(&mut run, 1)[3].warnings.push(WarningKind::OtherProcesses { pct: 30 });
    assert_eq!(
        details(&run, "other-processes", 1),
        ["up to 30% of all CPU time in 1 of 12 slices"]
    );
}

#[test]
fn stalls_of_one_side_are_told_with_whose_they_were() {
    let mut run = update(&around(0.0, 0.005, 12));
    for slice in slices(&mut run, 1) {
        stall(slice, 5);
    }
    let detail = details(&run, "stalls", 1);
    assert_eq!(detail.len(), 1);
    assert!(
        detail[0].contains("stalls of this system; the host's counters show no cause"),
        "{detail:?}"
    );
    assert!(details(&run, "stalls", 0).is_empty());
    // The same with CPU that went elsewhere in the candidate's turns.
    for (system_idx, steal_ns) in [(0, 1_000_000), (1, 300_000_000)] {
        for slice in slices(&mut run, system_idx) {
            slice.usage.host.cpu_steal_ns = steal_ns;
        }
    }
    let detail = details(&run, "stalls", 1);
    assert!(detail[0].contains("caused by the host: steal took"), "{detail:?}");
    // Both sides stalled alike: no finding.
    for slice in slices(&mut run, 0) {
        stall(slice, 5);
    }
    assert!(details(&run, "stalls", 1).is_empty());
}

#[test]
fn stalls_over_several_starts_stand_beside_the_ratio_of_the_cell() {
    // Starts count alike in rQPS, however many blocks they have.
    let of = |middle: f64, n: usize| {
        let logs = around(middle, 0.005, n);
        vec![Wanted { name: "update-index".to_owned(), kind: StepKind::Write, logs }]
    };
    let mut run = run(&[of(0.0, 12), of(-0.1, 4), of(-0.2, 4)]);
    for step in &mut run.steps {
        step.systems[1].slices.iter_mut().for_each(|slice| stall(slice, 5));
    }
    // A fifth of the windows lost nine tenths; the mean of starts is -0.1, that of blocks -0.06.
    let found = rqps(&run).point;
    assert!((found.ln() - (0.82_f64.ln() - 0.1)).abs() < 0.01, "{found}");
    let detail = details(&run, "stalls", 1);
    let average: f64 = detail[0].split(' ').next().unwrap().parse().unwrap();
    assert!((average - found).abs() < 0.0051, "{detail:?} {found}");
}

/// The same steps as slices that were measured one system after the other.
fn one_by_one(logs: &[f64]) -> Run {
    let mut run = update(logs);
    run.schedule = Schedule::Sequential { slices: u32::try_from(logs.len()).unwrap() };
    for slice in run.steps[0].systems.iter_mut().flat_map(|system| &mut system.slices) {
        slice.n_rounds = None;
    }
    run
}

#[test]
fn stalls_are_told_of_systems_measured_one_after_the_other() {
    let mut run = one_by_one(&around(0.0, 0.005, 6));
    let told = |run: &Run| details(run, "stalls", 1);
    assert_eq!(told(&run), Vec::<String>::new());
    slices(&mut run, 1).iter_mut().for_each(|slice| stall(slice, 5));
    let words = "stalls of this system; the host's counters show no cause";
    assert!(told(&run)[0].contains(words), "{:?}", told(&run));
    for slice in slices(&mut run, 1) {
        slice.usage.host.cpu_steal_ns = 300_000_000;
    }
    let found = told(&run);
    assert!(found[0].contains("caused by the host: steal took"), "{found:?}");
    assert!(found[0].ends_with(" in the worst slices, 0% in the other side's slices"), "{found:?}");
    assert!(details(&run, "stalls", 0).is_empty());
    // Fewer than four on a side tell nothing.
    slices(&mut run, 0).truncate(3);
    assert_eq!(told(&run), Vec::<String>::new());
}

#[test]
fn few_slices_tell_of_a_drift_by_their_parts() {
    // Four slices of two seconds have eight parts of one; the rate falls by 30% over all of them.
    let mut run = one_by_one(&around(0.0, 0.005, 4));
    for (at, slice) in (0..).zip(slices(&mut run, 1)) {
        for (nth, count) in (at * 100..).zip(&mut slice.windows.counts) {
            *count -= *count * 3 * nth / 4000;
        }
    }
    let told = |run: &Run, system_idx| details(run, "drift", system_idx);
    let found = told(&run, 1);
    assert!(found.len() == 1 && found[0].starts_with("rate 0.7"), "{found:?}");
    assert_eq!(told(&run, 0), Vec::<String>::new());
    // Blocks of turns are not one piece of time, and parts of three slices are shorter than a second.
    let mut is_interleaved = run.clone();
    slices(&mut is_interleaved, 1).iter_mut().for_each(|slice| slice.n_rounds = Some(20));
    assert_eq!(told(&is_interleaved, 1), Vec::<String>::new());
    slices(&mut run, 1).truncate(3);
    assert_eq!(told(&run, 1), Vec::<String>::new());
}

#[test]
fn background_work_that_begins_within_a_step_is_told() {
    let mut run = run(&[vec![reads("point-query", &around(0.0, 0.005, 12))]]);
    let nothing = Vec::<String>::new();
    // Of two CPUs for two seconds, so much is the CPU time of threads that serve nobody, milliseconds.
    let mut with_others = |of: &dyn Fn(usize) -> u64| {
        for (at, slice) in slices(&mut run, 1).iter_mut().enumerate() {
            slice.usage.waits.served_cpu_ns = Some(1_000_000_000);
            let server = slice.usage.server.as_mut().unwrap();
            server.cpu_total_ns = 1_000_000_000 + of(at) * 1_000_000;
        }
        details(&run, "background-began", 1)
    };
    let told = ["up to 10% of the host's CPU time in 7 of 12 blocks"];
    assert_eq!(with_others(&|at| if at < 5 { 20 } else { 400 }), told);
    // What is there from the first block on, ends, or is small does not begin.
    assert_eq!(with_others(&|_| 400), nothing);
    assert_eq!(with_others(&|at| if at < 5 { 400 } else { 20 }), nothing);
    assert_eq!(with_others(&|at| if at < 5 { 20 } else { 150 }), nothing);
    assert_eq!(with_others(&|at| if at < 5 { 60 } else { 400 }), nothing);
    // Writing begins where no statement writes; others write as they like.
    let written = |run: &mut Run| {
        for (at, slice) in slices(run, 1).iter_mut().enumerate() {
            let server = slice.usage.server.as_mut().unwrap();
            server.write_bytes = if at == 6 { 3 << 20 } else { 4096 };
        }
        details(run, "background-began", 1)
    };
    assert_eq!(written(&mut run), ["up to 3.0 MB written in 1 of 12 blocks"]);
    assert_eq!(written(&mut update(&around(0.0, 0.005, 12))), nothing);
}

#[test]
fn two_levels_are_told_of_the_system_that_has_them() {
    let mut run = update(&around(0.0, 0.005, 12));
    for slice in slices(&mut run, 1) {
        for (at, count) in slice.windows.counts.iter_mut().enumerate() {
            // Two narrow levels in turns.
            *count = if at % 2 == 0 { 140 } else { 240 } + *count % 5;
        }
    }
    let detail = details(&run, "two-levels", 1);
    assert_eq!(detail, ["7102 and 12094/s, 50% of the windows at the lower"]);
    assert!(details(&run, "two-levels", 0).is_empty());
}

#[test]
fn two_levels_that_systems_are_at_together_are_the_hosts() {
    // Windows of a system at its lower level, one in four of 8 at a time, so many windows later than those of the other.
    let set = |run: &mut Run, system_idx: usize, low: u32, later: usize| {
        for slice in slices(run, system_idx) {
            for (at, count) in slice.windows.counts.iter_mut().enumerate() {
                let is_low = ((at + later) / 8).is_multiple_of(4);
                *count = if is_low { low } else { 2 * low } + *count % 5;
            }
        }
    };
    let host = |run: &Run, idx| details(run, "host-levels", idx);
    let own = |run: &Run, idx| details(run, "two-levels", idx);
    let mut run = update(&around(0.0, 0.005, 12));
    set(&mut run, 0, 140, 0);
    set(&mut run, 1, 120, 0);
    assert_eq!(
        host(&run, 1),
        ["28% of the windows at the lower, 1.98 times as fast at the higher"]
    );
    assert!(!host(&run, 0).is_empty() && own(&run, 0).is_empty() && own(&run, 1).is_empty());
    // As often, at other times.
    set(&mut run, 1, 120, 16);
    assert!(host(&run, 0).is_empty() && !own(&run, 0).is_empty() && !own(&run, 1).is_empty());
    // The times of slices one after the other are not the same.
    set(&mut run, 1, 120, 0);
    run.schedule = Schedule::Sequential { slices: 12 };
    assert!(host(&run, 0).is_empty() && !own(&run, 1).is_empty());
}

#[test]
fn windows_of_long_statements_tell_nothing() {
    let mut run = update(&around(0.0, 0.005, 12));
    for slice in slices(&mut run, 1) {
        // One statement in ten windows, of 2000 rows.
        (slice.n_queries, slice.n_events) = (10, 10);
        for (at, count) in slice.windows.counts.iter_mut().enumerate() {
            *count = if at % 10 == 0 { 2000 } else { 0 };
        }
    }
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[0].cells[1];
    assert!(cell.steady_rate().is_none() && cell.comparison().unwrap().steady.is_none());
    assert!(analysis.footnotes.is_empty(), "{:?}", analysis.footnotes);
    // Ten short statements of a transaction in a window, and none of its long ones, which end in the next.
    let mut run = update(&around(0.0, 0.005, 12));
    for slice in slices(&mut run, 1) {
        let n = slice.windows.counts.len();
        (slice.n_queries, slice.n_events) = (10 * n as u64, n as u64 / 2);
        for (at, count) in slice.windows.counts.iter_mut().enumerate() {
            *count = if at % 2 == 0 { 20 } else { 0 };
        }
    }
    let analysis = Analysis::of(&run, 0.05);
    assert!(analysis.steps[0].cells[1].steady_rate().is_none());
}

#[test]
fn drift_is_told_of_figures_and_of_ratios() {
    let logs: Vec<f64> =
        around(0.0, 0.005, 16).iter().zip(0..).map(|(l, i)| l - 0.02 * f64::from(i)).collect();
    let run = update(&logs);
    let detail = details(&run, "drift", 1);
    assert!(
        detail[0].starts_with("rate 0.740 [") && detail[0].contains("; rQPS 0.740 ["),
        "{detail:?}"
    );
    assert!(details(&run, "drift", 0).is_empty());
    // A drift that both share leaves the ratio alone.
    let mut run = update(&around(0.0, 0.005, 16));
    for system_idx in [0, 1] {
        for (slice, i) in slices(&mut run, system_idx).iter_mut().zip(0_u64..) {
            slice.n_operations = slice.n_operations * (100 - i) / 100;
            slice.n_operations += i % 3 * 40;
        }
    }
    for system_idx in [0, 1] {
        let detail = details(&run, "drift", system_idx);
        assert!(detail[0].starts_with("rate 0.8") && !detail[0].contains("rQPS"), "{detail:?}");
    }
}

#[test]
fn blocks_with_few_responses_have_no_ratio_of_the_tail() {
    let run = run(&[vec![reads("point-query", &around(-0.1, 0.01, 12))]]);
    let analysis = Analysis::of(&run, 0.05);
    let comparison = analysis.steps[0].cells[1].comparison().unwrap();
    let p50 = comparison.responses[0].judged.unwrap();
    // A tenth slower takes a tenth longer.
    assert!((p50.estimate().point.ln() - 0.1).abs() < 0.01 && p50.is_significant());
    assert!(comparison.responses[2].judged.is_some());
    let mut few = run.clone();
    let bytes = response_times(1500);
    few.steps[0].systems[0].slices[3].response_times.clone_from(&bytes);
    assert!(
        Analysis::of(&few, 0.05).steps[0].cells[1].comparison().unwrap().responses[2]
            .judged
            .is_some()
    );
    few.steps[0].systems[0].slices[3].response_times = response_times(300);
    let analysis = Analysis::of(&few, 0.05);
    let responses = &analysis.steps[0].cells[1].comparison().unwrap().responses;
    assert!(responses[1].judged.is_some() && responses[2].judged.is_none());
    assert_eq!((responses[2].n_fewest, responses[2].n_needed), (300, 1000));
    let value: serde_json::Value = serde_json::from_str(&json::render(&analysis)).unwrap();
    let told = &value["steps"][0]["systems"][1]["comparison"]["response_times"]["p99"];
    assert_eq!(
        (&told["ratio"], &told["fewest_responses"]),
        (&serde_json::Value::Null, &300.into())
    );
    assert!(csv::render(&analysis).contains("response_p99_ratio_adjusted_p"));
}

/// Lets the hypervisor keep `pct` percent of what the slice of a system wanted.
fn steal(run: &mut Run, system_idx: usize, at: usize, pct: u64) {
    let host = &mut slices(run, system_idx)[at].usage.host;
    (host.cpu_user_ns, host.cpu_system_ns, host.cpu_iowait_ns) = (900_000_000, 0, 0);
    host.cpu_steal_ns = 900_000_000 * pct / (100 - pct);
    host.n_cpus = 2;
}

fn rqps(run: &Run) -> rqps_model::Estimate {
    Analysis::of(run, 0.05).steps[0].cells[1].rqps().unwrap()
}

#[test]
fn blocks_of_a_disturbed_host_are_left_out_of_ratios() {
    let mut logs = around(0.0, 0.005, 24);
    for at in [3, 4, 5, 6] {
        logs[at] = if at % 2 == 0 { -0.7 } else { 0.5 };
    }
    let mut run = without_servers(update(&logs));
    let wide = rqps(&run);
    assert!(wide.n == 24 && wide.interval.unwrap().1 > 1.05, "{wide:?}");
    // What hits one side alone may be that side's doing.
    (3..7).for_each(|at| steal(&mut run, 1, at, 40));
    assert_eq!(rqps(&run), wide);
    assert_eq!(details(&run, "blocks-excluded", 1), Vec::<String>::new());
    (3..7).for_each(|at| steal(&mut run, 0, at, 20));
    let narrow = rqps(&run);
    assert!(narrow.n == 20 && narrow.interval.unwrap().1 < 1.01, "{narrow:?}");
    let told = "4 of 24 blocks, which lacked up to 40% of the CPU time wanted";
    assert_eq!(details(&run, "blocks-excluded", 1), [told]);
    let analysis = Analysis::of(&run, 0.05);
    let comparison = analysis.steps[0].cells[1].comparison().unwrap();
    assert_eq!(comparison.server_cpu.as_ref().unwrap().estimate().n, 20);
    // A little is no disturbance.
    (3..7).for_each(|at| steal(&mut run, 0, at, 19));
    assert_eq!(rqps(&run), wide);
}

#[test]
fn blocks_in_which_nobody_measured_are_left_out_of_ratios() {
    let mut logs = around(0.0, 0.005, 24);
    logs[5] = -0.9;
    let mut run = without_servers(update(&logs));
    assert_eq!(rqps(&run).n, 24);
    for side in [0, 1] {
        slices(&mut run, side)[5].warnings.push(WarningKind::Paused { seconds: 40 });
    }
    let narrow = rqps(&run);
    assert!(narrow.n == 23 && narrow.interval.unwrap().0 > 0.99, "{narrow:?}");
    assert_eq!(details(&run, "paused", 1), ["1 of 24 slices, up to 40 s"]);
    assert_eq!(details(&run, "blocks-excluded", 1), Vec::<String>::new());
    // One in which nothing was done takes the ratio away unless it is left out, and it is told so then only.
    let says_none = |run: &Run| {
        let told = InWords::of(&Analysis::of(run, 0.05)).not_measured;
        told.iter().any(|text| text.starts_with("No ratio where a slice finished no operation"))
    };
    slices(&mut run, 1)[5].n_operations = 0;
    assert!(rqps(&run) == narrow && !says_none(&run));
    slices(&mut run, 1)[6].n_operations = 0;
    assert!(Analysis::of(&run, 0.05).steps[0].cells[1].rqps().is_none() && says_none(&run));
}

#[test]
fn nothing_is_left_out_where_that_would_move_the_ratio() {
    // A block in four is slower by 30%, and in these alone the host is short of CPU.
    let mut logs = around(0.0, 0.005, 24);
    let slow = [2, 6, 10, 14, 18, 22];
    slow.iter().for_each(|at| logs[*at] -= 0.3);
    let mut run = update(&logs);
    let whole = rqps(&run);
    for at in slow {
        [0, 1].into_iter().for_each(|side| steal(&mut run, side, at, 40));
    }
    let (low, high) = whole.interval.unwrap();
    assert!(low > 0.85 && high < 1.0, "{whole:?}");
    assert_eq!(rqps(&run), whole);
    assert_eq!(details(&run, "blocks-excluded", 1), Vec::<String>::new());
}

#[test]
fn nothing_is_left_out_where_scarce_cpu_costs_one_system_more() {
    let mut logs = around(0.0, 0.08, 24);
    let short_of_cpu = [4, 9, 14, 19];
    short_of_cpu.iter().zip([-0.12, -0.14, -0.13, -0.11]).for_each(|(at, log)| logs[*at] = log);
    let mut run = update(&logs);
    let whole = rqps(&run);
    for at in short_of_cpu {
        [0, 1].into_iter().for_each(|side| steal(&mut run, side, at, 40));
    }
    // The ratio of the others would be one that all of them allow.
    assert!(whole.interval.unwrap().1 > 1.0, "{whole:?}");
    assert_eq!(rqps(&run), whole);
}

#[test]
fn blocks_of_equal_work_are_never_left_out() {
    let mut logs = around(0.0, 0.005, 24);
    (logs[3], logs[4]) = (0.5, -0.7);
    let mut run = update(&logs);
    (run.steps[0].info.kind, run.steps[0].info.family) = (StepKind::Insert, "l.i".into());
    assert!(run.steps[0].info.has_blocks_of_work());
    let whole = rqps(&run);
    for at in [3, 4] {
        [0, 1].into_iter().for_each(|side| steal(&mut run, side, at, 40));
    }
    assert_eq!(rqps(&run), whole);
}

#[test]
fn of_a_host_that_is_disturbed_for_long_nothing_is_left_out() {
    let mut run = update(&around(0.0, 0.005, 20));
    let whole = rqps(&run);
    (0..11).for_each(|at| [0, 1].into_iter().for_each(|side| steal(&mut run, side, at, 40)));
    assert_eq!(rqps(&run), whole);
    // Eight blocks must stay.
    let mut run = update(&around(0.0, 0.005, 9));
    let left = |run: &Run| details(run, "blocks-excluded", 1).len();
    [0, 1].into_iter().for_each(|side| steal(&mut run, side, 0, 40));
    assert_eq!((left(&run), rqps(&run).n), (1, 8));
    [0, 1].into_iter().for_each(|side| steal(&mut run, side, 1, 40));
    assert_eq!((left(&run), rqps(&run).n), (0, 9));
    // Every start of the servers keeps two blocks or more.
    let of_starts = |hit: std::ops::Range<usize>| {
        let mut run = update(&around(0.0, 0.005, 16));
        for side in [0, 1] {
            for (at, slice) in (0..).zip(slices(&mut run, side)) {
                (slice.start, slice.idx) = (at / 4, at % 4);
            }
            hit.clone().for_each(|at| steal(&mut run, side, at, 40));
        }
        rqps(&run).n
    };
    assert_eq!((of_starts(4..6), of_starts(4..7)), (14, 16));
}

/// An imported log may have several flaws: they share a footnote, which names all.
#[test]
fn warnings_of_one_kind_are_all_told_and_share_a_letter() {
    let mut run = update(&[0.01, -0.01, 0.01, -0.01, 0.01, -0.01]);
    let fault = |text: &str| WarningKind::ImportedFault { text: text.to_owned() };
    slices(&mut run, 1)[0].warnings = vec![fault("dead threads"), fault("cut")];
    assert_eq!(details(&run, "imported-fault", 1), ["dead threads", "cut"]);
    let analysis = Analysis::of(&run, 0.05);
    let cell = &analysis.steps[0].cells[1];
    assert_eq!(analysis.letters(cell), "a");
    let options = TextOptions { colour: false, detail: Detail::Full, width: 200 };
    let text = text::render(&analysis, options);
    assert!(
        text.contains(
            "the imported file has a fault: ma110405.small: update-index (dead threads; cut)"
        ),
        "{text}"
    );
}
