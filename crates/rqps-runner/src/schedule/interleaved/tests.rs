//! Seeds of the attempts at a step, and what is left of it after an interruption.

use rqps_model::{Slice, StepOutcome, SystemIdx, SystemStep};

use super::*;
use crate::engine::precision::Figures;
use crate::engine::window::{Seen, slice_of};
use crate::plan::seed::mix;

#[test]
fn no_attempt_draws_what_another_has_drawn() {
    let seeds = |n| {
        let of_step = Attempt { n, ..Attempt::default() }.seed(7);
        // Its warm-up, its blocks.
        (0..200).map(|part| mix(of_step, part)).collect::<Vec<_>>()
    };
    let first = seeds(0);
    assert_eq!(first[1], mix(7, 1), "a step that nothing happens to has the seed of the step");
    for n in 1..5 {
        assert!(seeds(n).iter().all(|seed| !first.contains(seed)));
    }
    let of_run = |of_run, n| Attempt { of_run, n, ..Attempt::default() }.seed(7);
    assert!(of_run(1, 0) != of_run(2, 0) && of_run(1, 0) != of_run(1, 1));
    assert!(of_run(1, 0) != of_run(0, 1));
}

/// The second was out when the others were broken off in the midst of a step.
#[test]
fn a_system_that_lacks_blocks_is_measured_by_itself() {
    assert_eq!(together([(0, 7), (1, 0), (2, 7)]), [vec![0, 2], vec![1]]);
    assert_eq!(together([(0, 0), (1, 0)]), [vec![0, 1]]);
    assert_eq!(together([]), Vec::<Vec<usize>>::new());
}

/// A thousand operations in a second.
fn block(idx: u32, start_unix_ms: i64) -> Slice {
    let order = rqps_load::Order {
        pace: rqps_load::Pace::Closed,
        stop: rqps_load::Stop::Events(0),
        seed: 1,
    };
    let tally = rqps_load::Tally::for_order(&order);
    let seen = Seen { start_unix_ms, ..Seen::default() };
    let slice = slice_of(&tally, idx, 1, seen, Vec::new());
    Slice { n_operations: 1000, duration_ns: 1_000_000_000, ..slice }
}

fn system(outcome: StepOutcome, slices: Vec<Slice>) -> SystemStep {
    SystemStep { outcome, slices, ..SystemStep::pending() }
}

#[test]
fn only_who_has_shared_the_last_block_ends_a_step_for_another() {
    let done = system(StepOutcome::Done, vec![block(0, 100), block(1, 200)]);
    let with = |slices: Vec<Slice>| {
        has_ended_partner(&[done.clone(), system(StepOutcome::Pending, slices)], SystemIdx(1))
    };
    assert!(with(vec![block(0, 100), block(1, 200)]));
    // It lacks a block; it is late, and was interrupted; it has not begun.
    assert!(!with(vec![block(0, 100)]));
    assert!(!with(vec![block(0, 900), block(1, 950)]) && !with(Vec::new()));
    let failed = system(StepOutcome::Failed { reason: String::new() }, done.slices.clone());
    assert!(!has_ended_partner(
        &[failed, system(StepOutcome::Pending, done.slices.clone())],
        SystemIdx(1)
    ));
}

/// Whether a step whose base is the first system may end.
fn is_enough(systems: &[SystemStep], measured: &[usize]) -> bool {
    let measured: Vec<SystemIdx> = measured.iter().copied().map(SystemIdx).collect();
    Figures::of_step(0, systems, &measured).are_enough(0.01)
}

#[test]
fn a_system_that_was_excluded_does_not_keep_a_step_from_ending() {
    let blocks = |n: u32| (0..n).map(|idx| block(idx, i64::from(idx) * 1000)).collect();
    let pending = |n: u32| system(StepOutcome::Pending, blocks(n));
    let one_out = |n: u32| is_enough(&[pending(n), pending(n), pending(0)], &[0, 1]);
    assert!(!one_out(11) && one_out(12));
    assert!(!is_enough(&[pending(20), pending(20), pending(0)], &[0, 1, 2]), "it has begun");
    // Without the base there is no ratio.
    let no_base = |n: u32| is_enough(&[pending(0), pending(n)], &[1]);
    assert!(!no_base(7) && no_base(8));
}

#[test]
fn who_has_ended_a_step_is_a_partner_of_its_own_blocks_alone() {
    let blocks = |n: u32, from_ms: i64| {
        (0..n).map(|idx| block(idx, from_ms + i64::from(idx) * 1000)).collect::<Vec<_>>()
    };
    let done = |n: u32| system(StepOutcome::Done, blocks(n, 0));
    let pending = |n: u32, from_ms: i64| system(StepOutcome::Pending, blocks(n, from_ms));
    // Interrupted as they ended it: the ratio says whether it was over.
    assert!(!is_enough(&[pending(9, 0), done(9)], &[0]));
    assert!(is_enough(&[pending(12, 0), done(12)], &[0]));
    // A base that is late has no ratio with what was measured before it.
    assert!(!is_enough(&[pending(7, 90_000), done(12)], &[0]));
    assert!(is_enough(&[pending(8, 90_000), done(12)], &[0]));
    // Nor have candidates with a base that has ended the step.
    assert!(is_enough(&[done(12), pending(8, 90_000)], &[1]));
}
