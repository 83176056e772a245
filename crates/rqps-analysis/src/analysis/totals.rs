//! What slices count in all.

use rqps_model::Slice;

use super::footnote::slice_errors;

/// Counts over all slices of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Measured time, nanoseconds.
    pub duration_ns: u64,
    /// Events finished.
    pub n_events: u64,
    /// Statements answered.
    pub n_queries: u64,
    /// What the rate counts.
    pub n_operations: u64,
    /// Rows received.
    pub n_rows: u64,
    /// Events of all clients that failed and were retried.
    pub n_errors: u64,
}

impl Totals {
    /// Those of the slices.
    pub(super) fn of(slices: &[Slice]) -> Self {
        slices.iter().fold(Self::default(), |sum, s| Self {
            duration_ns: sum.duration_ns.saturating_add(s.duration_ns),
            n_events: sum.n_events.saturating_add(s.n_events),
            n_queries: sum.n_queries.saturating_add(s.n_queries),
            n_operations: sum.n_operations.saturating_add(s.n_operations),
            n_rows: sum.n_rows.saturating_add(s.n_rows),
            n_errors: slice_errors(s).fold(sum.n_errors, |n, e| n.saturating_add(e.n)),
        })
    }
}
