//! Errors after which events are retried, counted by code.

use serde::{Deserialize, Serialize};

/// How often events failed with one code and were retried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// The server's number or SQLSTATE: `1213`, `40P01`.
    pub code: String,
    /// Events that failed with it.
    pub n: u64,
}
