//! A slice or block without its details: the part that ratios need.

use crate::Role;
use crate::slice::{Slice, per_second};

/// A slice or block of a step that is being measured.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Block {
    /// Its number, from 0.
    pub idx: u32,
    /// Rounds in it; 0 where systems are not interleaved.
    pub n_rounds: u32,
    /// Wall-clock start, milliseconds since 1970.
    pub start_unix_ms: i64,
    /// Measured time, nanoseconds.
    pub duration_ns: u64,
    /// What the step's rate counts.
    pub n_operations: u64,
    /// Operations per second that an imported file states instead of the counts.
    pub stated: Option<f64>,
    /// Starts that were due at a set rate; 0 where none was set.
    pub n_due: u64,
    /// Those of them that never happened.
    pub n_missed: u64,
    /// Inserts of other clients meanwhile; absent without such clients.
    pub inserts: Option<Inserts>,
}

/// Inserts of clients beside others that query.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Inserts {
    /// Rows.
    pub n_rows: u64,
    /// Measured time, nanoseconds.
    pub duration_ns: u64,
    /// Target, rows per second; absent without one.
    pub target_per_s: Option<f64>,
}

impl Block {
    /// Operations per second.
    #[must_use]
    pub fn figure(&self) -> f64 {
        self.stated.unwrap_or_else(|| per_second(self.n_operations, self.duration_ns))
    }
}

impl From<&Slice> for Block {
    fn from(slice: &Slice) -> Self {
        let inserts = slice.streams.iter().find(|stream| stream.role == Role::Insert);
        let lateness = slice.lateness.unwrap_or_default();
        Self {
            idx: slice.idx,
            n_rounds: slice.n_rounds.unwrap_or(0),
            start_unix_ms: slice.start_unix_ms,
            duration_ns: slice.duration_ns,
            n_operations: slice.n_operations,
            stated: slice.stated.as_ref().and_then(|stated| stated.figure),
            n_due: lateness.n_due,
            n_missed: lateness.n_missed,
            inserts: inserts.map(|stream| Inserts {
                n_rows: stream.n_operations,
                duration_ns: stream.duration_ns,
                target_per_s: stream.target_per_s,
            }),
        }
    }
}
