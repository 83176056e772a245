//! What all threads of a run share: when it ends, which event is next, and whether anybody failed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::tally::Tally;
use rqps_workload::Rng;

/// What all threads of a run share.
#[derive(Debug)]
pub(crate) struct Control {
    /// Zero of all times of the run.
    zero: Instant,
    /// When events begin, ns after zero.
    start_ns: AtomicU64,
    /// When the last event may begin, ns after zero; `u64::MAX` for no end.
    deadline_ns: AtomicU64,
    /// The most events; 0 for any number.
    max_events: u64,
    /// The same as far as it holds already: those of the warm-up are not among them.
    limit: AtomicU64,
    events_begun: AtomicU64,
    stop: AtomicBool,
    failed: AtomicBool,
    /// Whether a script has asked for a driver, so that statements are reported.
    uses_sql: AtomicBool,
    /// Whether it was told that prepared statements are lost.
    lost_statements: AtomicBool,
    arrivals: Option<Mutex<Arrivals>>,
    /// Numbers given by `sysbench.rand.unique`.
    pub(crate) n_unique: AtomicU64,
    /// Numbers given by `sb_rand_uniq` of each range, by its first number and how many it has.
    pub(crate) n_unique_between: Mutex<BTreeMap<(u64, u64), u64>>,
    /// Connections opened: each takes the next host.
    pub(crate) n_connections: AtomicU64,
    /// One for each thread.
    pub(crate) tallies: Vec<Arc<Tally>>,
}

/// Random moments at an average rate: a Poisson process.
#[derive(Debug)]
struct Arrivals {
    rng: Rng,
    mean_ns: f64,
    /// The last moment that was given, ns after the start.
    last_ns: f64,
    n_given: u64,
}

/// What limits a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limits {
    /// The most events; 0 for any number.
    pub(crate) max_events: u64,
    /// Events per second of all threads together; 0 for as many as possible.
    pub(crate) rate: f64,
    /// Seed of the moments at which events are due.
    pub(crate) seed: u64,
}

/// Why a thread should begin no further event, or when it should begin one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
    /// Begin one now.
    Now,
    /// Begin one at this time, ns after zero, or at once when it has passed; the response time counts
    /// from it. It may lie after the end of the run, and none is begun then.
    At(u64),
    /// No further one.
    Stop,
}

impl Control {
    /// A run of so many threads that has not started.
    pub(crate) fn new(n_threads: usize, limits: Limits) -> Self {
        let arrivals = (limits.rate > 0.0).then(|| {
            Mutex::new(Arrivals {
                rng: Rng::stream(limits.seed, u64::MAX),
                mean_ns: 1e9 / limits.rate,
                last_ns: 0.0,
                n_given: 0,
            })
        });
        Self {
            zero: Instant::now(),
            start_ns: AtomicU64::new(0),
            deadline_ns: AtomicU64::new(u64::MAX),
            max_events: limits.max_events,
            limit: AtomicU64::new(0),
            events_begun: AtomicU64::new(0),
            stop: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            uses_sql: AtomicBool::new(false),
            lost_statements: AtomicBool::new(false),
            arrivals,
            n_unique: AtomicU64::new(0),
            n_unique_between: Mutex::default(),
            n_connections: AtomicU64::new(0),
            tallies: (0..n_threads).map(|_| Arc::new(Tally::new())).collect(),
        }
    }

    /// Nanoseconds since zero.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.zero.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Lets the events that begin from now on be those that are limited in number.
    pub(crate) fn count_events(&self) {
        self.limit.store(self.max_events, Relaxed);
    }

    /// Starts the clock of the run; it ends `limit` later where there is one.
    pub(crate) fn start(&self, limit: Option<Duration>) {
        let now = self.now_ns();
        self.start_ns.store(now, Relaxed);
        if let Some(limit) = limit {
            let ns = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
            self.deadline_ns.store(now.saturating_add(ns), Relaxed);
        }
    }

    /// What a thread does next, at `now_ns`.
    #[inline]
    pub(crate) fn next(&self, now_ns: u64) -> Next {
        if self.stop.load(Relaxed) || now_ns >= self.deadline_ns.load(Relaxed) {
            return Next::Stop;
        }
        let limit = self.limit.load(Relaxed);
        if limit > 0 && self.events_begun.fetch_add(1, Relaxed) >= limit {
            return Next::Stop;
        }
        self.arrivals.as_ref().map_or(Next::Now, |arrivals| self.next_arrival(arrivals))
    }

    fn next_arrival(&self, arrivals: &Mutex<Arrivals>) -> Next {
        let mut arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        // Times between arrivals of a Poisson process are exponential.
        let gap = -(1.0 - arrivals.rng.unit()).ln() * arrivals.mean_ns;
        arrivals.last_ns += gap;
        arrivals.n_given += 1;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and `as` keeps what is out of range at the end"
        )]
        Next::At(self.start_ns.load(Relaxed).saturating_add(arrivals.last_ns as u64))
    }

    /// The time from `now_ns` until an event is due, or until the run is over where that is sooner: what
    /// is due after the end keeps the run until then, as its length is what rates are taken of.
    pub(crate) fn until(&self, due_ns: u64, now_ns: u64) -> Duration {
        Duration::from_nanos(due_ns.min(self.deadline_ns.load(Relaxed)).saturating_sub(now_ns))
    }

    /// Whether all events that were asked for have begun.
    pub(crate) fn all_begun(&self) -> bool {
        self.max_events > 0 && self.events_begun.load(Relaxed) >= self.max_events
    }

    /// Events that are due at `now_ns` and not begun: with a rate alone.
    pub(crate) fn queue_length(&self, now_ns: u64) -> u64 {
        let Some(arrivals) = &self.arrivals else { return 0 };
        let arrivals = arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        let since = now_ns.saturating_sub(self.start_ns.load(Relaxed)) as f64;
        // The moments after the last one given are not drawn yet: as many as the rate makes likely.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not negative, and `as` keeps what is out of range at the end"
        )]
        let due = ((since - arrivals.last_ns) / arrivals.mean_ns).max(0.0) as u64;
        due
    }

    /// Events under way.
    pub(crate) fn concurrency(&self) -> usize {
        self.tallies.iter().filter(|tally| tally.is_busy()).count()
    }

    /// Whether the run has a rate.
    pub(crate) fn has_rate(&self) -> bool {
        self.arrivals.is_some()
    }

    /// Whether no further event may begin, for events that are tried again and again.
    pub(crate) fn is_over(&self) -> bool {
        self.stop.load(Relaxed) || self.now_ns() >= self.deadline_ns.load(Relaxed)
    }

    /// Asks all threads to stop after their events.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// Notes a failure, and asks all threads to stop.
    pub(crate) fn fail(&self) {
        self.failed.store(true, Relaxed);
        self.stop();
    }

    /// Whether anybody failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Relaxed)
    }

    /// Notes that a prepared statement was lost; whether it is the first.
    pub(crate) fn is_first_lost_statement(&self) -> bool {
        !self.lost_statements.swap(true, Relaxed)
    }

    /// Whether a prepared statement was lost, which keeps all threads from going on.
    pub(crate) fn has_lost_statements(&self) -> bool {
        self.lost_statements.load(Relaxed)
    }

    /// Notes that statements are to be reported.
    pub(crate) fn note_sql(&self) {
        self.uses_sql.store(true, Relaxed);
    }

    /// Whether statements are to be reported.
    pub(crate) fn uses_sql(&self) -> bool {
        self.uses_sql.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(max_events: u64, rate: f64) -> Control {
        Control::new(1, Limits { max_events, rate, seed: 3 })
    }

    #[test]
    fn events_and_time_end_a_run() {
        let by_events = control(2, 0.0);
        by_events.start(None);
        assert_eq!(by_events.next(0), Next::Now, "the warm-up has no limit");
        by_events.count_events();
        let next = || by_events.next(by_events.now_ns());
        assert_eq!([next(), next(), next()], [Next::Now, Next::Now, Next::Stop]);
        let by_time = control(0, 0.0);
        by_time.start(Some(Duration::from_secs(1)));
        assert_eq!(by_time.next(0), Next::Now);
        assert_eq!(by_time.next(by_time.now_ns() + 1_000_000_001), Next::Stop);
        let stopped = control(0, 0.0);
        stopped.fail();
        assert!(stopped.next(0) == Next::Stop && stopped.has_failed() && stopped.is_over());
    }

    #[test]
    fn arrivals_keep_their_rate_and_wait_for_nobody() {
        let control = control(0, 1000.0);
        control.start(None);
        let mut last = 0;
        for _ in 0..20_000 {
            let Next::At(at) = control.next(0) else { panic!("no arrival") };
            assert!(at >= last);
            last = at;
        }
        let seconds = last as f64 / 1e9;
        assert!((seconds - 20.0).abs() < 1.0, "20,000 arrivals at 1,000/s in {seconds} s");
        assert_eq!(control.queue_length(last), 0);
        let behind = control.queue_length(last + 1_000_000_000);
        assert!((990..=1010).contains(&behind), "{behind}");
    }

    #[test]
    fn what_is_due_after_the_end_is_waited_for_until_the_end() {
        let control = control(0, 1e-9);
        control.start(Some(Duration::from_secs(2)));
        let now = control.start_ns.load(Relaxed);
        let Next::At(due) = control.next(now) else { panic!("it ends at once") };
        assert_eq!(control.until(due, now), Duration::from_secs(2));
        assert_eq!(control.until(now + 5, now), Duration::from_nanos(5));
        assert_eq!(control.until(due, due), Duration::ZERO);
    }
}
