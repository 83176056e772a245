//! Both protocols' bytes: never a panic, and the same answer however it was cut into reads.

use rqps_client::Privacy;
use rqps_client::script::Row;
use rqps_client::wire::mysql::auth::Exchange;
use rqps_client::wire::mysql::handshake::{negotiate, parse_greeting};
use rqps_client::wire::mysql::packet::split_message;
use rqps_client::wire::mysql::result_set::ResultReader;
use rqps_client::wire::mysql::rows::RowCursor;
use rqps_client::wire::mysql::scan::{Progress, Scanner};
use rqps_client::wire::mysql::{reply, rsa};
use rqps_client::wire::postgres::rows::RowCursor as PostgresRows;
use rqps_client::wire::postgres::{Message, Skipper, decode};

/// The first two bytes choose how the rest is read.
fn choices(input: &[u8]) -> (u8, usize, &[u8]) {
    match input {
        [flags, piece, rest @ ..] => (*flags, usize::from(*piece).max(1), rest),
        _ => (0, 1, &[]),
    }
}

pub(crate) fn mysql(input: &[u8]) {
    let (flags, piece, bytes) = choices(input);
    let (deprecate_eof, binary) = (flags & 1 != 0, flags & 2 != 0);
    let mut whole = Scanner::new(deprecate_eof);
    whole.start(1);
    let of_whole = whole.feed(bytes).map(|p| (p, whole.outcome()));
    let mut cut = Scanner::new(deprecate_eof);
    cut.start(1);
    let mut progress = Ok(Progress::More);
    for part in bytes.chunks(piece) {
        progress = cut.feed(part);
        if progress.is_err() {
            break;
        }
    }
    let of_cut = progress.map(|progress| (progress, cut.outcome()));
    match (&of_whole, &of_cut) {
        // Where exactly something is wrong may be seen earlier or later.
        (Err(_), Err(_)) => {}
        (Ok(one), Ok(other)) if !bytes.is_empty() => assert_eq!(one, other, "in pieces of {piece}"),
        (Ok(_), Ok(_)) => {}
        (one, other) => panic!("{one:?} whole and {other:?} in pieces of {piece}"),
    }
    if matches!(of_whole, Ok((Progress::Done, Ok(_)))) {
        let (mut cursor, mut row) = (RowCursor::default(), Row::default());
        cursor.restart(binary, deprecate_eof);
        let _ = cursor.n_columns(bytes);
        while let Ok(true) = cursor.next_row(bytes, &mut row) {}
    }
    mysql_messages(bytes, deprecate_eof);
}

fn mysql_messages(bytes: &[u8], deprecate_eof: bool) {
    let mut reader = ResultReader::new(deprecate_eof);
    let mut exchange = Exchange::new("secret", "caching_sha2_password", [7; 20], Privacy::Local);
    let (mut rest, mut seq, mut is_reading) = (bytes, 1, true);
    while let Ok(Some(message)) = split_message(rest, seq) {
        rest = rest.get(message.n_bytes..).unwrap_or_default();
        seq = message.next_seq;
        let payload = &message.payload;
        is_reading = is_reading && matches!(reader.push(payload), Ok(Ok(false)));
        let _ = exchange.step(payload, &[3; rsa::SEED]);
        let _ = (reply::parse_ok(payload), reply::parse_eof(payload), reply::parse_error(payload));
        if let Ok(greeting) = parse_greeting(payload) {
            let _ = negotiate(greeting.capabilities, false, true);
            let _ =
                Exchange::new("secret", &greeting.plugin, greeting.nonce, Privacy::Open).answer();
        }
        if rest.is_empty() {
            break;
        }
    }
    let _ = rsa::encrypt(bytes, b"secret", &[3; rsa::SEED]);
}

pub(crate) fn postgres(input: &[u8]) {
    let (_, piece, bytes) = choices(input);
    let of_whole = skipped(bytes, bytes.len().max(1));
    let of_cut = skipped(bytes, piece);
    match (&of_whole, &of_cut) {
        (Some(one), Some(other)) => assert_eq!(one, other, "in pieces of {piece}"),
        (None, None) => {}
        (one, other) => panic!("{one:?} whole and {other:?} in pieces of {piece}"),
    }
    if let Some((true, ..)) = of_whole {
        let (mut cursor, mut row) = (PostgresRows::default(), Row::default());
        cursor.restart();
        let _ = PostgresRows::n_columns(bytes);
        while let Ok(true) = cursor.next_row(bytes, &mut row) {}
    }
    let mut rest = bytes;
    while let Ok(Some((message, n_bytes))) = decode(rest) {
        assert!(n_bytes >= 5 && n_bytes <= rest.len(), "{message:?} of {n_bytes} bytes");
        if let Message::DataRow(row) = &message {
            assert!(row.len() <= usize::from(u16::MAX));
        }
        rest = &rest[n_bytes..];
    }
}

/// Whether the answer ended, what it was and how many bytes it took; nothing where it is none.
fn skipped(bytes: &[u8], piece: usize) -> Option<(bool, String, usize)> {
    let mut skipper = Skipper::default();
    let (mut buffer, mut n_taken) = (Vec::new(), 0);
    for part in bytes.chunks(piece) {
        buffer.extend_from_slice(part);
        let scan = skipper.scan(&buffer).ok()?;
        assert!(scan.consumed <= buffer.len(), "{} of {}", scan.consumed, buffer.len());
        buffer.drain(..scan.consumed);
        n_taken += scan.consumed;
        if scan.done {
            return Some((true, format!("{:?}", skipper.finish()), n_taken));
        }
    }
    Some((false, String::new(), 0))
}
