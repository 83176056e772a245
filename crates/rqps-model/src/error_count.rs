//! Errors that a benchmark survives, counted by code.

use serde::{Deserialize, Serialize};

/// How often one error that is survived was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorCount {
    /// The server's number or SQLSTATE: `1213`, `40P01`.
    pub code: String,
    /// How many events met it.
    pub n: u64,
}
