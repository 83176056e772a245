//! Connection strings of libpq: `keyword = value` pairs and URIs.

use percent_encoding::percent_decode_str;

use crate::Error;

/// A parameter as it stands in a connection string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    /// The keyword.
    pub(super) name: String,
    /// Its value.
    pub(super) value: String,
}

impl Pair {
    pub(super) fn new(name: &str, value: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value: value.into() }
    }
}

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
    if text.contains('=') { parse_pairs(text).map(Some) } else { Ok(None) }
}

fn parse_pairs(text: &str) -> Result<Vec<Pair>, Error> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        let Some(after) = after.trim_start().strip_prefix('=') else {
            return Err(fault(&format!("missing \"=\" after \"{name}\"")));
        };
        let (value, after) = take_value(after.trim_start())?;
        pairs.push(Pair::new(name, value));
        rest = after.trim_start();
    }
    Ok(pairs)
}

/// A value, in quotes or up to the next blank, and what follows it.
fn take_value(text: &str) -> Result<(String, &str), Error> {
    let quoted = text.strip_prefix('\'');
    let body = quoted.unwrap_or(text);
    let mut value = String::new();
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => value.extend(chars.next().map(|(_, escaped)| escaped)),
            '\'' if quoted.is_some() => return Ok((value, body.get(at + 1..).unwrap_or(""))),
            c if quoted.is_none() && c.is_whitespace() => {
                return Ok((value, body.get(at..).unwrap_or("")));
            }
            c => value.push(c),
        }
    }
    if quoted.is_some() { Err(fault("unterminated quoted string")) } else { Ok((value, "")) }
}

/// Reads a URI from behind its scheme.
fn parse_uri(rest: &str) -> Result<Vec<Pair>, Error> {
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (login, hosts) = authority.rsplit_once('@').unwrap_or(("", authority));
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
            return Err(fault(&format!("missing \"=\" after \"{text}\"")));
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
    decoded.map(Into::into).map_err(|_| fault(&format!("\"{text}\" is no UTF-8 when decoded")))
}

fn fault(what: &str) -> Error {
    Error::Fatal(format!("{what} in the connection string of --pgsql-db"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<String> {
        let pairs = parse(text).unwrap().unwrap();
        pairs.into_iter().map(|pair| format!("{}={}", pair.name, pair.value)).collect()
    }

    #[test]
    fn pairs_have_quotes_and_escapes() {
        assert_eq!(parse("sbtest").unwrap(), None);
        let all =
            pairs(r"dbname = sbtest options='-c work_mem=64MB' password=a\ b  user='o\'k' host=");
        assert_eq!(
            all,
            ["dbname=sbtest", "options=-c work_mem=64MB", "password=a b", "user=o'k", "host="]
        );
        for wrong in ["dbname=a b", "dbname='a"] {
            assert!(parse(wrong).is_err(), "{wrong}");
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
