//! Opening a connection: the server's greeting, and the client's answer with or without TLS.

use super::reader::{Reader, push_lenenc};
use super::{Violation, capability as cap};

/// Bytes of the nonce that passwords are scrambled with.
pub const NONCE: usize = 20;

/// The largest message that the client says it takes, in bytes: the protocol's own limit.
const MAX_MESSAGE: u32 = 1 << 30;

/// What a server says first (handshake version 10).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Greeting {
    /// Its version as it announces it: `8.0.33`, `5.5.5-10.11.5-MariaDB`.
    pub version: String,
    /// The connection's id, `CONNECTION_ID()`, cut to 32 bits.
    pub connection_id: u32,
    /// The nonce for the first authentication.
    pub nonce: [u8; NONCE],
    /// What it can do, see [`super::capability`].
    pub capabilities: u32,
    /// Number of its default collation, the low eight bits.
    pub charset: u8,
    /// The authentication plugin it proposes; empty where it knows none (5.0, 5.1).
    pub plugin: String,
}

/// Reads a server's greeting.
///
/// # Errors
/// When it is cut short or of another version of the handshake.
pub fn parse_greeting(payload: &[u8]) -> Result<Greeting, Violation> {
    let mut reader = Reader::new(payload);
    let protocol = reader.u8("the greeting")?;
    if protocol != 10 {
        return Err(Violation::new(format!(
            "handshake version {protocol}, expected 10: is this the port of a MySQL server?"
        )));
    }
    let version = String::from_utf8_lossy(reader.nul_string("the version")?).into_owned();
    let connection_id = reader.u32("the connection id")?;
    let nonce_head = reader.bytes(8, "the nonce")?;
    reader.u8("filler")?;
    let low = reader.u16("capabilities")?;
    let charset = reader.u8("the character set")?;
    reader.u16("status flags")?;
    let high = reader.u16("more capabilities")?;
    let capabilities = u32::from(low) | u32::from(high) << 16;
    let nonce_length = usize::from(reader.u8("the nonce's length")?);
    reader.bytes(10, "filler")?;
    let mut nonce = [0; NONCE];
    let (head, tail) = nonce.split_at_mut(8);
    head.copy_from_slice(nonce_head);
    if capabilities & cap::SECURE_CONNECTION != 0 {
        tail.copy_from_slice(reader.bytes(NONCE - 8, "the rest of the nonce")?);
        // A NUL byte follows, or more of a longer nonce; only its first 20 bytes are ever used.
        let padding = nonce_length.saturating_sub(8).max(13) - (NONCE - 8);
        let _ = reader.bytes(padding.min(reader.rest().len()), "padding")?;
    }
    // Some 5.5 servers omit the NUL byte after the name (MySQL bug 59453).
    let name = reader.rest().split(|&byte| byte == 0).next().unwrap_or(&[]);
    let plugin = if capabilities & cap::PLUGIN_AUTH != 0 { name } else { &[] };
    let plugin = String::from_utf8_lossy(plugin).into_owned();
    Ok(Greeting { version, connection_id, nonce, capabilities, charset, plugin })
}

/// The capabilities of a connection: what this client wants, as far as the server can do it.
///
/// # Errors
/// When the server lacks what the client cannot do without.
pub fn negotiate(server: u32, tls: bool, database: bool) -> Result<u32, Violation> {
    let needed = cap::PROTOCOL_41 | cap::SECURE_CONNECTION;
    if server & needed != needed {
        return Err(Violation::new("the server speaks the protocol before MySQL 4.1"));
    }
    let mut wanted = needed
        | cap::LONG_FLAG
        | cap::TRANSACTIONS
        | cap::MULTI_STATEMENTS
        | cap::MULTI_RESULTS
        | cap::PS_MULTI_RESULTS
        | cap::PLUGIN_AUTH
        | cap::PLUGIN_AUTH_LENENC
        | cap::DEPRECATE_EOF;
    if tls {
        wanted |= cap::SSL;
    }
    if database {
        wanted |= cap::CONNECT_WITH_DB;
    }
    // MariaDB does not offer this one, but reads it as "the client knows no extensions of mine".
    Ok(wanted & server | cap::LONG_PASSWORD)
}

/// Character set number of utf8mb4 (`utf8mb4_general_ci`), since MySQL 5.5.3.
pub const UTF8MB4: u8 = 45;
/// Character set number of utf8 with at most three bytes (`utf8_general_ci`), for older servers.
pub const UTF8MB3: u8 = 33;

/// Character set number of latin1 (`latin1_swedish_ci`).
pub const LATIN1: u8 = 8;

/// Appends the payload of a request for TLS, which is the first 32 bytes of the login.
pub fn push_ssl_request(out: &mut Vec<u8>, capabilities: u32, charset: u8) {
    out.extend_from_slice(&capabilities.to_le_bytes());
    out.extend_from_slice(&MAX_MESSAGE.to_le_bytes());
    out.push(charset);
    out.extend_from_slice(&[0; 23]);
}

/// What a client answers to the greeting.
#[derive(Debug, Clone, Copy)]
pub struct Login<'a> {
    /// The negotiated capabilities.
    pub capabilities: u32,
    /// [`UTF8MB4`], [`UTF8MB3`] or [`LATIN1`].
    pub charset: u8,
    /// The user's name.
    pub user: &'a str,
    /// The database, sent where [`cap::CONNECT_WITH_DB`] was negotiated.
    pub database: &'a str,
    /// The authentication plugin that made `answer`.
    pub plugin: &'a str,
    /// The scrambled password.
    pub answer: &'a [u8],
}

/// Appends the payload of a login (HandshakeResponse41).
pub fn push_login(out: &mut Vec<u8>, login: &Login<'_>) {
    push_ssl_request(out, login.capabilities, login.charset);
    out.extend_from_slice(login.user.as_bytes());
    out.push(0);
    // A scramble is at most 32 bytes, so its length is one byte either way.
    push_lenenc(out, login.answer.len());
    out.extend_from_slice(login.answer);
    if login.capabilities & cap::CONNECT_WITH_DB != 0 {
        out.extend_from_slice(login.database.as_bytes());
        out.push(0);
    }
    if login.capabilities & cap::PLUGIN_AUTH != 0 {
        out.extend_from_slice(login.plugin.as_bytes());
        out.push(0);
    }
}

#[cfg(test)]
mod tests {
    use super::super::transcripts::{greeting_51, greeting_80, greeting_mariadb};
    use super::*;

    #[test]
    fn reads_greetings_of_old_and_new_servers() {
        let new = parse_greeting(&greeting_80()).unwrap();
        assert_eq!((new.version.as_str(), new.connection_id), ("8.0.33", 8));
        assert_eq!(&new.nonce, b"abcdefghijklmnopqrst");
        assert_eq!(new.plugin, "caching_sha2_password");
        assert_ne!(new.capabilities & cap::DEPRECATE_EOF, 0);

        let mariadb = parse_greeting(&greeting_mariadb()).unwrap();
        assert_eq!(mariadb.version, "5.5.5-10.11.5-MariaDB");
        assert_eq!(mariadb.plugin, "mysql_native_password");
        assert_eq!(mariadb.capabilities & cap::LONG_PASSWORD, 0);

        let old = parse_greeting(&greeting_51()).unwrap();
        assert_eq!((old.version.as_str(), old.plugin.as_str()), ("5.1.73-log", ""));
        assert_eq!(&old.nonce, b"abcdefghijklmnopqrst");
        let negotiated = negotiate(old.capabilities, false, true).unwrap();
        assert_eq!(negotiated & (cap::PLUGIN_AUTH | cap::DEPRECATE_EOF), 0);
        assert_ne!(negotiated & cap::CONNECT_WITH_DB, 0);
    }

    #[test]
    fn a_plugin_name_may_lack_its_nul() {
        let mut payload = greeting_80();
        assert_eq!(payload.pop(), Some(0));
        assert_eq!(parse_greeting(&payload).unwrap().plugin, "caching_sha2_password");
    }

    #[test]
    fn cut_greetings_are_errors() {
        let payload = greeting_80();
        // The plugin's name may be any length; all before it must be there.
        for n in 0..payload.len() - "caching_sha2_password\0".len() - 1 {
            assert!(parse_greeting(&payload[..n]).is_err(), "{n} bytes");
        }
        let other = parse_greeting(b"\x09abc").unwrap_err().to_string();
        assert!(other.starts_with("handshake version 9"), "{other}");
        assert!(negotiate(cap::PROTOCOL_41, false, false).is_err());
    }

    #[test]
    fn logins_carry_what_was_negotiated() {
        let mut out = Vec::new();
        let login = Login {
            capabilities: cap::PROTOCOL_41 | cap::SECURE_CONNECTION | cap::CONNECT_WITH_DB,
            charset: UTF8MB3,
            user: "bob",
            database: "db",
            plugin: "mysql_native_password",
            answer: b"12345678901234567890",
        };
        push_login(&mut out, &login);
        assert_eq!(out[..9], *b"\x08\x82\0\0\0\0\0\x40\x21");
        assert_eq!(&out[32..], b"bob\0\x1412345678901234567890db\0");
        out.clear();
        push_login(&mut out, &Login { capabilities: cap::PLUGIN_AUTH, answer: b"", ..login });
        assert_eq!(&out[32..], b"bob\0\0mysql_native_password\0");
    }
}
