//! How much a warning weighs.

use serde::{Deserialize, Serialize};

/// How much a warning weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It moves nothing, or less than anybody would see.
    Minor,
    /// It can move some steps by some percent; it is listed.
    Notable,
    /// It can move many steps by more than the usual bound, or one of them many times over, or lets
    /// systems do other work: the ratios are not those of the servers alone.
    Severe,
}

impl Severity {
    /// One word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Minor => "minor",
            Self::Notable => "notable",
            Self::Severe => "severe",
        }
    }
}
