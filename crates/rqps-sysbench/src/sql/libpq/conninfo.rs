//! Connection strings of libpq: `keyword = value` pairs and URIs.

use percent_encoding::percent_decode_str;
use rqps_client::conninfo::{self, Pair};

use crate::Error;

/// The parameters of a connection string; `None` when the text is only the name of a database.
///
/// # Errors
/// A connection string that cannot be read.
pub(super) fn parse(text: &str) -> Result<Option<Vec<Pair>>, Error> {
    for scheme in ["postgresql://", "postgres://"] {
        if let Some(rest) = text.strip_prefix(scheme) {
            return parse_uri(rest).map(Some);
        }
    }
    if !text.contains('=') {
        return Ok(None);
    }
    conninfo::parse(text).map(Some).map_err(fault)
}

/// Reads a URI from behind its scheme.
fn parse_uri(rest: &str) -> Result<Vec<Pair>, Error> {
    // As libpq looks for it: the login ends at the first @, unless a / comes before that.
    let (login, rest) = match rest.find(['@', '/']) {
        Some(at) if rest[at..].starts_with('@') => (&rest[..at], &rest[at + 1..]),
        _ => ("", rest),
    };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    let mut pairs = Vec::new();
    for (name, text) in [("user", user), ("password", password), ("dbname", database)] {
        if !text.is_empty() {
            pairs.push(Pair::new(name, decoded(text)?));
        }
    }
    if !hosts.is_empty() {
        let all: Vec<HostPort<'_>> = hosts.split(',').map(split_port).collect();
        let host: Vec<&str> = all.iter().map(|one| one.host).collect();
        let port: Vec<&str> = all.iter().map(|one| one.port).collect();
        pairs.push(Pair::new("host", decoded(&host.join(","))?));
        if port.iter().any(|port| !port.is_empty()) {
            pairs.push(Pair::new("port", decoded(&port.join(","))?));
        }
    }
    for text in query.split('&').filter(|text| !text.is_empty()) {
        let Some((name, value)) = text.split_once('=') else {
            return Err(fault("a parameter has no = sign"));
        };
        let (name, value) = (decoded(name)?, decoded(value)?);
        // As JDBC writes it.
        if name == "ssl" && value == "true" {
            pairs.push(Pair::new("sslmode", "require"));
        } else {
            pairs.push(Pair { name, value });
        }
    }
    Ok(pairs)
}

struct HostPort<'a> {
    host: &'a str,
    /// Empty for none.
    port: &'a str,
}

/// The host and the port of `host:port`; an address of IPv6 stands in brackets.
fn split_port(text: &str) -> HostPort<'_> {
    if let Some((host, rest)) = text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return HostPort { host, port: rest.strip_prefix(':').unwrap_or("") };
    }
    let (host, port) = text.split_once(':').unwrap_or((text, ""));
    HostPort { host, port }
}

fn decoded(text: &str) -> Result<String, Error> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(Into::into).map_err(|_| fault("the bytes after % are not UTF-8"))
}

/// What is wrong. The string is not shown: a password may stand in it.
fn fault(what: &str) -> Error {
    Error::Fatal(format!("connection string of --pgsql-db: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<String> {
        let pairs = parse(text).unwrap().unwrap();
        pairs.into_iter().map(|pair| format!("{}={}", pair.name, pair.value)).collect()
    }

    #[test]
    fn a_text_without_parameters_is_a_database() {
        assert_eq!(parse("sbtest").unwrap(), None);
        assert_eq!(pairs("dbname = x user='o k'"), ["dbname=x", "user=o k"]);
    }

    #[test]
    fn errors_do_not_show_a_password() {
        for wrong in [
            "dbname=a secret",
            "password='secret",
            "postgres://u:%ffsecret@h/d",
            "postgres://h/d?secret",
        ] {
            let error = parse(wrong).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn uris_have_hosts_logins_and_parameters() {
        assert_eq!(
            pairs("postgresql://bob:p%40ss@h1:1,[::1]:2/db%20x?sslmode=require&ssl=true"),
            [
                "user=bob",
                "password=p@ss",
                "dbname=db x",
                "host=h1,::1",
                "port=1,2",
                "sslmode=require",
                "sslmode=require"
            ]
        );
        assert_eq!(pairs("postgres://%2Frun%2Fpg/db"), ["dbname=db", "host=/run/pg"]);
        assert_eq!(pairs("postgres://"), Vec::<String>::new());
        assert!(parse("postgres://h/db?x").is_err());
    }
}
