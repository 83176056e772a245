//! HOT PATH: walks over the answer to one command and counts its rows. Budget: a few nanoseconds per
//! row, no allocation except for an error's text.
//!
//! Rows are told by packet header and first byte alone, their bodies are skipped, in the text and in
//! the binary protocol alike. Bytes may come in pieces of any size: the scanner takes all of each
//! piece and keeps what it must remember itself, so bodies may be longer than any buffer.

mod ordinary;

use super::packet::{HEADER, MAX_PAYLOAD, check_seq, payload_length};
use super::reply::{ends_rows, parse_eof, parse_error, parse_ok};
use super::{Violation, reader::Reader, status};
use crate::{Outcome, ServerError};

/// Bytes kept of a packet that must be understood, not skipped; what is longer is an error's text.
const KEEP_BYTES: usize = 16 * 1024;

/// Whether the answer is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// More bytes are to come.
    More,
    /// The answer has ended; [`Scanner::outcome`] says what it was.
    Done,
}

/// Where in the answer the scanner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before a result: OK, ERR or the number of columns.
    First,
    /// Column definitions, this many more.
    Columns(u64),
    /// The EOF packet after them.
    ColumnsEnd,
    /// Rows, and what ends them.
    Rows,
    /// After the last result.
    Done,
}

/// What is done with the packet under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Handling {
    /// A row or a column definition: counted at its end and not looked at.
    Skip,
    /// Kept until it is whole, then read.
    Keep,
}

/// The packet under way, where it did not come in one piece.
#[derive(Debug, Default)]
struct Partial {
    /// Header and first byte, as far as they have come.
    head: [u8; HEADER + 1],
    head_len: usize,
    /// Payload bytes still to come after the head; meaningful once the head is complete.
    left: usize,
    /// Whether the head is complete.
    open: bool,
}

/// A walk over the answer to one command, resumable at any byte.
#[derive(Debug)]
pub struct Scanner {
    deprecate_eof: bool,
    phase: Phase,
    /// The sequence number due next.
    seq: u8,
    partial: Partial,
    handling: Handling,
    /// Whether the packet under way continues one of the longest length.
    continued: bool,
    kept: Vec<u8>,
    outcome: Outcome,
    /// Whether the answer has a result with columns.
    had_result: bool,
    status: u16,
    error: Option<ServerError>,
}

impl Scanner {
    /// A scanner for connections with or without `CLIENT_DEPRECATE_EOF`.
    #[must_use]
    pub fn new(deprecate_eof: bool) -> Self {
        Self {
            deprecate_eof,
            phase: Phase::Done,
            seq: 0,
            partial: Partial::default(),
            handling: Handling::Skip,
            continued: false,
            kept: Vec::new(),
            outcome: Outcome::default(),
            had_result: false,
            status: 0,
            error: None,
        }
    }

    /// Forgets the last answer; the next one begins with sequence number `seq`.
    #[inline]
    pub fn start(&mut self, seq: u8) {
        self.phase = Phase::First;
        self.seq = seq;
        self.partial.head_len = 0;
        self.partial.open = false;
        self.continued = false;
        self.kept.clear();
        self.outcome = Outcome::default();
        self.had_result = false;
        self.error = None;
    }

    /// What the answer was: rows and affected rows of all its results together.
    ///
    /// # Errors
    /// The server's error, when the answer was or ended in one.
    #[inline]
    pub fn outcome(&mut self) -> Result<Outcome, ServerError> {
        match self.error.take() {
            None => Ok(self.outcome),
            Some(error) => Err(error),
        }
    }

    /// Whether the answer has a result, be it without rows.
    #[must_use]
    #[inline]
    pub fn had_result(&self) -> bool {
        self.had_result
    }

    /// The status flags of the last answer that had some, see [`super::status`].
    #[must_use]
    #[inline]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Walks over the next bytes, all of them.
    ///
    /// # Errors
    /// When they are not an answer, or go on after its end.
    #[inline]
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Progress, Violation> {
        let (progress, n) = self.take(bytes)?;
        match bytes.len() - n {
            0 => Ok(progress),
            more => Err(Violation::new(format!("{more} bytes after the end of the answer"))),
        }
    }

    /// Walks over the next bytes up to the answer's end, and says how many those are.
    ///
    /// # Errors
    /// When they are not an answer.
    #[inline]
    pub fn take(&mut self, bytes: &[u8]) -> Result<(Progress, usize), Violation> {
        if self.phase == Phase::First
            && self.partial.head_len == 0
            && !self.continued
            && let Some(answer) = ordinary::walk(bytes, self.seq, self.deprecate_eof)
        {
            self.phase = Phase::Done;
            self.outcome.rows += answer.rows;
            self.outcome.affected = self.outcome.affected.saturating_add(answer.affected);
            self.had_result |= answer.had_result;
            self.status = answer.status;
            return Ok((Progress::Done, answer.n_bytes));
        }
        self.take_any(bytes)
    }

    /// The same for any answer, in pieces of any size.
    #[inline(never)]
    fn take_any(&mut self, bytes: &[u8]) -> Result<(Progress, usize), Violation> {
        let mut rest = bytes;
        while self.phase != Phase::Done {
            rest = self.resume_partial(rest)?;
            rest = self.walk_whole(rest)?;
            if rest.is_empty() {
                break;
            }
        }
        let progress = if self.phase == Phase::Done { Progress::Done } else { Progress::More };
        Ok((progress, bytes.len() - rest.len()))
    }

    /// Walks over the packets that lie whole in `bytes`, and stops at one that does not.
    #[inline]
    fn walk_whole<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Violation> {
        let mut rest = bytes;
        while self.phase != Phase::Done && !self.partial.open && self.partial.head_len == 0 {
            if self.phase == Phase::Rows && !self.continued {
                rest = self.walk_rows(rest);
            }
            let Some((&header, body)) = rest.split_first_chunk::<HEADER>() else { break };
            let length = payload_length(header);
            let Some((payload, after)) = body.split_at_checked(length) else { break };
            self.open(header, payload.first().copied())?;
            match self.handling {
                Handling::Keep if !self.continued && length < MAX_PAYLOAD => self.read(payload)?,
                Handling::Keep => {
                    self.keep(payload);
                    self.read_kept(length)?;
                }
                Handling::Skip => {}
            }
            self.close(length);
            rest = after;
        }
        Ok(rest)
    }

    /// The innermost loop: counts whole, ordinary rows and stops at anything else.
    #[inline]
    fn walk_rows<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let mut rest = bytes;
        let mut seq = self.seq;
        let mut n_rows = 0;
        while let Some((&header, body)) = rest.split_first_chunk::<HEADER>() {
            let length = payload_length(header);
            let Some((payload, after)) = body.split_at_checked(length) else { break };
            let ordinary = payload.first().is_some_and(|&first| first < 0xFE);
            if header[3] != seq || !ordinary || length == MAX_PAYLOAD {
                break;
            }
            n_rows += 1;
            seq = seq.wrapping_add(1);
            rest = after;
        }
        self.seq = seq;
        self.outcome.rows += n_rows;
        rest
    }

    /// Goes on with a packet that began in earlier bytes, or begins one that ends in later ones.
    fn resume_partial<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], Violation> {
        let mut rest = bytes;
        if !self.partial.open {
            if self.partial.head_len == 0 && whole_packet_ahead(rest) {
                return Ok(rest);
            }
            rest = self.partial.take_head(rest);
            let Some((header, first)) = self.partial.complete_head() else { return Ok(rest) };
            self.open(header, first)?;
            if let (Handling::Keep, Some(first)) = (self.handling, first) {
                self.keep(&[first]);
            }
            self.partial.left = payload_length(header) - usize::from(first.is_some());
            self.partial.open = true;
        }
        let (body, after) = rest.split_at(self.partial.left.min(rest.len()));
        if self.handling == Handling::Keep {
            self.keep(body);
        }
        self.partial.left -= body.len();
        if self.partial.left == 0 {
            let [a, b, c, d, _] = self.partial.head;
            let length = payload_length([a, b, c, d]);
            self.partial.open = false;
            self.partial.head_len = 0;
            if self.handling == Handling::Keep {
                self.read_kept(length)?;
            }
            self.close(length);
        }
        Ok(after)
    }

    /// Looks at a packet's header and first byte and decides what is done with it.
    #[inline]
    fn open(&mut self, header: [u8; HEADER], first: Option<u8>) -> Result<(), Violation> {
        if self.continued {
            check_seq(self.seq, header[3], None)?;
        } else {
            check_seq(self.seq, header[3], first)?;
            let Some(first) = first else { return Err(Violation::new("empty packet")) };
            self.handling = match self.phase {
                _ if first == 0xFF => Handling::Keep,
                Phase::Columns(_) => Handling::Skip,
                Phase::Rows if ends_rows(first, payload_length(header), self.deprecate_eof) => {
                    Handling::Keep
                }
                Phase::Rows => Handling::Skip,
                Phase::First | Phase::ColumnsEnd | Phase::Done => Handling::Keep,
            };
        }
        self.seq = header[3].wrapping_add(1);
        Ok(())
    }

    /// Counts what a skipped packet was, when it is the last piece of its message.
    #[inline]
    fn close(&mut self, length: usize) {
        self.continued = length == MAX_PAYLOAD;
        if self.continued || self.handling == Handling::Keep {
            return;
        }
        match self.phase {
            Phase::Rows => self.outcome.rows += 1,
            Phase::Columns(n) if n > 1 => self.phase = Phase::Columns(n - 1),
            Phase::Columns(_) if self.deprecate_eof => self.phase = Phase::Rows,
            Phase::Columns(_) => self.phase = Phase::ColumnsEnd,
            Phase::First | Phase::ColumnsEnd | Phase::Done => {}
        }
    }

    /// Appends to the kept packet, as far as it is worth keeping.
    fn keep(&mut self, bytes: &[u8]) {
        let room = KEEP_BYTES.saturating_sub(self.kept.len());
        self.kept.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
    }

    /// Understands the kept message, when its last piece has come.
    fn read_kept(&mut self, length: usize) -> Result<(), Violation> {
        if length == MAX_PAYLOAD {
            return Ok(());
        }
        let kept = std::mem::take(&mut self.kept);
        let read = self.read(&kept);
        self.kept = kept;
        self.kept.clear();
        read
    }

    /// Understands a kept message and moves to the next phase.
    #[inline]
    fn read(&mut self, payload: &[u8]) -> Result<(), Violation> {
        let first = payload.first().copied().unwrap_or(0);
        match (self.phase, first) {
            (_, 0xFF) => {
                self.error = Some(parse_error(payload)?);
                self.phase = Phase::Done;
            }
            (Phase::First, 0x00) => {
                let ok = parse_ok(payload)?;
                self.outcome.affected = self.outcome.affected.saturating_add(ok.affected);
                self.end_result(ok.status);
            }
            (Phase::First, 0xFB) => {
                return Err(Violation::new(
                    "the server asks for a local file (LOAD DATA LOCAL), which rqps refuses",
                ));
            }
            (Phase::First, _) => match Reader::new(payload).lenenc("the column count")? {
                0 => return Err(Violation::new("a result without columns")),
                n => {
                    self.had_result = true;
                    self.phase = Phase::Columns(n);
                }
            },
            (Phase::ColumnsEnd, _) => {
                self.status = parse_eof(payload)?;
                self.phase = Phase::Rows;
            }
            (Phase::Rows, _) if self.deprecate_eof => {
                let ok = parse_ok(payload)?;
                self.end_result(ok.status);
            }
            (Phase::Rows, _) => {
                let status = parse_eof(payload)?;
                self.end_result(status);
            }
            (Phase::Columns(_) | Phase::Done, _) => {
                return Err(Violation::new(format!("{first:#04x} out of place")));
            }
        }
        Ok(())
    }

    #[inline]
    fn end_result(&mut self, status: u16) {
        self.status = status;
        let more = status & status::MORE_RESULTS != 0;
        self.phase = if more { Phase::First } else { Phase::Done };
    }
}

impl Partial {
    /// Takes header and first byte, as far as they are there.
    fn take_head<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let mut rest = bytes;
        while self.complete_head().is_none() {
            let Some((&byte, after)) = rest.split_first() else { break };
            let Some(slot) = self.head.get_mut(self.head_len) else { break };
            *slot = byte;
            self.head_len += 1;
            rest = after;
        }
        rest
    }

    /// The header and the first byte of the payload, if it has one, once they have come.
    fn complete_head(&self) -> Option<([u8; HEADER], Option<u8>)> {
        let [a, b, c, d, first] = self.head;
        let header = [a, b, c, d];
        match self.head_len {
            HEADER if payload_length(header) == 0 => Some((header, None)),
            n if n > HEADER => Some((header, Some(first))),
            _ => None,
        }
    }
}

/// Whether a whole packet lies at the front of `bytes`, so that no state need be kept of it.
#[inline]
fn whole_packet_ahead(bytes: &[u8]) -> bool {
    bytes
        .split_first_chunk::<HEADER>()
        .is_some_and(|(&header, body)| body.len() >= payload_length(header))
}

#[cfg(test)]
mod tests;
