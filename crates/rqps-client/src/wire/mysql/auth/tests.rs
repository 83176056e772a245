//! Scrambles against an independent computation, and every path of the exchange.

use proptest::prelude::*;

use super::*;

const NONCE_A: &[u8; NONCE] = b"abcdefghijklmnopqrst";
const NONCE_B: &[u8; NONCE] = b"12345678901234567890";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn switch_to(plugin: &str, nonce: &[u8]) -> Vec<u8> {
    [b"\xfe", plugin.as_bytes(), b"\0", nonce, b"\0"].concat()
}

#[test]
fn scrambles_have_known_answers() {
    assert_eq!(
        hex(&scramble_native(b"secret", NONCE_A)),
        "8817c50fa779daef010ee7577825b0847df9842e"
    );
    assert_eq!(
        hex(&scramble_sha2(b"secret", NONCE_A)),
        "c76e2898612a4cf042c77fa8c4702c4c64c0c2c557c53c4d75595aaa6abae809"
    );
    assert!(scramble_native(b"", NONCE_A).is_empty());
    assert!(scramble_sha2(b"", NONCE_A).is_empty());
}

#[test]
fn the_first_answer_follows_the_greeting() {
    let answer =
        |plugin: &str| Exchange::new("secret", plugin, *NONCE_A, Privacy::Open).answer().len();
    assert_eq!(
        (answer(NATIVE), answer(CACHING_SHA2), answer(""), answer("parsec")),
        (20, 32, 20, 20)
    );
}

#[test]
fn a_switch_brings_a_new_nonce() {
    let mut exchange = Exchange::new("secret", CACHING_SHA2, *NONCE_A, Privacy::Open);
    let step = exchange.step(&switch_to(NATIVE, NONCE_B), &[0; SEED]).unwrap();
    assert_eq!(step, Step::Send(scramble_native(b"secret", NONCE_B)));
    assert_eq!(exchange.plugin(), NATIVE);
    let back = exchange.step(&switch_to(CACHING_SHA2, NONCE_A), &[0; SEED]).unwrap();
    assert_eq!(back, Step::Send(scramble_sha2(b"secret", NONCE_A)));
    let socket = exchange.step(b"\xfeunix_socket\0", &[0; SEED]).unwrap();
    assert_eq!(socket, Step::Send(Vec::new()));
    assert_eq!(exchange.plugin(), "unix_socket");
    assert!(exchange.step(&switch_to(NATIVE, b"short"), &[0; SEED]).is_err());
}

#[test]
fn a_cached_hash_needs_no_more() {
    let mut exchange = Exchange::new("secret", CACHING_SHA2, *NONCE_A, Privacy::Open);
    assert_eq!(exchange.step(b"\x01\x03", &[0; SEED]), Ok(Step::Wait));
    let done = exchange.step(b"\x00\x00\x00\x02\x00\x00\x00", &[0; SEED]);
    assert_eq!(done, Ok(Step::Done { status: 2 }));
}

#[test]
fn the_full_exchange_is_clear_only_in_private() {
    let mut private = Exchange::new("secret", CACHING_SHA2, *NONCE_A, Privacy::Local);
    assert_eq!(private.step(b"\x01\x04", &[0; SEED]), Ok(Step::Send(b"secret\0".to_vec())));

    let mut public = Exchange::new("secret", CACHING_SHA2, *NONCE_A, Privacy::Loopback);
    assert_eq!(public.step(b"\x01\x04", &[0; SEED]), Ok(Step::Send(vec![0x02])));
    let key = [b"\x01", super::super::rsa::TEST_KEY.as_bytes()].concat();
    let Ok(Step::Send(cipher)) = public.step(&key, &[7; SEED]) else { panic!("no cipher") };
    assert_eq!(cipher.len(), 128);
    let clear: Vec<u8> = b"secret\0".iter().zip(NONCE_A).map(|(a, b)| a ^ b).collect();
    assert_eq!(cipher, rsa::encrypt(&key[1..], &clear, &[7; SEED]).unwrap());
}

#[test]
fn the_old_sha256_is_clear_over_tls_alone() {
    let switch = switch_to(SHA256, NONCE_B);
    let mut over_tls = Exchange::new("secret", CACHING_SHA2, *NONCE_A, Privacy::Tls);
    assert_eq!(over_tls.step(&switch, &[0; SEED]), Ok(Step::Send(b"secret\0".to_vec())));
    assert!(over_tls.step(b"\x01\x04", &[0; SEED]).is_err());
    for privacy in [Privacy::Local, Privacy::Loopback] {
        let mut exchange = Exchange::new("secret", CACHING_SHA2, *NONCE_A, privacy);
        assert_eq!(exchange.step(&switch, &[0; SEED]), Ok(Step::Send(vec![0x01])));
        let key = [b"\x01", super::super::rsa::TEST_KEY.as_bytes()].concat();
        let clear: Vec<u8> = b"secret\0".iter().zip(NONCE_B).map(|(a, b)| a ^ b).collect();
        let cipher = rsa::encrypt(&key[1..], &clear, &[7; SEED]).unwrap();
        assert_eq!(exchange.step(&key, &[7; SEED]), Ok(Step::Send(cipher)));
        assert!(exchange.step(&key, &[7; SEED]).is_err(), "a second key");
        let mut nobody = Exchange::new("", CACHING_SHA2, *NONCE_A, privacy);
        assert_eq!(nobody.step(&switch, &[0; SEED]), Ok(Step::Send(vec![0])));
    }
}

/// What is said of a password that is not sent.
fn withheld(step: Result<Step, Violation>) -> String {
    let Ok(Step::Unsupported(what)) = step else { panic!("{step:?}") };
    assert!(!what.contains("secret"), "{what}");
    what
}

#[test]
fn a_server_that_could_be_anybody_gets_no_password() {
    let asked = |privacy| {
        let mut exchange = Exchange::new("secret", CACHING_SHA2, *NONCE_A, privacy);
        let of_cache = withheld(exchange.step(b"\x01\x04", &[0; SEED]));
        assert!(of_cache.starts_with(CACHING_SHA2), "{of_cache}");
        // A key that comes unasked is no key.
        let key = [b"\x01", super::super::rsa::TEST_KEY.as_bytes()].concat();
        assert!(exchange.step(&key, &[0; SEED]).is_err());
        // An account of an older kind, which the server wants to be one that sends its password.
        let mut exchange = Exchange::new("secret", NATIVE, *NONCE_A, privacy);
        let switch = exchange.step(&switch_to(SHA256, NONCE_B), &[0; SEED]);
        assert!(withheld(switch).starts_with(SHA256));
        assert!(exchange.step(&key, &[0; SEED]).is_err());
        let clear = exchange.step(&switch_to("mysql_clear_password", NONCE_B), &[0; SEED]);
        assert!(withheld(clear).contains("mysql_clear_password"));
        // Scrambles go on.
        let native = exchange.step(&switch_to(NATIVE, NONCE_B), &[0; SEED]);
        assert_eq!(native, Ok(Step::Send(scramble_native(b"secret", NONCE_B))));
        let cached = exchange.step(&switch_to(CACHING_SHA2, NONCE_B), &[0; SEED]);
        assert_eq!(cached, Ok(Step::Send(scramble_sha2(b"secret", NONCE_B))));
        assert_eq!(exchange.step(b"\x01\x03", &[0; SEED]), Ok(Step::Wait));
        of_cache
    };
    let open = asked(Privacy::Open);
    assert!(open.contains("tls=required&ca=FILE") && open.contains("server_public_key=FILE"));
    let unproven = asked(Privacy::Unproven);
    assert!(unproven.contains("ca=FILE") && !unproven.contains("server_public_key"), "{unproven}");
}

#[test]
fn a_key_that_is_known_is_not_asked_for() {
    let pem = super::super::rsa::TEST_KEY.as_bytes();
    let key = PublicKey::from_pem(pem).unwrap();
    let with_key = |privacy| {
        Exchange::new("secret", CACHING_SHA2, *NONCE_A, privacy).with_key(Some(key.clone()))
    };
    let cipher = |nonce: &[u8; NONCE]| -> Result<Step, Violation> {
        let clear: Vec<u8> = b"secret\0".iter().zip(nonce).map(|(a, b)| a ^ b).collect();
        Ok(Step::Send(rsa::encrypt(pem, &clear, &[7; SEED]).unwrap()))
    };
    for privacy in [Privacy::Open, Privacy::Loopback] {
        let mut exchange = with_key(privacy);
        assert_eq!(exchange.step(b"\x01\x04", &[7; SEED]), cipher(NONCE_A));
        let switch = switch_to(SHA256, NONCE_B);
        assert_eq!(exchange.step(&switch, &[7; SEED]), cipher(NONCE_B));
        // Another key, from the server, is none that was asked for.
        assert!(exchange.step(&[b"\x01", pem].concat(), &[7; SEED]).is_err());
    }
    // Over TLS a server takes the password as it is, which is not for anybody.
    withheld(with_key(Privacy::Unproven).step(b"\x01\x04", &[7; SEED]));
    let clear = with_key(Privacy::Tls).step(b"\x01\x04", &[7; SEED]);
    assert_eq!(clear, Ok(Step::Send(b"secret\0".to_vec())));
}

#[test]
fn what_cannot_be_done_is_said() {
    let mut exchange = Exchange::new("secret", NATIVE, *NONCE_A, Privacy::Open);
    let step = exchange.step(&switch_to("client_ed25519", NONCE_B), &[0; SEED]);
    let Ok(Step::Unsupported(what)) = step else { panic!("{step:?}") };
    assert!(what.starts_with("authentication plugin \"client_ed25519\""), "{what}");
    let step = exchange.step(b"\xfe", &[0; SEED]);
    assert!(matches!(step, Ok(Step::Unsupported(what)) if what.contains("mysql_old_password")));
    let step = exchange.step(b"\xff\x15\x04#28000Access denied", &[0; SEED]);
    assert!(matches!(step, Ok(Step::Refused(error)) if error.errno == 1045));
    assert!(exchange.step(b"\x01\x04", &[0; SEED]).is_err());
    assert!(exchange.step(b"", &[0; SEED]).is_err());
    assert!(exchange.step(b"\x42", &[0; SEED]).is_err());
}

proptest! {
    #[test]
    fn any_messages_never_panic(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..64), 0..4),
        privacy in prop::sample::select(vec![
            Privacy::Open,
            Privacy::Unproven,
            Privacy::Loopback,
            Privacy::Local,
            Privacy::Tls,
        ]),
    ) {
        let mut exchange = Exchange::new("secret", CACHING_SHA2, *NONCE_A, privacy);
        for message in &messages {
            let _ = exchange.step(message, &[0; SEED]);
        }
    }
}
