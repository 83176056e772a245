//! Mean and spread of values, and the interval of a mean.

use rqps_model::Estimate;

use crate::{CONFIDENCE, student};

/// Variances of logarithms, and differences of them, that are rounding: (1e-12)² and 1e-12. Sums of
/// equal values round to some 1e-16 of their size.
pub(crate) const NO_VARIANCE: f64 = 1e-24;
const NO_DIFFERENCE: f64 = 1e-12;

/// The p-value of a difference of logarithms whose values show no spread: 1 for none, else 0.
pub(crate) fn p_without_spread(difference: f64) -> f64 {
    if difference.abs() > NO_DIFFERENCE { 0.0 } else { 1.0 }
}

/// Mean, variance (n - 1 in the denominator) and count; `None` for no values.
pub(crate) fn moments(values: &[f64]) -> Option<(f64, f64, f64)> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let variance = if values.len() > 1 { squares / (n - 1.0) } else { 0.0 };
    Some((mean, variance, n))
}

/// The mean of `values` with its t interval; `None` for no values or values that are not finite.
///
/// One value gives an estimate without an interval. The interval assumes independent values.
#[must_use]
pub fn mean(values: &[f64]) -> Option<Estimate> {
    if values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let (mean, variance, n) = moments(values)?;
    if values.len() < 2 {
        return Some(Estimate::single(mean));
    }
    let half = student::quantile(CONFIDENCE, n - 1.0) * (variance / n).sqrt();
    let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
    Some(Estimate { point: mean, interval: Some((mean - half, mean + half)), n: count })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // 1, 2, 3: mean 2, variance 1, standard error 1/sqrt(3), t(2) = 4.303.
        let estimate = mean(&[1.0, 2.0, 3.0]).unwrap();
        let (low, high) = estimate.interval.unwrap();
        assert!((estimate.point - 2.0).abs() < 1e-12);
        assert!((high - low - 2.0 * 4.302_652_7 / 3.0_f64.sqrt()).abs() < 1e-6);
        assert!(mean(&[]).is_none());
        assert!(mean(&[1.0, f64::NAN]).is_none());
        assert!(mean(&[5.0]).unwrap().interval.is_none());
    }
}
