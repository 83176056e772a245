//! Addresses that cannot be read, shown without what may be a password in them.

/// The text with `...` in place of what stands between the first `:` of the login and its end, and
/// of what follows a `?`: somebody may have written a password there.
pub(super) fn hide_password(text: &str) -> String {
    // Words of other clients: one may be a password, and nothing says which.
    if text.contains(['(', ';']) {
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let scheme = scheme.filter(|scheme| is_scheme(scheme.trim_start_matches("jdbc:")));
        return scheme.map_or("...".to_owned(), |scheme| format!("{scheme}://..."));
    }
    let place = text.split('?').next().unwrap_or_default();
    if place.rsplit_once('@').map_or(place, |(_, host)| host).contains(['=', '&']) {
        return "...".to_owned();
    }
    let hidden = hide_login(text);
    match hidden.split_once('?') {
        Some((address, _)) => format!("{address}?..."),
        None => hidden,
    }
}

fn hide_login(text: &str) -> String {
    if let Some(url) = text.strip_prefix("jdbc:") {
        return format!("jdbc:{}", hide_login(url));
    }
    let Some((scheme, rest)) = text.split_once("://") else {
        // Without a scheme nothing says where a password would be.
        return if text.contains(['@', '=']) { "...".to_owned() } else { text.to_owned() };
    };
    if !is_scheme(scheme) {
        return "...".to_owned();
    }
    let Some((login, host)) = rest.rsplit_once('@') else {
        return format!("{scheme}://{}", hide_no_port(rest));
    };
    let host = hide_no_port(host);
    match login.split_once(':') {
        Some((user, _)) => format!("{scheme}://{user}:...@{host}"),
        None => format!("{scheme}://{login}@{host}"),
    }
}

/// A host and what follows it, with `...` from its `:` on where no number follows that: a password, where the
/// host was forgotten.
fn hide_no_port(text: &str) -> String {
    let host_port = text.split(['/', '?']).next().unwrap_or_default();
    let bracket = if host_port.starts_with('[') { host_port.find(']') } else { None };
    let from = bracket.unwrap_or(0);
    match host_port[from..].split_once(':') {
        Some((host, port)) if !port.is_empty() && port.parse::<u16>().is_err() => {
            format!("{}{host}:...", &host_port[..from])
        }
        _ => text.to_owned(),
    }
}

/// Whether a text can be the scheme of an address (RFC 3986, section 3.1).
pub(super) fn is_scheme(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}
