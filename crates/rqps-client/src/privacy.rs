//! Who else may read what is sent to a server, or be taken for it: what decides how a password may go.
//!
//! It is judged by the address as it was written and by the kind of TLS, both known before anything is sent.

use std::net::IpAddr;

use crate::{Address, Tls};

/// Who else may read what is sent, or be at the other end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Privacy {
    /// A network without TLS: whoever is on the way.
    Open,
    /// A network with TLS whose certificate is not checked: whoever is on the way and makes one.
    Unproven,
    /// TCP that does not leave this host, without TLS.
    Loopback,
    /// A unix socket: nobody, which `caching_sha2_password` knows and `sha256_password` does not.
    Local,
    /// TLS with a certificate that is checked, or that does not leave this host: nobody.
    Tls,
}

impl Privacy {
    /// The privacy of a connection to `address` with `tls`.
    #[must_use]
    pub fn of(address: &Address, tls: &Tls) -> Self {
        match (address, tls) {
            (Address::Unix(_), _) => Self::Local,
            (Address::Tcp { .. }, Tls::Required { ca: Some(_) } | Tls::Issued { .. }) => Self::Tls,
            (Address::Tcp { host, .. }, Tls::Required { ca: None }) if is_loopback(host) => {
                Self::Tls
            }
            (Address::Tcp { .. }, Tls::Required { ca: None }) => Self::Unproven,
            (Address::Tcp { host, .. }, Tls::Off) if is_loopback(host) => Self::Loopback,
            (Address::Tcp { .. }, Tls::Off) => Self::Open,
        }
    }
}

/// Whether a host is this one by its loopback: 127.0.0.0/8, `::1` or `localhost`. Of another name nobody knows
/// where it leads.
fn is_loopback(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(host: &str, tls: &Tls) -> Privacy {
        Privacy::of(&Address::Tcp { host: host.to_owned(), port: 3306 }, tls)
    }

    #[test]
    fn only_this_host_is_believed_without_a_certificate() {
        let any = Tls::Required { ca: None };
        for host in ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "localhost", "LocalHost"]
        {
            assert_eq!(of(host, &Tls::Off), Privacy::Loopback, "{host}");
            assert_eq!(of(host, &any), Privacy::Tls, "{host}");
        }
        for host in [
            "10.0.0.1",
            "0.0.0.0",
            "::",
            "::2",
            "128.0.0.1",
            "db.example",
            "127.0.0.1.example",
            "localhost.example",
            "localhost.",
            "",
        ] {
            assert_eq!(of(host, &Tls::Off), Privacy::Open, "{host}");
            assert_eq!(of(host, &any), Privacy::Unproven, "{host}");
        }
    }

    #[test]
    fn a_certificate_that_is_checked_is_believed_anywhere() {
        for host in ["127.0.0.1", "10.0.0.1", "db.example"] {
            assert_eq!(of(host, &Tls::Required { ca: Some("ca.pem".into()) }), Privacy::Tls);
            assert_eq!(of(host, &Tls::Issued { ca: "ca.pem".into() }), Privacy::Tls);
        }
        assert_eq!(Privacy::of(&Address::Unix("/s".into()), &Tls::Off), Privacy::Local);
    }
}
