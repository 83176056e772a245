//! Where a series of values over versions or runs changes its level.
//!
//! Energy statistics find the most likely place (D. S. Matteson and N. A. James, "A nonparametric
//! approach for multiple change point analysis of multivariate data", Journal of the American
//! Statistical Association 109 (2014): E-divisive, here with exponent 1), a test decides whether it
//! is one, and both sides are searched in turn. The test is the paper's permutation test, or
//! Student's t as in M. Fleming et al., "Hunter: using open source change point detection in
//! performance testing" (ICPE 2023), here with Bonferroni's correction for the places tried and
//! with what is known of each value, so that a few exact ones suffice.

mod value;

use rqps_model::Estimate;

use crate::random::Random;
use crate::summary::{NO_VARIANCE, moments, p_without_spread};
use crate::tested::{Tested, count};
use crate::{CONFIDENCE, student};

pub use value::{START_DF, START_SD, Starts, Uncertainty, Value};
use value::{n_draws, told};

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
    /// Student's t on logarithms, which takes values as roughly normal about their level. Values are
    /// never taken as surer than they say themselves. One value may be a level where all know what
    /// starts of their servers draw; else a level has two at least, as their spread must tell it.
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

/// The changes of level of `series` (values above 0 in order) that are significant at `significance`
/// (0.01 for 1%), by position.
///
/// `None` with a value that is not above 0 and finite.
#[must_use]
pub fn change_points(
    series: &[Value],
    method: Method,
    significance: f64,
) -> Option<Vec<ChangePoint>> {
    if series.iter().any(|value| !value.log.is_finite()) {
        return None;
    }
    let found = match method {
        Method::Permutation { .. } => split(series, method, significance),
        Method::Student => {
            let weak = (WEAKER * significance).min(WEAKEST);
            let places = split(series, method, weak).into_iter().map(|(at, _)| at).collect();
            without_weak(series, places, significance)
        }
    };
    let mut points = Vec::with_capacity(found.len());
    for (i, &(at, p)) in found.iter().enumerate() {
        let from = if i == 0 { 0 } else { found[i - 1].0 };
        let to = found.get(i + 1).map_or(series.len(), |next| next.0);
        points.push(ChangePoint { at, size: level_change(&series[from..at], &series[at..to])?, p });
    }
    Some(points)
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
            let p = level_change(&values[from..at[i]], &values[at[i]..to]).and_then(|step| step.p);
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

/// The fewest values that a side may have: one where all say how far they may be off.
fn shortest(values: &[Value]) -> usize {
    if values.iter().all(Value::is_whole) { 1 } else { 2 }
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
            let p = level_change(&values[..at], &values[at..])?.p?;
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
/// Values spread alike about both levels (one variance, n − 2 degrees of freedom), and at least as
/// much as they say themselves. Welch's test is no choice here: with two values on a side it finds
/// changes that are not there twice as often as it should. What is assumed of starts counts as long as
/// the values, or the runs that they are of, have fewer degrees of freedom than the assumption: ratios of one
/// run share what its base drew, of which their spread says nothing. Nor does the spread of the other side's
/// runs say it of a side whose many ratios are of few.
pub fn level_change(before: &[Value], after: &[Value]) -> Option<Tested> {
    let (old, old_squares, old_n) = level(before)?;
    let (new, new_squares, new_n) = level(after)?;
    let difference = new - old;
    let point = difference.exp();
    let n = count(before.len().min(after.len()));
    let seen_df = old_n + new_n - 2.0;
    let seen = if seen_df > 0.0 { (old_squares + new_squares) / seen_df } else { 0.0 };
    let seen = seen * (1.0 / old_n + 1.0 / new_n);
    let of_runs = n_draws(before, after) - 2.0;
    let is_of_few = |side: &[Value]| {
        let draws = n_draws(side, &[]);
        draws < side.len() as f64 && draws - 1.0 < START_DF
    };
    let is_assumed = seen_df.min(of_runs) < START_DF || is_of_few(before) || is_of_few(after);
    let told = told(before, after, is_assumed);
    let variance = told.variance.max(seen);
    let is_told = told.is_whole && told.variance > seen;
    let df = if is_told { told.df } else { seen_df };
    if df <= 0.0 {
        let estimate = Estimate { point, interval: None, n };
        return Some(Tested { estimate, p: None, df: None });
    }
    if variance <= NO_VARIANCE {
        let estimate = Estimate { point, interval: Some((point, point)), n };
        return Some(Tested { estimate, p: Some(p_without_spread(difference)), df: Some(df) });
    }
    let half = student::quantile(CONFIDENCE, df) * variance.sqrt();
    let interval = Some(((difference - half).exp(), (difference + half).exp()));
    let p = student::two_sided_p(difference.abs() / variance.sqrt(), df);
    Some(Tested { estimate: Estimate { point, interval, n }, p: Some(p), df: Some(df) })
}

/// Mean logarithm, sum of squares about it, and number.
fn level(values: &[Value]) -> Option<(f64, f64, f64)> {
    let logs: Vec<f64> = values.iter().map(|v| v.log).collect();
    let (mean, variance, n) = moments(&logs)?;
    Some((mean, variance * (n - 1.0), n))
}

#[cfg(test)]
mod tests;
