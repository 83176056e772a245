//! Streams against sockets of this process.

mod tls;

use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};

use super::*;
use crate::Password;

fn endpoint(address: Address, timeout_ms: u64) -> Endpoint {
    Endpoint {
        address,
        tls: Tls::Off,
        user: "u".into(),
        password: Password::default(),
        server_public_key: None,
        database: String::new(),
        on_login: None,
        startup: crate::Startup::default(),
        connect_timeout: Duration::from_millis(timeout_ms),
    }
}

#[test]
fn bytes_travel_over_tcp_and_unix() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let unix = UnixListener::bind(&path).unwrap();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();

    let mut client = Transport::connect(&endpoint(Address::Unix(path), 5_000)).unwrap();
    let mut server = unix.accept().unwrap().0;
    client.send(b"ping").unwrap();
    let mut got = [0; 4];
    server.read_exact(&mut got).unwrap();
    assert_eq!((&got, client.name()), (b"ping", "socket"));

    let address = Address::Tcp { host: "127.0.0.1".into(), port };
    let mut client = Transport::connect(&endpoint(address, 5_000)).unwrap();
    let mut server = tcp.accept().unwrap().0;
    client.send(b"pong").unwrap();
    server.read_exact(&mut got).unwrap();
    assert_eq!((&got, client.name()), (b"pong", "tcp"));
}

#[test]
fn nobody_listening_is_a_connect_error() {
    let dir = tempfile::tempdir().unwrap();
    let missing = Address::Unix(dir.path().join("missing"));
    assert!(matches!(Transport::connect(&endpoint(missing, 100)), Err(Error::Connect { .. })));
    let too_long = Address::Unix(dir.path().join("x".repeat(200)));
    assert!(matches!(Transport::connect(&endpoint(too_long, 100)), Err(Error::Connect { .. })));
}

#[test]
fn a_full_backlog_times_out() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s");
    let _listener = UnixListener::bind(&path).unwrap();
    // Lower the backlog of the bound socket to nothing, then fill it.
    nix::sys::socket::listen(&_listener, nix::sys::socket::Backlog::new(0).unwrap()).unwrap();
    let mut waiting = Vec::new();
    let error = loop {
        match Transport::connect(&endpoint(Address::Unix(path.clone()), 50)) {
            Ok(stream) => waiting.push(stream),
            Err(error) => break error,
        }
        assert!(waiting.len() < 10_000, "the backlog never fills");
    };
    let Error::Connect { source, .. } = error else { panic!("{error:?}") };
    assert_eq!(source.kind(), io::ErrorKind::TimedOut);
}

#[test]
fn a_silent_peer_times_out_and_a_broken_stream_ends() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let mut stream = Transport::Unix(Local::new(ours));
    stream.set_read_timeout(Some(Duration::ZERO)).unwrap();
    let error = stream.read(&mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    stream.breaker().unwrap().break_off();
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn tls_needs_tcp_and_a_readable_file() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let required = Tls::Required { ca: Some("missing.pem".into()) };
    let never = Deadline::NEVER;
    let refused = Transport::Unix(Local::new(ours)).upgrade_to_tls("localhost", &required, &never);
    assert!(matches!(refused, Err(Error::Unsupported { .. })));

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let refused = Transport::Tcp(socket).upgrade_to_tls("localhost", &required, &never);
    let Err(Error::Tls { detail, .. }) = refused else { panic!("{refused:?}") };
    assert!(detail.starts_with("missing.pem: "), "{detail}");
}

#[test]
fn a_deadline_passes() {
    assert!(Deadline::after(Duration::ZERO).remaining().is_err());
    assert!(Deadline::after(Duration::from_secs(60)).remaining().unwrap().is_some());
    assert_eq!(Deadline::after(Duration::MAX).remaining().unwrap(), None);
    assert_eq!(Deadline::NEVER.remaining().unwrap(), None);
}
