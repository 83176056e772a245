//! Windows of slices as far as they tell rates: those in which several statements end.

use rqps_model::{Slice, Windows};
use rqps_stats::steady;

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
