//! PostgreSQL's connection parameters as libpq, the client library of sysbench, gathers them: from the options, a
//! connection string, a service, the environment, and files below the home directory.

mod conninfo;
mod files;
mod keywords;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rqps_client::conninfo::Pair;
use rqps_client::{Address, Endpoint, Parameter, Password, SessionCharset, Startup, Tls};

use super::place::{CONNECT_TIMEOUT, Place, ports};
use crate::options::Options;
use crate::{Environment, Error};
use files::Login;
use keywords::{KEYWORDS, Use, known};

/// Directories of sockets as distributions and PostgreSQL itself place them.
const SOCKET_DIRS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// The folder of the services of all users on Debian, where `PGSYSCONFDIR` names no other.
const SYSTEM_DIR: &str = "/etc/postgresql-common";

/// What TLS can be asked for.
const SSL_MODES: &str = "use disable, allow, prefer, require, verify-ca or verify-full";

/// Character sets in which no byte of a longer character is a quote or a backslash.
const SAFE_ENCODINGS: [&str; 8] =
    ["UTF8", "UTF-8", "UNICODE", "SQL_ASCII", "LATIN1", "LATIN9", "WIN1252", "EUC_JP"];

/// The servers of the options and the environment, which connections use round-robin; at least one.
///
/// # Errors
/// A parameter that is not supported or cannot be read.
pub(super) fn places(options: &Options, environment: &Environment) -> Result<Vec<Place>, Error> {
    let given = gather(options, environment)?;
    given.check()?;
    let tls = given.tls(environment)?;
    if let (Some(Tls::Required { ca: Some(_) }), Some(address)) = (&tls, given.0.get("hostaddr")) {
        let why = "verify-full checks the certificate's name, and this is an address; leave it \
                   out, or use verify-ca";
        return Err(address.refused(why));
    }
    let startup = given.startup()?;
    let user = given.text("user").or(environment.user.as_deref()).unwrap_or_default();
    let database = given.text("dbname").unwrap_or(user);
    let connect_timeout = given.connect_timeout()?;
    let mut places = Vec::new();
    for Target { host, hostaddr, port } in given.targets()? {
        let address = if host.starts_with('/') && hostaddr.is_empty() {
            Address::Unix(Path::new(&host).join(format!(".s.PGSQL.{port}")))
        } else {
            let host = if hostaddr.is_empty() { host.clone() } else { hostaddr.clone() };
            Address::Tcp { host, port }
        };
        if matches!(address, Address::Unix(_)) && tls.as_ref().is_some_and(|tls| *tls != Tls::Off) {
            let origin = given.0.get("sslmode").map_or("sslmode", |given| &given.origin);
            return Err(Error::Fatal(format!(
                "{origin} cannot be used: a unix socket is not encrypted; leave it out, or name a host"
            )));
        }
        let of_login = if host.is_empty() { &hostaddr } else { &host };
        let is_default = SOCKET_DIRS.contains(&of_login.as_str());
        let of_login = if is_default { "localhost" } else { of_login };
        let password = match given.text("password") {
            Some(password) => password.to_owned(),
            None => {
                given.password_of(Login { host: of_login, port, database, user }, environment)?
            }
        };
        places.push(Place {
            prefers_tls: tls.is_none() && matches!(address, Address::Tcp { .. }),
            endpoint: Endpoint {
                address,
                tls: tls.clone().unwrap_or_default(),
                user: user.to_owned(),
                password: Password(password),
                server_public_key: None,
                database: database.to_owned(),
                on_login: None,
                startup: startup.clone(),
                connect_timeout,
            },
            called: format!("host '{host}', port {port}"),
        });
    }
    Ok(places)
}

/// A parameter as it was given.
#[derive(Debug)]
struct Given {
    value: String,
    /// Who gave it, for messages: `PGSSLMODE`, `sslmode of the service 'x'`.
    origin: String,
}

/// All parameters by keyword; none is empty.
#[derive(Debug, Default)]
struct Gathered(BTreeMap<&'static str, Given>);

/// Where a server listens.
#[derive(Debug)]
struct Target {
    /// Name, directory of its socket, or empty.
    host: String,
    /// Address that goes before the name; empty for none.
    hostaddr: String,
    port: u16,
}

/// Gathers what is given: options go before a connection string, which goes before a service and the
/// environment.
fn gather(options: &Options, environment: &Environment) -> Result<Gathered, Error> {
    let mut given = Gathered::default();
    let mut take = |name: &str, value: &str, option: &str| {
        given.add(&Pair::new(name, value), || format!("--{option}"))
    };
    take("host", &options.list("pgsql-host")?.join(","), "pgsql-host")?;
    take("port", &options.list("pgsql-port")?.join(","), "pgsql-port")?;
    for (name, option) in
        [("user", "pgsql-user"), ("password", "pgsql-password"), ("sslmode", "pgsql-sslmode")]
    {
        take(name, &options.text(option)?, option)?;
    }
    let database = options.text("pgsql-db")?;
    match conninfo::parse(&database)? {
        Some(pairs) => {
            for (at, pair) in pairs.iter().enumerate() {
                if known(&pair.name).is_none() {
                    // Its name may be a part of a password.
                    let text = format!(
                        "--pgsql-db: invalid connection option, the {} of {}",
                        at + 1,
                        pairs.len()
                    );
                    return Err(Error::Fatal(text));
                }
                given.add(pair, || format!("{} of --pgsql-db", pair.name))?;
            }
        }
        None => given.add(&Pair::new("dbname", database), || "--pgsql-db".to_owned())?,
    }
    let service = given.text("service").or(environment.get("PGSERVICE")).map(str::to_owned);
    if let Some(service) = service {
        for pair in service_of(&service, environment)? {
            given.add(&pair, || format!("{} of the service '{service}'", pair.name))?;
        }
    }
    for keyword in &KEYWORDS {
        // Libpq takes an empty variable for a value. To pass over this one could leave encryption out.
        if keyword.name == "sslmode"
            && environment.is_empty(keyword.variable)
            && given.text("sslmode").is_none()
        {
            return Err(Error::Fatal(format!(
                "{} is set and empty: unset it, or {SSL_MODES}",
                keyword.variable
            )));
        }
        if let Some(value) = environment.get(keyword.variable) {
            given.add(&Pair::new(keyword.name, value), || keyword.variable.to_owned())?;
        }
    }
    Ok(given)
}

/// The parameters of a service: from the user's own file, else from that of all users.
fn service_of(name: &str, environment: &Environment) -> Result<Vec<Pair>, Error> {
    let named = environment.get("PGSERVICEFILE").map(PathBuf::from);
    if let Some(path) = named.as_ref().filter(|path| !path.exists()) {
        return Err(Error::Fatal(format!(
            "service file \"{}\" of PGSERVICEFILE not found",
            path.display()
        )));
    }
    let own = named.or_else(|| environment.home_file(".pg_service.conf"));
    let system = environment.get("PGSYSCONFDIR").unwrap_or(SYSTEM_DIR);
    for path in own.into_iter().chain([Path::new(system).join("pg_service.conf")]) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let found = files::service(&text, name).map_err(|line| {
            Error::Fatal(format!("{}: \"{line}\" is not a parameter of a service", path.display()))
        })?;
        if let Some(pairs) = found {
            return Ok(pairs);
        }
    }
    Err(Error::Fatal(format!("definition of service \"{name}\" not found")))
}

impl Gathered {
    /// Adds a parameter unless it is empty or there already.
    fn add(&mut self, pair: &Pair, origin: impl Fn() -> String) -> Result<(), Error> {
        let Some(keyword) = known(&pair.name) else {
            let text = format!("{}: invalid connection option \"{}\"", origin(), pair.name);
            return Err(Error::Fatal(text));
        };
        if !pair.value.is_empty() {
            let value = pair.value.clone();
            self.0.entry(keyword.name).or_insert_with(|| Given { value, origin: origin() });
        }
        Ok(())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(|given| given.value.as_str())
    }

    /// Refuses, by the name of who gave it, what would change the result and is not done.
    fn check(&self) -> Result<(), Error> {
        for keyword in &KEYWORDS {
            if let Use::Refused { but, why } = keyword.usage
                && let Some(given) = self.0.get(keyword.name)
                && !but.contains(&given.value.as_str())
            {
                return Err(given.refused(why));
            }
        }
        Ok(())
    }

    /// The ports, one for each target or one for all.
    fn ports(&self) -> Result<Vec<u16>, Error> {
        let list: Vec<String> = self.list("port");
        ports(&list, "pgsql-port").map_err(|error| match self.0.get("port") {
            // Not shown: of a connection string that was cut wrongly it may be a password.
            Some(given) if given.origin != "--pgsql-port" => {
                given.refused("it is not a port number")
            }
            _ => error,
        })
    }

    fn list(&self, name: &str) -> Vec<String> {
        let text = self.text(name).unwrap_or_default();
        text.split(',').map(|one| one.trim().to_owned()).collect()
    }

    fn targets(&self) -> Result<Vec<Target>, Error> {
        let (mut hosts, mut addresses) = (self.list("host"), self.list("hostaddr"));
        let n_targets = hosts.len().max(addresses.len());
        let ports = self.ports()?;
        let is_given = |name: &str| self.0.contains_key(name);
        let are_both = is_given("host") && is_given("hostaddr");
        let is_matched = !are_both || hosts.len() == addresses.len();
        if !is_matched || !matches!(ports.len(), n if n == 1 || n == n_targets) {
            return Err(Error::Fatal(format!(
                "{} hosts, {} addresses and {} ports cannot be matched",
                hosts.len(),
                addresses.len(),
                ports.len()
            )));
        }
        hosts.resize(n_targets, String::new());
        addresses.resize(n_targets, String::new());
        let mut targets = Vec::new();
        for (idx, (host, hostaddr)) in hosts.into_iter().zip(addresses).enumerate() {
            let port = ports.get(idx).or(ports.first()).copied().filter(|port| *port > 0);
            let host = if host.is_empty() && hostaddr.is_empty() { default_dir() } else { host };
            if host.starts_with('@') {
                let text = format!("host {host}: abstract sockets are not supported");
                return Err(Error::Fatal(text));
            }
            targets.push(Target { host, hostaddr, port: port.unwrap_or(5432) });
        }
        Ok(targets)
    }

    /// `None` is TLS where it is offered.
    fn tls(&self, environment: &Environment) -> Result<Option<Tls>, Error> {
        let required = self.text("requiressl").is_some_and(|value| value.starts_with('1'));
        let mode = self.text("sslmode").unwrap_or(if required { "require" } else { "prefer" });
        let root = match self.0.get("sslrootcert") {
            Some(given) if given.value == "system" => {
                return Err(given.refused("name the CA file"));
            }
            Some(given) => Some(PathBuf::from(&given.value)),
            None => environment.home_file(".postgresql/root.crt").filter(|path| path.exists()),
        };
        match (mode, root) {
            ("disable" | "allow", _) => Ok(Some(Tls::Off)),
            ("prefer", _) => Ok(None),
            ("require", None) => Ok(Some(Tls::Required { ca: None })),
            // As libpq has it: whoever names an authority means it.
            ("require" | "verify-ca", Some(ca)) => Ok(Some(Tls::Issued { ca })),
            ("verify-full", Some(ca)) => Ok(Some(Tls::Required { ca: Some(ca) })),
            (mode, _) => {
                let why = match mode {
                    "verify-ca" | "verify-full" => {
                        "it needs the CA file, in PGSSLROOTCERT or ~/.postgresql/root.crt"
                    }
                    _ => SSL_MODES,
                };
                let origin = self.0.get("sslmode").map_or("sslmode", |given| &given.origin);
                Err(Error::Fatal(format!("{origin}={mode} cannot be used: {why}")))
            }
        }
    }

    fn startup(&self) -> Result<Startup, Error> {
        let mut parameters = Vec::new();
        let mut send = |name: &str, given: &Given| {
            parameters.push(Parameter { name: name.to_owned(), value: given.value.clone() });
        };
        if let Some(given) = self.0.get("client_encoding") {
            if !SAFE_ENCODINGS.contains(&given.value.to_ascii_uppercase().as_str()) {
                let why = format!("use one of {}", SAFE_ENCODINGS.join(", "));
                return Err(given.refused(&why));
            }
            send("client_encoding", given);
        }
        if let Some(given) = self.0.get("options") {
            let text = given.value.to_ascii_lowercase().replace('-', "_");
            if text.contains("standard_conforming_strings") || text.contains("client_encoding") {
                return Err(given.refused("rqps depends on these settings"));
            }
            send("options", given);
        }
        for keyword in KEYWORDS.iter().filter(|keyword| keyword.usage == Use::Sent) {
            if let Some(given) = self.0.get(keyword.name) {
                send(keyword.name, given);
            }
        }
        Ok(Startup { charset: SessionCharset::ClientLibrary, parameters })
    }

    fn connect_timeout(&self) -> Result<Duration, Error> {
        let Some(given) = self.0.get("connect_timeout") else { return Ok(CONNECT_TIMEOUT) };
        match given.value.trim().parse::<i64>() {
            Ok(seconds) => Ok(u64::try_from(seconds)
                .ok()
                .filter(|seconds| *seconds > 0)
                .map_or(CONNECT_TIMEOUT, Duration::from_secs)),
            Err(_) => Err(given.refused("it is not a number of seconds")),
        }
    }

    /// The password of a login in the password file; none where there is no file or no line for it.
    fn password_of(&self, login: Login<'_>, environment: &Environment) -> Result<String, Error> {
        use std::os::unix::fs::PermissionsExt as _;
        let named = self.text("passfile").map(PathBuf::from);
        let Some(path) = named.or_else(|| environment.home_file(".pgpass")) else {
            return Ok(String::new());
        };
        let Ok(text) = std::fs::read_to_string(&path) else { return Ok(String::new()) };
        let Some(password) = files::password(&text, login) else { return Ok(String::new()) };
        // Libpq warns and then has no password.
        let is_open = std::fs::metadata(&path).is_ok_and(|it| it.permissions().mode() & 0o77 != 0);
        if is_open {
            let path = path.display();
            return Err(Error::Fatal(format!("{path}: others can read it: chmod 600 {path}")));
        }
        Ok(password)
    }
}

impl Given {
    fn refused(&self, why: &str) -> Error {
        Error::Fatal(format!("{} cannot be used: {why}", self.origin))
    }
}

/// The directory of sockets that is there.
fn default_dir() -> String {
    let dir = SOCKET_DIRS.into_iter().find(|dir| Path::new(dir).is_dir());
    dir.unwrap_or("/tmp").to_owned()
}

#[cfg(test)]
mod tests;
