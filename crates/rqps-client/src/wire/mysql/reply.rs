//! The three short replies: OK, ERR, EOF.

use super::Violation;
use super::reader::Reader;
use crate::ServerError;

/// An OK packet, or what stands for one at the end of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OkPacket {
    /// Rows changed.
    pub affected: u64,
    /// Status flags, see [`super::status`].
    pub status: u16,
}

/// Reads an OK packet, header byte (0x00, or 0xFE at the end of rows) included.
///
/// # Errors
/// When it is cut short.
pub fn parse_ok(payload: &[u8]) -> Result<OkPacket, Violation> {
    let mut reader = Reader::new(payload);
    reader.u8("an OK packet")?;
    let affected = reader.lenenc("affected rows")?;
    reader.lenenc("the last insert id")?;
    let status = reader.u16("the status flags")?;
    Ok(OkPacket { affected, status })
}

/// Reads an EOF packet's status flags, header byte (0xFE) included.
///
/// # Errors
/// When it is cut short or something else.
pub fn parse_eof(payload: &[u8]) -> Result<u16, Violation> {
    let mut reader = Reader::new(payload);
    match reader.u8("an EOF packet")? {
        0xFE if payload.len() < 9 => {}
        other => return Err(Violation::new(format!("{other:#04x} in place of an EOF packet"))),
    }
    reader.u16("warnings")?;
    reader.u16("the status flags")
}

/// Reads an error packet, header byte (0xFF) included. Before the handshake is done servers leave
/// the SQLSTATE out.
///
/// # Errors
/// When it has not even an error number.
pub fn parse_error(payload: &[u8]) -> Result<ServerError, Violation> {
    let mut reader = Reader::new(payload);
    reader.u8("an error packet")?;
    let errno = reader.u16("the error number")?;
    let text = reader.rest();
    let (sqlstate, message) = match text.split_first() {
        Some((b'#', marked)) => marked.split_at_checked(5).unwrap_or((b"", text)),
        _ => (&b""[..], text),
    };
    Ok(ServerError {
        errno,
        sqlstate: String::from_utf8_lossy(sqlstate).into_owned(),
        message: String::from_utf8_lossy(message).into_owned(),
        notes: None,
    })
}

/// Whether this first byte and length end a result's rows: an EOF packet, or with
/// `CLIENT_DEPRECATE_EOF` an OK packet under the same first byte.
///
/// A row may begin with 0xFE too, as the length of a first column of 16 MiB or more; then the packet
/// is longer than that.
#[inline]
#[must_use]
pub fn ends_rows(first: u8, length: usize, deprecate_eof: bool) -> bool {
    first == 0xFE && if deprecate_eof { length < super::packet::MAX_PAYLOAD } else { length < 9 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ok_packets() {
        let ok = parse_ok(b"\x00\xfc\x00\x01\x05\x02\x00\x01\x00info").unwrap();
        assert_eq!(ok, OkPacket { affected: 256, status: 2 });
        assert_eq!(parse_ok(b"\xfe\x00\x00\x0a\x00\x00\x00").unwrap().status, 10);
        assert!(parse_ok(b"\x00\x01").is_err());
    }

    #[test]
    fn eof_packets() {
        assert_eq!(parse_eof(b"\xfe\x00\x00\x08\x00").unwrap(), 8);
        assert!(parse_eof(b"\xfe\x00").is_err());
        assert!(parse_eof(b"\x05\x00\x00\x08\x00").is_err());
        assert!(parse_eof(b"\xfe12345678").is_err());
    }

    #[test]
    fn error_packets_with_and_without_sqlstate() {
        let error = parse_error(b"\xff\xbd\x04#40001Deadlock found").unwrap();
        assert_eq!(error.to_string(), "server error 1213 (40001): Deadlock found");
        assert_eq!(error.class(), crate::ErrorClass::Retry);
        let early = parse_error(b"\xff\x10\x04Too many connections").unwrap();
        assert_eq!((early.errno, early.sqlstate.as_str()), (1040, ""));
        assert_eq!(parse_error(b"\xff\x10\x04#12").unwrap().message, "#12");
        assert!(parse_error(b"\xff\x10").is_err());
    }

    #[test]
    fn rows_end_by_first_byte_and_length() {
        assert!(ends_rows(0xFE, 5, false));
        assert!(!ends_rows(0xFE, 9, false));
        assert!(ends_rows(0xFE, 9, true));
        assert!(ends_rows(0xFE, 0xFF_FFFE, true));
        assert!(!ends_rows(0xFE, 0xFF_FFFF, true));
        assert!(!ends_rows(0x00, 5, true));
    }
}
