//! Whether windows have two levels: a rate between two levels describes neither.
//!
//! Hartigan's dip ([`crate::dip`]) tells two modes from one; it leaves skewed windows alone,
//! because the uniform distribution that it is judged by is the hardest of all with one mode. The
//! split into two levels that varies least within (N. Otsu, "A threshold selection method from
//! gray-level histograms", 1979) then says which levels and how often each.

use rqps_model::Windows;

use crate::correlation::inflation;
use crate::dip::dip;
use crate::random::Random;

/// Windows below which nothing is said: a second of them.
pub const MIN_WINDOWS: usize = 50;

/// Windows above which some are excluded, evenly over the time: so many show what is to be
/// marked as well, and the dip of all takes long.
const MAX_WINDOWS: usize = 6000;

/// p-value below which two levels are marked: one step in a hundred by chance, at most.
const BIMODAL_P: f64 = 0.01;

/// A dip smaller than this is of no consequence however many windows show it; half and half of two
/// levels that do not overlap have 0.25, one window in ten at a level of its own 0.05.
const MIN_DIP: f64 = 0.02;

/// A level rarer than this is a stall or a burst, which average and steady rate tell apart.
const MIN_SHARE: f64 = 0.1;

/// Levels nearer than this to each other blur no rate beyond the practical bound.
const MIN_GAP: f64 = 0.05;

/// √n · dip of n uniform values and the probability of exceeding it: 10,000 simulated samples of
/// 3000; smaller samples lie below. The test `dips_of_uniform_values` looks at its 5%.
const DIP_TABLE: [(f64, f64); 10] = [
    (0.290, 0.9),
    (0.326, 0.75),
    (0.376, 0.5),
    (0.434, 0.25),
    (0.500, 0.1),
    (0.545, 0.05),
    (0.596, 0.02),
    (0.627, 0.01),
    (0.661, 0.005),
    (0.714, 0.001),
];

/// The two levels that windows fall into when they are split as well as can be, and whether they
/// are two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// Mean of the slower windows, operations per second.
    pub low: f64,
    /// Mean of the faster windows, operations per second.
    pub high: f64,
    /// Share of windows at the lower level, 0..1.
    pub low_share: f64,
    /// Hartigan's dip of the windows, 0..0.25.
    pub dip: f64,
    /// p-value of one mode, 0.001..=1 (0.001: at most this).
    pub p: f64,
}

impl Levels {
    /// Whether the windows are to be marked: one mode is refuted at 1%, the dip is at least 0.02,
    /// each level has at least 10% of the windows, and the levels are at least 5% apart.
    #[must_use]
    pub fn is_bimodal(&self) -> bool {
        let rarer = self.low_share.min(1.0 - self.low_share);
        self.p < BIMODAL_P
            && self.dip >= MIN_DIP
            && rarer >= MIN_SHARE
            && self.high >= (1.0 + MIN_GAP) * self.low
    }
}

/// The levels of a step's windows (of one system, in order of time).
///
/// Counts are spread evenly within ±1/2 first, by a fixed seed, so that few operations per window
/// are not taken for as many modes; windows that resemble their neighbours count as fewer; of more
/// than 6000 one of every two, three, ... is looked at. `None` with fewer than 50 windows, windows
/// without length, or all alike.
#[must_use]
pub fn levels(windows: &Windows) -> Option<Levels> {
    if windows.counts.len() < MIN_WINDOWS || windows.length_ns == 0 {
        return None;
    }
    let mut random = Random::new(windows.counts.len() as u64);
    let every = windows.counts.len().div_ceil(MAX_WINDOWS);
    // One of each group is drawn: a fixed step could meet the same place of every slice.
    let drawn: Vec<u32> = match every {
        1 => windows.counts.clone(),
        _ => windows.counts.chunks(every).map(|c| c[random.position(c.len())]).collect(),
    };
    let mut values: Vec<f64> =
        drawn.iter().map(|c| f64::from(*c) + random.uniform() - 0.5).collect();
    if windows.counts.windows(2).all(|w| w[0] == w[1]) {
        return None;
    }
    let effective = values.len() as f64 / inflation(&values);
    values.sort_unstable_by(f64::total_cmp);
    let dip = dip(&values);
    let (n_low, low, high) = split(&values)?;
    let per_second = 1e9 / windows.length_ns as f64;
    Some(Levels {
        low: low.max(0.0) * per_second,
        high: high * per_second,
        low_share: n_low as f64 / values.len() as f64,
        dip,
        p: p_of_one_mode(dip * effective.sqrt()),
    })
}

/// The probability that uniform values exceed this √n · dip, between [`DIP_TABLE`]'s entries by
/// their logarithm.
fn p_of_one_mode(scaled: f64) -> f64 {
    let (mut below, mut p_below) = (0.0, 1.0);
    for (at, p) in DIP_TABLE {
        if scaled < at {
            let share = (scaled - below) / (at - below);
            return f64::exp((1.0 - share) * f64::ln(p_below) + share * p.ln());
        }
        (below, p_below) = (at, p);
    }
    p_below
}

/// The split of sorted values with the most variance between its sides: how many are low, both
/// means.
fn split(sorted: &[f64]) -> Option<(usize, f64, f64)> {
    let total: f64 = sorted.iter().sum();
    let n = sorted.len() as f64;
    let mut low_sum = 0.0;
    let mut best: Option<(f64, usize, f64, f64)> = None;
    for (i, value) in sorted.iter().enumerate().take(sorted.len().saturating_sub(1)) {
        low_sum += value;
        let n_low = i as f64 + 1.0;
        let (low, high) = (low_sum / n_low, (total - low_sum) / (n - n_low));
        let between = n_low * (n - n_low) * (high - low) * (high - low);
        if best.is_none_or(|(most, ..)| between > most) {
            best = Some((between, i + 1, low, high));
        }
    }
    best.map(|(_, n_low, low, high)| (n_low, low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows(counts: Vec<u32>) -> Windows {
        Windows { length_ns: 20_000_000, counts }
    }

    #[test]
    fn two_levels_are_found_with_their_shares() {
        // 100 or 140 operations in 20 ms, a few more or less; one in four at the lower level.
        let counts = (0..400).map(|i| if i % 4 == 0 { 100 } else { 140 } + (i * 7) % 5).collect();
        let found = levels(&windows(counts)).unwrap();
        assert!(found.is_bimodal(), "{found:?}");
        assert!((found.low_share - 0.25).abs() < 1e-9);
        assert!((found.low - 5100.0).abs() < 20.0 && (found.high - 7100.0).abs() < 20.0);
    }

    #[test]
    fn few_operations_are_not_as_many_modes() {
        let counts: Vec<u32> = (0..400).map(|i| 3 + u32::from(i % 3 == 0)).collect();
        assert!(!levels(&windows(counts)).unwrap().is_bimodal());
    }

    #[test]
    fn probabilities_between_the_entries() {
        assert!((p_of_one_mode(0.545) - 0.05).abs() < 1e-12);
        assert!((p_of_one_mode(0.5705) - (0.05_f64 * 0.02).sqrt()).abs() < 1e-12);
        assert!((p_of_one_mode(0.0) - 1.0).abs() < 1e-12);
        assert!((p_of_one_mode(5.0) - 0.001).abs() < 1e-12);
    }

    #[test]
    fn of_very_many_windows_some_tell() {
        // The first window of every five is slow: a fixed step would see it always or never.
        let counts = (0..27_000).map(|i| if i % 5 == 0 { 100 } else { 140 } + (i * 7) % 11);
        let found = levels(&windows(counts.collect())).unwrap();
        assert!(found.is_bimodal() && (found.low_share - 0.2).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn what_is_short_or_all_alike_has_no_levels() {
        assert!(levels(&windows(vec![1; 49])).is_none() && levels(&windows(vec![7; 99])).is_none());
        assert!(levels(&Windows { length_ns: 0, counts: vec![1, 2] }).is_none());
    }
}
