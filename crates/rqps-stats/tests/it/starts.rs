//! Coverage over starts of the servers.

use rqps_stats::random::Random;
use rqps_stats::starts::{StartPrior, of_starts_with};

use crate::simulate::{Shape, blocks};
use crate::{assert_documented, percent};

/// What 10,000 runs come to.
struct Measured {
    /// Share of the intervals that hold 1.
    covered: f64,
    /// Median half-width, percent.
    width: f64,
}

/// Of runs whose log ratios `draw` gives: those of the blocks of each start.
fn measured(
    seed: u64,
    prior: Option<StartPrior>,
    draw: impl Fn(&mut Random) -> Vec<Vec<f64>>,
) -> Measured {
    const RUNS: u32 = 10_000;
    let mut random = Random::new(seed);
    let mut covered = 0;
    let mut widths = Vec::new();
    for _ in 0..RUNS {
        let found = of_starts_with(&draw(&mut random), prior).unwrap().tested.estimate;
        let (low, high) = found.interval.unwrap();
        covered += u32::from(low <= 1.0 && 1.0 <= high);
        widths.push(50.0 * (high.ln() - low.ln()));
    }
    widths.sort_unstable_by(f64::total_cmp);
    Measured { covered: f64::from(covered) / f64::from(RUNS), width: widths[widths.len() / 2] }
}

/// Runs of `sizes` blocks of a shape per start, noise of a block 1%. Starts differ by `start_sd`, percent.
fn of_sizes(sizes: &[usize], shape: Shape, start_sd: f64) -> Measured {
    measured(sizes.len() as u64 * 100 + 5, None, |random| {
        let of_start = |n: &usize| {
            let drawn = start_sd * random.normal();
            blocks(*n, shape, random).iter().map(|e| 0.01 * (drawn + e)).collect()
        };
        sizes.iter().map(of_start).collect()
    })
}

#[test]
fn coverage_over_starts() {
    let mut rows = Vec::new();
    let cases: [(&str, &[usize], Shape); 9] = [
        ("1", &[12], Shape::Normal),
        ("2", &[12; 2], Shape::Normal),
        ("3", &[12; 3], Shape::Normal),
        ("3, of 6, 12 and 24 blocks", &[6, 12, 24], Shape::Normal),
        ("3, blocks skewed", &[12; 3], Shape::Skewed),
        ("5", &[12; 5], Shape::Normal),
        ("5, blocks contaminated", &[12; 5], Shape::Contaminated),
        ("5, neighbours correlate by 0.4", &[12; 5], Shape::Correlated(0.4)),
        ("10", &[12; 10], Shape::Normal),
    ];
    for (name, sizes, shape) in cases {
        let cells = [0.0, 0.5, 1.0, 2.0].map(|sd| {
            let Measured { covered, width } = of_sizes(sizes, shape, sd);
            let least = if sizes.len() == 1 { 0.2 } else { 0.92 };
            // Where starts differ no more than their blocks do it covers too much, and may.
            let most = if sd >= 1.0 { 0.975 } else { 1.0 };
            assert!((least..=most).contains(&covered), "{name} {sd}: {covered}");
            format!("{} ({width:.1})", percent(covered))
        });
        rows.push(format!("| {name} | {} |", cells.join(" | ")));
    }
    assert_documented(&rows);
}

/// Runs on `k` starts with a prior of 1% and 4 degrees of freedom. The starts' standard deviation is `sd` times the
/// prior's. Without `sd` it is drawn for each run, as the prior says.
fn with_prior(k: usize, sd: Option<f64>) -> Measured {
    let prior = StartPrior { sd: 0.01, df: 4.0 };
    measured(k as u64 * 1000 + 7, Some(prior), |random| {
        // A scaled inverse chi-squared variance.
        let chi: f64 = (0..4).map(|_| random.normal().powi(2)).sum();
        let sd = 0.01 * sd.unwrap_or((4.0 / chi).sqrt());
        let of_start = |_| {
            let drawn = sd * random.normal();
            blocks(4, Shape::Normal, random).iter().map(|e| drawn + 0.005 * e).collect()
        };
        (0..k).map(of_start).collect()
    })
}

#[test]
fn coverage_with_a_prior() {
    let mut rows = Vec::new();
    for k in [1, 2, 4, 8] {
        let cells = [None, Some(0.0), Some(0.5), Some(1.0), Some(2.0), Some(4.0)].map(|sd| {
            let Measured { covered, width } = with_prior(k, sd);
            let least = match sd {
                None => 0.93,
                Some(sd) if sd <= 1.0 => 0.93,
                Some(_) => 0.0,
            };
            assert!(covered >= least, "{k} starts, {sd:?}: {covered}");
            format!("{} ({width:.1})", percent(covered))
        });
        rows.push(format!("| {k} | {} |", cells.join(" | ")));
    }
    assert_documented(&rows);
}
