//! Logging in: TLS, the first message, authentication, and what the server says about itself.

use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};

use super::channel::Channel;
use crate::wire::postgres::{Message, Violation, encode};
use crate::{Address, Endpoint, Error, Parameter, Privacy, Session, SessionCharset, Tls};

const DOING: &str = "logging in";

/// Connects and logs in, all within the endpoint's connect timeout.
pub(super) fn login(endpoint: &Endpoint) -> Result<(Channel, Session), Error> {
    let channel = Channel::connect(endpoint)?;
    let mut login = Login { channel: request_tls(channel, endpoint)?, endpoint, auth: "trust" };
    login.start()?;
    login.authenticate()?;
    let session = login.read_session()?;
    let mut channel = login.channel;
    channel.logged_in()?;
    Ok((channel, session))
}

struct Login<'a> {
    channel: Channel,
    endpoint: &'a Endpoint,
    /// The method that was used in the end.
    auth: &'static str,
}

fn request_tls(mut channel: Channel, endpoint: &Endpoint) -> Result<Channel, Error> {
    if endpoint.tls == Tls::Off {
        return Ok(channel);
    }
    let Address::Tcp { host, .. } = &endpoint.address else {
        // Says why not.
        return channel.upgrade_to_tls("", &endpoint.tls);
    };
    let mut request = Vec::new();
    encode::ssl_request(&mut request);
    channel.send(&request, DOING)?;
    match channel.receive_tls_answer(DOING)? {
        b'S' => channel.upgrade_to_tls(host, &endpoint.tls),
        b'N' => Err(Error::Tls {
            address: endpoint.address.to_string(),
            detail: "the server does not offer TLS; set ssl = on there".to_owned(),
        }),
        other => Err(channel
            .violated(DOING, &format!("{:?} in answer to a request for TLS", char::from(other)))),
    }
}

impl Login<'_> {
    fn start(&mut self) -> Result<(), Error> {
        let Endpoint { user, database, startup, .. } = self.endpoint;
        let mut parameters = vec![("user", user.as_str())];
        if !database.is_empty() {
            parameters.push(("database", database));
        }
        for Parameter { name, value } in &startup.parameters {
            parameters.push((name, value));
        }
        let encoding = match startup.charset {
            SessionCharset::NoConversion => Some(("client_encoding", "UTF8")),
            SessionCharset::ClientLibrary => None,
        };
        // Literals are written for exactly this setting.
        let own = [("standard_conforming_strings", "on"), ("application_name", "rqps")];
        for (name, value) in encoding.into_iter().chain(own) {
            if parameters.iter().all(|(given, _)| *given != name) {
                parameters.push((name, value));
            }
        }
        let mut message = Vec::new();
        encode::startup(&mut message, &parameters).map_err(|violation| bad_login(&violation))?;
        self.channel.send(&message, DOING)
    }

    fn authenticate(&mut self) -> Result<(), Error> {
        let password = self.endpoint.password.0.as_bytes();
        loop {
            match self.receive()? {
                Message::AuthenticationOk => return Ok(()),
                Message::AuthenticationCleartext => {
                    refuse_to_shout(self.endpoint)?;
                    self.auth = "password";
                    self.send_password(password)?;
                }
                Message::AuthenticationMd5(salt) => {
                    self.auth = "md5";
                    let hash = md5_hash(self.endpoint.user.as_bytes(), password, salt);
                    self.send_password(hash.as_bytes())?;
                }
                Message::AuthenticationSasl(mechanisms) => {
                    self.auth = "scram-sha-256";
                    self.scram(&mechanisms, password)?;
                }
                Message::AuthenticationOther(method) => return Err(unsupported(method)),
                other => return Err(self.unexpected(&other)),
            }
        }
    }

    fn send_password(&mut self, password: &[u8]) -> Result<(), Error> {
        let mut message = Vec::new();
        encode::password(&mut message, password).map_err(|violation| bad_login(&violation))?;
        self.channel.send(&message, DOING)
    }

    /// The whole SCRAM exchange (RFC 5802, RFC 7677), at the end of which the server has shown that
    /// it knows the password too.
    fn scram(&mut self, mechanisms: &[String], password: &[u8]) -> Result<(), Error> {
        if !mechanisms.iter().any(|mechanism| mechanism == SCRAM_SHA_256) {
            let what =
                format!("authentication by {}: use {SCRAM_SHA_256} instead", mechanisms.join(", "));
            return Err(Error::Unsupported { what });
        }
        let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
        let mut message = Vec::new();
        encode::sasl_initial(&mut message, SCRAM_SHA_256, scram.message())
            .map_err(|violation| bad_login(&violation))?;
        self.channel.send(&message, DOING)?;
        let first = match self.receive()? {
            Message::AuthenticationSaslContinue(first) => first,
            other => return Err(self.unexpected(&other)),
        };
        scram.update(&first).map_err(|error| self.not_proven(&error))?;
        message.clear();
        encode::sasl_response(&mut message, scram.message())
            .map_err(|violation| bad_login(&violation))?;
        self.channel.send(&message, DOING)?;
        let last = match self.receive()? {
            Message::AuthenticationSaslFinal(last) => last,
            other => return Err(self.unexpected(&other)),
        };
        scram.finish(&last).map_err(|error| self.not_proven(&error))
    }

    /// Reads on until the server is ready, and keeps what it says about itself.
    fn read_session(&mut self) -> Result<Session, Error> {
        let transport = self.channel.transport();
        let mut session = Session {
            transport: transport.name().to_owned(),
            tls: transport.tls_description(),
            auth: self.auth.to_owned(),
            ..Session::default()
        };
        loop {
            match self.receive()? {
                Message::ParameterStatus { name, value } if name == "server_version" => {
                    session.server_version = value.parse().ok();
                    session.server_version_text = value;
                }
                Message::BackendKeyData(process_id) => {
                    session.connection_id = u64::from(process_id);
                }
                Message::ReadyForQuery => return Ok(session),
                _ => {}
            }
        }
    }

    /// The next message; an error response ends the login.
    fn receive(&mut self) -> Result<Message, Error> {
        loop {
            match self.channel.receive(DOING)? {
                Message::ErrorResponse(error) => return Err(Error::Server(error)),
                // Notices, and a newer server's wish for another minor version of the protocol.
                Message::Other(b'N' | b'v') => {}
                message => return Ok(message),
            }
        }
    }

    fn unexpected(&mut self, message: &Message) -> Error {
        self.channel.violated(DOING, &format!("{message:?} during authentication"))
    }

    fn not_proven(&mut self, error: &std::io::Error) -> Error {
        self.channel.violated(DOING, &format!("SCRAM: {error}"))
    }
}

/// A password in the clear goes only where nobody else listens and nobody else can be at the other end.
pub(super) fn refuse_to_shout(endpoint: &Endpoint) -> Result<(), Error> {
    let what = match Privacy::of(&endpoint.address, &endpoint.tls) {
        Privacy::Local | Privacy::Tls => return Ok(()),
        Privacy::Open | Privacy::Loopback => {
            "the server asks for the password in clear text over TCP: use TLS with the server's \
             certificate (tls=required&ca=FILE) or a unix socket, or scram-sha-256 in its \
             pg_hba.conf"
        }
        Privacy::Unproven => {
            "the server asks for the password in clear text, but TLS does not check its \
             certificate, so another host may pretend to be the server: name the file of the \
             server's certificate or of its authority (ca=FILE), or use scram-sha-256 in its \
             pg_hba.conf"
        }
    };
    Err(Error::Unsupported { what: what.to_owned() })
}

fn bad_login(violation: &Violation) -> Error {
    Error::Unsupported { what: format!("this user, password or database name: {violation}") }
}

fn unsupported(method: u32) -> Error {
    let name = match method {
        2 => "Kerberos V5",
        7 | 8 => "GSSAPI",
        9 => "SSPI",
        _ => "an unknown method",
    };
    Error::Unsupported {
        what: format!(
            "authentication by {name} ({method}): use trust, password, md5 or scram-sha-256"
        ),
    }
}
