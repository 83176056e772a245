//! HOT PATH: what one client counts. Budget: a few additions and two array increments per
//! statement, one histogram increment per event, no allocation.

mod worked;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use rqps_model::{ErrorCount, Lateness, SeriesPoint, Windows};

use self::worked::Worked;
use crate::order::{MAX_SERIES_S, Order, WINDOW_NS};

/// Longest response time that is told apart, nanoseconds: one hour. Longer ones count as that.
const MAX_RESPONSE_NS: u64 = 3_600_000_000_000;

/// Three significant digits, as HDR histograms are commonly used.
const DIGITS: u8 = 3;

/// A start later than this after its intended time counts as late, nanoseconds.
pub const LATE_NS: u64 = 1_000_000;

/// What a client, or all clients together, counted in one slice.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Events finished.
    pub n_events: u64,
    /// Statements answered.
    pub n_queries: u64,
    /// Operations, as the step counts them.
    pub n_operations: u64,
    /// Rows received.
    pub n_rows: u64,
    /// What each client did, and the time that it took. Empty until [`Tally::finish`].
    clients: Vec<Worked>,
    /// Errors survived, by code.
    pub errors: Vec<ErrorCount>,
    /// How the rate was held; `None` in a closed loop.
    pub lateness: Option<Lateness>,
    /// Delays of the starts, nanoseconds; `None` in a closed loop.
    pub delays: Option<Histogram<u32>>,
    /// Of each delay, the part that was the client's own: the time since the start was due and the
    /// client was free to send it.
    pub own_delays: Option<Histogram<u32>>,
    /// Operations per window. Those past the slice's end are cut off by [`Tally::finish`].
    pub windows: Windows,
    /// One point per second.
    pub series: Vec<SeriesPoint>,
    /// Response times of events, nanoseconds; of starts that never came, the time that they waited.
    pub response_times: Histogram<u32>,
    /// Sum of the response times of all events, nanoseconds.
    pub sum_ns: u64,
    /// Longest of them, nanoseconds.
    pub max_ns: u64,
    /// When the last statement was answered, nanoseconds since the start.
    pub last_ns: u64,
    /// Time in which it was measured, nanoseconds: until the last answer or the slice's end,
    /// whichever is later. 0 until [`Tally::finish`].
    pub span_ns: u64,
}

impl Tally {
    /// An empty tally with room for the whole slice.
    #[must_use]
    pub fn for_order(order: &Order) -> Self {
        let expected_s = (order.expected_ns() / 1_000_000_000 + 2).min(MAX_SERIES_S);
        let n_windows = (expected_s + 1) * (1_000_000_000 / WINDOW_NS);
        let room = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let histogram = || {
            let mut histogram =
                Histogram::new_with_bounds(1, MAX_RESPONSE_NS, DIGITS).unwrap_or_else(|_| empty());
            histogram.auto(false);
            histogram
        };
        let is_paced = order.pace.rate().is_some();
        Self {
            n_events: 0,
            n_queries: 0,
            n_operations: 0,
            n_rows: 0,
            clients: Vec::new(),
            errors: Vec::new(),
            lateness: is_paced.then(Lateness::default),
            delays: is_paced.then(histogram),
            own_delays: is_paced.then(histogram),
            windows: Windows { length_ns: WINDOW_NS, counts: vec![0; room(n_windows)] },
            series: vec![SeriesPoint::default(); room(expected_s)],
            response_times: histogram(),
            sum_ns: 0,
            max_ns: 0,
            last_ns: 0,
            span_ns: 0,
        }
    }

    /// An empty tally that later slices are appended to.
    #[must_use]
    pub fn empty(order: &Order) -> Self {
        let mut tally = Self::for_order(order);
        tally.windows.counts.clear();
        tally.series.clear();
        tally
    }

    /// Counts one answered statement at `now_ns`.
    #[inline]
    pub fn statement(&mut self, now_ns: u64, operations: u64, rows: u64) {
        self.n_queries += 1;
        self.n_operations += operations;
        self.n_rows += rows;
        self.last_ns = now_ns;
        let window_idx = usize::try_from(now_ns / WINDOW_NS).unwrap_or(usize::MAX);
        if let Some(count) = self.windows.counts.get_mut(window_idx) {
            *count = count.saturating_add(u32::try_from(operations).unwrap_or(u32::MAX));
        }
        if let Some(second) = self.second(now_ns) {
            second.queries += 1;
        }
    }

    /// Counts one event that ended at `end_ns` and took `took_ns` since it (was meant to have) started.
    #[inline]
    pub fn event(&mut self, took_ns: u64, end_ns: u64) {
        self.n_events += 1;
        self.sum_ns += took_ns;
        self.max_ns = self.max_ns.max(took_ns);
        self.response_times.saturating_record(took_ns.max(1));
        if let Some(second) = self.second(end_ns) {
            second.events += 1;
            second.sum_ns += took_ns;
            second.max_ns = second.max_ns.max(took_ns);
        }
    }

    /// Counts an error that was survived: an answer, for which the client has waited until now.
    pub fn error(&mut self, now_ns: u64, code: String) {
        self.last_ns = self.last_ns.max(now_ns);
        if let Some(second) = self.second(now_ns) {
            second.errors += 1;
        }
        match self.errors.iter_mut().find(|e| e.code == code) {
            Some(known) => known.n += 1,
            None => self.errors.push(ErrorCount { code, n: 1 }),
        }
    }

    /// Counts a start that came `late_ns` after its intended time, `own_ns` of it after the client
    /// was free to send it.
    #[inline]
    pub fn started(&mut self, late_ns: u64, own_ns: u64) {
        if let Some(lateness) = &mut self.lateness {
            lateness.n_due += 1;
            lateness.n_late += u64::from(late_ns > LATE_NS);
            lateness.max_ns = lateness.max_ns.max(late_ns);
            lateness.sum_ns += late_ns;
        }
        if let Some(delays) = &mut self.delays {
            delays.saturating_record(late_ns.max(1));
        }
        if let Some(own_delays) = &mut self.own_delays {
            own_delays.saturating_record(own_ns.max(1));
        }
    }

    /// Counts `n` starts that were due and never came, the first of them `waited_ns` before the end: the
    /// responses would have taken longer than that.
    pub fn missed(&mut self, waited_ns: u64, n: u64) {
        if let Some(lateness) = &mut self.lateness {
            lateness.n_due += n;
            lateness.n_missed += n;
            lateness.n_late += if waited_ns > LATE_NS { n } else { 0 };
            lateness.max_ns = lateness.max_ns.max(waited_ns);
            lateness.sum_ns = lateness.sum_ns.saturating_add(waited_ns.saturating_mul(n));
        }
        let count = u32::try_from(n).unwrap_or(u32::MAX);
        if let Some(delays) = &mut self.delays {
            delays.saturating_record_n(waited_ns.max(1), count);
        }
        self.max_ns = self.max_ns.max(waited_ns);
        self.response_times.saturating_record_n(waited_ns.max(1), count);
    }

    #[inline]
    fn second(&mut self, now_ns: u64) -> Option<&mut SeriesPoint> {
        let second_idx = usize::try_from(now_ns / 1_000_000_000).unwrap_or(usize::MAX);
        self.series.get_mut(second_idx)
    }

    /// Closes a client's tally: computes its rate and cuts windows and seconds that the slice did
    /// not fill. `whole_ns` is the time in which every window and second was measured in full; a
    /// client that had nothing to do at the end (a set rate) was measured that long too.
    pub fn finish(&mut self, whole_ns: u64) {
        self.finish_on_clock(whole_ns, whole_ns);
    }

    /// The same for a client of a clock that went on for `passed_ns` in this slice, be it that others were
    /// answered late: what fell due meanwhile is counted in the next slice, and so the time is in this.
    pub fn finish_on_clock(&mut self, whole_ns: u64, passed_ns: u64) {
        self.span_ns = self.last_ns.max(whole_ns).max(passed_ns);
        self.clients = vec![Worked { n_operations: self.n_operations, span_ns: self.span_ns }];
        let length = |ns: u64| usize::try_from(whole_ns / ns).unwrap_or(usize::MAX);
        self.windows.counts.truncate(length(WINDOW_NS));
        self.series.truncate(length(1_000_000_000));
    }

    /// Adds the tally of another client in the same slice.
    pub fn merge(&mut self, other: &Self) {
        self.add_counts(other);
        self.clients.extend(&other.clients);
        if self.windows.counts.len() < other.windows.counts.len() {
            self.windows.counts.resize(other.windows.counts.len(), 0);
        }
        for (mine, theirs) in self.windows.counts.iter_mut().zip(&other.windows.counts) {
            *mine = mine.saturating_add(*theirs);
        }
        if self.series.len() < other.series.len() {
            self.series.resize(other.series.len(), SeriesPoint::default());
        }
        for (mine, theirs) in self.series.iter_mut().zip(&other.series) {
            add_point(mine, theirs);
        }
        self.last_ns = self.last_ns.max(other.last_ns);
        self.span_ns = self.span_ns.max(other.span_ns);
    }

    /// Adds the tally of a later slice of the same clients, so that this one becomes that of a block: each
    /// client's times add up, windows follow one another, and what a slice counted is spread evenly over the
    /// seconds of counted time that it covers.
    pub fn append(&mut self, next: &Self) {
        let before_ns = self.duration_ns();
        self.add_counts(next);
        // Not the slices' own rates: one in which a client waited long, beside others that did not, would hardly count.
        self.clients.resize(self.clients.len().max(next.clients.len()), Worked::default());
        self.clients.iter_mut().zip(&next.clients).for_each(|(mine, later)| mine.add(*later));
        self.windows.counts.extend(&next.windows.counts);
        self.span_ns += next.span_ns;
        self.last_ns = self.span_ns;
        // By the time that the rate is over, so that seconds and rate agree.
        let to_ns = self.duration_ns().max(before_ns);
        self.spread(next, Span { from_ns: before_ns, to_ns });
    }

    /// Adds to the series what a slice counted from one time to another; its slowest event where it began.
    fn spread(&mut self, slice: &Self, Span { from_ns, to_ns }: Span) {
        const SECOND: u64 = 1_000_000_000;
        let idx_of = |second: u64| usize::try_from(second).unwrap_or(usize::MAX);
        let n_points = to_ns.div_ceil(SECOND).max(from_ns / SECOND + 1);
        if self.series.len() < idx_of(n_points) {
            self.series.resize(idx_of(n_points), SeriesPoint::default());
        }
        let n_errors = slice.errors.iter().map(|e| e.n).sum();
        let all = [slice.n_queries, slice.n_events, n_errors, slice.sum_ns];
        let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let mut before = [0; 4];
        let mut max_ns = slice.max_ns;
        for second in from_ns / SECOND..n_points {
            let upto_ns = ((second + 1) * SECOND).min(to_ns) - from_ns;
            let upto = all.map(|n| match to_ns - from_ns {
                0 => n,
                length_ns => share_of(n, Fraction { part: upto_ns, whole: length_ns }),
            });
            let [queries, events, errors, sum_ns] = std::array::from_fn(|i| upto[i] - before[i]);
            let point = SeriesPoint {
                queries: small(queries),
                events: small(events),
                errors: small(errors),
                sum_ns,
                max_ns: std::mem::take(&mut max_ns),
            };
            add_point(&mut self.series[idx_of(second)], &point);
            before = upto;
        }
    }

    /// Adds what simply adds up. Every field is named, so that a new one cannot be forgotten.
    fn add_counts(&mut self, other: &Self) {
        let Self {
            n_events,
            n_queries,
            n_operations,
            n_rows,
            clients: _,
            errors,
            lateness,
            delays,
            own_delays,
            windows: _,
            series: _,
            response_times,
            sum_ns,
            max_ns,
            last_ns: _,
            span_ns: _,
        } = other;
        self.n_events += n_events;
        self.n_queries += n_queries;
        self.n_operations += n_operations;
        self.n_rows += n_rows;
        for error in errors {
            match self.errors.iter_mut().find(|e| e.code == error.code) {
                Some(known) => known.n += error.n,
                None => self.errors.push(error.clone()),
            }
        }
        match (&mut self.lateness, lateness) {
            (Some(mine), Some(theirs)) => mine.add(theirs),
            (None, Some(theirs)) => self.lateness = Some(*theirs),
            (_, None) => {}
        }
        add_histogram(&mut self.delays, delays.as_ref());
        add_histogram(&mut self.own_delays, own_delays.as_ref());
        // Both sides have the same bounds and digits, so adding cannot fail.
        let _ = self.response_times.add(response_times);
        self.sum_ns += sum_ns;
        self.max_ns = self.max_ns.max(*max_ns);
    }

    /// Rate of operations: sum over clients of operations / time.
    #[must_use]
    pub fn operations_per_s(&self) -> f64 {
        self.clients.iter().map(|client| client.per_s()).sum()
    }

    /// The time that makes `n_operations` over it the sum of the clients' rates, nanoseconds: for
    /// one client the time until its last answer. Where nobody made an operation it is the time that
    /// was measured, so that the rate is 0 rather than unknown.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive time below centuries"
    )]
    pub fn duration_ns(&self) -> u64 {
        let per_s = self.operations_per_s();
        if per_s > 0.0 {
            (self.n_operations as f64 * 1e9 / per_s).round() as u64
        } else {
            self.span_ns
        }
    }

    /// The response times as bytes: HDR histogram, V2 format, deflated.
    #[must_use]
    pub fn response_time_bytes(&self) -> Vec<u8> {
        bytes_of(&self.response_times)
    }

    /// The delays of starts in the same form; empty in a closed loop.
    #[must_use]
    pub fn delay_bytes(&self) -> Vec<u8> {
        self.delays.as_ref().map_or_else(Vec::new, bytes_of)
    }

    /// The clients' own part of them in the same form; empty in a closed loop.
    #[must_use]
    pub fn own_delay_bytes(&self) -> Vec<u8> {
        self.own_delays.as_ref().map_or_else(Vec::new, bytes_of)
    }
}

fn add_histogram(to: &mut Option<Histogram<u32>>, other: Option<&Histogram<u32>>) {
    match (to, other) {
        // Both have the same bounds and digits, so adding cannot fail.
        (Some(mine), Some(theirs)) => {
            let _ = mine.add(theirs);
        }
        (to @ None, Some(theirs)) => *to = Some(theirs.clone()),
        (_, None) => {}
    }
}

fn bytes_of(histogram: &Histogram<u32>) -> Vec<u8> {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail.
    let _ = V2DeflateSerializer::new().serialize(histogram, &mut bytes);
    bytes
}

/// A part of the time of a block, from its start.
struct Span {
    from_ns: u64,
    to_ns: u64,
}

/// A part of a whole.
struct Fraction {
    part: u64,
    whole: u64,
}

/// `n` times a fraction, rounded to whole ones.
fn share_of(n: u64, Fraction { part, whole }: Fraction) -> u64 {
    let exact = (u128::from(n) * u128::from(part) + u128::from(whole) / 2) / u128::from(whole);
    u64::try_from(exact).unwrap_or(u64::MAX)
}

fn add_point(to: &mut SeriesPoint, other: &SeriesPoint) {
    to.queries = to.queries.saturating_add(other.queries);
    to.events = to.events.saturating_add(other.events);
    to.errors = to.errors.saturating_add(other.errors);
    to.sum_ns += other.sum_ns;
    to.max_ns = to.max_ns.max(other.max_ns);
}

/// The smallest histogram there is, for bounds that a library version might refuse.
fn empty() -> Histogram<u32> {
    #[expect(clippy::expect_used, reason = "three digits are always accepted")]
    Histogram::new(DIGITS).expect("three significant digits are valid")
}

#[cfg(test)]
mod tests;
