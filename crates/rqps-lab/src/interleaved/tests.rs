//! Seeds of the attempts at a step.

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
