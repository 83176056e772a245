//! What a trial of the protections switches off. Only a binary with the feature `trial-switches` sets it.

use std::str::FromStr;

/// Protections that a trial switches off; by default none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Trial {
    /// Which walls servers may get.
    pub walls: Walls,
    /// Whether a user's configuration reaches the server unchanged.
    pub is_verbatim: bool,
}

/// Which walls servers may get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Walls {
    /// The best that the kernel has.
    #[default]
    Any,
    /// Namespaces, as on a kernel without Landlock.
    Namespaces,
    /// None at all.
    Nothing,
}

/// A word that is not a kind of walls.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} names no walls (expected namespaces or none)")]
pub struct WallsError {
    /// The word.
    pub word: String,
}

impl FromStr for Walls {
    type Err = WallsError;

    fn from_str(word: &str) -> Result<Self, WallsError> {
        match word {
            "namespaces" => Ok(Self::Namespaces),
            "none" => Ok(Self::Nothing),
            _ => Err(WallsError { word: word.to_owned() }),
        }
    }
}
