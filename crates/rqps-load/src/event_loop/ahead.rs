//! HOT PATH: the loop of a client at a set rate whose statements need not wait for the answers to those
//! before. Budget per statement: a few clock reads and one or two waits for the socket, no allocation.
//!
//! A statement leaves when it is due, so that a server that is late with one answer does not delay the
//! next start; its response time, from the intended start, holds what it waited for in the server.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rqps_client::{ErrorClass, Pipeline};
use rqps_workload::{Ahead, EventError};

use super::{LOOK_EVERY_NS, SLEEP_NS, Schedule, Watch, miss_rest, since, wait_until};
use crate::clock::Clock;
use crate::tally::LATE_NS;
use crate::{Pace, Tally};

/// Most statements of a client under way at once: a server that is further behind is not handed more.
const MOST_UNDER_WAY: usize = 8;

/// Longest wait for an answer of a client that others hold up, before it looks at them again.
const LOOK_AT_OTHERS_NS: u64 = 1_000_000;

/// What the loop needs to know of its slice.
#[derive(Debug)]
pub(super) struct Slice<'a> {
    /// Operations in one statement.
    pub(super) operations: u64,
    /// Its end on the clock.
    pub(super) deadline_ns: u64,
    pub(super) pace: Pace,
    pub(super) clock: Clock,
    pub(super) watch: &'a Watch<'a>,
}

impl Slice<'_> {
    fn end_ns(&self) -> i64 {
        self.deadline_ns.min(i64::MAX as u64).cast_signed()
    }
}

/// The client, between its connection and its schedule.
struct Client<'a> {
    pipeline: &'a mut dyn Pipeline,
    worker: &'a mut dyn Ahead,
    schedule: Schedule<'a>,
    /// Intended starts of the statements that are not answered, oldest first.
    under_way: VecDeque<i64>,
    /// Those of statements that failed and are to be sent again.
    again: VecDeque<i64>,
    /// Since when it was free to send what is due.
    free_ns: u64,
    /// Whether something is due that it may not send yet.
    is_held_up: bool,
}

/// What the client does next.
enum Next {
    /// Sends a new statement, due since this time.
    Send(i64),
    /// Sends one that failed, due since this time.
    SendAgain(i64),
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
    slice: &Slice<'_>,
    tally: &mut Tally,
) -> Result<(), EventError> {
    let mut client = Client {
        pipeline,
        worker,
        schedule,
        under_way: VecDeque::with_capacity(MOST_UNDER_WAY),
        again: VecDeque::with_capacity(MOST_UNDER_WAY),
        free_ns: 0,
        is_held_up: false,
    };
    let mut result = client.until_end(slice, tally);
    // What is under way belongs to this slice, and the connection is left without an answer that is due:
    // the server goes on to the next statement even where one has failed for good.
    while !client.under_way.is_empty() && !result.as_ref().is_err_and(is_lost) {
        let taken = client.take_answer(slice, tally);
        result = result.and(taken);
    }
    // These are due again.
    let Client { mut schedule, again, .. } = client;
    schedule.on_clock.n = schedule.on_clock.n.saturating_sub(again.len() as u64);
    if result.is_ok() {
        wait_until(slice.deadline_ns, slice.clock, slice.watch);
    }
    if !slice.pace.leaves_to_next() {
        miss_rest(&mut schedule, slice.end_ns(), slice.clock.now_ns(), tally);
    }
    result
}

impl Client<'_> {
    /// Sends and reads until nothing more is to be sent.
    fn until_end(&mut self, slice: &Slice<'_>, tally: &mut Tally) -> Result<(), EventError> {
        while !slice.watch.stop.load(Ordering::Relaxed) {
            let now_ns = slice.clock.now_ns();
            match self.next(now_ns, slice) {
                Next::End => break,
                Next::Send(begin_ns) => {
                    let free_ns = begin_ns.max(self.free_ns.cast_signed());
                    tally.started(since(begin_ns, now_ns), since(free_ns, now_ns));
                    self.schedule.on_clock.n += 1;
                    self.worker.send(self.pipeline)?;
                    self.under_way.push_back(begin_ns);
                }
                Next::SendAgain(begin_ns) => {
                    self.worker.send(self.pipeline)?;
                    self.again.pop_front();
                    self.under_way.push_back(begin_ns);
                }
                Next::Wait(at_most) if !self.under_way.is_empty() => {
                    if self.pipeline.await_answer(at_most)? {
                        self.take_answer(slice, tally)?;
                    }
                }
                Next::Wait(at_most) if self.is_held_up => self.worker.await_send(at_most),
                Next::Wait(at_most) => {
                    let at_most_ns = u64::try_from(at_most.as_nanos()).unwrap_or(SLEEP_NS);
                    slice.clock.wait_until(now_ns + at_most_ns);
                }
            }
        }
        Ok(())
    }

    fn next(&mut self, now_ns: u64, slice: &Slice<'_>) -> Next {
        let again = self.again.front().copied();
        let begin_ns = again.unwrap_or_else(|| self.schedule.due_ns());
        let late_ns = since(begin_ns, now_ns);
        // A start that is on time is none too late for the slice.
        let is_too_late = now_ns >= slice.deadline_ns && (again.is_some() || late_ns > LATE_NS);
        if begin_ns >= slice.end_ns() || is_too_late {
            return Next::End;
        }
        if now_ns.cast_signed() < begin_ns {
            self.is_held_up = false;
            let left_ns = since(now_ns.cast_signed(), begin_ns.cast_unsigned());
            return Next::Wait(Duration::from_nanos(left_ns.min(SLEEP_NS)));
        }
        if self.under_way.len() < MOST_UNDER_WAY && self.worker.may_send() {
            if std::mem::take(&mut self.is_held_up) {
                self.free_ns = now_ns;
            }
            return again.map_or(Next::Send(begin_ns), Next::SendAgain);
        }
        self.is_held_up = true;
        let look_ns = if self.under_way.is_empty() { LOOK_EVERY_NS } else { LOOK_AT_OTHERS_NS };
        let left_ns = slice.deadline_ns.saturating_sub(now_ns).max(1);
        Next::Wait(Duration::from_nanos(look_ns.min(left_ns)))
    }

    /// Reads one answer and counts it.
    fn take_answer(&mut self, slice: &Slice<'_>, tally: &mut Tally) -> Result<(), EventError> {
        let answer = self.worker.answer(self.pipeline);
        let now_ns = slice.clock.now_ns();
        let Some(begin_ns) = self.under_way.pop_front() else { return answer.map(drop) };
        match answer {
            Ok(outcome) => {
                tally.statement(now_ns, slice.operations, outcome.rows);
                tally.event(since(begin_ns, now_ns), now_ns);
                slice.watch.published.set(tally.n_queries);
                Ok(())
            }
            Err(EventError::Client(error)) if error.class() == ErrorClass::Retry => {
                tally.error(now_ns, error.code());
                self.again.push_back(begin_ns);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }
}

/// Whether nothing more comes on the connection.
fn is_lost(error: &EventError) -> bool {
    matches!(error, EventError::Client(error) if error.class() == ErrorClass::Lost)
}

#[cfg(test)]
mod tests;
