//! What a connection really is, as opposed to what was asked for.

use rqps_model::Version;

/// Facts of one open connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Session {
    /// The version that the server announced, unparsed.
    pub server_version_text: String,
    /// The version, where it could be read.
    pub server_version: Option<Version>,
    /// `socket`, `tcp` or `tls`.
    pub transport: String,
    /// TLS protocol and cipher: `TLSv1.3 TLS13_AES_256_GCM_SHA384`; empty without TLS.
    pub tls: String,
    /// Authentication plugin or method that was used in the end.
    pub auth: String,
    /// The connection's id on the server: `CONNECTION_ID()`, or the backend's process id.
    pub connection_id: u64,
}
