//! Authentication: scrambles, and the exchange that follows the login, as a state machine.
//!
//! Passwords travel scrambled, encrypted with the server's RSA key, or in the clear over a stream
//! that nobody else can read; plugins that would need more are refused by name. A key that the server
//! sends is believed of a server on this host alone: anybody else could have sent it.

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::Violation;
use super::handshake::NONCE;
use super::reader::Reader;
use super::reply::{parse_error, parse_ok};
use super::rsa::{self, PublicKey, SEED};
use crate::{Privacy, ServerError};

/// The plugin of MySQL 4.1 to 5.7 and of MariaDB.
pub const NATIVE: &str = "mysql_native_password";
/// The plugin of MySQL 8 and later.
pub const CACHING_SHA2: &str = "caching_sha2_password";
/// Its forerunner of MySQL 5.6, without a cache: the password itself each time.
pub const SHA256: &str = "sha256_password";

/// The scramble of `mysql_native_password`; empty for an empty password.
#[must_use]
pub fn scramble_native(password: &[u8], nonce: &[u8; NONCE]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    let mask = Sha1::new().chain_update(nonce).chain_update(twice).finalize();
    once.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// The scramble of `caching_sha2_password`; empty for an empty password.
#[must_use]
pub fn scramble_sha2(password: &[u8], nonce: &[u8; NONCE]) -> Vec<u8> {
    if password.is_empty() {
        return Vec::new();
    }
    let once = Sha256::digest(password);
    let twice = Sha256::digest(once);
    let mask = Sha256::new().chain_update(twice).chain_update(nonce).finalize();
    once.iter().zip(mask).map(|(a, b)| a ^ b).collect()
}

/// What to do after a message of the exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Send this payload, then read on.
    Send(Vec<u8>),
    /// Read on.
    Wait,
    /// Logged in; the server's status flags.
    Done {
        /// See [`super::status`].
        status: u16,
    },
    /// The server refuses the user.
    Refused(ServerError),
    /// The server wants what this client does not do; the text says what to do instead.
    Unsupported(String),
}

/// The client's side of one authentication.
#[derive(Debug, Clone)]
pub struct Exchange<'a> {
    password: &'a [u8],
    plugin: String,
    nonce: [u8; NONCE],
    privacy: Privacy,
    /// The server's key, where it is known from elsewhere than from the server.
    key: Option<PublicKey>,
    key_asked: bool,
}

impl<'a> Exchange<'a> {
    /// An exchange that begins with the plugin and nonce of the greeting. A server that proposes no
    /// plugin, or one that is not known here, is answered as by `mysql_native_password`; it will
    /// switch when it wants another.
    #[must_use]
    pub fn new(password: &'a str, plugin: &str, nonce: [u8; NONCE], privacy: Privacy) -> Self {
        let plugin = if plugin == CACHING_SHA2 { CACHING_SHA2 } else { NATIVE };
        let password = password.as_bytes();
        Self { password, plugin: plugin.to_owned(), nonce, privacy, key: None, key_asked: false }
    }

    /// The same with the server's key, which it is then not asked for.
    #[must_use]
    pub fn with_key(self, key: Option<PublicKey>) -> Self {
        Self { key, ..self }
    }

    /// The plugin now in use.
    #[must_use]
    pub fn plugin(&self) -> &str {
        &self.plugin
    }

    /// The plugin's answer to the nonce.
    #[must_use]
    pub fn answer(&self) -> Vec<u8> {
        match self.plugin.as_str() {
            CACHING_SHA2 => scramble_sha2(self.password, &self.nonce),
            NATIVE => scramble_native(self.password, &self.nonce),
            _ => Vec::new(),
        }
    }

    /// Takes the server's next message. `seed` is random bytes for the encryption of a password.
    ///
    /// # Errors
    /// When the message does not belong here.
    pub fn step(&mut self, payload: &[u8], seed: &[u8; SEED]) -> Result<Step, Violation> {
        let mut reader = Reader::new(payload);
        match reader.u8("an answer to the login")? {
            0x00 => Ok(Step::Done { status: parse_ok(payload)?.status }),
            0xFF => parse_error(payload).map(Step::Refused),
            0xFE if payload.len() == 1 => Ok(Step::Unsupported(
                "mysql_old_password, the scheme before MySQL 4.1: set the user's password again \
                 with old_passwords = 0"
                    .to_owned(),
            )),
            0xFE => self.switch(reader, seed),
            0x01 => self.more(reader.rest(), seed),
            other => Err(Violation::new(format!("{other:#04x} in answer to the login"))),
        }
    }

    fn switch(&mut self, mut reader: Reader<'_>, seed: &[u8; SEED]) -> Result<Step, Violation> {
        let plugin = String::from_utf8_lossy(reader.nul_string("the plugin's name")?).into_owned();
        self.key_asked = false;
        match plugin.as_str() {
            NATIVE | CACHING_SHA2 | SHA256 => {
                let nonce = reader.bytes(NONCE, "the plugin's nonce")?;
                self.nonce.copy_from_slice(nonce);
            }
            // The server asks the kernel who is at the other end; there is nothing to answer.
            "auth_socket" | "unix_socket" => {}
            _ => {
                return Ok(Step::Unsupported(format!(
                    "authentication plugin {plugin:?}: use a user with {NATIVE} or {CACHING_SHA2}"
                )));
            }
        }
        self.plugin = plugin;
        if self.plugin == SHA256 { self.whole(0x01, seed) } else { Ok(Step::Send(self.answer())) }
    }

    /// The password itself, as the stream allows; where only the server knows its key, `request` asks for it.
    fn whole(&mut self, request: u8, seed: &[u8; SEED]) -> Result<Step, Violation> {
        let goes_clear = match self.privacy {
            Privacy::Tls => true,
            Privacy::Local => self.plugin == CACHING_SHA2,
            Privacy::Open | Privacy::Unproven | Privacy::Loopback => false,
        };
        if goes_clear || self.password.is_empty() {
            return Ok(Step::Send(self.clear()));
        }
        match (self.privacy, &self.key) {
            // Over TLS servers take the password as it is and nothing else.
            (Privacy::Unproven, _) => Ok(Step::Unsupported(format!(
                "{} asks for the password itself, but TLS does not check the server's certificate, \
                 so another host may pretend to be the server: name the file of the server's \
                 certificate or of its authority (ca=FILE; for rqps sysbench --mysql-ssl-ca=FILE)",
                self.plugin
            ))),
            (_, Some(key)) => key.encrypt(&self.masked(), seed).map(Step::Send),
            (Privacy::Open, None) => Ok(Step::Unsupported(format!(
                "{} asks for the password itself, but the network has no TLS, so other hosts can \
                 read it or send a key of their own: use TLS with the server's certificate \
                 (tls=required&ca=FILE; for rqps sysbench --mysql-ssl=on --mysql-ssl-ca=FILE), or \
                 name the server's RSA key (server_public_key=FILE)",
                self.plugin
            ))),
            (_, None) => {
                self.key_asked = true;
                Ok(Step::Send(vec![request]))
            }
        }
    }

    /// The password as it is.
    fn clear(&self) -> Vec<u8> {
        [self.password, b"\0"].concat()
    }

    /// The password as it is encrypted.
    fn masked(&self) -> Vec<u8> {
        let mut masked = self.clear();
        for (byte, mask) in masked.iter_mut().zip(self.nonce.iter().cycle()) {
            *byte ^= mask;
        }
        masked
    }

    /// What `caching_sha2_password` and `sha256_password` say between login and OK.
    fn more(&mut self, data: &[u8], seed: &[u8; SEED]) -> Result<Step, Violation> {
        let takes_more = self.plugin == CACHING_SHA2 || self.plugin == SHA256 && self.key_asked;
        if !takes_more {
            return Err(Violation::new(format!("more data for {}, which takes none", self.plugin)));
        }
        if self.key_asked {
            self.key_asked = false;
            return rsa::encrypt(data, &self.masked(), seed).map(Step::Send);
        }
        match data {
            // The server had the password's hash in its cache, and it matched.
            [0x03] => Ok(Step::Wait),
            // It had not, and needs the password itself.
            [0x04] => self.whole(0x02, seed),
            _ => Err(Violation::new(format!("unknown data of {} bytes for it", data.len()))),
        }
    }
}

#[cfg(test)]
mod tests;
