//! What one client did in a slice or in several.

/// Operations, and the time that they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Worked {
    pub(super) n_operations: u64,
    /// Until its last answer, or the slice's end where that is later; of several slices their sum.
    pub(super) span_ns: u64,
}

impl Worked {
    /// Adds what the same client did in a later slice.
    pub(super) fn add(&mut self, later: Self) {
        self.n_operations += later.n_operations;
        self.span_ns += later.span_ns;
    }

    /// Its rate; 0 of a client that had no time.
    pub(super) fn per_s(self) -> f64 {
        if self.span_ns > 0 { self.n_operations as f64 * 1e9 / self.span_ns as f64 } else { 0.0 }
    }
}
