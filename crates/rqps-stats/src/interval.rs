//! The interval of a mean of few blocks that may be skewed and resemble their neighbours, and the
//! test of the mean against 0 that belongs to it.
//!
//! Student's t is exact for normal, independent values. Two things spoil it here. Skew (the host
//! slows a block now and then) moves mean and spread together; P. Hall ("On the removal of skewness
//! by transformation", Journal of the Royal Statistical Society B 54 (1992)) undoes that with a
//! cubic of t that always increases, so that it inverts in closed form. Correlation of neighbours
//! makes the mean less sure ([`crate::correlation`]). Bootstraps are in [`crate::bootstrap`]; which
//! method covers what is measured in docs/explanation/statistics.md.

use crate::correlation::{MIN_FOR_CORRELATION, inflation};
use crate::summary::{moments, p_without_spread};
use crate::{CONFIDENCE, student};

/// How much of the skew seen is undone. The skew of few values is mostly chance: all of it (1)
/// makes the interval of 8 exponential blocks a fifth wider for half a percent of coverage.
const SKEW_SHARE: f64 = 0.7;

/// Skew below which the cubic is a straight line to the precision of a double.
const NO_SKEW: f64 = 1e-6;

/// Degrees of freedom that correlation leaves at least (where there are as many): with one or two,
/// t is so wide (12.7, 4.3) that a chance correlation among 8 blocks would hide any difference.
const MIN_DEGREES: f64 = 3.0;

/// The relative variance of the inflation of n blocks, times n. For an estimate without bounds it
/// is 4 at least (the standard deviation of r is 1/√n, that of the inflation twice as much). That r
/// counts from 0 up only is on the safe side and takes most of it away again: with 0 here, blocks
/// correlated by 0.4 are covered in 91.5% to 94%, with 1 in 93% to 94%, with 2 independent ones in
/// up to 98.3%.
const INFLATION_VARIANCE: f64 = 1.0;

/// Standard deviations below this, relative to the mean's size or to 1, are rounding.
const NO_SPREAD: f64 = 1e-12;

/// A mean, its 95% interval, and how surprising it would be if the true mean were 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanTest {
    /// The arithmetic mean, in the unit of the values.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
    /// Two-sided p-value of the mean against 0, in 0..=1; below 0.05 exactly where the interval
    /// does not hold 0.
    pub p: f64,
    /// Degrees of freedom of Student's t in both.
    pub df: f64,
}

/// The interval that covers best at 8 to 40 blocks: Hall's transformation of t with 0.7 of the
/// skew, widened for the correlation of neighbours.
///
/// With m values, standard deviation s, skew g (third central moment / s³) and inflation f of the
/// variance, U = mean/(s·√f) and h(U) = U + aU² + a²U³/3 + a/(2n), a = 0.7·g/3, the test is
/// Student's on √n·h(U) and the interval its inversion. The degrees of freedom, from 3 to n − 1,
/// are ν = 2 / (2/(n/f − 1) + 1/n): those of the effective number of values, less what the
/// inflation itself is unsure of (as Satterthwaite combines variances); n − 1 below 8 values, where
/// f is 1. Negating the values negates point and interval. `None` for fewer than two values or one
/// that is not finite. Values without spread give a point, and p = 0 or 1.
#[must_use]
pub fn skew_adjusted(values: &[f64]) -> Option<MeanTest> {
    let spread = Spread::of(values)?;
    let Spread { mean, sd, n } = spread;
    if spread.is_none() {
        return Some(spread.point());
    }
    let inflation = inflation(values);
    let df = degrees(values.len(), n / inflation);
    let scale = sd * inflation.sqrt();
    let t = student::quantile(CONFIDENCE, df);
    let cubes: f64 = values.iter().map(|v| (v - mean).powi(3)).sum();
    let skew = SKEW_SHARE * cubes / n / sd.powi(3);
    let cubic = Cubic { skew, n };
    let low = mean - scale * cubic.inverse(t / n.sqrt());
    let high = mean - scale * cubic.inverse(-t / n.sqrt());
    let p = student::two_sided_p((n.sqrt() * cubic.at(mean / scale)).abs(), df);
    Some(MeanTest { mean, low, high, p, df })
}

/// Student's t with the effective number of values: exact for normal values, too narrow for skewed
/// ones. For comparison with [`skew_adjusted`]; the same conditions.
#[must_use]
pub fn plain(values: &[f64]) -> Option<MeanTest> {
    let spread = Spread::of(values)?;
    let Spread { mean, sd, n } = spread;
    if spread.is_none() {
        return Some(spread.point());
    }
    let effective = n / inflation(values);
    let df = (effective - 1.0).max(MIN_DEGREES.min(n - 1.0));
    let error = sd / effective.sqrt();
    let half = student::quantile(CONFIDENCE, df) * error;
    let p = student::two_sided_p((mean / error).abs(), df);
    Some(MeanTest { mean, low: mean - half, high: mean + half, p, df })
}

/// Degrees of freedom of `n` values that are worth `effective` independent ones: see
/// [`skew_adjusted`].
pub(crate) fn degrees(n: usize, effective: f64) -> f64 {
    let all = n as f64 - 1.0;
    if n < MIN_FOR_CORRELATION {
        return all;
    }
    let left = (effective - 1.0).max(1.0);
    (2.0 / (2.0 / left + INFLATION_VARIANCE / n as f64)).clamp(MIN_DEGREES, all)
}

/// Mean, standard deviation and number of at least two finite values.
#[derive(Clone, Copy)]
struct Spread {
    mean: f64,
    sd: f64,
    n: f64,
}

impl Spread {
    fn of(values: &[f64]) -> Option<Self> {
        if values.len() < 2 || values.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let (mean, variance, n) = moments(values)?;
        Some(Self { mean, sd: variance.sqrt(), n })
    }

    fn is_none(self) -> bool {
        self.sd <= NO_SPREAD * self.mean.abs().max(1.0)
    }

    /// What values without spread tell.
    fn point(self) -> MeanTest {
        let Self { mean, n, .. } = self;
        MeanTest { mean, low: mean, high: mean, p: p_without_spread(mean), df: n - 1.0 }
    }
}

/// Hall's increasing cubic h(u) = u + g·u²/3 + g²·u³/27 + g/(6n).
#[derive(Clone, Copy)]
struct Cubic {
    skew: f64,
    n: f64,
}

impl Cubic {
    fn at(self, u: f64) -> f64 {
        let g = self.skew;
        u + g * u * u / 3.0 + g * g * u.powi(3) / 27.0 + g / (6.0 * self.n)
    }

    fn inverse(self, y: f64) -> f64 {
        let g = self.skew;
        if g.abs() < NO_SKEW {
            return y;
        }
        3.0 / g * ((1.0 + g * (y - g / (6.0 * self.n))).cbrt() - 1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn without_skew_it_is_students() {
        // 0, 0.1, 0.2: mean 0.1, standard error 0.1/sqrt(3), t(2) = 4.303; t = sqrt(3), p = 0.2254.
        let found = skew_adjusted(&[0.0, 0.1, 0.2]).unwrap();
        let half = 4.302_652_7 * 0.1 / 3.0_f64.sqrt();
        assert!((found.mean - 0.1).abs() < 1e-12);
        assert!((found.high - 0.1 - half).abs() < 1e-6 && (found.low - 0.1 + half).abs() < 1e-6);
        assert!((found.p - 0.225_403_3).abs() < 1e-6, "{}", found.p);
        assert!((plain(&[0.0, 0.1, 0.2]).unwrap().high - found.high).abs() < 1e-6);
    }

    #[test]
    fn the_interval_reaches_further_where_the_slow_blocks_are() {
        let slow_now_and_then = [0.0, 0.01, -0.01, 0.0, -0.3, 0.01];
        let found = skew_adjusted(&slow_now_and_then).unwrap();
        assert!(found.mean - found.low > 1.5 * (found.high - found.mean));
    }

    #[test]
    fn the_cubic_inverts() {
        for skew in [-2.0, -0.3, 0.0, 1e-7, 0.8, 1.9] {
            let cubic = Cubic { skew, n: 8.0 };
            for u in [-3.0, -0.5, 0.0, 0.4, 2.5] {
                assert!((cubic.inverse(cubic.at(u)) - u).abs() < 1e-6, "{skew} {u}");
            }
        }
    }

    #[test]
    fn what_has_no_spread_is_a_point() {
        let same = skew_adjusted(&[0.0; 5]).unwrap();
        assert!(same.p > 0.999 && same.low.abs() < 1e-15 && same.high.abs() < 1e-15);
        assert!(skew_adjusted(&[0.1; 5]).unwrap().p < 1e-9);
        assert!(skew_adjusted(&[0.1]).is_none());
        assert!(skew_adjusted(&[0.1, f64::NAN]).is_none());
    }

    proptest! {
        #[test]
        fn p_and_interval_agree_and_negate(
            values in prop::collection::vec(-1.0_f64..1.3, 2..40),
        ) {
            let there = skew_adjusted(&values).unwrap();
            let holds = there.low <= 0.0 && there.high >= 0.0;
            prop_assert_eq!(holds, there.p >= 0.05, "{:?}", there);
            let negated: Vec<f64> = values.iter().map(|v| -v).collect();
            let back = skew_adjusted(&negated).unwrap();
            prop_assert!((there.low + back.high).abs() < 1e-9 && (there.p - back.p).abs() < 1e-9);
        }
    }
}
