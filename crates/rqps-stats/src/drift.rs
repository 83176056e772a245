//! Whether rates drift within a step: the slope of their logarithms over time.
//!
//! Student's t on the slope of least squares, widened for the correlation of what the line leaves
//! ([`crate::correlation`]). A step that drifts had not settled; the interval of its ratio is then
//! too wide, or of something that changes. Halves compared by Welch's t see a drift half as often:
//! within a half it looks like correlation.

use rqps_model::Estimate;

use crate::correlation::inflation;
use crate::interval::degrees;
use crate::summary::NO_VARIANCE;
use crate::tested::{Tested, count};
use crate::{CONFIDENCE, student};

/// Blocks below which a line is not drawn.
pub const MIN_BLOCKS: usize = 8;

/// p-value below which a drift is marked: one step in a hundred by chance.
pub const DRIFT_P: f64 = 0.01;

/// How much `figures` (blocks in order of time, each above 0) changed from the first to the last
/// block: the ratio of the fitted line's ends, with interval and p-value.
///
/// `None` with fewer than 8 values, one that is not above 0 and finite, or no spread about the
/// line.
#[must_use]
pub fn drift(figures: &[f64]) -> Option<Tested> {
    if figures.len() < MIN_BLOCKS || figures.iter().any(|v| !(*v > 0.0 && v.is_finite())) {
        return None;
    }
    let logs: Vec<f64> = figures.iter().map(|v| v.ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    // Time from -1/2 at the first block to 1/2 at the last, so that the slope is the whole change.
    let times: Vec<f64> = (0..logs.len()).map(|i| i as f64 / (n - 1.0) - 0.5).collect();
    let squares: f64 = times.iter().map(|t| t * t).sum();
    let slope = times.iter().zip(&logs).map(|(t, v)| t * (v - mean)).sum::<f64>() / squares;
    let residuals: Vec<f64> = times.iter().zip(&logs).map(|(t, v)| v - mean - slope * t).collect();
    let variance = residuals.iter().map(|r| r * r).sum::<f64>() / (n - 2.0);
    if variance <= NO_VARIANCE {
        return None;
    }
    let inflation = inflation(&residuals);
    let error = (variance * inflation / squares).sqrt();
    let df = degrees(logs.len(), n / inflation).min(n - 2.0);
    let half = student::quantile(CONFIDENCE, df) * error;
    let interval = Some(((slope - half).exp(), (slope + half).exp()));
    let estimate = Estimate { point: slope.exp(), interval, n: count(logs.len()) };
    let p = Some(student::two_sided_p(slope.abs() / error, df));
    Some(Tested { estimate, p, df: Some(df) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // A line from 0 to 0.7 in eight blocks. They alternate 0.01 above and below it but for the
        // middle, so that the noise has no slope of its own: squares of time 12/14, of residuals
        // 8e-4.
        let noise = [1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0, 1.0].map(|e| 0.01 * e);
        let figures: Vec<f64> =
            noise.iter().enumerate().map(|(i, e)| (0.1 * i as f64 + e).exp()).collect();
        let found = drift(&figures).unwrap();
        assert!((found.estimate.point.ln() - 0.7).abs() < 1e-9 && found.estimate.n == 8);
        let error = (8e-4_f64 / 6.0 / (42.0 / 49.0)).sqrt();
        // ν = 2 / (2/7 + 1/8) = 4.870, between t(5) = 2.571 and t(4) = 2.776.
        let half = found.estimate.interval.unwrap().1.ln() - 0.7;
        assert!(half > 2.571 * error && half < 2.776 * error, "{half} {error}");
        assert!(found.p.unwrap() < DRIFT_P);
    }

    #[test]
    fn refuses_what_is_short_or_has_no_spread() {
        assert!(drift(&[1.0; 7]).is_none() && drift(&[1.0; 20]).is_none());
        assert!(drift(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 0.0]).is_none());
    }
}
