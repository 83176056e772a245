//! What is printed of counts: as sysbench lays it out, and as JSON.

mod json;
mod text;

pub(crate) use json::{Earlier, json};
pub(crate) use text::{Intermediate, cumulative, histogram, intermediate, of_threads, options};

use crate::histogram::{Grid, coarsen};
use crate::tally::Counts;

/// What a report is of.
#[derive(Debug, Clone)]
pub(crate) struct Reported {
    /// Counts of all threads together.
    pub(crate) sum: Counts,
    /// What each thread did.
    pub(crate) threads: Vec<OfThread>,
    /// Time over which this was counted, s.
    pub(crate) interval_s: f64,
    /// Time since the events that count began, s.
    pub(crate) total_s: f64,
    /// Whether statements are reported.
    pub(crate) uses_sql: bool,
}

/// What one thread did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OfThread {
    /// Its events.
    pub(crate) events: u64,
    /// Time that it spent in them, s.
    pub(crate) sum_s: f64,
    /// The shortest, s; 0 without events.
    pub(crate) min_s: f64,
    /// The longest, s.
    pub(crate) max_s: f64,
}

impl OfThread {
    /// What one thread counted.
    pub(crate) fn new(counts: &Counts) -> Self {
        let seconds = |ns: u64| ns as f64 / 1e9;
        let min_s = if counts.min_ns == u64::MAX { 0.0 } else { seconds(counts.min_ns) };
        Self {
            events: counts.events,
            sum_s: seconds(counts.sum_ns),
            min_s,
            max_s: seconds(counts.max_ns),
        }
    }
}

impl Reported {
    /// `n` per second of the interval.
    pub(crate) fn per_second(&self, n: u64) -> f64 {
        if self.interval_s > 0.0 { n as f64 / self.interval_s } else { 0.0 }
    }

    /// A percentile of response times as it is printed, ms.
    pub(crate) fn printed_percentile_ms(&self, percent: f64) -> f64 {
        Grid::printed().percentile(&coarsen(&self.sum.histogram), percent)
    }

    /// A percentile of response times on the finer grid, ms.
    pub(crate) fn percentile_ms(&self, percent: f64) -> f64 {
        Grid::counted().percentile(&self.sum.histogram, percent)
    }

    /// The least response time, ms; 0 without events.
    pub(crate) fn min_ms(&self) -> f64 {
        if self.sum.min_ns == u64::MAX { 0.0 } else { self.sum.min_ns as f64 / 1e6 }
    }

    /// The greatest response time, ms.
    pub(crate) fn max_ms(&self) -> f64 {
        self.sum.max_ns as f64 / 1e6
    }

    /// All response times together, ms.
    pub(crate) fn sum_ms(&self) -> f64 {
        self.sum.sum_ns as f64 / 1e6
    }

    /// The mean response time, ms; 0 without events.
    pub(crate) fn mean_ms(&self) -> f64 {
        if self.sum.events == 0 { 0.0 } else { self.sum_ms() / self.sum.events as f64 }
    }
}

/// Mean and population standard deviation; zeros of nothing.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}
