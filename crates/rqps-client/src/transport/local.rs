//! A unix socket, waited for by poll(2).
//!
//! A thread that blocks in read(2) on a unix socket is also woken when the other side takes what it sent,
//! as there is room to write again: two context switches for each answer in place of one. poll(2) is told what
//! it waits for.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

/// A unix socket and how long one read of it may take.
#[derive(Debug)]
pub(crate) struct Local {
    socket: UnixStream,
    read_timeout: Option<Timespec>,
}

impl Local {
    pub(super) fn new(socket: UnixStream) -> Self {
        Self { socket, read_timeout: None }
    }

    pub(super) fn socket(&self) -> &UnixStream {
        &self.socket
    }

    /// The longest time for one read; `None` waits for ever.
    pub(super) fn set_read_timeout(&mut self, timeout: Option<Duration>) {
        self.read_timeout = timeout.map(timespec);
    }

    /// What there is, at most a buffer full; waits for it.
    ///
    /// # Errors
    /// As of read(2) on a socket with a timeout: `WouldBlock` when it has passed.
    #[inline]
    pub(super) fn read(&self, buf: &mut [u8]) -> io::Result<usize> {
        if wait(self.socket.as_fd(), self.read_timeout.as_ref())? {
            Ok(rustix::io::read(&self.socket, buf)?)
        } else {
            Err(Errno::AGAIN.into())
        }
    }
}

/// The same time as poll(2) takes it.
pub(super) fn timespec(time: Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(time.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// Waits until there is something to read, the end included; says whether there is.
#[inline]
pub(super) fn wait(fd: BorrowedFd<'_>, at_most: Option<&Timespec>) -> rustix::io::Result<bool> {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::IN)];
    rustix::event::poll(&mut fds, at_most).map(|n| n > 0)
}
