//! HOT PATH: the bytes of one execution of a statement. Budget: integers patched into a message
//! made beforehand; with strings, one copy of each into a buffer that is reused. No allocation
//! after the first execution.

use super::encode;
use crate::{Error, ParamType, Params, Protocol, StatementSpec, Value};

/// A statement, ready to be executed as often as wanted.
#[derive(Debug)]
pub struct Statement {
    sql: String,
    types: Box<[ParamType]>,
    form: Form,
}

#[derive(Debug)]
enum Form {
    /// Integers only: the whole message, and where each value lies in it.
    Fixed { message: Vec<u8>, values_at: Box<[usize]> },
    /// Some strings: the bind message up to its first parameter.
    Variable { head: Vec<u8> },
    /// SQL text around the parameters' literals, one piece more than parameters.
    Text { pieces: Box<[Box<[u8]>]> },
}

impl Statement {
    /// A statement that is prepared on the server under `name`, or goes as text each time.
    ///
    /// # Errors
    /// [`Error::Usage`] when the number of `?` is not that of the types.
    pub fn new(name: &str, spec: &StatementSpec<'_>) -> Result<Self, Error> {
        let pieces: Box<[Box<[u8]>]> =
            spec.sql.split('?').map(|piece| piece.as_bytes().into()).collect();
        let n_places = pieces.len() - 1;
        if n_places != spec.params.len() {
            let n_types = spec.params.len();
            return Err(usage(spec.sql, format!("{n_places} places for {n_types} parameters")));
        }
        let form = match spec.protocol {
            Protocol::Text if spec.sql.contains('\0') => {
                return Err(usage(spec.sql, "a NUL in the statement".to_owned()));
            }
            Protocol::Text => Form::Text { pieces },
            Protocol::Prepared => prepared_form(name, spec)?,
        };
        Ok(Self { sql: spec.sql.to_owned(), types: spec.params.into(), form })
    }

    /// The statement, with `?` for its parameters.
    #[must_use]
    pub fn sql(&self) -> &str {
        &self.sql
    }

    /// Its parameters' types.
    #[must_use]
    pub fn types(&self) -> &[ParamType] {
        &self.types
    }

    /// The messages that execute it with `params`, in this statement or in `scratch`.
    ///
    /// # Errors
    /// [`Error::Usage`] when the parameters are not of the declared types and number.
    #[inline]
    pub fn encode<'a>(
        &'a mut self,
        params: &Params,
        scratch: &'a mut Vec<u8>,
    ) -> Result<&'a [u8], Error> {
        let values = params.values();
        if values.len() != self.types.len() {
            let (given, wanted) = (values.len(), self.types.len());
            return Err(usage(&self.sql, format!("{given} values for {wanted} parameters")));
        }
        if values.contains(&Value::Null) {
            self.form.make_room_for_nulls();
        }
        let places = values.iter().copied().zip(self.types.iter().copied());
        let encoded = match &mut self.form {
            Form::Fixed { message, values_at } => {
                patch(message, values_at, places).map(|()| message.as_slice())
            }
            Form::Variable { head } => {
                bind(scratch, head, places, params).map(|()| scratch.as_slice())
            }
            Form::Text { pieces } => {
                text(scratch, pieces, places, params).map(|()| scratch.as_slice())
            }
        };
        encoded.map_err(|detail| usage(&self.sql, detail))
    }
}

impl Form {
    /// A message with a place for each value can hold no NULL: from now on a new one is made.
    #[cold]
    fn make_room_for_nulls(&mut self) {
        if let Self::Fixed { message, values_at } = self {
            let first = values_at.first().map_or(message.len(), |at| at.saturating_sub(4));
            message.truncate(first);
            *self = Self::Variable { head: std::mem::take(message) };
        }
    }
}

/// `sql` with `$1`, `$2`... in place of each `?`.
#[must_use]
pub fn numbered_places(sql: &str) -> String {
    let mut pieces = sql.split('?');
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for (idx, piece) in pieces.enumerate() {
        out.push('$');
        out.push_str(itoa::Buffer::new().format(idx + 1));
        out.push_str(piece);
    }
    out
}

fn prepared_form(name: &str, spec: &StatementSpec<'_>) -> Result<Form, Error> {
    let mut message =
        bind_head(name, spec.params).map_err(|violation| usage(spec.sql, violation.to_string()))?;
    if spec.params.iter().any(|kind| !matches!(kind, ParamType::Int | ParamType::BigInt)) {
        return Ok(Form::Variable { head: message });
    }
    let mut values_at = Vec::with_capacity(spec.params.len());
    for kind in spec.params {
        let width: u32 = if *kind == ParamType::Int { 4 } else { 8 };
        message.extend(width.to_be_bytes());
        values_at.push(message.len());
        message.resize(message.len() + width as usize, 0);
    }
    finish_bind(&mut message).map_err(|detail| usage(spec.sql, detail))?;
    Ok(Form::Fixed { message, values_at: values_at.into() })
}

/// A bind message up to its first parameter; its length is still to be written.
fn bind_head(name: &str, params: &[ParamType]) -> Result<Vec<u8>, super::Violation> {
    let mut out = vec![b'B', 0, 0, 0, 0];
    // The unnamed portal.
    out.push(0);
    encode::string(&mut out, name.as_bytes())?;
    if params.contains(&ParamType::Inferred) {
        // What the server infers is given as text, everything else in binary form.
        out.extend(encode::count(params.len())?);
        out.extend(params.iter().flat_map(|kind| [0, u8::from(*kind != ParamType::Inferred)]));
    } else {
        // One format for all parameters, binary; text in binary form is its bytes as they are.
        out.extend([0, 1, 0, 1]);
    }
    out.extend(encode::count(params.len())?);
    Ok(out)
}

/// Ends a bind message and adds what runs it.
fn finish_bind(message: &mut Vec<u8>) -> Result<(), String> {
    // No result formats: all columns come as text.
    message.extend_from_slice(&[0, 0]);
    let length = encode::length(message.len() - 1).map_err(|v| v.to_string())?;
    if let Some(place) = message.get_mut(1..5) {
        place.copy_from_slice(&length);
    }
    encode::execute(message);
    encode::sync(message);
    Ok(())
}

#[inline]
fn patch(
    message: &mut [u8],
    values_at: &[usize],
    places: impl Iterator<Item = (Value, ParamType)>,
) -> Result<(), String> {
    for ((value, kind), at) in places.zip(values_at) {
        let Some(place) = message.get_mut(*at..) else { continue };
        match (value, kind) {
            (Value::Int(value), ParamType::BigInt) => {
                if let Some(place) = place.first_chunk_mut() {
                    *place = value.to_be_bytes();
                }
            }
            (Value::Int(value), ParamType::Int) => {
                let value = narrow(value)?;
                if let Some(place) = place.first_chunk_mut() {
                    *place = value.to_be_bytes();
                }
            }
            _ => return Err(mismatch(value, kind)),
        }
    }
    Ok(())
}

fn bind(
    out: &mut Vec<u8>,
    head: &[u8],
    places: impl Iterator<Item = (Value, ParamType)>,
    params: &Params,
) -> Result<(), String> {
    out.clear();
    out.extend_from_slice(head);
    for (value, kind) in places {
        match (value, kind) {
            (Value::Int(value), ParamType::BigInt) => {
                out.extend_from_slice(&8_u32.to_be_bytes());
                out.extend_from_slice(&value.to_be_bytes());
            }
            (Value::Int(value), ParamType::Int) => {
                out.extend_from_slice(&4_u32.to_be_bytes());
                out.extend_from_slice(&narrow(value)?.to_be_bytes());
            }
            (Value::Null, _) => out.extend_from_slice(&u32::MAX.to_be_bytes()),
            (
                Value::Text { start, end },
                ParamType::Text | ParamType::Inferred | ParamType::Binary,
            ) => {
                let text = params.text(start, end);
                out.extend_from_slice(&encode::length(text.len()).map_err(|v| v.to_string())?);
                out.extend_from_slice(text);
            }
            _ => return Err(mismatch(value, kind)),
        }
    }
    finish_bind(out)
}

fn text(
    out: &mut Vec<u8>,
    pieces: &[Box<[u8]>],
    places: impl Iterator<Item = (Value, ParamType)>,
    params: &Params,
) -> Result<(), String> {
    out.clear();
    let mut pieces = pieces.iter();
    let sql = |out: &mut Vec<u8>, piece: Option<&Box<[u8]>>| {
        out.extend_from_slice(piece.map_or(&[], |piece| piece));
    };
    out.extend_from_slice(&[b'Q', 0, 0, 0, 0]);
    sql(out, pieces.next());
    for (value, kind) in places {
        match (value, kind) {
            (Value::Int(value), ParamType::BigInt) => int_literal(out, value),
            (Value::Int(value), ParamType::Int) => int_literal(out, narrow(value)?.into()),
            (Value::Null, _) => out.extend_from_slice(b"NULL"),
            (Value::Text { start, end }, ParamType::Text | ParamType::Inferred) => {
                text_literal(out, params.text(start, end))?;
            }
            _ => return Err(mismatch(value, kind)),
        }
        sql(out, pieces.next());
    }
    out.push(0);
    let length = encode::length(out.len() - 1).map_err(|v| v.to_string())?;
    if let Some(place) = out.get_mut(1..5) {
        place.copy_from_slice(&length);
    }
    Ok(())
}

/// Writes an integer, in brackets when negative: `k-?` with -1 must not become a comment.
fn int_literal(out: &mut Vec<u8>, value: i64) {
    let mut digits = itoa::Buffer::new();
    let digits = digits.format(value).as_bytes();
    if value < 0 {
        out.push(b'(');
        out.extend_from_slice(digits);
        out.push(b')');
    } else {
        out.extend_from_slice(digits);
    }
}

/// Writes a string in quotes, quotes in it doubled; a backslash is only a backslash, because
/// connections set `standard_conforming_strings`.
fn text_literal(out: &mut Vec<u8>, text: &[u8]) -> Result<(), String> {
    out.push(b'\'');
    for (idx, run) in text.split(|byte| *byte == b'\'').enumerate() {
        if idx > 0 {
            out.extend_from_slice(b"''");
        }
        if run.contains(&0) {
            return Err("a NUL in a string, which PostgreSQL's text cannot hold".to_owned());
        }
        out.extend_from_slice(run);
    }
    out.push(b'\'');
    Ok(())
}

#[inline]
fn narrow(value: i64) -> Result<i32, String> {
    i32::try_from(value)
        .map_err(|_| format!("{value} does not fit a 32-bit integer: declare the parameter BigInt"))
}

#[cold]
fn mismatch(value: Value, kind: ParamType) -> String {
    let value = match value {
        Value::Int(value) => format!("the integer {value}"),
        Value::Null => "NULL".to_owned(),
        Value::Text { start, end } => {
            format!("a string of {} bytes", end.saturating_sub(start))
        }
    };
    format!("{value} for a parameter declared {kind:?}")
}

#[cold]
fn usage(sql: &str, detail: String) -> Error {
    Error::Usage { sql: sql.to_owned(), detail }
}
