//! Windows of slices as far as they tell rates: those in which several statements end.

use rqps_model::{Slice, Windows, slice};
use rqps_stats::steady;

use super::cell::WindowRates;

/// Statements that a window must hold on average. With fewer its count says when a statement ended and
/// not how fast they went: a scan ends in one window of ten and leaves the others empty.
const MIN_STATEMENTS: u64 = 5;

/// The slice's windows; `None` where too few statements end in them.
fn telling(slice: &Slice) -> Option<&Windows> {
    let n = u64::try_from(slice.windows.counts.len()).ok()?;
    (slice.n_queries >= n.saturating_mul(MIN_STATEMENTS)).then_some(&slice.windows)
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
