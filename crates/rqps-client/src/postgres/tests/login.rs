//! Every way to be let in, and to be turned away.

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use super::peer::serve_tcp;
use super::*;
use crate::postgres::login::refuse_to_shout;
use crate::{Parameter, SessionCharset, Startup};

fn refused(server: &peer::Server) -> Error {
    PostgresConnection::connect(&server.endpoint).expect_err("a refusal")
}

#[test]
fn a_trusting_server_says_what_it_is() {
    let server = serve(|peer| {
        let startup = peer.untagged();
        assert_eq!(
            startup,
            b"\0\x03\0\0user\0rqps\0database\0db\0client_encoding\0UTF8\0\
              standard_conforming_strings\0on\0application_name\0rqps\0\0"
        );
        peer.answer(&[(b'v', b"\0\0\0\0\0\0\0\0"), (b'N', b"Mhello\0\0")]);
        peer.welcome();
    });
    let client = PostgresConnection::connect(&server.endpoint).unwrap();
    let session = client.session();
    assert_eq!(session.server_version_text, "17.4 (Debian 17.4-1)");
    assert_eq!(session.server_version.as_ref().unwrap().numbers, [17, 4]);
    assert_eq!((session.transport.as_str(), session.tls.as_str()), ("socket", ""));
    assert_eq!((session.auth.as_str(), session.connection_id), ("trust", 4097));
    server.finish();
}

#[test]
fn startup_parameters_go_before_those_of_rqps() {
    let server = serve(|peer| {
        let startup = peer.untagged();
        assert_eq!(
            startup,
            b"\0\x03\0\0user\0rqps\0database\0db\0options\0-c a=b\0application_name\0mine\0\
              standard_conforming_strings\0on\0\0"
        );
        peer.welcome();
    });
    let parameter =
        |name: &str, value: &str| Parameter { name: name.to_owned(), value: value.to_owned() };
    let startup = Startup {
        charset: SessionCharset::ClientLibrary,
        parameters: vec![parameter("options", "-c a=b"), parameter("application_name", "mine")],
    };
    let endpoint = Endpoint { startup, ..server.endpoint.clone() };
    PostgresConnection::connect(&endpoint).unwrap();
    server.finish();
}

#[test]
fn a_password_is_hashed_with_the_salt() {
    let server = serve(|peer| {
        peer.untagged();
        peer.answer(&[(b'R', b"\0\0\0\x05\x01\x02\x03\x04")]);
        // md5(md5("secret" + "rqps") in hex + salt)
        let hash = b"md556ecbffcd1179afba1b110b99ea11472\0";
        assert_eq!(peer.request(), (b'p', hash.to_vec()));
        peer.welcome();
    });
    let client = PostgresConnection::connect(&server.endpoint).unwrap();
    assert_eq!(client.session().auth, "md5");
    server.finish();
}

#[test]
fn a_password_goes_in_the_clear_over_a_unix_socket_only() {
    let server = serve(|peer| {
        peer.untagged();
        peer.answer(&[(b'R', b"\0\0\0\x03")]);
        assert_eq!(peer.request(), (b'p', b"secret\0".to_vec()));
        peer.welcome();
    });
    let client = PostgresConnection::connect(&server.endpoint).unwrap();
    assert_eq!(client.session().auth, "password");
    server.finish();

    let server = serve_tcp(|peer| {
        peer.untagged();
        peer.answer(&[(b'R', b"\0\0\0\x03")]);
        assert_eq!(peer.request_or_end(), None);
    });
    assert!(matches!(refused(&server), Error::Unsupported { .. }));
    server.finish();
}

#[test]
fn a_password_in_the_clear_needs_a_certificate_that_is_checked() {
    let (ca, off) = (Tls::Required { ca: Some("ca.pem".into()) }, Tls::Off);
    let any = Tls::Required { ca: None };
    let at = |host: &str| crate::Address::Tcp { host: host.to_owned(), port: 5432 };
    for (address, tls, remedy) in [
        (at("127.0.0.1"), &off, Some("scram-sha-256")),
        (at("db.example"), &off, Some("ca=FILE")),
        (at("db.example"), &any, Some("ca=FILE")),
        (at("127.0.0.1"), &any, None),
        (at("db.example"), &ca, None),
        (crate::Address::Unix("/s".into()), &off, None),
    ] {
        let shown = format!("{address} {tls:?}");
        let refusal = refuse_to_shout(&Endpoint { tls: tls.clone(), ..endpoint(address) });
        let refusal = refusal.err().map(|error| error.to_string());
        assert_eq!(refusal.is_some(), remedy.is_some(), "{shown}: {refusal:?}");
        assert!(refusal.unwrap_or_default().contains(remedy.unwrap_or_default()), "{shown}");
    }
}

#[test]
fn the_server_may_say_no() {
    let server = serve(|peer| {
        peer.untagged();
        peer.answer(&[(b'E', b"SFATAL\0C28000\0Mno such role\0\0")]);
    });
    assert_eq!(refused(&server).code(), "28000");
    server.finish();

    let server = serve(|peer| {
        peer.untagged();
        peer.answer(&[(b'R', b"\0\0\0\x07")]);
    });
    assert!(refused(&server).to_string().contains("GSSAPI"));
    server.finish();
}

#[test]
fn a_silent_server_is_not_waited_for_longer_than_asked() {
    let mut server = serve(|peer| {
        peer.untagged();
        assert_eq!(peer.request_or_end(), None);
    });
    server.endpoint.connect_timeout = Duration::from_millis(20);
    let error = refused(&server);
    assert!(matches!(error, Error::Timeout { seconds: 1, .. }), "{error:?}");
    server.finish();
}

#[test]
fn tls_is_had_or_refused() {
    let required = Tls::Required { ca: None };
    // The server's answer to the request, and what it must lead to.
    for (answer, wanted) in [
        (&b"N"[..], "TLS with 127.0.0.1:"),
        (b"X", "protocol violation"),
        (b"Splain text", "protocol violation"),
        (b"Snonsense that is no handshake", "protocol violation"),
    ] {
        let mut server = serve_tcp(move |peer| {
            assert_eq!(peer.untagged(), 80_877_103_u32.to_be_bytes());
            peer.send_raw(answer);
        });
        server.endpoint.tls = required.clone();
        let text = refused(&server).to_string();
        assert!(text.starts_with(wanted), "{text}");
        server.finish();
    }
    let mut server = serve(|peer| assert_eq!(peer.request_or_end(), None));
    server.endpoint.tls = required;
    assert!(matches!(refused(&server), Error::Unsupported { .. }));
    server.finish();
}

/// SCRAM's keys and signatures, written from RFC 5802 for this test alone.
struct Reference {
    proof: String,
    server_signature: String,
}

fn reference(password: &[u8], salt: &[u8], n_rounds: u32, exchange: &str) -> Reference {
    let mac = |key: &[u8], text: &[u8]| -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(text);
        mac.finalize().into_bytes().into()
    };
    let xor = |a: [u8; 32], b: [u8; 32]| std::array::from_fn::<u8, 32, _>(|i| a[i] ^ b[i]);
    let mut round = mac(password, &[salt, &[0, 0, 0, 1]].concat());
    let mut salted = round;
    for _ in 1..n_rounds {
        round = mac(password, &round);
        salted = xor(salted, round);
    }
    let client_key = mac(&salted, b"Client Key");
    let stored_key: [u8; 32] = Sha256::digest(client_key).into();
    let server_key = mac(&salted, b"Server Key");
    Reference {
        proof: base64(&xor(client_key, mac(&stored_key, exchange.as_bytes()))),
        server_signature: base64(&mac(&server_key, exchange.as_bytes())),
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let group = (0..3).fold(0, |n, i| n << 8 | usize::from(*chunk.get(i).unwrap_or(&0)));
        for digit in 0..4 {
            let value = DIGITS[group >> (18 - 6 * digit) & 63];
            out.push(if digit <= chunk.len() { char::from(value) } else { '=' });
        }
    }
    out
}

/// RFC 7677, section 3: salt and example.
const SALT: [u8; 16] = 0x5b6d_9968_9d12_358e_eca0_4b14_1236_fa81_u128.to_be_bytes();

#[test]
fn the_reference_gives_the_answers_of_rfc_7677() {
    let nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
    let exchange = format!(
        "n=user,r=rOprNGfwEbeRWgbNEkqO,r={nonce},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r={nonce}"
    );
    assert_eq!(base64(&SALT), "W22ZaJ0SNY7soEsUEjb6gQ==");
    let answers = reference(b"pencil", &SALT, 4096, &exchange);
    assert_eq!(answers.proof, "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
    assert_eq!(answers.server_signature, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}

/// The server's side of SCRAM up to the client's proof, which must be right. Gives the signature.
fn scram(peer: &mut Peer) -> String {
    peer.untagged();
    peer.answer(&[(b'R', b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0")]);
    let (tag, body) = peer.request();
    let bare = body.strip_prefix(b"SCRAM-SHA-256\0").unwrap();
    let client_first = std::str::from_utf8(&bare[4..]).unwrap().strip_prefix("n,,").unwrap();
    let nonce = client_first.split_once("r=").unwrap().1;
    let server_first = format!("r={nonce}more,s={},i=4096", base64(&SALT));
    peer.answer(&[(b'R', &[b"\0\0\0\x0b", server_first.as_bytes()].concat())]);
    let client_final = String::from_utf8(peer.request().1).unwrap();
    let (without_proof, proof) = client_final.split_once(",p=").unwrap();
    let exchange = format!("{client_first},{server_first},{without_proof}");
    let answers = reference(b"secret", &SALT, 4096, &exchange);
    assert_eq!((tag, proof), (b'p', answers.proof.as_str()));
    answers.server_signature
}

#[test]
fn scram_convinces_both_sides() {
    let server = serve_tcp(|peer| {
        let signature = scram(peer);
        peer.answer(&[(b'R', format!("\0\0\0\x0cv={signature}").as_bytes())]);
        peer.welcome();
    });
    let client = PostgresConnection::connect(&server.endpoint).unwrap();
    assert_eq!(client.session().auth, "scram-sha-256");
    assert_eq!(client.session().transport, "tcp");
    server.finish();
}

#[test]
fn a_server_that_does_not_know_the_password_is_not_trusted() {
    let server = serve(|peer| {
        scram(peer);
        peer.answer(&[(b'R', format!("\0\0\0\x0cv={}", base64(&[7; 32])).as_bytes())]);
    });
    assert!(matches!(refused(&server), Error::Protocol { .. }));
    server.finish();

    let server = serve(|peer| {
        scram(peer);
        peer.welcome();
    });
    assert!(matches!(refused(&server), Error::Protocol { .. }));
    server.finish();
}

#[test]
fn only_plain_scram_sha_256_is_spoken() {
    let server = serve(|peer| {
        peer.untagged();
        peer.answer(&[(b'R', b"\0\0\0\x0aOAUTHBEARER\0\0")]);
    });
    let error = refused(&server).to_string();
    assert!(error.contains("OAUTHBEARER") && error.contains("SCRAM-SHA-256"), "{error}");
    server.finish();
}

#[test]
fn nobody_listening_is_said() {
    let address = endpoint(crate::Address::Unix("/nonexistent/s".into()));
    let error = PostgresConnection::connect(&address).err().unwrap();
    assert_eq!(error.to_string(), "connect to /nonexistent/s");
}
