//! MySQL's and MariaDB's servers from the options, as the client library of sysbench has them.

use std::path::{Path, PathBuf};

use rqps_client::{Address, Endpoint, Password, SessionCharset, Startup, Tls};

use super::place::{CONNECT_TIMEOUT, Place, ports};
use crate::options::Options;
use crate::{Environment, Error};

/// Sockets of MySQL and MariaDB as distributions place them, for the host `localhost`.
const MYSQL_SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

pub(super) fn places(options: &Options, environment: &Environment) -> Result<Vec<Place>, Error> {
    for (name, why) in [
        ("mysql-ssl-cipher", "the TLS library chooses the ciphers"),
        ("mysql-ssl-cert", "client certificates are not supported"),
        ("mysql-ssl-key", "client certificates are not supported"),
    ] {
        if !options.text(name)?.is_empty() {
            return Err(Error::Fatal(format!("--{name} cannot be used: {why}")));
        }
    }
    let compression = options.text("mysql-compression")?;
    if !matches!(compression.as_str(), "off" | "DISABLED" | "0" | "false" | "") {
        return Err(Error::Fatal(
            "--mysql-compression cannot be used: compression is not supported".into(),
        ));
    }
    let algorithms = options.text("mysql-compression-algorithms")?;
    if !matches!(algorithms.as_str(), "" | "uncompressed") {
        return Err(Error::Fatal(format!(
            "--mysql-compression-algorithms={algorithms} cannot be used: compression is not \
             supported"
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
                on_login: None,
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
    let hosts = options.list("mysql-host")?;
    if hosts.iter().all(String::is_empty) {
        return Err(Error::Fatal("No MySQL hosts specified, aborting".to_owned()));
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

/// Every host with every port: all hosts of the first port, then those of the next.
fn in_turn(hosts: &[String], ports: &[u16]) -> Vec<(String, u16)> {
    ports.iter().flat_map(|port| hosts.iter().map(|host| (host.clone(), *port))).collect()
}
