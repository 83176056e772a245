//! The time that is stored.

use std::time::{SystemTime, UNIX_EPOCH};

/// The wall clock, milliseconds since 1970: for the reader, never for measuring.
#[must_use]
pub fn unix_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
