//! HOT PATH: the message that executes a prepared statement, encoded once and patched per execution.
//! Budget: tens of nanoseconds; no allocation after the longest parameters were seen.
//!
//! ```text
//! header | 0x17 | statement | flags 0 | iterations 1 | NULL bitmap | 1 | types | values   first time
//! header | 0x17 | statement | flags 0 | iterations 1 | NULL bitmap | 0 | values           afterwards
//!   4       1         4          1           4           (n+7)/8     1    2 n
//! ```
//! The types are sent until an execution has succeeded, as the field's client library does. When all
//! values have a fixed width the header never changes and values are written in place.

use super::packet::{HEADER, begin, seal};
use super::reader::push_lenenc;
use crate::{ParamType, Params, Value};

const COM_STMT_EXECUTE: u8 = 0x17;
/// Where the NULL bitmap begins: after header, command, statement, flags and iterations.
const NULLS_AT: usize = HEADER + 10;
/// `MYSQL_TYPE_LONG`, `MYSQL_TYPE_LONGLONG`, `MYSQL_TYPE_VAR_STRING`, `MYSQL_TYPE_BLOB` (include/field_types.h).
const TYPE_LONG: u8 = 0x03;
const TYPE_LONGLONG: u8 = 0x08;
const TYPE_VAR_STRING: u8 = 0xFD;
const TYPE_BLOB: u8 = 0xFC;

/// A prepared statement's execute message.
#[derive(Debug, Clone)]
pub struct Execute {
    message: Vec<u8>,
    params: Box<[ParamType]>,
    /// Where the values begin in the message.
    values_at: usize,
    /// Whether no parameter is text and none was NULL, so that the message's length never changes.
    fixed: bool,
    /// The type of all parameters, where they have one: so that no list of types is fetched to patch them.
    all: Option<ParamType>,
    bound: bool,
    /// The answer's first sequence number.
    next_seq: u8,
}

impl Execute {
    /// The message of a statement that the server knows as `statement`.
    #[must_use]
    pub fn new(statement: u32, params: &[ParamType]) -> Self {
        let mut execute = Self {
            message: Vec::new(),
            params: params.into(),
            values_at: 0,
            fixed: params.iter().all(|param| fixed_width(*param) > 0),
            all: params.first().copied().filter(|it| params.iter().all(|other| other == it)),
            bound: false,
            next_seq: 1,
        };
        execute.lay_out(statement, !params.is_empty());
        execute
    }

    /// Writes all that comes before the values, and room for values of fixed width.
    fn lay_out(&mut self, statement: u32, with_types: bool) {
        let message = &mut self.message;
        begin(message);
        message.push(COM_STMT_EXECUTE);
        message.extend_from_slice(&statement.to_le_bytes());
        message.extend_from_slice(&[0, 1, 0, 0, 0]);
        if !self.params.is_empty() {
            message.resize(message.len() + self.params.len().div_ceil(8), 0);
            message.push(u8::from(with_types));
        }
        if with_types {
            message.extend(self.params.iter().flat_map(|param| match param {
                ParamType::Int => [TYPE_LONG, 0],
                ParamType::BigInt => [TYPE_LONGLONG, 0],
                ParamType::Text | ParamType::Inferred => [TYPE_VAR_STRING, 0],
                ParamType::Binary => [TYPE_BLOB, 0],
            }));
        }
        self.values_at = message.len();
        if self.fixed {
            let width = self.params.iter().map(|param| fixed_width(*param)).sum::<usize>();
            message.resize(message.len() + width, 0);
            self.next_seq = seal(message, 0);
        }
        self.bound = !with_types;
    }

    /// The server's number of the statement.
    #[must_use]
    pub fn statement(&self) -> u32 {
        let bytes = self.message.get(HEADER + 1..).and_then(<[u8]>::first_chunk);
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Its parameters.
    #[must_use]
    pub fn n_params(&self) -> usize {
        self.params.len()
    }

    /// Leaves the types out from now on: the server has them.
    #[inline]
    pub fn set_bound(&mut self) {
        if !self.bound {
            self.leave_types_out();
        }
    }

    #[cold]
    fn leave_types_out(&mut self) {
        self.lay_out(self.statement(), false);
    }

    /// Writes the values into the message. Returns it with the answer's first sequence number.
    ///
    /// # Errors
    /// What does not fit: the number of values, a value's type, an integer's width.
    #[inline]
    pub fn encode(&mut self, params: &Params) -> Result<(&[u8], u8), String> {
        let values = params.values();
        if values.len() != self.params.len() {
            return Err(wrong_count(self.params.len(), values.len()));
        }
        if self.fixed && !values.contains(&Value::Null) {
            self.patch(values)?;
        } else {
            // Without the room for every value, a new message must be made from now on.
            self.fixed = false;
            self.rebuild(params)?;
        }
        Ok((&self.message, self.next_seq))
    }

    #[inline]
    fn patch(&mut self, values: &[Value]) -> Result<(), String> {
        let mut at = self.values_at;
        for (i, value) in values.iter().enumerate() {
            let param = self.all.or_else(|| self.params.get(i).copied()).unwrap_or(ParamType::Int);
            let Value::Int(value) = *value else { return Err(wrong_type(i, param)) };
            let bytes = value.to_le_bytes();
            let width = fixed_width(param);
            if param == ParamType::Int {
                fits_int(i, value)?;
            }
            if let (Some(slot), Some(bytes)) =
                (self.message.get_mut(at..at + width), bytes.get(..width))
            {
                slot.copy_from_slice(bytes);
            }
            at += width;
        }
        Ok(())
    }

    #[inline(never)]
    fn rebuild(&mut self, params: &Params) -> Result<(), String> {
        self.message.truncate(self.values_at);
        let n_null_bytes = self.params.len().div_ceil(8);
        if let Some(bitmap) = self.message.get_mut(NULLS_AT..NULLS_AT + n_null_bytes) {
            bitmap.fill(0);
        }
        for (i, (param, value)) in self.params.iter().zip(params.values()).enumerate() {
            match (param, *value) {
                (ParamType::Int, Value::Int(value)) => {
                    self.message.extend_from_slice(&fits_int(i, value)?.to_le_bytes());
                }
                (ParamType::BigInt, Value::Int(value)) => {
                    self.message.extend_from_slice(&value.to_le_bytes());
                }
                (_, Value::Null) => {
                    if let Some(byte) = self.message.get_mut(NULLS_AT + i / 8) {
                        *byte |= 1 << (i % 8);
                    }
                }
                (
                    ParamType::Text | ParamType::Inferred | ParamType::Binary,
                    Value::Text { start, end },
                ) => {
                    let text = params.text(start, end);
                    push_lenenc(&mut self.message, text.len());
                    self.message.extend_from_slice(text);
                }
                _ => return Err(wrong_type(i, *param)),
            }
        }
        self.next_seq = seal(&mut self.message, 0);
        Ok(())
    }
}

/// Bytes of a value of this type, where they are fixed.
#[inline]
fn fixed_width(param: ParamType) -> usize {
    match param {
        ParamType::Int => 4,
        ParamType::BigInt => 8,
        ParamType::Text | ParamType::Inferred | ParamType::Binary => 0,
    }
}

/// Checks that a value fits the 32-bit integer that its parameter was declared as.
#[inline]
pub(super) fn fits_int(i: usize, value: i64) -> Result<i32, String> {
    i32::try_from(value).map_err(|_| too_wide(i, value))
}

#[cold]
fn too_wide(i: usize, value: i64) -> String {
    format!("parameter {}: {value} does not fit a 32-bit integer; declare it as bigint", i + 1)
}

#[cold]
pub(super) fn wrong_type(i: usize, param: ParamType) -> String {
    match param {
        ParamType::Text | ParamType::Inferred | ParamType::Binary => {
            format!("parameter {} is declared as text, not as integer", i + 1)
        }
        _ => format!("parameter {} is declared as integer, not as text", i + 1),
    }
}

#[cold]
pub(super) fn wrong_count(declared: usize, given: usize) -> String {
    format!("{given} parameters given, {declared} declared")
}

#[cfg(test)]
mod tests {
    use super::super::packet::{MAX_PAYLOAD, split_message};
    use super::*;

    fn params(ints: &[i64]) -> Params {
        let mut params = Params::new();
        ints.iter().for_each(|&value| params.push_int(value));
        params
    }

    #[test]
    fn types_travel_until_the_first_success() {
        let mut execute = Execute::new(7, &[ParamType::Int, ParamType::BigInt]);
        let first = b"\x1c\0\0\0\x17\x07\0\0\0\0\x01\0\0\0\0\x01\x03\0\x08\0";
        let (bytes, next) = execute.encode(&params(&[5, -1])).unwrap();
        assert_eq!(bytes, [&first[..], b"\x05\0\0\0", &[0xFF; 8]].concat());
        assert_eq!(next, 1);
        execute.set_bound();
        execute.set_bound();
        let later = b"\x18\0\0\0\x17\x07\0\0\0\0\x01\0\0\0\0\0";
        let (bytes, _) = execute.encode(&params(&[-2, 6])).unwrap();
        assert_eq!(bytes, [&later[..], b"\xfe\xff\xff\xff\x06\0\0\0\0\0\0\0"].concat());
    }

    #[test]
    fn text_changes_the_length() {
        let mut execute = Execute::new(1, &[ParamType::Text, ParamType::Int]);
        execute.set_bound();
        for text in ["abc", "", "longer than before"] {
            let mut params = Params::new();
            params.push_text(|arena| arena.extend_from_slice(text.as_bytes()));
            params.push_int(9);
            let (bytes, next) = execute.encode(&params).unwrap();
            let message = split_message(bytes, 0).unwrap().unwrap();
            assert_eq!((message.n_bytes, message.next_seq), (bytes.len(), next));
            let mut tail = Vec::new();
            push_lenenc(&mut tail, text.len());
            tail.extend_from_slice(text.as_bytes());
            tail.extend_from_slice(b"\x09\0\0\0");
            assert_eq!(message.payload[12..], tail);
        }
    }

    #[test]
    fn nulls_are_bits_and_leave_no_trace() {
        let mut execute = Execute::new(1, &[ParamType::Int; 9]);
        execute.set_bound();
        let mut some = params(&[7; 8]);
        some.push_null();
        let (bytes, _) = execute.encode(&some).unwrap();
        assert_eq!((bytes[14], bytes[15], bytes.len()), (0, 1, 14 + 2 + 1 + 32));
        let mut others = Params::new();
        others.push_null();
        (0..8).for_each(|value| others.push_int(value));
        let (bytes, _) = execute.encode(&others).unwrap();
        assert_eq!((bytes[14], bytes[15], bytes.len()), (1, 0, 14 + 2 + 1 + 32));
        let (bytes, _) = execute.encode(&params(&[1; 9])).unwrap();
        assert_eq!((bytes[14], bytes[15], bytes.len()), (0, 0, 14 + 2 + 1 + 36));
    }

    #[test]
    fn no_parameters_no_bitmap() {
        let mut execute = Execute::new(3, &[]);
        let message = b"\x0a\0\0\0\x17\x03\0\0\0\0\x01\0\0\0";
        assert_eq!(execute.encode(&Params::new()).unwrap().0, message);
        execute.set_bound();
        assert_eq!(execute.encode(&Params::new()).unwrap().0, message);
    }

    #[test]
    fn bitmap_grows_with_the_parameters() {
        let mut execute = Execute::new(3, &[ParamType::Int; 9]);
        let (bytes, _) = execute.encode(&params(&[0; 9])).unwrap();
        assert_eq!(bytes.len(), 4 + 10 + 2 + 1 + 18 + 36);
    }

    #[test]
    fn long_messages_are_split_and_recover() {
        let mut execute = Execute::new(1, &[ParamType::Text]);
        let mut long = Params::new();
        long.push_text(|arena| arena.resize(MAX_PAYLOAD, b'x'));
        let (bytes, next) = execute.encode(&long).unwrap();
        assert_eq!((bytes[3], next), (0, 2));
        let payload = split_message(bytes, 0).unwrap().unwrap().payload;
        assert_eq!(payload.len(), 14 + 4 + MAX_PAYLOAD);
        let mut short = Params::new();
        short.push_text(|arena| arena.push(b'y'));
        let (bytes, next) = execute.encode(&short).unwrap();
        assert_eq!((&bytes[bytes.len() - 4..], next), (&b"\xfd\0\x01y"[..], 1));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let mut ints = Execute::new(1, &[ParamType::Int]);
        let wide = ints.encode(&params(&[1 << 31])).unwrap_err();
        assert_eq!(
            wide,
            "parameter 1: 2147483648 does not fit a 32-bit integer; declare it as bigint"
        );
        assert_eq!(ints.encode(&params(&[])).unwrap_err(), "0 parameters given, 1 declared");
        let mut texts = Execute::new(1, &[ParamType::Text]);
        assert!(texts.encode(&params(&[1])).unwrap_err().contains("declared as text"));
        let mut text = Params::new();
        text.push_text(|arena| arena.push(b'1'));
        assert!(ints.encode(&text).unwrap_err().contains("declared as integer"));
    }
}
