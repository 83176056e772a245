//! Steps, suites and systems chosen by name or glob.

use globset::{Glob, GlobMatcher};

/// A name, or a glob as in a shell: `range-*`, `l.i?`, `qr[15]00`.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: String,
    glob: Option<GlobMatcher>,
}

impl Pattern {
    /// A text that is no glob is a name.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let glob = Glob::new(text).ok().map(|glob| glob.compile_matcher());
        Self { text: text.to_owned(), glob }
    }

    /// The pattern as typed.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a name is meant. Every name means itself, whatever stands in it.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.text == name || self.glob.as_ref().is_some_and(|glob| glob.is_match(name))
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    #[test]
    fn patterns_match_as_in_a_shell() {
        let yes = |pattern: &str, text: &str| Pattern::new(pattern).matches(text);
        assert!(yes("range-*", "range-covered-pk"));
        assert!(yes("*si*", "points-covered-si.warm"));
        assert!(yes("*", ""));
        assert!(yes("*", "suite/scan"));
        assert!(yes("r?ad-only", "read-only"));
        assert!(yes("*a*b", "xaxbxb"));
        assert!(yes("l.i[01]", "l.i1"));
        assert!(!yes("range-", "range-covered-pk"));
        assert!(!yes("read-only", "read-only.pre"));
        assert!(!yes("READ-only", "read-only"));
        assert!(!yes("?", ""));
    }

    #[test]
    fn every_name_means_itself() {
        for name in ["a[b", "a[b]", "{a", "{a,b}", "a\\b", "**", "é?"] {
            assert!(Pattern::new(name).matches(name), "{name}");
        }
    }
}
