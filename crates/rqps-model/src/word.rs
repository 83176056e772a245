//! Words that are not among the known ones.

/// A word that is not among the known ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {value:?} (known: {known})")]
pub struct UnknownWord {
    /// What kind of word it was: `dbms`, `engine`.
    pub what: &'static str,
    /// The word as given.
    pub value: String,
    /// The known words, separated by commas.
    pub known: &'static str,
}

/// How many letters of a word may differ from the one that was meant.
const MOST_SLIPS: usize = 2;

impl UnknownWord {
    /// The known word that was probably meant.
    #[must_use]
    pub fn nearest(&self) -> Option<&'static str> {
        let distance = |word: &&str| strsim::osa_distance(word, &self.value);
        let nearest = self.known.split(", ").min_by_key(distance)?;
        (distance(&nearest) <= MOST_SLIPS.min(nearest.len() / 3)).then_some(nearest)
    }
}
