//! Which requests are answered at all: those that a browser sent because its user wanted this server.
//!
//! A page of any site can have a browser send requests to addresses on its user's host, and a name
//! that an attacker owns can be made to point there (DNS rebinding). So a request must name this server by
//! a number, as `localhost` or by a name that was given, and must not come from another site's page but by
//! a link that the user followed.

use hyper::StatusCode;
use hyper::header::{HOST, HeaderMap, HeaderName};

/// Tells which site's page had a browser send a request: https://www.w3.org/TR/fetch-metadata/
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Tells what for: a user who follows a link navigates.
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) status: StatusCode,
    pub(crate) sentence: &'static str,
}

/// Checks what names this server in a request.
pub(crate) fn check_host(headers: &HeaderMap, names: &[String]) -> Result<(), Refused> {
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    let is_known = host.and_then(name_of).is_some_and(|name| {
        let is_number = name.parse::<std::net::IpAddr>().is_ok();
        is_number
            || name.eq_ignore_ascii_case("localhost")
            || names.iter().any(|known| known.eq_ignore_ascii_case(name))
    });
    if is_known && hosts.next().is_none() {
        return Ok(());
    }
    Err(Refused {
        status: StatusCode::MISDIRECTED_REQUEST,
        sentence: "This server is not known by that name. Address it by number or as localhost, or \
                   start it with --name NAME.",
    })
}

/// The host's name or number without port and brackets.
fn name_of(host: &str) -> Option<&str> {
    let is_port = |text: &str| text.len() <= 5 && text.bytes().all(|b| b.is_ascii_digit());
    if let Some(rest) = host.strip_prefix('[') {
        let (name, port) = rest.split_once(']')?;
        return (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(name);
    }
    match host.split_once(':') {
        None => Some(host),
        Some((name, port)) => is_port(port).then_some(name),
    }
}

/// Checks which site's page had a browser send a request.
pub(crate) fn check_site(headers: &HeaderMap) -> Result<(), Refused> {
    let text = |name: &HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_own = matches!(text(&FETCH_SITE), None | Some("same-origin" | "none"));
    if is_own || text(&FETCH_MODE) == Some("navigate") {
        return Ok(());
    }
    let sentence = "Pages of other sites may link to this server and nothing else.";
    Err(Refused { status: StatusCode::FORBIDDEN, sentence })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    #[test]
    fn only_names_that_nobody_else_owns() {
        let names = ["bench1".to_owned()];
        let is_known = |host: &str| check_host(&headers(&[("host", host)]), &names).is_ok();
        for host in
            ["localhost", "LOCALHOST:80", "127.0.0.1:7477", "[::1]:7477", "10.0.0.7", "bench1:7477"]
        {
            assert!(is_known(host), "{host}");
        }
        for host in [
            "",
            "evil.example:7477",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "bench1.evil.example",
            "localhost:x",
            "[::1",
            "127.0.0.1@evil.example",
            "localhost:1:2",
        ] {
            assert!(!is_known(host), "{host}");
        }
        assert!(check_host(&headers(&[]), &names).is_err());
        let two = headers(&[("host", "localhost"), ("host", "evil.example")]);
        assert!(check_host(&two, &names).is_err());
    }

    #[test]
    fn other_sites_may_link_and_no_more() {
        let from = |pairs: &[(&str, &str)]| check_site(&headers(pairs)).is_ok();
        assert!(from(&[]));
        assert!(from(&[("sec-fetch-site", "none")]));
        assert!(from(&[("sec-fetch-site", "same-origin"), ("sec-fetch-mode", "cors")]));
        assert!(from(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")]));
        assert!(!from(&[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors")]));
        assert!(!from(&[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "cors")]));
        assert!(!from(&[("sec-fetch-site", "cross-site")]));
    }
}
