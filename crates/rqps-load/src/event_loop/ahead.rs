//! HOT PATH: the loop of a client at a set rate whose statements need not wait for the answers to those
//! before. Budget per statement: a few clock reads and one or two waits for the socket, no allocation.
//!
//! A statement leaves when it is due, so that a server that is late with one answer does not delay the
//! next start; its response time, from the intended start, holds what it waited for in the server.
//!
//! It is a loop of its own as it has two things to wait for, the clock and the socket, where the other has
//! one after the other; and it takes its worker and connection by dynamic dispatch, as that they can
//! do this is found at run time: some nanoseconds, at rates of a few hundred statements a second.

use std::sync::atomic::Ordering;
use std::time::Duration;

use rqps_client::{ErrorClass, Pipeline};
use rqps_workload::{Ahead, EventError};

use super::{LOOK_EVERY_NS, SLEEP_NS, Schedule, Watch, end_rate, since};
use crate::clock::Clock;
use crate::tally::LATE_NS;
use crate::{Pace, Tally};

/// Most statements of a client under way at once: a server that is further behind is not handed more. As
/// many as those of the Insert Benchmark may be ahead of their partner.
const MOST_UNDER_WAY: usize = 8;

/// Longest wait for an answer of a client that its partner holds up, before it looks at that again: a tenth
/// of the time between two starts of the fastest of the field's rates.
const LOOK_AT_PARTNER_NS: u64 = 1_000_000;

/// What the loop needs to know of its frame.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    /// Operations in one statement.
    pub(super) operations: u64,
    /// Its end on the clock.
    pub(super) deadline_ns: u64,
    pub(super) pace: Pace,
    pub(super) clock: Clock,
    pub(super) watch: &'a Watch<'a>,
}

impl Frame<'_> {
    pub(super) fn end_ns(&self) -> i64 {
        self.deadline_ns.min(i64::MAX as u64).cast_signed()
    }
}

/// The client, between its connection and its schedule.
struct Client<'a> {
    pipeline: &'a mut dyn Pipeline,
    worker: &'a mut dyn Ahead,
    schedule: Schedule<'a>,
    /// Intended starts of the statements that are not answered, oldest first.
    under_way: Starts,
    /// Those of statements that failed and are to be sent again.
    again: Starts,
    /// Since when it was free to send what is due.
    free_ns: u64,
    /// Whether something is due that it may not send yet.
    is_held_up: bool,
}

/// Intended starts, oldest first: at most [`MOST_UNDER_WAY`], as one that failed has its place free.
#[derive(Debug, Default)]
struct Starts {
    at: [i64; MOST_UNDER_WAY],
    first: usize,
    n: usize,
}

impl Starts {
    fn push(&mut self, begin_ns: i64) {
        self.at[(self.first + self.n) % MOST_UNDER_WAY] = begin_ns;
        self.n += 1;
    }

    fn first(&self) -> Option<i64> {
        (self.n > 0).then(|| self.at[self.first])
    }

    fn pop(&mut self) -> Option<i64> {
        let first = self.first()?;
        self.first = (self.first + 1) % MOST_UNDER_WAY;
        self.n -= 1;
        Some(first)
    }
}

/// What the client does next.
enum Next {
    /// Sends a statement, due since this time: a new one, or one that failed.
    Send { begin_ns: i64, is_again: bool },
    /// Waits for an answer, or for the next start, but no longer than this.
    Wait(Duration),
    /// The slice is over.
    End,
}

/// Runs one slice that ends at a time.
///
/// # Errors
/// The first error that is not retried, with the tally so far left in `tally`.
pub(super) fn run(
    (pipeline, worker): (&mut dyn Pipeline, &mut dyn Ahead),
    schedule: Schedule<'_>,
    frame: &Frame<'_>,
    tally: &mut Tally,
) -> Result<(), EventError> {
    let mut client = Client {
        pipeline,
        worker,
        schedule,
        under_way: Starts::default(),
        again: Starts::default(),
        free_ns: 0,
        is_held_up: false,
    };
    frame.watch.n_behind.fetch_add(1, Ordering::AcqRel);
    let mut result = client.until_end(frame, tally);
    // What is under way belongs to this slice, and the connection is left without an answer that is due:
    // the server goes on to the next statement even where one has failed for good.
    while client.under_way.n > 0 && !result.as_ref().is_err_and(is_lost) {
        let taken = client.take_answer(frame, tally);
        result = result.and(taken);
    }
    frame.watch.n_behind.fetch_sub(1, Ordering::AcqRel);
    // What failed after the end is due again: as many as there are of the last starts, which may have
    // been due somewhat later than those that failed.
    let Client { mut schedule, again, .. } = client;
    schedule.on_clock.n = schedule.on_clock.n.saturating_sub(again.n as u64);
    end_rate(&mut schedule, frame, result.is_ok(), tally);
    result
}

impl Client<'_> {
    /// Sends and reads until nothing more is to be sent.
    fn until_end(&mut self, frame: &Frame<'_>, tally: &mut Tally) -> Result<(), EventError> {
        while !frame.watch.stop.load(Ordering::Relaxed) {
            let now_ns = frame.clock.now_ns();
            match self.next(now_ns, frame) {
                Next::End => break,
                Next::Send { begin_ns, is_again } => {
                    self.send((begin_ns, is_again), frame, tally)?
                }
                Next::Wait(at_most) if self.under_way.n > 0 => {
                    if self.pipeline.await_answer(at_most)? {
                        self.take_answer(frame, tally)?;
                    }
                }
                Next::Wait(at_most) if self.is_held_up => self.worker.await_send(at_most),
                Next::Wait(at_most) => {
                    let at_most_ns = u64::try_from(at_most.as_nanos()).unwrap_or(SLEEP_NS);
                    frame.clock.wait_until(now_ns + at_most_ns);
                }
            }
        }
        Ok(())
    }

    /// Sends a statement, new or one that failed. It has started when the kernel has all of it.
    fn send(
        &mut self,
        (begin_ns, is_again): (i64, bool),
        frame: &Frame<'_>,
        tally: &mut Tally,
    ) -> Result<(), EventError> {
        let sent = self.worker.send(self.pipeline);
        let now_ns = frame.clock.now_ns();
        match sent {
            Ok(()) if is_again => {
                self.again.pop();
            }
            Ok(()) => {
                let free_ns = begin_ns.max(self.free_ns.cast_signed());
                tally.started(since(begin_ns, now_ns), since(free_ns, now_ns));
                self.schedule.on_clock.n += 1;
            }
            // Something that it asked the server before.
            Err(error) => return survived(error, now_ns, tally),
        }
        // What fell due meanwhile could not be sent before.
        self.free_ns = now_ns;
        self.under_way.push(begin_ns);
        Ok(())
    }

    fn next(&mut self, now_ns: u64, frame: &Frame<'_>) -> Next {
        let again = self.again.first();
        let begin_ns = again.unwrap_or_else(|| self.schedule.due_ns());
        let is_past_end = now_ns >= frame.deadline_ns;
        let left_ns = frame.deadline_ns.saturating_sub(now_ns).max(1);
        let wait = |ns: u64| Next::Wait(Duration::from_nanos(ns.min(left_ns).min(SLEEP_NS)));
        // A start that is on time is none too late for the slice.
        let is_too_late = is_past_end && (again.is_some() || since(begin_ns, now_ns) > LATE_NS);
        if is_too_late || (begin_ns >= frame.end_ns() && (is_past_end || self.under_way.n == 0)) {
            return Next::End;
        }
        if now_ns.cast_signed() < begin_ns {
            self.is_held_up = false;
            return wait(since(now_ns.cast_signed(), begin_ns.cast_unsigned()));
        }
        let has_room = self.under_way.n < MOST_UNDER_WAY;
        if has_room && self.worker.may_send() {
            if std::mem::take(&mut self.is_held_up) {
                self.free_ns = now_ns;
            }
            return Next::Send { begin_ns, is_again: again.is_some() };
        }
        self.is_held_up = true;
        match self.under_way.n {
            0 => wait(LOOK_EVERY_NS),
            // Nothing but an answer makes room.
            MOST_UNDER_WAY => wait(SLEEP_NS),
            _ => wait(LOOK_AT_PARTNER_NS),
        }
    }

    /// Reads one answer and counts it.
    fn take_answer(&mut self, frame: &Frame<'_>, tally: &mut Tally) -> Result<(), EventError> {
        let answer = self.worker.answer(self.pipeline);
        let now_ns = frame.clock.now_ns();
        let Some(begin_ns) = self.under_way.pop() else { return answer.map(drop) };
        match answer {
            Ok(outcome) => {
                tally.statement(now_ns, frame.operations, outcome.rows);
                tally.event(since(begin_ns, now_ns), now_ns);
                frame.watch.published.set(tally.n_queries);
                Ok(())
            }
            Err(error) => {
                survived(error, now_ns, tally)?;
                self.again.push(begin_ns);
                Ok(())
            }
        }
    }
}

/// Counts an error that is retried; any other is handed back.
#[cold]
fn survived(error: EventError, now_ns: u64, tally: &mut Tally) -> Result<(), EventError> {
    match error {
        EventError::Client(error) if error.class() == ErrorClass::Retry => {
            tally.error(now_ns, error.code());
            Ok(())
        }
        other => Err(other),
    }
}

/// Whether nothing more comes on the connection.
fn is_lost(error: &EventError) -> bool {
    matches!(error, EventError::Client(error) if error.class() == ErrorClass::Lost)
}

#[cfg(test)]
mod tests;
