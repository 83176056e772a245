//! Messages of PostgreSQL's protocol.

use std::io;

use crate::answer::{Failure, Rows};
use crate::statement::Value;
use crate::stream::Stream;

/// In place of a version: asks for TLS.
const SSL_REQUEST: u32 = 80_877_103;
/// In place of a version: asks to cancel a statement.
const CANCEL_REQUEST: u32 = 80_877_102;

const TEXT_OID: u32 = 25;

/// A connection.
pub(super) struct Link<S> {
    stream: S,
    out: Vec<u8>,
}

impl<S: Stream> Link<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, out: Vec::new() }
    }

    /// Sends what was written.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.out)?;
        self.out.clear();
        self.stream.flush()
    }

    fn body(&mut self, length: [u8; 4]) -> io::Result<Vec<u8>> {
        let length = u32::from_be_bytes(length).saturating_sub(4) as usize;
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(body)
    }

    /// Reads who it is, and asks for a password; false where the client wants something else.
    pub(super) fn login(&mut self) -> io::Result<bool> {
        loop {
            let mut length = [0; 4];
            self.stream.read_exact(&mut length)?;
            let body = self.body(length)?;
            match Reader::new(&body).long() {
                Some(SSL_REQUEST) => {
                    self.out.push(b'N');
                    self.flush()?;
                }
                Some(CANCEL_REQUEST) | None => return Ok(false),
                Some(_) => break,
            }
        }
        // MD5 with a salt.
        self.message(b'R', &[0, 0, 0, 5, 1, 2, 3, 4]);
        self.flush()?;
        self.read().map(|(kind, _)| kind == b'p')
    }

    /// The next message of the client.
    pub(super) fn read(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head)?;
        let [kind, length @ ..] = head;
        Ok((kind, self.body(length)?))
    }

    fn message(&mut self, kind: u8, body: &[u8]) {
        self.out.push(kind);
        let length = u32::try_from(body.len() + 4).unwrap_or(u32::MAX);
        self.out.extend_from_slice(&length.to_be_bytes());
        self.out.extend_from_slice(body);
    }

    /// A message without a body.
    pub(super) fn bare(&mut self, kind: u8) {
        self.message(kind, &[]);
    }

    pub(super) fn welcome(&mut self, id: u32, version: &str) {
        self.message(b'R', &[0; 4]);
        for (name, value) in [
            ("server_version", version),
            ("server_encoding", "UTF8"),
            ("client_encoding", "UTF8"),
            ("standard_conforming_strings", "on"),
        ] {
            self.message(b'S', format!("{name}\0{value}\0").as_bytes());
        }
        let [a, b, c, d] = id.to_be_bytes();
        self.message(b'K', &[a, b, c, d, 0, 0, 0, 1]);
        self.ready(false);
    }

    pub(super) fn ready(&mut self, in_transaction: bool) {
        self.message(b'Z', if in_transaction { b"T" } else { b"I" });
    }

    /// A statement that is done: `INSERT 0 5`, `UPDATE 1`, `BEGIN`.
    pub(super) fn done(&mut self, name: &str, n: u64) {
        let tag = match name {
            "INSERT" => format!("INSERT 0 {n}\0"),
            "UPDATE" | "DELETE" | "SELECT" => format!("{name} {n}\0"),
            _ => format!("{name}\0"),
        };
        self.message(b'C', tag.as_bytes());
    }

    pub(super) fn failure(&mut self, failure: &Failure) {
        let Failure { sqlstate, text, .. } = failure;
        let severity = if *sqlstate == "53300" { "FATAL" } else { "ERROR" };
        self.message(
            b'E',
            format!("S{severity}\0V{severity}\0C{sqlstate}\0M{text}\0\0").as_bytes(),
        );
    }

    /// What a result's columns are.
    pub(super) fn describe(&mut self, columns: &[String]) {
        let mut out = small(columns.len()).to_vec();
        for name in columns {
            out.extend_from_slice(name.as_bytes());
            out.extend_from_slice(&[0; 7]);
            out.extend_from_slice(&TEXT_OID.to_be_bytes());
            out.extend_from_slice(&[0xFF; 6]);
            out.extend_from_slice(&[0, 0]);
        }
        self.message(b'T', &out);
    }

    pub(super) fn rows(&mut self, rows: &Rows) {
        let mut out = Vec::new();
        for row in &rows.rows {
            out.clear();
            out.extend_from_slice(&small(row.len()));
            for cell in row {
                match cell {
                    Some(text) => {
                        let length = u32::try_from(text.len()).unwrap_or(0);
                        out.extend_from_slice(&length.to_be_bytes());
                        out.extend_from_slice(text.as_bytes());
                    }
                    None => out.extend_from_slice(&[0xFF; 4]),
                }
            }
            self.message(b'D', &out);
        }
        self.done("SELECT", rows.rows.len() as u64);
    }
}

fn small(n: usize) -> [u8; 2] {
    u16::try_from(n).unwrap_or(u16::MAX).to_be_bytes()
}

/// Reads the parts of a message.
pub(super) struct Reader<'m> {
    rest: &'m [u8],
}

impl<'m> Reader<'m> {
    pub(super) fn new(rest: &'m [u8]) -> Self {
        Self { rest }
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*bytes)
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take::<1>().map(|[byte]| byte)
    }

    pub(super) fn short(&mut self) -> Option<u16> {
        self.take().map(u16::from_be_bytes)
    }

    fn long(&mut self) -> Option<u32> {
        self.take().map(u32::from_be_bytes)
    }

    /// A text up to its NUL.
    pub(super) fn string(&mut self) -> Option<String> {
        let end = self.rest.iter().position(|b| *b == 0)?;
        let (text, rest) = self.rest.split_at(end);
        self.rest = &rest[1..];
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// A value with its length before it.
    pub(super) fn value(&mut self, is_binary: bool) -> Option<Value> {
        let length = self.long()?;
        if length == u32::MAX {
            return Some(Value::Null);
        }
        let (bytes, rest) = self.rest.split_at_checked(length as usize)?;
        self.rest = rest;
        if !is_binary {
            return Some(Value::Text(String::from_utf8_lossy(bytes).into_owned()));
        }
        Some(match bytes {
            [a, b, c, d] => Value::Int(i32::from_be_bytes([*a, *b, *c, *d]).into()),
            &[a, b, c, d, e, f, g, h] => Value::Int(i64::from_be_bytes([a, b, c, d, e, f, g, h])),
            other => Value::Text(String::from_utf8_lossy(other).into_owned()),
        })
    }
}
