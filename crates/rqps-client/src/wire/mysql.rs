//! MySQL's client/server protocol as bytes: framing, logging in, commands, replies, skipping rows.
//!
//! Follows "MySQL Client/Server Protocol" of the MySQL source documentation and "Clients & Drivers:
//! protocol" of MariaDB's; where the two differ, the file that deals with it says so.

pub mod auth;
pub mod commands;
pub mod execute;
pub mod handshake;
pub mod literal;
pub mod packet;
pub mod reader;
pub mod reply;
pub mod result_set;
pub mod rows;
pub mod rsa;
pub mod scan;
#[cfg(test)]
pub(crate) mod transcripts;

/// Bytes that the protocol does not allow where they came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct Violation {
    /// What was wrong with them.
    pub detail: String,
}

impl Violation {
    /// A violation described by `detail`.
    #[cold]
    pub fn new(detail: impl Into<String>) -> Self {
        Self { detail: detail.into() }
    }
}

/// Capability flags that client and server tell each other when a connection opens
/// (`CLIENT_...` in include/mysql_com.h).
pub mod capability {
    /// Set by every MySQL server and client; a MariaDB server leaves it out and a client that sets
    /// it gets none of MariaDB's extensions.
    pub const LONG_PASSWORD: u32 = 1;
    /// Column flags of two bytes.
    pub const LONG_FLAG: u32 = 1 << 2;
    /// The client's first message names a database.
    pub const CONNECT_WITH_DB: u32 = 1 << 3;
    /// The protocol since 4.1, the only one spoken here.
    pub const PROTOCOL_41: u32 = 1 << 9;
    /// TLS.
    pub const SSL: u32 = 1 << 11;
    /// Status flags in OK packets.
    pub const TRANSACTIONS: u32 = 1 << 13;
    /// Passwords as since 4.1: a scramble of 20 bytes with its length before it.
    pub const SECURE_CONNECTION: u32 = 1 << 15;
    /// Several statements in one query, as the field's load generator asks for too.
    pub const MULTI_STATEMENTS: u32 = 1 << 16;
    /// Several results of one query.
    pub const MULTI_RESULTS: u32 = 1 << 17;
    /// Several results of one prepared statement.
    pub const PS_MULTI_RESULTS: u32 = 1 << 18;
    /// Authentication plugins are named and can be switched.
    pub const PLUGIN_AUTH: u32 = 1 << 19;
    /// The first authentication answer has a length-encoded length.
    pub const PLUGIN_AUTH_LENENC: u32 = 1 << 21;
    /// No EOF packet after column definitions, and an OK packet after the last row.
    pub const DEPRECATE_EOF: u32 = 1 << 24;
}

/// Flags of the status word in OK and EOF packets (`SERVER_...` in include/mysql_com.h).
pub mod status {
    /// Each statement commits itself.
    pub const AUTOCOMMIT: u16 = 0x0002;
    /// Another result follows this one.
    pub const MORE_RESULTS: u16 = 0x0008;
    /// A backslash in a string literal is just a backslash.
    pub const NO_BACKSLASH_ESCAPES: u16 = 0x0200;
}
