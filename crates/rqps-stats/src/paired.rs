//! Ratios of figures between two systems that took turns, block by block.
//!
//! Block i of one system and block i of the other were measured in the same seconds, in rounds of
//! short slices, so that a change of the host touches both alike. The observation is the logarithm
//! of their ratio; Student's t on its mean gives the interval. Blocks that resemble their neighbours
//! tell less than their number: the variance of the mean is multiplied by (1 + r) / (1 - r) with the
//! correlation r of neighbours, as for a first-order autoregression (G. V. Bayley and J. M.
//! Hammersley, "The 'effective' number of independent observations in an autocorrelated time
//! series", Supplement to the Journal of the Royal Statistical Society 8 (1946)).

use rqps_model::Estimate;

use crate::summary::moments;
use crate::{CONFIDENCE, student};

/// Blocks from which on the correlation of neighbours is estimated; with fewer it is noise alone.
const MIN_FOR_CORRELATION: usize = 8;

/// Degrees of freedom that correlation leaves at least: with one or two, t is so wide (12.7, 4.3) that
/// a chance correlation among 8 blocks would make any difference invisible.
const MIN_DEGREES: f64 = 3.0;

/// The most that a correlation counts: above it a dozen blocks would be worth less than two.
const MAX_CORRELATION: f64 = 0.7;

/// `candidate / base` of figures above 0 that were measured in pairs, with its 95% interval.
///
/// The point is the exponential of the mean log ratio, so that swapping the sides inverts point and
/// interval. With one pair there is no interval. `None` when there is no pair, the sides differ in
/// number, or a value is not above 0 and finite.
#[must_use]
pub fn paired_ratio(base: &[f64], candidate: &[f64]) -> Option<Estimate> {
    if base.len() != candidate.len() {
        return None;
    }
    let is_good = |v: f64| v > 0.0 && v.is_finite();
    let logs: Option<Vec<f64>> = base
        .iter()
        .zip(candidate)
        .map(|(&b, &c)| (is_good(b) && is_good(c)).then(|| c.ln() - b.ln()))
        .collect();
    let logs = logs?;
    let (mean, variance, n) = moments(&logs)?;
    let count = u32::try_from(logs.len()).unwrap_or(u32::MAX);
    if logs.len() < 2 {
        return Some(Estimate { point: mean.exp(), interval: None, n: count });
    }
    let effective = n / inflation(&logs, mean);
    let df = (effective - 1.0).max(MIN_DEGREES.min(n - 1.0));
    let half = student::quantile(CONFIDENCE, df) * (variance / effective).sqrt();
    let interval = Some(((mean - half).exp(), (mean + half).exp()));
    Some(Estimate { point: mean.exp(), interval, n: count })
}

/// By how much correlation of neighbours inflates the variance of the mean; at least 1.
///
/// The estimate of r is biased by about -(1 + 3r) / n (F. H. C. Marriott and J. A. Pope, "Bias in the
/// estimation of autocorrelations", Biometrika 41 (1954)), which is undone. Only an r beyond its own
/// noise of 1 / sqrt(n) counts: else independent blocks would be punished half of the time.
fn inflation(values: &[f64], mean: f64) -> f64 {
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    if values.len() < MIN_FOR_CORRELATION || squares <= 0.0 {
        return 1.0;
    }
    let products: f64 = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    let raw = products / squares;
    let r = (raw * n + 1.0) / (n - 3.0);
    if r <= 1.0 / n.sqrt() {
        return 1.0;
    }
    let r = r.min(MAX_CORRELATION);
    (1.0 + r) / (1.0 - r)
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
        // The same values, once in waves and once in turns.
        let waves = [1.0, 1.0, 1.0, 1.0, 1.0, 1.2, 1.2, 1.2, 1.2, 1.2];
        let turns = [1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2, 1.0, 1.2];
        let width = |values: &[f64]| paired_ratio(&[1.0; 10], values).unwrap().half_width();
        assert!(width(&waves).unwrap() > 1.5 * width(&turns).unwrap());
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
