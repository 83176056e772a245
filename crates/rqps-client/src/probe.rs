//! Which protocol the server of an address speaks, asked when a login has failed.

use std::io::Read as _;
use std::time::Duration;

use rqps_model::Dbms;

use crate::transport::{Deadline, Transport};
use crate::wire::postgres::encode;
use crate::{Endpoint, Tls};

/// Longest wait for the connection, for a greeting, and for an answer.
const WITHIN: Duration = Duration::from_secs(2);

/// Most bytes of a greeting that are looked at: its head and the server's version.
const MOST_BYTES: usize = 64;

/// Bytes by which a protocol is known.
const HEAD_BYTES: usize = 5;

/// The DBMS whose protocol is spoken at an address; `None` where it cannot be told.
///
/// MySQL's server speaks first. PostgreSQL's waits for the client, and answers a request for TLS with one
/// letter.
#[must_use]
pub fn probe_dbms(endpoint: &Endpoint) -> Option<Dbms> {
    let endpoint = Endpoint { tls: Tls::Off, connect_timeout: WITHIN, ..endpoint.clone() };
    let mut transport = Transport::connect(&endpoint).ok()?;
    let greeting = read_at_most(&mut transport);
    if !greeting.is_empty() {
        let of_greeting = if greeting.windows(7).any(|word| word.eq_ignore_ascii_case(b"mariadb")) {
            Dbms::Mariadb
        } else {
            Dbms::Mysql
        };
        return is_greeting(&greeting).then_some(of_greeting);
    }
    let mut request = Vec::new();
    encode::ssl_request(&mut request);
    transport.send(&request).ok()?;
    matches!(read_at_most(&mut transport).first(), Some(b'S' | b'N' | b'E'))
        .then_some(Dbms::Postgres)
}

/// Length in three bytes, the sequence number 0, then version 10 of the handshake, or an error.
fn is_greeting(bytes: &[u8]) -> bool {
    matches!(bytes, [_, _, _, 0, 10 | 0xFF, ..])
}

/// Bytes to wait for, by those that have come: of a greeting as many as it says that it has.
fn wanted(bytes: &[u8]) -> usize {
    match bytes {
        [a, b, c, ..] if is_greeting(bytes) => {
            (4 + u32::from_le_bytes([*a, *b, *c, 0]) as usize).min(MOST_BYTES)
        }
        _ => HEAD_BYTES,
    }
}

/// The first bytes that come in time; none where nothing comes.
fn read_at_most(transport: &mut Transport) -> Vec<u8> {
    let deadline = Deadline::after(WITHIN);
    let (mut bytes, mut part) = (Vec::new(), [0; MOST_BYTES]);
    while bytes.len() < wanted(&bytes) {
        let Ok(Some(left)) = deadline.remaining() else { break };
        if transport.set_read_timeout(Some(left)).is_err() {
            break;
        }
        match transport.read(&mut part[..wanted(&bytes) - bytes.len()]) {
            Ok(0) | Err(_) => break,
            Ok(n) => bytes.extend_from_slice(&part[..n]),
        }
        // PostgreSQL's answer is one letter.
        if matches!(bytes[..], [b'S' | b'N' | b'E']) {
            break;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_greeting_of_mysql_is_known_by_its_first_bytes() {
        assert!(is_greeting(b"\x4a\0\0\0\x0a8.0.33"));
        assert!(is_greeting(b"\x17\0\0\0\xff"));
        assert!(!is_greeting(b"HTTP/"));
        assert!(!is_greeting(b"N"));
        assert_eq!(wanted(b"\x4a\0\0\0\x0a8.0.33"), 64);
        assert_eq!(wanted(b"\x17\0\0\0\xff"), 27);
        assert_eq!(wanted(b"\x17\0\0"), HEAD_BYTES);
    }
}
