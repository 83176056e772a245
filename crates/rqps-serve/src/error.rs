//! Why nothing is served, each with what to do about it.

use std::net::SocketAddr;

/// An error of the server as a whole. What goes wrong with one request is told on its page.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Anybody on the network could read the results.
    #[error(
        "{listen} can be reached from other hosts, and there is no token; give --token-file FILE or set RQPS_TOKEN and open http://HOST:{port}/#token=TOKEN, or listen at 127.0.0.1",
        port = listen.port()
    )]
    NeedsToken {
        /// The address.
        listen: SocketAddr,
    },
    /// Another program listens there.
    #[error(
        "another program listens at {listen}; stop it, or choose another port with --listen {ip}:PORT (0 takes any free one)",
        ip = shown_ip(listen)
    )]
    PortTaken {
        /// The address.
        listen: SocketAddr,
    },
    /// The system does not let this user or program listen there.
    #[error("cannot listen at {listen}")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The runtime could not be started.
    #[error("cannot start the server")]
    Start {
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A token that could be guessed.
    #[error(
        "the token has {found} characters; use 16 to 256 of A-Z, a-z, 0-9 and -._~+/ (= at the end), such as those of `head -c 24 /dev/urandom | base64`"
    )]
    WeakToken {
        /// How many it has.
        found: usize,
    },
}

fn shown_ip(listen: &SocketAddr) -> String {
    match listen {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}
