//! Addresses of servers that rqps neither starts nor stops: `mysql://user:password@host:port/db`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rqps_client::{Address, Endpoint, Password, Tls};
use rqps_model::{Dbms, Transport};
use rqps_sample::given_file;

use crate::{Error, secrets};

mod hide;

use hide::{hide_password, is_scheme};

/// The address of an external server and how to log in. Shows itself without the password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dsn {
    /// The family, by the scheme.
    pub dbms: Dbms,
    /// Where it is and how to log in.
    pub endpoint: Endpoint,
    /// Where the password is, where the address names a place.
    pub password_place: Option<PasswordPlace>,
}

/// A place for a password outside of an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PasswordPlace {
    /// The first line of a file, or of a pipe.
    File(PathBuf),
    /// An environment variable.
    Variable(String),
}

/// Looks up an environment variable; nothing where there is none of that name.
pub type Variables = fn(&str) -> Option<String>;

/// Time for connecting and logging in to an external server.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Most bytes of a file with a password on its first line.
const MOST_OF_FILE: u64 = 64 << 10;

impl Dsn {
    /// Reads `mysql://`, `mariadb://`, `postgres://` or `postgresql://` and
    /// `[USER[:PASSWORD]@][HOST[:PORT]][/DATABASE][?socket=PATH&tls=required&ca=FILE&password_file=FILE]`,
    /// or `password_env=NAME` in place of `password_file`.
    /// Letters that mean something there are written as `%40` and so on.
    ///
    /// # Errors
    /// [`Error::Dsn`], which does not hold the password.
    pub fn parse(text: &str) -> Result<Self, Error> {
        parse(text).map_err(|detail| Error::Dsn { dsn: hide_password(text), detail })
    }

    /// The same with the password from the place that the address names, where it names one.
    ///
    /// # Errors
    /// [`Error::Dsn`] when the file cannot be read, the variable is not set, or either holds none.
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

    /// Whether the password stands in the address itself.
    #[must_use]
    pub fn has_password(&self) -> bool {
        !self.endpoint.password.0.is_empty()
    }

    /// How such a server is reached, as its address says.
    #[must_use]
    pub fn transport(&self) -> Transport {
        match (&self.endpoint.address, &self.endpoint.tls) {
            (Address::Unix(_), _) => Transport::Socket,
            (Address::Tcp { .. }, Tls::Off) => Transport::Tcp,
            (Address::Tcp { .. }, Tls::Required { .. } | Tls::Issued { .. }) => Transport::Tls,
        }
    }

    /// Whether a text looks like an address rather than a version.
    #[must_use]
    pub fn looks_like(text: &str) -> bool {
        text.contains("://")
    }
}

impl fmt::Display for Dsn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Endpoint { address, tls, user, database, .. } = &self.endpoint;
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
        let (is_on, ca) = match tls {
            Tls::Off => (false, None),
            Tls::Required { ca } => (true, ca.as_ref()),
            Tls::Issued { ca } => (true, Some(ca)),
        };
        keys.extend(is_on.then(|| "tls=required".to_owned()));
        keys.extend(ca.map(|ca| format!("ca={}", path(ca))));
        keys.extend(self.password_place.iter().map(|place| match place {
            PasswordPlace::File(file) => format!("password_file={}", path(file)),
            PasswordPlace::Variable(name) => format!("password_env={}", encode(name)),
        }));
        if keys.is_empty() { Ok(()) } else { write!(f, "?{}", keys.join("&")) }
    }
}

fn first_line(path: &Path) -> Result<String, String> {
    let text = given_file::read_text(path, MOST_OF_FILE).map_err(|error| error.to_string())?;
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err("its first line is empty".to_owned()),
    }
}

fn parse(text: &str) -> Result<Dsn, String> {
    let (scheme, rest) = text.split_once("://").ok_or("it has no scheme")?;
    let dbms = match scheme {
        "mysql" => Dbms::Mysql,
        "mariadb" => Dbms::Mariadb,
        "postgres" | "postgresql" => Dbms::Postgres,
        _ if is_scheme(scheme) => return Err(format!("unknown scheme {scheme:?}")),
        _ => return Err("what stands before :// is no scheme".to_owned()),
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    // A password that was cut in two would be taken for a port, a database or a key, and be shown.
    if database.contains('@') || query.contains('@') {
        let rule =
            "an @ stands after the host: in a user or password write %2F for / and %3F for ?";
        return Err(format!("{rule}, after the host write %40 for @"));
    }
    let (login, host_port) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let (mut socket, mut tls, mut ca, mut places) = (None, false, None, Vec::new());
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = decode(value)?;
        match (key, value.as_str()) {
            ("socket", _) => socket = Some(PathBuf::from(value)),
            ("ca", _) => ca = Some(PathBuf::from(value)),
            ("password_file", _) => places.push(PasswordPlace::File(PathBuf::from(value))),
            ("password_env", _) if is_name(&value) => {
                // Before anything is started that could read it.
                secrets::withhold(&value);
                places.push(PasswordPlace::Variable(value));
            }
            // What stands there may be the password, put in by a shell.
            ("password_env", _) => {
                let rule = "password_env takes the name of a variable, letters, digits and _, and not its value";
                return Err(rule.to_owned());
            }
            ("tls", "required") => tls = true,
            ("tls", "off") => tls = false,
            ("tls", _) => return Err(format!("tls is required or off, not {value:?}")),
            _ => {
                let known = "socket, tls, ca, password_file, password_env";
                return Err(format!("unknown key after ? (known: {known})"));
            }
        }
    }
    if places.len() + usize::from(!password.is_empty()) > 1 {
        let rule = "only one of a password, password_file and password_env can be given, once";
        return Err(rule.to_owned());
    }
    let tls = if tls { Tls::Required { ca } } else { Tls::Off };
    let address = match socket {
        Some(_) if tls != Tls::Off => return Err("tls over a unix socket is not done".to_owned()),
        Some(path) => Address::Unix(path),
        None => tcp(dbms, host_port)?,
    };
    let endpoint = Endpoint {
        address,
        tls,
        user: decode(user)?,
        password: Password(decode(password)?),
        database: decode(database)?,
        connect_timeout: CONNECT_TIMEOUT,
    };
    Ok(Dsn { dbms, endpoint, password_place: places.pop() })
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
        "" if dbms == Dbms::Postgres => 5432,
        "" => 3306,
        // Not shown: it is a password where the host was forgotten.
        _ => port.parse().map_err(|_| {
            "what stands after the host and its : is no port, a number; a password stands before an @ and the \
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
        bytes.push(value.ok_or("a % without two hex digits (write % as %25)")?);
        rest = &rest[2..];
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn reads_all_parts_and_shows_all_but_the_password() {
        for (text, shown) in [
            ("mysql://u:p@db.example:3307/test", "mysql://u@db.example:3307/test"),
            ("mariadb://u:p%40%3Aq@h/", "mariadb://u@h:3306/"),
            ("postgres://u@[::1]/db", "postgres://u@[::1]:5432/db"),
            (
                "postgresql:///db?socket=/tmp/.s.PGSQL.5432",
                "postgres:///db?socket=/tmp/.s.PGSQL.5432",
            ),
            (
                "mysql://u:p@h/d?tls=required&ca=/a%20b.pem",
                "mysql://u@h:3306/d?tls=required&ca=/a%20b.pem",
            ),
        ] {
            let dsn = Dsn::parse(text).unwrap();
            assert_eq!(dsn.to_string(), shown);
            assert_eq!(Dsn::parse(shown).unwrap().to_string(), shown);
            assert!(!format!("{dsn:?}").contains("p@"), "{dsn:?}");
        }
        let dsn = Dsn::parse("mariadb://u:p%40%3Aq@h/").unwrap();
        assert_eq!(dsn.endpoint.password.0, "p@:q");
    }

    #[test]
    fn a_password_can_be_in_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("p w");
        let path = file.display().to_string().replace(' ', "%20");
        let text = format!("mysql://u@h:1/d?tls=required&password_file={path}");
        let dsn = Dsn::parse(&text).unwrap();
        assert_eq!(Dsn::parse(&dsn.to_string()).unwrap(), dsn);
        let error = dsn.clone().with_password(|_| None).unwrap_err().to_string();
        assert!(error.contains("password_file") && error.contains("p w"), "{error}");
        std::fs::write(&file, "\n").unwrap();
        assert!(dsn.clone().with_password(|_| None).is_err());
        std::fs::write(&file, "s3cret: %40\nnot this\n").unwrap();
        let dsn = dsn.with_password(|_| None).unwrap();
        assert_eq!(dsn.endpoint.password.0, "s3cret: %40");
        assert!(!dsn.to_string().contains("s3cret"), "{dsn}");
        assert!(Dsn::parse("mysql://u:p@h/d?password_file=/f").is_err());
        let endless = Dsn::parse("mysql://u@h/d?password_file=/dev/zero").unwrap();
        let error = endless.with_password(|_| None).unwrap_err().to_string();
        assert!(error.contains("password_file /dev/zero: it is no plain file"), "{error}");
    }

    #[test]
    fn a_password_can_be_in_the_environment() {
        let dsn = Dsn::parse("postgres://u@h/d?password_env=DB_PASSWORD").unwrap();
        assert_eq!(dsn.to_string(), "postgres://u@h:5432/d?password_env=DB_PASSWORD");
        assert_eq!(Dsn::parse(&dsn.to_string()).unwrap(), dsn);
        assert!(!dsn.has_password());
        for variables in [(|_| None) as Variables, |_| Some(String::new())] {
            let error = dsn.clone().with_password(variables).unwrap_err().to_string();
            assert!(error.contains("password_env DB_PASSWORD: not set"), "{error}");
        }
        let of_name: Variables = |name| (name == "DB_PASSWORD").then(|| "s3cret".to_owned());
        let dsn = dsn.with_password(of_name).unwrap();
        assert!(dsn.has_password() && dsn.endpoint.password.0 == "s3cret");
        assert!(!dsn.to_string().contains("s3cret"), "{dsn}");
        assert!(Dsn::parse("mysql://u:p@h/d?password_env=A").is_err());
        assert!(Dsn::parse("mysql://u@h/d?password_env=A&password_file=/f").is_err());
    }

    #[test]
    fn errors_do_not_show_the_password() {
        for text in [
            "mysql://u:secret@h:x/",
            "oracle://u:secret@h/",
            "u:secret@h",
            "mysql://u:secret@h/?x=1",
            "mysql://u:sec%ret@h/",
            "mysql://u:secret@h/?socket=/s&tls=required",
            "mysql://u:secret@in@h:x/",
            "mysql://u:secret/in@h/db",
            "mysql://u:12/secret@h/db",
            "mysql://u:secret?in@h/db",
            "mysql://u:in?secret@h/db",
            "mysql://u@h/db?password=secret",
            "mysql://u@h/db?password_env=my-secret",
            "mysql://u@h/db?password_env=1secret",
            "mysql://u@h/db?socket=/s&password_env=secret!",
            "mysql://u:secret",
            "mysql://u:secret/db",
            "mysql://u@h:secret",
            "mysql://[u:secret",
            "mysql://[::1]:secret/db",
            "u:secret@h://x",
        ] {
            let error = Dsn::parse(text).unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("secret") && !shown.contains("sec%ret"), "{shown}");
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_never_shows_the_password(user in "[a-z]{0,4}", rest in "\\PC{0,30}") {
            let text = format!("mysql://{user}:S3CR3T@{rest}");
            match Dsn::parse(&text) {
                Ok(dsn) if !rest.contains('@') => prop_assert!(!dsn.to_string().contains("S3CR3T")),
                Ok(_) => {}
                Err(error) => prop_assert!(!error.to_string().contains("S3CR3T")),
            }
        }

        #[test]
        fn encoding_is_undone(text in "\\PC{0,20}") {
            prop_assert_eq!(decode(&encode(&text)).unwrap(), text);
        }
    }
}
