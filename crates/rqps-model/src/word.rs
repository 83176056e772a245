//! Words that should have been one of a known few.

/// A word that should have been one of a known few.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {value:?} (known: {known})")]
pub struct UnknownWord {
    /// What kind of word it was: `dbms`, `engine`.
    pub what: &'static str,
    /// The word as given.
    pub value: String,
    /// The words that would do, separated by commas.
    pub known: &'static str,
}
