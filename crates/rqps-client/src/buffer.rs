//! HOT PATH: the bytes received and not yet read. Budget: one read per call, no allocation after
//! the first; bytes move only when a message was cut in two.

use std::io::{self, Read};
use std::time::Duration;

use crate::Error;

/// Room for one read, in bytes. Large results need large reads: a client that reads 16 KiB at a
/// time spends three times the kernel time of one that reads 256 KiB (10,000-row range).
pub(crate) const INITIAL_BYTES: usize = 256 * 1024;

/// The longest message that is ever held whole, in bytes. Rows that are only counted are not held.
pub(crate) const MAX_MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// A receive buffer that is reused for the whole life of a connection.
#[derive(Debug)]
pub(crate) struct RecvBuffer {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl RecvBuffer {
    /// An empty buffer of [`INITIAL_BYTES`].
    pub(crate) fn new() -> Self {
        Self { bytes: vec![0; INITIAL_BYTES], start: 0, end: 0 }
    }

    /// The bytes received and not yet consumed.
    #[inline]
    pub(crate) fn unread(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or(&[])
    }

    /// Takes `n` bytes off the front; more than there are takes all.
    #[inline]
    pub(crate) fn consume(&mut self, n: usize) {
        self.start = self.start.saturating_add(n).min(self.end);
    }

    /// Reads once, as much as fits, and returns how many bytes came, never zero.
    ///
    /// A full buffer is doubled first, so a caller that wants a message whole calls this until it
    /// is; one that consumes as it goes never grows it.
    ///
    /// # Errors
    /// The stream's own; [`io::ErrorKind::UnexpectedEof`] when the other side has closed;
    /// [`io::ErrorKind::OutOfMemory`] beyond [`MAX_MESSAGE_BYTES`], which [`io_error`] turns into a
    /// protocol error.
    #[expect(
        clippy::inline_always,
        reason = "calls between pages of code cost the client's caches"
    )]
    #[inline(always)]
    pub(crate) fn fill(&mut self, stream: &mut impl Read) -> io::Result<usize> {
        self.make_room()?;
        loop {
            let room = self.bytes.get_mut(self.end..).unwrap_or(&mut []);
            match stream.read(room) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => {
                    self.end += n;
                    return Ok(n);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    #[inline]
    fn make_room(&mut self) -> io::Result<()> {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        } else if self.start > 0 {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else if self.end == self.bytes.len() {
            return self.grow();
        }
        Ok(())
    }

    #[cold]
    fn grow(&mut self) -> io::Result<()> {
        if self.bytes.len() >= MAX_MESSAGE_BYTES {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        self.bytes.resize(self.bytes.len() * 2, 0);
        Ok(())
    }
}

/// What a stream's error means for a call: a timeout after `limit`, or a lost connection.
#[cold]
pub(crate) fn io_error(source: io::Error, doing: &'static str, limit: Option<Duration>) -> Error {
    match source.kind() {
        // Sockets with a timeout say EAGAIN; connect and deadlines say timed out.
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            Error::Timeout { doing, seconds: limit.map_or(0, |limit| limit.as_secs().max(1)) }
        }
        io::ErrorKind::OutOfMemory => Error::Protocol {
            doing,
            detail: format!("a message is longer than {MAX_MESSAGE_BYTES} bytes"),
        },
        _ => Error::Lost { doing, source },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that gives at most `step` bytes at a time.
    struct Drip {
        left: Vec<u8>,
        step: usize,
    }

    impl Read for Drip {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let n = self.step.min(buf.len()).min(self.left.len());
            buf[..n].copy_from_slice(&self.left[..n]);
            self.left.drain(..n);
            Ok(n)
        }
    }

    #[test]
    fn keeps_what_is_not_consumed() {
        let mut buffer = RecvBuffer::new();
        let mut stream = Drip { left: b"abcdefgh".to_vec(), step: 3 };
        assert_eq!(buffer.fill(&mut stream).unwrap(), 3);
        buffer.consume(2);
        buffer.fill(&mut stream).unwrap();
        assert_eq!(buffer.unread(), b"cdef");
        buffer.consume(100);
        buffer.fill(&mut stream).unwrap();
        assert_eq!(buffer.unread(), b"gh");
        let end = buffer.fill(&mut stream).unwrap_err();
        assert!(matches!(io_error(end, "reading", None), Error::Lost { .. }));
    }

    #[test]
    fn grows_for_one_message_up_to_the_limit() {
        let mut buffer = RecvBuffer::new();
        let mut endless = io::repeat(7);
        let error = loop {
            match buffer.fill(&mut endless) {
                Ok(n) => assert!(n > 0),
                Err(error) => break error,
            }
        };
        assert_eq!(buffer.unread().len(), MAX_MESSAGE_BYTES);
        assert!(matches!(io_error(error, "reading", None), Error::Protocol { .. }));
        buffer.consume(MAX_MESSAGE_BYTES);
        assert!(buffer.fill(&mut endless).is_ok());
    }

    #[test]
    fn never_grows_when_consumed() {
        let mut buffer = RecvBuffer::new();
        let mut endless = io::repeat(7);
        for _ in 0..8 {
            buffer.fill(&mut endless).unwrap();
            buffer.consume(buffer.unread().len() - 1);
        }
        assert_eq!(buffer.bytes.len(), INITIAL_BYTES);
    }

    #[test]
    fn timeouts_name_their_limit() {
        let limit = Some(Duration::from_secs(30));
        let error = io_error(io::ErrorKind::WouldBlock.into(), "executing", limit);
        assert_eq!(error.to_string(), "no answer within 30 s while executing");
    }
}
