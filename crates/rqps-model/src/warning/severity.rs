//! How much a warning weighs.

use serde::{Deserialize, Serialize};

/// How much a warning weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// It changes QPS too little to be seen.
    Minor,
    /// It can change QPS of some steps by some percent; it is listed.
    Notable,
    /// It can change QPS of many steps by more than the usual bound, or of one step many times
    /// over, or makes systems do other work: ratios are not those of the servers alone.
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
