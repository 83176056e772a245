//! HOT PATH: sends messages and waits for answers. Budget: one write, the reads that the answer
//! needs, and the walk over it.
//!
//! Once a call has failed between question and answer, nobody knows what comes next on the stream:
//! from then on every call fails as lost.

use std::io;
use std::time::Duration;

use crate::buffer::{RecvBuffer, io_error};
use crate::patience::Patience;
use crate::transport::{Deadline, Transport};
use crate::wire::mysql::Violation;
use crate::wire::mysql::packet::split_message;
use crate::wire::mysql::scan::{Progress, Scanner};
use crate::{Breaker, Error, Outcome, Tls};

/// A stream of messages.
#[derive(Debug)]
pub(super) struct Link {
    stream: Transport,
    received: RecvBuffer,
    scanner: Scanner,
    deprecate_eof: bool,
    /// The sequence number due next, while messages are read one by one.
    seq: u8,
    status: u16,
    timeout: Option<Duration>,
    patience: Patience,
    /// How long an answer was waited for in vain.
    waited: Duration,
    broken: bool,
    /// Whether answers stay in the buffer until the next command, for their rows to be read.
    keep: bool,
    /// Whether the last answer, all of it, is in the buffer.
    kept: bool,
}

/// Answers longer than this are not kept, in bytes: rows of most scripts are far from it, and a
/// buffer never shrinks.
const MAX_KEPT_BYTES: usize = crate::buffer::MAX_MESSAGE_BYTES / 2;

impl Link {
    /// A link over a fresh stream, on which the server speaks first.
    pub(super) fn new(stream: Transport) -> Self {
        Self {
            stream,
            received: RecvBuffer::new(),
            scanner: Scanner::new(false),
            deprecate_eof: false,
            seq: 0,
            status: 0,
            timeout: None,
            patience: Patience::default(),
            waited: Duration::ZERO,
            broken: false,
            keep: false,
            kept: false,
        }
    }

    /// Whether answers to [`Self::run`] stay in the buffer until the next command.
    pub(super) fn set_keep(&mut self, keep: bool) {
        self.forget_kept();
        self.keep = keep;
    }

    /// Whether the last answer to [`Self::run`] had a result.
    #[inline]
    pub(super) fn had_result(&self) -> bool {
        self.scanner.had_result()
    }

    /// The last answer, where it was kept whole.
    pub(super) fn kept(&self) -> Option<&[u8]> {
        self.kept.then(|| self.received.unread())
    }

    #[inline]
    fn forget_kept(&mut self) {
        if self.kept {
            self.received.consume(usize::MAX);
            self.kept = false;
        }
    }

    /// Goes on over TLS. Nothing received may be unread, or it would pass for encrypted.
    pub(super) fn upgrade_to_tls(
        self,
        server_name: &str,
        tls: &Tls,
        deadline: &Deadline,
    ) -> Result<Self, Error> {
        let mut link = self;
        link.finish("setting up TLS")?;
        let stream = link.stream.upgrade_to_tls(server_name, tls, deadline)?;
        Ok(Self { stream, ..link })
    }

    /// Takes note of what the login negotiated.
    pub(super) fn set_deprecate_eof(&mut self, deprecate_eof: bool) {
        self.deprecate_eof = deprecate_eof;
        self.scanner = Scanner::new(deprecate_eof);
    }

    /// Whether rows end with an OK packet rather than an EOF packet.
    pub(super) fn deprecate_eof(&self) -> bool {
        self.deprecate_eof
    }

    /// The status flags of the last answer.
    #[inline]
    pub(super) fn status(&self) -> u16 {
        self.status
    }

    /// Takes note of the status flags of an answer that was read message by message.
    pub(super) fn set_status(&mut self, status: u16) {
        self.status = status;
    }

    /// The sequence number with which the next message of a login is sent.
    pub(super) fn next_seq(&self) -> u8 {
        self.seq
    }

    /// The stream, for its facts.
    pub(super) fn stream(&self) -> &Transport {
        &self.stream
    }

    /// Sends a message and walks over the whole answer.
    #[expect(clippy::inline_always, reason = "every return after a wait costs tens of nanoseconds")]
    #[inline(always)]
    pub(super) fn run(
        &mut self,
        message: &[u8],
        seq: u8,
        doing: &'static str,
    ) -> Result<Outcome, Error> {
        self.usable(doing)?;
        self.forget_kept();
        self.patience.begin();
        self.scanner.start(seq);
        // Pessimist: an early return below leaves the stream in the middle of an answer.
        self.broken = true;
        if let Err(source) = self.stream.send(message) {
            return Err(self.send_failed(source, doing));
        }
        self.scan(doing)?;
        self.broken = false;
        self.status = self.scanner.status();
        Ok(self.scanner.outcome()?)
    }

    /// Sends a message whose answer is read by [`Self::answer`], after those that are due. Where the server
    /// has closed, that finds out, as the server may have said why.
    pub(super) fn send_ahead(&mut self, message: &[u8], doing: &'static str) -> Result<(), Error> {
        self.usable(doing)?;
        self.forget_kept();
        match self.stream.send(message) {
            Err(source) if source.kind() == io::ErrorKind::WouldBlock => {
                self.broken = true;
                Err(io_error(source, doing, self.timeout))
            }
            _ => Ok(()),
        }
    }

    /// Waits until there is something of an answer, but no longer than `at_most`.
    pub(super) fn await_answer(&mut self, at_most: Duration) -> Result<bool, Error> {
        const DOING: &str = "waiting for an answer";
        self.usable(DOING)?;
        let is_there = !self.received.unread().is_empty()
            || match self.stream.await_readable(at_most) {
                Ok(is_there) => is_there,
                Err(source) => return Err(Error::Lost { doing: DOING, source }),
            };
        self.waited = if is_there { Duration::ZERO } else { self.waited + at_most };
        if self.timeout.is_some_and(|timeout| self.waited > timeout) {
            self.broken = true;
            return Err(io_error(io::ErrorKind::TimedOut.into(), DOING, self.timeout));
        }
        Ok(is_there)
    }

    /// Whether nothing more can come of the stream.
    #[inline]
    pub(super) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Walks over one whole answer, from sequence number `seq` on; others may follow it.
    pub(super) fn answer(&mut self, seq: u8, doing: &'static str) -> Result<Outcome, Error> {
        self.usable(doing)?;
        self.patience.begin();
        self.scanner.start(seq);
        // As in `run`.
        self.broken = true;
        loop {
            let taken = self.scanner.take(self.received.unread());
            let (progress, n) = taken.map_err(|violation| protocol(violation, doing))?;
            self.received.consume(n);
            if progress == Progress::Done {
                break;
            }
            self.fill(doing)?;
        }
        self.broken = false;
        self.status = self.scanner.status();
        Ok(self.scanner.outcome()?)
    }

    #[expect(clippy::inline_always, reason = "as of `run`")]
    #[inline(always)]
    fn scan(&mut self, doing: &'static str) -> Result<(), Error> {
        // Bytes at the front of the buffer that the scanner has seen: only those that are kept.
        let mut n_seen = 0;
        let mut keep = self.keep;
        loop {
            self.fill(doing)?;
            let bytes = self.received.unread();
            let n = bytes.len();
            let progress = match self.scanner.feed(bytes.get(n_seen..).unwrap_or(&[])) {
                Ok(progress) => progress,
                Err(violation) => return Err(protocol(violation, doing)),
            };
            if keep && n < MAX_KEPT_BYTES {
                n_seen = n;
            } else {
                keep = false;
                n_seen = 0;
                self.received.consume(n);
            }
            if progress == Progress::Done {
                self.kept = keep;
                return Ok(());
            }
        }
    }

    #[inline]
    fn fill(&mut self, doing: &'static str) -> Result<(), Error> {
        let may_read = self.patience.before_read(self.timeout);
        match may_read.and_then(|()| self.received.fill(&mut self.stream)) {
            Ok(_) => Ok(()),
            Err(source) => Err(io_error(source, doing, self.timeout)),
        }
    }

    /// A server that closes while a message is being sent may have said why: a message that is
    /// longer than it takes, too long a pause.
    #[cold]
    fn send_failed(&mut self, source: io::Error, doing: &'static str) -> Error {
        let timed_out = matches!(source.kind(), io::ErrorKind::WouldBlock);
        if !timed_out
            && self.scan(doing).is_ok()
            && let Err(error) = self.scanner.outcome()
        {
            return error.into();
        }
        io_error(source, doing, self.timeout)
    }

    /// Sends a message whose answer, from sequence number `seq` on, is read by [`Self::message`].
    pub(super) fn ask(
        &mut self,
        message: &[u8],
        seq: u8,
        doing: &'static str,
    ) -> Result<(), Error> {
        self.tell(message, doing)?;
        self.seq = seq;
        Ok(())
    }

    /// Sends a message that is not answered.
    pub(super) fn tell(&mut self, message: &[u8], doing: &'static str) -> Result<(), Error> {
        self.usable(doing)?;
        self.forget_kept();
        self.patience.begin();
        self.stream.send(message).map_err(|source| {
            self.broken = true;
            io_error(source, doing, self.timeout)
        })
    }

    /// Reads one message whole.
    pub(super) fn message(&mut self, doing: &'static str) -> Result<Vec<u8>, Error> {
        self.usable(doing)?;
        loop {
            let split = split_message(self.received.unread(), self.seq);
            if let Some(message) = self.judge(split, doing)? {
                self.received.consume(message.n_bytes);
                self.seq = message.next_seq;
                return Ok(message.payload);
            }
            if let Err(error) = self.fill(doing) {
                self.broken = true;
                return Err(error);
            }
        }
    }

    /// Passes a parsed message on; when it was none, the stream is of no use any more.
    pub(super) fn judge<T>(
        &mut self,
        parsed: Result<T, Violation>,
        doing: &'static str,
    ) -> Result<T, Error> {
        parsed.map_err(|violation| {
            self.broken = true;
            protocol(violation, doing)
        })
    }

    /// Ends an answer that was read message by message: nothing may follow it.
    pub(super) fn finish(&mut self, doing: &'static str) -> Result<(), Error> {
        match self.received.unread().len() {
            0 => Ok(()),
            n => {
                let detail = format!("{n} bytes after the end of the answer");
                self.judge(Err(Violation::new(detail)), doing)
            }
        }
    }

    /// The longest time to wait for one read or write, and for an answer after its first read.
    pub(super) fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
        self.timeout = timeout;
        self.stream
            .set_read_timeout(timeout)
            .and_then(|()| self.stream.set_write_timeout(timeout))
            .map_err(|source| Error::Lost { doing: "setting a timeout", source })
    }

    /// A handle to break the stream with.
    pub(super) fn breaker(&self) -> Result<Breaker, Error> {
        self.stream
            .breaker()
            .map_err(|source| Error::Lost { doing: "duplicating the socket", source })
    }

    #[inline]
    fn usable(&self, doing: &'static str) -> Result<(), Error> {
        if self.broken { Err(broken(doing)) } else { Ok(()) }
    }
}

#[cold]
fn broken(doing: &'static str) -> Error {
    let why = "an earlier call failed in the middle of an answer; connect again";
    Error::Lost { doing, source: io::Error::new(io::ErrorKind::NotConnected, why) }
}

#[cold]
fn protocol(violation: Violation, doing: &'static str) -> Error {
    Error::Protocol { doing, detail: violation.detail }
}
