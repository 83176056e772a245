//! Addresses of servers that rqps neither starts nor stops: `mysql://user:password@host:port/db`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rqps_client::{Address, Endpoint, Password, Tls};
use rqps_model::{Dbms, Transport};
use rqps_sample::given_file::{self, Access};

use crate::Error;

mod forms;
mod hide;
mod keys;

use hide::{hide_password, is_scheme};
use keys::Keys;

/// The address of an external server and how to log in. Shows itself without the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dsn {
    /// The DBMS, by the scheme.
    pub dbms: Dbms,
    /// Where it is and how to log in.
    pub endpoint: Endpoint,
    /// The place of the password, if the address names one.
    pub password_place: Option<PasswordPlace>,
}

/// A place for a password outside the address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordPlace {
    /// The first line of a file, or of a pipe.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
}

/// Reads an environment variable; `None` if it is not set.
pub type Variables = fn(&str) -> Option<String>;

/// Time for connecting and logging in to an external server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Most bytes of a file with a password on its first line.
const MOST_OF_FILE: u64 = 64 << 10;

impl Dsn {
    /// Reads `mysql://`, `mariadb://`, `postgres://` or `postgresql://` and
    /// `[USER[:PASSWORD]@][HOST[:PORT]][/DATABASE][?socket=PATH&tls=required&ca=FILE&password_file=FILE]`,
    /// or `password_env=NAME` in place of `password_file`, or, of MySQL without TLS, `server_public_key=FILE`.
    /// Letters that mean something there are written as `%40` and so on. Forms and keys of other clients are taken
    /// where they mean the same.
    ///
    /// # Errors
    /// [`Error::Dsn`], which does not hold the password.
    pub fn parse(text: &str) -> Result<Self, Error> {
        parse(text).map_err(|detail| Error::Dsn { dsn: hide_password(text), detail })
    }

    /// The address with the password from the named place, if it names one.
    ///
    /// # Errors
    /// [`Error::Dsn`] when the file cannot be read, or others may read it, the variable is not set, or either holds none.
    pub fn with_password(mut self, variables: Variables) -> Result<Self, Error> {
        let Some(place) = &self.password_place else { return Ok(self) };
        let password = match place {
            PasswordPlace::File(path) => first_line(path)
                .map_err(|problem| format!("password_file {}: {problem}", path.display())),
            PasswordPlace::Variable(name) => variables(name)
                .filter(|value| !value.is_empty())
                .ok_or_else(|| {
                    format!("password_env {name}: not set, or empty; export {name} before rqps is started")
                }),
        };
        let password = password.map_err(|detail| Error::Dsn { dsn: self.to_string(), detail })?;
        self.endpoint.password = Password(password);
        Ok(self)
    }

    /// Whether the address itself holds the password.
    #[must_use]
    pub fn has_password(&self) -> bool {
        !self.endpoint.password.0.is_empty()
    }

    /// The transport that the address asks for.
    #[must_use]
    pub fn transport(&self) -> Transport {
        match (&self.endpoint.address, &self.endpoint.tls) {
            (Address::Unix(_), _) => Transport::Socket,
            (Address::Tcp { .. }, Tls::Off) => Transport::Tcp,
            (Address::Tcp { .. }, Tls::Required { .. } | Tls::Issued { .. }) => Transport::Tls,
        }
    }

    /// Whether a text looks like an address, not like a version.
    #[must_use]
    pub fn looks_like(text: &str) -> bool {
        forms::looks_like(text)
    }
}

impl fmt::Display for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Endpoint { address, tls, user, database, server_public_key, .. } = &self.endpoint;
        let at = if user.is_empty() { "" } else { "@" };
        let user = encode(user);
        let path = |path: &PathBuf| encode(&path.to_string_lossy());
        let mut keys = Vec::new();
        match address {
            Address::Tcp { host, port } => {
                let host = if host.contains(':') { format!("[{host}]") } else { encode(host) };
                write!(f, "{}://{user}{at}{host}:{port}/{}", self.dbms, encode(database))?;
            }
            Address::Unix(socket) => {
                write!(f, "{}://{user}{at}/{}", self.dbms, encode(database))?;
                keys.push(format!("socket={}", path(socket)));
            }
        }
        let (word, ca) = match tls {
            Tls::Off => (None, None),
            Tls::Required { ca } => (Some("required"), ca.as_ref()),
            Tls::Issued { ca } => (Some("issued"), Some(ca)),
        };
        keys.extend(word.map(|word| format!("tls={word}")));
        keys.extend(ca.map(|ca| format!("ca={}", path(ca))));
        let key = server_public_key.as_ref();
        keys.extend(key.map(|key| format!("server_public_key={}", path(key))));
        keys.extend(self.password_place.iter().map(|place| match place {
            PasswordPlace::File(file) => format!("password_file={}", path(file)),
            PasswordPlace::Variable(name) => format!("password_env={}", encode(name)),
        }));
        if keys.is_empty() { Ok(()) } else { write!(f, "?{}", keys.join("&")) }
    }
}

fn first_line(path: &Path) -> Result<String, String> {
    let read = given_file::read_text_with_access(path, MOST_OF_FILE);
    let (text, access) = read.map_err(|error| error.to_string())?;
    if access == Access::Others {
        return Err(format!("others may read it; run chmod 600 {}", path.display()));
    }
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err("its first line is empty".to_owned()),
    }
}

/// Other names that addresses of clients begin with.
const ALIASES: [(&str, &str); 3] =
    [("mysql2", "mysql"), ("postgresql", "postgres"), ("pgsql", "postgres")];

fn parse(text: &str) -> Result<Dsn, String> {
    let text = forms::to_url(text)?;
    let (scheme, rest) = text.split_once("://").ok_or("it has no scheme")?;
    // `mysql+pymysql` is SQLAlchemy's: the driver behind the +.
    let name = scheme.split_once('+').map_or(scheme, |(scheme, _)| scheme);
    let name = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| *name);
    let dbms = Dbms::ALL.into_iter().find(|dbms| dbms.is_server() && dbms.to_string() == name);
    let dbms = dbms.ok_or_else(|| match is_scheme(scheme) {
        true => format!("unknown scheme {scheme:?}"),
        false => "the text before :// is not a scheme".to_owned(),
    })?;
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    // A password that was cut in two would be taken for a port, a database or a key, and be shown.
    if database.contains('@') || query.contains('@') {
        let rule = "an @ is after the host: in a user or password write %2F for / and %3F for ?";
        return Err(format!("{rule}, after the host write %40 for @"));
    }
    // Keys behind an & alone would be a part of the name, and a password among them be kept.
    if database.contains(['&', '='])
        || authority.rsplit_once('@').map_or(authority, |(_, host)| host).contains('&')
    {
        return Err("an & or = is before any ?: keys begin with a ?; in a name write %26 for & and %3D for =".to_owned());
    }
    let (login, host_port) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let mut keys = Keys::read(dbms, query)?;
    if keys.password_places.len() + usize::from(!password.is_empty()) > 1 {
        let rule = "only one of a password, password_file and password_env can be given, once";
        return Err(rule.to_owned());
    }
    let tls = keys.tls()?;
    if keys.server_public_key.is_some() && (tls != Tls::Off || dbms.is_postgres_family()) {
        let rule = "server_public_key is for MySQL without TLS: leave it out";
        return Err(format!("{rule} (with tls=required, ca=FILE names the server's certificate)"));
    }
    let address = match keys.socket.take() {
        Some(path) => Address::Unix(path),
        None => place(dbms, host_port, &keys)?,
    };
    if matches!(address, Address::Unix(_)) && tls != Tls::Off {
        let rule = "a unix socket is not encrypted; leave tls (sslmode, ssl-mode) out, or name a host and port";
        return Err(rule.to_owned());
    }
    let endpoint = Endpoint {
        address,
        tls,
        user: keys.user.take().map_or_else(|| decode(user), Ok)?,
        password: Password(decode(password)?),
        server_public_key: keys.server_public_key.take(),
        database: keys.database.take().map_or_else(|| decode(database), Ok)?,
        on_login: None,
        startup: rqps_client::Startup::default(),
        connect_timeout: keys.connect_timeout.unwrap_or(CONNECT_TIMEOUT),
    };
    Ok(Dsn { dbms, endpoint, password_place: keys.password_places.pop() })
}

/// Where a server is, by its host and port and the keys that stand for them.
fn place(dbms: Dbms, host_port: &str, keys: &Keys) -> Result<Address, String> {
    if host_port.contains(',') || keys.host.as_ref().is_some_and(|host| host.contains(',')) {
        return Err("it names several hosts; name one".to_owned());
    }
    let Address::Tcp { mut host, mut port } = tcp(dbms, host_port)? else {
        return Err("it has no host".to_owned());
    };
    let named =
        [&keys.host_address, &keys.host].into_iter().flatten().find(|host| !host.is_empty());
    host = named.cloned().unwrap_or(host);
    port = keys.port.unwrap_or(port);
    // As libpq has it: the directory of the socket.
    if dbms.is_postgres_family() && host.starts_with('/') {
        return Ok(Address::Unix(Path::new(&host).join(format!(".s.PGSQL.{port}"))));
    }
    // Not shown: other clients write a password there.
    if host.contains(|c: char| c.is_control() || c.is_whitespace() || "()=,;'\"<>@".contains(c)) {
        return Err("the host is neither a name nor an address; write HOST:PORT".to_owned());
    }
    Ok(Address::Tcp { host, port })
}

/// Whether a text can be the name of an environment variable, as POSIX has it.
fn is_name(text: &str) -> bool {
    !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn tcp(dbms: Dbms, text: &str) -> Result<Address, String> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']').ok_or("the bracket is not closed")?;
            (host, after.strip_prefix(':').unwrap_or(""))
        }
        None => text.split_once(':').unwrap_or((text, "")),
    };
    let port = match port {
        "" => dbms.default_port(),
        // Not shown: it is a password where the host was forgotten.
        _ => port.parse().map_err(|_| {
            "the text after the host's : is not a port number; a password is before an @ and the \
             host after it"
        })?,
    };
    let host = if host.is_empty() { "127.0.0.1".to_owned() } else { decode(host)? };
    Ok(Address::Tcp { host, port })
}

fn decode(text: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = rest.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let value = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        let value = value.ok_or("a % without two hex digits (write % as %25)")?;
        bytes.push(value);
        rest = &rest[2..];
    }
    if bytes.contains(&0) {
        return Err("%00: an address cannot contain a NUL".to_owned());
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())
}

fn encode(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
        out
    })
}

#[cfg(test)]
mod tests;
