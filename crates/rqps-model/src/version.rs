//! Server versions as numbers that can be compared, read from what servers and users write.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A server version: up to three numbers and, for pre-releases, the rest (`19rc1`).
///
/// PostgreSQL 10 and later have two numbers (`17.4`); MySQL and MariaDB three (`8.0.33`). Versions
/// are in order of their numbers; a pre-release comes before its release.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    /// The numbers in order of weight, one to three of them.
    pub numbers: Vec<u32>,
    /// The suffix of a pre-release: `rc1`, `beta2`. Empty for a release.
    pub pre: String,
}

/// Text that does not start with a version number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a server version (expected numbers such as 8.0.33, 11.4.5, 17.4)")]
pub struct VersionError {
    /// The text as it was given.
    pub text: String,
}

impl Version {
    /// The version of a release with these numbers.
    #[must_use]
    pub fn release(numbers: &[u32]) -> Self {
        Self { numbers: numbers.to_vec(), pre: String::new() }
    }

    /// Whether this version is at least that of `numbers`; missing numbers count as zero.
    #[must_use]
    pub fn at_least(&self, numbers: &[u32]) -> bool {
        let width = self.numbers.len().max(numbers.len());
        for i in 0..width {
            let mine = self.numbers.get(i).copied().unwrap_or(0);
            let other = numbers.get(i).copied().unwrap_or(0);
            if mine != other {
                return mine > other;
            }
        }
        true
    }

    /// The first number.
    #[must_use]
    pub fn major(&self) -> u32 {
        self.numbers.first().copied().unwrap_or(0)
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let width = self.numbers.len().max(other.numbers.len());
        let padded = |version: &Self| {
            let mut numbers = version.numbers.clone();
            numbers.resize(width, 0);
            numbers
        };
        let stage = |version: &Self| version.pre.is_empty();
        padded(self)
            .cmp(&padded(other))
            .then_with(|| stage(self).cmp(&stage(other)))
            .then_with(|| parts(&self.pre).cmp(&parts(&other.pre)))
            // 17 and 17.0 are two values still.
            .then_with(|| self.numbers.cmp(&other.numbers))
            .then_with(|| self.pre.cmp(&other.pre))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The word and the number of a pre-release: `rc` and 10 of `rc10`.
fn parts(pre: &str) -> (&str, Option<u64>) {
    let (word, number) = pre.split_at(pre.find(|c: char| c.is_ascii_digit()).unwrap_or(pre.len()));
    (word, number.parse().ok())
}

impl FromStr for Version {
    type Err = VersionError;

    /// Reads `8.0.33`, `10.11.5-MariaDB-log`, `5.5.5-10.4.8-MariaDB`, `17.4 (Debian 17.4-1)`, `19rc1`.
    fn from_str(text: &str) -> Result<Self, VersionError> {
        let err = || VersionError { text: text.to_owned() };
        let trimmed = text.trim();
        // MariaDB 10 and 11 announce themselves as 5.5.5 to please old replicas.
        let body = match trimmed.strip_prefix("5.5.5-") {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => rest,
            _ => trimmed,
        };
        let end = body.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(body.len());
        let (digits, rest) = body.split_at(end);
        let numbers: Vec<u32> = digits
            .trim_end_matches('.')
            .split('.')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .map_err(|_| err())?;
        if numbers.len() > 3 {
            return Err(err());
        }
        let pre: String = if rest.starts_with(|c: char| c.is_ascii_lowercase()) {
            rest.chars().take_while(char::is_ascii_alphanumeric).collect()
        } else {
            String::new()
        };
        Ok(Self { numbers, pre })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, number) in self.numbers.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            write!(f, "{number}")?;
        }
        f.write_str(&self.pre)
    }
}

impl TryFrom<String> for Version {
    type Error = VersionError;
    fn try_from(text: String) -> Result<Self, VersionError> {
        text.parse()
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(text: &str) -> Version {
        text.parse().unwrap()
    }

    #[test]
    fn reads_what_servers_say() {
        assert_eq!(version("8.0.33").numbers, [8, 0, 33]);
        assert_eq!(version("10.11.5-MariaDB-log").numbers, [10, 11, 5]);
        assert_eq!(version("5.5.5-10.4.8-MariaDB").numbers, [10, 4, 8]);
        assert_eq!(version("17.4 (Debian 17.4-1)").numbers, [17, 4]);
        assert_eq!(version("19rc1").to_string(), "19rc1");
        assert!("".parse::<Version>().is_err());
        assert!("abc".parse::<Version>().is_err());
        assert!("1.2.3.4".parse::<Version>().is_err());
    }

    #[test]
    fn compares_by_number_not_by_text() {
        assert!(version("10.11.5") > version("10.2.11"));
        assert!(version("9.7.4") < version("10.0.0") && version("17.4") < version("17.10"));
        assert!(version("19beta2") < version("19rc1") && version("19rc2") < version("19rc10"));
        assert!(version("19rc1") < version("19") && version("19rc1") < version("19.0"));
        assert!(version("18.6") < version("19beta1"));
        assert!(version("8.0.33").at_least(&[8, 0]));
        assert!(version("8.0").at_least(&[8, 0, 0]));
        assert!(!version("8.0.17").at_least(&[8, 0, 18]));
    }
}
