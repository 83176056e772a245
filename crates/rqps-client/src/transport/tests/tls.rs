//! TLS against a server of this process, whose certificates are made for the test.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;

use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection};

use super::*;

/// A certificate for `localhost` and its key.
struct Identity {
    certificate: Certificate,
    key: KeyPair,
}

fn self_signed() -> Identity {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    // As `openssl req -x509` makes them, which other clients refuse for a server.
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    Identity { certificate: params.self_signed(&key).unwrap(), key }
}

/// An authority's certificate in PEM, and an identity that it issued.
fn issued() -> (String, Identity) {
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().unwrap();
    let pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    (pem, Identity { certificate, key })
}

/// A server that answers one `ping` with `pong`, if the client agrees to its certificate.
fn serve(identity: &Identity) -> (Transport, JoinHandle<()>) {
    let connection = as_server(identity);
    accept(move |socket| {
        let mut stream = StreamOwned::new(connection, socket);
        let mut request = [0; 4];
        if stream.read_exact(&mut request).is_ok() {
            assert_eq!(&request, b"ping");
            stream.write_all(b"pong").unwrap();
            stream.flush().unwrap();
        }
    })
}

fn as_server(identity: &Identity) -> ServerConnection {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::try_from(identity.key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate.der().clone()], key)
        .unwrap();
    ServerConnection::new(Arc::new(config)).unwrap()
}

/// A stream to a thread that does as `script` says.
fn accept(script: impl FnOnce(TcpStream) + Send + 'static) -> (Transport, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let server = std::thread::spawn(move || script(listener.accept().unwrap().0));
    (Transport::Tcp(client), server)
}

/// Sends one byte every 10 ms, to the end or until the client has had enough. A whole record takes minutes.
fn drip(mut socket: &TcpStream, bytes: &[u8]) {
    for byte in bytes {
        if socket.write_all(&[*byte]).is_err() {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

/// Connects to `identity` by `name`, trusting the certificates of `pem`, and says how it went.
fn talk(identity: &Identity, name: &str, pem: Option<&str>) -> Result<String, Error> {
    talk_over(identity, name, pem, |ca| Tls::Required { ca })
}

fn talk_over(
    identity: &Identity,
    name: &str,
    pem: Option<&str>,
    tls: impl Fn(Option<PathBuf>) -> Tls,
) -> Result<String, Error> {
    let dir = tempfile::tempdir().unwrap();
    let ca = pem.map(|pem| -> PathBuf {
        let path = dir.path().join("ca.pem");
        std::fs::write(&path, pem).unwrap();
        path
    });
    let (client, server) = serve(identity);
    let upgraded = client.upgrade_to_tls(name, &tls(ca), &Deadline::NEVER);
    let result = upgraded.map(|mut stream| {
        stream.send(b"ping").unwrap();
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).unwrap();
        assert_eq!((&answer, stream.name()), (b"pong", "tls"));
        stream.tls_description()
    });
    server.join().unwrap();
    result
}

fn assert_not_trusted(result: Result<String, Error>) {
    let Err(Error::Tls { detail, .. }) = result else { panic!("{result:?}") };
    assert!(detail.contains("the CA file must hold"), "{detail}");
}

#[test]
fn any_certificate_will_do_without_a_file() {
    let description = talk(&self_signed(), "elsewhere", None).unwrap();
    assert!(description.starts_with("TLSv1.3 TLS13_"), "{description}");
}

#[test]
fn a_certificate_in_the_file_is_trusted_under_any_name() {
    let identity = self_signed();
    let pem = identity.certificate.pem();
    assert!(talk(&identity, "elsewhere", Some(&pem)).is_ok());
    assert_not_trusted(talk(&identity, "localhost", Some(&self_signed().certificate.pem())));
}

#[test]
fn an_authoritys_certificates_are_trusted_under_their_name() {
    let (pem, identity) = issued();
    assert!(talk(&identity, "localhost", Some(&pem)).is_ok());
    assert_not_trusted(talk(&identity, "elsewhere", Some(&pem)));
    assert_not_trusted(talk(&identity, "localhost", Some(&issued().0)));
}

#[test]
fn an_authoritys_certificates_are_trusted_under_any_name_where_that_is_enough() {
    let (pem, identity) = issued();
    let talk = |pem: &str| {
        talk_over(&identity, "elsewhere", Some(pem), |ca| Tls::Issued { ca: ca.unwrap() })
    };
    assert!(talk(&pem).is_ok());
    assert_not_trusted(talk(&issued().0));
}

#[test]
fn a_file_without_certificates_is_refused() {
    let Err(Error::Tls { detail, .. }) = talk(&self_signed(), "localhost", Some("text")) else {
        panic!()
    };
    assert!(detail.contains("no usable certificate"), "{detail}");
}

#[test]
fn what_is_decrypted_already_is_there_to_read() {
    let identity = self_signed();
    let (client, server) = serve(&identity);
    let never = Deadline::NEVER;
    let mut stream =
        client.upgrade_to_tls("localhost", &Tls::Required { ca: None }, &never).unwrap();
    stream.send(b"ping").unwrap();
    let mut half = [0; 2];
    stream.read_exact(&mut half).unwrap();
    // The socket has nothing more, but what came with the first half is not read.
    assert!(stream.await_readable(Duration::ZERO).unwrap());
    stream.read_exact(&mut half).unwrap();
    assert_eq!(&half, b"ng");
    server.join().unwrap();
}

/// How long the client waits.
const LIMIT: Duration = Duration::from_millis(200);

/// Within which it must have given up, on a host that is busy.
const WITHIN: Duration = Duration::from_secs(60);

#[test]
fn a_handshake_byte_by_byte_ends_at_the_deadline() {
    let (client, server) = accept(|socket| {
        // A record of the greatest length.
        drip(&socket, &[b"\x16\x03\x03\x40\x00\x02\x00\x3f\xfc", &[3; 16_380][..]].concat());
    });
    let since = Instant::now();
    let deadline = Deadline::after(LIMIT);
    let error =
        client.upgrade_to_tls("localhost", &Tls::Required { ca: None }, &deadline).unwrap_err();
    assert!(since.elapsed() < WITHIN, "{error}");
    assert!(matches!(error, Error::Timeout { doing: "setting up TLS", .. }), "{error:?}");
    server.join().unwrap();
}

#[test]
fn a_record_byte_by_byte_ends_with_the_timeout() {
    let mut connection = as_server(&self_signed());
    let (client, server) = accept(move |mut socket| {
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).unwrap();
        }
        connection.writer().write_all(&[7; 16_000]).unwrap();
        let mut record = Vec::new();
        while connection.wants_write() {
            connection.write_tls(&mut record).unwrap();
        }
        drip(&socket, &record);
    });
    let never = Deadline::NEVER;
    let mut stream =
        client.upgrade_to_tls("localhost", &Tls::Required { ca: None }, &never).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    for _ in 0..2 {
        let since = Instant::now();
        let error = stream.read(&mut [0; 8]).unwrap_err();
        assert!(since.elapsed() < WITHIN, "{error}");
        // The socket's own timeout says it in another word.
        let is_late = matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock);
        assert!(is_late, "{error:?}");
    }
    drop(stream);
    server.join().unwrap();
}

#[test]
fn records_in_many_pieces_are_read_whole() {
    let mut connection = as_server(&self_signed());
    let (client, server) = accept(move |mut socket| {
        while connection.is_handshaking() {
            connection.complete_io(&mut socket).unwrap();
        }
        for part in [b"po", b"ng"] {
            connection.writer().write_all(part).unwrap();
        }
        let mut record = Vec::new();
        while connection.wants_write() {
            connection.write_tls(&mut record).unwrap();
        }
        drip(&socket, &record);
    });
    let within = Deadline::after(WITHIN);
    let mut stream =
        client.upgrade_to_tls("localhost", &Tls::Required { ca: None }, &within).unwrap();
    // Also where a call has no limit.
    for (timeout, wanted) in [(Some(WITHIN), b"po"), (None, b"ng")] {
        stream.set_read_timeout(timeout).unwrap();
        let mut half = [0; 2];
        stream.read_exact(&mut half).unwrap();
        assert_eq!(&half, wanted);
    }
    server.join().unwrap();
}
