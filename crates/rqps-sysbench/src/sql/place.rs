//! Where servers are and how to log in, from the options.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rqps_client::{Address, Endpoint, Password, SessionCharset, Startup, Tls};

use super::libpq;
use crate::options::Options;
use crate::{Environment, Error};

/// Longest time for one connection to be made and let in, as servers allow by default.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Sockets of MySQL and MariaDB as distributions place them, for the host `localhost`.
const MYSQL_SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

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

/// The servers of a driver, which connections take in turn; at least one.
///
/// # Errors
/// An option that asks for what this client does not do, or whose value is not of its kind.
pub(crate) fn places(
    driver: Driver,
    options: &Options,
    environment: &Environment,
) -> Result<Vec<Place>, Error> {
    match driver {
        Driver::Mysql => mysql(options, environment),
        Driver::Pgsql => libpq::places(options, environment),
    }
}

fn mysql(options: &Options, environment: &Environment) -> Result<Vec<Place>, Error> {
    for (name, why) in [
        ("mysql-ssl-cipher", "ciphers are those of the TLS library"),
        ("mysql-ssl-cert", "certificates of clients are not done"),
        ("mysql-ssl-key", "certificates of clients are not done"),
    ] {
        if !options.text(name)?.is_empty() {
            return Err(Error::Fatal(format!("--{name} cannot be used: {why}")));
        }
    }
    let compression = options.text("mysql-compression")?;
    if !matches!(compression.as_str(), "off" | "DISABLED" | "0" | "false" | "") {
        return Err(Error::Fatal(
            "--mysql-compression cannot be used: traffic is never compressed".into(),
        ));
    }
    let algorithms = options.text("mysql-compression-algorithms")?;
    if !matches!(algorithms.as_str(), "" | "uncompressed") {
        return Err(Error::Fatal(format!(
            "--mysql-compression-algorithms={algorithms} cannot be used: traffic is never compressed"
        )));
    }
    let tls = mysql_tls(options)?;
    let mut password = options.text("mysql-password")?;
    if password.is_empty() {
        // As its client library does.
        password = environment.get("MYSQL_PWD").unwrap_or_default().to_owned();
    }
    let login = |address: Address, called: String| {
        Ok(Place {
            // What goes through a socket of this host is not encrypted without need.
            prefers_tls: tls.is_none() && matches!(address, Address::Tcp { .. }),
            endpoint: Endpoint {
                address,
                tls: tls.clone().unwrap_or_default(),
                user: options.text("mysql-user")?,
                password: Password(password.clone()),
                server_public_key: None,
                database: options.text("mysql-db")?,
                schema: None,
                startup: Startup { charset: SessionCharset::ClientLibrary, parameters: Vec::new() },
                connect_timeout: CONNECT_TIMEOUT,
            },
            called,
        })
    };
    let sockets = options.list("mysql-socket")?;
    if !sockets.is_empty() {
        let at_socket =
            |path: &String| login(Address::Unix(PathBuf::from(path)), format!("socket '{path}'"));
        return sockets.iter().map(at_socket).collect();
    }
    let mut ports = ports(&options.list("mysql-port")?, "mysql-port")?;
    if ports.is_empty() {
        ports.push(0);
    }
    let default_port = environment.get("MYSQL_TCP_PORT").and_then(|text| text.parse().ok());
    for port in ports.iter_mut().filter(|port| **port == 0) {
        *port = default_port.unwrap_or(3306);
    }
    let mut hosts = options.list("mysql-host")?;
    if hosts.is_empty() {
        hosts.push("localhost".to_owned());
    }
    let named = environment.get("MYSQL_UNIX_PORT");
    let sockets: Vec<&str> = named.into_iter().chain(MYSQL_SOCKETS).collect();
    let mut places = Vec::new();
    for (host, port) in in_turn(&hosts, &ports) {
        let socket = sockets.iter().map(Path::new).find(|path| path.exists());
        let called = format!("host '{host}', port {port}");
        let address = match socket {
            // As libmysqlclient does: this name means the socket, unless TLS was asked for.
            Some(path) if host == "localhost" && matches!(tls, None | Some(Tls::Off)) => {
                Address::Unix(path.into())
            }
            _ => Address::Tcp { host, port },
        };
        places.push(login(address, called)?);
    }
    Ok(places)
}

/// `None` is TLS where it is offered.
fn mysql_tls(options: &Options) -> Result<Option<Tls>, Error> {
    let mode = options.text("mysql-ssl")?;
    let ca = options.text("mysql-ssl-ca")?;
    let ca = (!ca.is_empty()).then(|| PathBuf::from(ca));
    // A certificate that MySQL made for itself names no host, and its own client looks at the name with
    // VERIFY_IDENTITY alone.
    let issued = || ca.clone().map_or(Tls::Required { ca: None }, |ca| Tls::Issued { ca });
    match mode.to_ascii_uppercase().as_str() {
        "OFF" | "DISABLED" | "FALSE" | "0" => Ok(Some(Tls::Off)),
        "PREFERRED" => Ok(None),
        "ON" | "REQUIRED" | "TRUE" | "1" => Ok(Some(issued())),
        "VERIFY_CA" if ca.is_some() => Ok(Some(issued())),
        "VERIFY_IDENTITY" if ca.is_some() => Ok(Some(Tls::Required { ca })),
        "VERIFY_CA" | "VERIFY_IDENTITY" => {
            Err(Error::Fatal(format!("--mysql-ssl={mode} needs --mysql-ssl-ca")))
        }
        _ => Err(Error::Fatal(format!("Invalid value for --mysql-ssl: {mode}"))),
    }
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

/// Every host with every port: all hosts of the first port, then those of the next.
fn in_turn(hosts: &[String], ports: &[u16]) -> Vec<(String, u16)> {
    ports.iter().flat_map(|port| hosts.iter().map(|host| (host.clone(), *port))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::cmdline;

    fn options(words: &str) -> Options {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        cmdline::parse(&words).unwrap().options
    }

    fn of(driver: Driver, words: &str) -> Result<Vec<Place>, Error> {
        places(driver, &options(words), &Environment::default())
    }

    #[test]
    fn hosts_ports_and_sockets() {
        let called = |driver, words: &str| -> Vec<String> {
            of(driver, words).unwrap().into_iter().map(|place| place.called).collect()
        };
        assert_eq!(
            called(Driver::Mysql, "--mysql-host=a,b --mysql-port=1,2"),
            [("a", 1), ("b", 1), ("a", 2), ("b", 2)].map(|(h, p)| format!("host '{h}', port {p}"))
        );
        assert_eq!(called(Driver::Mysql, "--mysql-socket=/x --mysql-host=a"), ["socket '/x'"]);
        let unix = of(Driver::Pgsql, "--pgsql-host=/run/pg --pgsql-port=7").unwrap();
        assert_eq!(unix[0].endpoint.address, Address::Unix("/run/pg/.s.PGSQL.7".into()));
        assert!(of(Driver::Mysql, "--mysql-port=x").is_err());
    }

    #[test]
    fn what_is_not_done_is_refused() {
        for words in ["--mysql-compression=on", "--mysql-ssl-cipher=x", "--mysql-ssl=VERIFY_CA"] {
            assert!(of(Driver::Mysql, words).is_err(), "{words}");
        }
        assert!(of(Driver::Pgsql, "--pgsql-sslmode=verify-full").is_err());
        assert!(of(Driver::Mysql, "--mysql-compression").is_err());
    }

    #[test]
    fn tls_is_required_preferred_or_off() {
        let of = |driver, words: &str| {
            let place = of(driver, words).unwrap().remove(0);
            (place.endpoint.tls == Tls::Required { ca: None }, place.prefers_tls)
        };
        for (words, expected) in [
            ("", (false, false)),
            // In sysbench 1.0 it is a switch.
            ("--mysql-ssl", (true, false)),
            ("--mysql-ssl=on", (true, false)),
            ("--mysql_ssl=off", (false, false)),
            ("--mysql-ssl=REQUIRED", (true, false)),
            ("--mysql-ssl=preferred", (false, true)),
            ("--mysql-ssl=preferred --mysql-socket=/s", (false, false)),
        ] {
            let words = format!("--mysql-host=h {words}");
            assert_eq!(of(Driver::Mysql, &words), expected, "{words}");
        }
        let with_ca = |mode: &str| {
            let words = format!("--mysql-host=h --mysql-ssl-ca=/ca --mysql-ssl={mode}");
            let mut places = places(Driver::Mysql, &options(&words), &Environment::default());
            places.as_mut().unwrap().remove(0).endpoint.tls
        };
        let ca = PathBuf::from("/ca");
        assert_eq!(with_ca("VERIFY_CA"), Tls::Issued { ca: ca.clone() });
        assert_eq!(with_ca("REQUIRED"), Tls::Issued { ca: ca.clone() });
        assert_eq!(with_ca("VERIFY_IDENTITY"), Tls::Required { ca: Some(ca) });
        // As libpq does, and with it sysbench.
        assert_eq!(of(Driver::Pgsql, "--pgsql-host=h"), (false, true));
        assert_eq!(of(Driver::Pgsql, "--pgsql-host=/run/pg"), (false, false));
        assert_eq!(of(Driver::Pgsql, "--pgsql-host=h --pgsql-sslmode=disable"), (false, false));
        assert_eq!(of(Driver::Pgsql, "--pgsql-host=h --pgsql-sslmode=require"), (true, false));
    }
}
