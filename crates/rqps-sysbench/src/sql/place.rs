//! Families of servers, and where one is and how to log in.

use std::time::Duration;

use rqps_client::Endpoint;

use crate::Error;

/// A family of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Driver {
    /// MySQL and MariaDB.
    Mysql,
    /// PostgreSQL.
    Pgsql,
}

impl Driver {
    /// A driver by the name that `--db-driver` takes.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "mysql" => Some(Self::Mysql),
            "pgsql" => Some(Self::Pgsql),
            _ => None,
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Mysql => "mysql",
            Self::Pgsql => "pgsql",
        }
    }
}

/// Longest time for one connection to be made and let in, as servers allow by default.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// A server, with how it is called in messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where and as whom.
    pub(crate) endpoint: Endpoint,
    /// Whether TLS is used where the server offers it, and done without where it does not.
    pub(crate) prefers_tls: bool,
    /// `host '127.0.0.1', port 3306` or `socket '/tmp/mysql.sock'`.
    pub(crate) called: String,
}

/// Ports; an empty one is that of the protocol, 0.
pub(super) fn ports(texts: &[String], option: &str) -> Result<Vec<u16>, Error> {
    let parse = |text: &String| match text.trim() {
        "" => Ok(0),
        port => port
            .parse::<u16>()
            .map_err(|_| Error::BadValue { name: option.to_owned(), value: text.clone() }),
    };
    texts.iter().map(parse).collect()
}
