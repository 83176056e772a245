//! Whether the numbers of a log agree with one another.

use super::checks::{Pair, REMEDY};
use super::line::quantity;
use crate::number::whole;

/// Response times of events, milliseconds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Latency {
    /// Shortest.
    pub min: Option<f64>,
    /// Mean.
    pub avg: Option<f64>,
    /// Longest.
    pub max: Option<f64>,
    /// Percentiles and their values: one of sysbench's, none with `--percentile=0`, several of
    /// `rqps sysbench`.
    pub percentiles: Vec<(f64, f64)>,
    /// One unit of the last digit of the least exact of them, milliseconds.
    pub(super) last_digit_ms: f64,
}

/// One event of so many may be in one count alone, and one of each thread.
const EVENT_SLACK: u64 = 1000;

/// How far a percentile may be above the longest time: the width of a bucket of sysbench's histogram.
pub(super) const BUCKET_SHARE: f64 = 0.02;

/// The last digit that sysbench 1.0 prints of a response time, milliseconds. `0.0021s` has a coarser one.
const LAST_DIGIT_MS: f64 = 0.01;

/// How far two rounded times that are equal may be apart, and a rounded one from its exact value, in units of the last
/// digit; and a little.
const ROUNDING_BOTH: f64 = 1.1;
const ROUNDING_ONE: f64 = 0.6;

/// The longest time that sysbench's histogram has, milliseconds.
pub(super) const MAX_HISTOGRAM_MS: f64 = 99_000.0;

/// A count and its line, from 0.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Total {
    line_idx: usize,
    n: f64,
}

/// Counts that a log states twice.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Totals {
    read: Option<Total>,
    write: Option<Total>,
    other: Option<Total>,
    total: Option<Total>,
    events: Option<Total>,
}

/// What the totals are held against.
#[derive(Debug, Clone, Copy)]
pub(super) struct Held<'l> {
    pub(super) n_queries: Option<u64>,
    pub(super) n_transactions: Option<u64>,
    /// Before 1.0 a transaction may have several events.
    pub(super) is_before_1_0: bool,
    pub(super) threads: u32,
    pub(super) latency: &'l Latency,
}

/// Statements by kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Kinds {
    /// Those that returned rows.
    pub(super) read: f64,
    /// Those that changed rows.
    pub(super) write: f64,
    /// All others: `BEGIN`, and an update that changed no row.
    pub(super) other: f64,
}

impl Totals {
    /// All events.
    pub(super) fn n_events(&self) -> Option<u64> {
        self.events.map(|events| whole(events.n))
    }

    /// Statements by kind, where all three are stated.
    pub(super) fn kinds(&self) -> Option<Kinds> {
        Some(Kinds { read: self.read?.n, write: self.write?.n, other: self.other?.n })
    }

    /// Takes a line; what it is not, in words.
    pub(super) fn take(&mut self, pair: Pair<'_>) -> Result<(), &'static str> {
        let field = match pair.name {
            "read" => &mut self.read,
            "write" => &mut self.write,
            "other" => &mut self.other,
            "total" => &mut self.total,
            _ => &mut self.events,
        };
        let n = quantity(pair.value).ok_or("not a number from 0 on")?;
        *field = Some(Total { line_idx: pair.line_idx, n });
        Ok(())
    }

    /// What does not agree in a log, in words.
    pub(super) fn contradiction(&self, held: Held<'_>) -> Option<String> {
        let Held { n_queries, n_transactions, is_before_1_0, threads, latency } = held;
        let line = |total: Total, problem: String| {
            Some(format!("line {}: {problem}; {REMEDY}", total.line_idx + 1))
        };
        if let Some(total) = self.total {
            let kinds = [self.read, self.write, self.other];
            let sum: f64 = kinds.iter().flatten().map(|kind| kind.n).sum();
            if kinds.iter().all(Option::is_some) && !is_same(sum, total.n) {
                let n = total.n;
                return line(
                    total,
                    format!("total: {n} queries, but read, write and other are {sum}"),
                );
            }
            let queries = n_queries.map(|n| n as f64).filter(|n| !is_same(*n, total.n));
            if let Some(queries) = queries {
                return line(total, format!("total: {} queries, but queries: {queries}", total.n));
            }
        }
        if let (Some(events), Some(n), false) = (self.events, n_transactions, is_before_1_0) {
            let slack = n / EVENT_SLACK + u64::from(threads);
            if (events.n - n as f64).abs() > slack as f64 {
                let stated = events.n;
                return line(
                    events,
                    format!("total number of events: {stated}, but transactions: {n}"),
                );
            }
        }
        // Without events there are no times.
        n_transactions.filter(|n| *n > 0)?;
        latency.contradiction().map(|problem| format!("{problem}; {REMEDY}"))
    }
}

/// Whether two counts are the same.
fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.5
}

impl Latency {
    /// Takes over how exact a time was printed.
    pub(super) fn take_last_digit(&mut self, last_digit_ms: f64) {
        self.last_digit_ms = self.last_digit_ms.max(last_digit_ms);
    }

    /// How far two of its times that are equal may be apart as they are printed, milliseconds.
    pub(super) fn rounding_both_ms(&self) -> f64 {
        ROUNDING_BOTH * self.last_digit_ms.max(LAST_DIGIT_MS)
    }

    /// How far one of its times may be from the exact value, milliseconds.
    pub(super) fn rounding_one_ms(&self) -> f64 {
        ROUNDING_ONE * self.last_digit_ms.max(LAST_DIGIT_MS)
    }

    /// Which of its times is above another that it cannot be above.
    fn contradiction(&self) -> Option<String> {
        let Self { min, avg, max, percentiles, .. } = self;
        let rounding_ms = self.rounding_both_ms();
        let above = |lower: (&str, Option<f64>), upper: (&str, Option<f64>)| {
            let (low, high) = lower.1.zip(upper.1)?;
            (low > high + rounding_ms)
                .then(|| format!("{}: {low} ms is above {}: {high} ms", lower.0, upper.0))
        };
        let (min, avg, max) = (("min", *min), ("avg", *avg), ("max", *max));
        let of_percentile = |(p, ms): &(f64, f64)| {
            let longest = max.1.filter(|max| *ms > max * (1.0 + BUCKET_SHARE) + rounding_ms);
            let shortest = min.1.filter(|min| {
                *ms < MAX_HISTOGRAM_MS && *ms < min * (1.0 - BUCKET_SHARE) - rounding_ms
            });
            let longest =
                longest.map(|max| format!("{p}th percentile: {ms} ms is above max: {max} ms"));
            let shortest =
                || Some(format!("{p}th percentile: {ms} ms is below min: {} ms", shortest?));
            longest.or_else(shortest)
        };
        above(min, max)
            .or_else(|| above(min, avg))
            .or_else(|| above(avg, max))
            .or_else(|| percentiles.iter().find_map(of_percentile))
    }
}
