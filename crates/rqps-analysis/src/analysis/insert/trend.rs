//! Whether the rate of a step's second half differs from that of its first.

/// A difference of the halves' mean rates from which on it is told, as a share: the practical bound of
/// the verdicts.
const TOLD: f64 = 0.05;

/// Seconds that a half needs at least.
const MIN_SECONDS: usize = 4;

/// p-value below which a difference is told, of all starts of the servers together.
const TOLD_P: f64 = 0.05;

/// Most values that a half is compared by: seconds beside each other are alike, so each value is the
/// mean of some.
const MAX_VALUES: usize = 10;

/// The mean rate of the second half over that of the first, where they differ by more than 5% and
/// the 95% interval of Welch's t excludes 1. The middle second of an odd number is not used.
///
/// `starts` has the start of the servers of each list of seconds. Each start is tested by itself,
/// because it has new tables: of several the surest counts, its p-value times their number.
///
/// `None` where they do not differ, or where there are too few seconds to tell.
#[must_use]
pub fn trend(seconds: &[Vec<f64>], starts: &[u32]) -> Option<f64> {
    let lists: Vec<(&Vec<f64>, &u32)> = seconds.iter().zip(starts).collect();
    let of_starts = || lists.chunk_by(|a, b| a.1 == b.1);
    let n = of_starts().count() as f64;
    let differing = of_starts().filter_map(|of_start| {
        let all: Vec<f64> = of_start.iter().flat_map(|(list, _)| list.iter().copied()).collect();
        halves(&all)
    });
    let told = differing.filter(|(_, p)| p * n < TOLD_P);
    told.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(ratio, _)| ratio)
}

/// The ratio of the halves of one start's seconds, and its p-value; `None` where they hardly differ.
fn halves(all: &[f64]) -> Option<(f64, f64)> {
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
    Some((ratio, rqps_stats::ratio_test(&values(first), &values(second))?.p?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(n: usize, f: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
        vec![(0..n).map(f).collect()]
    }

    /// The trend of seconds that are all of one start.
    fn of(seconds: &[Vec<f64>]) -> Option<f64> {
        trend(seconds, &vec![0; seconds.len()])
    }

    #[test]
    fn starts_of_the_servers_are_looked_at_each_by_itself() {
        let calm = |rate: f64| rates(60, |i| rate + (i % 3) as f64).remove(0);
        let falling = || rates(60, |i| 1000.0 - 8.0 * i as f64).remove(0);
        // The second start is slower than the first, and neither changes within.
        let apart = [calm(1000.0), calm(800.0)];
        assert_eq!(trend(&apart, &[0, 1]), None);
        assert!(of(&apart).unwrap() < 0.9);
        // Both fall alike: the halves of all seconds are the same.
        let alike = [falling(), falling()];
        assert_eq!(of(&alike), None);
        assert!(trend(&alike, &[0, 1]).unwrap() < 0.8);
        // Slices of one start are one after the other.
        assert!(trend(&apart, &[1, 1]).unwrap() < 0.9);
        assert_eq!(trend(&[], &[]), None);
    }

    #[test]
    fn a_rate_that_falls_is_told() {
        let ratio = of(&rates(60, |i| 1000.0 - 5.0 * i as f64)).unwrap();
        assert!((0.8..0.9).contains(&ratio), "{ratio}");
        assert!(of(&rates(60, |i| if i < 30 { 100.0 } else { 120.0 })).unwrap() > 1.19);
        assert!(of(&rates(8, |i| if i < 4 { 0.0 } else { 100.0 })).unwrap() > 100.0);
    }

    #[test]
    fn noise_and_small_steps_are_not() {
        assert_eq!(of(&rates(60, |i| if i < 30 { 100.0 } else { 104.0 })), None);
        // One second that does nothing moves the mean of four, and is no trend.
        assert_eq!(of(&rates(8, |i| if i == 6 { 0.0 } else { 100.0 })), None);
        assert_eq!(of(&rates(60, |i| 100.0 + 60.0 * ((i * 7 % 11) as f64 - 5.0) / 5.0)), None);
        assert_eq!(of(&rates(7, |i| if i < 3 { 1.0 } else { 9.0 })), None);
        assert_eq!(of(&rates(20, |_| 0.0)), None);
    }
}
