//! When to stop adding blocks, and how many more would settle what is unclear.
//!
//! The rule looks at the width of the interval only, never at where it lies: to stop as soon as a
//! difference is significant would find one in every run that goes on long enough. Stopping at a
//! width still picks runs that look calmer than they are (Y. S. Chow and H. Robbins, "On the
//! asymptotic theory of fixed-width sequential confidence intervals for the mean", Annals of
//! Mathematical Statistics 36 (1965)): what that costs in coverage is measured in
//! docs/statistics.md.

use rqps_model::{Estimate, Verdict};

use crate::ratio::verdict;
use crate::{CONFIDENCE, student};

/// Blocks before which no width counts: the spread of fewer is too unsure to stop by.
pub const MIN_BLOCKS: u32 = 12;

/// The chance of being settled that a projected number of blocks must give.
pub const ASSURANCE: f64 = 0.8;

/// Whether a step may stop: every interval's half-width, relative to its ratio, is at most
/// `half_width` (0.01 for 1%) and rests on at least `min_blocks` blocks.
///
/// False without ratios, and while one has no interval.
#[must_use]
pub fn is_reached(ratios: &[Estimate], half_width: f64, min_blocks: u32) -> bool {
    let is_narrow =
        |r: &Estimate| r.n >= min_blocks && r.half_width().is_some_and(|h| h <= half_width);
    !ratios.is_empty() && ratios.iter().all(is_narrow)
}

/// How many more blocks something takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// This many; 0 when it is there already.
    Blocks(u32),
    /// More than this many, the most that was asked for.
    MoreThan(u32),
}

impl More {
    /// The time that the blocks take, seconds; `None` for more than was asked for.
    #[must_use]
    pub fn seconds(self, block_s: f64) -> Option<f64> {
        match self {
            Self::Blocks(n) => Some(f64::from(n) * block_s),
            Self::MoreThan(_) => None,
        }
    }
}

/// How many more blocks would bring the relative half-width to `half_width`, if blocks go on to
/// spread as they did: it falls as t(n − 1)/√n. At most `limit` more.
///
/// `None` without an interval, or for a `half_width` that is not above 0.
#[must_use]
pub fn blocks_for_width(ratio: &Estimate, half_width: f64, limit: u32) -> Option<More> {
    let now = ratio.half_width().filter(|h| h.is_finite())?;
    if half_width.is_nan() || half_width <= 0.0 || ratio.n < 2 {
        return None;
    }
    Some(first(limit, |more| now * shrinkage(ratio.n, more) <= half_width))
}

/// How many more blocks would give an unclear ratio a verdict with a chance of 80%. At most
/// `limit`.
///
/// The chance is that of the estimate after so many blocks, which lies around the present one with
/// the variance se²·(1 − n/n′) (n blocks now, n′ then, a flat prior), and of the interval around
/// it, se·t·√(n/n′). An estimate near the practical bound takes long: it must be told on which side
/// of the bound it lies. `None` without an interval.
#[must_use]
pub fn blocks_to_settle(ratio: &Estimate, bound: f64, limit: u32) -> Option<More> {
    let (low, high) = ratio.interval?;
    let is_usable = low > 0.0 && high.is_finite() && ratio.n >= 2 && bound > 0.0 && bound < 1.0;
    if !is_usable {
        return None;
    }
    if verdict(ratio, bound) != Verdict::Unclear {
        return Some(More::Blocks(0));
    }
    let half = 0.5 * (high.ln() - low.ln());
    Some(first(limit, |more| more > 0 && chance(ratio, half, bound, more) >= ASSURANCE))
}

/// The chance that `more` blocks settle a ratio whose interval on the log scale has half-width
/// `half`.
fn chance(ratio: &Estimate, half: f64, bound: f64, more: u32) -> f64 {
    let df = f64::from(ratio.n) - 1.0;
    let error = half / student::quantile(CONFIDENCE, df);
    let (n, then) = (f64::from(ratio.n), f64::from(ratio.n) + f64::from(more));
    let sd = error * (1.0 - n / then).sqrt();
    let half_then = half * shrinkage(ratio.n, more);
    let point = ratio.point.ln();
    let below = |x: f64| student::cumulative((x - point) / sd, df);
    let (slower, faster) = ((1.0 - bound).ln(), (1.0 + bound).ln());
    let is_slower = below(slower.min(-half_then));
    let is_faster = 1.0 - below(faster.max(half_then));
    // `same` where the interval fits between the bounds and the estimate is far enough from them;
    // what is already called slower or faster is not counted twice.
    let (from, to) = (slower + half_then, faster - half_then);
    let is_same = if from < to { below(to) - below(from) } else { 0.0 };
    is_slower + is_faster + is_same
}

/// What `more` blocks leave of the half-width that `n` blocks gave.
fn shrinkage(n: u32, more: u32) -> f64 {
    let (now, then) = (f64::from(n), f64::from(n) + f64::from(more));
    let t = |blocks: f64| student::quantile(CONFIDENCE, blocks - 1.0);
    t(then) / t(now) * (now / then).sqrt()
}

/// The least number from 0 to `limit` that is enough; numbers above one that is enough are taken to
/// be too.
fn first(limit: u32, is_enough: impl Fn(u32) -> bool) -> More {
    if is_enough(0) {
        return More::Blocks(0);
    }
    if !is_enough(limit) {
        return More::MoreThan(limit);
    }
    let (mut too_few, mut enough) = (0, limit);
    while enough - too_few > 1 {
        let middle = too_few + (enough - too_few) / 2;
        if is_enough(middle) {
            enough = middle;
        } else {
            too_few = middle;
        }
    }
    More::Blocks(enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(point: f64, half: f64, n: u32) -> Estimate {
        let interval = Some((point * (-half).exp(), point * half.exp()));
        Estimate { point, interval, n }
    }

    #[test]
    fn stops_by_width_and_number_wherever_the_interval_lies() {
        let narrow = ratio(0.7, 0.009, 12);
        assert!(is_reached(&[narrow, ratio(1.0, 0.009, 12)], 0.01, 12));
        assert!(!is_reached(&[narrow, ratio(1.0, 0.02, 12)], 0.01, 12));
        assert!(!is_reached(&[ratio(0.7, 0.009, 11)], 0.01, 12));
        assert!(!is_reached(&[], 0.01, 1) && !is_reached(&[Estimate::single(1.0)], 0.01, 1));
    }

    #[test]
    fn half_the_width_takes_four_times_the_blocks_and_a_little_less() {
        // t(11) = 2.201; with n' blocks 0.02 * t(n'-1)/2.201 * sqrt(12/n') <= 0.01: n' = 40 (t =
        // 2.023).
        let found = blocks_for_width(&ratio(1.0, 0.02, 12), 0.010_000_7, 1000);
        let Some(More::Blocks(more)) = found else { panic!("{found:?}") };
        let half = |n: f64| 0.02 * student::quantile(0.95, n - 1.0) / 2.201 * (12.0 / n).sqrt();
        let then = 12.0 + f64::from(more);
        assert!(half(then) <= 0.010_01 && half(then - 1.0) > 0.009_99, "{more}");
        assert_eq!(
            blocks_for_width(&ratio(1.0, 0.02, 12), 0.001, 1000),
            Some(More::MoreThan(1000))
        );
        assert_eq!(blocks_for_width(&ratio(1.0, 0.009, 12), 0.01, 10), Some(More::Blocks(0)));
        assert_eq!(blocks_for_width(&Estimate::single(1.0), 0.01, 10), None);
    }

    #[test]
    fn what_is_far_from_the_bound_is_settled_sooner() {
        let blocks = |point: f64, half: f64| match blocks_to_settle(
            &ratio(point, half, 12),
            0.05,
            100_000,
        ) {
            Some(More::Blocks(n)) => n,
            other => panic!("{point}: {other:?}"),
        };
        assert!(blocks(0.90, 0.12) < 30, "{}", blocks(0.90, 0.12));
        assert!(blocks(0.90, 0.12) < blocks(0.94, 0.12));
        assert!(blocks(1.0, 0.06) < blocks(0.97, 0.06));
        assert!(blocks(0.97, 0.06) < blocks(0.955, 0.06));
        // The mirror image takes as long, but for the bounds, which mirror on the plain scale.
        let (down, up) = (blocks(0.90, 0.12), blocks(1.0 / 0.90, 0.12));
        assert!(down.abs_diff(up) <= 2, "{down} {up}");
    }

    #[test]
    fn what_cannot_be_settled_in_time_is_said() {
        let near = ratio(0.951, 0.06, 20);
        assert_eq!(blocks_to_settle(&near, 0.05, 200), Some(More::MoreThan(200)));
        assert_eq!(More::MoreThan(200).seconds(2.0), None);
        assert_eq!(More::Blocks(30).seconds(2.0), Some(60.0));
        assert_eq!(blocks_to_settle(&ratio(0.8, 0.02, 20), 0.05, 200), Some(More::Blocks(0)));
        assert_eq!(blocks_to_settle(&Estimate::single(0.9), 0.05, 200), None);
    }
}
