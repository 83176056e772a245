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

/// Blocks of a start below which it has no slope, and such starts below which there is no mean of slopes.
const MIN_BLOCKS_OF_START: usize = 4;
const MIN_STARTS: usize = 3;

/// How much the figures of each start of the servers changed from its first to its last block, in the mean of the starts:
/// Student's t on their slopes, which needs no assumption of how blocks hang together. For starts of fewer blocks than
/// [`drift`] needs. `None` with fewer than three starts of four blocks, a figure that is not above 0 and finite, or slopes
/// that do not differ.
#[must_use]
pub fn drift_over_starts(starts: &[Vec<f64>]) -> Option<Tested> {
    let used = starts.iter().filter(|figures| figures.len() >= MIN_BLOCKS_OF_START);
    let slopes: Vec<f64> =
        used.map(|figures| Some(Line::of(figures)?.slope)).collect::<Option<_>>()?;
    if slopes.len() < MIN_STARTS {
        return None;
    }
    let n = slopes.len() as f64;
    let mean = slopes.iter().sum::<f64>() / n;
    let variance = slopes.iter().map(|slope| (slope - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if variance <= NO_VARIANCE {
        return None;
    }
    let (error, df) = ((variance / n).sqrt(), n - 1.0);
    Some(tested(mean, error, df, starts.iter().map(Vec::len).sum()))
}

/// How much `figures` (blocks in order of time, each above 0) changed from the first to the last
/// block: the ratio of the fitted line's ends, with interval and p-value.
///
/// `None` with fewer than 8 values, one that is not above 0 and finite, or no spread about the
/// line.
#[must_use]
pub fn drift(figures: &[f64]) -> Option<Tested> {
    if figures.len() < MIN_BLOCKS {
        return None;
    }
    let Line { slope, residuals, squares } = Line::of(figures)?;
    let n = figures.len() as f64;
    let variance = residuals.iter().map(|r| r * r).sum::<f64>() / (n - 2.0);
    if variance <= NO_VARIANCE {
        return None;
    }
    let inflation = inflation(&residuals);
    let error = (variance * inflation / squares).sqrt();
    let df = degrees(figures.len(), n / inflation).min(n - 2.0);
    Some(tested(slope, error, df, figures.len()))
}

/// The line of least squares through the logarithms of figures.
struct Line {
    /// The change from the first to the last.
    slope: f64,
    residuals: Vec<f64>,
    /// Squares of the times, from -1/2 at the first to 1/2 at the last, so that the slope is the whole change.
    squares: f64,
}

impl Line {
    /// `None` with a figure that is not above 0 and finite.
    fn of(figures: &[f64]) -> Option<Self> {
        if figures.iter().any(|v| !(*v > 0.0 && v.is_finite())) {
            return None;
        }
        let logs: Vec<f64> = figures.iter().map(|v| v.ln()).collect();
        let n = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / n;
        let times: Vec<f64> = (0..logs.len()).map(|i| i as f64 / (n - 1.0) - 0.5).collect();
        let squares: f64 = times.iter().map(|t| t * t).sum();
        let slope = times.iter().zip(&logs).map(|(t, v)| t * (v - mean)).sum::<f64>() / squares;
        let residuals = times.iter().zip(&logs).map(|(t, v)| v - mean - slope * t).collect();
        Some(Self { slope, residuals, squares })
    }
}

fn tested(slope: f64, error: f64, df: f64, n: usize) -> Tested {
    let half = student::quantile(CONFIDENCE, df) * error;
    let interval = Some(((slope - half).exp(), (slope + half).exp()));
    let p = Some(student::two_sided_p(slope.abs() / error, df));
    let estimate = Estimate { point: slope.exp(), interval, n: count(n) };
    Tested { estimate, p, df: Some(df) }
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
    fn starts_of_few_blocks_drift_together() {
        // Slopes of 0.09, 0.1 and 0.11: mean 0.1, standard error 0.01/sqrt(3), t(2) = 17.3.
        let start = |slope: f64| -> Vec<f64> {
            (0..4).map(|i| (1.0 + slope * f64::from(i) / 3.0).exp()).collect()
        };
        let found =
            drift_over_starts(&[start(0.09), start(0.1), start(0.11), vec![1.0; 3]]).unwrap();
        assert!((found.estimate.point.ln() - 0.1).abs() < 1e-9 && found.estimate.n == 15);
        let half = 4.302_652_7 * 0.01 / 3.0_f64.sqrt();
        assert!((found.estimate.interval.unwrap().1.ln() - 0.1 - half).abs() < 1e-6);
        assert!(found.p.unwrap() < DRIFT_P);
        let both_ways = [start(0.1), start(-0.1), start(0.05)];
        assert!(drift_over_starts(&both_ways).unwrap().p.unwrap() > 0.5);
        assert!(drift_over_starts(&both_ways[..2]).is_none());
        assert!(drift_over_starts(&[start(0.1), start(0.1), start(0.1)]).is_none());
    }

    #[test]
    fn refuses_what_is_short_or_has_no_spread() {
        assert!(drift(&[1.0; 7]).is_none() && drift(&[1.0; 20]).is_none());
        assert!(drift(&[1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 0.0]).is_none());
    }
}
