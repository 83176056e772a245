//! Whether figures drift within a step: the second half of its blocks against the first.
//!
//! Welch's t on the logarithms, with the effective number of blocks of each half. A step that drifts
//! had not settled; the interval of its ratio is then too wide, or of something that changes.

use rqps_model::Estimate;

use crate::correlation::inflation;
use crate::summary::{NO_VARIANCE, moments};
use crate::tested::{Tested, count};
use crate::{CONFIDENCE, student};

/// Blocks below which halves are too short to compare.
pub const MIN_BLOCKS: usize = 8;

/// p-value below which a drift is marked: one step in a hundred by chance.
pub const DRIFT_P: f64 = 0.01;

/// The second half / the first half of `figures` (blocks in order of time, each above 0; of an odd
/// number the middle one is in neither).
///
/// `None` with fewer than 8 values, one that is not above 0 and finite, or no spread.
#[must_use]
pub fn drift(figures: &[f64]) -> Option<Tested> {
    if figures.len() < MIN_BLOCKS || figures.iter().any(|v| !(*v > 0.0 && v.is_finite())) {
        return None;
    }
    let logs: Vec<f64> = figures.iter().map(|v| v.ln()).collect();
    let half = logs.len() / 2;
    let (first, second) = (&logs[..half], &logs[logs.len() - half..]);
    let (first_mean, first_variance, n) = moments(first)?;
    let (second_mean, second_variance, _) = moments(second)?;
    let residuals: Vec<f64> = first
        .iter()
        .map(|v| v - first_mean)
        .chain(second.iter().map(|v| v - second_mean))
        .collect();
    let effective = (n / inflation(&residuals)).max(2.0);
    let (a, b) = (first_variance / effective, second_variance / effective);
    let variance = a + b;
    if variance <= NO_VARIANCE {
        return None;
    }
    let df = variance * variance / ((a * a + b * b) / (effective - 1.0));
    let difference = second_mean - first_mean;
    let width = student::quantile(CONFIDENCE, df) * variance.sqrt();
    let interval = Some(((difference - width).exp(), (difference + width).exp()));
    let estimate = Estimate { point: difference.exp(), interval, n: count(half) };
    let p = student::two_sided_p(difference.abs() / variance.sqrt(), df);
    Some(Tested { estimate, p: Some(p) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Logs 0, 0.1, 0, 0.1 and 0.5, 0.6, 0.5, 0.6: difference 0.5; residuals alternate, so no
        // inflation; variances 0.01/3 each, error sqrt(2 * 0.01 / 12), df 6.
        let figures = [0.0, 0.1, 0.0, 0.1, 0.5, 0.6, 0.5, 0.6].map(f64::exp);
        let found = drift(&figures).unwrap();
        let error = (0.02_f64 / 12.0).sqrt();
        assert!((found.estimate.point.ln() - 0.5).abs() < 1e-12 && found.estimate.n == 4);
        let (low, _) = found.estimate.interval.unwrap();
        assert!((low.ln() - (0.5 - 2.446_912 * error)).abs() < 1e-6);
        assert!(found.p.unwrap() < DRIFT_P);
    }

    #[test]
    fn refuses_what_is_short_or_has_no_spread() {
        assert!(drift(&[1.0; 7]).is_none() && drift(&[1.0; 20]).is_none());
        assert!(drift(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 0.0]).is_none());
    }
}
