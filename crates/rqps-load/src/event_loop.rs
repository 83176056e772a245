//! HOT PATH: the loop of one client thread. Budget per event beside the client's and the
//! workload's own work: one clock read per statement, no lock, no allocation, no system call.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rqps_client::{Connection, ErrorClass};
use rqps_workload::{EventError, Worker};

use crate::clock::Clock;
use crate::{Order, Pace, Stop, Tally};

/// A counter on a cache line of its own, written by one client thread and read for the display.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Published(AtomicU64);

impl Published {
    #[inline]
    fn set(&self, n: u64) {
        self.0.store(n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a client shares with the thread that ordered the slice.
#[derive(Debug)]
pub(crate) struct Watch<'a> {
    pub(crate) published: &'a Published,
    pub(crate) stop: &'a AtomicBool,
}

/// Which part of an order is this client's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Share {
    /// Its number among all clients, from 0.
    pub(crate) client_idx: usize,
    /// Its number among those of its role, from 0.
    pub(crate) idx: usize,
    /// How many have its role.
    pub(crate) n_clients: usize,
}

impl Share {
    /// This client's part of `n` events.
    fn of(self, n: u64) -> u64 {
        let clients = self.n_clients as u64;
        n / clients + u64::from((self.idx as u64) < n % clients)
    }
}

/// Intended starts of one client at a fixed rate.
struct Schedule {
    interval_ns: f64,
    first_ns: f64,
    n: u64,
}

impl Schedule {
    fn new(pace: Pace, share: Share) -> Option<Self> {
        match pace {
            Pace::Closed => None,
            Pace::Rate { events_per_s } => {
                let interval_ns = share.n_clients as f64 * 1e9 / events_per_s;
                let first_ns = interval_ns * share.idx as f64 / share.n_clients as f64;
                Some(Self { interval_ns, first_ns, n: 0 })
            }
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive nanoseconds within a slice"
    )]
    fn due_ns(&self) -> u64 {
        (self.first_ns + self.interval_ns * self.n as f64) as u64
    }
}

/// How often a worker that may not go on is asked again, nanoseconds: far less than a statement takes
/// that writes rows by the dozen.
const LOOK_EVERY_NS: u64 = 50_000;

/// Runs one slice on one connection and returns what was counted.
///
/// # Errors
/// The first error that is not retried, with the tally so far left in `tally`.
pub(crate) fn run<C: Connection, W: Worker<C>>(
    (connection, worker): (&mut C, &mut W),
    (order, share): (&Order, Share),
    clock: Clock,
    watch: &Watch<'_>,
    tally: &mut Tally,
) -> Result<(), EventError> {
    let (deadline_ns, n_events) = match order.stop {
        Stop::Time(time) => (nanoseconds(time), u64::MAX),
        Stop::Events(n) => (u64::MAX, share.of(n)),
    };
    let operations = worker.operations_per_statement();
    // What the slice before counted is not shown as this one's.
    watch.published.set(0);
    let mut schedule = Schedule::new(order.pace, share);
    let mut begin_ns = 0;
    // A retried event keeps its start, so that its response time holds every try.
    let mut is_retry = false;
    let result = loop {
        if tally.n_events >= n_events || watch.stop.load(Ordering::Relaxed) {
            break Ok(());
        }
        if is_retry {
            if clock.now_ns() >= deadline_ns {
                break Ok(());
            }
        } else if let Some(schedule) = &mut schedule {
            begin_ns = schedule.due_ns();
            if begin_ns >= deadline_ns {
                break Ok(());
            }
            clock.wait_until(begin_ns);
            if !worker.is_ready() && !await_ready(worker, clock, deadline_ns, watch) {
                break Ok(());
            }
            let now_ns = clock.now_ns();
            if now_ns >= deadline_ns {
                break Ok(());
            }
            schedule.n += 1;
            tally.started(now_ns.saturating_sub(begin_ns));
        } else if begin_ns >= deadline_ns {
            break Ok(());
        } else if !worker.is_ready() {
            if !await_ready(worker, clock, deadline_ns, watch) {
                break Ok(());
            }
            // What it waited for is another client's time.
            begin_ns = clock.now_ns();
        }
        let outcome = worker.event(connection, &mut |outcome| {
            tally.statement(clock.now_ns(), operations, outcome.rows);
        });
        match outcome {
            Ok(()) => {
                tally.event(begin_ns, tally.last_ns);
                begin_ns = tally.last_ns;
                is_retry = false;
            }
            Err(error) => {
                if let Err(fatal) = survive(connection, worker, error, (clock, tally)) {
                    break Err(fatal);
                }
                is_retry = true;
            }
        }
        watch.published.set(tally.n_queries);
    };
    if let Some(schedule) = schedule
        && deadline_ns != u64::MAX
        && deadline_ns as f64 > schedule.first_ns
    {
        let due = ((deadline_ns as f64 - schedule.first_ns) / schedule.interval_ns).ceil();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a positive count of starts within a slice"
        )]
        tally.missed((due as u64).saturating_sub(schedule.n));
    }
    result
}

/// Waits for a worker that may not go on yet; false when the slice is over.
#[cold]
fn await_ready<C: Connection, W: Worker<C>>(
    worker: &W,
    clock: Clock,
    deadline_ns: u64,
    watch: &Watch<'_>,
) -> bool {
    while !worker.is_ready() {
        let now_ns = clock.now_ns();
        if now_ns >= deadline_ns || watch.stop.load(Ordering::Relaxed) {
            return false;
        }
        clock.wait_until(deadline_ns.min(now_ns + LOOK_EVERY_NS));
    }
    true
}

/// Rolls back and counts an error that is retried; any other is handed back.
#[cold]
fn survive<C: Connection, W: Worker<C>>(
    connection: &mut C,
    worker: &mut W,
    error: EventError,
    (clock, tally): (Clock, &mut Tally),
) -> Result<(), EventError> {
    match error {
        EventError::Client(error) if error.class() == ErrorClass::Retry => {
            tally.error(clock.now_ns(), error.code());
            worker.roll_back(connection)
        }
        other => Err(other),
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
