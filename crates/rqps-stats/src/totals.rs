//! Ratios of totals, for blocks that are equal in work and not in time.
//!
//! Such blocks have a rate each, but the mean of the rates is not the rate of the whole: nineteen
//! blocks at 10,000/s and one at 500/s took as long as twice as many at 10,000/s, so their rate is
//! 5,128/s, and not the 9,525/s of the mean. The rate of the whole is the work of all blocks over
//! their time: a ratio estimator (W. G. Cochran, "Sampling Techniques", 3rd edition (1977), chapter
//! 6). Its spread comes from the jackknife (J. W. Tukey, "Bias and confidence in not-quite large
//! samples", Annals of Mathematical Statistics 29 (1958); R. G. Miller, "The jackknife: a review",
//! Biometrika 61 (1974)), which for steady blocks is that of Cochran's linear approximation, and
//! covers better where one block is most of the time.

use rqps_model::Estimate;

use crate::interval;
use crate::paired::log_ratios;
use crate::summary::mean;
use crate::tested::{Tested, of_log_ratios};

/// One block of a ratio: `amount` per `per`, operations and the time that they took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockTotals {
    /// What is above the line, at least 0.
    pub amount: f64,
    /// What is below it, at least 0.
    pub per: f64,
}

impl BlockTotals {
    /// The block's own ratio.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.amount / self.per
    }
}

/// The sum of the amounts over the sum of what they are per, with its 95% interval: Student's t on
/// the logarithms of [`figures`].
///
/// `None` when there is no part, or when the total is not above 0 and finite. The interval assumes
/// independent blocks; with one block there is none.
#[must_use]
pub fn total(parts: &[BlockTotals]) -> Option<Estimate> {
    let logs: Vec<f64> = figures(parts)?.into_iter().map(f64::ln).collect();
    let of_logs = mean(&logs)?;
    let interval = of_logs.interval.map(|(low, high)| (low.exp(), high.exp()));
    Some(Estimate { point: of_total(parts)?, interval, n: of_logs.n })
}

/// A figure for each block, such that their geometric mean is the ratio of the totals and the spread
/// of their logarithms is that of the jackknife.
///
/// [`crate::ratio`] of those of two systems that were measured one after the other is the ratio of
/// their totals with its interval; [`paired_test`] has that of blocks measured in pairs. With L the logarithm of the ratio of all n blocks and Lᵢ that of all
/// but block i, the logarithm of figure i is L + (n - 1)·(mean of all Lᵢ - Lᵢ): a block that changes
/// nothing when it is excluded has the mean itself.
///
/// `None` when there is no part, when a value is negative or not finite, or when the total, or that
/// of all blocks but one, is not above 0.
#[must_use]
pub fn figures(parts: &[BlockTotals]) -> Option<Vec<f64>> {
    let is_good = |v: f64| v >= 0.0 && v.is_finite();
    if !parts.iter().all(|part| is_good(part.amount) && is_good(part.per)) {
        return None;
    }
    let whole = of_total(parts)?;
    if parts.len() < 2 {
        return Some(vec![whole]);
    }
    let n = parts.len() as f64;
    let without = |omitted: usize| -> Option<f64> {
        let others = parts.iter().enumerate().filter(|(idx, _)| *idx != omitted);
        ratio_of_sums(others.map(|(_, part)| part)).map(f64::ln)
    };
    let without: Option<Vec<f64>> = (0..parts.len()).map(without).collect();
    let without = without?;
    let middle = without.iter().sum::<f64>() / n;
    let log = whole.ln();
    Some(without.iter().map(|l| (log + (n - 1.0) * (middle - l)).exp()).collect())
}

/// Candidate / base of the totals of blocks that were measured in pairs, with its 95% interval and
/// p-value: [`interval::plain`] of the logarithms of [`figures`]. A block that stalled is most of the
/// skew there is, and undoing it would lose what it says.
///
/// `None` as [`figures`], or when the sides differ in number.
#[must_use]
pub fn paired_test(base: &[BlockTotals], candidate: &[BlockTotals]) -> Option<Tested> {
    let logs = log_ratios(&figures(base)?, &figures(candidate)?)?;
    match interval::plain(&logs) {
        Some(found) => Some(Tested::exp_of(&found, logs.len())),
        None => of_log_ratios(&logs),
    }
}

fn of_total(parts: &[BlockTotals]) -> Option<f64> {
    ratio_of_sums(parts.iter())
}

fn ratio_of_sums<'a>(parts: impl Iterator<Item = &'a BlockTotals>) -> Option<f64> {
    let (amount, per) =
        parts.fold((0.0, 0.0), |(amount, per), part| (amount + part.amount, per + part.per));
    let ratio = amount / per;
    (ratio > 0.0 && ratio.is_finite()).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{paired_ratio, ratio};

    /// Blocks of 1000 rows that took these seconds.
    fn blocks(seconds: &[f64]) -> Vec<BlockTotals> {
        seconds.iter().map(|&per| BlockTotals { amount: 1000.0, per }).collect()
    }

    #[test]
    fn a_stalled_block_counts_as_long_as_it_took() {
        let mut seconds = [0.1; 20];
        seconds[7] = 2.0;
        let rate = total(&blocks(&seconds)).unwrap();
        assert!((rate.point - 20_000.0 / 3.9).abs() < 1e-9 && rate.n == 20);
        // Without the stall it would be twice as fast: one block says too little to be sure of it.
        let (low, high) = rate.interval.unwrap();
        assert!(low < 3000.0 && high > 10_000.0);
    }

    #[test]
    fn by_hand() {
        // Two blocks of 1 and 3 s: the total is 2000/4, without the first 1000/3, without the second
        // 1000/1. Their logarithms are ln 3 apart, and so are those of the figures.
        let figures = figures(&blocks(&[1.0, 3.0])).unwrap();
        assert!(((figures[0] * figures[1]).sqrt() - 500.0).abs() < 1e-9);
        assert!((figures[0] / figures[1] - 3.0).abs() < 1e-9);
    }

    #[test]
    fn steady_blocks_are_as_sure_as_cochrans_approximation() {
        let seconds: Vec<f64> = (0..20).map(|i| 1.0 + 0.002 * f64::from(i * 7 % 20)).collect();
        let (low, high) = total(&blocks(&seconds)).unwrap().interval.unwrap();
        // u = time / mean time - 1; the half-width is t(19) times s of u over the root of 20.
        let mean = seconds.iter().sum::<f64>() / 20.0;
        let squares: f64 = seconds.iter().map(|s| (s / mean - 1.0).powi(2)).sum();
        let half = 2.093_024 * (squares / 19.0 / 20.0).sqrt();
        assert!(((high / low).ln() / 2.0 / half - 1.0).abs() < 2e-3);
    }

    #[test]
    fn refuses_what_has_no_ratio() {
        assert!(figures(&[]).is_none() && total(&[]).is_none());
        assert!(figures(&blocks(&[0.0])).is_none());
        assert!(figures(&blocks(&[1.0, f64::NAN])).is_none());
        assert!(figures(&blocks(&[3.0, -1.0])).is_none());
        // All of the work in one block: nothing can be said without it.
        let nothing = BlockTotals { amount: 0.0, per: 1.0 };
        assert!(figures(&[nothing, blocks(&[1.0])[0]]).is_none());
        let single = total(&blocks(&[2.0])).unwrap();
        assert!(single.interval.is_none() && (single.point - 500.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn figures_carry_the_totals_and_swapping_sides_inverts(
            times in prop::collection::vec((0.01_f64..10.0, 0.01_f64..10.0), 2..40),
        ) {
            let (base, candidate): (Vec<f64>, Vec<f64>) = times.into_iter().unzip();
            let (base, candidate) = (blocks(&base), blocks(&candidate));
            let totals = total(&candidate).unwrap().point / total(&base).unwrap().point;
            let (b, c) = (figures(&base).unwrap(), figures(&candidate).unwrap());
            for of in [paired_ratio, ratio] {
                let (there, back) = (of(&b, &c).unwrap(), of(&c, &b).unwrap());
                prop_assert!((there.point / totals - 1.0).abs() < 1e-9);
                prop_assert!((there.point * back.point - 1.0).abs() < 1e-9);
                let (low, _) = there.interval.unwrap();
                let (_, high) = back.interval.unwrap();
                prop_assert!((low.ln() + high.ln()).abs() < 1e-6);
            }
        }

        #[test]
        fn the_cut_of_time_does_not_move_the_total(
            times in prop::collection::vec(0.01_f64..10.0, 2..20),
        ) {
            let rate = total(&blocks(&times)).unwrap().point;
            let whole = BlockTotals { amount: 1000.0 * times.len() as f64, per: times.iter().sum() };
            prop_assert!((rate / whole.ratio() - 1.0).abs() < 1e-12);
        }
    }
}
