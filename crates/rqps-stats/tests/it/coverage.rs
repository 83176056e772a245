//! How often intervals cover the true ratio.

use rqps_stats::random::Random;
use rqps_stats::{paired_ratio, ratio};

use crate::simulate::{Shape, blocks};
use crate::{assert_documented, percent};

/// The true ratio of all simulations.
const TRUTH: f64 = 0.7;

/// Share of 20,000 simulated runs whose interval covers the true ratio.
fn welch(n: usize, base_sd: f64, candidate_sd: f64) -> f64 {
    const RUNS: u32 = 20_000;
    let mut random = Random::new(n as u64 * 1000 + 7);
    let mut covered = 0;
    for _ in 0..RUNS {
        let base: Vec<f64> = (0..n).map(|_| 1e4 * (base_sd * random.normal()).exp()).collect();
        let candidate: Vec<f64> =
            (0..n).map(|_| TRUTH * 1e4 * (candidate_sd * random.normal()).exp()).collect();
        let interval = ratio(&base, &candidate).and_then(|r| r.interval);
        let covers = interval.is_some_and(|(low, high)| low <= TRUTH && TRUTH <= high);
        covered += u32::from(covers);
    }
    f64::from(covered) / f64::from(RUNS)
}

#[test]
fn coverage_of_welch() {
    let mut rows = Vec::new();
    for n in [2, 3, 5, 10] {
        let equal = welch(n, 0.05, 0.05);
        let unequal = welch(n, 0.05, 0.15);
        // Two slices a side leave one to two degrees of freedom: wide intervals that cover too
        // much.
        assert!((0.94..0.99).contains(&equal), "{n}: {equal}");
        assert!((0.93..0.99).contains(&unequal), "{n}: {unequal}");
        rows.push(format!("| {n} | {} | {} |", percent(equal), percent(unequal)));
    }
    assert_documented(&rows);
}

/// Share of 10,000 simulated runs of `n` blocks whose interval covers the true ratio. The host
/// drifts by a third from block to block, for both systems alike.
fn paired(n: usize, shape: Shape) -> f64 {
    const RUNS: u32 = 10_000;
    let mut random = Random::new(n as u64 * 1000 + 11);
    let mut covered = 0;
    for _ in 0..RUNS {
        let base: Vec<f64> = (0..n).map(|_| 1e4 * (0.3 * random.normal()).exp()).collect();
        let noise = blocks(n, shape, &mut random);
        let candidate: Vec<f64> =
            base.iter().zip(noise).map(|(b, e)| TRUTH * b * (0.05 * e).exp()).collect();
        let interval = paired_ratio(&base, &candidate).and_then(|r| r.interval);
        let covers = interval.is_some_and(|(low, high)| low <= TRUTH && TRUTH <= high);
        covered += u32::from(covers);
    }
    f64::from(covered) / f64::from(RUNS)
}

/// The goal is 93% to 97%; what docs/reference/simulations.md says is outside, and how far it may be.
fn tolerated(n: usize, shape: Shape) -> (f64, f64) {
    match shape {
        Shape::Levels(share) if share < 0.5 && n == 8 => (0.88, 0.97),
        Shape::Levels(_) | Shape::Drifting(_) => (0.93, 0.996),
        _ if n <= 12 => (0.93, 0.98),
        _ => (0.93, 0.972),
    }
}

#[test]
fn coverage_of_paired_blocks() {
    let mut rows = Vec::new();
    for n in [4, 8, 12, 20, 40] {
        let all = Shape::ALL.map(|shape| paired(n, shape));
        for (shape, covered) in Shape::ALL.into_iter().zip(all) {
            let (low, high) = tolerated(n, shape);
            assert!(n < 8 || (low..high).contains(&covered), "{n} blocks: {all:?}");
        }
        rows.push(format!("| {n} | {} |", all.map(percent).join(" | ")));
    }
    assert_documented(&rows);
}
