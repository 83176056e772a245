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

pub(super) fn mysql(input: &[u8]) {
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

pub(super) fn postgres(input: &[u8]) {
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

/// Packets with running sequence numbers.
fn packets(first_seq: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    for (seq, payload) in (0_u8..).zip(payloads) {
        let [a, b, c, ..] = payload.len().to_le_bytes();
        out.extend_from_slice(&[a, b, c, first_seq.wrapping_add(seq)]);
        out.extend_from_slice(payload);
    }
    out
}

pub(super) fn mysql_seeds() -> Vec<Vec<u8>> {
    let column: &[u8] = b"\x03def\x06sbtest\x01t\x07sbtest1\x02id\x02id\x0c\x2d\x00\xff\x00\x00\x00\x03\x00\x00\x00\x00\x00";
    let ok: &[u8] = b"\x00\x01\x00\x02\x00\x00\x00";
    let (eof, end): (&[u8], &[u8]) = (b"\xfe\x00\x00\x02\x00", b"\xfe\x00\x00\x02\x00\x00\x00");
    let greeting: &[u8] = b"\x0a8.0.33\0\x08\0\0\0abcdefgh\0\xff\xff\x08\x02\0\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0caching_sha2_password\0";
    let mut seeds = Vec::new();
    for (flags, payloads) in [
        (1, vec![&b"\x01"[..], column, b"\x011", b"\xfb", end]),
        (0, vec![b"\x01", column, eof, b"\x011", b"\x0242", eof]),
        (3, vec![b"\x01", column, b"\x00\x00\x07\x00\x00\x00", end]),
        (2, vec![b"\x01", column, eof, b"\x00\x04", eof]),
        (1, vec![ok]),
        (1, vec![b"\xff\x28\x04#42000You have an error in your SQL syntax"]),
        (1, vec![greeting]),
        (1, vec![b"\xfemysql_native_password\0abcdefghijklmnopqrst\0"]),
        (1, vec![b"\x01\x04", b"\x01-----BEGIN PUBLIC KEY-----\n", ok]),
    ] {
        seeds.push([&[flags, 3][..], &packets(1, &payloads)].concat());
    }
    seeds
}

pub(super) fn postgres_seeds() -> Vec<Vec<u8>> {
    let columns: &[u8] = b"T\0\0\0\x1a\0\x01a\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";
    let row: &[u8] = b"D\0\0\0\x0d\0\x01\0\0\0\x03abc";
    let null: &[u8] = b"D\0\0\0\x0a\0\x01\xff\xff\xff\xff";
    let (done, ready): (&[u8], &[u8]) = (b"C\0\0\0\x0dSELECT 2\0", b"Z\0\0\0\x05I");
    let error: &[u8] = b"E\0\0\0\x1cSERROR\0C40001\0Mserialize\0\0";
    [
        [columns, row, null, done, ready].concat(),
        [b"1\0\0\0\x04", &b"2\0\0\0\x04"[..], row, row, row, done, ready].concat(),
        [error, ready].concat(),
        [&b"R\0\0\0\x08\0\0\0\0S\0\0\0\x18server_version\x0017.4\0K\0\0\0\x0c\0\0\0\x07\0\0\0\x08"[..], ready].concat(),
        b"R\0\0\0\x17\0\0\0\nSCRAM-SHA-256\0\0R\0\0\0\x0c\0\0\0\x05salt".to_vec(),
        [&b"N\0\0\0\x05\0"[..], b"G\0\0\0\x07\0\0\0", ready].concat(),
    ]
    .map(|bytes| [&[0, 4][..], &bytes].concat())
    .to_vec()
}
