//! Errors of clients, classed by what a load generator does about them.

use std::io;

/// What to do about an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// Roll the event back, count it, try again: deadlocks, lock waits, serialization failures.
    Retry,
    /// Stop the step: anything else that the server says.
    Abort,
    /// The connection is gone: the server died, or something broke it.
    Lost,
}

/// What a server said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("server error {code}: {message}", code = if self.errno == 0 { self.sqlstate.clone() } else { format!("{} ({})", self.errno, self.sqlstate) })]
pub struct ServerError {
    /// MySQL's error number; 0 for PostgreSQL.
    pub errno: u16,
    /// SQLSTATE, five characters; empty where the server sent none.
    pub sqlstate: String,
    /// The server's text.
    pub message: String,
    /// PostgreSQL's notes, where it sends some.
    pub notes: Option<Box<ErrorNotes>>,
}

/// PostgreSQL's notes on an error besides its text; empty without any.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorNotes {
    /// Where in the statement: characters from 1; 0 for nowhere.
    pub position: usize,
    /// More about it.
    pub detail: String,
    /// What to do about it.
    pub hint: String,
}

impl ServerError {
    /// The short code under which the error is counted: MySQL's number, PostgreSQL's SQLSTATE.
    #[must_use]
    pub fn code(&self) -> String {
        if self.errno == 0 { self.sqlstate.clone() } else { self.errno.to_string() }
    }

    /// Whether a prepared statement of this connection is not there, or another one's is under its name: a proxy sends
    /// statements of one client to several connections of the server. MySQL 1243 (ER_UNKNOWN_STMT_HANDLER), PostgreSQL
    /// 26000 (invalid_sql_statement_name), 42P05 (duplicate_prepared_statement) and 08P01 (protocol_violation), which
    /// has other causes, too, where the text names a prepared statement.
    #[must_use]
    pub fn is_lost_statement(&self) -> bool {
        match (self.errno, self.sqlstate.as_str()) {
            (0, "26000" | "42P05") => true,
            (0, "08P01") => self.message.contains("prepared statement"),
            (errno, _) => errno == 1243,
        }
    }

    /// Whether the server has as many connections as it may have: MySQL 1040 (ER_CON_COUNT_ERROR), 1203 and
    /// 1226 (those of one user), PostgreSQL 53300 (too_many_connections).
    #[must_use]
    pub fn is_too_many_connections(&self) -> bool {
        match self.errno {
            0 => self.sqlstate == "53300",
            errno => matches!(errno, 1040 | 1203 | 1226),
        }
    }

    /// Whether the server lacks memory or threads for a client: MySQL 1135 (ER_CANT_CREATE_THREAD),
    /// 1037 and 1041 (out of memory), PostgreSQL 53000 and 53200 (insufficient_resources, out_of_memory).
    #[must_use]
    pub fn is_out_of_resources(&self) -> bool {
        match self.errno {
            0 => matches!(self.sqlstate.as_str(), "53000" | "53200"),
            errno => matches!(errno, 1135 | 1037 | 1041),
        }
    }

    /// The error's class, by number or SQLSTATE.
    ///
    /// Retried are MySQL 1213 (deadlock), 1205 (lock wait timeout), 1020 (record changed) and
    /// PostgreSQL 40001, 40P01, 23505, 55P03. A server's last words on a connection are a loss of it:
    /// MySQL 1053 (shutdown), 3169 (session killed), 4031 (idle for too long), MariaDB 1927 (killed),
    /// PostgreSQL 57P01, 57P02 (shutdown, crash), 57P03 (not yet or no longer up), 57P05 (idle for too long).
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        let ends = match self.errno {
            0 => matches!(self.sqlstate.as_str(), "57P01" | "57P02" | "57P03" | "57P05"),
            errno => matches!(errno, 1053 | 1927 | 3169 | 4031),
        };
        if ends {
            return ErrorClass::Lost;
        }
        let retry = match self.errno {
            0 => matches!(self.sqlstate.as_str(), "40001" | "40P01" | "23505" | "55P03"),
            errno => matches!(errno, 1213 | 1205 | 1020),
        };
        if retry { ErrorClass::Retry } else { ErrorClass::Abort }
    }
}

/// Why a call on a connection failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server answered with an error; the connection is still good.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// No connection could be made.
    #[error("connect to {address}")]
    Connect {
        /// Where to.
        address: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The socket failed or was closed by the other side.
    #[error("connection lost while {doing}")]
    Lost {
        /// The current operation.
        doing: &'static str,
        /// The socket's error.
        #[source]
        source: io::Error,
    },
    /// No answer within the time allowed.
    #[error("no answer within {seconds} s while {doing}")]
    Timeout {
        /// The current operation.
        doing: &'static str,
        /// The limit.
        seconds: u64,
    },
    /// The server sent bytes that the protocol does not allow here.
    #[error("protocol violation while {doing}: {detail}")]
    Protocol {
        /// The current operation.
        doing: &'static str,
        /// What was wrong.
        detail: String,
    },
    /// The server asks for something that this client does not support.
    #[error("not supported: {what}")]
    Unsupported {
        /// What the server asks for, and what to do instead.
        what: String,
    },
    /// TLS could not be set up.
    #[error("TLS with {address}: {detail}")]
    Tls {
        /// Where to.
        address: String,
        /// What went wrong.
        detail: String,
    },
    /// The caller's statement and parameters do not fit together.
    #[error("statement {sql:?}: {detail}")]
    Usage {
        /// The statement.
        sql: String,
        /// What does not fit.
        detail: String,
    },
}

impl Error {
    /// What to do about it.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Server(error) => error.class(),
            Self::Lost { .. } | Self::Timeout { .. } | Self::Connect { .. } => ErrorClass::Lost,
            Self::Protocol { .. } | Self::Tls { .. } => ErrorClass::Lost,
            Self::Unsupported { .. } | Self::Usage { .. } => ErrorClass::Abort,
        }
    }

    /// The code under which it is counted.
    #[must_use]
    pub fn code(&self) -> String {
        match self {
            Self::Server(error) => error.code(),
            Self::Connect { .. } => "connect".to_owned(),
            Self::Lost { .. } => "lost".to_owned(),
            Self::Timeout { .. } => "timeout".to_owned(),
            Self::Protocol { .. } => "protocol".to_owned(),
            Self::Unsupported { .. } => "unsupported".to_owned(),
            Self::Tls { .. } => "tls".to_owned(),
            Self::Usage { .. } => "usage".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_that_a_proxy_lost_are_known_by_their_codes() {
        let is_lost = |errno, sqlstate: &str, message: &str| {
            let (sqlstate, message) = (sqlstate.to_owned(), message.to_owned());
            ServerError { errno, sqlstate, message, notes: None }.is_lost_statement()
        };
        assert!(is_lost(1243, "HY000", "Unknown prepared statement handler"));
        assert!(is_lost(0, "26000", "") && is_lost(0, "42P05", ""));
        let bind = "bind message supplies 1 parameters, but prepared statement \"s0\" requires 2";
        assert!(is_lost(0, "08P01", bind) && !is_lost(0, "08P01", "invalid message"));
        assert!(!is_lost(1064, "26000", "") && !is_lost(0, "42601", "prepared statement"));
    }

    #[test]
    fn refusals_of_connections_are_told_apart() {
        let error = |errno, sqlstate: &str| ServerError {
            errno,
            sqlstate: sqlstate.to_owned(),
            message: String::new(),
            notes: None,
        };
        let told =
            |error: ServerError| (error.is_too_many_connections(), error.is_out_of_resources());
        for full in [error(1040, "08004"), error(1203, "42000"), error(0, "53300")] {
            assert_eq!(told(full), (true, false));
        }
        for poor in [error(1135, "HY000"), error(1041, "HY000"), error(0, "53200")] {
            assert_eq!(told(poor), (false, true));
        }
        // A password; and a number of MySQL's with another one's SQLSTATE.
        for other in [error(1045, "28000"), error(0, "28P01"), error(1105, "53300")] {
            assert_eq!(told(other), (false, false));
        }
    }
}
