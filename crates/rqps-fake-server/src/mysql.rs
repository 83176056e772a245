//! MySQL's protocol, the server's side: login without a question, text and prepared statements.

mod explain;
pub(crate) mod questions;
mod wire;

use std::io;

use crate::answer::{Answer, Failure};
use crate::server::{Server, Session, Trouble};
use crate::statement::{Statement, Value};
use crate::stream::Stream;
use wire::{Form, Link};

/// Commands of a client.
const QUIT: u8 = 0x01;
const INIT_DB: u8 = 0x02;
const QUERY: u8 = 0x03;
const PING: u8 = 0x0E;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const CLOSE: u8 = 0x19;

/// Types of parameters.
const TINY: u8 = 0x01;
const SHORT: u8 = 0x02;
const LONG: u8 = 0x03;
const NULL: u8 = 0x06;
const LONGLONG: u8 = 0x08;

/// A statement that was prepared.
struct Prepared {
    sql: String,
    statement: Statement,
    n_params: usize,
    /// Types of its parameters, which come with the first execution.
    types: Vec<u8>,
}

/// Serves a connection until its client or a fault ends it.
pub(crate) fn serve(server: &Server, session: &mut Session, stream: impl Stream) -> io::Result<()> {
    let mut link = Link::new(stream);
    if server.faults.is_crowded() {
        let text = "Too many connections".to_owned();
        link.failure(&Failure { sqlstate: "53300", errno: 1040, mysql_state: "08004", text })?;
        return link.flush();
    }
    link.greet(session.id, &questions::greeted_version(server))?;
    link.read()?;
    link.done(0, false)?;
    link.flush()?;
    let mut prepared: Vec<Option<Prepared>> = Vec::new();
    loop {
        let message = link.read()?;
        let (command, body) = message.split_first().ok_or(io::ErrorKind::UnexpectedEof)?;
        let answer = match *command {
            QUIT => return Ok(()),
            PING | INIT_DB => Ok(Answer::Done("", 0)),
            QUERY => server.ask(session, &String::from_utf8_lossy(body), questions::answer),
            PREPARE => {
                prepare(server, &mut link, &mut prepared, &String::from_utf8_lossy(body))?;
                continue;
            }
            EXECUTE => execute(server, session, &mut prepared, body),
            CLOSE => {
                if let Some(place) = number(body).and_then(|id| prepared.get_mut(id)) {
                    *place = None;
                }
                continue;
            }
            other => Err(Failure::unknown(&format!("command {other:#04x}")).into()),
        };
        let is_open = Server::in_transaction(session);
        match answer {
            Ok(Answer::Done(_, n)) => link.done(n, is_open)?,
            Ok(Answer::Rows(rows)) => {
                let form = if *command == EXECUTE { Form::Prepared } else { Form::Text };
                link.rows(&rows, form, is_open)?;
            }
            Err(Trouble::Failure(failure)) => link.failure(&failure)?,
            Err(Trouble::Ended) => return Ok(()),
        }
        link.flush()?;
    }
}

/// The number of a statement, at the start of a message.
fn number(body: &[u8]) -> Option<usize> {
    let bytes = body.first_chunk::<4>()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

fn prepare<S: Stream>(
    server: &Server,
    link: &mut Link<S>,
    prepared: &mut Vec<Option<Prepared>>,
    sql: &str,
) -> io::Result<()> {
    match server.prepare(sql) {
        Ok(statement) => {
            let n_params = Statement::n_params(sql);
            link.prepared(prepared.len(), &statement.columns(), n_params)?;
            let sql = sql.to_owned();
            prepared.push(Some(Prepared { sql, statement, n_params, types: Vec::new() }));
        }
        Err(failure) => {
            server.log.error(&failure.text);
            link.failure(&failure)?;
        }
    }
    link.flush()
}

fn execute(
    server: &Server,
    session: &mut Session,
    prepared: &mut [Option<Prepared>],
    body: &[u8],
) -> Result<Answer, Trouble> {
    if server.loses_statements() {
        return Err(Failure::lost_statement().into());
    }
    let place = number(body).and_then(|id| prepared.get_mut(id));
    let Some(it) = place.and_then(Option::as_mut) else {
        return Err(Failure::unknown("a statement that was not prepared").into());
    };
    // After the number: flags and iterations.
    let params = params(it, body.get(9..).unwrap_or_default());
    let params = params.ok_or_else(|| Failure::value("parameters of known types"))?;
    server.execute(session, &it.sql, &it.statement, &params)
}

/// The values of a statement's parameters; `None` where the message is not as it should be.
fn params(prepared: &mut Prepared, body: &[u8]) -> Option<Vec<Value>> {
    let n = prepared.n_params;
    if n == 0 {
        return Some(Vec::new());
    }
    let (nulls, rest) = body.split_at_checked(n.div_ceil(8))?;
    let (has_types, mut rest) = rest.split_first()?;
    if *has_types == 1 {
        let (types, after) = rest.split_at_checked(2 * n)?;
        prepared.types = types.iter().step_by(2).copied().collect();
        rest = after;
    }
    let mut values = Vec::with_capacity(n);
    for (idx, kind) in prepared.types.iter().enumerate() {
        if nulls.get(idx / 8)? & (1 << (idx % 8)) != 0 {
            values.push(Value::Null);
            continue;
        }
        let (value, after) = wire::value(*kind, rest)?;
        values.push(value);
        rest = after;
    }
    Some(values)
}
