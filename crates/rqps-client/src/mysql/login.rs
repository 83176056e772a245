//! Opens a connection: greeting, TLS, authentication.

use std::path::Path;

use rqps_model::Version;

use super::link::Link;
use crate::buffer::io_error;
use crate::transport::{Deadline, Transport};
use crate::wire::mysql::auth::{Exchange, Step};
use crate::wire::mysql::handshake::{
    Greeting, LATIN1, Login, UTF8MB3, UTF8MB4, negotiate, parse_greeting, push_login,
    push_ssl_request,
};
use crate::wire::mysql::packet::{begin, seal};
use crate::wire::mysql::rsa::{PublicKey, SEED};
use crate::wire::mysql::{capability, reply};
use crate::{Address, Endpoint, Error, Privacy, Session, SessionCharset, Tls};

const LOGGING_IN: &str = "logging in";

/// Messages of one authentication before it is taken for endless; a full exchange after a switch
/// takes five.
const MAX_STEPS: usize = 16;

/// Connects and authenticates. The link's timeout is what was left of the connect timeout.
pub(super) fn open(endpoint: &Endpoint) -> Result<(Link, Session), Error> {
    let deadline = Deadline::after(endpoint.connect_timeout);
    let key = endpoint.server_public_key.as_deref().map(read_key).transpose()?;
    let mut link = Link::new(Transport::connect(endpoint)?);
    let greeting = read_greeting(&mut link, endpoint, &deadline)?;
    let tls = endpoint.tls != Tls::Off;
    let negotiated = negotiate(greeting.capabilities, tls, !endpoint.database.is_empty());
    let capabilities = link.judge(negotiated, LOGGING_IN)?;
    let version = greeting.version.parse::<Version>().ok();
    let keeps_latin1 = endpoint.startup.charset == SessionCharset::NoConversion;
    let charset = match &version {
        // What a latin1 server stores is ASCII or latin1: no conversion of every string. Up to 8.4
        // a server can insist on its own set; from 9.0 on it takes what the client names.
        _ if greeting.charset == LATIN1 && keeps_latin1 => LATIN1,
        Some(version) if !version.at_least(&[5, 5, 3]) => UTF8MB3,
        _ => UTF8MB4,
    };
    if tls {
        link = start_tls(link, endpoint, capabilities, charset, &deadline)?;
    }
    let privacy = Privacy::of(&endpoint.address, &endpoint.tls);
    let mut exchange =
        Exchange::new(&endpoint.password.0, &greeting.plugin, greeting.nonce, privacy)
            .with_key(key);
    let mut message = Vec::new();
    begin(&mut message);
    push_login(
        &mut message,
        &Login {
            capabilities,
            charset,
            user: &endpoint.user,
            database: &endpoint.database,
            plugin: exchange.plugin(),
            answer: &exchange.answer(),
        },
    );
    let seq = seal(&mut message, link.next_seq());
    link.ask(&message, seq, LOGGING_IN)?;
    let status = authenticate(&mut link, &mut exchange, &deadline)?;
    link.set_status(status);
    link.set_deprecate_eof(capabilities & capability::DEPRECATE_EOF != 0);
    let session = Session {
        server_version_text: greeting.version,
        server_version: version,
        transport: link.stream().name().to_owned(),
        tls: link.stream().tls_description(),
        auth: exchange.plugin().to_owned(),
        connection_id: greeting.connection_id.into(),
    };
    Ok((link, session))
}

fn read_greeting(
    link: &mut Link,
    endpoint: &Endpoint,
    deadline: &Deadline,
) -> Result<Greeting, Error> {
    wait_until(link, deadline)?;
    let payload = link.message(LOGGING_IN)?;
    if payload.first() == Some(&0xFF) {
        // Too many connections, or a host that is not let in.
        return Err(link.judge(reply::parse_error(&payload), LOGGING_IN)?.into());
    }
    let greeting = link.judge(parse_greeting(&payload), LOGGING_IN)?;
    if endpoint.tls != Tls::Off && greeting.capabilities & capability::SSL == 0 {
        return Err(Error::Tls {
            address: endpoint.address.to_string(),
            detail: "the server does not offer TLS; give it a certificate, or connect without TLS"
                .to_owned(),
        });
    }
    Ok(greeting)
}

fn start_tls(
    mut link: Link,
    endpoint: &Endpoint,
    capabilities: u32,
    charset: u8,
    deadline: &Deadline,
) -> Result<Link, Error> {
    let mut message = Vec::new();
    begin(&mut message);
    push_ssl_request(&mut message, capabilities, charset);
    let seq = seal(&mut message, link.next_seq());
    link.ask(&message, seq, LOGGING_IN)?;
    let server_name = match &endpoint.address {
        Address::Tcp { host, .. } => host.as_str(),
        Address::Unix(_) => "localhost",
    };
    link.upgrade_to_tls(server_name, &endpoint.tls, deadline)
}

/// The server's key from a file that the user has named.
fn read_key(path: &Path) -> Result<PublicKey, Error> {
    let key = match std::fs::read(path) {
        Ok(pem) => PublicKey::from_pem(&pem).map_err(|violation| violation.detail),
        Err(error) => Err(error.to_string()),
    };
    key.map_err(|detail| Error::Unsupported {
        what: format!(
            "server_public_key {}: {detail} (name a PEM file with BEGIN PUBLIC KEY, such as \
             public_key.pem in MySQL's data directory)",
            path.display()
        ),
    })
}

/// Answers the server until it lets us in. Returns its status flags.
fn authenticate(
    link: &mut Link,
    exchange: &mut Exchange<'_>,
    deadline: &Deadline,
) -> Result<u16, Error> {
    let mut message = Vec::new();
    for _ in 0..MAX_STEPS {
        wait_until(link, deadline)?;
        let payload = link.message(LOGGING_IN)?;
        let step = exchange.step(&payload, &random_seed()?);
        match link.judge(step, LOGGING_IN)? {
            Step::Send(answer) => {
                begin(&mut message);
                message.extend_from_slice(&answer);
                let seq = seal(&mut message, link.next_seq());
                link.ask(&message, seq, LOGGING_IN)?;
            }
            Step::Wait => {}
            Step::Done { status } => {
                link.finish(LOGGING_IN)?;
                return Ok(status);
            }
            Step::Refused(error) => return Err(error.into()),
            Step::Unsupported(what) => return Err(Error::Unsupported { what }),
        }
    }
    let detail = format!("the login has not ended after {MAX_STEPS} messages");
    Err(Error::Protocol { doing: LOGGING_IN, detail })
}

fn random_seed() -> Result<[u8; SEED], Error> {
    let mut seed = [0; SEED];
    getrandom::fill(&mut seed).map_err(|error| Error::Unsupported {
        what: format!("logging in without random bytes from the kernel: {error}"),
    })?;
    Ok(seed)
}

/// Lets the next wait last until the deadline at most.
fn wait_until(link: &mut Link, deadline: &Deadline) -> Result<(), Error> {
    match deadline.remaining() {
        Ok(left) => link.set_timeout(left),
        Err(source) => Err(io_error(source, LOGGING_IN, deadline.limit())),
    }
}
