//! How the kernel confines the processes of a server.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The key of the confinement among the facts of a server's process.
pub const WALL: &str = "wall";

/// The confinement of a server's processes to their own files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wall {
    /// Landlock, with this version of its interface.
    Landlock {
        /// The version, which decides what the kernel can forbid.
        abi: u32,
    },
    /// A mount namespace whose files are read-only, except for the server's own.
    Namespaces {
        /// Whether a user namespace gave the right to make it.
        has_user: bool,
    },
    /// Nothing.
    None {
        /// The reason.
        why: String,
    },
}

/// A text that is not a known confinement.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a known confinement")]
pub struct WallError {
    /// The text as it was given.
    pub text: String,
}

impl Wall {
    /// The first version of Landlock that forbids truncation.
    pub const TRUNCATION: u32 = 3;
    /// The first version of Landlock that restricts TCP.
    pub const TCP: u32 = 4;
    /// The first version of Landlock that restricts abstract unix sockets and signals.
    pub const SCOPES: u32 = 6;

    /// Whether anything confines the server.
    #[must_use]
    pub fn holds(&self) -> bool {
        !matches!(self, Self::None { .. })
    }

    /// What confines the server: `Landlock ABI 7`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Landlock { abi } => format!("Landlock ABI {abi}"),
            Self::Namespaces { has_user: true } => "user and mount namespaces".to_owned(),
            Self::Namespaces { has_user: false } => "mount namespace".to_owned(),
            Self::None { .. } => "none".to_owned(),
        }
    }

    /// Whether it restricts TCP.
    #[must_use]
    pub fn has_tcp(&self) -> bool {
        matches!(self, Self::Landlock { abi } if *abi >= Self::TCP)
    }
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())?;
        match self {
            Self::Landlock { abi } => {
                f.write_str(": files")?;
                if *abi < Self::TRUNCATION {
                    f.write_str(" except truncation")?;
                }
                if self.has_tcp() {
                    f.write_str(", TCP")?;
                }
                if *abi >= Self::SCOPES {
                    f.write_str(", abstract sockets, signals")?;
                }
                Ok(())
            }
            Self::Namespaces { .. } => f.write_str(": writes to files"),
            Self::None { why } => write!(f, " ({why})"),
        }
    }
}

impl FromStr for Wall {
    type Err = WallError;

    fn from_str(text: &str) -> Result<Self, WallError> {
        let unknown = || WallError { text: text.to_owned() };
        if let Some(why) = text.strip_prefix("none (").and_then(|rest| rest.strip_suffix(')')) {
            return Ok(Self::None { why: why.to_owned() });
        }
        let (name, _) = text.split_once(": ").ok_or_else(unknown)?;
        let abi = name.strip_prefix("Landlock ABI ").and_then(|abi| abi.parse().ok());
        let namespaces = [true, false].map(|has_user| Self::Namespaces { has_user });
        let namespaces = namespaces.into_iter().find(|wall| wall.name() == name);
        abi.map(|abi| Self::Landlock { abi }).or(namespaces).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walls_are_read_as_they_are_written() {
        for (wall, text) in [
            (Wall::Landlock { abi: 1 }, "Landlock ABI 1: files except truncation"),
            (Wall::Landlock { abi: 4 }, "Landlock ABI 4: files, TCP"),
            (Wall::Landlock { abi: 7 }, "Landlock ABI 7: files, TCP, abstract sockets, signals"),
            (Wall::Namespaces { has_user: true }, "user and mount namespaces: writes to files"),
            (Wall::Namespaces { has_user: false }, "mount namespace: writes to files"),
            (Wall::None { why: "no (x): y".to_owned() }, "none (no (x): y)"),
        ] {
            assert_eq!(wall.to_string(), text);
            assert_eq!(text.parse(), Ok(wall));
        }
        assert!("something: else".parse::<Wall>().is_err());
    }
}
