//! HOT PATH: connections to MySQL and MariaDB. Budget of one execution: one write, as many reads as
//! the answer needs, no allocation after warm-up.
//!
//! What bytes mean is in `wire::mysql`; here they are sent and received. Opening a connection is in
//! `login`, waiting for answers in `link`. Not done on purpose: compression, cursors, asynchronous
//! IO, statements with binary parameters of other types than a workload needs.

mod link;
mod login;
mod script;

use std::collections::VecDeque;
use std::time::Duration;

use crate::pipeline::{answers_are_due, nothing_is_due};
use crate::wire::mysql::commands::{self, Prepared};
use crate::wire::mysql::execute::Execute;
use crate::wire::mysql::literal::TextStatement;
use crate::wire::mysql::result_set::ResultReader;
use crate::wire::mysql::rows::RowCursor;
use crate::wire::mysql::{reply, status};
use crate::{
    Breaker, Connect, Connection, Endpoint, Error, Outcome, Params, Pipeline, Protocol, ResultSet,
    Session, StatementId, StatementSpec,
};
use link::Link;

/// A connection to a MySQL or MariaDB server.
#[derive(Debug)]
pub struct MysqlConnection {
    link: Link,
    statements: Vec<Statement>,
    /// The message under way, where it is no prepared statement's own.
    message: Vec<u8>,
    /// Statements that were sent ahead and are not answered.
    due: VecDeque<Due>,
    session: Session,
    /// Where in the last answer its rows are read.
    cursor: RowCursor,
}

/// An answer that is due.
#[derive(Debug)]
struct Due {
    /// The sequence number with which it begins.
    seq: u8,
    /// The statement, where it was made known.
    statement: Option<StatementId>,
}

/// A statement that a workload made known.
#[derive(Debug)]
struct Statement {
    sql: Box<str>,
    travel: Travel,
}

/// How a statement travels, with what is prepared for it.
#[derive(Debug)]
enum Travel {
    Prepared(Execute),
    Text(TextStatement),
    /// Prepared on the server, its parameters not declared yet.
    Open(Prepared),
    /// To travel as text, its parameters not declared yet.
    OpenText,
    /// Forgotten: its place is free.
    Nothing,
}

/// Statements sent ahead for which there is room without allocating.
const USUALLY_DUE: usize = 16;

const EXECUTING: &str = "executing a statement";
const PREPARING: &str = "preparing a statement";
const QUERYING: &str = "running a query";

impl MysqlConnection {
    /// Runs the message in `self.message`, whose answer begins with `seq`.
    #[inline(never)]
    fn run(&mut self, seq: u8) -> Result<Outcome, Error> {
        self.cursor.restart(false, self.link.deprecate_eof());
        self.link.run(&self.message, seq, EXECUTING)
    }

    /// Executes a statement that is not prepared on the server: out of the way of those that are, which are
    /// many more and less work.
    #[inline(never)]
    fn execute_as_text(&mut self, id: StatementId, params: &Params) -> Result<Outcome, Error> {
        let Some(Statement { sql, travel }) = self.statements.get_mut(id.0 as usize) else {
            return Err(unknown(id));
        };
        let Travel::Text(text) = travel else { return Err(undeclared(sql)) };
        let backslash = self.link.status() & status::NO_BACKSLASH_ESCAPES == 0;
        let seq = text
            .encode(&mut self.message, params, backslash)
            .map_err(|detail| usage(sql, detail))?;
        self.run(seq)
    }

    /// Refuses a call whose answer would be mixed up with one that is due.
    #[inline]
    fn none_due(&self) -> Result<(), Error> {
        // What is due on a broken stream never comes: the call itself says that it is lost.
        match self.due.len() {
            0 => Ok(()),
            _ if self.link.is_broken() => Ok(()),
            n => Err(answers_are_due(n)),
        }
    }

    fn prepare_on_server(&mut self, spec: &StatementSpec<'_>) -> Result<Execute, Error> {
        let prepared = self.ask_to_prepare(spec.sql)?;
        if usize::from(prepared.n_params) != spec.params.len() {
            self.close_on_server(prepared.statement)?;
            let (has, declares) = (prepared.n_params, spec.params.len());
            let detail = format!("it has {has} parameters but declares {declares}");
            return Err(usage(spec.sql, detail));
        }
        Ok(Execute::new(prepared.statement, spec.params))
    }

    fn close_on_server(&mut self, statement: u32) -> Result<(), Error> {
        commands::close(&mut self.message, statement);
        self.link.tell(&self.message, PREPARING)
    }

    fn ask_to_prepare(&mut self, sql: &str) -> Result<Prepared, Error> {
        let seq = commands::prepare(&mut self.message, sql);
        self.link.ask(&self.message, seq, PREPARING)?;
        let first = self.link.message(PREPARING)?;
        if first.first() == Some(&0xFF) {
            return Err(self.link.judge(reply::parse_error(&first), PREPARING)?.into());
        }
        let prepared = self.link.judge(Prepared::parse(&first), PREPARING)?;
        for _ in 0..prepared.n_definitions(self.link.deprecate_eof()) {
            self.link.message(PREPARING)?;
        }
        self.link.finish(PREPARING)?;
        Ok(prepared)
    }

    /// Adds a statement, in the place of a forgotten one where there is one.
    fn add(&mut self, sql: &str, travel: Travel) -> Result<StatementId, Error> {
        let free = self.statements.iter().position(|it| matches!(it.travel, Travel::Nothing));
        let idx = free.unwrap_or(self.statements.len());
        let id = u32::try_from(idx)
            .map_err(|_| usage(sql, "too many statements on one connection".to_owned()))?;
        let statement = Statement { sql: sql.into(), travel };
        match self.statements.get_mut(idx) {
            Some(place) => *place = statement,
            None => self.statements.push(statement),
        }
        Ok(StatementId(id))
    }
}

impl Connect for MysqlConnection {
    fn connect(endpoint: &Endpoint) -> Result<Self, Error> {
        let (link, session) = login::open(endpoint)?;
        let mut connection = Self {
            link,
            statements: Vec::new(),
            message: Vec::new(),
            due: VecDeque::with_capacity(USUALLY_DUE),
            session,
            cursor: RowCursor::default(),
        };
        if connection.link.status() & status::AUTOCOMMIT == 0 {
            connection.execute_text(b"SET autocommit = 1")?;
        }
        // The connect timeout held until here.
        connection.set_timeout(None)?;
        Ok(connection)
    }
}

impl Connection for MysqlConnection {
    fn prepare(&mut self, spec: &StatementSpec<'_>) -> Result<StatementId, Error> {
        self.none_due()?;
        let travel = match spec.protocol {
            Protocol::Prepared => Travel::Prepared(self.prepare_on_server(spec)?),
            Protocol::Text => Travel::Text(
                TextStatement::new(spec.sql, spec.params)
                    .map_err(|detail| usage(spec.sql, detail))?,
            ),
        };
        self.add(spec.sql, travel)
    }

    // A return after the wait for an answer is one that the CPU mispredicts, as others ran meanwhile.
    #[expect(clippy::inline_always, reason = "every return after a wait costs tens of nanoseconds")]
    #[inline(always)]
    fn execute(&mut self, statement: StatementId, params: &Params) -> Result<Outcome, Error> {
        self.none_due()?;
        let Some(Statement { sql, travel }) = self.statements.get_mut(statement.0 as usize) else {
            return Err(unknown(statement));
        };
        let Travel::Prepared(execute) = travel else {
            return self.execute_as_text(statement, params);
        };
        let (message, seq) = execute.encode(params).map_err(|detail| usage(sql, detail))?;
        self.cursor.restart(true, self.link.deprecate_eof());
        let outcome = self.link.run(message, seq, EXECUTING)?;
        execute.set_bound();
        Ok(outcome)
    }

    #[inline]
    fn execute_text(&mut self, sql: &[u8]) -> Result<Outcome, Error> {
        self.none_due()?;
        let seq = commands::query(&mut self.message, sql);
        self.run(seq)
    }

    fn query(&mut self, sql: &str) -> Result<ResultSet, Error> {
        self.none_due()?;
        let seq = commands::query(&mut self.message, sql.as_bytes());
        self.link.ask(&self.message, seq, QUERYING)?;
        let mut reader = ResultReader::new(self.link.deprecate_eof());
        loop {
            let message = self.link.message(QUERYING)?;
            if self.link.judge(reader.push(&message), QUERYING)?? {
                break;
            }
        }
        self.link.finish(QUERYING)?;
        let (result, status) = reader.into_result();
        self.link.set_status(status);
        Ok(result)
    }

    fn session(&self) -> &Session {
        &self.session
    }

    fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
        self.link.set_timeout(timeout)
    }

    fn pipeline(&mut self) -> Option<&mut dyn Pipeline> {
        Some(self)
    }

    fn breaker(&self) -> Result<Breaker, Error> {
        self.link.breaker()
    }
}

impl Pipeline for MysqlConnection {
    fn send(&mut self, statement: StatementId, params: &Params) -> Result<(), Error> {
        let Some(Statement { sql, travel }) = self.statements.get_mut(statement.0 as usize) else {
            return Err(unknown(statement));
        };
        let seq = match travel {
            Travel::Prepared(execute) => {
                let (message, seq) = execute.encode(params).map_err(|detail| usage(sql, detail))?;
                self.link.send_ahead(message, EXECUTING)?;
                seq
            }
            Travel::Text(text) => {
                let backslash = self.link.status() & status::NO_BACKSLASH_ESCAPES == 0;
                let seq = text
                    .encode(&mut self.message, params, backslash)
                    .map_err(|detail| usage(sql, detail))?;
                self.link.send_ahead(&self.message, EXECUTING)?;
                seq
            }
            Travel::Open(_) | Travel::OpenText | Travel::Nothing => return Err(undeclared(sql)),
        };
        self.due.push_back(Due { seq, statement: Some(statement) });
        Ok(())
    }

    fn send_text(&mut self, sql: &[u8]) -> Result<(), Error> {
        let seq = commands::query(&mut self.message, sql);
        self.link.send_ahead(&self.message, EXECUTING)?;
        self.due.push_back(Due { seq, statement: None });
        Ok(())
    }

    fn await_answer(&mut self, at_most: Duration) -> Result<bool, Error> {
        self.link.await_answer(at_most)
    }

    fn answer(&mut self) -> Result<Outcome, Error> {
        let Due { seq, statement } = self.due.pop_front().ok_or_else(nothing_is_due)?;
        let outcome = self.link.answer(seq, EXECUTING)?;
        if let Some(StatementId(idx)) = statement
            && let Some(Statement { travel: Travel::Prepared(execute), .. }) =
                self.statements.get_mut(idx as usize)
        {
            execute.set_bound();
        }
        Ok(outcome)
    }
}

impl Drop for MysqlConnection {
    fn drop(&mut self) {
        commands::quit(&mut self.message);
        // The server closes either way; it only counts an aborted client when it is not told.
        let _ = self.link.tell(&self.message, "closing the connection");
    }
}

#[cold]
fn unknown(statement: StatementId) -> Error {
    usage("", format!("{statement:?} was not prepared on this connection"))
}

#[cold]
fn undeclared(sql: &str) -> Error {
    usage(sql, "it has undeclared parameters".to_owned())
}

#[cold]
fn usage(sql: &str, detail: String) -> Error {
    Error::Usage { sql: sql.to_owned(), detail }
}

#[cfg(test)]
mod tests;
