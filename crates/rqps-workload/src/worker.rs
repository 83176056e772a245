//! HOT PATH: what a client thread runs, event by event. The loop that calls it is `rqps-load`'s.

use std::time::Duration;

use rqps_client::{Connection, Outcome, Pipeline};

/// Why an event did not finish.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// The client's error, with its class.
    #[error(transparent)]
    Client(#[from] rqps_client::Error),
    /// A statement returned another number of rows than an unchanged table gives.
    #[error("statement {statement:?} returned {got} rows, expected {expected}")]
    WrongRows {
        /// The statement's SQL.
        statement: String,
        /// What was expected: `1`, `1 to 100`.
        expected: String,
        /// The number of rows returned.
        got: u64,
    },
}

/// The state of one client thread of one workload on one connection.
pub trait Worker<C: Connection>: Send {
    /// Runs one event: its statements in order, calling `answered` after each one with what it did.
    ///
    /// # Errors
    /// The first error ends the event. On a [`rqps_client::ErrorClass::Retry`] the caller calls
    /// [`Worker::roll_back`], counts it, and runs another event.
    fn event(
        &mut self,
        connection: &mut C,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError>;

    /// Whether the next event may begin now. When it may not, the caller calls
    /// [`Worker::await_ready`] and asks again.
    #[inline]
    fn is_ready(&self) -> bool {
        true
    }

    /// Waits until the next event may begin, but no longer than `at_most`: the caller looks at the
    /// clock and at whether it is to stop.
    fn await_ready(&self, at_most: Duration) {
        let _ = at_most;
    }

    /// Asks the server what the next event needs to know, where that is due; `true` where it asked. The time that it
    /// takes belongs to no event: of events as fast as they go, the next one begins after it.
    ///
    /// # Errors
    /// As [`Worker::event`].
    #[inline]
    fn ask(&mut self, connection: &mut C) -> Result<bool, EventError> {
        let _ = connection;
        Ok(false)
    }

    /// This worker where its events can be sent before earlier ones are answered; `None` where they
    /// cannot.
    fn ahead(&mut self) -> Option<&mut dyn Ahead> {
        None
    }

    /// Ends the open transaction after a failed event.
    ///
    /// # Errors
    /// When the server refuses, or the connection is lost.
    fn roll_back(&mut self, connection: &mut C) -> Result<(), EventError>;

    /// Restarts the random stream: the same seed gives the same events again.
    fn reseed(&mut self, seed: u64);

    /// Operations in a statement of the next event, as the step's rate counts them: 1 for queries; for
    /// the scan, the rows of the table.
    fn operations_per_statement(&self) -> u64;
}

/// A worker each of whose events is one statement outside any transaction, which need not wait for the
/// answers to those before.
pub trait Ahead {
    /// Whether the next event may be sent now.
    fn may_send(&self) -> bool;

    /// Waits until it may, but no longer than `at_most`.
    fn await_send(&self, at_most: Duration);

    /// Sends the next event: the oldest one of those that failed and are to be tried again, otherwise a
    /// new one.
    ///
    /// # Errors
    /// When the connection is lost, or the statement cannot be sent; then nothing was. After a
    /// [`rqps_client::ErrorClass::Retry`], of something that it had to ask the server before, the caller
    /// counts it and tries again.
    fn send(&mut self, pipeline: &mut dyn Pipeline) -> Result<(), EventError>;

    /// Reads the answer to the oldest event that has none.
    ///
    /// # Errors
    /// That event's error. After a [`rqps_client::ErrorClass::Retry`] the caller counts it and sends
    /// once more; nothing is to be rolled back.
    fn answer(&mut self, pipeline: &mut dyn Pipeline) -> Result<Outcome, EventError>;
}
