//! Any bytes from a PostgreSQL server: no panic, and the same answer wherever they are cut.
//!
//! Run with `cargo +nightly fuzz run wire_postgres` in `crates/rqps-client`. The first byte says
//! where the rest is cut in two.

#![no_main]

use libfuzzer_sys::fuzz_target;
use rqps_client::wire::postgres::{Skipper, Violation, decode};
use rqps_client::{Outcome, ServerError};

/// The outcome, where the answer is complete.
type Skipped = Result<Option<Result<Outcome, ServerError>>, Violation>;

fn skip(pieces: &[&[u8]]) -> Skipped {
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
    Ok(None)
}

fuzz_target!(|data: &[u8]| {
    let Some((cut, bytes)) = data.split_first() else { return };
    let (first, second) = bytes.split_at(usize::from(*cut).min(bytes.len()));
    assert_eq!(skip(&[bytes]), skip(&[first, second]));

    let mut rest = bytes;
    while let Ok(Some((_, n_bytes))) = decode(rest) {
        rest = &rest[n_bytes..];
    }
});
