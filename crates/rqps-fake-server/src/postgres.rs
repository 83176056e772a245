//! PostgreSQL's protocol, the server's side: login by a password that is not looked at, text and prepared
//! statements.

mod explain;
pub(crate) mod questions;
mod wire;

use std::collections::BTreeMap;
use std::io;

use crate::answer::{Answer, Failure};
use crate::server::{Server, Session, Trouble};
use crate::statement::{Statement, Value};
use crate::stream::Stream;
use wire::{Link, Reader};

/// A statement that was prepared, by name.
struct Prepared {
    sql: String,
    statement: Statement,
}

/// A statement with its values, to be executed next.
struct Portal {
    name: String,
    params: Vec<Value>,
}

/// What a connection has prepared.
#[derive(Default)]
struct Place {
    prepared: BTreeMap<String, Prepared>,
    portal: Option<Portal>,
    /// Whether messages are passed over until the next Sync: one before failed.
    is_skipping: bool,
}

/// Serves a connection until its client or a fault ends it.
pub(crate) fn serve(server: &Server, session: &mut Session, stream: impl Stream) -> io::Result<()> {
    let mut link = Link::new(stream);
    if !link.login()? {
        return Ok(());
    }
    if server.faults.is_crowded() {
        let text = "sorry, too many clients already".to_owned();
        link.failure(&Failure { sqlstate: "53300", errno: 1040, mysql_state: "08004", text });
        return link.flush();
    }
    link.welcome(session.id, &server.version);
    link.flush()?;
    let mut place = Place::default();
    loop {
        let (kind, body) = link.read()?;
        match kind {
            b'X' => return Ok(()),
            b'S' => {
                place.is_skipping = false;
                link.ready(Server::in_transaction(session));
                link.flush()?;
            }
            b'H' => link.flush()?,
            _ if place.is_skipping => {}
            b'Q' => {
                let sql = Reader::new(&body).string();
                let answer =
                    sql.map_or_else(no_sense, |sql| server.ask(session, &sql, questions::answer));
                if !tell(&mut link, answer, true) {
                    return Ok(());
                }
                link.ready(Server::in_transaction(session));
                link.flush()?;
            }
            _ => {
                let message = Message { kind, body: &body };
                let done = extended(server, session, &mut link, &mut place, message);
                match done {
                    Ok(()) => {}
                    Err(Trouble::Failure(failure)) => {
                        place.is_skipping = true;
                        link.failure(&failure);
                    }
                    Err(Trouble::Ended) => return Ok(()),
                }
            }
        }
    }
}

fn no_sense<T>() -> Result<T, Trouble> {
    Err(Failure::value("a message that makes sense").into())
}

/// Writes an answer; false where the connection is to be closed.
fn tell<S: Stream>(link: &mut Link<S>, answer: Result<Answer, Trouble>, is_text: bool) -> bool {
    match answer {
        Ok(Answer::Done(name, n)) => link.done(name, n),
        Ok(Answer::Rows(rows)) => {
            if is_text {
                link.describe(&rows.columns);
            }
            link.rows(&rows);
        }
        Err(Trouble::Failure(failure)) => link.failure(&failure),
        Err(Trouble::Ended) => return false,
    }
    true
}

/// A message of the client.
#[derive(Clone, Copy)]
struct Message<'a> {
    kind: u8,
    body: &'a [u8],
}

/// One message of those that prepare and execute.
fn extended<S: Stream>(
    server: &Server,
    session: &mut Session,
    link: &mut Link<S>,
    place: &mut Place,
    message: Message<'_>,
) -> Result<(), Trouble> {
    let mut reader = Reader::new(message.body);
    match message.kind {
        b'P' => {
            let both = reader.string().zip(reader.string());
            let Some((name, sql)) = both else { return no_sense() };
            let statement = server.prepare(&sql).inspect_err(|f| server.log.error(&f.text))?;
            session.prepared.insert(name.clone(), sql.clone());
            place.prepared.insert(name, Prepared { sql, statement });
            link.bare(b'1');
        }
        b'B' => {
            if server.loses_statements() {
                return Err(Failure::lost_statement().into());
            }
            let Some(portal) = bind(&mut reader) else { return no_sense() };
            place.portal = Some(portal);
            link.bare(b'2');
        }
        b'D' => {
            reader.byte();
            let name = reader.string().unwrap_or_default();
            let prepared = place.prepared.get(&name).or_else(|| {
                place.portal.as_ref().and_then(|portal| place.prepared.get(&portal.name))
            });
            let Some(prepared) = prepared else { return no_sense() };
            let columns = prepared.statement.columns();
            if columns.is_empty() {
                link.bare(b'n');
            } else {
                link.describe(&columns.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>());
            }
        }
        b'E' => {
            let Some(portal) = place.portal.take() else { return no_sense() };
            let Some(prepared) = place.prepared.get(&portal.name) else { return no_sense() };
            let Prepared { sql, statement } = prepared;
            let answer = server.execute(session, sql, statement, &portal.params)?;
            tell(link, Ok(answer), false);
        }
        b'C' => {
            reader.byte();
            let name = reader.string().unwrap_or_default();
            session.prepared.remove(&name);
            place.prepared.remove(&name);
            link.bare(b'3');
        }
        other => return Err(Failure::unknown(&format!("message {:?}", char::from(other))).into()),
    }
    Ok(())
}

/// A Bind message; `None` where it is cut short.
fn bind(reader: &mut Reader<'_>) -> Option<Portal> {
    reader.string()?;
    let name = reader.string()?;
    let n_formats = reader.short()?;
    let formats = (0..n_formats).map(|_| reader.short()).collect::<Option<Vec<_>>>()?;
    let n_params = usize::from(reader.short()?);
    let mut params = Vec::with_capacity(n_params);
    for idx in 0..n_params {
        // One format is that of all, none means text.
        let format = formats.get(idx).or(formats.first().filter(|_| formats.len() == 1));
        let is_binary = format == Some(&1);
        params.push(reader.value(is_binary)?);
    }
    Some(Portal { name, params })
}
