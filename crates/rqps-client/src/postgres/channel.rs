//! HOT PATH: messages over a stream: one write, then reads until the answer is complete. Budget:
//! two system calls for an answer that fits one read, no allocation.

use std::io;
use std::time::Duration;

use crate::buffer::{RecvBuffer, io_error};
use crate::patience::Patience;
use crate::transport::{Deadline, Transport};
use crate::wire::postgres::{Message, Skipper, decode};
use crate::{Breaker, Endpoint, Error, Outcome, ServerError, Tls};

/// A stream, what was received from it, and how long to wait for more.
///
/// An error of the stream, or bytes that the protocol does not allow, shut it down: an answer that
/// was not read to its end would otherwise be taken for the next one's.
#[derive(Debug)]
pub(super) struct Channel {
    transport: Transport,
    buffer: RecvBuffer,
    timeout: Option<Duration>,
    patience: Patience,
    /// How long an answer was waited for in vain.
    waited: Duration,
    /// While logging in: the end of it all, however many messages there are.
    deadline: Option<Deadline>,
    /// Whether answers stay in the buffer until the next request, for their rows to be read.
    keep: bool,
    /// Whether the last answer, all of it, is in the buffer.
    kept: bool,
    /// Whether the last answer had a result.
    had_result: bool,
}

/// Answers longer than this are not kept, in bytes: rows of most scripts are far from it, and a
/// buffer never shrinks.
const MAX_KEPT_BYTES: usize = crate::buffer::MAX_MESSAGE_BYTES / 2;

impl Channel {
    /// Connects; until [`Self::logged_in`] the connect timeout limits everything together.
    pub(super) fn connect(endpoint: &Endpoint) -> Result<Self, Error> {
        let limit = endpoint.connect_timeout;
        let deadline = Some(Deadline::after(limit));
        let transport = Transport::connect(endpoint)?;
        let buffer = RecvBuffer::new();
        let timeout = Some(limit);
        Ok(Self {
            transport,
            buffer,
            timeout,
            patience: Patience::default(),
            waited: Duration::ZERO,
            deadline,
            keep: false,
            kept: false,
            had_result: false,
        })
    }

    /// Whether answers to [`Self::exchange`] stay in the buffer until the next request.
    pub(super) fn set_keep(&mut self, keep: bool) {
        self.forget_kept();
        self.keep = keep;
    }

    /// Whether the last answer to [`Self::exchange`] had a result.
    #[inline]
    pub(super) fn had_result(&self) -> bool {
        self.had_result
    }

    /// The last answer, where it was kept whole.
    pub(super) fn kept(&self) -> Option<&[u8]> {
        self.kept.then(|| self.buffer.unread())
    }

    #[inline]
    fn forget_kept(&mut self) {
        if self.kept {
            self.buffer.consume(usize::MAX);
            self.kept = false;
        }
    }

    /// Lifts the limit of the login.
    pub(super) fn logged_in(&mut self) -> Result<(), Error> {
        self.deadline = None;
        self.set_timeout(None)
    }

    /// Sends a request and skips its answer, counting rows.
    #[inline]
    pub(super) fn exchange(
        &mut self,
        request: &[u8],
        doing: &'static str,
    ) -> Result<Outcome, Error> {
        self.send(request, doing)?;
        self.skip_answer(doing, self.keep)
    }

    /// Waits until there is something of an answer, but no longer than `at_most`.
    pub(super) fn await_answer(&mut self, at_most: Duration) -> Result<bool, Error> {
        const DOING: &str = "waiting for an answer";
        let is_there = !self.buffer.unread().is_empty()
            || match self.transport.await_readable(at_most) {
                Ok(is_there) => is_there,
                Err(source) => return Err(self.failed(source, DOING)),
            };
        self.waited = if is_there { Duration::ZERO } else { self.waited + at_most };
        if self.timeout.is_some_and(|timeout| self.waited > timeout) {
            return Err(self.failed(io::ErrorKind::TimedOut.into(), DOING));
        }
        Ok(is_there)
    }

    /// Skips the next answer, counting rows; others may follow it, so that it is not kept.
    #[inline]
    pub(super) fn answer(&mut self, doing: &'static str) -> Result<Outcome, Error> {
        self.skip_answer(doing, false)
    }

    /// Skips the next answer, counting rows; it stays in the buffer if wanted.
    #[inline]
    fn skip_answer(&mut self, doing: &'static str, mut keep: bool) -> Result<Outcome, Error> {
        let mut skipper = Skipper::default();
        self.patience.begin();
        // Bytes at the front of the buffer that were gone through: only those that are kept.
        let mut n_seen = 0;
        loop {
            let input = self.buffer.unread();
            if keep && input.len() >= MAX_KEPT_BYTES {
                keep = false;
                self.buffer.consume(n_seen);
                n_seen = 0;
                continue;
            }
            let scan = match skipper.scan(input.get(n_seen..).unwrap_or(&[])) {
                Ok(scan) => scan,
                Err(violation) => return Err(self.violated(doing, &violation.0)),
            };
            if keep {
                n_seen += scan.consumed;
            } else {
                self.buffer.consume(scan.consumed);
            }
            if scan.done {
                self.kept = keep;
                self.had_result = skipper.had_result();
                return skipper.finish().map_err(Error::Server);
            }
            if let Err(error) = self.fill(doing) {
                return Err(explain(error, skipper.into_error()));
            }
        }
    }

    /// Sends bytes.
    #[inline]
    pub(super) fn send(&mut self, bytes: &[u8], doing: &'static str) -> Result<(), Error> {
        self.forget_kept();
        self.patience.begin();
        self.transport.send(bytes).map_err(|source| self.failed(source, doing))
    }

    /// The next message, whole.
    pub(super) fn receive(&mut self, doing: &'static str) -> Result<Message, Error> {
        loop {
            match decode(self.buffer.unread()) {
                Ok(Some((message, n_bytes))) => {
                    self.buffer.consume(n_bytes);
                    return Ok(message);
                }
                Ok(None) => self.fill(doing)?,
                Err(violation) => return Err(self.violated(doing, &violation.0)),
            }
        }
    }

    /// The one byte that answers a request for TLS.
    ///
    /// More than one would be plain text that somebody wants taken for encrypted.
    pub(super) fn receive_tls_answer(&mut self, doing: &'static str) -> Result<u8, Error> {
        self.fill(doing)?;
        let [answer] = *self.buffer.unread() else {
            return Err(self.violated(doing, "more than one byte before TLS"));
        };
        self.buffer.consume(1);
        Ok(answer)
    }

    /// Goes on over TLS, which is only done while nothing is unread.
    pub(super) fn upgrade_to_tls(self, server_name: &str, tls: &Tls) -> Result<Self, Error> {
        let deadline = self.deadline.unwrap_or(Deadline::NEVER);
        let transport = self.transport.upgrade_to_tls(server_name, tls, &deadline)?;
        Ok(Self { transport, ..self })
    }

    /// The longest time to wait for an answer, and for the rest of it after its first read; `None` waits
    /// for ever.
    pub(super) fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), Error> {
        self.timeout = timeout;
        self.apply_timeout(timeout)
            .map_err(|source| io_error(source, "setting the timeout", timeout))
    }

    /// A handle for other threads.
    pub(super) fn breaker(&self) -> Result<Breaker, Error> {
        self.transport.breaker().map_err(|source| io_error(source, "making a breaker", None))
    }

    /// The stream itself.
    pub(super) fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Gives the stream up because of what the server sent.
    #[cold]
    pub(super) fn violated(&mut self, doing: &'static str, detail: &str) -> Error {
        self.transport.shutdown();
        Error::Protocol { doing, detail: detail.to_owned() }
    }

    #[inline]
    fn fill(&mut self, doing: &'static str) -> Result<(), Error> {
        let filled = match &self.deadline {
            None => self
                .patience
                .before_read(self.timeout)
                .and_then(|()| self.buffer.fill(&mut self.transport)),
            Some(_) => self.fill_before_deadline(),
        };
        filled.map(drop).map_err(|source| self.failed(source, doing))
    }

    #[cold]
    fn fill_before_deadline(&mut self) -> io::Result<usize> {
        if let Some(deadline) = &self.deadline {
            self.apply_timeout(deadline.remaining()?)?;
        }
        self.buffer.fill(&mut self.transport)
    }

    fn apply_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.transport.set_read_timeout(timeout)?;
        self.transport.set_write_timeout(timeout)
    }

    #[cold]
    fn failed(&mut self, source: io::Error, doing: &'static str) -> Error {
        self.transport.shutdown();
        io_error(source, doing, self.timeout)
    }
}

/// Adds to a lost connection why the server closed it, where it said so: an administrator's command,
/// a shutdown.
#[cold]
pub(super) fn explain(error: Error, said: Option<ServerError>) -> Error {
    match (error, said) {
        (Error::Lost { doing, .. }, Some(said)) => {
            Error::Lost { doing, source: io::Error::new(io::ErrorKind::ConnectionAborted, said) }
        }
        (error, _) => error,
    }
}
