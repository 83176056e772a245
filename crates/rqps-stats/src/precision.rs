//! When to stop adding blocks, and how many more would settle what is unclear.
//!
//! The rule looks at the width of the interval only, never at where it lies: to stop as soon as a
//! difference is significant would find one in every run that goes on long enough. Stopping at a
//! width still picks runs that look calmer than they are (Y. S. Chow and H. Robbins, "On the
//! asymptotic theory of fixed-width sequential confidence intervals for the mean", Annals of
//! Mathematical Statistics 36 (1965)): what that costs in coverage is measured in
//! docs/explanation/statistics.md.

use rqps_model::{Estimate, Verdict};

use crate::ratio::verdict;
use crate::starts::StartsEstimate;
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

/// How many more blocks would give an unclear ratio a verdict with a chance of 80%. At most
/// `limit`.
///
/// The chance is that of the estimate after so many blocks, which lies around the present one with
/// the variance se²·(1 − n/n′) (n blocks now, n′ then, a flat prior), and of the interval around
/// it, se·t·√(n/n′). An estimate near the practical bound takes long: it must be told on which side
/// of the bound it lies. `None` without an interval.
#[must_use]
pub fn blocks_to_settle(ratio: &Estimate, bound: f64, limit: u32) -> Option<More> {
    let spread = Spread::of(ratio, bound)?;
    if verdict(ratio, bound) != Verdict::Unclear {
        return Some(More::Blocks(0));
    }
    Some(spread.blocks(1.0 - CONFIDENCE, limit))
}

/// The same of a ratio that is unclear among the ratios of its run, be it that it would be slower or
/// faster alone: a difference needs a p-value of at most `p`, in 0..1 ([`crate::fdr`]).
///
/// Not 0: it is for the caller to say that the ratio is unclear.
#[must_use]
pub fn blocks_to_settle_among(ratio: &Estimate, bound: f64, p: f64, limit: u32) -> Option<More> {
    Spread::of(ratio, bound).map(|spread| spread.blocks(p, limit))
}

/// The same in starts of the servers of a ratio whose uncertainty is theirs: `error` is the standard error of its
/// logarithm, known with `df` degrees of freedom.
#[must_use]
pub fn starts_to_settle_among(
    starts: &StartsEstimate,
    bound: f64,
    p: f64,
    limit: u32,
) -> Option<More> {
    let tested = starts.tested;
    // Over runs no start has a partner, and there is no model of starts: the error is the interval's own.
    let error = starts.error.or_else(|| tested.error())?;
    let df = match starts.starts {
        0 | 1 => tested.df?,
        n => f64::from(n) - 1.0 + starts.prior.map_or(0.0, |prior| prior.df),
    };
    let is_usable = error.is_finite() && df > 0.0 && bound > 0.0 && bound < 1.0;
    let spread = is_usable.then(|| Spread {
        n: starts.starts.max(1),
        df,
        point: tested.estimate.point.ln(),
        error,
        slower: (1.0 - bound).ln(),
        faster: (1.0 + bound).ln(),
    });
    spread.map(|spread| spread.blocks(p, limit))
}

/// A ratio on the log scale, and the bounds of its verdicts.
struct Spread {
    n: u32,
    /// Degrees of freedom of `error`.
    df: f64,
    point: f64,
    /// Standard error.
    error: f64,
    slower: f64,
    faster: f64,
}

impl Spread {
    fn of(ratio: &Estimate, bound: f64) -> Option<Self> {
        let (low, high) = ratio.interval?;
        let is_usable = low > 0.0 && high.is_finite() && ratio.n >= 2 && bound > 0.0 && bound < 1.0;
        let df = f64::from(ratio.n) - 1.0;
        is_usable.then(|| Self {
            n: ratio.n,
            df,
            point: ratio.point.ln(),
            error: 0.5 * (high.ln() - low.ln()) / student::quantile(CONFIDENCE, df),
            slower: (1.0 - bound).ln(),
            faster: (1.0 + bound).ln(),
        })
    }

    fn blocks(&self, p: f64, limit: u32) -> More {
        first(limit, |more| more > 0 && self.chance(more, p) >= ASSURANCE)
    }

    /// The chance that `more` blocks settle it, a difference with a p-value of at most `p`.
    fn chance(&self, more: u32, p: f64) -> f64 {
        let (n, then) = (f64::from(self.n), f64::from(self.n) + f64::from(more));
        let df_then = self.df + f64::from(more);
        let sd = self.error * (1.0 - n / then).sqrt();
        let error_then = self.error * (n / then).sqrt();
        let half_then = error_then * student::quantile(CONFIDENCE, df_then);
        let away = error_then * student::quantile(1.0 - p, df_then);
        let below = |x: f64| student::cumulative((x - self.point) / sd, self.df);
        let is_slower = below(self.slower.min(-away));
        let is_faster = 1.0 - below(self.faster.max(away));
        // `same` where the interval fits between the bounds and the estimate is far enough from them;
        // what is already called slower or faster is not counted twice.
        let (from, to) = (self.slower + half_then, self.faster - half_then);
        let is_same = if from < to { below(to) - below(from) } else { 0.0 };
        is_slower + is_faster + is_same
    }
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
    fn among_many_a_difference_takes_longer() {
        let among = |p: f64| match blocks_to_settle_among(&ratio(0.90, 0.12, 12), 0.05, p, 10_000) {
            Some(More::Blocks(n)) => n,
            other => panic!("{other:?}"),
        };
        let alone = blocks_to_settle(&ratio(0.90, 0.12, 12), 0.05, 10_000);
        assert_eq!(alone, Some(More::Blocks(among(0.05))));
        assert!(among(0.05 / 40.0) > among(0.05), "{} {}", among(0.05 / 40.0), among(0.05));
        // Slower alone, and not among many: some blocks it takes.
        let fallen = ratio(0.90, 0.09, 12);
        assert_eq!(blocks_to_settle(&fallen, 0.05, 1000), Some(More::Blocks(0)));
        let more = blocks_to_settle_among(&fallen, 0.05, 0.05 / 40.0, 1000);
        assert!(matches!(more, Some(More::Blocks(1..=40))), "{more:?}");
        assert_eq!(blocks_to_settle_among(&Estimate::single(0.9), 0.05, 0.01, 10), None);
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
