//! Encodes messages to the server, each appended to a buffer.
//!
//! Strings end at a NUL on the wire: one that holds a NUL itself is refused, not cut.

use super::Violation;
use crate::ParamType;

/// The protocol's version, 3.0, in the first message.
const PROTOCOL_3_0: u32 = 3 << 16;

/// The code that asks for TLS in place of a version.
const SSL_REQUEST: u32 = 80_877_103;

/// Type numbers from the server's catalogue, `pg_type.dat`.
const fn type_oid(kind: ParamType) -> u32 {
    match kind {
        ParamType::Int => 23,
        ParamType::BigInt => 20,
        ParamType::Text => 25,
        // Left to the server.
        ParamType::Inferred | ParamType::Binary => 0,
    }
}

/// The first message: protocol version, user, database and settings.
///
/// # Errors
/// A string with a NUL in it.
pub fn startup(out: &mut Vec<u8>, parameters: &[(&str, &str)]) -> Result<(), Violation> {
    framed(out, None, |out| {
        out.extend(PROTOCOL_3_0.to_be_bytes());
        for (name, value) in parameters {
            string(out, name.as_bytes())?;
            string(out, value.as_bytes())?;
        }
        out.push(0);
        Ok(())
    })
}

/// Asks for TLS; the answer is one byte, `S` or `N`.
pub fn ssl_request(out: &mut Vec<u8>) {
    out.extend(8_u32.to_be_bytes());
    out.extend(SSL_REQUEST.to_be_bytes());
}

/// A password, in the clear or hashed.
///
/// # Errors
/// A password with a NUL in it.
pub fn password(out: &mut Vec<u8>, password: &[u8]) -> Result<(), Violation> {
    framed(out, Some(b'p'), |out| string(out, password))
}

/// Chooses a SASL mechanism and sends its first message.
///
/// # Errors
/// A mechanism with a NUL in it, or a message beyond the protocol's 2 GiB.
pub fn sasl_initial(out: &mut Vec<u8>, mechanism: &str, first: &[u8]) -> Result<(), Violation> {
    framed(out, Some(b'p'), |out| {
        string(out, mechanism.as_bytes())?;
        out.extend(length(first.len())?);
        out.extend(first);
        Ok(())
    })
}

/// Any later message of a SASL exchange.
///
/// # Errors
/// A message beyond the protocol's 2 GiB.
pub fn sasl_response(out: &mut Vec<u8>, response: &[u8]) -> Result<(), Violation> {
    framed(out, Some(b'p'), |out| {
        out.extend(response);
        Ok(())
    })
}

/// Prepares a statement under a name, with all its parameters' types.
///
/// # Errors
/// A NUL in the statement, or more than 65,535 parameters.
pub fn parse(
    out: &mut Vec<u8>,
    name: &str,
    sql: &str,
    types: &[ParamType],
) -> Result<(), Violation> {
    framed(out, Some(b'P'), |out| {
        string(out, name.as_bytes())?;
        string(out, sql.as_bytes())?;
        out.extend(count(types.len())?);
        for kind in types {
            out.extend(type_oid(*kind).to_be_bytes());
        }
        Ok(())
    })
}

/// Forgets a prepared statement.
///
/// # Errors
/// A NUL in the name.
pub fn close(out: &mut Vec<u8>, name: &str) -> Result<(), Violation> {
    framed(out, Some(b'C'), |out| {
        out.push(b'S');
        string(out, name.as_bytes())
    })
}

/// Runs the unnamed portal to its end.
#[inline]
pub fn execute(out: &mut Vec<u8>) {
    // An empty name, and no limit of rows.
    out.extend_from_slice(b"E\0\0\0\x09\0\0\0\0\0");
}

/// Ends a group of messages: the server answers up to here, also after an error.
#[inline]
pub fn sync(out: &mut Vec<u8>) {
    out.extend_from_slice(b"S\0\0\0\x04");
}

/// Runs SQL text.
///
/// A NUL in it is left for the server to refuse: looking for one would cost a pass over every bulk
/// insert.
///
/// # Errors
/// SQL beyond the protocol's 2 GiB.
pub fn query(out: &mut Vec<u8>, sql: &[u8]) -> Result<(), Violation> {
    framed(out, Some(b'Q'), |out| {
        out.extend(sql);
        out.push(0);
        Ok(())
    })
}

/// Says goodbye.
pub fn terminate(out: &mut Vec<u8>) {
    out.extend_from_slice(b"X\0\0\0\x04");
}

/// Appends a message: its tag, its length and what `body` appends.
pub(super) fn framed(
    out: &mut Vec<u8>,
    tag: Option<u8>,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), Violation>,
) -> Result<(), Violation> {
    out.extend(tag);
    let start = out.len();
    out.extend([0; 4]);
    body(out)?;
    let length = length(out.len() - start)?;
    if let Some(place) = out.get_mut(start..start + 4) {
        place.copy_from_slice(&length);
    }
    Ok(())
}

/// A length on the wire; lengths are signed there.
pub(super) fn length(n: usize) -> Result<[u8; 4], Violation> {
    i32::try_from(n)
        .map(i32::to_be_bytes)
        .map_err(|_| Violation(format!("{n} bytes are more than a message can hold (2 GiB)")))
}

/// A number of parameters on the wire.
pub(super) fn count(n: usize) -> Result<[u8; 2], Violation> {
    u16::try_from(n)
        .map(u16::to_be_bytes)
        .map_err(|_| Violation(format!("{n} parameters are more than a message can hold (65535)")))
}

/// A string and the NUL that ends it.
pub(super) fn string(out: &mut Vec<u8>, text: &[u8]) -> Result<(), Violation> {
    if text.contains(&0) {
        let text = String::from_utf8_lossy(text);
        return Err(Violation(format!("a NUL in {text:?}, where strings end at a NUL")));
    }
    out.extend(text);
    out.push(0);
    Ok(())
}
