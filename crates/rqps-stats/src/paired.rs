//! QPS ratios of two interleaved systems, block by block.
//!
//! Block i of one system and block i of the other were measured in the same seconds, in rounds of
//! short slices, so that a change of the host touches both alike. The observation is the logarithm
//! of their ratio; [`crate::interval`] has the interval of its mean.

use rqps_model::Estimate;

use crate::tested::{Tested, of_log_ratios};

/// `candidate / base` of rates above 0 that were measured in pairs, with its 95% interval.
///
/// The point is the exponential of the mean log ratio, so that swapping the sides inverts point and
/// interval. With one pair there is no interval. `None` when there is no pair, the sides differ in
/// number, or a value is not above 0 and finite.
#[must_use]
pub fn paired_ratio(base: &[f64], candidate: &[f64]) -> Option<Estimate> {
    paired_test(base, candidate).map(|tested| tested.estimate)
}

/// [`paired_ratio`] with the p-value of the true ratio being 1.
#[must_use]
pub fn paired_test(base: &[f64], candidate: &[f64]) -> Option<Tested> {
    of_log_ratios(&log_ratios(base, candidate)?)
}

/// ln(candidate / base) of each pair, in order; `None` when the sides differ in number or a value
/// is not above 0 and finite.
#[must_use]
pub fn log_ratios(base: &[f64], candidate: &[f64]) -> Option<Vec<f64>> {
    if base.len() != candidate.len() {
        return None;
    }
    let is_good = |v: f64| v > 0.0 && v.is_finite();
    base.iter()
        .zip(candidate)
        .map(|(&b, &c)| (is_good(b) && is_good(c)).then(|| c.ln() - b.ln()))
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn by_hand() {
        // Log ratios 0, 0.1 and 0.2: mean 0.1, standard deviation 0.1, t(2) = 4.303.
        let base = [10.0, 20.0, 40.0];
        let candidate = [10.0, 20.0 * 0.1_f64.exp(), 40.0 * 0.2_f64.exp()];
        let ratio = paired_ratio(&base, &candidate).unwrap();
        let (low, high) = ratio.interval.unwrap();
        let half = 4.302_652_7 * 0.1 / 3.0_f64.sqrt();
        assert!((ratio.point.ln() - 0.1).abs() < 1e-12 && ratio.n == 3);
        assert!((low.ln() - (0.1 - half)).abs() < 1e-6 && (high.ln() - (0.1 + half)).abs() < 1e-6);
    }

    #[test]
    fn a_host_that_drifts_leaves_the_interval_alone() {
        let base: Vec<f64> = (0..10).map(|i| 1000.0 * 2.0_f64.powi(i)).collect();
        let candidate: Vec<f64> = base.iter().map(|v| 0.7 * v).collect();
        let (low, high) = paired_ratio(&base, &candidate).unwrap().interval.unwrap();
        assert!((low - 0.7).abs() < 1e-9 && (high - 0.7).abs() < 1e-9);
    }

    #[test]
    fn blocks_like_their_neighbours_widen_the_interval() {
        // The same values, once in waves and once alternating.
        let waves = [1.0, 1.0, 1.0, 1.0, 1.0, 1.2, 1.2, 1.2, 1.2, 1.2];
        let alternating = [1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2];
        let width = |values: &[f64]| paired_ratio(&[1.0; 10], values).unwrap().half_width();
        assert!(width(&waves).unwrap() > 1.5 * width(&alternating).unwrap());
    }

    #[test]
    fn refuses_what_has_no_logarithm_or_no_partner() {
        assert!(paired_ratio(&[], &[]).is_none());
        assert!(paired_ratio(&[1.0], &[1.0, 2.0]).is_none());
        assert!(paired_ratio(&[0.0], &[1.0]).is_none());
        assert!(paired_ratio(&[1.0], &[f64::INFINITY]).is_none());
        assert!(paired_ratio(&[1.0], &[2.0]).unwrap().interval.is_none());
    }

    proptest! {
        #[test]
        fn swapping_sides_inverts(
            pairs in prop::collection::vec((1.0_f64..1e6, 1.0_f64..1e6), 2..40),
        ) {
            let (base, candidate): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let there = paired_ratio(&base, &candidate).unwrap();
            let back = paired_ratio(&candidate, &base).unwrap();
            prop_assert!((there.point * back.point - 1.0).abs() < 1e-9);
            let (low, _) = there.interval.unwrap();
            let (_, high) = back.interval.unwrap();
            prop_assert!((low.ln() + high.ln()).abs() < 1e-6);
        }
    }
}
