//! The scanner against transcripts, whole and cut at every offset, and against any bytes.

use proptest::prelude::*;

use super::super::transcripts::{Transcript, answers, long_rows, packets, text_rows};
use super::*;

type Scanned = Result<Result<Outcome, u16>, Violation>;

/// Feeds the pieces; all but the last must leave the scanner waiting.
fn scan<'a>(deprecate_eof: bool, pieces: impl IntoIterator<Item = &'a [u8]>) -> Option<Scanned> {
    let mut scanner = Scanner::new(deprecate_eof);
    scanner.start(1);
    let mut last = Progress::More;
    for piece in pieces {
        assert!(last == Progress::More || piece.is_empty(), "done too early");
        match scanner.feed(piece) {
            Ok(progress) => last = progress,
            Err(violation) => return Some(Err(violation)),
        }
    }
    let done = || Ok(scanner.outcome().map_err(|error| error.errno));
    (last == Progress::Done).then(done)
}

fn check(transcript: &Transcript, pieces: &[&[u8]]) {
    let got = scan(transcript.deprecate_eof, pieces.iter().copied());
    assert_eq!(got, Some(Ok(transcript.expected)), "{}", transcript.name);
}

#[test]
fn every_answer_whole_and_split_at_every_offset() {
    for transcript in answers() {
        let bytes = &transcript.bytes[..];
        check(&transcript, &[bytes]);
        for at in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(at);
            check(&transcript, &[head, tail]);
        }
    }
}

#[test]
fn every_answer_in_pieces_of_every_size() {
    for transcript in answers() {
        for size in 1..transcript.bytes.len().min(64) {
            let pieces: Vec<&[u8]> = transcript.bytes.chunks(size).collect();
            check(&transcript, &pieces);
        }
    }
}

#[test]
fn an_answer_ends_where_the_next_one_begins() {
    for transcript in answers() {
        let mut both = transcript.bytes.clone();
        both.extend_from_slice(b"next");
        let mut scanner = Scanner::new(transcript.deprecate_eof);
        scanner.start(1);
        let taken = scanner.take(&both);
        assert_eq!(taken, Ok((Progress::Done, transcript.bytes.len())), "{}", transcript.name);
        let got = scanner.outcome().map_err(|error| error.errno);
        assert_eq!(got, transcript.expected, "{}", transcript.name);
    }
}

#[test]
fn a_cut_answer_is_not_done() {
    for transcript in answers() {
        for at in 0..transcript.bytes.len() {
            let got = scan(transcript.deprecate_eof, [&transcript.bytes[..at]]);
            assert_eq!(got, None, "{} cut at {at}", transcript.name);
        }
    }
}

#[test]
fn rows_longer_than_a_packet_and_any_buffer() {
    for deprecate_eof in [false, true] {
        for n_full in [1, 2] {
            let transcript = long_rows(deprecate_eof, n_full);
            check(&transcript, &[&transcript.bytes]);
            for size in [262_144, 1_000_003, 16_777_219] {
                let pieces: Vec<&[u8]> = transcript.bytes.chunks(size).collect();
                check(&transcript, &pieces);
            }
        }
    }
}

#[test]
fn a_scanner_serves_many_answers() {
    let mut scanner = Scanner::new(true);
    for transcript in answers().iter().filter(|transcript| transcript.deprecate_eof) {
        scanner.start(1);
        assert_eq!(scanner.feed(&transcript.bytes), Ok(Progress::Done));
        assert_eq!(scanner.outcome().map_err(|error| error.errno), transcript.expected);
    }
    // Even after one that broke off.
    scanner.start(1);
    assert_eq!(scanner.feed(b"\x30\0\0\x01\xff"), Ok(Progress::More));
    scanner.start(2);
    assert_eq!(scanner.feed(b"\x07\0\0\x02\x00\x01\x00\x02\x00\x00\x00"), Ok(Progress::Done));
    assert_eq!((scanner.outcome().unwrap().affected, scanner.status()), (1, 2));
}

#[test]
fn violations_are_named() {
    let violation = |payloads: &[&[u8]]| match scan(true, [&packets(1, payloads)[..]]) {
        Some(Err(violation)) => violation.detail,
        other => panic!("{other:?}"),
    };
    assert_eq!(violation(&[b""]), "empty packet");
    assert_eq!(violation(&[b"\xfc\x00\x00"]), "a result without columns");
    assert!(violation(&[b"\xfbfile"]).starts_with("the server asks for a local file"));
    assert_eq!(violation(&[b"\x00\x00\x00\x02\x00", b"x"]), "5 bytes after the end of the answer");
    assert_eq!(
        violation(&[b"\x00\x01"]),
        "packet ends within the last insert id: 1 bytes needed, 0 left"
    );
    let wrong = scan(true, [&packets(3, &[b"\x00\x00\x00\x02\x00"])[..]]);
    assert_eq!(wrong, Some(Err(Violation::new("packet number 3, expected 1"))));
    let no_eof = packets(1, &[b"\x01", b"\x03def", b"\x01row"]);
    let wrong = scan(false, [&no_eof[..]]).unwrap().unwrap_err();
    assert_eq!(wrong.detail, "0x01 in place of an EOF packet");
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_end_the_same(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cut in 0_usize..200,
        deprecate_eof: bool,
    ) {
        let whole = scan(deprecate_eof, [&bytes[..]]);
        let (head, tail) = bytes.split_at(cut.min(bytes.len()));
        let mut scanner = Scanner::new(deprecate_eof);
        scanner.start(1);
        let pieces = scanner.feed(head).and_then(|_| scanner.feed(tail));
        match whole {
            Some(Err(_)) => prop_assert!(pieces.is_err()),
            Some(Ok(_)) => prop_assert_eq!(pieces, Ok(Progress::Done)),
            None => prop_assert_eq!(pieces, Ok(Progress::More)),
        }
    }

    /// Well-framed packets of any content reach deeper than plain noise.
    #[test]
    fn any_packets_never_panic(
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..12), 0..12),
        first in prop::sample::select(vec![0_u8, 1, 2, 0xFB, 0xFC, 0xFE, 0xFF]),
        deprecate_eof: bool,
    ) {
        let mut payloads = payloads;
        if let Some(byte) = payloads.first_mut().and_then(|payload| payload.first_mut()) {
            *byte = first;
        }
        let payloads: Vec<&[u8]> = payloads.iter().map(Vec::as_slice).collect();
        let bytes = packets(1, &payloads);
        let mut whole = Scanner::new(deprecate_eof);
        whole.start(1);
        let mut dripped = Scanner::new(deprecate_eof);
        dripped.start(1);
        let at_once = whole.feed(&bytes);
        let drop_by_drop = bytes.chunks(1).try_fold(Progress::More, |_, byte| dripped.feed(byte));
        prop_assert_eq!(at_once.is_ok(), drop_by_drop.is_ok());
        if at_once.is_ok() {
            prop_assert_eq!(at_once, drop_by_drop);
            prop_assert_eq!(whole.outcome().is_ok(), dripped.outcome().is_ok());
            prop_assert_eq!(whole.outcome, dripped.outcome);
        }
    }
}

#[test]
fn an_answer_without_a_result_has_none_of_the_answer_before() {
    for deprecate_eof in [true, false] {
        let mut scanner = Scanner::new(deprecate_eof);
        scanner.start(1);
        scanner.feed(&text_rows(deprecate_eof).bytes).unwrap();
        assert!(scanner.had_result());
        // In one piece and in two: the short way through ordinary answers, and the long one.
        for at in [0, 3] {
            scanner.start(1);
            let ok = packets(1, &[b"\x00\x01\x00\x02\x00\x00\x00"]);
            let (head, tail) = ok.split_at(at);
            scanner.feed(head).unwrap();
            assert_eq!(scanner.feed(tail), Ok(Progress::Done));
            assert!(!scanner.had_result(), "cut at {at}");
        }
    }
}

#[test]
fn what_is_ordinary_is_what_the_scanner_finds() {
    let mut n_ordinary = 0;
    for transcript in answers() {
        let mut more = transcript.bytes.clone();
        more.extend_from_slice(b"\x01\0\0\x01\0");
        for bytes in [&transcript.bytes, &more] {
            let mut scanner = Scanner::new(transcript.deprecate_eof);
            scanner.start(1);
            let taken = scanner.take_any(bytes);
            let Some(found) = ordinary::walk(bytes, 1, transcript.deprecate_eof) else { continue };
            n_ordinary += 1;
            assert_eq!(taken, Ok((Progress::Done, found.n_bytes)), "{}", transcript.name);
            assert_eq!((found.status, found.had_result), (scanner.status, scanner.had_result));
            let outcome = scanner.outcome().unwrap();
            assert_eq!((found.rows, found.affected), (outcome.rows, outcome.affected));
        }
        // Nothing that is cut, or out of order, is.
        for at in 0..transcript.bytes.len() {
            assert_eq!(ordinary::walk(&transcript.bytes[..at], 1, transcript.deprecate_eof), None);
        }
        assert_eq!(ordinary::walk(&transcript.bytes, 2, transcript.deprecate_eof), None);
    }
    assert!(n_ordinary >= 8, "{n_ordinary}");
}
