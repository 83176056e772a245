//! QPS ratios of two systems measured one after the other, and verdicts on them.
//!
//! In a sequential run a slice of one system has no partner in the other, so the log rates are
//! compared as two independent samples with unequal variances (Welch). What the interval cannot
//! contain is a drift of the host between the systems; reports of sequential runs say so.

use rqps_model::{Estimate, Verdict};

use crate::summary::{NO_VARIANCE, moments, p_without_spread};
use crate::tested::{Tested, count};
use crate::{CONFIDENCE, student};

/// `candidate / base` of rates above 0, with the 95% interval of Welch's t on their logarithms.
///
/// The point is the ratio of geometric means, so that swapping the sides inverts point and
/// interval. Values without any spread give an interval that is a point; where they are counts over
/// time, [`crate::resolved`] gives it the width of one operation. With a single value on either
/// side there is no interval. `None` when a side is empty or has a value that is not above 0 and
/// finite.
#[must_use]
pub fn ratio(base: &[f64], candidate: &[f64]) -> Option<Estimate> {
    ratio_test(base, candidate).map(|tested| tested.estimate)
}

/// [`ratio`] with the p-value of the true ratio being 1.
#[must_use]
pub fn ratio_test(base: &[f64], candidate: &[f64]) -> Option<Tested> {
    let logs = |values: &[f64]| -> Option<Vec<f64>> {
        values.iter().map(|v| (*v > 0.0 && v.is_finite()).then(|| v.ln())).collect()
    };
    let (b, c) = (logs(base)?, logs(candidate)?);
    let (b_mean, b_variance, b_n) = moments(&b)?;
    let (c_mean, c_variance, c_n) = moments(&c)?;
    let difference = c_mean - b_mean;
    let n = count(b.len().min(c.len()));
    if n < 2 {
        // Two single rates are divided and not taken through logarithms: the same quotient, to the
        // last digit, as whoever divides the two printed numbers.
        let point = match (base, candidate) {
            ([base], [candidate]) => candidate / base,
            _ => difference.exp(),
        };
        let estimate = Estimate { point, interval: None, n };
        return Some(Tested { estimate, p: None, df: None });
    }
    let (b_part, c_part) = (b_variance / b_n, c_variance / c_n);
    let variance = b_part + c_part;
    if variance <= NO_VARIANCE {
        let point = difference.exp();
        let (p, df) = (Some(p_without_spread(difference)), Some(b_n + c_n - 2.0));
        let estimate = Estimate { point, interval: Some((point, point)), n };
        return Some(Tested { estimate, p, df });
    }
    // Welch-Satterthwaite degrees of freedom.
    let df = variance * variance / (b_part * b_part / (b_n - 1.0) + c_part * c_part / (c_n - 1.0));
    let half = student::quantile(CONFIDENCE, df) * variance.sqrt();
    let interval = Some(((difference - half).exp(), (difference + half).exp()));
    let p = student::two_sided_p(difference.abs() / variance.sqrt(), df);
    let estimate = Estimate { point: difference.exp(), interval, n };
    Some(Tested { estimate, p: Some(p), df: Some(df) })
}

/// What a ratio says, given the practical bound `bound` (0.05 for 5%): see [`Verdict`].
///
/// A ratio without an interval is always unclear.
#[must_use]
pub fn verdict(ratio: &Estimate, bound: f64) -> Verdict {
    let Some((low, high)) = ratio.interval else {
        return Verdict::Unclear;
    };
    if high < 1.0 && ratio.point <= 1.0 - bound {
        Verdict::Slower
    } else if low > 1.0 && ratio.point >= 1.0 + bound {
        Verdict::Faster
    } else if low >= 1.0 - bound && high <= 1.0 + bound {
        Verdict::Same
    } else {
        Verdict::Unclear
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn estimate(low: f64, point: f64, high: f64) -> Estimate {
        Estimate { point, interval: Some((low, high)), n: 3 }
    }

    #[test]
    fn by_hand() {
        // Logs of base 0, 0, of candidate ln 2, ln 2: no spread, ratio exactly 2.
        let ratio_of = ratio(&[1.0, 1.0], &[2.0, 2.0]).unwrap();
        assert!((ratio_of.point - 2.0).abs() < 1e-12);
        // Equal spread on both sides, n = 3: df = 4, half = 2.776 * sqrt(2 * v / 3).
        let e = std::f64::consts::E;
        let side = [1.0 / e, 1.0, e];
        let ratio_of = ratio(&side, &side).unwrap();
        let (low, high) = ratio_of.interval.unwrap();
        let half = 2.776_445 * (2.0_f64 / 3.0).sqrt();
        assert!((high.ln() - half).abs() < 1e-5 && (low.ln() + half).abs() < 1e-5);
        // Four degrees of freedom and not two: the smaller side is three.
        let tested = ratio_test(&side, &side).unwrap();
        assert!((tested.df.unwrap() - 4.0).abs() < 1e-9 && tested.estimate.n == 3);
        assert!((tested.error().unwrap() - (2.0_f64 / 3.0).sqrt()).abs() < 1e-6);
    }

    #[test]
    fn degrees_of_freedom_of_sides_that_differ_in_size() {
        let exp = |logs: &[f64]| logs.iter().map(|v| v.exp()).collect::<Vec<_>>();
        // Variance of the mean 1 with one degree of freedom, and 1/3 with three: (4/3)² / (1 + 1/27) = 12/7.
        let (few, many) = (exp(&[0.0, 2.0]), exp(&[0.0, 2.0, 0.0, 2.0]));
        for (base, candidate) in [(&few, &many), (&many, &few)] {
            let df = ratio_test(base, candidate).unwrap().df.unwrap();
            assert!((df - 12.0 / 7.0).abs() < 1e-9, "{df}");
        }
    }

    #[test]
    fn refuses_what_has_no_logarithm() {
        assert!(ratio(&[], &[1.0]).is_none());
        assert!(ratio(&[0.0], &[1.0]).is_none());
        assert!(ratio(&[1.0], &[f64::INFINITY]).is_none());
        assert!(ratio(&[1.0], &[2.0]).unwrap().interval.is_none());
    }

    #[test]
    fn verdicts_by_the_rule() {
        assert_eq!(verdict(&estimate(0.60, 0.70, 0.80), 0.05), Verdict::Slower);
        assert_eq!(verdict(&estimate(1.20, 1.30, 1.40), 0.05), Verdict::Faster);
        assert_eq!(verdict(&estimate(0.96, 0.98, 1.01), 0.05), Verdict::Same);
        // Significant and smaller than the bound stays the same.
        assert_eq!(verdict(&estimate(0.96, 0.97, 0.98), 0.05), Verdict::Same);
        assert_eq!(verdict(&estimate(0.80, 0.95, 1.12), 0.05), Verdict::Unclear);
        assert_eq!(verdict(&Estimate::single(0.5), 0.05), Verdict::Unclear);
    }

    proptest! {
        #[test]
        fn swapping_sides_inverts(
            base in prop::collection::vec(1.0_f64..1e6, 2..8),
            candidate in prop::collection::vec(1.0_f64..1e6, 2..8),
        ) {
            let there = ratio(&base, &candidate).unwrap();
            let back = ratio(&candidate, &base).unwrap();
            prop_assert!((there.point * back.point - 1.0).abs() < 1e-9);
            let (low, _) = there.interval.unwrap();
            let (_, high) = back.interval.unwrap();
            prop_assert!((low * high - 1.0).abs() < 1e-6);
        }

        #[test]
        fn scaling_both_sides_changes_nothing(
            base in prop::collection::vec(1.0_f64..1e6, 2..8),
            candidate in prop::collection::vec(1.0_f64..1e6, 2..8),
            factor in 0.01_f64..100.0,
        ) {
            let plain = ratio(&base, &candidate).unwrap();
            let scale = |v: &[f64]| v.iter().map(|x| x * factor).collect::<Vec<_>>();
            let scaled = ratio(&scale(&base), &scale(&candidate)).unwrap();
            prop_assert!((plain.point / scaled.point - 1.0).abs() < 1e-9);
        }
    }
}
