//! HOT PATH: statements as text, with the parameters written in as literals. Budget: one pass over
//! each string; no allocation after the longest statement was seen.

use super::commands::COM_QUERY;
use super::execute::{fits_int, wrong_count, wrong_type};
use super::packet::{begin, seal};
use crate::{ParamType, Params, Value};

/// A statement cut at its parameters.
#[derive(Debug, Clone)]
pub struct TextStatement {
    /// The text before the first parameter, between parameters, and after the last.
    pieces: Box<[Box<[u8]>]>,
    params: Box<[ParamType]>,
}

impl TextStatement {
    /// Cuts the statement at each `?`.
    ///
    /// # Errors
    /// When there are more or fewer of them than parameters.
    pub fn new(sql: &str, params: &[ParamType]) -> Result<Self, String> {
        let pieces: Box<[Box<[u8]>]> =
            sql.split('?').map(|piece| piece.as_bytes().into()).collect();
        let n_marks = pieces.len() - 1;
        if n_marks != params.len() {
            return Err(format!(
                "it has {n_marks} question marks but declares {} parameters",
                params.len()
            ));
        }
        Ok(Self { pieces, params: params.into() })
    }

    /// Writes the whole query message into `out`, replacing what was there. Returns the answer's
    /// first sequence number. `backslash` says whether backslashes escape, which the server's
    /// status flags tell.
    ///
    /// # Errors
    /// What does not fit: the number of values, a value's type, an integer's width.
    #[inline]
    pub fn encode(
        &self,
        out: &mut Vec<u8>,
        params: &Params,
        backslash: bool,
    ) -> Result<u8, String> {
        let values = params.values();
        if values.len() != self.params.len() {
            return Err(wrong_count(self.params.len(), values.len()));
        }
        begin(out);
        out.push(COM_QUERY);
        let (first, others) = self.pieces.split_first().map_or((&[][..], &[][..]), |(a, b)| (a, b));
        out.extend_from_slice(first);
        for (i, ((param, value), piece)) in self.params.iter().zip(values).zip(others).enumerate() {
            match (param, *value) {
                (ParamType::Int, Value::Int(value)) => push_int(out, fits_int(i, value)?.into()),
                (ParamType::BigInt, Value::Int(value)) => push_int(out, value),
                (_, Value::Null) => out.extend_from_slice(b"NULL"),
                (ParamType::Text | ParamType::Inferred, Value::Text { start, end }) => {
                    push_string(out, params.text(start, end), backslash);
                }
                (ParamType::Binary, Value::Text { start, end }) => {
                    push_hex(out, params.text(start, end));
                }
                _ => return Err(wrong_type(i, *param)),
            }
            out.extend_from_slice(piece);
        }
        Ok(seal(out, 0))
    }
}

/// Appends an integer literal.
#[inline]
pub fn push_int(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// Appends a string literal, quotes included.
///
/// Escaped are the bytes of `mysql_real_escape_string`; without backslash escapes
/// (`NO_BACKSLASH_ESCAPES`) the quote alone, by doubling it.
#[inline]
pub fn push_string(out: &mut Vec<u8>, text: &[u8], backslash: bool) {
    out.push(b'\'');
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| is_special(byte)) {
        let (plain, special) = rest.split_at(at);
        out.extend_from_slice(plain);
        let (&byte, after) = special.split_first().unwrap_or((&0, &[]));
        match byte {
            b'\'' => out.extend_from_slice(b"''"),
            _ if !backslash => out.push(byte),
            0 => out.extend_from_slice(b"\\0"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x1A => out.extend_from_slice(b"\\Z"),
            _ => out.extend_from_slice(&[b'\\', byte]),
        }
        rest = after;
    }
    out.extend_from_slice(rest);
    out.push(b'\'');
}

/// Appends bytes as a literal that no character set touches.
fn push_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.extend_from_slice(b"X'");
    for byte in bytes {
        out.extend([byte >> 4, byte & 15].map(|half| DIGITS[usize::from(half)]));
    }
    out.push(b'\'');
}

#[inline]
fn is_special(byte: u8) -> bool {
    matches!(byte, 0 | b'\n' | b'\r' | 0x1A | b'"' | b'\'' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(text: &[u8], backslash: bool) -> String {
        let mut out = Vec::new();
        push_string(&mut out, text, backslash);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn strings_are_escaped() {
        assert_eq!(literal(b"plain", true), "'plain'");
        assert_eq!(literal(b"", true), "''");
        assert_eq!(
            literal(b"it's \"a\" \\ b\0c\nd\re\x1af", true),
            r#"'it''s \"a\" \\ b\0c\nd\re\Zf'"#
        );
        assert_eq!(literal(b"it's a \\", false), r"'it''s a \'");
    }

    #[test]
    fn parameters_take_the_marks_places() {
        let types = [ParamType::Int, ParamType::Text, ParamType::BigInt];
        let statement = TextStatement::new("update t set k=?, c=? where id=?", &types).unwrap();
        let mut params = Params::new();
        params.push_int(-7);
        params.push_text(|arena| arena.extend_from_slice(b"a'b"));
        params.push_int(i64::MIN);
        let mut out = Vec::new();
        assert_eq!(statement.encode(&mut out, &params, true), Ok(1));
        let sql = b"update t set k=-7, c='a''b' where id=-9223372036854775808";
        assert_eq!(out[..5], [58, 0, 0, 0, 3]);
        assert_eq!(&out[5..], sql);
    }

    #[test]
    fn marks_and_parameters_must_agree() {
        let error = TextStatement::new("select ?", &[]).unwrap_err();
        assert_eq!(error, "it has 1 question marks but declares 0 parameters");
        let statement = TextStatement::new("select ?", &[ParamType::Int]).unwrap();
        let mut params = Params::new();
        assert!(statement.encode(&mut Vec::new(), &params, true).is_err());
        params.push_int(1 << 40);
        assert!(statement.encode(&mut Vec::new(), &params, true).unwrap_err().contains("32-bit"));
        params.clear();
        params.push_text(|_| ());
        assert!(statement.encode(&mut Vec::new(), &params, true).is_err());
    }
}
