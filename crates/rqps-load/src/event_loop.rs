//! HOT PATH: the loop of one client thread. Budget per event beside the client's and the
//! workload's own work: one clock read per statement, no lock, no allocation, no system call.

mod ahead;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use rqps_client::{Connection, ErrorClass};
use rqps_workload::{EventError, Worker};

use crate::clock::Clock;
use crate::tally::LATE_NS;
use crate::{Order, Stop, Tally};

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
    /// Clients that send ahead and still have statements under way, or may send more.
    pub(crate) n_behind: &'a AtomicUsize,
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
    fn part_of(self, n: u64) -> u64 {
        let clients = self.n_clients as u64;
        n / clients + u64::from((self.idx as u64) < n % clients)
    }
}

/// Where a client is on the clock of a set rate, which may go on from slice to slice.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OnClock {
    /// Its starts so far.
    pub(crate) n: u64,
    /// Time on the clock before this slice, nanoseconds.
    pub(crate) past_ns: u64,
}

/// Intended starts of one client at a fixed rate.
struct Schedule<'a> {
    interval_ns: f64,
    first_ns: f64,
    on_clock: &'a mut OnClock,
}

impl<'a> Schedule<'a> {
    fn at(rate: f64, share: Share, on_clock: &'a mut OnClock) -> Self {
        let interval_ns = share.n_clients as f64 * 1e9 / rate;
        // In the middle of an interval: a time that is no multiple of it has neither too many nor too few starts.
        let first_ns = interval_ns * (share.idx as f64 + 0.5) / share.n_clients as f64;
        Self { interval_ns, first_ns, on_clock }
    }

    /// When the next start is due, nanoseconds from the slice's start; below 0 for one that the slice
    /// before did not get to.
    #[expect(clippy::cast_possible_truncation, reason = "nanoseconds within a step")]
    fn due_ns(&self) -> i64 {
        let on_clock = self.first_ns + self.interval_ns * self.on_clock.n as f64;
        on_clock as i64 - self.on_clock.past_ns.cast_signed()
    }

    /// Starts from the next one on that are due before `end_ns`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive count of starts within a step"
    )]
    fn due_until(&self, end_ns: i64) -> u64 {
        let end_ns = end_ns as f64 + self.on_clock.past_ns as f64 - self.first_ns;
        let all = (end_ns / self.interval_ns).ceil().max(0.0) as u64;
        all.saturating_sub(self.on_clock.n)
    }
}

/// Longest wait of a worker that may not go on before the loop looks whether it is to stop.
const LOOK_EVERY_NS: u64 = 10_000_000;

/// Longest sleep of a client at a set rate before it looks whether it is to stop: longer than most slices,
/// so that nobody wakes for nothing.
const SLEEP_NS: u64 = 200_000_000;

/// Starts that never came are told one by one up to this many. Of more, which a rate beyond all reach
/// has, several are told as the first of them.
const MOST_MISSED: u64 = 100_000;

/// Runs one slice on one connection and returns what was counted: statements of a set rate as they are
/// due where the worker and the connection allow it, other events one by one.
///
/// # Errors
/// The first error that is not retried, with the tally so far left in `tally`.
pub(crate) fn run<C: Connection, W: Worker<C>>(
    (connection, worker): (&mut C, &mut W),
    (order, share, on_clock): (&Order, Share, &mut OnClock),
    clock: Clock,
    watch: &Watch<'_>,
    tally: &mut Tally,
) -> Result<(), EventError> {
    // What the slice before counted is not shown as this one's.
    watch.published.set(0);
    if let (Some(rate), Stop::Time(time)) = (order.pace.rate(), order.stop)
        && let operations = worker.operations_per_statement()
        && let (Some(pipeline), Some(worker)) = (connection.pipeline(), worker.ahead())
    {
        let schedule = Schedule::at(rate, share, on_clock);
        let deadline_ns = nanoseconds(time);
        let frame = ahead::Frame { operations, deadline_ns, pace: order.pace, clock, watch };
        return ahead::run((pipeline, worker), schedule, &frame, tally);
    }
    one_by_one(connection, worker, order, share, on_clock, clock, watch, tally)
}

/// Runs one slice of events each of which begins when the one before has ended.
fn one_by_one<C: Connection, W: Worker<C>>(
    connection: &mut C,
    worker: &mut W,
    order: &Order,
    share: Share,
    on_clock: &mut OnClock,
    clock: Clock,
    watch: &Watch<'_>,
    tally: &mut Tally,
) -> Result<(), EventError> {
    let (deadline_ns, n_events) = match order.stop {
        Stop::Time(time) => (nanoseconds(time), u64::MAX),
        Stop::Events(n) => (u64::MAX, share.part_of(n)),
        Stop::Part { from, to } => (u64::MAX, share.part_of(to) - share.part_of(from)),
    };
    let mut schedule = order.pace.rate().map(|rate| Schedule::at(rate, share, on_clock));
    // Before the slice's start for an event that was due in the slice before.
    let mut begin_ns: i64 = 0;
    let end_ns = deadline_ns.min(i64::MAX as u64).cast_signed();
    // A retried event keeps its start, so that its response time holds every try.
    let mut is_retry = false;
    let result = loop {
        if tally.n_events >= n_events || watch.stop.load(Ordering::Relaxed) {
            break Ok(());
        }
        if is_retry {
            if clock.now_ns() >= deadline_ns {
                if let Some(schedule) = &mut schedule {
                    // It is due again.
                    schedule.on_clock.n -= 1;
                }
                break Ok(());
            }
        } else if let Some(schedule) = &mut schedule {
            begin_ns = schedule.due_ns();
            if begin_ns >= end_ns {
                break Ok(());
            }
            if !wait_until(begin_ns.max(0).cast_unsigned(), clock, watch) {
                break Ok(());
            }
            if !worker.is_ready() && !await_ready(worker, clock, deadline_ns, watch) {
                break Ok(());
            }
            let now_ns = clock.now_ns();
            // A start that is on time is none too late for the slice.
            if now_ns >= deadline_ns && since(begin_ns, now_ns) > LATE_NS {
                break Ok(());
            }
            schedule.on_clock.n += 1;
            let free_ns = begin_ns.max(tally.last_ns.cast_signed());
            tally.started(since(begin_ns, now_ns), since(free_ns, now_ns));
        } else if begin_ns >= end_ns && !goes_on(begin_ns, end_ns, watch) {
            break Ok(());
        } else if !worker.is_ready() {
            if !await_ready(worker, clock, deadline_ns, watch) {
                break Ok(());
            }
            // What it waited for is another client's time.
            begin_ns = clock.now_ns().cast_signed();
        }
        let asked = if is_retry { Ok(false) } else { worker.ask(connection) };
        let operations = worker.operations_per_statement();
        if matches!(asked, Ok(true)) && schedule.is_none() {
            // That is no event's time.
            begin_ns = clock.now_ns().cast_signed();
        }
        let outcome = asked.and_then(|_| {
            worker.event(connection, &mut |outcome| {
                tally.statement(clock.now_ns(), operations, outcome.rows);
            })
        });
        match outcome {
            Ok(()) => {
                tally.event(since(begin_ns, tally.last_ns), tally.last_ns);
                begin_ns = tally.last_ns.cast_signed();
                is_retry = false;
            }
            Err(error) => {
                if let Err(fatal) = survive(connection, worker, error, clock, tally) {
                    break Err(fatal);
                }
                is_retry = true;
            }
        }
        watch.published.set(tally.n_queries);
    };
    if let Some(schedule) = &mut schedule
        && deadline_ns != u64::MAX
    {
        let operations = worker.operations_per_statement();
        let frame = ahead::Frame { operations, deadline_ns, pace: order.pace, clock, watch };
        end_rate(schedule, &frame, result.is_ok(), tally);
    }
    result
}

/// Whether a client as fast as it can goes on past the slice's end: what others have under way is to be
/// answered under the load of the slice, but a server that stalls is not kept busy for longer than
/// the slice was.
fn goes_on(now_ns: i64, end_ns: i64, watch: &Watch<'_>) -> bool {
    now_ns < end_ns.saturating_mul(2) && watch.n_behind.load(Ordering::Acquire) > 0
}

/// Ends a slice at a set rate, which is sound unless it failed. Nothing is due before its end, which is part of it
/// nevertheless: what the server does meanwhile counts as used in it, and a clock that goes on reads it.
fn end_rate(
    schedule: &mut Schedule<'_>,
    frame: &ahead::Frame<'_>,
    is_sound: bool,
    tally: &mut Tally,
) {
    if is_sound {
        wait_until(frame.deadline_ns, frame.clock, frame.watch);
    }
    if !frame.pace.leaves_to_next() {
        miss_rest(schedule, frame.end_ns(), frame.clock.now_ns(), tally);
    }
}

/// Counts the starts that were due before `end_ns` and will never come.
#[cold]
fn miss_rest(schedule: &mut Schedule<'_>, end_ns: i64, now_ns: u64, tally: &mut Tally) {
    let n = schedule.due_until(end_ns);
    let at_once = n.div_ceil(MOST_MISSED).max(1);
    let mut left = n;
    while left > 0 {
        let several = at_once.min(left);
        tally.missed(since(schedule.due_ns(), now_ns), several);
        schedule.on_clock.n += several;
        left -= several;
    }
}

/// Nanoseconds from `begin_ns`, which may lie before the slice, to `end_ns`.
#[inline]
fn since(begin_ns: i64, end_ns: u64) -> u64 {
    (end_ns.cast_signed() - begin_ns).max(0).cast_unsigned()
}

/// Sleeps until the clock reads `at_ns`; false when the slice is stopped meanwhile.
fn wait_until(at_ns: u64, clock: Clock, watch: &Watch<'_>) -> bool {
    loop {
        if watch.stop.load(Ordering::Relaxed) {
            return false;
        }
        let now_ns = clock.now_ns();
        if now_ns >= at_ns {
            return true;
        }
        clock.wait_until(at_ns.min(now_ns + SLEEP_NS));
    }
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
        worker.await_ready(Duration::from_nanos(LOOK_EVERY_NS.min(deadline_ns - now_ns)));
    }
    true
}

/// Rolls back and counts an error that is retried; any other is handed back.
#[cold]
fn survive<C: Connection, W: Worker<C>>(
    connection: &mut C,
    worker: &mut W,
    error: EventError,
    clock: Clock,
    tally: &mut Tally,
) -> Result<(), EventError> {
    match error {
        EventError::Client(error) if error.class() == ErrorClass::Retry => {
            tally.error(clock.now_ns(), error.code());
            let rolled_back = worker.roll_back(connection);
            // That is of the time that it took as well.
            tally.last_ns = clock.now_ns();
            rolled_back
        }
        other => Err(other),
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_spread_evenly_over_the_clients_of_a_role() {
        // Ten starts per second of two clients, which come after three of another role.
        for (idx, first_ms) in [(0, 50), (1, 150)] {
            let mut on_clock = OnClock::default();
            let share = Share { client_idx: 3 + idx, idx, n_clients: 2 };
            let schedule = Schedule::at(10.0, share, &mut on_clock);
            assert_eq!(schedule.due_ns(), first_ms * 1_000_000);
            schedule.on_clock.n += 1;
            assert_eq!(schedule.due_ns(), (first_ms + 200) * 1_000_000);
            // This client has five starts in a second. The first has come.
            assert_eq!(schedule.due_until(1_000_000_000), 4);
        }
    }

    #[test]
    fn a_time_has_as_many_starts_as_its_rate_says() {
        // Two starts a second: a slice that lasts a little longer has no more of them.
        for (ms, n) in [(5_998, 12), (6_002, 12), (6_240, 12), (6_260, 13)] {
            let mut on_clock = OnClock::default();
            let share = Share { client_idx: 0, idx: 0, n_clients: 1 };
            assert_eq!(Schedule::at(2.0, share, &mut on_clock).due_until(ms * 1_000_000), n);
        }
    }

    #[test]
    fn the_parts_of_a_whole_add_up_for_every_client() {
        for n_clients in 1..9 {
            let (each, n_parts) = (20_011, 61);
            let whole = each * n_clients as u64;
            let upto = |part: u64| whole * part / n_parts;
            for idx in 0..n_clients {
                let share = Share { client_idx: idx, idx, n_clients };
                let parts =
                    (0..n_parts).map(|p| share.part_of(upto(p + 1)) - share.part_of(upto(p)));
                assert_eq!(parts.sum::<u64>(), each, "client {idx} of {n_clients}");
            }
        }
    }
}
