//! HOT PATH: what one thread counts, readable by others at any time. Budget: a few nanoseconds per
//! count, a logarithm per event, no allocation.
//!
//! Only its own thread writes a tally, so that plain loads and stores do: no count is lost. A reader
//! may see an event whose sum is not added yet, which no report can show.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::histogram::Grid;

/// What a statement was, by what the server answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// It had a result.
    Read,
    /// It changed rows.
    Write,
    /// Neither.
    Other,
}

/// What one thread has counted since it began.
#[derive(Debug)]
pub(crate) struct Tally {
    reads: AtomicU64,
    writes: AtomicU64,
    others: AtomicU64,
    errors: AtomicU64,
    reconnects: AtomicU64,
    events: AtomicU64,
    sum_ns: AtomicU64,
    /// Least and greatest since they were last taken.
    min_ns: AtomicU64,
    max_ns: AtomicU64,
    /// 1 while an event is under way.
    busy: AtomicU64,
    grid: Grid,
    histogram: Box<[AtomicU64]>,
}

/// Adds to a counter that only this thread writes.
#[inline]
fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Relaxed).wrapping_add(n), Relaxed);
}

impl Tally {
    /// Nothing counted yet.
    pub(crate) fn new() -> Self {
        let grid = Grid::counted();
        let zero = || AtomicU64::new(0);
        Self {
            reads: zero(),
            writes: zero(),
            others: zero(),
            errors: zero(),
            reconnects: zero(),
            events: zero(),
            sum_ns: zero(),
            min_ns: AtomicU64::new(u64::MAX),
            max_ns: zero(),
            busy: zero(),
            grid,
            histogram: (0..grid.len()).map(|_| zero()).collect(),
        }
    }

    /// Counts a statement.
    #[inline]
    pub(crate) fn count(&self, what: Counted) {
        add(
            match what {
                Counted::Read => &self.reads,
                Counted::Write => &self.writes,
                Counted::Other => &self.others,
            },
            1,
        );
    }

    /// Counts an error that was survived.
    pub(crate) fn count_error(&self) {
        add(&self.errors, 1);
    }

    /// Counts a reconnect.
    pub(crate) fn count_reconnect(&self) {
        add(&self.reconnects, 1);
    }

    /// Says whether an event is under way.
    #[inline]
    pub(crate) fn set_busy(&self, busy: bool) {
        self.busy.store(busy.into(), Relaxed);
    }

    /// Counts an event that took `ns`.
    #[inline]
    pub(crate) fn count_event(&self, ns: u64) {
        add(&self.events, 1);
        add(&self.sum_ns, ns);
        if ns < self.min_ns.load(Relaxed) {
            self.min_ns.store(ns, Relaxed);
        }
        if ns > self.max_ns.load(Relaxed) {
            self.max_ns.store(ns, Relaxed);
        }
        if let Some(bucket) = self.histogram.get(self.grid.bucket(ns as f64 / 1e6)) {
            add(bucket, 1);
        }
    }

    /// Whether an event is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Relaxed) != 0
    }

    /// Everything counted so far.
    pub(crate) fn read(&self) -> Counts {
        Counts {
            reads: self.reads.load(Relaxed),
            writes: self.writes.load(Relaxed),
            others: self.others.load(Relaxed),
            errors: self.errors.load(Relaxed),
            reconnects: self.reconnects.load(Relaxed),
            events: self.events.load(Relaxed),
            sum_ns: self.sum_ns.load(Relaxed),
            min_ns: self.min_ns.load(Relaxed),
            max_ns: self.max_ns.load(Relaxed),
            histogram: self.histogram.iter().map(|bucket| bucket.load(Relaxed)).collect(),
        }
    }

    /// Forgets least and greatest, for a new report.
    pub(crate) fn forget_extremes(&self) {
        self.min_ns.store(u64::MAX, Relaxed);
        self.max_ns.store(0, Relaxed);
    }
}

/// Counts of a thread, or of several together, from a beginning or over a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Statements with a result.
    pub(crate) reads: u64,
    /// Statements that changed rows.
    pub(crate) writes: u64,
    /// Other statements.
    pub(crate) others: u64,
    /// Errors that were survived.
    pub(crate) errors: u64,
    /// Reconnects.
    pub(crate) reconnects: u64,
    /// Events.
    pub(crate) events: u64,
    /// Their response times together.
    pub(crate) sum_ns: u64,
    /// The least of them; `u64::MAX` without any.
    pub(crate) min_ns: u64,
    /// The greatest.
    pub(crate) max_ns: u64,
    /// Events by response time, on [`Grid::counted`].
    pub(crate) histogram: Vec<u64>,
}

impl Counts {
    /// No counts.
    pub(crate) fn none() -> Self {
        Self {
            reads: 0,
            writes: 0,
            others: 0,
            errors: 0,
            reconnects: 0,
            events: 0,
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            histogram: vec![0; Grid::counted().len()],
        }
    }

    /// All statements.
    pub(crate) fn queries(&self) -> u64 {
        self.reads + self.writes + self.others
    }

    /// Adds those of another thread.
    pub(crate) fn add(&mut self, other: &Self) {
        // A new field cannot be forgotten.
        let Self {
            reads,
            writes,
            others,
            errors,
            reconnects,
            events,
            sum_ns,
            min_ns,
            max_ns,
            histogram,
        } = other;
        self.reads += reads;
        self.writes += writes;
        self.others += others;
        self.errors += errors;
        self.reconnects += reconnects;
        self.events += events;
        self.sum_ns += sum_ns;
        self.min_ns = self.min_ns.min(*min_ns);
        self.max_ns = self.max_ns.max(*max_ns);
        self.histogram.iter_mut().zip(histogram).for_each(|(sum, n)| *sum += n);
    }

    /// What was counted since `earlier`. Least and greatest stay as they are.
    pub(crate) fn since(&self, earlier: &Self) -> Self {
        Self {
            reads: self.reads.wrapping_sub(earlier.reads),
            writes: self.writes.wrapping_sub(earlier.writes),
            others: self.others.wrapping_sub(earlier.others),
            errors: self.errors.wrapping_sub(earlier.errors),
            reconnects: self.reconnects.wrapping_sub(earlier.reconnects),
            events: self.events.wrapping_sub(earlier.events),
            sum_ns: self.sum_ns.wrapping_sub(earlier.sum_ns),
            min_ns: self.min_ns,
            max_ns: self.max_ns,
            histogram: self
                .histogram
                .iter()
                .zip(&earlier.histogram)
                .map(|(now, then)| now.wrapping_sub(*then))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_add_up_and_apart() {
        let (one, other) = (Tally::new(), Tally::new());
        one.count(Counted::Read);
        one.count(Counted::Other);
        one.count_event(2_000_000);
        let before = one.read();
        other.count(Counted::Write);
        other.count_event(5_000_000);
        one.count_event(1_000_000);
        one.count_error();
        let mut sum = one.read();
        sum.add(&other.read());
        assert_eq!((sum.queries(), sum.events, sum.errors), (3, 3, 1));
        assert_eq!((sum.min_ns, sum.max_ns, sum.sum_ns), (1_000_000, 5_000_000, 8_000_000));
        let later = one.read().since(&before);
        assert_eq!((later.events, later.queries(), later.sum_ns), (1, 0, 1_000_000));
        assert_eq!(later.histogram.iter().sum::<u64>(), 1);
        one.forget_extremes();
        assert_eq!(one.read().min_ns, u64::MAX);
    }
}
