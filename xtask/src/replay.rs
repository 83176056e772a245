//! The limit of what a client can cost: requests recorded once, sent again and again, answers
//! skipped message by message, as a client must that does not know where an answer ends.
//!
//! A proxy on a socket of its own sits between one of our connections and the server while every
//! request of an event is sent twice. Then the connection is dropped, and the loop goes on with the
//! proxy's own socket to the server, which is logged in and has the statements prepared.

use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use anyhow::{Context as _, Result, anyhow, ensure};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// One request and the length of its answer.
#[derive(Debug, Clone)]
struct Exchange {
    request: Vec<u8>,
    answer_bytes: usize,
}

/// A proxy that records what passes.
#[derive(Debug)]
pub(crate) struct Recorder {
    thread: JoinHandle<Result<(UnixStream, Vec<Exchange>)>>,
    stop: Sender<()>,
}

impl Recorder {
    /// Listens at `path` for one connection and passes it on to the server's socket.
    pub(crate) fn listen(path: &Path, server: &Path) -> Result<Self> {
        let listener = UnixListener::bind(path).context("listen on the recorder's socket")?;
        let server = server.to_owned();
        let (stop, stopped) = channel();
        let thread = std::thread::spawn(move || {
            let (client, _) = listener.accept().context("accept")?;
            let server = UnixStream::connect(&server).context("connect to the server")?;
            record(client, server, &stopped)
        });
        Ok(Self { thread, stop })
    }

    /// Ends the recording; the exchanges since the beginning come back with the server's socket.
    pub(crate) fn finish(self) -> Result<Replay> {
        let _ = self.stop.send(());
        let (socket, exchanges) =
            self.thread.join().map_err(|_| anyhow!("the recorder ended early"))??;
        Ok(Replay { socket, exchanges })
    }
}

fn record(
    mut client: UnixStream,
    mut server: UnixStream,
    stopped: &Receiver<()>,
) -> Result<(UnixStream, Vec<Exchange>)> {
    let mut exchanges: Vec<Exchange> = Vec::new();
    let mut buffer = vec![0; 1 << 20];
    let mut server_spoke_last = true;
    while stopped.try_recv().is_err() {
        let mut fds = [
            PollFd::new(client.as_fd(), PollFlags::POLLIN),
            PollFd::new(server.as_fd(), PollFlags::POLLIN),
        ];
        poll(&mut fds, PollTimeout::from(20_u8)).context("poll")?;
        let [from_client, from_server] = fds.map(|fd| fd.any().unwrap_or(false));
        if from_server {
            let n = server.read(&mut buffer).context("read from the server")?;
            ensure!(n > 0, "the server closed the connection while it was recorded");
            if let Some(last) = exchanges.last_mut() {
                last.answer_bytes += n;
            }
            server_spoke_last = true;
            client.write_all(&buffer[..n]).context("pass an answer on")?;
        } else if from_client {
            let n = client.read(&mut buffer).context("read from the client")?;
            if n == 0 {
                break;
            }
            if server_spoke_last {
                exchanges.push(Exchange { request: Vec::new(), answer_bytes: 0 });
            }
            server_spoke_last = false;
            if let Some(last) = exchanges.last_mut() {
                last.request.extend_from_slice(&buffer[..n]);
            }
            server.write_all(&buffer[..n]).context("pass a request on")?;
        }
    }
    Ok((server, exchanges))
}

/// How a protocol says how long a message is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Framing {
    /// MySQL: three bytes of length, little end first, and a number; then the body.
    Mysql,
    /// PostgreSQL: a letter and four bytes of length, big end first, which count themselves.
    Postgres,
}

impl Framing {
    const fn header_bytes(self) -> usize {
        match self {
            Self::Mysql => 4,
            Self::Postgres => 5,
        }
    }

    /// Length of the whole message whose header this is.
    fn message_bytes(self, header: &[u8]) -> usize {
        match (self, header) {
            (Self::Mysql, [a, b, c, ..]) => 4 + u32::from_le_bytes([*a, *b, *c, 0]) as usize,
            (Self::Postgres, [_, a, b, c, d, ..]) => {
                1 + u32::from_be_bytes([*a, *b, *c, *d]) as usize
            }
            _ => 0,
        }
    }
}

/// Recorded exchanges and the socket to send them over again.
#[derive(Debug)]
pub(crate) struct Replay {
    socket: UnixStream,
    exchanges: Vec<Exchange>,
}

impl Replay {
    /// Keeps only the last `n` exchanges: those of one event, all statements known to the server.
    pub(crate) fn keep_last(&mut self, n: usize) -> Result<()> {
        ensure!(self.exchanges.len() > n, "recorded {} exchanges", self.exchanges.len());
        self.exchanges.drain(..self.exchanges.len() - n);
        Ok(())
    }

    /// Sends every request once and skips its answer; returns the requests sent.
    pub(crate) fn event(&mut self, framing: Framing, buffer: &mut [u8]) -> Result<u64> {
        for exchange in &self.exchanges {
            self.socket.write_all(&exchange.request)?;
            let mut left = exchange.answer_bytes;
            // Bytes in the buffer, and where in it the next message begins (it may lie beyond).
            let (mut filled, mut next) = (0, 0);
            while left > 0 {
                let n = self.socket.read(&mut buffer[filled..])?;
                ensure!(n > 0 && n <= left, "an answer has another length than when recorded");
                left -= n;
                filled += n;
                while next + framing.header_bytes() <= filled {
                    next += framing.message_bytes(&buffer[next..filled]);
                }
                let keep = filled.saturating_sub(next);
                buffer.copy_within(filled - keep..filled, 0);
                next = next.saturating_sub(filled - keep);
                filled = keep;
            }
        }
        Ok(self.exchanges.len() as u64)
    }
}
