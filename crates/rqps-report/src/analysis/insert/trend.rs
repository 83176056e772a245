//! Whether a step's second half went at another rate than its first.

/// A difference of the halves' mean rates from which on it is told, as a share: the practical bound of
/// the verdicts.
const TOLD: f64 = 0.05;

/// Seconds that a half needs at least.
const MIN_SECONDS: usize = 4;

/// Most values that a half is compared by: seconds beside each other are alike, so each value is the
/// mean of some.
const MAX_VALUES: usize = 10;

/// The mean rate of the second half over that of the first, where they differ by more than 5% and the
/// 95% interval of Welch's t does not hold 1. The middle second of an odd number is left out.
///
/// `None` where they do not differ, or where there are too few seconds to tell.
#[must_use]
pub fn trend(seconds: &[Vec<f64>]) -> Option<f64> {
    let all: Vec<f64> = seconds.iter().flatten().copied().collect();
    let half = all.len() / 2;
    if half < MIN_SECONDS {
        return None;
    }
    let (first, second) = (&all[..half], &all[all.len() - half..]);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    // A value that is nothing has no logarithm, and nothing is a multiple of it: it counts as half an
    // operation.
    let ratio = mean(second).max(0.5) / mean(first).max(0.5);
    if !ratio.is_finite() || (ratio - 1.0).abs() <= TOLD {
        return None;
    }
    let values = |part: &[f64]| -> Vec<f64> {
        let n = part.len().min(MAX_VALUES);
        (0..n).map(|i| mean(&part[i * part.len() / n..(i + 1) * part.len() / n]).max(0.5)).collect()
    };
    let (low, high) = rqps_stats::ratio(&values(first), &values(second))?.interval?;
    (high < 1.0 || low > 1.0).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(n: usize, f: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
        vec![(0..n).map(f).collect()]
    }

    #[test]
    fn a_rate_that_falls_is_told() {
        let ratio = trend(&rates(60, |i| 1000.0 - 5.0 * i as f64)).unwrap();
        assert!((0.8..0.9).contains(&ratio), "{ratio}");
        assert!(trend(&rates(60, |i| if i < 30 { 100.0 } else { 120.0 })).unwrap() > 1.19);
        assert!(trend(&rates(8, |i| if i < 4 { 0.0 } else { 100.0 })).unwrap() > 100.0);
    }

    #[test]
    fn noise_and_small_steps_are_not() {
        assert_eq!(trend(&rates(60, |i| if i < 30 { 100.0 } else { 104.0 })), None);
        // One second that does nothing moves the mean of four, and is no trend.
        assert_eq!(trend(&rates(8, |i| if i == 6 { 0.0 } else { 100.0 })), None);
        assert_eq!(trend(&rates(60, |i| 100.0 + 60.0 * ((i * 7 % 11) as f64 - 5.0) / 5.0)), None);
        assert_eq!(trend(&rates(7, |i| if i < 3 { 1.0 } else { 9.0 })), None);
        assert_eq!(trend(&rates(20, |_| 0.0)), None);
    }
}
