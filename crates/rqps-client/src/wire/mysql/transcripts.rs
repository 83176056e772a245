//! Conversations written down by hand from the protocol's description, for tests.

use super::packet::MAX_PAYLOAD;
use super::reader::push_lenenc;
use crate::Outcome;

/// The bytes of one answer, which begins with sequence number 1, and what it amounts to.
#[derive(Debug, Clone)]
pub(crate) struct Transcript {
    pub(crate) name: &'static str,
    pub(crate) deprecate_eof: bool,
    pub(crate) bytes: Vec<u8>,
    /// The outcome, or the error's number.
    pub(crate) expected: Result<Outcome, u16>,
}

/// Packets with running sequence numbers.
pub(crate) fn packets(first_seq: u8, payloads: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut seq = first_seq;
    for payload in payloads {
        let [a, b, c, ..] = payload.len().to_le_bytes();
        out.extend_from_slice(&[a, b, c, seq]);
        out.extend_from_slice(payload);
        seq = seq.wrapping_add(1);
    }
    out
}

fn column(name: &[u8], kind: u8) -> Vec<u8> {
    let mut out = b"\x03def\x06sbtest\x01t\x07sbtest1".to_vec();
    for name in [name, name] {
        push_lenenc(&mut out, name.len());
        out.extend_from_slice(name);
    }
    out.extend_from_slice(&[0x0C, 0x2D, 0, 0xFF, 0, 0, 0, kind, 0, 0, 0, 0, 0]);
    out
}

/// EOF packets and the OK packet that replaces the last of them, with these status flags.
fn ends(deprecate_eof: bool, status: u8) -> (Option<Vec<u8>>, Vec<u8>) {
    let eof = vec![0xFE, 0, 0, status, 0];
    let ok = vec![0xFE, 0, 0, status, 0, 0, 0];
    if deprecate_eof { (None, ok) } else { (Some(eof.clone()), eof) }
}

fn result<'a>(
    columns: &'a [Vec<u8>],
    ends: &'a (Option<Vec<u8>>, Vec<u8>),
    count: &'a [u8],
    rows: &[&'a [u8]],
) -> Vec<&'a [u8]> {
    let mut payloads = vec![count];
    payloads.extend(columns.iter().map(Vec::as_slice));
    payloads.extend(ends.0.as_deref());
    payloads.extend_from_slice(rows);
    payloads.push(&ends.1);
    payloads
}

const TEXT_ROWS: [&[u8]; 3] = [b"\x011\x03one", b"\xfb\x03two", b"\xfb\x00"];

fn two_columns() -> [Vec<u8>; 2] {
    [column(b"id", 3), column(b"c", 254)]
}

/// A text result of three rows; one begins with a NULL, one with a value.
pub(crate) fn text_rows(deprecate_eof: bool) -> Transcript {
    let bytes = packets(1, &result(&two_columns(), &ends(deprecate_eof, 2), b"\x02", &TEXT_ROWS));
    let expected = Ok(Outcome { rows: 3, affected: 0 });
    Transcript { name: "text rows", deprecate_eof, bytes, expected }
}

/// An update, then a select, then another update, as one multi-statement answers.
pub(crate) fn several_results(deprecate_eof: bool) -> Transcript {
    let (columns, ends) = (two_columns(), ends(deprecate_eof, 0x0A));
    let mut payloads: Vec<&[u8]> = vec![b"\x00\x04\x00\x0a\x00\x00\x00"];
    payloads.extend(result(&columns, &ends, b"\x02", &TEXT_ROWS));
    payloads.push(b"\x00\x01\x00\x02\x00\x00\x00");
    let expected = Ok(Outcome { rows: 3, affected: 5 });
    let bytes = packets(1, &payloads);
    Transcript { name: "several results", deprecate_eof, bytes, expected }
}

/// Two rows, then a deadlock.
pub(crate) fn error_after_rows() -> Transcript {
    let (columns, ends) = (two_columns(), ends(true, 2));
    let mut payloads = result(&columns, &ends, b"\x02", &TEXT_ROWS[..2]);
    payloads.pop();
    payloads.push(b"\xff\xbd\x04#40001Deadlock found when trying to get lock");
    let bytes = packets(1, &payloads);
    Transcript { name: "error after rows", deprecate_eof: true, bytes, expected: Err(1213) }
}

/// Binary rows whose sequence numbers wrap around.
fn many_binary_rows(deprecate_eof: bool) -> Transcript {
    let columns = [column(b"c", 254)];
    let ends = ends(deprecate_eof, 0x22);
    let rows: Vec<&[u8]> = vec![b"\x00\x00\x05hello"; 300];
    let bytes = packets(1, &result(&columns, &ends, b"\x01", &rows));
    let expected = Ok(Outcome { rows: 300, affected: 0 });
    Transcript { name: "binary rows", deprecate_eof, bytes, expected }
}

fn single(name: &'static str, payload: &[u8], expected: Result<Outcome, u16>) -> Transcript {
    Transcript { name, deprecate_eof: true, bytes: packets(1, &[payload]), expected }
}

/// Every answer that is short enough to be split at each offset.
pub(crate) fn answers() -> Vec<Transcript> {
    let mut all = vec![
        error_after_rows(),
        single("ok", b"\x00\x01\x00\x02\x00\x00\x00", Ok(Outcome { rows: 0, affected: 1 })),
        single(
            "ok with long numbers and a text",
            b"\x00\xfd\x00\x00\x01\xfe\x01\x02\x03\x04\x05\x06\x07\x08\x02\x00\x00\x00(Rows matched: 9",
            Ok(Outcome { rows: 0, affected: 0x1_0000 }),
        ),
        single("error", b"\xff\x28\x04#42000You have an error in your SQL syntax", Err(1064)),
        Transcript {
            name: "a server's last words come under their own number",
            deprecate_eof: false,
            bytes: packets(0, &[b"\xff\xbf\x0f#HY000The client was disconnected"]),
            expected: Err(4031),
        },
    ];
    for deprecate_eof in [false, true] {
        all.push(text_rows(deprecate_eof));
        all.push(several_results(deprecate_eof));
        all.push(many_binary_rows(deprecate_eof));
        let empty = result(&two_columns(), &ends(deprecate_eof, 2), b"\x02", &[])
            .iter()
            .map(|payload| payload.to_vec())
            .collect::<Vec<_>>();
        let empty: Vec<&[u8]> = empty.iter().map(Vec::as_slice).collect();
        all.push(Transcript {
            name: "no rows",
            deprecate_eof,
            bytes: packets(1, &empty),
            expected: Ok(Outcome::default()),
        });
    }
    all
}

/// A first column of more than 16 MiB: the row begins with 0xFE and fills a packet, its rest begins
/// with any byte, here one that would end the rows, and a last piece may be empty.
pub(crate) fn long_rows(deprecate_eof: bool, n_full: usize) -> Transcript {
    let columns = [column(b"b", 252)];
    let ends = ends(deprecate_eof, 2);
    let mut full = vec![0xFE; MAX_PAYLOAD];
    full[1..9].copy_from_slice(&((n_full * MAX_PAYLOAD + 5 - 9) as u64).to_le_bytes());
    let mut rows: Vec<&[u8]> = vec![&full; n_full];
    rows.push(b"\xfe\x00\x00\x02\x00");
    rows.push(b"\x03abc");
    rows.push(&full);
    rows.push(b"");
    let bytes = packets(1, &result(&columns, &ends, b"\x01", &rows));
    let expected = Ok(Outcome { rows: 3, affected: 0 });
    Transcript { name: "long rows", deprecate_eof, bytes, expected }
}

/// The greeting of MySQL 8.0.
pub(crate) fn greeting_80() -> Vec<u8> {
    greeting("8.0.33", 0xDFFF_FFFF, Some("caching_sha2_password"))
}

/// The greeting of MariaDB: an old version in front, and no `LONG_PASSWORD`.
pub(crate) fn greeting_mariadb() -> Vec<u8> {
    greeting("5.5.5-10.11.5-MariaDB", 0x81FF_F7FE, Some("mysql_native_password"))
}

/// The greeting of MySQL 5.1, which knows no plugins.
pub(crate) fn greeting_51() -> Vec<u8> {
    greeting("5.1.73-log", 0x0000_F7FF, None)
}

/// A greeting with the nonce `abcdefghijklmnopqrst`.
pub(crate) fn greeting(version: &str, capabilities: u32, plugin: Option<&str>) -> Vec<u8> {
    let [c0, c1, c2, c3] = capabilities.to_le_bytes();
    let mut out = vec![10];
    out.extend_from_slice(version.as_bytes());
    out.extend_from_slice(b"\0\x08\0\0\0abcdefgh\0");
    out.extend_from_slice(&[c0, c1, 8, 2, 0, c2, c3, if plugin.is_some() { 21 } else { 0 }]);
    out.extend_from_slice(&[0; 10]);
    out.extend_from_slice(b"ijklmnopqrst\0");
    if let Some(plugin) = plugin {
        out.extend_from_slice(plugin.as_bytes());
        out.push(0);
    }
    out
}
