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
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let key = PrivateKeyDer::try_from(identity.key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![identity.certificate.der().clone()], key)
        .unwrap();
    let server = std::thread::spawn(move || {
        let socket = listener.accept().unwrap().0;
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(connection, socket);
        let mut request = [0; 4];
        if stream.read_exact(&mut request).is_ok() {
            assert_eq!(&request, b"ping");
            stream.write_all(b"pong").unwrap();
            stream.flush().unwrap();
        }
    });
    (Transport::Tcp(client), server)
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
    let upgraded = client.upgrade_to_tls(name, &tls(ca));
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
    assert!(detail.contains("trusted certificates"), "{detail}");
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
    let mut stream = client.upgrade_to_tls("localhost", &Tls::Required { ca: None }).unwrap();
    stream.send(b"ping").unwrap();
    let mut half = [0; 2];
    stream.read_exact(&mut half).unwrap();
    // The socket has nothing more, but what came with the first half is not read.
    assert!(stream.await_readable(Duration::ZERO).unwrap());
    stream.read_exact(&mut half).unwrap();
    assert_eq!(&half, b"ng");
    server.join().unwrap();
}
