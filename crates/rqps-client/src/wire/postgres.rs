//! PostgreSQL's protocol, version 3.0, as all servers from 9.6 to 19 speak it.
//!
//! Every message but the first two is a tag byte, a length of four bytes that counts itself, and a
//! body (PostgreSQL manual, chapter "Frontend/Backend Protocol"). [`skip`] and [`execute`] are the
//! hot path; [`encode`] and [`decode`] serve everything else.

pub mod decode;
pub mod encode;
pub mod execute;
pub mod rows;
pub mod skip;

pub use decode::{Message, decode};
pub use execute::Statement;
pub use skip::{Scan, Skipper};

/// Bytes that the protocol does not allow, in words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Violation(pub String);

/// Bytes of a message's tag and length.
const HEADER_BYTES: usize = 5;

/// The tag and the position after the message, where a message starts at `at`.
///
/// `None` when its header is not there in full.
#[inline]
fn header(input: &[u8], at: usize) -> Result<Option<(u8, usize)>, Violation> {
    let Some(header) = input.get(at..).and_then(<[u8]>::first_chunk::<HEADER_BYTES>) else {
        return Ok(None);
    };
    let [tag, length @ ..] = *header;
    let length = u32::from_be_bytes(length);
    // The length counts its own four bytes, and is signed on the wire.
    if length.wrapping_sub(4) > i32::MAX.unsigned_abs() - 4 {
        return Err(bad_length(tag, length));
    }
    Ok(Some((tag, at + 1 + length as usize)))
}

#[cold]
fn bad_length(tag: u8, length: u32) -> Violation {
    Violation(format!("message {:?} has length {length}", char::from(tag)))
}

/// Rows changed, from a command tag such as `UPDATE 1` or `INSERT 0 100`.
///
/// Tags of statements that return rows (`SELECT 100`) and that count nothing (`BEGIN`) give 0.
fn affected(tag: &[u8]) -> u64 {
    let text = tag.strip_suffix(&[0]).unwrap_or(tag);
    if text.starts_with(b"SELECT") || text.starts_with(b"FETCH") || text.starts_with(b"MOVE") {
        return 0;
    }
    let mut count = 0_u64;
    let mut weight = 1_u64;
    for byte in text.iter().rev() {
        match byte {
            b'0'..=b'9' => {
                count = count.saturating_add(u64::from(byte - b'0').saturating_mul(weight));
                weight = weight.saturating_mul(10);
            }
            b' ' => return count,
            _ => return 0,
        }
    }
    0
}

#[cfg(test)]
mod tests;
