//! The least uncertainty of rates that are counts: one operation.

use rqps_model::Estimate;

/// An interval narrower than this relative to its point is that of values without any spread: the
/// rounding of floating-point numbers alone makes some 1e-16.
const NO_SPREAD: f64 = 1e-9;

/// Gives an estimate whose values were all alike the interval that counting leaves: from `point /
/// (1 + resolution)` to `point * (1 + resolution)`. `resolution` is what one operation is of a
/// slice's count, at the worst: 0.01 for 100 operations; for a ratio that of both sides
/// ([`of_ratio`]).
///
/// A rate that is held gives the same count in every slice. That is no certainty: one operation
/// more or less at a slice's end was a matter of microseconds. Estimates whose values differ, and
/// those without an interval, stay as they are: their spread holds the counting too.
#[must_use]
pub fn resolved(estimate: Estimate, resolution: f64) -> Estimate {
    let is_point = estimate.half_width().is_some_and(|half| half.abs() < NO_SPREAD);
    let is_known = resolution > 0.0 && resolution.is_finite();
    if !(is_point && is_known) {
        return estimate;
    }
    let (low, high) = (estimate.point / (1.0 + resolution), estimate.point * (1.0 + resolution));
    Estimate { interval: Some((low, high)), ..estimate }
}

/// What one operation is of the smallest of these counts: 0 where there is none to speak of.
#[must_use]
pub fn of_counts(counts: impl IntoIterator<Item = u64>) -> f64 {
    counts.into_iter().min().filter(|n| *n > 0).map_or(0.0, |n| 1.0 / n as f64)
}

/// The resolution of a ratio from those of its sides: both may be off by one operation at once.
#[must_use]
pub fn of_ratio(base: f64, candidate: f64) -> f64 {
    (1.0 + base) * (1.0 + candidate) - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mean, ratio, verdict};
    use rqps_model::Verdict;

    #[test]
    fn figures_that_are_all_alike_are_as_sure_as_one_operation() {
        // Three slices of 0.3 s at 1000/s on both sides: 300 operations each.
        let figures = [1000.1; 3];
        let one = of_counts([300, 300, 300]);
        let figure = resolved(mean(&figures).unwrap(), one);
        let (low, high) = figure.interval.unwrap();
        assert!((low - 1000.1 / (1.0 + 1.0 / 300.0)).abs() < 1e-9);
        assert!((high - 1000.1 * (1.0 + 1.0 / 300.0)).abs() < 1e-9);
        let both = of_ratio(one, one);
        let same = resolved(ratio(&figures, &figures).unwrap(), both);
        let (low, high) = same.interval.unwrap();
        let widest = (301.0_f64 / 300.0).powi(2);
        assert!((high - widest).abs() < 1e-12 && (low * widest - 1.0).abs() < 1e-12);
        assert_eq!(verdict(&same, 0.05), Verdict::Same);
        // With ten operations a slice the same rates settle nothing.
        let coarse = of_counts([10, 10]);
        let unclear = ratio(&[10.0; 2], &[10.0; 2]).unwrap();
        let unclear = resolved(unclear, of_ratio(coarse, coarse));
        assert_eq!(verdict(&unclear, 0.05), Verdict::Unclear);
    }

    #[test]
    fn what_has_a_spread_or_no_interval_stays() {
        let spread = mean(&[1.0, 1.1, 0.9]).unwrap();
        assert_eq!(resolved(spread, 0.5), spread);
        let single = mean(&[1.0]).unwrap();
        assert_eq!(resolved(single, 0.5), single);
        let point = mean(&[2.0, 2.0]).unwrap();
        assert_eq!(resolved(point, of_counts([])), point);
        let nothing = mean(&[0.0, 0.0]).unwrap();
        assert_eq!(resolved(nothing, of_counts([0, 0])), nothing);
    }
}
