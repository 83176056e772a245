//! Framing: messages to packets and back. A packet is a length of three bytes, a sequence number
//! and a payload; messages of 16 MiB - 1 and more travel in several packets, the last one shorter.

use super::Violation;

/// The longest payload of one packet, in bytes; a packet that is this long has a continuation.
pub const MAX_PAYLOAD: usize = 0xFF_FFFF;

/// Bytes of a packet's header.
pub const HEADER: usize = 4;

/// Empties `out` and leaves room for the header; the payload is appended, then [`seal`] called.
#[inline]
pub fn begin(out: &mut Vec<u8>) {
    out.clear();
    out.extend_from_slice(&[0; HEADER]);
}

/// Writes the header, or several, of the message in `out`. Returns the sequence number with which
/// the other side goes on.
#[inline]
pub fn seal(out: &mut Vec<u8>, first_seq: u8) -> u8 {
    let n = out.len().saturating_sub(HEADER);
    if n >= MAX_PAYLOAD {
        return seal_long(out, first_seq);
    }
    write_header(out, 0, n, first_seq);
    first_seq.wrapping_add(1)
}

/// Moves the payload apart, last piece first, to make room for more headers.
#[cold]
fn seal_long(out: &mut Vec<u8>, first_seq: u8) -> u8 {
    let n = out.len() - HEADER;
    let n_packets = n / MAX_PAYLOAD + 1;
    out.resize(out.len() + HEADER * (n_packets - 1), 0);
    for i in (0..n_packets).rev() {
        let source = HEADER + i * MAX_PAYLOAD;
        let length = MAX_PAYLOAD.min(n - i * MAX_PAYLOAD);
        let target = i * (HEADER + MAX_PAYLOAD);
        out.copy_within(source..source + length, target + HEADER);
        write_header(out, target, length, seq_after(first_seq, i));
    }
    seq_after(first_seq, n_packets)
}

/// The sequence number `n` packets after `seq`; numbers wrap at 256.
fn seq_after(seq: u8, n: usize) -> u8 {
    seq.wrapping_add(n.to_le_bytes()[0])
}

#[inline]
fn write_header(out: &mut [u8], at: usize, length: usize, seq: u8) {
    let [a, b, c, ..] = length.to_le_bytes();
    if let Some(header) = out.get_mut(at..at + HEADER) {
        header.copy_from_slice(&[a, b, c, seq]);
    }
}

/// The payload length that a header announces.
#[inline]
#[must_use]
pub fn payload_length(header: [u8; HEADER]) -> usize {
    (u32::from_le_bytes(header) & 0xFF_FFFF) as usize
}

/// Refuses a packet out of order. Error packets are let through: a server that gives up on a
/// connection may say so with a number of its own (wait timeout, shutdown).
#[inline]
pub(super) fn check_seq(expected: u8, got: u8, first: Option<u8>) -> Result<(), Violation> {
    if expected == got || first == Some(0xFF) { Ok(()) } else { Err(out_of_order(expected, got)) }
}

#[cold]
fn out_of_order(expected: u8, got: u8) -> Violation {
    Violation::new(format!("packet number {got}, expected {expected}"))
}

/// A whole message, taken off the front of received bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The payload, pieces joined.
    pub payload: Vec<u8>,
    /// Bytes that it took, headers included.
    pub n_bytes: usize,
    /// The sequence number due next.
    pub next_seq: u8,
}

/// Takes one message off the front of `bytes`; `None` when it has not come whole yet.
///
/// # Errors
/// When a packet's number is not the one that is due.
pub fn split_message(bytes: &[u8], first_seq: u8) -> Result<Option<Message>, Violation> {
    let mut message = Message { payload: Vec::new(), n_bytes: 0, next_seq: first_seq };
    let mut pieces = Vec::new();
    let mut rest = bytes;
    loop {
        let Some((&header, body)) = rest.split_first_chunk::<HEADER>() else { return Ok(None) };
        let length = payload_length(header);
        let begins = pieces.is_empty() && length > 0;
        let first = if begins { body.first().copied() } else { None };
        if begins && first.is_none() {
            return Ok(None);
        }
        check_seq(message.next_seq, header[3], first)?;
        let Some((piece, after)) = body.split_at_checked(length) else { return Ok(None) };
        pieces.push(piece);
        message.n_bytes += HEADER + length;
        message.next_seq = header[3].wrapping_add(1);
        rest = after;
        if length < MAX_PAYLOAD {
            message.payload = pieces.concat();
            return Ok(Some(message));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed(payload: &[u8], seq: u8) -> (Vec<u8>, u8) {
        let mut out = Vec::new();
        begin(&mut out);
        out.extend_from_slice(payload);
        let next = seal(&mut out, seq);
        (out, next)
    }

    #[test]
    fn short_messages_are_one_packet() {
        assert_eq!(sealed(b"\x03abc", 0), (b"\x04\0\0\0\x03abc".to_vec(), 1));
        assert_eq!(sealed(b"", 255), (b"\0\0\0\xff".to_vec(), 0));
    }

    #[test]
    fn long_messages_are_split_and_joined() {
        for extra in [0, 1, MAX_PAYLOAD] {
            let payload: Vec<u8> = (0..=250).cycle().take(MAX_PAYLOAD + extra).collect();
            let (bytes, next) = sealed(&payload, 254);
            let n_packets = 2 + usize::from(extra == MAX_PAYLOAD);
            assert_eq!(bytes.len(), payload.len() + n_packets * HEADER);
            assert_eq!(&bytes[..4], b"\xff\xff\xff\xfe");
            let message = split_message(&bytes, 254).unwrap().unwrap();
            assert!(message.payload == payload, "payload differs");
            assert_eq!((message.n_bytes, message.next_seq), (bytes.len(), next));
            assert_eq!(split_message(&bytes[..bytes.len() - 1], 254).unwrap(), None);
        }
    }

    #[test]
    fn numbers_are_checked_but_not_of_errors() {
        let error = split_message(b"\x01\0\0\x02a", 1).unwrap_err();
        assert_eq!(error.to_string(), "packet number 2, expected 1");
        assert!(split_message(b"\x01\0\0\x07\xff", 1).unwrap().is_some());
        assert_eq!(split_message(b"\x01\0\0", 1).unwrap(), None);
        assert_eq!(split_message(b"\x01\0\0\x02", 1).unwrap(), None);
    }
}
