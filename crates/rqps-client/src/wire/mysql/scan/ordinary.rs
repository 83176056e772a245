//! HOT PATH: an answer as most are: whole, of one result or none, short, no error. Budget: as few
//! instructions as do it.
//!
//! A client that shares its CPU with a server finds its code out of the caches after each wait, so that a
//! query costs what must be fetched each time rather than what is computed: of a query of ten rows, two fifths of
//! the client's user time went with walking over the answer while the scanner did it, which can stop at
//! any byte.

use super::super::packet::{HEADER, MAX_PAYLOAD, payload_length};
use super::super::status;

/// Longer answers are left to the scanner at once: they may not be there whole, and would be walked twice.
const SHORT_BYTES: usize = 16 * 1024;

/// What an answer was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ordinary {
    /// Its length in bytes.
    pub(super) n_bytes: usize,
    pub(super) rows: u64,
    pub(super) affected: u64,
    pub(super) status: u16,
    pub(super) had_result: bool,
}

/// The packets of an answer.
struct Packets<'a> {
    rest: &'a [u8],
    /// The sequence number due next.
    seq: u8,
}

impl<'a> Packets<'a> {
    /// The next one that is whole, in order, the end of its message, and no error: its first byte with
    /// all of it.
    #[inline]
    fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (&header, body) = self.rest.split_first_chunk::<HEADER>()?;
        let length = payload_length(header);
        let (payload, after) = body.split_at_checked(length)?;
        let &first = payload.first()?;
        if header[3] != self.seq || length == MAX_PAYLOAD || first == 0xFF {
            return None;
        }
        self.seq = self.seq.wrapping_add(1);
        self.rest = after;
        Some((first, payload))
    }
}

/// Walks over the answer at the front of `bytes`, from sequence number `seq` on. `None` for what the
/// scanner is to look at: what has not come whole, errors, several results, whatever is unusual.
#[inline]
pub(super) fn walk(bytes: &[u8], seq: u8, deprecate_eof: bool) -> Option<Ordinary> {
    if bytes.len() > SHORT_BYTES {
        return None;
    }
    let mut packets = Packets { rest: bytes, seq };
    let (first, payload) = packets.next()?;
    let mut rows = 0;
    let had_result = first != 0;
    let last = match first {
        0 => payload,
        1..=0xFA if payload.len() == 1 => {
            for _ in 0..first {
                packets.next()?;
            }
            if !deprecate_eof {
                packets.next().filter(|(first, end)| *first == 0xFE && end.len() == 5)?;
            }
            loop {
                let (first, payload) = packets.next()?;
                if first == 0xFE {
                    break payload;
                }
                rows += 1;
            }
        }
        _ => return None,
    };
    let &[_, a, b, low, high, ..] = last else { return None };
    let affected = if had_result && !deprecate_eof {
        // An EOF packet: warnings, then the status.
        (last.len() < 9).then_some(0)?
    } else {
        // An OK packet: affected rows and the last insert id, where both fit one byte, then the status.
        (a < 0xFB && b < 0xFB).then_some(u64::from(a))?
    };
    let status = u16::from_le_bytes([low, high]);
    if status & status::MORE_RESULTS != 0 {
        return None;
    }
    let n_bytes = bytes.len() - packets.rest.len();
    let affected = if had_result { 0 } else { affected };
    Some(Ordinary { n_bytes, rows, affected, status, had_result })
}
