//! The other end of a connection: one client, a script, then the end.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::thread::JoinHandle;

use super::*;
use crate::Address;

trait Stream: Read + Write + Send {}
impl<T: Read + Write + Send> Stream for T {}

/// What the script talks through.
pub(super) struct Peer(Box<dyn Stream>);

/// The thread that runs the script, and where to reach it.
pub(super) struct Server {
    pub(super) endpoint: Endpoint,
    thread: JoinHandle<()>,
    _dir: Option<tempfile::TempDir>,
}

impl Server {
    /// Waits for the script's end and fails when it failed.
    pub(super) fn finish(self) {
        self.thread.join().unwrap();
    }
}

pub(super) fn endpoint(address: Address) -> Endpoint {
    Endpoint {
        address,
        tls: Tls::Off,
        user: "rqps".into(),
        password: Password("secret".into()),
        server_public_key: None,
        database: "db".into(),
        on_login: None,
        startup: crate::Startup::default(),
        connect_timeout: Duration::from_secs(60),
    }
}

/// A server on a unix socket.
pub(super) fn serve(script: impl FnOnce(&mut Peer) + Send + 'static) -> Server {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let listener = UnixListener::bind(&path).unwrap();
    let thread = std::thread::spawn(move || {
        script(&mut Peer(Box::new(listener.accept().unwrap().0)));
    });
    Server { endpoint: endpoint(Address::Unix(path)), thread, _dir: Some(dir) }
}

/// A server on a TCP socket.
pub(super) fn serve_tcp(script: impl FnOnce(&mut Peer) + Send + 'static) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        script(&mut Peer(Box::new(listener.accept().unwrap().0)));
    });
    let address = Address::Tcp { host: "127.0.0.1".into(), port };
    Server { endpoint: endpoint(address), thread, _dir: None }
}

impl Peer {
    /// A message that has no tag: the first ones.
    pub(super) fn untagged(&mut self) -> Vec<u8> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length).unwrap();
        let mut body = vec![0; u32::from_be_bytes(length) as usize - 4];
        self.0.read_exact(&mut body).unwrap();
        body
    }

    /// The next request: its tag and body.
    pub(super) fn request(&mut self) -> (u8, Vec<u8>) {
        self.request_or_end().expect("a request")
    }

    /// The next request, or nothing when the client has closed.
    pub(super) fn request_or_end(&mut self) -> Option<(u8, Vec<u8>)> {
        let mut tag = [0];
        self.0.read_exact(&mut tag).ok()?;
        Some((tag[0], self.untagged()))
    }

    /// Sends messages of tags and bodies, in two pieces cut inside a message.
    pub(super) fn answer(&mut self, messages: &[(u8, &[u8])]) {
        let mut bytes = Vec::new();
        for (tag, body) in messages {
            bytes.push(*tag);
            bytes.extend(u32::try_from(body.len() + 4).unwrap().to_be_bytes());
            bytes.extend(*body);
        }
        let (first, second) = bytes.split_at(bytes.len() - 3);
        self.send_raw(first);
        self.send_raw(second);
    }

    /// Sends bytes; a client that has gone is its own test's business.
    pub(super) fn send_raw(&mut self, bytes: &[u8]) {
        let _ = self.0.write_all(bytes);
    }

    /// Lets the client in without a password.
    pub(super) fn let_in(&mut self) {
        self.untagged();
        self.welcome();
    }

    /// Everything from the end of authentication to readiness.
    pub(super) fn welcome(&mut self) {
        self.answer(&[
            (b'R', b"\0\0\0\0"),
            (b'S', b"server_version\x0017.4 (Debian 17.4-1)\0"),
            (b'S', b"TimeZone\0UTC\0"),
            (b'K', b"\0\0\x10\x01key!"),
            (b'Z', b"I"),
        ]);
    }
}
