//! Messages of MySQL's protocol, in packets with a number each.

use std::io;

use super::{LONG, LONGLONG, NULL, SHORT, TINY};
use crate::answer::{Failure, Rows};
use crate::statement::Value;
use crate::stream::Stream;

/// What the server can do: `LONG_PASSWORD`, `LONG_FLAG`, `CONNECT_WITH_DB`, `PROTOCOL_41`, `TRANSACTIONS`,
/// `SECURE_CONNECTION`, `MULTI_RESULTS`, `PS_MULTI_RESULTS`, `PLUGIN_AUTH`.
const CAPABILITIES: u32 =
    1 | 1 << 2 | 1 << 3 | 1 << 9 | 1 << 13 | 1 << 15 | 1 << 17 | 1 << 18 | 1 << 19;

const PLUGIN: &str = "mysql_native_password";
const LATIN1: u8 = 8;
const AUTOCOMMIT: u16 = 2;
const IN_TRANSACTION: u16 = 1;
const VAR_STRING: u8 = 0xFD;
/// The longest packet; a longer message is cut.
const LONGEST: usize = 0xFF_FF_FF;

/// How the cells of a row are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Prepared,
}

/// A connection.
pub(super) struct Link<S> {
    stream: S,
    out: Vec<u8>,
    seq: u8,
}

impl<S: Stream> Link<S> {
    pub(super) fn new(stream: S) -> Self {
        Self { stream, out: Vec::new(), seq: 0 }
    }

    /// The next message of the client.
    pub(super) fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut message = Vec::new();
        loop {
            let mut head = [0; 4];
            self.stream.read_exact(&mut head)?;
            let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
            self.seq = head[3].wrapping_add(1);
            let start = message.len();
            message.resize(start + length, 0);
            let Some(place) = message.get_mut(start..) else { break };
            self.stream.read_exact(place)?;
            if length < LONGEST {
                break;
            }
        }
        Ok(message)
    }

    /// Sends what was written.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.out)?;
        self.out.clear();
        self.stream.flush()
    }

    fn packet(&mut self, payload: &[u8]) -> io::Result<()> {
        let length = u32::try_from(payload.len()).map_err(io::Error::other)?;
        self.out.extend_from_slice(&length.to_le_bytes()[..3]);
        self.out.push(self.seq);
        self.seq = self.seq.wrapping_add(1);
        self.out.extend_from_slice(payload);
        Ok(())
    }

    pub(super) fn greet(&mut self, id: u32, version: &str) -> io::Result<()> {
        let nonce = b"abcdefghijklmnopqrst";
        let capabilities = CAPABILITIES.to_le_bytes();
        let mut out = vec![10];
        out.extend_from_slice(version.as_bytes());
        out.push(0);
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&nonce[..8]);
        out.push(0);
        out.extend_from_slice(&capabilities[..2]);
        out.push(LATIN1);
        out.extend_from_slice(&AUTOCOMMIT.to_le_bytes());
        out.extend_from_slice(&capabilities[2..]);
        out.push(21);
        out.extend_from_slice(&[0; 10]);
        out.extend_from_slice(&nonce[8..]);
        out.push(0);
        out.extend_from_slice(PLUGIN.as_bytes());
        out.push(0);
        self.packet(&out)?;
        self.flush()
    }

    /// A statement that is done.
    pub(super) fn done(&mut self, affected: u64, in_transaction: bool) -> io::Result<()> {
        let mut out = vec![0];
        push_length(&mut out, affected);
        push_length(&mut out, 0);
        out.extend_from_slice(&status(in_transaction).to_le_bytes());
        out.extend_from_slice(&[0, 0]);
        self.packet(&out)
    }

    pub(super) fn failure(&mut self, failure: &Failure) -> io::Result<()> {
        let mut out = vec![0xFF];
        out.extend_from_slice(&failure.errno.to_le_bytes());
        out.push(b'#');
        out.extend_from_slice(failure.mysql_state.as_bytes());
        out.extend_from_slice(failure.text.as_bytes());
        self.packet(&out)
    }

    /// A result.
    pub(super) fn rows(&mut self, rows: &Rows, form: Form, in_transaction: bool) -> io::Result<()> {
        let mut out = Vec::new();
        push_length(&mut out, rows.columns.len() as u64);
        self.packet(&out)?;
        for name in &rows.columns {
            self.definition(name)?;
        }
        self.end(in_transaction)?;
        for row in &rows.rows {
            out.clear();
            if form == Form::Prepared {
                out.push(0);
                let mut nulls = vec![0; (row.len() + 9) / 8];
                for (idx, _) in row.iter().enumerate().filter(|(_, cell)| cell.is_none()) {
                    // The bitmap begins with two bits for nothing.
                    nulls[(idx + 2) / 8] |= 1_u8 << ((idx + 2) % 8);
                }
                out.extend_from_slice(&nulls);
            }
            for cell in row {
                match cell {
                    Some(text) => push_text(&mut out, text),
                    None if form == Form::Prepared => {}
                    None => out.push(0xFB),
                }
            }
            self.packet(&out)?;
        }
        self.end(in_transaction)
    }

    /// A statement that was prepared.
    pub(super) fn prepared(
        &mut self,
        id: usize,
        columns: &[&str],
        n_params: usize,
    ) -> io::Result<()> {
        let small = |n: usize| u16::try_from(n).map_err(io::Error::other);
        let id = u32::try_from(id).map_err(io::Error::other)?;
        let mut out = vec![0];
        out.extend_from_slice(&id.to_le_bytes());
        out.extend_from_slice(&small(columns.len())?.to_le_bytes());
        out.extend_from_slice(&small(n_params)?.to_le_bytes());
        out.extend_from_slice(&[0, 0, 0]);
        self.packet(&out)?;
        for _ in 0..n_params {
            self.definition("?")?;
        }
        if n_params > 0 {
            self.end(false)?;
        }
        for name in columns {
            self.definition(name)?;
        }
        if columns.is_empty() { Ok(()) } else { self.end(false) }
    }

    fn definition(&mut self, name: &str) -> io::Result<()> {
        let mut out = Vec::new();
        for text in ["def", "", "", "", name, name] {
            push_text(&mut out, text);
        }
        out.push(12);
        out.extend_from_slice(&[LATIN1, 0]);
        out.extend_from_slice(&1024_u32.to_le_bytes());
        out.extend_from_slice(&[VAR_STRING, 0, 0, 0, 0, 0]);
        self.packet(&out)
    }

    fn end(&mut self, in_transaction: bool) -> io::Result<()> {
        let [low, high] = status(in_transaction).to_le_bytes();
        self.packet(&[0xFE, 0, 0, low, high])
    }
}

fn status(in_transaction: bool) -> u16 {
    AUTOCOMMIT | if in_transaction { IN_TRANSACTION } else { 0 }
}

fn push_length(out: &mut Vec<u8>, n: u64) {
    let bytes = n.to_le_bytes();
    match n {
        0..=250 => out.push(bytes[0]),
        251..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&bytes[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&bytes);
        }
    }
}

fn push_text(out: &mut Vec<u8>, text: &str) {
    push_length(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// A parameter's value and what comes after it.
pub(super) fn value(kind: u8, bytes: &[u8]) -> Option<(Value, &[u8])> {
    let int = |width: usize| {
        let (bytes, rest) = bytes.split_at_checked(width)?;
        let negative = bytes.last().is_some_and(|b| b & 0x80 != 0);
        let mut all = [if negative { 0xFF } else { 0 }; 8];
        all.get_mut(..width)?.copy_from_slice(bytes);
        Some((Value::Int(i64::from_le_bytes(all)), rest))
    };
    match kind {
        TINY => int(1),
        SHORT => int(2),
        LONG => int(4),
        LONGLONG => int(8),
        NULL => Some((Value::Null, bytes)),
        _ => {
            let (first, rest) = bytes.split_first()?;
            let width = match first {
                0xFC => 2,
                0xFD => 3,
                0xFE => 8,
                _ => 0,
            };
            let (length, rest) = rest.split_at_checked(width)?;
            let mut all = [0; 8];
            all.get_mut(..width)?.copy_from_slice(length);
            let length = if width == 0 { u64::from(*first) } else { u64::from_le_bytes(all) };
            let (text, rest) = rest.split_at_checked(usize::try_from(length).ok()?)?;
            Some((Value::Text(String::from_utf8_lossy(text).into_owned()), rest))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_parameters() {
        assert_eq!(value(LONG, &[0xFF, 0xFF, 0xFF, 0xFF, 7]), Some((Value::Int(-1), &[7][..])));
        assert_eq!(value(0xFD, b"\x02abc"), Some((Value::Text("ab".into()), &b"c"[..])));
        assert_eq!(value(LONGLONG, &[1]), None);
    }
}
