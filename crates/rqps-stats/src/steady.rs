//! The steady rate of a block: what its good windows do, whatever stalls the others.
//!
//! The host only ever slows a window down, so an upper quantile of windows is the location that the
//! host moves least. A server's own stalls are one-sided too and are real: the average stays the
//! QPS, and where the two disagree a warning says so ([`disagreement`]).

use rqps_model::Windows;

use crate::paired::log_ratios;
use crate::ratio::ratio_test;
use crate::starts::of_starts;
use crate::tested::Tested;

/// Windows below which a block has no steady rate: a 90th percentile of fewer is their maximum.
pub const MIN_WINDOWS: usize = 20;

/// Nanoseconds of a second.
const SECOND_NS: f64 = 1e9;

/// Where among its windows a block's rate is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Location {
    /// The arithmetic mean: the QPS itself.
    Mean,
    /// The middle window.
    Median,
    /// The mean of the windows between the quartiles.
    Midmean,
    /// The window that nine of ten do not exceed.
    Percentile90,
    /// The mean of the windows from the 80th to the 95th percentile: the 90th, smoothed, so that
    /// windows of few operations do not make it jump by one of them.
    UpperMean,
}

impl Location {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Mean, Self::Median, Self::Midmean, Self::Percentile90, Self::UpperMean];
}

/// The steady rate of a block, operations per second: [`Location::UpperMean`] of its windows.
///
/// `None` with fewer than 20 windows, windows without length, or a rate of 0.
#[must_use]
pub fn steady_rate(windows: &Windows) -> Option<f64> {
    rate(windows, Location::UpperMean)
}

/// The rate of a block at `location`, operations per second; `None` as for [`steady_rate`].
#[must_use]
pub fn rate(windows: &Windows, location: Location) -> Option<f64> {
    if windows.counts.len() < MIN_WINDOWS || windows.length_ns == 0 {
        return None;
    }
    // Whole numbers are sorted faster than others.
    let mut counts = windows.counts.clone();
    counts.sort_unstable();
    let sorted: Vec<f64> = counts.into_iter().map(f64::from).collect();
    let operations = match location {
        Location::Mean => mean_between(&sorted, 0.0, 1.0),
        Location::Median => mean_between(&sorted, 0.5, 0.5),
        Location::Midmean => mean_between(&sorted, 0.25, 0.75),
        Location::Percentile90 => mean_between(&sorted, 0.9, 0.9),
        Location::UpperMean => mean_between(&sorted, 0.8, 0.95),
    };
    let rate = operations * SECOND_NS / windows.length_ns as f64;
    (rate > 0.0).then_some(rate)
}

/// The mean of the sorted values from the share `from` to the share `to` of them, values at the
/// edges counted in part; the quantile where both are equal (linear between neighbours). Not empty.
fn mean_between(sorted: &[f64], from: f64, to: f64) -> f64 {
    let n = sorted.len() as f64;
    if to <= from {
        return quantile(sorted, from);
    }
    let (start, end) = (from * n, to * n);
    let mut sum = 0.0;
    for (i, value) in sorted.iter().enumerate() {
        let (left, right) = (i as f64, i as f64 + 1.0);
        let share = (right.min(end) - left.max(start)).max(0.0);
        sum += share * value;
    }
    sum / (end - start)
}

/// The quantile of sorted values, linear between neighbours (definition 7 of R. J. Hyndman and
/// Y. Fan, "Sample quantiles in statistical packages", 1996).
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() as f64 - 1.0);
    let mut at = 0;
    while at + 1 < sorted.len() && (at as f64 + 1.0) <= place {
        at += 1;
    }
    let next = sorted.get(at + 1).unwrap_or(&sorted[at]);
    sorted[at] + (place - at as f64) * (next - sorted[at])
}

/// p-value below which average and steady rate disagree: one in a hundred steps by chance.
pub const DISAGREEMENT_P: f64 = 0.01;

/// A disagreement smaller than this is of no consequence: 2%, beyond what the memory layout does.
pub const MIN_DISAGREEMENT: f64 = 0.02;

/// Slices of each side below which those that are no pairs are not compared: with three, t at 1% is 4.6 or more, and what
/// is found then is mostly two spreads that happen to be small.
pub const MIN_SLICES: usize = 4;

/// The ratios of averages and of steady rates, and the ratio between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Disagreement {
    /// Candidate / base of the averages.
    pub average: Tested,
    /// Candidate / base of the steady rates.
    pub steady: Tested,
    /// The ratio of averages / the ratio of steady rates, block by block: below 1 where stalls cost
    /// the candidate more than the base.
    pub between: Tested,
    /// Whether each of several starts of the servers tells so by its own blocks.
    pub is_in_each_start: bool,
}

impl Disagreement {
    /// Whether averages and steady rates tell different stories: the ratio between them is at least 2%
    /// from 1 and significant at 1%, over the starts of the servers or on each of them.
    #[must_use]
    pub fn is_finding(&self) -> bool {
        let is_large = self.between.estimate.point.ln().abs() >= (1.0 + MIN_DISAGREEMENT).ln();
        is_large && (is_significant(&self.between) || self.is_in_each_start)
    }
}

fn is_significant(between: &Tested) -> bool {
    between.p.is_some_and(|p| p < DISAGREEMENT_P)
}

/// A system's blocks: their averages and steady rates, operations per second, in order of time.
#[derive(Debug, Clone, Copy)]
pub struct Rates<'a> {
    /// Average of each block.
    pub average: &'a [f64],
    /// Steady rate of each block.
    pub steady: &'a [f64],
}

/// Compares the ratio of averages with that of steady rates by a paired test of their difference.
///
/// `None` as [`disagreement_over_starts`].
#[must_use]
pub fn disagreement(base: Rates<'_>, candidate: Rates<'_>) -> Option<Disagreement> {
    disagreement_over_starts(&[(base, candidate)])
}

/// The same of base and candidate on each start of the servers: what a start draws is drawn once
/// for all of its blocks, so that the observation is the start ([`of_starts`]). Few starts hardly ever
/// pass that, however much both sides differ on each: whether every one does by its own blocks, the
/// same way, is told beside it. By chance that happens to two of them in one of 20,000 steps.
///
/// `None` without blocks, where the sides or averages and steady rates of a start differ in number,
/// and where a value is not above 0 and finite.
#[must_use]
pub fn disagreement_over_starts(starts: &[(Rates<'_>, Rates<'_>)]) -> Option<Disagreement> {
    let (mut average, mut steady, mut between) = (Vec::new(), Vec::new(), Vec::new());
    for (base, candidate) in starts {
        let averages = log_ratios(base.average, candidate.average)?;
        let steady_rates = log_ratios(base.steady, candidate.steady)?;
        if averages.len() != steady_rates.len() {
            return None;
        }
        let gaps: Vec<f64> = averages.iter().zip(&steady_rates).map(|(a, s)| a - s).collect();
        between.push(gaps);
        average.push(averages);
        steady.push(steady_rates);
    }
    let tested = |logs: &[Vec<f64>]| of_starts(logs).map(|found| found.tested);
    let has_blocks = between.iter().filter(|gaps| !gaps.is_empty());
    let alone: Vec<Tested> =
        has_blocks.filter_map(|gaps| tested(std::slice::from_ref(gaps))).collect();
    let n_lost = alone.iter().filter(|of_start| of_start.estimate.point < 1.0).count();
    let is_one_way = n_lost == 0 || n_lost == alone.len();
    Some(Disagreement {
        average: tested(&average)?,
        steady: tested(&steady)?,
        between: tested(&between)?,
        is_in_each_start: alone.len() > 1 && is_one_way && alone.iter().all(is_significant),
    })
}

/// The same of slices that are no pairs: what stalls left of each (its average / its steady rate) is compared
/// by Welch's test.
///
/// `None` with fewer than four slices on a side, where averages and steady rates differ in number, and where
/// [`ratio_test`] has none.
#[must_use]
pub fn disagreement_of_samples(base: Rates<'_>, candidate: Rates<'_>) -> Option<Disagreement> {
    let kept = |rates: Rates<'_>| -> Option<Vec<f64>> {
        let n = rates.average.len();
        let is_fit = n >= MIN_SLICES && n == rates.steady.len();
        is_fit.then(|| rates.average.iter().zip(rates.steady).map(|(a, s)| a / s).collect())
    };
    Some(Disagreement {
        average: ratio_test(base.average, candidate.average)?,
        steady: ratio_test(base.steady, candidate.steady)?,
        between: ratio_test(&kept(base)?, &kept(candidate)?)?,
        is_in_each_start: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(counts: impl IntoIterator<Item = u32>) -> Windows {
        Windows { length_ns: 20_000_000, counts: counts.into_iter().collect() }
    }

    #[test]
    fn locations_by_hand() {
        // 1 to 100 in windows of 20 ms: counts times 50.
        let hundred = windows((1..=100).rev());
        let at = |location| rate(&hundred, location).unwrap() / 50.0;
        assert!((at(Location::Mean) - 50.5).abs() < 1e-9);
        assert!((at(Location::Median) - 50.5).abs() < 1e-9);
        assert!((at(Location::Midmean) - 50.5).abs() < 1e-9);
        // Definition 7: 1 + 0.9 * 99.
        assert!((at(Location::Percentile90) - 90.1).abs() < 1e-9);
        // The mean of 81 to 95.
        assert!((at(Location::UpperMean) - 88.0).abs() < 1e-9);
        // Edges in part: 30 windows, 24 to 28.5: windows 25 to 28 whole and half of the 29th.
        let thirty = windows(1..=30);
        let expected = (25.0 + 26.0 + 27.0 + 28.0 + 14.5) / 4.5;
        assert!((steady_rate(&thirty).unwrap() / 50.0 - expected).abs() < 1e-9);
    }

    #[test]
    fn stalls_leave_the_steady_rate_alone() {
        let calm = windows([100; 100]);
        let stalled = windows((0..100).map(|i| if i % 3 == 0 { 10 } else { 100 }));
        assert_eq!(steady_rate(&calm), steady_rate(&stalled));
        assert!(rate(&stalled, Location::Mean) < rate(&calm, Location::Mean));
    }

    #[test]
    fn too_little_has_no_steady_rate() {
        assert!(steady_rate(&windows([100; 19])).is_none());
        assert!(steady_rate(&windows([0; 100])).is_none());
        assert!(steady_rate(&Windows { length_ns: 0, counts: vec![1; 100] }).is_none());
    }

    #[test]
    fn stalls_of_one_system_are_a_finding() {
        let noise = [0.0, 3.0, -2.0, 1.0, -1.0, 2.0, -3.0, 1.0, 0.0, -1.0];
        let steady: Vec<f64> = noise.iter().map(|e| 1000.0 + e).collect();
        let mirrored: Vec<f64> = noise.iter().rev().map(|e| 1000.0 + e).collect();
        let stalled: Vec<f64> = noise.iter().map(|e| 900.0 + 2.0 * e).collect();
        let base = Rates { average: &steady, steady: &mirrored };
        let even = disagreement(base, Rates { average: &mirrored, steady: &steady }).unwrap();
        assert!(!even.is_finding());
        let found = disagreement(base, Rates { average: &stalled, steady: &steady }).unwrap();
        assert!(found.is_finding());
        assert!((found.between.estimate.point - 0.9).abs() < 0.01);
        assert!((found.steady.estimate.point - 1.0).abs() < 0.01);
        let short = Rates { average: &stalled, steady: &steady[..9] };
        assert!(disagreement(base, short).is_none());
        assert!(disagreement_of_samples(base, short).is_none());
    }

    #[test]
    fn blocks_of_a_start_that_stalls_are_one_observation() {
        // Stalls cost 1% on one start and 11% on the other, in all of their eight blocks alike but for a
        // little: 1% is far below it.
        let calm = [1000.0; 8];
        let wave = [0.02_f64, -0.02, 0.02, -0.02, 0.02, -0.02, 0.02, -0.02];
        let lost = [-0.01_f64, -0.11].map(|log| wave.map(|w| 1000.0 * (log + w).exp()));
        let base = Rates { average: &calm, steady: &calm };
        let starts = [0, 1].map(|at| (base, Rates { average: &lost[at], steady: &calm }));
        let found = disagreement_over_starts(&starts).unwrap();
        assert!((found.between.estimate.point.ln() + 0.06).abs() < 1e-9);
        // t = 0.06 / 0.05 with one degree of freedom: p = 1 - 2/pi * atan(1.2).
        let p = 1.0 - 2.0 / std::f64::consts::PI * 1.2_f64.atan();
        assert!((found.between.p.unwrap() - p).abs() < 1e-6);
        assert!(!found.is_in_each_start && !found.is_finding(), "{found:?}");
        // A start without blocks says nothing, and neither do none.
        let nothing = Rates { average: &[], steady: &[] };
        let with_empty = [starts[0], starts[1], (nothing, nothing)];
        assert_eq!(disagreement_over_starts(&with_empty), Some(found));
        assert!(disagreement_over_starts(&[]).is_none());
    }

    #[test]
    fn stalls_on_each_start_are_a_finding_of_few_starts_too() {
        let calm = [1000.0; 8];
        let base = Rates { average: &calm, steady: &calm };
        let found = |logs: [f64; 2]| {
            let wave = [0.02_f64, -0.02, 0.02, -0.02, 0.02, -0.02, 0.02, -0.02];
            let lost = logs.map(|log| wave.map(|w| 1000.0 * (log + w).exp()));
            let start = |at: usize| (base, Rates { average: &lost[at], steady: &calm });
            disagreement_over_starts(&[start(0), start(1)]).unwrap()
        };
        // A third of each start is lost, and t is 35 with one degree of freedom: p is 2%.
        let both = found([-0.34, -0.36]);
        assert!(both.between.p.unwrap() > DISAGREEMENT_P);
        assert!(both.is_in_each_start && both.is_finding(), "{both:?}");
        // One the one way, the other the other: no story.
        let opposed = found([-0.36, 0.2]);
        assert!(!opposed.is_in_each_start && !opposed.is_finding(), "{opposed:?}");
        // One start alone is tested by its blocks as ever.
        let lost = [900.0; 8];
        let one = disagreement(base, Rates { average: &lost, steady: &calm }).unwrap();
        assert!(!one.is_in_each_start && one.is_finding());
    }

    #[test]
    fn stalls_of_slices_without_partners_are_a_finding_from_four_on() {
        let side = |n: usize, lost: f64| -> (Vec<f64>, Vec<f64>) {
            let noise = [0.0, 3.0, -2.0, 1.0, -1.0, 2.0];
            let steady: Vec<f64> = noise.iter().take(n).map(|e| 1000.0 + e).collect();
            let average = steady.iter().zip(0..).map(|(v, i)| v * (1.0 - lost) + f64::from(i % 3));
            (average.collect(), steady)
        };
        let compared = |base: (usize, f64), candidate: (usize, f64)| {
            let (base, candidate) = (side(base.0, base.1), side(candidate.0, candidate.1));
            let base = Rates { average: &base.0, steady: &base.1 };
            disagreement_of_samples(base, Rates { average: &candidate.0, steady: &candidate.1 })
        };
        let found = compared((6, 0.1), (4, 0.2)).unwrap();
        assert!(found.is_finding() && (found.between.estimate.point - 0.8 / 0.9).abs() < 0.01);
        assert!((found.steady.estimate.point - 1.0).abs() < 0.01);
        // The other way round the base is the one that stalls; alike is none; one in a hundred is too little.
        let swapped = compared((4, 0.2), (6, 0.1)).unwrap();
        assert!(swapped.is_finding() && swapped.between.estimate.point > 1.1);
        assert!(!compared((6, 0.2), (6, 0.2)).unwrap().is_finding());
        assert!(!compared((6, 0.1), (6, 0.11)).unwrap().is_finding());
        assert!(compared((3, 0.1), (6, 0.2)).is_none());
        assert!(compared((6, 0.1), (3, 0.2)).is_none());
    }
}
