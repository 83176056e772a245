//! HOT PATH: a socket under TLS of which all reads of one call together take no longer than one may. Budget: a
//! clock read for each read, and no other system call but where there is nothing to read yet.
//!
//! The TLS library reads on until it has a whole record, or a whole handshake. A server that sends a byte now and
//! then would never meet the socket's own timeout, which is for one read.

use std::io::{self, IoSlice, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd as _;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::RecvFlags;

use super::{Deadline, local};

/// A TCP socket and the end of the call under way.
#[derive(Debug)]
pub(crate) struct Timed {
    socket: TcpStream,
    /// The socket's own timeout.
    timeout: Option<Duration>,
    /// The end of the call under way; `None` before its first read, which the socket limits.
    deadline: Option<Deadline>,
}

impl Timed {
    /// A socket whose first call, the handshake, ends at `deadline`.
    pub(super) fn until(socket: TcpStream, deadline: Deadline) -> Self {
        let timeout = socket.read_timeout().ok().flatten();
        Self { socket, timeout, deadline: Some(deadline) }
    }

    pub(super) fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Another call begins.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.deadline = None;
    }

    /// The longest time for the reads of one call; `None` waits for ever.
    pub(super) fn set_read_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        self.timeout = timeout;
        self.socket.set_read_timeout(timeout)
    }

    /// What there is; waits for it until the deadline.
    fn read_before(&self, deadline: &Deadline, buf: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = deadline.remaining()?;
            // The rest of what a call began with is there already as a rule.
            match rustix::net::recv(&self.socket, &mut *buf, RecvFlags::DONTWAIT) {
                Ok((n, _)) => return Ok(n),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => {}
                Err(errno) => return Err(errno.into()),
            }
            match local::wait(self.socket.as_fd(), left.map(local::timespec).as_ref()) {
                // Whether the time is over is looked at again.
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl Read for Timed {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if let Some(deadline) = self.deadline {
            return self.read_before(&deadline, buf);
        }
        self.deadline = Some(self.timeout.map_or(Deadline::NEVER, Deadline::after));
        self.socket.read(buf)
    }
}

impl Write for Timed {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.socket.write(buf)
    }

    #[inline]
    fn write_vectored(&mut self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.socket.write_vectored(bufs)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        self.socket.flush()
    }
}
