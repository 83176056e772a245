//! Addresses as other programs write them, turned into the form that [`super::Dsn`] reads: JDBC's, those of Go's
//! driver of MySQL, and libpq's `host=... dbname=...`.

use std::borrow::Cow;

use rqps_client::conninfo::{self, Pair};

use super::encode;

/// Words that libpq's form of an address may have, of those that say where a server is.
const WHERE: &[&str] =
    &["host", "hostaddr", "port", "dbname", "user", "service", "sslmode", "password"];

/// The address as a URL. What is one, or nothing known, stays as it is.
///
/// # Errors
/// What is wrong with it.
pub(super) fn to_url(text: &str) -> Result<Cow<'_, str>, String> {
    if let Some(rest) = text.strip_prefix("jdbc:") {
        return Ok(Cow::Borrowed(rest));
    }
    if text.contains("://") {
        return Ok(Cow::Borrowed(text));
    }
    if let Some(url) = of_go(text)? {
        return Ok(Cow::Owned(url));
    }
    if first_key(text).is_some_and(|key| WHERE.contains(&key)) {
        return of_libpq(text).map(Cow::Owned);
    }
    Ok(Cow::Borrowed(text))
}

/// Whether a text looks like an address rather than like a version or a name.
pub(super) fn looks_like(text: &str) -> bool {
    let is_of_libpq = || {
        let keys =
            text.match_indices('=').filter_map(|(at, _)| text[..at].split_whitespace().last());
        keys.filter(|key| WHERE.contains(key)).count() > 1
    };
    let is_service = || first_key(text) == Some("service");
    text.contains("://")
        || text.starts_with("jdbc:")
        || is_service()
        || network(text).is_some()
        || is_of_libpq()
}

/// The word before the first `=`.
fn first_key(text: &str) -> Option<&str> {
    let (key, _) = text.trim_start().split_once('=')?;
    Some(key.trim_end())
}

/// Where `tcp(`, `unix(` or the like begins that Go's driver writes before the place of a server: at the start, or
/// behind the last `@` of the login.
fn network(text: &str) -> Option<(usize, &str)> {
    let names = ["tcp", "tcp6", "unix", "cloudsql"];
    let starts = text.match_indices('@').map(|(at, _)| at + 1).chain([0]);
    let of = |at: usize| {
        let (name, _) = text[at..].split_once('(')?;
        names.contains(&name).then_some((at, name))
    };
    starts.filter_map(of).max_by_key(|(at, _)| *at)
}

/// `USER:PASSWORD@tcp(HOST:PORT)/DATABASE?KEY=VALUE`, where nothing is written with `%` but the values of keys.
fn of_go(text: &str) -> Result<Option<String>, String> {
    let Some((at, name)) = network(text) else { return Ok(None) };
    let login = text[..at].strip_suffix('@').unwrap_or_default();
    let (place, rest) =
        text[at + name.len() + 1..].split_once(')').ok_or("the bracket is not closed")?;
    let (database, query) = rest.split_once('?').unwrap_or((rest, ""));
    let database = encode(database.strip_prefix('/').unwrap_or(database));
    let login = match login.split_once(':') {
        Some((user, password)) => format!("{}:{}@", encode_all(user), encode_all(password)),
        None if login.is_empty() => String::new(),
        None => format!("{}@", encode_all(login)),
    };
    let and = if query.is_empty() { "" } else { "&" };
    match name {
        "tcp" | "tcp6" => Ok(Some(format!("mysql://{login}{place}/{database}?{query}"))),
        "unix" => {
            Ok(Some(format!("mysql://{login}/{database}?socket={}{and}{query}", encode(place))))
        }
        _ => Err(format!("{name}(...) is a name of a proxy: write tcp(HOST:PORT) or unix(PATH)")),
    }
}

/// `host=... port=... dbname='...'`, as libpq reads it.
fn of_libpq(text: &str) -> Result<String, String> {
    let (mut user, mut password, mut database) = (String::new(), String::new(), String::new());
    let mut keys = Vec::new();
    for Pair { name, value } in conninfo::parse(text)? {
        match name.as_str() {
            "user" => user = encode_all(&value),
            "password" => password = format!(":{}", encode_all(&value)),
            "dbname" => database = encode_all(&value),
            name => keys.push(format!("{}={}", encode_all(name), encode(&value))),
        }
    }
    let at = if user.is_empty() && password.is_empty() { "" } else { "@" };
    Ok(format!("postgres://{user}{password}{at}/{database}?{}", keys.join("&")))
}

/// As [`encode`], and `/` too.
fn encode_all(text: &str) -> String {
    encode(text).replace('/', "%2F")
}
