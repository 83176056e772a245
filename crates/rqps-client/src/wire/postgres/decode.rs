//! Decodes whole messages from the server: everything but the skipping of results.

use super::{HEADER_BYTES, Violation, affected, header};
use crate::{ErrorNotes, ServerError};

/// A message from the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// The user is let in.
    AuthenticationOk,
    /// The server wants the password as it is.
    AuthenticationCleartext,
    /// The server wants the password hashed with this salt.
    AuthenticationMd5([u8; 4]),
    /// The server wants one of these SASL mechanisms.
    AuthenticationSasl(Vec<String>),
    /// The server's next message of the SASL exchange.
    AuthenticationSaslContinue(Vec<u8>),
    /// The server's last message of the SASL exchange.
    AuthenticationSaslFinal(Vec<u8>),
    /// Any other way to authenticate, by its number in the protocol.
    AuthenticationOther(u32),
    /// A setting's value, at login or when it changes.
    ParameterStatus {
        /// The setting.
        name: String,
        /// Its value.
        value: String,
    },
    /// The process id of the server process behind this connection.
    BackendKeyData(u32),
    /// The columns of the rows that follow.
    RowDescription(Vec<String>),
    /// One row, as text.
    DataRow(Vec<Option<String>>),
    /// A statement is done; rows that it changed.
    CommandComplete(u64),
    /// A statement, or the login, failed.
    ErrorResponse(ServerError),
    /// The server waits for data to be copied in.
    CopyIn,
    /// The server waits for the next query.
    ReadyForQuery,
    /// Anything that can be passed over, by its tag.
    Other(u8),
}

/// Decodes the message at the start of `input` and says how many bytes it took.
///
/// `None` when it is not there in full.
///
/// # Errors
/// When the bytes are no message.
pub fn decode(input: &[u8]) -> Result<Option<(Message, usize)>, Violation> {
    let Some((tag, end)) = header(input, 0)? else { return Ok(None) };
    let Some(body) = input.get(HEADER_BYTES..end) else { return Ok(None) };
    let mut body = Body { tag, left: body };
    let message = match tag {
        b'R' => authentication(&mut body)?,
        b'S' => Message::ParameterStatus { name: body.text()?, value: body.text()? },
        b'K' => Message::BackendKeyData(body.u32()?),
        b'T' => row_description(&mut body)?,
        b'D' => data_row(&mut body)?,
        b'C' => Message::CommandComplete(affected(body.left)),
        b'E' => Message::ErrorResponse(error_response(body.left)?),
        b'G' | b'W' => Message::CopyIn,
        b'Z' => Message::ReadyForQuery,
        _ => Message::Other(tag),
    };
    Ok(Some((message, end)))
}

/// Decodes the body of an error response: SQLSTATE, message and notes of its fields.
pub(super) fn error_response(body: &[u8]) -> Result<ServerError, Violation> {
    let mut body = Body { tag: b'E', left: body };
    let mut error =
        ServerError { errno: 0, sqlstate: String::new(), message: String::new(), notes: None };
    let mut notes = ErrorNotes::default();
    loop {
        match body.u8()? {
            0 => break,
            b'C' => error.sqlstate = body.text()?,
            b'M' => error.message = body.text()?,
            b'P' => notes.position = body.text()?.parse().unwrap_or(0),
            b'D' => notes.detail = body.text()?,
            b'H' => notes.hint = body.text()?,
            _ => drop(body.bytes_to_nul()?),
        }
    }
    error.notes = (notes != ErrorNotes::default()).then(|| Box::new(notes));
    Ok(error)
}

fn authentication(body: &mut Body<'_>) -> Result<Message, Violation> {
    Ok(match body.u32()? {
        0 => Message::AuthenticationOk,
        3 => Message::AuthenticationCleartext,
        5 => Message::AuthenticationMd5(body.array()?),
        10 => {
            let mut mechanisms = Vec::new();
            loop {
                let mechanism = body.text()?;
                if mechanism.is_empty() {
                    break;
                }
                mechanisms.push(mechanism);
            }
            Message::AuthenticationSasl(mechanisms)
        }
        11 => Message::AuthenticationSaslContinue(body.left.to_vec()),
        12 => Message::AuthenticationSaslFinal(body.left.to_vec()),
        other => Message::AuthenticationOther(other),
    })
}

fn row_description(body: &mut Body<'_>) -> Result<Message, Violation> {
    let n_columns = body.u16()?;
    let mut columns = Vec::with_capacity(usize::from(n_columns));
    for _ in 0..n_columns {
        columns.push(body.text()?);
        // Table, column number, type, its size and modifier, format.
        body.take(18)?;
    }
    Ok(Message::RowDescription(columns))
}

fn data_row(body: &mut Body<'_>) -> Result<Message, Violation> {
    let n_columns = body.u16()?;
    let mut row = Vec::with_capacity(usize::from(n_columns));
    for _ in 0..n_columns {
        row.push(match body.u32()? {
            u32::MAX => None,
            length => Some(String::from_utf8_lossy(body.take(length as usize)?).into_owned()),
        });
    }
    Ok(Message::DataRow(row))
}

/// What is left of a message's body.
struct Body<'a> {
    tag: u8,
    left: &'a [u8],
}

impl<'a> Body<'a> {
    fn too_short(&self) -> Violation {
        Violation(format!("message {:?} ends too early", char::from(self.tag)))
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], Violation> {
        let (taken, left) = self.left.split_at_checked(n).ok_or_else(|| self.too_short())?;
        self.left = left;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Violation> {
        let (taken, left) = self.left.split_first_chunk().ok_or_else(|| self.too_short())?;
        self.left = left;
        Ok(*taken)
    }

    fn u8(&mut self) -> Result<u8, Violation> {
        self.array().map(u8::from_be_bytes)
    }

    fn u16(&mut self) -> Result<u16, Violation> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Result<u32, Violation> {
        self.array().map(u32::from_be_bytes)
    }

    /// The bytes before the next NUL, which is taken too.
    fn bytes_to_nul(&mut self) -> Result<&'a [u8], Violation> {
        let n = self.left.iter().position(|byte| *byte == 0).ok_or_else(|| self.too_short())?;
        let bytes = self.take(n)?;
        self.take(1)?;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<String, Violation> {
        Ok(String::from_utf8_lossy(self.bytes_to_nul()?).into_owned())
    }
}
