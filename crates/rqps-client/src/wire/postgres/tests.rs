//! Transcripts written byte by byte, cut at every offset, and random bytes.

use proptest::prelude::*;

use super::execute::numbered_places;
use super::*;
use crate::{Error, Outcome, ParamType, Params, Protocol, ServerError, StatementSpec};

/// A message from its tag and body.
fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![tag];
    out.extend(u32::try_from(body.len() + 4).unwrap().to_be_bytes());
    out.extend(body);
    out
}

fn row(columns: &[&str]) -> Vec<u8> {
    let mut body = u16::try_from(columns.len()).unwrap().to_be_bytes().to_vec();
    for column in columns {
        body.extend(u32::try_from(column.len()).unwrap().to_be_bytes());
        body.extend(column.as_bytes());
    }
    message(b'D', &body)
}

fn error(code: &str, text: &str) -> Vec<u8> {
    let body = format!("SERROR\0VERROR\0C{code}\0M{text}\0Ffile.c\0L12\0\0");
    message(b'E', body.as_bytes())
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

fn server_error(code: &str, text: &str) -> ServerError {
    ServerError { errno: 0, sqlstate: code.to_owned(), message: text.to_owned(), notes: None }
}

/// Offers `pieces` one after the other, as a connection does, and says what was left over.
fn skip<'a>(
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<(Result<Outcome, ServerError>, usize), Violation> {
    let mut skipper = Skipper::default();
    let mut unread = Vec::new();
    let mut done = false;
    for piece in pieces {
        unread.extend_from_slice(piece);
        if done {
            continue;
        }
        let scan = skipper.scan(&unread)?;
        unread.drain(..scan.consumed);
        done = scan.done;
    }
    assert!(done, "the answer is not complete");
    Ok((skipper.finish(), unread.len()))
}

/// The same answer however it is cut: in one piece, in two at every offset, byte by byte.
fn skip_all_ways(answer: &[u8]) -> Result<Outcome, ServerError> {
    let (whole, left) = skip([answer]).unwrap();
    assert_eq!(left, 0);
    for at in 0..=answer.len() {
        let (first, second) = answer.split_at(at);
        assert_eq!(skip([first, second]).unwrap(), (whole.clone(), 0), "cut at {at}");
    }
    assert_eq!(skip(answer.chunks(1)).unwrap(), (whole.clone(), 0));
    whole
}

#[test]
fn rows_are_counted() {
    let answer = [
        message(b'2', b""),
        row(&["a", "bcd"]),
        row(&["", ""]),
        row(&["Z\0\0\0\x05I", "E"]),
        message(b'C', b"SELECT 3\0"),
        ready(),
    ]
    .concat();
    assert_eq!(skip_all_ways(&answer).unwrap(), Outcome { rows: 3, affected: 0 });
}

#[test]
fn rows_of_one_length_are_counted_where_another_follows() {
    let short = message(b'N', b"as long\0\0");
    let mut answer = vec![row(&["same"]); 9];
    answer.push(row(&["another"]));
    answer.extend(vec![row(&["same"]); 3]);
    answer.extend([short, row(&["same"]), message(b'C', b"SELECT 14\0"), ready()]);
    assert_eq!(skip_all_ways(&answer.concat()).unwrap(), Outcome { rows: 14, affected: 0 });
}

#[test]
fn changed_rows_are_added_up() {
    let answer = [
        message(b'C', b"INSERT 0 100\0"),
        message(b'N', b"SNOTICE\0Mhello\0\0"),
        message(b'C', b"UPDATE 1\0"),
        message(b'S', b"TimeZone\0UTC\0"),
        message(b'I', b""),
        message(b'C', b"BEGIN\0"),
        ready(),
    ]
    .concat();
    assert_eq!(skip_all_ways(&answer).unwrap(), Outcome { rows: 0, affected: 101 });
}

#[test]
fn the_first_error_is_kept() {
    let answer = [
        row(&["1"]),
        error("40P01", "deadlock detected"),
        error("XX000", "and another"),
        message(b'Z', b"E"),
    ]
    .concat();
    assert_eq!(skip_all_ways(&answer), Err(server_error("40P01", "deadlock detected")));
}

#[test]
fn a_row_longer_than_any_buffer_is_skipped_in_pieces() {
    let answer = [row(&[&"x".repeat(100_000)]), message(b'C', b"SELECT 1\0"), ready()].concat();
    let mut skipper = Skipper::default();
    let mut rest = answer.as_slice();
    loop {
        let (window, _) = rest.split_at(rest.len().min(64));
        let scan = skipper.scan(window).unwrap();
        rest = &rest[scan.consumed..];
        if scan.done {
            break;
        }
        assert!(scan.consumed > 0, "stuck with {} bytes left", rest.len());
    }
    assert!(rest.is_empty());
    assert_eq!(skipper.finish().unwrap(), Outcome { rows: 1, affected: 0 });
}

#[test]
fn what_follows_the_answer_is_left() {
    let answer = [message(b'C', b"SELECT 0\0"), ready(), error("57P01", "bye")].concat();
    let (outcome, left) = skip([answer.as_slice()]).unwrap();
    assert_eq!((outcome.unwrap().rows, left), (0, error("57P01", "bye").len()));
}

#[test]
fn what_is_no_answer_is_refused() {
    for bad in
        [&b"D\0\0\0\x03"[..], b"D\xff\xff\xff\xff", b"G\0\0\0\x04", b"R\0\0\0\x04", b"\0\0\0\0\x04"]
    {
        assert!(skip([bad]).is_err(), "{bad:?}");
    }
}

#[test]
fn tags_are_counted_as_the_server_means_them() {
    let counts = [
        ("INSERT 0 1", 1),
        ("DELETE 20", 20),
        ("MERGE 3", 3),
        ("COPY 12", 12),
        ("SELECT 100", 0),
        ("FETCH 1", 0),
        ("CREATE TABLE", 0),
        ("UPDATE 99999999999999999999", u64::MAX),
        ("", 0),
    ];
    for (tag, count) in counts {
        assert_eq!(affected(format!("{tag}\0").as_bytes()), count, "{tag}");
    }
}

#[test]
fn messages_are_decoded() {
    let text = |text: &str| text.to_owned();
    let mut description = 1_u16.to_be_bytes().to_vec();
    description.extend(b"c\0");
    description.extend([0; 18]);
    let row = message(b'D', b"\0\x02\0\0\0\x01a\xff\xff\xff\xff");
    let cases = [
        (message(b'R', b"\0\0\0\0"), Message::AuthenticationOk),
        (message(b'R', b"\0\0\0\x03"), Message::AuthenticationCleartext),
        (message(b'R', b"\0\0\0\x05salt"), Message::AuthenticationMd5(*b"salt")),
        (
            message(b'R', b"\0\0\0\x0aA\0B\0\0"),
            Message::AuthenticationSasl(vec![text("A"), text("B")]),
        ),
        (message(b'R', b"\0\0\0\x0bhi"), Message::AuthenticationSaslContinue(b"hi".to_vec())),
        (message(b'R', b"\0\0\0\x0cv"), Message::AuthenticationSaslFinal(b"v".to_vec())),
        (message(b'R', b"\0\0\0\x07"), Message::AuthenticationOther(7)),
        (message(b'S', b"a\0b\0"), Message::ParameterStatus { name: text("a"), value: text("b") }),
        (message(b'K', b"\0\0\x01\x02key!"), Message::BackendKeyData(258)),
        (message(b'T', &description), Message::RowDescription(vec![text("c")])),
        (row, Message::DataRow(vec![Some(text("a")), None])),
        (message(b'C', b"UPDATE 7\0"), Message::CommandComplete(7)),
        (error("42601", "no"), Message::ErrorResponse(server_error("42601", "no"))),
        (message(b'G', b"\0\0\0"), Message::CopyIn),
        (ready(), Message::ReadyForQuery),
        (message(b'1', b""), Message::Other(b'1')),
    ];
    for (bytes, wanted) in cases {
        let with_more = [bytes.as_slice(), b"more"].concat();
        assert_eq!(decode(&with_more), Ok(Some((wanted, bytes.len()))));
        for at in 0..bytes.len() {
            assert_eq!(decode(&bytes[..at]), Ok(None), "{bytes:?} cut at {at}");
        }
    }
}

#[test]
fn bodies_that_end_too_early_are_refused() {
    for (tag, body) in [
        (b'R', &b"\0\0"[..]),
        (b'R', b"\0\0\0\x05sa"),
        (b'R', b"\0\0\0\x0aA"),
        (b'T', b"\0\x01c\0short"),
        (b'D', b"\0\x01\0\0\0\x09short"),
        (b'D', b"\xff\xff"),
        (b'E', b"Mno end"),
        (b'K', b""),
    ] {
        assert!(decode(&message(tag, body)).is_err(), "{:?} {body:?}", char::from(tag));
    }
}

#[test]
fn requests_are_encoded() {
    let encoded = |encode: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        encode(&mut out);
        out
    };
    assert_eq!(encoded(&|out| encode::ssl_request(out)), b"\0\0\0\x08\x04\xd2\x16\x2f");
    assert_eq!(
        encoded(&|out| encode::startup(out, &[("user", "me")]).unwrap()),
        b"\0\0\0\x11\0\x03\0\0user\0me\0\0"
    );
    assert_eq!(encoded(&|out| encode::password(out, b"pw").unwrap()), b"p\0\0\0\x07pw\0");
    assert_eq!(
        encoded(&|out| encode::sasl_initial(out, "M", b"first").unwrap()),
        b"p\0\0\0\x0fM\0\0\0\0\x05first"
    );
    assert_eq!(encoded(&|out| encode::sasl_response(out, b"x").unwrap()), b"p\0\0\0\x05x");
    let types = [ParamType::Int, ParamType::BigInt, ParamType::Text];
    assert_eq!(
        encoded(&|out| encode::parse(out, "s1", "X", &types).unwrap()),
        b"P\0\0\0\x17s1\0X\0\0\x03\0\0\0\x17\0\0\0\x14\0\0\0\x19"
    );
    assert_eq!(encoded(&|out| encode::query(out, b"X").unwrap()), b"Q\0\0\0\x06X\0");
    assert_eq!(encoded(&encode::execute), b"E\0\0\0\x09\0\0\0\0\0");
    assert_eq!(encoded(&encode::sync), b"S\0\0\0\x04");
    assert_eq!(encoded(&encode::terminate), b"X\0\0\0\x04");
    assert!(encode::password(&mut Vec::new(), b"a\0b").is_err());
}

fn statement(sql: &str, params: &[ParamType], protocol: Protocol) -> Result<Statement, Error> {
    Statement::new("s1", &StatementSpec { sql, params, protocol, null_rows: 0 })
}

fn ints(values: &[i64]) -> Params {
    let mut params = Params::new();
    values.iter().for_each(|value| params.push_int(*value));
    params
}

#[test]
fn integers_are_patched_in_place() {
    let types = [ParamType::Int, ParamType::BigInt];
    let mut statement = statement("? ?", &types, Protocol::Prepared).unwrap();
    let mut scratch = Vec::new();
    let first = statement.encode(&ints(&[7, 7]), &mut scratch).unwrap().to_vec();
    let second = statement.encode(&ints(&[1, -2]), &mut scratch).unwrap();
    assert_eq!(
        second,
        b"B\0\0\0\x24\0s1\0\0\x01\0\x01\0\x02\
          \0\0\0\x04\0\0\0\x01\0\0\0\x08\xff\xff\xff\xff\xff\xff\xff\xfe\0\0\
          E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04"
    );
    assert_eq!(first.len(), second.len());
    assert!(scratch.is_empty());
}

#[test]
fn a_null_in_the_place_of_an_integer_has_no_length_but_its_own() {
    let types = [ParamType::Int, ParamType::BigInt];
    let mut statement = statement("? ?", &types, Protocol::Prepared).unwrap();
    let mut scratch = Vec::new();
    statement.encode(&ints(&[7, 7]), &mut scratch).unwrap();
    let mut params = Params::new();
    params.push_null();
    params.push_int(1);
    assert_eq!(
        statement.encode(&params, &mut scratch).unwrap(),
        b"B\0\0\0\x20\0s1\0\0\x01\0\x01\0\x02\
          \xff\xff\xff\xff\0\0\0\x08\0\0\0\0\0\0\0\x01\0\0\
          E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04"
    );
    // Integers again: as long as they are.
    let again = statement.encode(&ints(&[7, 7]), &mut scratch).unwrap();
    assert_eq!(again.get(..5), Some(&b"B\0\0\0\x24"[..]));
}

#[test]
fn strings_need_a_new_message() {
    let types = [ParamType::Text, ParamType::Int];
    let mut statement = statement("? ?", &types, Protocol::Prepared).unwrap();
    let mut scratch = b"left over".to_vec();
    let mut params = Params::new();
    params.push_text(|out| out.extend(b"it's"));
    params.push_int(5);
    assert_eq!(
        statement.encode(&params, &mut scratch).unwrap(),
        b"B\0\0\0\x20\0s1\0\0\x01\0\x01\0\x02\0\0\0\x04it's\0\0\0\x04\0\0\0\x05\0\0\
          E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04"
    );
}

#[test]
fn text_statements_hold_literals() {
    let types = [ParamType::Text, ParamType::Int, ParamType::BigInt];
    let mut statement = statement("a=? b-? c=?;", &types, Protocol::Text).unwrap();
    let mut scratch = Vec::new();
    let mut params = Params::new();
    params.push_text(|out| out.extend(br"it's 'x' \"));
    params.push_int(-1);
    params.push_int(1 << 40);
    let encoded = statement.encode(&params, &mut scratch).unwrap();
    let sql = br"a='it''s ''x'' \' b-(-1) c=1099511627776;";
    assert_eq!(encoded, message(b'Q', &[&sql[..], b"\0"].concat()));

    params.clear();
    params.push_text(|out| out.push(0));
    params.push_int(1);
    params.push_int(1);
    assert!(matches!(statement.encode(&params, &mut scratch), Err(Error::Usage { .. })));
}

#[test]
fn what_does_not_fit_is_a_usage_error() {
    for protocol in [Protocol::Prepared, Protocol::Text] {
        assert!(statement("?", &[], protocol).is_err());
        assert!(statement("x", &[ParamType::Int], protocol).is_err());
        let mut scratch = Vec::new();
        for types in [&[ParamType::Int][..], &[ParamType::Text], &[ParamType::Int, ParamType::Text]]
        {
            let sql = "? ".repeat(types.len());
            let mut statement = statement(&sql, types, protocol).unwrap();
            // A number too few or too many, an integer too large, an integer for a string.
            for values in [&[][..], &[1, 2, 3], &[1 << 31], &[i64::MIN, 1], &[1, 1]] {
                let refused = statement.encode(&ints(values), &mut scratch);
                assert!(matches!(refused, Err(Error::Usage { .. })), "{types:?} {values:?}");
            }
        }
        let mut statement = statement("?", &[ParamType::Int], protocol).unwrap();
        let mut params = Params::new();
        params.push_text(|out| out.push(b'1'));
        assert!(statement.encode(&params, &mut scratch).is_err());
        assert!(statement.encode(&ints(&[i64::from(i32::MIN)]), &mut scratch).is_ok());
    }
}

#[test]
fn places_are_numbered() {
    assert_eq!(numbered_places("a=? AND b BETWEEN ? AND ?"), "a=$1 AND b BETWEEN $2 AND $3");
    assert_eq!(numbered_places("x"), "x");
}

proptest! {
    #[test]
    fn any_bytes_are_survived_and_cuts_do_not_matter(
        bytes in proptest::collection::vec(prop_oneof![
            4 => any::<u8>().boxed(),
            4 => Just(0).boxed(),
            2 => (4_u8..12).boxed(),
            2 => proptest::sample::select(b"DCEZNSTRK".to_vec()).boxed(),
        ], 0..200),
        at in 0_usize..200,
    ) {
        let _ = decode(&bytes);
        let run = |pieces: &[&[u8]]| {
            let mut skipper = Skipper::default();
            let mut unread = Vec::new();
            for piece in pieces {
                unread.extend_from_slice(piece);
                let scan = skipper.scan(&unread)?;
                unread.drain(..scan.consumed);
                if scan.done {
                    return Ok(Some(skipper.finish()));
                }
            }
            Ok::<_, Violation>(None)
        };
        let (first, second) = bytes.split_at(at.min(bytes.len()));
        prop_assert_eq!(run(&[&bytes]), run(&[first, second]));
    }

    #[test]
    fn answers_of_any_rows_are_counted(lengths in proptest::collection::vec(0_usize..40, 0..20)) {
        let mut answer = Vec::new();
        for length in &lengths {
            answer.extend(row(&[&"x".repeat(*length)]));
        }
        answer.extend(message(b'C', b"SELECT 9\0"));
        answer.extend(ready());
        prop_assert_eq!(skip_all_ways(&answer).unwrap().rows, lengths.len() as u64);
    }
}
