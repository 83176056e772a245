//! What a plan makes of a severe difference between its systems.

use std::fmt;
use std::str::FromStr;

use rqps_model::UnknownWord;

/// What a severe difference between the systems of a plan does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AuditRule {
    /// It is reported before the first slice, and in the first line of every report.
    #[default]
    Warn,
    /// The run is refused.
    Strict,
}

impl FromStr for AuditRule {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "warn" => Ok(Self::Warn),
            "strict" => Ok(Self::Strict),
            _ => Err(UnknownWord { what: "audit", value: text.to_owned(), known: "warn, strict" }),
        }
    }
}

impl fmt::Display for AuditRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Warn => "warn",
            Self::Strict => "strict",
        })
    }
}
