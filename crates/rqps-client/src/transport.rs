//! The byte stream under both protocols: a unix socket, TCP, or TLS on TCP.
//!
//! It knows nothing of messages. Errors of a running stream are plain [`io::Error`]s; what they mean
//! for a call is said by [`crate::buffer::io_error`].

mod dial;
mod local;
mod timed;
mod tls;

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::SendFlags;
use rustls::{ClientConnection, StreamOwned};

use crate::buffer::io_error;
use crate::{Address, Breaker, Endpoint, Error, Tls};
use local::Local;
use timed::Timed;
use tls::Trust;

/// An open stream to a server.
#[derive(Debug)]
pub(crate) enum Transport {
    /// A unix socket.
    Unix(Local),
    /// TCP, not delayed.
    Tcp(TcpStream),
    /// TLS on TCP, with the handshake done.
    Tls(Box<StreamOwned<ClientConnection, Timed>>),
}

impl Transport {
    /// Connects within the endpoint's connect timeout, TCP to the first address that answers.
    ///
    /// TLS is not set up here: when it begins is up to the protocol, see [`Self::upgrade_to_tls`].
    ///
    /// # Errors
    /// [`Error::Connect`] when nothing answers in time.
    pub(crate) fn connect(endpoint: &Endpoint) -> Result<Self, Error> {
        let deadline = Deadline::after(endpoint.connect_timeout);
        match &endpoint.address {
            Address::Unix(path) => {
                dial::unix(path, &deadline).map(|socket| Self::Unix(Local::new(socket)))
            }
            Address::Tcp { host, port } => dial::tcp(host, *port, &deadline).map(Self::Tcp),
        }
        .map_err(|source| Error::Connect { address: endpoint.address.to_string(), source })
    }

    /// Does the TLS handshake over this stream, all of it before `deadline`.
    ///
    /// The caller has made sure that no byte received before it is still unread. A stream that is
    /// TLS already, and [`Tls::Off`], leave it as it is.
    ///
    /// # Errors
    /// [`Error::Tls`] for a bad file, certificate or handshake; [`Error::Timeout`] at the deadline;
    /// [`Error::Unsupported`] on a unix socket.
    pub(crate) fn upgrade_to_tls(
        self,
        server_name: &str,
        tls: &Tls,
        deadline: &Deadline,
    ) -> Result<Self, Error> {
        let trust = match tls {
            Tls::Off => return Ok(self),
            Tls::Required { ca: None } => Trust::Any,
            Tls::Required { ca: Some(ca) } => Trust::Named(ca),
            Tls::Issued { ca } => Trust::Issued(ca),
        };
        match self {
            Self::Unix(_) => Err(Error::Unsupported {
                what: "TLS on a unix socket: connect to a TCP address, or do without TLS".into(),
            }),
            Self::Tcp(socket) => {
                let bad = |detail| Error::Tls { address: server_name.to_owned(), detail };
                let socket = Timed::until(socket, *deadline);
                let mut stream = tls::prepare(socket, server_name, trust).map_err(bad)?;
                match tls::handshake(&mut stream) {
                    Ok(()) => Ok(Self::Tls(Box::new(stream))),
                    Err(source) if source.kind() == io::ErrorKind::TimedOut => {
                        Err(io_error(source, "setting up TLS", deadline.limit()))
                    }
                    Err(source) => Err(bad(tls::failed(&source))),
                }
            }
            Self::Tls(_) => Ok(self),
        }
    }

    /// Sends all bytes, in one system call where the kernel takes them in one.
    #[inline]
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Unix(local) => send_all(local.socket().as_fd(), bytes),
            Self::Tcp(socket) => send_all(socket.as_fd(), bytes),
            Self::Tls(_) => self.send_encrypted(bytes),
        }
    }

    #[inline(never)]
    fn send_encrypted(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Self::Tls(stream) = self {
            stream.sock.begin();
        }
        // rustls reports a failed send only when flushed.
        self.write_all(bytes).and_then(|()| self.flush())
    }

    /// Waits until there is something to read, the stream's end included, but no longer than `at_most`;
    /// says whether there is.
    pub(crate) fn await_readable(&mut self, at_most: Duration) -> io::Result<bool> {
        if let Self::Tls(stream) = self
            && tls::has_plaintext(&mut stream.conn)
        {
            return Ok(true);
        }
        let fd = match &*self {
            Self::Unix(local) => local.socket().as_fd(),
            Self::Tcp(socket) => socket.as_fd(),
            Self::Tls(stream) => stream.sock.socket().as_fd(),
        };
        match local::wait(fd, Some(&local::timespec(at_most))) {
            Err(Errno::INTR) => Ok(false),
            found => Ok(found?),
        }
    }

    /// The longest time for one read, with TLS of all that it takes of the socket; `None` waits for ever.
    pub(crate) fn set_read_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.map(not_zero);
        match self {
            Self::Unix(local) => {
                local.set_read_timeout(timeout);
                Ok(())
            }
            Self::Tcp(socket) => socket.set_read_timeout(timeout),
            Self::Tls(stream) => stream.sock.set_read_timeout(timeout),
        }
    }

    /// The longest time for one write; `None` waits for ever.
    pub(crate) fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.map(not_zero);
        match self {
            Self::Unix(local) => local.socket().set_write_timeout(timeout),
            Self::Tcp(socket) => socket.set_write_timeout(timeout),
            Self::Tls(stream) => stream.sock.socket().set_write_timeout(timeout),
        }
    }

    /// A handle that other threads can use to break the stream.
    pub(crate) fn breaker(&self) -> io::Result<Breaker> {
        match self {
            Self::Unix(local) => local.socket().try_clone().map(Breaker::Unix),
            Self::Tcp(socket) => socket.try_clone().map(Breaker::Tcp),
            Self::Tls(stream) => stream.sock.socket().try_clone().map(Breaker::Tcp),
        }
    }

    /// Ends the stream in both directions, so that whatever comes next fails.
    pub(crate) fn shutdown(&self) {
        // A stream that is closed already is fine.
        let _ = match self {
            Self::Unix(local) => local.socket().shutdown(Shutdown::Both),
            Self::Tcp(socket) => socket.shutdown(Shutdown::Both),
            Self::Tls(stream) => stream.sock.socket().shutdown(Shutdown::Both),
        };
    }

    /// `socket`, `tcp` or `tls`, as in [`crate::Session::transport`].
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Unix(_) => "socket",
            Self::Tcp(_) => "tcp",
            Self::Tls(_) => "tls",
        }
    }

    /// TLS protocol and cipher suite, as in [`crate::Session::tls`]: `TLSv1.3
    /// TLS13_AES_256_GCM_SHA384`; empty without TLS.
    pub(crate) fn tls_description(&self) -> String {
        match self {
            Self::Tls(stream) => tls::description(&stream.conn),
            Self::Unix(_) | Self::Tcp(_) => String::new(),
        }
    }
}

impl Read for Transport {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(local) => local.read(buf),
            Self::Tcp(socket) => Ok(rustix::io::read(socket, buf)?),
            Self::Tls(stream) => read_decrypted(stream, buf),
        }
    }
}

impl Write for Transport {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(local) => local.socket().write(buf),
            Self::Tcp(socket) => socket.write(buf),
            Self::Tls(stream) => stream.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Unix(local) => local.socket().flush(),
            Self::Tcp(socket) => socket.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}

#[inline(never)]
fn read_decrypted(
    stream: &mut StreamOwned<ClientConnection, Timed>,
    buf: &mut [u8],
) -> io::Result<usize> {
    stream.sock.begin();
    stream.read(buf)
}

/// Sends without the C library, whose calls are cancellation points in a program of several threads and
/// take user time for that.
#[inline]
fn send_all(socket: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::net::send(socket, bytes, SendFlags::NOSIGNAL) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => bytes = bytes.get(n..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// Sockets refuse a timeout of zero, so the shortest is a millisecond.
fn not_zero(timeout: Duration) -> Duration {
    timeout.max(Duration::from_millis(1))
}

/// A point in time at which a connection attempt, authentication included, gives up, or one call on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadline {
    /// `None` is for ever.
    at: Option<Instant>,
    limit: Option<Duration>,
}

impl Deadline {
    /// One that never comes.
    pub(crate) const NEVER: Self = Self { at: None, limit: None };

    /// `limit` from now; for ever when that is beyond the clock.
    pub(crate) fn after(limit: Duration) -> Self {
        Self { at: Instant::now().checked_add(limit), limit: Some(limit) }
    }

    /// How long it was from its beginning to its end.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// The time left, `None` for ever.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] when it has passed.
    pub(crate) fn remaining(&self) -> io::Result<Option<Duration>> {
        let Some(at) = self.at else { return Ok(None) };
        let left = at.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

#[cfg(test)]
mod tests;
