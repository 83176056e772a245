//! Folded stacks: how often each was seen. The text form is one that other tools draw, too.
//!
//! ```text
//! start_thread;handle_connection;do_command;dispatch_command 17
//! ```

use std::collections::BTreeMap;
use std::fmt;

/// What separates frames.
const SEPARATOR: char = ';';

/// Stacks with the number of samples of each, the outermost frame first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stacks {
    counts: BTreeMap<String, u64>,
}

/// A line that is not a folded stack.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line_number} {line:?}: {problem}")]
pub struct FoldError {
    /// The line, counted from 1.
    pub line_number: usize,
    /// The line itself, cut to 200 characters.
    pub line: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl Stacks {
    /// Reads the folded form. Empty lines are skipped; the samples of a repeated stack are added.
    ///
    /// # Errors
    /// Names the line that has no stack or no number of samples.
    pub fn parse(text: &str) -> Result<Self, FoldError> {
        let mut stacks = Self::default();
        for (idx, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let bad = |problem| FoldError {
                line_number: idx + 1,
                line: line.chars().take(200).collect(),
                problem,
            };
            let (stack, n) = line.rsplit_once(' ').ok_or_else(|| bad("no number of samples"))?;
            let n = n.parse().map_err(|_| bad("the number of samples is not a number"))?;
            if stack.trim().is_empty() {
                return Err(bad("no stack"));
            }
            stacks.add(stack.split(SEPARATOR), n);
        }
        Ok(stacks)
    }

    /// Adds `n` samples of a stack, the outermost frame first. Characters that the folded form has for
    /// itself are replaced; an empty stack is `[unknown]`.
    pub fn add<'a>(&mut self, frames: impl IntoIterator<Item = &'a str>, n: u64) {
        if n == 0 {
            return;
        }
        let mut key = String::new();
        for frame in frames {
            if !key.is_empty() {
                key.push(SEPARATOR);
            }
            let clean = |c: char| match c {
                SEPARATOR => ',',
                c if c.is_control() => ' ',
                c => c,
            };
            let frame: String = frame.chars().map(clean).collect();
            let frame = frame.trim();
            key.push_str(if frame.is_empty() { "[unknown]" } else { frame });
        }
        if key.is_empty() {
            key.push_str("[unknown]");
        }
        let count = self.counts.entry(key).or_insert(0);
        *count = count.saturating_add(n);
    }

    /// Every stack with its samples, in the order of their text.
    pub fn iter(&self) -> impl Iterator<Item = (std::str::Split<'_, char>, u64)> {
        self.counts.iter().map(|(stack, n)| (stack.split(SEPARATOR), *n))
    }

    /// The same samples without the frames that `is_out` names, as far as they call something: what they
    /// call is then called by their callers. An innermost frame stays.
    #[must_use]
    pub fn without_inner(&self, is_out: impl Fn(&str) -> bool) -> Self {
        let mut stacks = Self::default();
        for (frames, n) in self.iter() {
            let frames: Vec<&str> = frames.collect();
            let last = frames.len().saturating_sub(1);
            let kept =
                frames.iter().enumerate().filter(|(idx, name)| *idx == last || !is_out(name));
            stacks.add(kept.map(|(_, name)| *name), n);
        }
        stacks
    }

    /// Samples of all stacks.
    #[must_use]
    pub fn n_samples(&self) -> u64 {
        self.counts.values().fold(0, |sum, n| sum.saturating_add(*n))
    }

    /// Whether there is no sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }
}

impl fmt::Display for Stacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.counts.iter().try_for_each(|(stack, n)| writeln!(f, "{stack} {n}"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn frames_may_hold_spaces_and_the_last_number_counts() {
        let text = "main;operator new;f(int, int) 3\n\nmain 4\nmain 1\n";
        let stacks = Stacks::parse(text).unwrap();
        assert_eq!(stacks.n_samples(), 8);
        assert_eq!(stacks.to_string(), "main 5\nmain;operator new;f(int, int) 3\n");
    }

    #[test]
    fn a_line_without_a_number_is_named() {
        for (text, problem) in [
            ("a;b 1\nmain", "no number of samples"),
            ("a;b 1\nmain x", "the number of samples is not a number"),
            ("a;b 1\n 7", "no stack"),
        ] {
            let error = Stacks::parse(text).unwrap_err();
            assert_eq!((error.line_number, error.problem), (2, problem));
        }
    }

    #[test]
    fn inner_frames_can_be_taken_out() {
        let stacks = Stacks::parse("main;new;a 1\nmain;new 2\nmain;a 4\n").unwrap();
        let kept = stacks.without_inner(|name| name == "new");
        assert_eq!(kept.to_string(), "main;a 5\nmain;new 2\n");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in ".{0,200}(\n.{0,40}){0,6}") {
            if let Ok(stacks) = Stacks::parse(&text) {
                prop_assert_eq!(Stacks::parse(&stacks.to_string()).unwrap(), stacks);
            }
        }

        #[test]
        fn what_was_added_is_read_back(frames in prop::collection::vec(".{0,20}", 0..5), n in 1..u64::MAX) {
            let mut stacks = Stacks::default();
            stacks.add(frames.iter().map(String::as_str), n);
            prop_assert_eq!(stacks.n_samples(), n);
            prop_assert_eq!(Stacks::parse(&stacks.to_string()).unwrap(), stacks);
        }
    }
}
