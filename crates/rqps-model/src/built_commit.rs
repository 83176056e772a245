//! The commit of a server that was built from source, as the facts of its build have it.

use std::collections::BTreeMap;

/// The fact that names the commit: its full hash.
pub const COMMIT: &str = "commit";

/// The first line of its message.
pub const COMMIT_SUBJECT: &str = "commit_subject";

/// When it was committed: RFC 3339, UTC.
pub const COMMIT_TIME: &str = "commit_time";

/// Commits from that of the base to this one along the first parents of a branch; negative before the base.
pub const COMMITS_AFTER_BASE: &str = "commits_after_base";

/// Present where files were built that differ from the commit.
pub const FILES_DIFFER: &str = "files_differ_from_commit";

/// A commit that a server was built from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltCommit<'a> {
    /// Its full hash.
    pub hash: &'a str,
    /// The first line of its message.
    pub subject: &'a str,
    /// When it was committed: RFC 3339, UTC.
    pub time: &'a str,
    /// Commits of the branch from that of the base to this one, negative before it; `None` of the base, and where both
    /// are of different branches.
    pub after_base: Option<i64>,
    /// Whether the files that were built differ from it.
    pub is_changed: bool,
}

impl<'a> BuiltCommit<'a> {
    /// The commit that the facts of a build name.
    #[must_use]
    pub fn of(facts: &'a BTreeMap<String, String>) -> Option<Self> {
        let fact = |name: &str| facts.get(name).map(String::as_str);
        Some(Self {
            hash: fact(COMMIT)?,
            subject: fact(COMMIT_SUBJECT).unwrap_or_default(),
            time: fact(COMMIT_TIME).unwrap_or_default(),
            after_base: fact(COMMITS_AFTER_BASE).and_then(|n| n.parse().ok()),
            is_changed: fact(FILES_DIFFER).is_some(),
        })
    }

    /// The first twelve digits of its hash.
    #[must_use]
    pub fn short(&self) -> &'a str {
        self.hash.get(..12).unwrap_or(self.hash)
    }

    /// `1a2b3c4d5e6f`, or `1a2b3c4d5e6f, changed` of files that differ from it.
    #[must_use]
    pub fn name(&self) -> String {
        let changed = if self.is_changed { ", changed" } else { "" };
        format!("{}{changed}", self.short())
    }

    /// The day of the commit: `2026-11-29`.
    #[must_use]
    pub fn day(&self) -> &'a str {
        self.time.get(..10).unwrap_or(self.time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_read_from_facts() {
        let mut facts = BTreeMap::new();
        assert_eq!(BuiltCommit::of(&facts), None);
        let hash = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d";
        for (name, value) in [
            (COMMIT, hash),
            (COMMIT_SUBJECT, "Make hash tables smaller"),
            (COMMIT_TIME, "2026-11-29T09:40:36Z"),
            (COMMITS_AFTER_BASE, "-12"),
        ] {
            facts.insert(name.to_owned(), value.to_owned());
        }
        let commit = BuiltCommit::of(&facts).unwrap();
        assert_eq!((commit.short(), commit.day()), ("1a2b3c4d5e6f", "2026-11-29"));
        assert_eq!((commit.after_base, commit.name()), (Some(-12), "1a2b3c4d5e6f".to_owned()));
        facts.insert(FILES_DIFFER.to_owned(), "yes".to_owned());
        assert_eq!(BuiltCommit::of(&facts).unwrap().name(), "1a2b3c4d5e6f, changed");
    }
}
