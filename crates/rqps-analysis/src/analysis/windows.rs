//! Windows of slices as far as they tell rates: those in which several events end.

use rqps_model::{Slice, Windows, slice};
use rqps_stats::steady;

/// The shortest part of a slice that stands for a block, nanoseconds: what a host does to neighbouring windows goes
/// together for some 0.4 s (docs/explanation/method.md).
const MIN_PART_NS: u64 = 1_000_000_000;

/// Events that a window must hold on average. With fewer its count says when a statement ended and not how fast
/// they went: a scan ends in one window of ten and leaves the others empty, and of a transaction with ten short
/// statements and four long ones a window has either.
const MIN_EVENTS: u64 = 5;

/// Quantiles of the rates in windows, operations per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowRates {
    /// Length of a window, nanoseconds.
    pub length_ns: u64,
    /// Number of windows.
    pub n: usize,
    /// 5% of the windows are slower.
    pub p05: f64,
    /// Half of the windows are slower.
    pub median: f64,
    /// 5% of the windows are faster.
    pub p95: f64,
}

/// The slice's windows; `None` where too few events end in them.
fn telling(slice: &Slice) -> Option<&Windows> {
    let n = u64::try_from(slice.windows.counts.len()).ok()?;
    (slice.n_events >= n.saturating_mul(MIN_EVENTS)).then_some(&slice.windows)
}

/// The steady rate of a slice, operations per second.
pub(super) fn steady_rate(slice: &Slice) -> Option<f64> {
    steady::steady_rate(telling(slice)?)
}

/// The windows of all slices, one after the other.
pub(super) fn joined(slices: &[Slice]) -> Option<Windows> {
    let length_ns = slices.first()?.windows.length_ns;
    let mut counts = Vec::new();
    for slice in slices {
        let windows = telling(slice).filter(|windows| windows.length_ns == length_ns)?;
        counts.extend_from_slice(&windows.counts);
    }
    Some(Windows { length_ns, counts })
}

/// Operations per second of equal parts of uninterrupted slices, in order of time: as many parts of each as make
/// `wanted` of all or more. `None` where a part is shorter than a second, or a slice is cut into turns.
pub(super) fn parts(slices: &[&Slice], wanted: usize) -> Option<Vec<f64>> {
    let of_each = wanted.div_ceil(slices.len().max(1));
    let mut rates = Vec::new();
    for slice in slices {
        let windows = &slice.windows;
        // Of a part, as of a window elsewhere.
        let is_telling = slice.n_events >= MIN_EVENTS.saturating_mul(u64::try_from(of_each).ok()?);
        if slice.n_rounds.is_some() || !is_telling {
            return None;
        }
        let n = windows.counts.len() / of_each.max(1);
        let part_ns = u64::try_from(n).ok()?.saturating_mul(windows.length_ns);
        if part_ns < MIN_PART_NS {
            return None;
        }
        let rate =
            |counts: &[u32]| slice::per_second(counts.iter().map(|n| u64::from(*n)).sum(), part_ns);
        rates.extend(windows.counts.chunks_exact(n).take(of_each).map(rate));
    }
    Some(rates)
}

/// Quantiles of the windows of all slices together.
pub(super) fn window_rates(slices: &[Slice]) -> Option<WindowRates> {
    let length_ns = slices.first()?.windows.length_ns;
    if length_ns == 0 || slices.iter().any(|s| s.windows.length_ns != length_ns) {
        return None;
    }
    let mut counts: Vec<u32> =
        slices.iter().flat_map(|s| s.windows.counts.iter().copied()).collect();
    let n = counts.len();
    // Three of very many: to sort all of them takes twenty times as long.
    let mut at = |share_pct: usize| {
        let idx = (n - 1) * share_pct / 100;
        let (_, count, _) = counts.select_nth_unstable(idx);
        slice::per_second(u64::from(*count), length_ns)
    };
    (n > 0).then(|| WindowRates { length_ns, n, p05: at(5), median: at(50), p95: at(95) })
}
