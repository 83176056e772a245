//! Reads an answer to a text query in full, for everything that is not measured.

use super::reader::Reader;
use super::reply::{ends_rows, parse_eof, parse_error, parse_ok};
use super::{Violation, status};
use crate::{MAX_RESULT_BYTES, ResultSet, ServerError};

/// Where in the answer the reader is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    First,
    Columns(u64),
    ColumnsEnd,
    Rows,
}

/// Gathers the messages of one answer. Of several results it keeps the first that has columns, and
/// adds up the affected rows of all.
#[derive(Debug)]
pub struct ResultReader {
    deprecate_eof: bool,
    phase: Phase,
    /// Whether a result was kept already, so that later ones are only walked over.
    full: bool,
    result: ResultSet,
    status: u16,
    /// What the result takes in memory, about, in bytes.
    held_bytes: usize,
}

impl ResultReader {
    /// A reader for connections with or without `CLIENT_DEPRECATE_EOF`.
    #[must_use]
    pub fn new(deprecate_eof: bool) -> Self {
        let result = ResultSet::default();
        Self { deprecate_eof, phase: Phase::First, full: false, result, status: 0, held_bytes: 0 }
    }

    /// The result, and the status flags that came with its end.
    #[must_use]
    pub fn into_result(self) -> (ResultSet, u16) {
        (self.result, self.status)
    }

    /// Takes one message; true when the answer has ended.
    ///
    /// # Errors
    /// The server's error inside, bytes that do not belong outside.
    pub fn push(&mut self, payload: &[u8]) -> Result<Result<bool, ServerError>, Violation> {
        let Some(&first) = payload.first() else { return Err(Violation::new("empty packet")) };
        if first == 0xFF {
            return parse_error(payload).map(Err);
        }
        match self.phase {
            Phase::First if first == 0x00 => {
                let ok = parse_ok(payload)?;
                self.result.affected = self.result.affected.saturating_add(ok.affected);
                return Ok(Ok(self.end_result(ok.status)));
            }
            Phase::First if first == 0xFB => {
                return Err(Violation::new(
                    "the server asks for a local file (LOAD DATA LOCAL), which rqps refuses",
                ));
            }
            Phase::First => match Reader::new(payload).lenenc("the column count")? {
                0 => return Err(Violation::new("a result without columns")),
                n => self.phase = Phase::Columns(n),
            },
            Phase::Columns(n) => {
                self.column(payload)?;
                self.phase = match n {
                    2.. => Phase::Columns(n - 1),
                    _ if self.deprecate_eof => Phase::Rows,
                    _ => Phase::ColumnsEnd,
                };
            }
            Phase::ColumnsEnd => {
                parse_eof(payload)?;
                self.phase = Phase::Rows;
            }
            Phase::Rows if ends_rows(first, payload.len(), self.deprecate_eof) => {
                let status = if self.deprecate_eof {
                    parse_ok(payload)?.status
                } else {
                    parse_eof(payload)?
                };
                self.full = true;
                return Ok(Ok(self.end_result(status)));
            }
            Phase::Rows => self.row(payload)?,
        }
        Ok(Ok(false))
    }

    fn end_result(&mut self, status: u16) -> bool {
        self.status = status;
        self.phase = Phase::First;
        status & status::MORE_RESULTS == 0
    }

    fn column(&mut self, payload: &[u8]) -> Result<(), Violation> {
        if self.full {
            return Ok(());
        }
        let mut reader = Reader::new(payload);
        for what in ["the catalog", "the schema", "the table", "the original table"] {
            reader.nullable_string(what)?;
        }
        let name = reader.nullable_string("the column's name")?.unwrap_or(b"");
        self.result.columns.push(String::from_utf8_lossy(name).into_owned());
        self.hold(payload.len() + ResultSet::VALUE_BYTES)
    }

    fn row(&mut self, payload: &[u8]) -> Result<(), Violation> {
        if self.full {
            return Ok(());
        }
        let mut reader = Reader::new(payload);
        let mut row = Vec::with_capacity(self.result.columns.len());
        for _ in 0..self.result.columns.len() {
            let value = reader.nullable_string("a column's value")?;
            row.push(value.map(|value| String::from_utf8_lossy(value).into_owned()));
        }
        if !reader.rest().is_empty() {
            return Err(Violation::new("a row has more values than there are columns"));
        }
        let bytes = payload.len() + ResultSet::ROW_BYTES + row.len() * ResultSet::VALUE_BYTES;
        self.result.rows.push(row);
        self.hold(bytes)
    }

    fn hold(&mut self, bytes: usize) -> Result<(), Violation> {
        self.held_bytes = self.held_bytes.saturating_add(bytes);
        if self.held_bytes > MAX_RESULT_BYTES {
            return Err(Violation::new(format!("a result of more than {MAX_RESULT_BYTES} bytes")));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::packet::split_message;
    use super::super::transcripts::{self, Transcript};
    use super::*;

    fn read(transcript: &Transcript) -> Result<ResultSet, ServerError> {
        let mut reader = ResultReader::new(transcript.deprecate_eof);
        let (mut rest, mut seq) = (&transcript.bytes[..], 1);
        loop {
            let message = split_message(rest, seq).unwrap().unwrap();
            rest = &rest[message.n_bytes..];
            seq = message.next_seq;
            if reader.push(&message.payload).unwrap()? {
                assert!(rest.is_empty());
                return Ok(reader.into_result().0);
            }
        }
    }

    #[test]
    fn reads_rows_and_nulls() {
        for deprecate_eof in [false, true] {
            let result = read(&transcripts::text_rows(deprecate_eof)).unwrap();
            assert_eq!(result.columns, ["id", "c"]);
            assert_eq!(result.rows.len(), 3);
            assert_eq!(result.rows[0], [Some("1".to_owned()), Some("one".to_owned())]);
            assert_eq!(result.rows[2], [None, Some(String::new())]);
        }
    }

    #[test]
    fn of_several_results_the_first_with_columns_is_kept() {
        for deprecate_eof in [false, true] {
            let result = read(&transcripts::several_results(deprecate_eof)).unwrap();
            assert_eq!((result.affected, result.columns.len(), result.rows.len()), (5, 2, 3));
        }
    }

    #[test]
    fn errors_come_through() {
        let error = read(&transcripts::error_after_rows()).unwrap_err();
        assert_eq!(error.errno, 1213);
    }
}
