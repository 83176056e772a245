//! A ratio with its interval and the p-value of its being 1.

use rqps_model::Estimate;

use crate::interval::{self, MeanTest};
use crate::{CONFIDENCE, student};

/// A ratio and how surprising it would be if there were no difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tested {
    /// The ratio with its 95% interval.
    pub estimate: Estimate,
    /// Two-sided p-value of the true ratio being 1, in 0..=1, of the same statistic as the interval
    /// (below 0.05 exactly where the interval does not hold 1); absent where the interval is.
    pub p: Option<f64>,
    /// Degrees of freedom of the Student's t that the interval is of, which its `n` does not tell;
    /// absent where the interval is.
    pub df: Option<f64>,
}

impl Tested {
    /// Standard error of the ratio's logarithm, as its interval and degrees of freedom tell it; absent
    /// without an interval and where an end of it has no logarithm.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        let is_fit = |(low, high): &(f64, f64)| *low > 0.0 && high.is_finite();
        let (low, high) = self.estimate.interval.filter(is_fit)?;
        Some(0.5 * (high.ln() - low.ln()) / student::quantile(CONFIDENCE, self.df?))
    }

    /// The exponential of a mean of logarithms.
    pub(crate) fn exp_of(found: &MeanTest, n: usize) -> Self {
        let interval = Some((found.low.exp(), found.high.exp()));
        let estimate = Estimate { point: found.mean.exp(), interval, n: count(n) };
        Self { estimate, p: Some(found.p), df: Some(found.df) }
    }

    /// A ratio whose rates were all alike, with the width that counting leaves: see
    /// [`crate::resolved`]. The p-value is then 1 where the interval holds 1, else 0.
    #[must_use]
    pub fn resolved(self, resolution: f64) -> Self {
        let estimate = crate::resolved(self.estimate, resolution);
        if estimate == self.estimate {
            return self;
        }
        let holds_one = estimate.interval.is_some_and(|(low, high)| low <= 1.0 && high >= 1.0);
        Self { estimate, p: Some(if holds_one { 1.0 } else { 0.0 }), df: self.df }
    }
}

/// The ratio of which `logs` are the natural logarithms of the blocks' ratios, in order of time.
///
/// One block gives a ratio without interval; `None` for no block or a value that is not finite. The
/// method is [`interval::skew_adjusted`].
#[must_use]
pub fn of_log_ratios(logs: &[f64]) -> Option<Tested> {
    if let [only] = logs {
        let estimate = Estimate::single(only.exp());
        return only.is_finite().then_some(Tested { estimate, p: None, df: None });
    }
    let found = interval::skew_adjusted(logs)?;
    Some(Tested::exp_of(&found, logs.len()))
}

/// A number of observations as an [`Estimate`] has it.
pub(crate) fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{of_counts, of_ratio};

    #[test]
    fn of_one_of_none_and_of_two() {
        assert!(of_log_ratios(&[]).is_none() && of_log_ratios(&[f64::NAN]).is_none());
        let one = of_log_ratios(&[0.1]).unwrap();
        assert!(one.estimate.interval.is_none() && one.p.is_none() && one.estimate.n == 1);
        // 0 and 0.2: t = 1 with one degree of freedom, p = 0.5.
        let two = of_log_ratios(&[0.0, 0.2]).unwrap();
        assert!((two.p.unwrap() - 0.5).abs() < 1e-9 && two.estimate.n == 2);
        assert!((two.df.unwrap() - 1.0).abs() < 1e-9 && (two.error().unwrap() - 0.1).abs() < 1e-6);
        assert!(one.df.is_none() && one.error().is_none());
    }

    #[test]
    fn figures_that_are_all_alike_are_told_apart_by_counting_alone() {
        let one = of_counts([300, 300]);
        let resolution = of_ratio(one, one);
        let same = of_log_ratios(&[0.004; 3]).unwrap();
        assert!(same.p.unwrap() < 1e-9 && same.resolved(resolution).p.unwrap() > 0.999);
        let other = of_log_ratios(&[0.1; 3]).unwrap().resolved(resolution);
        assert!(other.p.unwrap() < 1e-9 && other.estimate.interval.unwrap().0 < 0.1_f64.exp());
        let spread = of_log_ratios(&[0.1, 0.2]).unwrap();
        assert_eq!(spread.resolved(resolution), spread);
    }
}
