//! The TLS handshake, and which certificates are believed.
//!
//! With a file, the server's certificate must either be one of the file's (then its name does not
//! matter), or be issued by one of them for the name that is connected to. Without one, any
//! certificate will do: servers that rqps starts make their own on loopback, where encryption is
//! there for its cost alone.

use std::io;
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore,
    SignatureScheme, StreamOwned,
};

use super::timed::Timed;

type Stream = StreamOwned<ClientConnection, Timed>;

/// Which certificates are believed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trust<'a> {
    /// Every one.
    Any,
    /// Those of a file, and what they have issued for the name that is connected to.
    Named(&'a Path),
    /// Those of a file, and what they have issued.
    Issued(&'a Path),
}

/// A stream whose handshake is still to be done. The error is a sentence for [`crate::Error::Tls`].
pub(super) fn prepare(
    socket: Timed,
    server_name: &str,
    trust: Trust<'_>,
) -> Result<Stream, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let read = |path, any_name| TrustedFile::read(path, any_name, Arc::clone(&provider));
    let verifier: Arc<dyn ServerCertVerifier> = match trust {
        Trust::Any => Arc::new(AnyCertificate { provider: Arc::clone(&provider) }),
        Trust::Named(path) => Arc::new(read(path, false)?),
        Trust::Issued(path) => Arc::new(read(path, true)?),
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    let name = ServerName::try_from(server_name.to_owned())
        .map_err(|_| format!("{server_name:?} is not a host name"))?;
    let connection =
        ClientConnection::new(Arc::new(config), name).map_err(|error| error.to_string())?;
    Ok(StreamOwned::new(connection, socket))
}

/// Does the whole handshake before the deadline of the socket.
pub(super) fn handshake(stream: &mut Stream) -> io::Result<()> {
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    Ok(())
}

/// What is wrong with a handshake, as a sentence for [`crate::Error::Tls`].
pub(super) fn failed(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    let remedy = match inner {
        Some(rustls::Error::InvalidCertificate(_)) => {
            " (the CA file must hold the server's certificate, or that of the authority that \
             issued it for this name)"
        }
        _ => "",
    };
    format!("the handshake failed: {error}{remedy}")
}

/// Whether bytes that the server sent are decrypted and not yet read.
pub(super) fn has_plaintext(connection: &mut ClientConnection) -> bool {
    // What is wrong with a record is found by the read that follows.
    connection.process_new_packets().map_or(true, |state| state.plaintext_bytes_to_read() > 0)
}

/// Protocol and cipher suite of a connection: `TLSv1.3 TLS13_AES_256_GCM_SHA384`.
pub(super) fn description(connection: &ClientConnection) -> String {
    let version = match connection.protocol_version() {
        Some(rustls::ProtocolVersion::TLSv1_3) => "TLSv1.3".to_owned(),
        Some(rustls::ProtocolVersion::TLSv1_2) => "TLSv1.2".to_owned(),
        other => format!("{other:?}"),
    };
    match connection.negotiated_cipher_suite() {
        Some(suite) => format!("{version} {:?}", suite.suite()),
        None => version,
    }
}

/// Believes every certificate and does not even check that the server holds its key, which would
/// add nothing and refuses the X.509 v1 certificates of older servers.
#[derive(Debug)]
struct AnyCertificate {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// Believes the certificates of a file and what they have issued.
#[derive(Debug)]
struct TrustedFile {
    certificates: Vec<CertificateDer<'static>>,
    issued: Arc<WebPkiServerVerifier>,
    /// Whether what they have issued may be for another name.
    any_name: bool,
}

impl TrustedFile {
    fn read(path: &Path, any_name: bool, provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let bad = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect)
            .map_err(|error| bad(&error))?;
        let mut roots = RootCertStore::empty();
        let (n_usable, _) = roots.add_parsable_certificates(certificates.iter().cloned());
        if n_usable == 0 {
            return Err(bad(&"no usable certificate in the file (PEM, X.509 v3)"));
        }
        let issued = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|error| bad(&error))?;
        Ok(Self { certificates, issued, any_name })
    }
}

impl ServerCertVerifier for TrustedFile {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.certificates.iter().any(|trusted| trusted == end_entity) {
            return Ok(ServerCertVerified::assertion());
        }
        let verified = self.issued.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        // The name is looked at last: all else is in order then.
        match verified {
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.any_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.issued.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.issued.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.issued.supported_verify_schemes()
    }
}
