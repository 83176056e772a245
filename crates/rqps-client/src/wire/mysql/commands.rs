//! The commands a client sends, but for the hot one (see `execute`), and the reply to a prepare.

use super::packet::{begin, seal};
use super::reader::Reader;
use super::{Violation, packet};

/// Ends the connection.
const COM_QUIT: u8 = 0x01;
/// Runs a statement given as text.
pub(super) const COM_QUERY: u8 = 0x03;
/// Prepares a statement.
const COM_STMT_PREPARE: u8 = 0x16;
/// Forgets a prepared statement; not answered.
const COM_STMT_CLOSE: u8 = 0x19;

fn command(out: &mut Vec<u8>, code: u8, body: &[u8]) -> u8 {
    begin(out);
    out.reserve(1 + body.len() + packet::HEADER);
    out.push(code);
    out.extend_from_slice(body);
    seal(out, 0)
}

/// Writes a query into `out`, replacing what was there. Returns the answer's first sequence number,
/// as all of these do.
#[inline]
pub fn query(out: &mut Vec<u8>, sql: &[u8]) -> u8 {
    command(out, COM_QUERY, sql)
}

/// Writes a request to prepare a statement.
pub fn prepare(out: &mut Vec<u8>, sql: &str) -> u8 {
    command(out, COM_STMT_PREPARE, sql.as_bytes())
}

/// Writes a request to forget a prepared statement, which is not answered.
pub fn close(out: &mut Vec<u8>, statement: u32) -> u8 {
    command(out, COM_STMT_CLOSE, &statement.to_le_bytes())
}

/// Writes a farewell, which is not answered.
pub fn quit(out: &mut Vec<u8>) -> u8 {
    command(out, COM_QUIT, &[])
}

/// The reply to a prepare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prepared {
    /// The server's number for the statement, on this connection.
    pub statement: u32,
    /// Columns of its result; 0 when it has none.
    pub n_columns: u16,
    /// Its parameters.
    pub n_params: u16,
}

impl Prepared {
    /// Reads the first message of the reply (0x00; errors are dealt with before).
    ///
    /// # Errors
    /// When it is something else, or cut short.
    pub fn parse(payload: &[u8]) -> Result<Self, Violation> {
        let mut reader = Reader::new(payload);
        match reader.u8("the reply to a prepare")? {
            0x00 => {}
            other => return Err(Violation::new(format!("{other:#04x} in reply to a prepare"))),
        }
        let statement = reader.u32("the statement's number")?;
        let n_columns = reader.u16("the number of columns")?;
        let n_params = reader.u16("the number of parameters")?;
        Ok(Self { statement, n_columns, n_params })
    }

    /// Messages that follow: definitions of parameters and of columns, with an EOF packet after each
    /// kind that there is, unless those are deprecated.
    #[must_use]
    pub fn n_definitions(&self, deprecate_eof: bool) -> u32 {
        let with_end = |n: u16| u32::from(n) + u32::from(n > 0 && !deprecate_eof);
        with_end(self.n_params) + with_end(self.n_columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_as_bytes() {
        let mut out = vec![1, 2, 3];
        assert_eq!(query(&mut out, b"select 1"), 1);
        assert_eq!(out, b"\x09\0\0\0\x03select 1");
        prepare(&mut out, "do ?");
        assert_eq!(out, b"\x05\0\0\0\x16do ?");
        close(&mut out, 0x0102);
        assert_eq!(out, b"\x05\0\0\0\x19\x02\x01\0\0");
        quit(&mut out);
        assert_eq!(out, b"\x01\0\0\0\x01");
    }

    #[test]
    fn replies_to_prepare() {
        let reply = Prepared::parse(b"\0\x07\0\0\0\x02\0\x01\0\0\0\0").unwrap();
        assert_eq!(reply, Prepared { statement: 7, n_columns: 2, n_params: 1 });
        assert_eq!((reply.n_definitions(false), reply.n_definitions(true)), (5, 3));
        let bare = Prepared { statement: 1, n_columns: 0, n_params: 0 };
        assert_eq!(bare.n_definitions(false), 0);
        assert!(Prepared::parse(b"\0\x07\0\0\0\x02\0\x01").is_err());
        assert!(Prepared::parse(b"\x05").is_err());
    }
}
