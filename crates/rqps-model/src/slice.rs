//! A slice: one measurement of one step on one system, with all that was recorded; or a block, the
//! sum of many short slices.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ErrorCount, Role, Sample, Stated, Usage, WarningKind};

/// Operations counted in windows of equal length; the last, incomplete window is excluded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Windows {
    /// Length of a window, nanoseconds.
    pub length_ns: u64,
    /// Operations that ended in each window.
    pub counts: Vec<u32>,
}

/// One second of a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SeriesPoint {
    /// Statements answered in this second.
    pub queries: u32,
    /// Events finished in this second.
    pub events: u32,
    /// Ignored errors in this second.
    pub errors: u32,
    /// Sum of the response times of the events that ended in this second, nanoseconds.
    pub sum_ns: u64,
    /// Longest of them, nanoseconds.
    pub max_ns: u64,
}

impl SeriesPoint {
    /// Several points as one.
    #[must_use]
    pub fn sum(points: &[Self]) -> Self {
        points.iter().fold(Self::default(), |sum, point| Self {
            queries: sum.queries.saturating_add(point.queries),
            events: sum.events.saturating_add(point.events),
            errors: sum.errors.saturating_add(point.errors),
            sum_ns: sum.sum_ns.saturating_add(point.sum_ns),
            max_ns: sum.max_ns.max(point.max_ns),
        })
    }
}

/// How well a set rate was held; absent where none was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lateness {
    /// Starts that were due in the slice.
    pub n_due: u64,
    /// Starts later than one millisecond after their intended time.
    pub n_late: u64,
    /// Starts that were due before the slice's end and never happened. Their delay is the time from
    /// then to the end.
    pub n_missed: u64,
    /// Longest delay of a start, nanoseconds.
    pub max_ns: u64,
    /// Sum of all delays, those of missed starts included, nanoseconds.
    pub sum_ns: u64,
}

impl Lateness {
    /// Adds what another client or slice counted.
    pub fn add(&mut self, other: &Self) {
        let Self { n_due, n_late, n_missed, max_ns, sum_ns } = *other;
        self.n_due = self.n_due.saturating_add(n_due);
        self.n_late = self.n_late.saturating_add(n_late);
        self.n_missed = self.n_missed.saturating_add(n_missed);
        self.max_ns = self.max_ns.max(max_ns);
        self.sum_ns = self.sum_ns.saturating_add(sum_ns);
    }

    /// Mean delay of the starts, nanoseconds; missed starts count with the time that they waited.
    /// `None` when none was due.
    #[must_use]
    pub fn mean_ns(&self) -> Option<f64> {
        (self.n_due > 0).then(|| self.sum_ns as f64 / self.n_due as f64)
    }
}

/// The work of clients of one kind beside those that the slice counts: inserts and deletes while
/// others query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// What they do.
    pub role: Role,
    /// How many clients.
    pub clients: u32,
    /// Target of all of them together, operations per second; absent without one.
    pub target_per_s: Option<f64>,
    /// Measured time, nanoseconds.
    pub duration_ns: u64,
    /// Events finished.
    pub n_events: u64,
    /// Statements answered.
    pub n_queries: u64,
    /// Rows inserted or deleted.
    pub n_operations: u64,
    /// How well the rate was held, where one was set.
    pub lateness: Option<Lateness>,
    /// Delays of the starts in nanoseconds, where a rate was set: an HDR histogram, V2 format, deflated.
    #[serde(skip)]
    pub delays: Vec<u8>,
    /// The client's own part of each delay, after the start was due and the client was free to send
    /// it. In the same form.
    #[serde(skip)]
    pub own_delays: Vec<u8>,
    /// Errors after which events were retried, by code.
    pub errors: Vec<ErrorCount>,
    /// One point per second.
    pub series: Vec<SeriesPoint>,
    /// Response times of events in nanoseconds, from the intended start where a rate was set: an HDR
    /// histogram, V2 format, deflated.
    #[serde(skip)]
    pub response_times: Vec<u8>,
}

impl Stream {
    /// Operations per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        per_second(self.n_operations, self.duration_ns)
    }
}

/// One uninterrupted measurement; in an interleaved run a block: the sum over the short slices of
/// some rounds. The time in between does not count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Slice {
    /// Which repetition of the step on this system, from 0 on each start of the servers; blocks of the
    /// same start and idx on several systems were interleaved.
    pub idx: u32,
    /// On which start of the servers it was measured, from 0: that of its step, which it gets when the
    /// steps of several starts are joined ([`crate::starts`]). Not stored.
    #[serde(default)]
    pub start: u32,
    /// Which tables it was measured on, from 0: how often they had been filled before. Found when steps are joined, and
    /// not stored.
    #[serde(default)]
    pub load: u32,
    /// Rounds of a block; absent for an uninterrupted slice.
    pub n_rounds: Option<u32>,
    /// Wall-clock start, milliseconds since 1970.
    pub start_unix_ms: i64,
    /// Measured time, nanoseconds: of a block, the sum over its short slices.
    pub duration_ns: u64,
    /// Seed of the slice; client i draws from a stream derived from seed and i.
    pub seed: u64,
    /// Events finished.
    pub n_events: u64,
    /// Statements answered.
    pub n_queries: u64,
    /// What the step's rate counts.
    pub n_operations: u64,
    /// Rows received.
    pub n_rows: u64,
    /// Errors after which events were retried, by code.
    pub errors: Vec<ErrorCount>,
    /// How well the rate was held, where one was set.
    pub lateness: Option<Lateness>,
    /// Operations per window of 20 ms.
    pub windows: Windows,
    /// One point per second, of measured time in a block.
    pub series: Vec<SeriesPoint>,
    /// Response times of events in nanoseconds: an HDR histogram, V2 format, deflated.
    #[serde(skip)]
    pub response_times: Vec<u8>,
    /// Resources used from start to end; in a block, within its short slices. Context switches of
    /// the server's threads, swapping, storage traffic of processes and gauges of a block are those
    /// of its whole time.
    pub usage: Usage,
    /// The samples, first and last at the slice's ends, the others once a second.
    #[serde(skip)]
    pub samples: Vec<Sample>,
    /// Its warnings.
    pub warnings: Vec<WarningKind>,
    /// The work of other clients meanwhile.
    #[serde(default)]
    pub streams: Vec<Stream>,
    /// Operations in the whole time of a block, including those before counting began in each
    /// slice. [`Slice::counters`] and some parts of [`Slice::usage`] are of that time. Absent where
    /// all operations were counted.
    #[serde(default)]
    pub whole_operations: Option<u64>,
    /// The server's own counters by its names, as differences over the slice or the whole time of the
    /// block; a counter that the server does not have is absent.
    #[serde(default)]
    pub counters: BTreeMap<String, u64>,
    /// Values that the imported file states; absent in runs that rqps measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stated: Option<Stated>,
}

impl Slice {
    /// Operations per second: the slice's rate.
    #[must_use]
    pub fn figure(&self) -> f64 {
        let stated = self.stated.as_ref().and_then(|stated| stated.figure);
        stated.unwrap_or_else(|| per_second(self.n_operations, self.duration_ns))
    }

    /// Operations that [`Slice::counters`] are of.
    #[must_use]
    pub fn operations_of_counters(&self) -> u64 {
        self.whole_operations.unwrap_or(self.n_operations)
    }
}

/// `n` things in `duration_ns` as things per second; 0 when no time passed.
#[must_use]
pub fn per_second(n: u64, duration_ns: u64) -> f64 {
    if duration_ns == 0 { 0.0 } else { n as f64 * 1e9 / duration_ns as f64 }
}
