//! PostgreSQL: one connection, blocking, used by one thread.
//!
//! Statements are prepared under names and executed through the unnamed portal with one write per
//! execution; results come as text and are skipped. There is no transaction state: BEGIN and COMMIT
//! are statements like any other.

mod channel;
mod login;
mod script;

use std::time::Duration;

use crate::pipeline::{answers_are_due, nothing_is_due};
use crate::wire::postgres::execute::numbered_places;
use crate::wire::postgres::rows::RowCursor;
use crate::wire::postgres::{Message, Statement, Violation, encode};
use crate::{
    Breaker, Connect, Connection, Endpoint, Error, ErrorClass, MAX_RESULT_BYTES, Outcome, Params,
    Pipeline, Protocol, ResultSet, Session, StatementId, StatementSpec,
};

use channel::Channel;

const EXECUTING: &str = "executing a statement";
const EXECUTING_TEXT: &str = "executing SQL text";

/// A connection to a PostgreSQL server, 9.6 or later.
///
/// After an error of class `Lost` the socket is shut down and every further call fails the same
/// way; after any other error the connection is good for the next statement. Whether a transaction
/// is still open then is as the server says: after an error inside one, roll it back.
#[derive(Debug)]
pub struct PostgresConnection {
    channel: Channel,
    statements: Vec<Place>,
    /// Messages that are made for each execution.
    scratch: Vec<u8>,
    /// Statements that were sent ahead and are not answered.
    n_due: usize,
    session: Session,
    /// Where in the last answer its rows are read.
    cursor: RowCursor,
}

/// A place of a statement, by whose position the server knows it.
#[derive(Debug)]
enum Place {
    /// Ready to be executed.
    Ready(Statement),
    /// Its parameters are not declared yet.
    Open(Box<str>),
    /// Forgotten.
    Free,
}

impl PostgresConnection {
    /// Refuses a call whose answer would be mixed up with one that is due.
    #[inline]
    fn none_due(&self) -> Result<(), Error> {
        if self.n_due == 0 { Ok(()) } else { Err(answers_are_due(self.n_due)) }
    }

    /// Counts one more answer that is due, or none where the stream is lost.
    #[inline]
    fn count_due(&mut self, sent: Result<(), Error>) -> Result<(), Error> {
        self.n_due = if sent.is_ok() { self.n_due + 1 } else { 0 };
        sent
    }
}

impl Connect for PostgresConnection {
    fn connect(endpoint: &Endpoint) -> Result<Self, Error> {
        let (channel, session) = login::login(endpoint)?;
        let mut connection = Self {
            channel,
            statements: Vec::new(),
            scratch: Vec::new(),
            n_due: 0,
            session,
            cursor: RowCursor::default(),
        };
        if let Some(sql) = &endpoint.on_login {
            connection.set_timeout(Some(endpoint.connect_timeout))?;
            connection.execute_text(sql.as_bytes())?;
            connection.set_timeout(None)?;
        }
        Ok(connection)
    }
}

impl Connection for PostgresConnection {
    fn prepare(&mut self, spec: &StatementSpec<'_>) -> Result<StatementId, Error> {
        self.none_due()?;
        let idx = self.statements.len();
        let statement = self.prepare_as(idx, spec)?;
        self.statements.push(Place::Ready(statement));
        Ok(id_of(idx))
    }

    #[inline]
    fn execute(&mut self, statement: StatementId, params: &Params) -> Result<Outcome, Error> {
        self.none_due()?;
        let Some(Place::Ready(statement)) = self.statements.get_mut(statement.0 as usize) else {
            return Err(unknown(statement));
        };
        self.cursor.restart();
        let message = statement.encode(params, &mut self.scratch)?;
        self.channel.exchange(message, EXECUTING)
    }

    fn execute_text(&mut self, sql: &[u8]) -> Result<Outcome, Error> {
        self.none_due()?;
        self.scratch.clear();
        encode::query(&mut self.scratch, sql).map_err(|violation| usage(sql, &violation))?;
        self.cursor.restart();
        self.channel.exchange(&self.scratch, EXECUTING_TEXT)
    }

    /// Of several statements in one text, the rows of the last one that returns any.
    fn query(&mut self, sql: &str) -> Result<ResultSet, Error> {
        const DOING: &str = "reading a result";
        self.none_due()?;
        self.scratch.clear();
        encode::query(&mut self.scratch, sql.as_bytes())
            .map_err(|violation| usage(sql.as_bytes(), &violation))?;
        self.channel.send(&self.scratch, DOING)?;
        let mut result = ResultSet::default();
        let mut failed = None;
        let mut held_bytes = 0;
        loop {
            let message = match self.channel.receive(DOING) {
                Ok(message) => message,
                Err(error) => return Err(channel::explain(error, failed)),
            };
            match message {
                Message::RowDescription(columns) => {
                    result.columns = columns;
                    result.rows.clear();
                }
                Message::DataRow(row) => {
                    held_bytes += bytes_of(&row);
                    if held_bytes > MAX_RESULT_BYTES {
                        let detail = format!("a result of more than {MAX_RESULT_BYTES} bytes");
                        return Err(self.channel.violated(DOING, &detail));
                    }
                    result.rows.push(row);
                }
                Message::CommandComplete(affected) => result.affected += affected,
                Message::ErrorResponse(error) => failed = failed.or(Some(error)),
                Message::ReadyForQuery => break,
                Message::CopyIn => {
                    return Err(self.channel.violated(DOING, "the server waits for COPY data"));
                }
                _ => {}
            }
        }
        failed.map_or(Ok(result), |error| Err(error.into()))
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
        self.channel.set_timeout(timeout)
    }

    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        Some(self)
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        self.channel.breaker()
    }
}

impl PostgresConnection {
    /// Prepares a statement on the server under the name that belongs to its place.
    fn prepare_as(&mut self, idx: usize, spec: &StatementSpec<'_>) -> Result<Statement, Error> {
        let name = name_of(idx);
        let statement = Statement::new(&name, spec)?;
        if spec.protocol == Protocol::Prepared {
            self.scratch.clear();
            encode::parse(&mut self.scratch, &name, &numbered_places(spec.sql), spec.params)
                .map_err(|violation| usage(spec.sql.as_bytes(), &violation))?;
            encode::sync(&mut self.scratch);
            self.channel.exchange(&self.scratch, "preparing a statement")?;
        }
        Ok(statement)
    }
}

fn name_of(idx: usize) -> String {
    format!("s{idx}")
}

fn id_of(idx: usize) -> StatementId {
    StatementId(u32::try_from(idx).unwrap_or(u32::MAX))
}

impl Pipeline for PostgresConnection {
    fn send(&mut self, statement: StatementId, params: &Params) -> Result<(), Error> {
        let Some(Place::Ready(statement)) = self.statements.get_mut(statement.0 as usize) else {
            return Err(unknown(statement));
        };
        let message = statement.encode(params, &mut self.scratch)?;
        let sent = self.channel.send(message, EXECUTING);
        self.count_due(sent)
    }

    fn send_text(&mut self, sql: &[u8]) -> Result<(), Error> {
        self.scratch.clear();
        encode::query(&mut self.scratch, sql).map_err(|violation| usage(sql, &violation))?;
        let sent = self.channel.send(&self.scratch, EXECUTING_TEXT);
        self.count_due(sent)
    }

    fn await_answer(&mut self, at_most: Duration) -> Result<bool, Error> {
        self.channel.await_answer(at_most)
    }

    fn answer(&mut self) -> Result<Outcome, Error> {
        self.n_due = self.n_due.checked_sub(1).ok_or_else(nothing_is_due)?;
        let answer = self.channel.answer(EXECUTING);
        if answer.as_ref().is_err_and(|error| error.class() == ErrorClass::Lost) {
            // Nothing more comes, and every further call fails the same way.
            self.n_due = 0;
        }
        answer
    }
}

impl Drop for PostgresConnection {
    fn drop(&mut self) {
        self.scratch.clear();
        encode::terminate(&mut self.scratch);
        // The server notices the closed socket too; this only spares its log a line.
        let _ = self.channel.send(&self.scratch, "saying goodbye");
    }
}

#[cold]
/// What a row takes in memory, about, in bytes.
fn bytes_of(row: &[Option<String>]) -> usize {
    let value =
        |value: &Option<String>| value.as_ref().map_or(0, String::len) + ResultSet::VALUE_BYTES;
    row.iter().map(value).sum::<usize>() + ResultSet::ROW_BYTES
}

fn usage(sql: &[u8], violation: &Violation) -> Error {
    Error::Usage { sql: shortened(sql), detail: violation.to_string() }
}

#[cold]
fn unknown(statement: StatementId) -> Error {
    let detail = format!("statement {} was not prepared on this connection", statement.0);
    Error::Usage { sql: String::new(), detail }
}

/// The start of a statement, for messages; bulk inserts are long.
fn shortened(sql: &[u8]) -> String {
    String::from_utf8_lossy(sql).chars().take(200).collect()
}

#[cfg(test)]
mod tests;
