//! Opens sockets within a deadline.

use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::path::Path;

use nix::errno::Errno;
use nix::sys::socket::{self, AddressFamily, SockFlag, SockType, UnixAddr, sockopt};
use nix::sys::time::TimeVal;

use super::Deadline;

/// Connects to a unix socket.
///
/// The kernel lets a connect wait for ever while the listener's backlog is full, but no longer than
/// the socket's send timeout (unix(7); `unix_stream_connect` in net/unix/af_unix.c).
pub(super) fn unix(path: &Path, deadline: &Deadline) -> io::Result<UnixStream> {
    let address = UnixAddr::new(path)?;
    let kind = (AddressFamily::Unix, SockType::Stream);
    let fd = socket::socket(kind.0, kind.1, SockFlag::SOCK_CLOEXEC, None)?;
    loop {
        let limit = deadline.remaining()?.map(|left| left.as_micros().max(1));
        // Zero means no limit, both for the kernel and for a limit beyond what it can hold.
        let micros = limit.and_then(|micros| i64::try_from(micros).ok()).unwrap_or(0);
        let timeout = TimeVal::new(micros / 1_000_000, micros % 1_000_000);
        socket::setsockopt(&fd, sockopt::SendTimeout, &timeout)?;
        match socket::connect(fd.as_raw_fd(), &address) {
            Ok(()) => break,
            Err(Errno::EINTR) => {}
            Err(Errno::EAGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            Err(errno) => return Err(errno.into()),
        }
    }
    socket::setsockopt(&fd, sockopt::SendTimeout, &TimeVal::new(0, 0))?;
    Ok(UnixStream::from(fd))
}

/// Connects to the first address of a host that answers; each gets an equal share of the time left.
///
/// The lookup of the name itself has no limit but the resolver's own.
pub(super) fn tcp(host: &str, port: u16, deadline: &Deadline) -> io::Result<TcpStream> {
    let addresses: Vec<_> = (host, port).to_socket_addrs()?.collect();
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for (tried, address) in addresses.iter().enumerate() {
        let attempt = match deadline.remaining()? {
            Some(left) => {
                let n_left = u32::try_from(addresses.len() - tried).unwrap_or(1);
                let share = (left / n_left).max(std::time::Duration::from_millis(1));
                TcpStream::connect_timeout(address, share)
            }
            None => TcpStream::connect(address),
        };
        match attempt {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                // A host that is gone is noticed in the end, also by who waits for an answer without limit.
                socket::setsockopt(&socket, sockopt::KeepAlive, &true)?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_host_that_is_gone_is_noticed() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let deadline = Deadline::after(Duration::from_secs(60));
        let socket = tcp("127.0.0.1", listener.local_addr().unwrap().port(), &deadline).unwrap();
        assert!(socket::getsockopt(&socket, sockopt::KeepAlive).unwrap());
        assert!(socket.nodelay().unwrap());
    }
}
