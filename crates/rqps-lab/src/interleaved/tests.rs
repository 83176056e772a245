//! Seeds of the attempts at a step, and what is left of it after an interruption.

use super::*;

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

#[test]
fn only_who_has_shared_the_last_block_ends_a_step_for_another() {
    let order = rqps_load::Order {
        pace: rqps_load::Pace::Closed,
        stop: rqps_load::Stop::Events(0),
        seed: 1,
    };
    let tally = rqps_load::Tally::for_order(&order);
    let block = |idx: u32, start_unix_ms: i64| {
        let place = (1, idx, start_unix_ms);
        crate::measure::slice_of(&tally, place, Default::default(), Vec::new())
    };
    let system = |outcome: StepOutcome, slices: Vec<Slice>| SystemStep {
        outcome,
        slices,
        ..SystemStep::pending()
    };
    let done = system(StepOutcome::Done, vec![block(0, 100), block(1, 200)]);
    let with = |slices: Vec<Slice>| {
        has_ended_partner(&[done.clone(), system(StepOutcome::Pending, slices)], 1)
    };
    assert!(with(vec![block(0, 100), block(1, 200)]));
    // It lacks a block; it is late, and was interrupted; it has not begun.
    assert!(!with(vec![block(0, 100)]));
    assert!(!with(vec![block(0, 900), block(1, 950)]) && !with(Vec::new()));
    let failed = system(StepOutcome::Failed { reason: String::new() }, done.slices.clone());
    assert!(!has_ended_partner(&[failed, system(StepOutcome::Pending, done.slices.clone())], 1));
}
