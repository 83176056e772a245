//! HOT PATH: reads one answer and counts its rows without looking into them. Budget: five bytes
//! looked at per row, no copy, no allocation unless the server reports an error.

use super::{HEADER_BYTES, Violation, affected, decode, header};
use crate::{Outcome, ServerError};

/// Skips one answer, up to the server's readiness for the next query, in as many pieces as it comes.
///
/// Rows may be of any length: what does not fit the caller's buffer is skipped piece by piece.
#[derive(Debug, Default)]
pub struct Skipper {
    /// Bytes of the current message's body that were not in the input so far.
    body_left: usize,
    /// Bytes of the last row.
    row_bytes: usize,
    outcome: Outcome,
    /// Whether there was a result: rows, a description of some, or a statement that returns them.
    had_result: bool,
    error: Option<Box<ServerError>>,
}

/// How far a scan came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scan {
    /// Bytes of the input that are done with; the rest must be offered again, with more behind it.
    pub consumed: usize,
    /// Whether the answer is complete.
    pub done: bool,
}

impl Skipper {
    /// Goes through `input`, which continues where the last scan's consumed bytes ended.
    ///
    /// # Errors
    /// When the bytes are no answer to a query. The stream is of no use then.
    #[inline]
    pub fn scan(&mut self, input: &[u8]) -> Result<Scan, Violation> {
        let mut at = self.body_left;
        while let Some((tag, end)) = header(input, at)? {
            match tag {
                b'D' => {
                    self.had_result = true;
                    self.outcome.rows += 1;
                    if end - at == self.row_bytes {
                        at = self.run_of_rows(input, at, end);
                        continue;
                    }
                    self.row_bytes = end - at;
                }
                b'C' | b'E' | b'Z' => {
                    let Some(body) = input.get(at + HEADER_BYTES..end) else {
                        // These are short and wanted whole.
                        break;
                    };
                    match tag {
                        b'C' => self.command_complete(body),
                        b'E' => self.error_response(body)?,
                        _ => return Ok(self.ready(end)),
                    }
                }
                b'T' => self.had_result = true,
                _ => skippable(tag)?,
            }
            at = end;
        }
        self.body_left = at.saturating_sub(input.len());
        Ok(Scan { consumed: at.min(input.len()), done: false })
    }

    /// Whether the statement has a result, be it without rows.
    #[must_use]
    #[inline]
    pub fn had_result(&self) -> bool {
        self.had_result
    }

    /// What the statement did.
    ///
    /// # Errors
    /// The first error that the server reported.
    #[inline]
    pub fn finish(self) -> Result<Outcome, ServerError> {
        match self.error {
            None => Ok(self.outcome),
            Some(error) => Err(*error),
        }
    }

    /// The error that the server has reported so far, where the answer ends before it is complete.
    #[must_use]
    pub fn into_error(self) -> Option<ServerError> {
        self.error.map(|error| *error)
    }

    /// Counts the rows from `end` on that are exactly as long as the one from `at` to `end`, and
    /// says where they end.
    ///
    /// Rows of one result mostly have one length. While the next header is the same bytes again,
    /// the processor runs ahead on that guess and does not wait for each length to be loaded before
    /// it knows where the next header is: a row costs half as much.
    #[inline]
    fn run_of_rows(&mut self, input: &[u8], at: usize, mut end: usize) -> usize {
        let Some(last) = input.get(at..).and_then(<[u8]>::first_chunk::<HEADER_BYTES>) else {
            return end;
        };
        while input.get(end..).and_then(<[u8]>::first_chunk) == Some(last) {
            self.outcome.rows += 1;
            end += self.row_bytes;
        }
        end
    }

    #[inline]
    fn command_complete(&mut self, body: &[u8]) {
        self.had_result |= body.starts_with(b"SELECT") || body.starts_with(b"FETCH");
        self.outcome.affected = self.outcome.affected.saturating_add(affected(body));
    }

    #[inline]
    fn ready(&mut self, end: usize) -> Scan {
        self.body_left = 0;
        Scan { consumed: end, done: true }
    }

    #[cold]
    fn error_response(&mut self, body: &[u8]) -> Result<(), Violation> {
        let error = decode::error_response(body)?;
        self.error.get_or_insert(Box::new(error));
        Ok(())
    }
}

/// Whether a message that carries nothing of interest may come in an answer.
#[inline]
fn skippable(tag: u8) -> Result<(), Violation> {
    match tag {
        // Parse, bind and close complete, parameter description, no data, empty query.
        b'1' | b'2' | b'3' | b't' | b'n' | b'I' => Ok(()),
        // Notice, parameter status, notification: at any time. Data copied out, and its two ends.
        b'N' | b'S' | b'A' | b'd' | b'H' | b'c' => Ok(()),
        _ => Err(unexpected(tag)),
    }
}

#[cold]
fn unexpected(tag: u8) -> Violation {
    Violation(match tag {
        b'G' | b'W' => "the server waits for COPY data, which this client does not send".to_owned(),
        _ => format!("message {:?} in the answer to a query", char::from(tag)),
    })
}
