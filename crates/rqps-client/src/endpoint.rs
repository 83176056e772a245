//! Where a server is and how to log in: what a connection needs to be opened.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// A server's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Path of the socket file itself (`DIR/mysql.sock`, `DIR/.s.PGSQL.5432`).
    Unix(PathBuf),
    /// Host name or address, and port.
    Tcp {
        /// Name or address.
        host: String,
        /// Port.
        port: u16,
    },
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "{}", path.display()),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
        }
    }
}

/// Whether the connection is encrypted. Never negotiated down: it is as asked for, or fails.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Tls {
    /// No TLS.
    #[default]
    Off,
    /// TLS; the server's certificate is checked against this file's, or not at all when `None`
    /// (servers that rqps starts make their own certificate on loopback).
    Required {
        /// PEM file of the authority to trust.
        ca: Option<PathBuf>,
    },
    /// TLS; the server's certificate is one of this file's or issued by one of them, for whatever name:
    /// those that MySQL makes for itself name no host.
    Issued {
        /// PEM file of the authority to trust.
        ca: PathBuf,
    },
}

/// A password that does not show itself in debug output.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Password(pub String);

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "Password(none)" } else { "Password(...)" })
    }
}

/// The character set of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SessionCharset {
    /// The one that costs the server no conversion: latin1 where MySQL's own is latin1, else UTF-8.
    #[default]
    NoConversion,
    /// The one that client libraries choose: utf8mb4 on MySQL, that of the database on PostgreSQL.
    ClientLibrary,
}

/// A startup parameter of a PostgreSQL session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// Its name: a setting of the server, or `options`.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// Settings of a new session besides its user and database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Startup {
    /// The character set.
    pub charset: SessionCharset,
    /// PostgreSQL's startup parameters, which go before rqps's own of the same name.
    pub parameters: Vec<Parameter>,
}

/// Everything that is needed to open a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// Where the server listens.
    pub address: Address,
    /// Whether the connection is encrypted.
    pub tls: Tls,
    /// User name.
    pub user: String,
    /// Password; empty for none.
    pub password: Password,
    /// PEM file of the RSA key that may encrypt MySQL's password over a network without TLS. The key
    /// that a remote server sends is not trusted.
    pub server_public_key: Option<PathBuf>,
    /// Database to use; empty for the server's default.
    pub database: String,
    /// A statement that every session of PostgreSQL's protocol begins with, such as one that sets its schema.
    pub on_login: Option<String>,
    /// Settings of the new session.
    pub startup: Startup,
    /// Longest time for connecting and authenticating together.
    pub connect_timeout: Duration,
}
