//! Where a series of values over versions or runs changes its level.
//!
//! Energy statistics find the most likely place (D. S. Matteson and N. A. James, "A nonparametric
//! approach for multiple change point analysis of multivariate data", Journal of the American
//! Statistical Association 109 (2014): E-divisive, here with exponent 1), a test decides whether it
//! is one, and both sides are searched in turn. The test is the paper's permutation test, or
//! Student's t as in M. Fleming et al., "Hunter: using open source change point detection in
//! performance testing" (ICPE 2023), here with Bonferroni's correction for the places tried and
//! with the values' own intervals, so that a few exact values suffice.

use rqps_model::Estimate;

use crate::random::Random;
use crate::summary::{NO_VARIANCE, moments, p_without_spread};
use crate::tested::{Tested, count};
use crate::{CONFIDENCE, student};

/// With Student's t, places are looked for at so many times the significance: of two changes each makes
/// the values about the other spread, and hides it. Fleming et al. do the same.
const WEAKER: f64 = 10.0;

/// But never at more than this.
const WEAKEST: f64 = 0.5;

/// How a change is told from chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Random orders of the values. Needs no assumption, yet about eight values: 199 orders or more
    /// for a significance of 5%, and n values have few orders that differ.
    Permutation {
        /// Orders tried; the smallest p-value is 1 / (orders + 1).
        orders: u32,
        /// Seed of the orders: the same seed gives the same result.
        seed: u64,
    },
    /// Student's t on logarithms, which takes values as roughly normal about their level. Values
    /// with intervals are never taken as surer than these; with intervals one value may be a level.
    Student,
}

/// A change of level between two neighbouring values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Position of the first value of the new level.
    pub at: usize,
    /// New level / old level (geometric means up to the neighbouring change points), with the 95%
    /// interval of Student's t; its `p` is for these levels as if the place had been known.
    pub size: Tested,
    /// p-value of the change when found, the search for its place included.
    pub p: f64,
}

/// The changes of level of `series` (values above 0 in order, with their intervals where known)
/// that are significant at `significance` (0.01 for 1%), by position.
///
/// `None` with a value that is not above 0 and finite.
#[must_use]
pub fn change_points(
    series: &[Estimate],
    method: Method,
    significance: f64,
) -> Option<Vec<ChangePoint>> {
    let values: Option<Vec<Value>> = series.iter().map(Value::of).collect();
    let values = values?;
    let found = match method {
        Method::Permutation { .. } => split(&values, method, significance),
        Method::Student => {
            let weak = (WEAKER * significance).min(WEAKEST);
            let places = split(&values, method, weak).into_iter().map(|(at, _)| at).collect();
            without_weak(&values, places, significance)
        }
    };
    let mut points = Vec::with_capacity(found.len());
    for (i, &(at, p)) in found.iter().enumerate() {
        let from = if i == 0 { 0 } else { found[i - 1].0 };
        let to = found.get(i + 1).map_or(values.len(), |next| next.0);
        points.push(ChangePoint { at, size: step(&values[from..at], &values[at..to])?, p });
    }
    Some(points)
}

/// A value on the logarithmic scale.
#[derive(Clone, Copy)]
struct Value {
    log: f64,
    /// Variance that its own interval tells.
    own: Option<f64>,
    df: f64,
}

impl Value {
    fn of(estimate: &Estimate) -> Option<Self> {
        if !(estimate.point > 0.0 && estimate.point.is_finite()) {
            return None;
        }
        let df = (f64::from(estimate.n) - 1.0).max(1.0);
        let own = estimate.interval.filter(|(low, high)| *low > 0.0 && high.is_finite()).map(
            |(low, high)| {
                let half = 0.5 * (high.ln() - low.ln());
                (half / student::quantile(CONFIDENCE, df)).powi(2)
            },
        );
        Some(Self { log: estimate.point.ln(), own, df })
    }
}

/// Splits at the most likely place, and both sides again, as long as the test is at most
/// `significance`: positions in order, each with its p-value when found.
fn split(values: &[Value], method: Method, significance: f64) -> Vec<(usize, f64)> {
    let mut found: Vec<(usize, f64)> = Vec::new();
    let mut segments = vec![(0, values.len())];
    while let Some((from, to)) = segments.pop() {
        let Some((at, p)) = test(&values[from..to], method) else { continue };
        if p <= significance {
            found.push((from + at, p));
            segments.push((from, from + at));
            segments.push((from + at, to));
        }
    }
    found.sort_unstable_by_key(|(at, _)| *at);
    found
}

/// The places that stay when each is tested between its neighbours and the weakest goes until all are
/// significant, with their p-values for as many places as the whole series has.
fn without_weak(values: &[Value], mut at: Vec<usize>, significance: f64) -> Vec<(usize, f64)> {
    let n_places = places(values);
    loop {
        let p = |i: usize| {
            let from = if i == 0 { 0 } else { at[i - 1] };
            let to = at.get(i + 1).copied().unwrap_or(values.len());
            let p = step(&values[from..at[i]], &values[at[i]..to]).and_then(|step| step.p);
            (p.unwrap_or(1.0) * n_places).min(1.0)
        };
        let tested: Vec<(usize, f64)> = (0..at.len()).map(|i| (at[i], p(i))).collect();
        let weakest = tested.iter().enumerate().max_by(|a, b| a.1.1.total_cmp(&b.1.1));
        match weakest.map(|(i, (_, p))| (i, *p)) {
            Some((i, p)) if p > significance => at.remove(i),
            _ => return tested,
        };
    }
}

/// The fewest values that a side may have: one where all bring their intervals.
fn shortest(values: &[Value]) -> usize {
    if values.iter().all(|v| v.own.is_some()) { 1 } else { 2 }
}

/// Places where a series can be split.
fn places(values: &[Value]) -> f64 {
    (values.len() + 1).saturating_sub(2 * shortest(values)) as f64
}

/// The most likely change of a segment, as the position of the first value after it, and its
/// p-value.
fn test(values: &[Value], method: Method) -> Option<(usize, f64)> {
    let logs: Vec<f64> = values.iter().map(|v| v.log).collect();
    match method {
        Method::Permutation { orders, seed } => {
            let (at, energy) = best_split(&logs, 2)?;
            let mut random = Random::new(seed);
            let mut shuffled = logs;
            let mut as_large = 0_u32;
            // Rounding must not tell equal energies apart, in a series of equal values above all.
            let threshold = energy - 1e-12 * energy.abs();
            for _ in 0..orders {
                random.shuffle(&mut shuffled);
                as_large += u32::from(best_split(&shuffled, 2).is_some_and(|b| b.1 >= threshold));
            }
            Some((at, (f64::from(as_large) + 1.0) / (f64::from(orders) + 1.0)))
        }
        Method::Student => {
            let (at, _) = best_split(&logs, shortest(values))?;
            let p = step(&values[..at], &values[at..])?.p?;
            Some((at, (p * places(values)).min(1.0)))
        }
    }
}

/// The split with the largest energy between its sides, each of at least `shortest` values:
/// position of the first value of the right side, and the energy (unit of the values). `None` where
/// there is no room.
fn best_split(values: &[f64], shortest: usize) -> Option<(usize, f64)> {
    let n = values.len();
    // Sums of the distances within the left side, within the right one and between them.
    let (mut left, mut between) = (0.0, 0.0);
    let mut right: f64 = 0.0;
    for (i, a) in values.iter().enumerate() {
        right += values[i + 1..].iter().map(|b| (a - b).abs()).sum::<f64>();
    }
    let mut best: Option<(usize, f64)> = None;
    for (i, moved) in values.iter().enumerate() {
        let to_left: f64 = values[..i].iter().map(|v| (v - moved).abs()).sum();
        let to_right: f64 = values[i + 1..].iter().map(|v| (v - moved).abs()).sum();
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        let at = i + 1;
        if at < shortest || n - at < shortest || at == n {
            continue;
        }
        let (l, r) = (at as f64, (n - at) as f64);
        let pairs = |k: f64| (k * (k - 1.0) / 2.0).max(1.0);
        let energy =
            l * r / (l + r) * (2.0 / (l * r) * between - left / pairs(l) - right / pairs(r));
        if best.is_none_or(|(_, most)| energy > most) {
            best = Some((at, energy));
        }
    }
    best
}

/// The ratio of two levels with Student's interval; without one where nothing shows any variance.
///
/// Values spread alike about both levels (one variance, n − 2 degrees of freedom), and on each side
/// at least as much as their own intervals tell. Welch's test is no choice here: with two values on
/// a side it finds changes that are not there twice as often as it should.
fn step(before: &[Value], after: &[Value]) -> Option<Tested> {
    let (old, old_squares, old_n) = level(before)?;
    let (new, new_squares, new_n) = level(after)?;
    let difference = new - old;
    let point = difference.exp();
    let n = count(before.len().min(after.len()));
    let seen_df = old_n + new_n - 2.0;
    let seen = if seen_df > 0.0 { (old_squares + new_squares) / seen_df } else { 0.0 };
    let (old_own, new_own) = (own(before), own(after));
    let variance = old_own.max(seen) / old_n + new_own.max(seen) / new_n;
    if variance <= NO_VARIANCE {
        let interval = (seen_df > 0.0).then_some((point, point));
        let p = interval.map(|_| p_without_spread(difference));
        return Some(Tested { estimate: Estimate { point, interval, n }, p });
    }
    let own_df: f64 = before.iter().chain(after).map(|v| v.df).sum();
    let df = if old_own.max(new_own) > seen { own_df } else { seen_df };
    let half = student::quantile(CONFIDENCE, df) * variance.sqrt();
    let interval = Some(((difference - half).exp(), (difference + half).exp()));
    let p = student::two_sided_p(difference.abs() / variance.sqrt(), df);
    Some(Tested { estimate: Estimate { point, interval, n }, p: Some(p) })
}

/// Mean logarithm, sum of squares about it, and number.
fn level(values: &[Value]) -> Option<(f64, f64, f64)> {
    let logs: Vec<f64> = values.iter().map(|v| v.log).collect();
    let (mean, variance, n) = moments(&logs)?;
    Some((mean, variance * (n - 1.0), n))
}

/// The mean variance that the values' own intervals tell; 0 without any.
fn own(values: &[Value]) -> f64 {
    let owns: Vec<f64> = values.iter().filter_map(|v| v.own).collect();
    moments(&owns).map_or(0.0, |(mean, _, _)| mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: Method = Method::Permutation { orders: 199, seed: 1 };

    fn plain(values: &[f64]) -> Vec<Estimate> {
        values.iter().map(|v| Estimate::single(*v)).collect()
    }

    fn exact(values: &[f64], half: f64) -> Vec<Estimate> {
        let with = |v: &f64| Estimate { point: *v, interval: Some((v - half, v + half)), n: 20 };
        values.iter().map(with).collect()
    }

    #[test]
    fn the_energy_by_hand() {
        // 0, 0, 1, 1 at 2: 2 * 2 / 4 * (2 / 4 * 4 - 0 - 0) = 2. At 1 and 3 less.
        let (at, energy) = best_split(&[0.0, 0.0, 1.0, 1.0], 1).unwrap();
        assert!(at == 2 && (energy - 2.0).abs() < 1e-12, "{at} {energy}");
        // 0, 1, 1 at 1: 1 * 2 / 3 * (2 / 2 * 2) = 4/3.
        let (at, energy) = best_split(&[0.0, 1.0, 1.0], 1).unwrap();
        assert!(at == 1 && (energy - 4.0 / 3.0).abs() < 1e-12, "{at} {energy}");
        assert!(best_split(&[0.0, 1.0, 1.0], 2).is_none() && best_split(&[], 1).is_none());
    }

    #[test]
    fn one_step_is_found_at_its_place_and_size() {
        let values = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 92.0, 91.0, 93.0, 92.5, 91.5, 92.0];
        for method in [ORDERS, Method::Student] {
            let found = change_points(&plain(&values), method, 0.01).unwrap();
            assert_eq!(found.len(), 1, "{found:?}");
            assert_eq!(found[0].at, 6);
            let (low, high) = found[0].size.estimate.interval.unwrap();
            assert!((found[0].size.estimate.point - 0.92).abs() < 1e-3);
            assert!(low > 0.90 && high < 0.94 && found[0].p <= 0.01);
        }
    }

    #[test]
    fn two_steps_are_found_and_their_sizes_are_between_neighbouring_levels() {
        let noise = [0.3, -0.5, 0.1, 0.4, -0.2, 0.0, -0.4, 0.5, 0.2, -0.3];
        let levels = [100.0, 80.0, 90.0];
        let values: Vec<f64> = levels.iter().flat_map(|level| noise.map(|e| level + e)).collect();
        for method in [ORDERS, Method::Student] {
            let found = change_points(&plain(&values), method, 0.01).unwrap();
            let places: Vec<usize> = found.iter().map(|c| c.at).collect();
            assert_eq!(places, [10, 20]);
            assert!((found[0].size.estimate.point - 0.8).abs() < 2e-3);
            assert!((found[1].size.estimate.point - 1.125).abs() < 2e-3);
        }
    }

    #[test]
    fn intervals_make_a_short_series_speak() {
        // Three versions, known to half a percent: the last lost 8%.
        let found = change_points(&exact(&[100.0, 100.2, 92.0], 0.5), Method::Student, 0.01);
        let found = found.unwrap();
        assert!(found.len() == 1 && found[0].at == 2, "{found:?}");
        // Known to 10% only, the same series says nothing; nor does it without intervals.
        let vague = change_points(&exact(&[100.0, 100.2, 92.0], 10.0), Method::Student, 0.05);
        assert!(vague.unwrap().is_empty());
        let bare = change_points(&plain(&[100.0, 100.2, 92.0]), Method::Student, 0.05);
        assert!(bare.unwrap().is_empty());
    }

    /// Versions against an exact base: each of the two changes makes the sides of the other unlike.
    #[test]
    fn changes_do_not_hide_one_another() {
        let mut series = exact(&[100.0, 94.9, 95.1, 95.2, 87.1, 87.5], 0.3);
        series[0].interval = Some((100.0, 100.0));
        let found = change_points(&series, Method::Student, 0.01).unwrap();
        assert_eq!(found.iter().map(|c| c.at).collect::<Vec<_>>(), [1, 4], "{found:?}");
        let (low, high) = found[1].size.estimate.interval.unwrap();
        assert!(low > 0.91 && high < 0.925, "{found:?}");
    }

    #[test]
    fn a_series_without_change_or_without_logarithm() {
        for method in [ORDERS, Method::Student] {
            assert!(change_points(&plain(&[5.0; 20]), method, 0.05).unwrap().is_empty());
            assert!(change_points(&[], method, 0.05).unwrap().is_empty());
            assert!(change_points(&plain(&[5.0]), method, 0.05).unwrap().is_empty());
            assert!(change_points(&plain(&[5.0, 0.0]), method, 0.05).is_none());
        }
    }
}
