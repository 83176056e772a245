//! Whether the value of an option that nobody knows may name a path, an address or a command.

use std::fmt;
use std::net::IpAddr;

/// What a value looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Looks {
    Path,
    Address,
    Command,
}

impl fmt::Display for Looks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Path => "a path",
            Self::Address => "an address",
            Self::Command => "a command",
        })
    }
}

/// Endings of files that servers read, write, load or run.
const ENDINGS: &[&str] = &[
    ".so", ".cnf", ".conf", ".ini", ".sql", ".pem", ".crt", ".key", ".sock", ".log", ".err",
    ".pid", ".sh", ".py", ".pl", ".json", ".xml", ".dat", ".txt", ".csv",
];

/// What a value looks like, if it looks like anything that leads out of a server.
pub(super) fn looks_like(value: &str) -> Option<Looks> {
    let value = value.trim();
    let lower = value.to_ascii_lowercase();
    if value.contains("://") {
        return Some(Looks::Address);
    }
    if value.contains(['|', '`', '<', '>', '&']) || value.contains("$(") || value.contains("%p") {
        return Some(Looks::Command);
    }
    let is_path = value.contains('/')
        || value.contains('\\')
        || value.starts_with(['~', '.'])
        || ENDINGS.iter().any(|ending| lower.ends_with(ending));
    if is_path {
        return Some(Looks::Path);
    }
    if is_address(&lower) {
        return Some(Looks::Address);
    }
    // `rsync -a x y`: words in a row, where a list has commas or semicolons.
    let words: Vec<&str> = value.split_whitespace().collect();
    let are_bare = words.len() > 1 && !value.contains([',', ';', '=']);
    are_bare.then_some(Looks::Command)
}

/// `10.0.0.1`, `::1`, `db1:3306`, `db1.example.com`, `user@db1`, `localhost`, `*:3306`.
fn is_address(value: &str) -> bool {
    let mut parts = value.split([',', ';', ' ']).map(str::trim).filter(|part| !part.is_empty());
    parts.any(|part| {
        let host = match part.rsplit_once(':') {
            Some((host, port)) if port.parse::<u16>().is_ok() && is_host(host) => {
                // `12:00` is a time, `policy=bloomfilter:10` a parameter.
                let is_time =
                    host.trim_start_matches(['+', '-']).bytes().all(|b| b.is_ascii_digit());
                if !is_time && !host.contains(['=', '{']) {
                    return true;
                }
                host
            }
            _ => part,
        };
        let bare = host.trim_matches(['[', ']']);
        bare.parse::<IpAddr>().is_ok()
            || bare == "localhost"
            || is_host_name(bare)
            || part.contains('@')
    })
}

/// What may stand before a port: no IPv6 address without brackets.
fn is_host(text: &str) -> bool {
    text.starts_with('[') || !text.contains(':')
}

/// A name with a domain: `db1.example.com`.
fn is_host_name(text: &str) -> bool {
    let labels: Vec<&str> = text.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let ends_in_word =
        |label: &&str| label.len() >= 2 && label.bytes().all(|b| b.is_ascii_alphabetic());
    labels.len() >= 2 && labels.iter().all(is_label) && labels.last().is_some_and(ends_in_word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leads_out_of_a_server_is_seen() {
        for (value, looks) in [
            ("/var/log/x", Looks::Path),
            ("../x", Looks::Path),
            ("~mysql", Looks::Path),
            ("audit.so", Looks::Path),
            ("C:\\x", Looks::Path),
            ("tcp://10.0.0.1", Looks::Address),
            ("10.0.0.1", Looks::Address),
            ("::1", Looks::Address),
            ("[::1]:5432", Looks::Address),
            ("db1:3306", Looks::Address),
            ("*:3306", Looks::Address),
            ("db1.example.com", Looks::Address),
            ("a, db2.example.com", Looks::Address),
            ("repl@db1", Looks::Address),
            ("localhost", Looks::Address),
            ("rsync x y", Looks::Command),
            ("true | cat", Looks::Command),
            ("$(id)", Looks::Command),
            ("cp %p x", Looks::Command),
        ] {
            assert_eq!(looks_like(value), Some(looks), "{value}");
        }
    }

    #[test]
    fn what_leads_nowhere_passes() {
        for value in [
            "",
            "1",
            "128M",
            "0.75",
            "-1",
            "1e3",
            "ON",
            "READ-COMMITTED",
            "utf8mb4_0900_ai_ci",
            "STRICT_TRANS_TABLES,NO_ZERO_DATE",
            "iso, mdy",
            "a=on,b=off",
            "12:00",
            "+00:00",
            "ON;OFF",
            "write_buffer_size=64m;compression=kZSTD",
            "scram-sha-256",
            "1.5",
            "8.0.33",
        ] {
            assert_eq!(looks_like(value), None, "{value}");
        }
    }
}
