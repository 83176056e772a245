//! Statements sent before the answers to earlier ones are there.

use std::time::Duration;

use crate::{Connection, Error, Outcome, Params, StatementId};

/// A connection on which several statements may be under way. The server runs them one after the other,
/// and answers come in the order of the statements.
///
/// PostgreSQL's protocol provides for it. MySQL's does not forbid it, and its servers read the next
/// command when they have answered the last one; drivers in wide use rely on that.
///
/// While answers are due, every other call that talks to the server is refused as [`Error::Usage`].
pub trait Pipeline: Connection {
    /// Sends a statement and leaves its answer to [`Pipeline::answer`].
    ///
    /// # Errors
    /// Parameters that do not fit, or a lost connection.
    fn send(&mut self, statement: StatementId, params: &Params) -> Result<(), Error>;

    /// The same for a statement as text.
    ///
    /// # Errors
    /// As [`Pipeline::send`].
    fn send_text(&mut self, sql: &[u8]) -> Result<(), Error>;

    /// Waits until the next answer begins to arrive, but no longer than `at_most`; says whether it does.
    ///
    /// # Errors
    /// When the socket cannot be waited for, and [`Error::Timeout`] when such calls have waited longer than
    /// [`Connection::set_timeout`] allows. That it was closed is for [`Pipeline::answer`] to find.
    fn await_answer(&mut self, at_most: Duration) -> Result<bool, Error>;

    /// Reads the answer to the oldest statement that has none, and waits for it.
    ///
    /// # Errors
    /// That statement's own, as [`Connection::execute`]; after one of the server's the others go on.
    /// [`Error::Usage`] where none is due.
    fn answer(&mut self) -> Result<Outcome, Error>;
}

/// The error of a call that would take the answer to another statement for its own.
#[cold]
pub(crate) fn answers_are_due(n: usize) -> Error {
    let detail = format!("{n} statements sent ahead are not answered yet");
    Error::Usage { sql: String::new(), detail }
}

/// The error of a call for an answer that nothing was sent for.
#[cold]
pub(crate) fn nothing_is_due() -> Error {
    let detail = "no statement sent ahead is unanswered".to_owned();
    Error::Usage { sql: String::new(), detail }
}
