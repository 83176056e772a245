//! Reads the rows of an answer that was scanned and kept, in the text and in the binary protocol.

use std::io::Write as _;

use super::packet::{HEADER, MAX_PAYLOAD, payload_length};
use super::reader::Reader;
use super::reply::{ends_rows, parse_ok};
use super::{Violation, status};
use crate::script::Row;

/// `UNSIGNED_FLAG` of column definitions (include/mysql_com.h).
const UNSIGNED: u16 = 32;

/// How a column's values are encoded in binary rows (include/field_types.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Column {
    kind: u8,
    unsigned: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Before,
    Rows,
    After,
}

/// A position in an answer; the answer itself is given with each call.
#[derive(Debug, Default)]
pub struct RowCursor {
    at: usize,
    phase: Phase,
    columns: Vec<Column>,
    binary: bool,
    deprecate_eof: bool,
}

impl RowCursor {
    /// Goes to the front of a new answer. Rows of a prepared statement are binary.
    #[inline]
    pub fn restart(&mut self, binary: bool, deprecate_eof: bool) {
        self.at = 0;
        self.phase = Phase::Before;
        self.binary = binary;
        self.deprecate_eof = deprecate_eof;
    }

    /// The columns of the first result that has some; 0 when none has.
    ///
    /// # Errors
    /// When the bytes are no answer.
    pub fn n_columns(&mut self, answer: &[u8]) -> Result<usize, Violation> {
        if self.phase == Phase::Before {
            self.open(answer)?;
        }
        Ok(self.columns.len())
    }

    /// Reads the next row into `row`; false after the last one.
    ///
    /// # Errors
    /// When the bytes are no answer, or a row has 16 MiB or more.
    pub fn next_row(&mut self, answer: &[u8], row: &mut Row) -> Result<bool, Violation> {
        self.n_columns(answer)?;
        row.clear();
        if self.phase == Phase::After {
            return Ok(false);
        }
        let payload = self.packet(answer)?;
        let first = payload.first().copied().unwrap_or(0xFF);
        if first == 0xFF || ends_rows(first, payload.len(), self.deprecate_eof) {
            self.phase = Phase::After;
            return Ok(false);
        }
        if self.binary {
            self.binary_row(payload, row)?
        } else {
            self.text_row(payload, row)?
        }
        Ok(true)
    }

    fn packet<'a>(&mut self, answer: &'a [u8]) -> Result<&'a [u8], Violation> {
        let rest = answer.get(self.at..).unwrap_or(&[]);
        let cut = || Violation::new("the answer ends within a packet");
        let (&header, body) = rest.split_first_chunk::<HEADER>().ok_or_else(cut)?;
        let length = payload_length(header);
        if length == MAX_PAYLOAD {
            return Err(Violation::new("a row of 16 MiB or more cannot be fetched"));
        }
        let payload = body.get(..length).ok_or_else(cut)?;
        self.at += HEADER + length;
        Ok(payload)
    }

    /// Reads up to the first row.
    fn open(&mut self, answer: &[u8]) -> Result<(), Violation> {
        self.columns.clear();
        let n_columns = loop {
            let first = self.packet(answer)?;
            match first.first() {
                Some(0x00) if parse_ok(first)?.status & status::MORE_RESULTS != 0 => {}
                Some(0x00 | 0xFF) | None => {
                    self.phase = Phase::After;
                    return Ok(());
                }
                _ => break Reader::new(first).lenenc("the column count")?,
            }
        };
        for _ in 0..n_columns {
            let column = read_column(self.packet(answer)?)?;
            self.columns.push(column);
        }
        if !self.deprecate_eof {
            self.packet(answer)?;
        }
        self.phase = Phase::Rows;
        Ok(())
    }

    fn text_row(&self, payload: &[u8], row: &mut Row) -> Result<(), Violation> {
        let mut reader = Reader::new(payload);
        for _ in &self.columns {
            match reader.nullable_string("a column's value")? {
                Some(text) => row.push(text),
                None => row.push_null(),
            }
        }
        Ok(())
    }

    fn binary_row(&self, payload: &[u8], row: &mut Row) -> Result<(), Violation> {
        let mut reader = Reader::new(payload);
        reader.u8("a binary row")?;
        // Two bits at its front are reserved.
        let nulls = reader.bytes((self.columns.len() + 9) / 8, "the NULL bitmap")?;
        let mut text = Vec::new();
        for (idx, column) in self.columns.iter().enumerate() {
            let bit = idx + 2;
            if nulls.get(bit / 8).is_some_and(|byte| byte & (1 << (bit % 8)) != 0) {
                row.push_null();
                continue;
            }
            text.clear();
            push_value(&mut text, *column, &mut reader)?;
            row.push(&text);
        }
        Ok(())
    }
}

fn read_column(payload: &[u8]) -> Result<Column, Violation> {
    let mut reader = Reader::new(payload);
    for what in ["the catalog", "the schema", "the table", "the original table"] {
        reader.nullable_string(what)?;
    }
    reader.nullable_string("the column's name")?;
    reader.nullable_string("the column's original name")?;
    reader.lenenc("the length of what follows")?;
    reader.u16("the character set")?;
    reader.u32("the column's length")?;
    let kind = reader.u8("the column's type")?;
    let flags = reader.u16("the column's flags")?;
    Ok(Column { kind, unsigned: flags & UNSIGNED != 0 })
}

/// Appends a binary value as text.
fn push_value(
    text: &mut Vec<u8>,
    column: Column,
    reader: &mut Reader<'_>,
) -> Result<(), Violation> {
    const WHAT: &str = "a column's value";
    let width = match column.kind {
        // TINY; SHORT and YEAR; LONG, FLOAT and INT24; DOUBLE and LONGLONG.
        1 => 1,
        2 | 13 => 2,
        3 | 4 | 9 => 4,
        5 | 8 => 8,
        // TIMESTAMP, DATE, DATETIME, TIME.
        7 | 10 | 12 => return push_datetime(text, column.kind == 10, reader),
        11 => return push_time(text, reader),
        _ => {
            text.extend_from_slice(reader.nullable_string(WHAT)?.unwrap_or(&[]));
            return Ok(());
        }
    };
    let bytes = reader.bytes(width, WHAT)?;
    let mut wide = [0; 8];
    for (slot, byte) in wide.iter_mut().zip(bytes) {
        *slot = *byte;
    }
    let [a, b, c, d, ..] = wide;
    let written = match column.kind {
        4 => write!(text, "{}", f32::from_le_bytes([a, b, c, d])),
        5 => write!(text, "{}", f64::from_le_bytes(wide)),
        _ if column.unsigned => write!(text, "{}", u64::from_le_bytes(wide)),
        1 => write!(text, "{}", i8::from_le_bytes([a])),
        2 | 13 => write!(text, "{}", i16::from_le_bytes([a, b])),
        3 | 9 => write!(text, "{}", i32::from_le_bytes([a, b, c, d])),
        _ => write!(text, "{}", i64::from_le_bytes(wide)),
    };
    written.map_err(|_| Violation::new("no room for a value"))
}

/// A date, or a date and a time of day: a length of 0, 4, 7 or 11, then so many bytes.
fn push_datetime(
    text: &mut Vec<u8>,
    date_only: bool,
    reader: &mut Reader<'_>,
) -> Result<(), Violation> {
    let length = reader.u8("a date")?;
    let mut rest = Reader::new(reader.bytes(length.into(), "a date")?);
    let mut date = (0, 0, 0);
    let mut time = (0, 0, 0);
    let mut micros = 0;
    if length >= 4 {
        date = (rest.u16("a year")?, rest.u8("a month")?, rest.u8("a day")?);
    }
    if length >= 7 {
        time = (rest.u8("an hour")?, rest.u8("a minute")?, rest.u8("a second")?);
    }
    if length >= 11 {
        micros = rest.u32("microseconds")?;
    }
    push(text, format_args!("{:04}-{:02}-{:02}", date.0, date.1, date.2))?;
    if !date_only {
        push(text, format_args!(" {:02}:{:02}:{:02}", time.0, time.1, time.2))?;
        push_micros(text, micros)?;
    }
    Ok(())
}

/// A time span: a length of 0, 8 or 12, then sign, days, time and microseconds.
fn push_time(text: &mut Vec<u8>, reader: &mut Reader<'_>) -> Result<(), Violation> {
    let length = reader.u8("a time")?;
    let mut rest = Reader::new(reader.bytes(length.into(), "a time")?);
    if length < 8 {
        return push(text, format_args!("00:00:00"));
    }
    let sign = if rest.u8("a time's sign")? == 0 { "" } else { "-" };
    let days = rest.u32("days")?;
    let hours = u64::from(days) * 24 + u64::from(rest.u8("an hour")?);
    let (minutes, seconds) = (rest.u8("a minute")?, rest.u8("a second")?);
    push(text, format_args!("{sign}{hours:02}:{minutes:02}:{seconds:02}"))?;
    push_micros(text, if length >= 12 { rest.u32("microseconds")? } else { 0 })
}

fn push_micros(text: &mut Vec<u8>, micros: u32) -> Result<(), Violation> {
    if micros == 0 { Ok(()) } else { push(text, format_args!(".{micros:06}")) }
}

fn push(text: &mut Vec<u8>, what: std::fmt::Arguments<'_>) -> Result<(), Violation> {
    text.write_fmt(what).map_err(|_| Violation::new("no room for a value"))
}

#[cfg(test)]
mod tests {
    use super::super::transcripts::{self, packets};
    use super::*;

    fn all(answer: &[u8], binary: bool, deprecate_eof: bool) -> Vec<Vec<Option<String>>> {
        let mut cursor = RowCursor::default();
        cursor.restart(binary, deprecate_eof);
        let (mut rows, mut row) = (Vec::new(), Row::default());
        while cursor.next_row(answer, &mut row).unwrap() {
            let text = |v: &[u8]| String::from_utf8(v.to_vec()).unwrap();
            rows.push(row.values().map(|value| value.map(text)).collect());
        }
        assert!(!cursor.next_row(answer, &mut row).unwrap());
        rows
    }

    fn texts(values: &[Option<&str>]) -> Vec<Option<String>> {
        values.iter().map(|value| value.map(str::to_owned)).collect()
    }

    #[test]
    fn text_rows_and_nulls() {
        for deprecate_eof in [false, true] {
            let rows = all(&transcripts::text_rows(deprecate_eof).bytes, false, deprecate_eof);
            assert_eq!(rows.len(), 3);
            assert_eq!(rows[0], texts(&[Some("1"), Some("one")]));
            assert_eq!(rows[2], texts(&[None, Some("")]));
        }
    }

    /// A definition of a column without names.
    fn definition(kind: u8, flags: u8) -> Vec<u8> {
        [&[0; 6][..], &[12, 33, 0, 0, 0, 0, 0, kind, flags, 0, 0, 0, 0]].concat()
    }

    #[test]
    fn binary_values_become_text() {
        let kinds = [(1, 0), (2, 0), (3, 32), (8, 0), (5, 0), (253, 0), (12, 0), (11, 0), (10, 0)];
        let definitions: Vec<Vec<u8>> = kinds.iter().map(|&(k, f)| definition(k, f)).collect();
        let mut row = vec![0, 0, 0];
        row.extend([0xFF]);
        row.extend((-300_i16).to_le_bytes());
        row.extend(u32::MAX.to_le_bytes());
        row.extend(i64::MIN.to_le_bytes());
        row.extend(1.5_f64.to_le_bytes());
        row.extend(b"\x02ab");
        row.extend(b"\x0b\xe4\x07\x02\x1d\x0d\x0e\x0f\x40\xe2\x01\x00");
        row.extend(b"\x08\x01\x01\x00\x00\x00\x02\x03\x04");
        row.extend(b"\x04\xe4\x07\x02\x1d");
        // All but the first value are NULL: bits 3 to 10.
        let nulls = vec![0, 0b1111_1000, 0b0000_0111, 7];
        let mut payloads: Vec<&[u8]> = vec![&[9]];
        payloads.extend(definitions.iter().map(Vec::as_slice));
        payloads.extend([&row[..], &nulls, b"\xfe\0\0\x02\0\0\0"]);
        let rows = all(&packets(1, &payloads), true, true);
        let expected = [
            "-1",
            "-300",
            "4294967295",
            "-9223372036854775808",
            "1.5",
            "ab",
            "2020-02-29 13:14:15.123456",
            "-26:03:04",
            "2020-02-29",
        ];
        assert_eq!(rows[0], texts(&expected.map(Some)));
        assert_eq!(rows[1][0].as_deref(), Some("7"));
        assert!(rows[1][1..].iter().all(Option::is_none));
    }

    #[test]
    fn no_rows_no_columns() {
        let ok = packets(1, &[b"\x00\x01\x00\x02\x00\x00\x00"]);
        assert!(all(&ok, false, true).is_empty());
        let mut cursor = RowCursor::default();
        cursor.restart(false, true);
        assert_eq!(cursor.n_columns(&ok).unwrap(), 0);
        assert!(RowCursor::default().n_columns(b"\x01\0\0\x01").is_err());
    }
}
