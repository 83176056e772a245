//! Any bytes from a MySQL server: no panic, and the same answer wherever they are cut.
//!
//! Run with `cargo +nightly fuzz run wire_mysql` in `crates/rqps-client`. The first byte says where
//! the rest is cut in two, and by its lowest bit whether EOF packets are deprecated.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rqps_client::wire::mysql::Violation;
use rqps_client::wire::mysql::auth::{CACHING_SHA2, Exchange};
use rqps_client::wire::mysql::commands::Prepared;
use rqps_client::wire::mysql::handshake::parse_greeting;
use rqps_client::wire::mysql::packet::split_message;
use rqps_client::wire::mysql::result_set::ResultReader;
use rqps_client::wire::mysql::scan::{Progress, Scanner};
use rqps_client::{Outcome, ServerError};

/// The outcome, where the answer is complete.
type Scanned = Result<Option<Result<Outcome, ServerError>>, Violation>;

fn scan(deprecate_eof: bool, pieces: &[&[u8]]) -> Scanned {
    let mut scanner = Scanner::new(deprecate_eof);
    scanner.start(1);
    let mut progress = Progress::More;
    for piece in pieces {
        progress = scanner.feed(piece)?;
    }
    Ok((progress == Progress::Done).then(|| scanner.outcome()))
}

/// Reads the bytes message by message, as everything but the hot path does.
fn read_messages(deprecate_eof: bool, bytes: &[u8]) {
    let mut reader = ResultReader::new(deprecate_eof);
    let mut exchange = Exchange::new("secret", CACHING_SHA2, [7; 20], false);
    let (mut rest, mut seq) = (bytes, 1);
    while let Ok(Some(message)) = split_message(rest, seq) {
        let _ = parse_greeting(&message.payload);
        let _ = Prepared::parse(&message.payload);
        let _ = exchange.step(&message.payload, &[7; 20]);
        let _ = reader.push(&message.payload);
        rest = &rest[message.n_bytes..];
        seq = message.next_seq;
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((cut, bytes)) = data.split_first() else { return };
    let deprecate_eof = cut & 1 == 1;
    let (first, second) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    match (scan(deprecate_eof, &[bytes]), scan(deprecate_eof, &[first, second])) {
        // The texts may count other bytes.
        (Err(_), Err(_)) => {}
        (whole, cut) => assert_eq!(whole, cut),
    }
    read_messages(deprecate_eof, bytes);
    let _ = parse_greeting(bytes);
});
