//! What stands behind the `?` of an address: rqps's own keys, and those of other clients that mean the same.

use std::path::PathBuf;
use std::time::Duration;

use rqps_client::Tls;
use rqps_model::Dbms;

use super::{PasswordPlace, decode, is_name};
use crate::secrets;

/// The keys of an address, read.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) socket: Option<PathBuf>,
    pub(super) server_public_key: Option<PathBuf>,
    pub(super) password_places: Vec<PasswordPlace>,
    pub(super) host: Option<String>,
    /// Where to connect, in place of what the host's name stands for.
    pub(super) host_address: Option<String>,
    pub(super) port: Option<u16>,
    pub(super) user: Option<String>,
    pub(super) database: Option<String>,
    pub(super) connect_timeout: Option<Duration>,
    mode: Mode,
    ca: Option<PathBuf>,
}

/// What an address asks of TLS.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Mode {
    #[default]
    Unset,
    Off,
    /// The certificate is checked against the authority's, where one is named; its name, too.
    On,
    /// As libpq's `require`: with an authority's certificate the name is not checked.
    Require,
    /// The certificate must be issued by the authority, for whatever name.
    Issued,
    /// The certificate and its name are checked.
    Verified,
}

/// Keys of other clients that change nothing of what rqps does.
const WITHOUT_EFFECT: &[&str] = &[
    "allownativepasswords",
    "allowpublickeyretrieval",
    "applicationname",
    "autoreconnect",
    "columnswithalias",
    "connectiontimezone",
    "fallbackapplicationname",
    "keepalives",
    "keepalivescount",
    "keepalivesidle",
    "keepalivesinterval",
    "loc",
    "loadbalancehosts",
    "maxallowedpacket",
    "parsetime",
    "readtimeout",
    "servertimezone",
    "sockettimeout",
    "sslcompression",
    "sslsni",
    "tcpkeepalive",
    "tcpusertimeout",
    "useunicode",
    "writetimeout",
    "zerodatetimebehavior",
];

/// Keys of other clients that rqps does not follow, and what to write.
const NOT_FOLLOWED: &[(&str, &str)] = &[
    ("channelbinding", "rqps does not support channel binding; leave it out"),
    ("options", "set session settings on the server or for its user; leave it out"),
    ("passfile", "write password_file=FILE, whose first line is the password"),
    ("password", "write password_file=FILE or password_env=NAME"),
    ("pgbouncer", "leave it out; rqps asks the pooler itself"),
    ("service", "write the values of the service's entry"),
    ("servicefile", "write the values of the service's entry"),
    ("sslcert", "rqps logs in by password, not by certificate; leave it out"),
    ("sslkey", "rqps logs in by password, not by certificate; leave it out"),
    ("requiressl", "write tls=required"),
    ("usessl", "write tls=required&ca=FILE, tls=required to check no certificate, or tls=off"),
    ("ssl", "write tls=required&ca=FILE, tls=required to check no certificate, or tls=off"),
];

impl Keys {
    /// Reads the keys behind the `?`.
    ///
    /// # Errors
    /// What is wrong with one, without its value where that may be a secret.
    pub(super) fn read(dbms: Dbms, query: &str) -> Result<Self, String> {
        let mut keys = Self::default();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decode(value)?;
            if !keys.take_own(key, &value)? && !keys.take_foreign(dbms, key, &value)? {
                let known = "socket, tls, ca, server_public_key, password_file, password_env";
                // A password with a ? in it would have an @ behind it, which was refused.
                let named = if is_name(key) { format!(" {key}") } else { String::new() };
                return Err(format!("unknown key{named} after ? (known: {known})"));
            }
        }
        Ok(keys)
    }

    /// How the connection is encrypted.
    ///
    /// # Errors
    /// - A certificate is to be checked, and no file says against which.
    /// - Its name is to be checked, and the address connects to another place.
    /// - A file is named, and nothing says whether to encrypt.
    pub(super) fn tls(&self) -> Result<Tls, String> {
        let tls = self.encryption()?;
        let is_name_checked = matches!(tls, Tls::Required { ca: Some(_) });
        if is_name_checked && self.host_address.is_some() && self.host.is_some() {
            return Err("a certificate's name is checked against host, but hostaddr names another host; leave \
                        hostaddr out, or write tls=issued"
                .to_owned());
        }
        Ok(tls)
    }

    fn encryption(&self) -> Result<Tls, String> {
        let named = || self.ca.clone().ok_or("checking a certificate needs ca=FILE");
        Ok(match (self.mode, &self.ca) {
            (Mode::Unset, Some(_)) => {
                return Err("a certificate's authority is named, but not whether to encrypt; write tls=required or \
                            tls=issued as well, or leave ca (sslrootcert, ssl-ca) out"
                    .to_owned());
            }
            (Mode::Unset | Mode::Off, _) => Tls::Off,
            (Mode::On, ca) => Tls::Required { ca: ca.clone() },
            (Mode::Require, None) => Tls::Required { ca: None },
            (Mode::Require, Some(ca)) => Tls::Issued { ca: ca.clone() },
            (Mode::Issued, _) => Tls::Issued { ca: named()? },
            (Mode::Verified, _) => Tls::Required { ca: Some(named()?) },
        })
    }

    fn take_own(&mut self, key: &str, value: &str) -> Result<bool, String> {
        match key {
            "socket" => self.socket = Some(PathBuf::from(value)),
            "ca" => self.ca = Some(PathBuf::from(value)),
            "server_public_key" => self.server_public_key = Some(PathBuf::from(value)),
            "password_file" => self.password_places.push(PasswordPlace::File(value.into())),
            "password_env" if is_name(value) => {
                // Before anything is started that could read it.
                secrets::withhold(value);
                self.password_places.push(PasswordPlace::Variable(value.to_owned()));
            }
            // What stands there may be the password, put in by a shell.
            "password_env" => {
                let rule = "password_env takes the name of a variable, letters, digits and _, and not its value";
                return Err(rule.to_owned());
            }
            "tls" => {
                let mode = match value {
                    "required" => Mode::On,
                    "issued" => Mode::Issued,
                    "off" | "false" => Mode::Off,
                    "skip-verify" => Mode::Require,
                    "true" => Mode::Verified,
                    _ => return Err(format!("tls is required, issued or off, not {value:?}")),
                };
                self.set_mode(key, mode)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Two keys that contradict each other leave open what is meant.
    fn set_mode(&mut self, key: &str, mode: Mode) -> Result<(), String> {
        if self.mode != Mode::Unset && self.mode != mode {
            return Err(format!("{key} contradicts another key about TLS; leave one of them out"));
        }
        self.mode = mode;
        Ok(())
    }

    /// Takes a key of another client; its name counts without case, `-` and `_`.
    fn take_foreign(&mut self, dbms: Dbms, key: &str, value: &str) -> Result<bool, String> {
        let name: String = key.chars().filter(|c| !"-_".contains(*c)).collect();
        let name = name.to_ascii_lowercase();
        let is_postgres = dbms.is_postgres_family();
        let number = |what: &str| -> Result<u16, String> {
            value.parse().map_err(|_| format!("{key} is not a {what}"))
        };
        match name.as_str() {
            "sslmode" => self.set_mode(key, mode(key, value)?)?,
            "sslrootcert" | "sslca" | "serversslcert" if value == "system" => {
                return Err(format!("{key}=system names no file; write ca=FILE"));
            }
            "sslrootcert" | "sslca" | "serversslcert" => self.ca = Some(PathBuf::from(value)),
            "unixsocket" | "unixsock" => self.socket = Some(PathBuf::from(value)),
            "host" if is_postgres => self.host = Some(value.to_owned()),
            "hostaddr" if is_postgres => self.host_address = Some(value.to_owned()),
            "port" if is_postgres => self.port = Some(number("port")?),
            "user" | "username" => self.user = Some(value.to_owned()),
            "dbname" if is_postgres => self.database = Some(value.to_owned()),
            "connecttimeout" if is_postgres => {
                // libpq takes 0 for no limit, and 1 for 2.
                let seconds = number("number of seconds")?;
                self.connect_timeout =
                    (seconds > 0).then(|| Duration::from_secs(u64::from(seconds.max(2))));
            }
            // Python's drivers and the programs of MySQL count seconds, JDBC's milliseconds.
            "connecttimeout" if key.contains(['-', '_']) => {
                let seconds = number("number of seconds")?;
                self.connect_timeout =
                    (seconds > 0).then(|| Duration::from_secs(u64::from(seconds)));
            }
            "connecttimeout" => {
                let ms = number("number of milliseconds")?;
                self.connect_timeout = (ms > 0).then(|| Duration::from_millis(u64::from(ms)));
            }
            "targetsessionattrs" if !["any", "read-write", "primary"].contains(&value) => {
                return Err(format!("{key}={value}: rqps writes; name a server that takes writes"));
            }
            "gssencmode" if value == "require" => {
                return Err("gssencmode=require: rqps has no GSSAPI; leave it out".to_owned());
            }
            "channelbinding" if value != "require" => {}
            "charset" | "characterencoding" | "clientencoding" if is_utf8(value) => {}
            "charset" | "characterencoding" | "clientencoding" => {
                return Err(format!(
                    "{key}={value}: rqps sends UTF-8 and asks for no conversion; leave it out"
                ));
            }
            "targetsessionattrs" | "gssencmode" => {}
            name if WITHOUT_EFFECT.contains(&name) => {}
            name => {
                let Some((_, remedy)) = NOT_FOLLOWED.iter().find(|(known, _)| *known == name)
                else {
                    return Ok(false);
                };
                return Err(format!("{key}: {remedy}"));
            }
        }
        Ok(true)
    }
}

/// Whether clients mean UTF-8 by a name of a character set, or by the first of several names.
fn is_utf8(value: &str) -> bool {
    let first = value.split(',').next().unwrap_or_default().to_ascii_lowercase();
    ["", "auto", "utf8", "utf-8", "unicode", "utf8mb3", "utf8mb4"].contains(&first.as_str())
}

/// libpq's `sslmode`, MySQL's `ssl-mode` and MariaDB's `sslMode`.
fn mode(key: &str, value: &str) -> Result<Mode, String> {
    Ok(match value.to_ascii_lowercase().replace('_', "-").as_str() {
        "disable" | "disabled" => Mode::Off,
        "require" | "required" | "trust" => Mode::Require,
        "verify-ca" => Mode::Issued,
        "verify-full" | "verify-identity" => Mode::Verified,
        "allow" | "prefer" | "preferred" => {
            return Err(format!(
                "{key}={value} leaves open whether the connection is encrypted; write tls=off or tls=required"
            ));
        }
        _ => return Err(format!("{key} is disable, require, verify-ca or verify-full")),
    })
}
