//! What came of the bugs that were tried, in a file that the next call resumes from.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use super::bug::Bug;
use super::cargo::Outcome;

/// What stands in the place of a test's name where tests did not end.
const HUNG: &str = "(did not end)";

/// One bug that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row {
    name: String,
    /// What was changed. A bug that is another now was not tried.
    file: String,
    from: String,
    to: String,
    /// Whose tests were run: `packages`, or `all` after those.
    tests: String,
    /// The first test that failed; absent where all passed.
    caught_by: Option<String>,
    /// How long the tests took, without what was built before.
    seconds: u64,
}

impl Row {
    pub(super) fn new(bug: &Bug, tests: &str) -> Self {
        Self {
            name: bug.name.clone(),
            file: bug.file.clone(),
            from: bug.from.clone(),
            to: bug.to.clone(),
            tests: tests.to_owned(),
            caught_by: None,
            seconds: 0,
        }
    }

    /// Takes in what the tests said.
    pub(super) fn set(&mut self, outcome: Outcome, took: Duration) {
        self.caught_by = match outcome {
            Outcome::Passed => None,
            Outcome::Failed(test) => Some(test),
            Outcome::Died(last) => Some(format!("({last})")),
            Outcome::Hung => Some(HUNG.to_owned()),
        };
        self.seconds = took.as_secs();
    }

    pub(super) fn is_caught(&self) -> bool {
        self.caught_by.is_some()
    }

    /// What came of it, for the terminal.
    pub(super) fn words(&self) -> String {
        let Self { tests, seconds, .. } = self;
        match &self.caught_by {
            Some(test) => format!("caught by {test} ({tests}, {seconds} s)"),
            None => format!("SLIPPED THROUGH ({tests}, {seconds} s)"),
        }
    }

    fn is_of(&self, bug: &Bug) -> bool {
        let is_same = |own: &String, other: &String| own == other;
        is_same(&self.name, &bug.name)
            && is_same(&self.file, &bug.file)
            && is_same(&self.from, &bug.from)
            && is_same(&self.to, &bug.to)
    }
}

/// The file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Rows {
    #[serde(default)]
    result: Vec<Row>,
}

/// All that were tried.
#[derive(Debug)]
pub(super) struct Results {
    path: PathBuf,
    rows: Vec<Row>,
}

impl Results {
    /// Those of a file, none where it is not there.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            other => other.with_context(|| format!("read {}", path.display()))?,
        };
        let rows: Rows =
            toml::from_str(&text).with_context(|| format!("parse {}", path.display()))?;
        Ok(Self { path: path.to_owned(), rows: rows.result })
    }

    /// What came of a bug as it is now.
    pub(super) fn of(&self, bug: &Bug) -> Option<&Row> {
        self.rows.iter().find(|row| row.is_of(bug))
    }

    /// Keeps a row in the place of an earlier one.
    pub(super) fn put(&mut self, row: Row) -> Result<()> {
        self.rows.retain(|other| other.name != row.name);
        self.rows.push(row);
        let rows = Rows { result: self.rows.clone() };
        let text = toml::to_string(&rows).context("write the results")?;
        if let Some(dir) = self.path.parent() {
            fs::create_dir_all(dir).with_context(|| format!("make {}", dir.display()))?;
        }
        fs::write(&self.path, text).with_context(|| format!("write {}", self.path.display()))
    }

    /// A line for each bug.
    pub(super) fn render(&self, bugs: &[Bug]) -> String {
        let mut text =
            "| bug | area | caught by | tests | s |\n|---|---|---|---|---:|\n".to_owned();
        for bug in bugs {
            let Bug { name, area, .. } = bug;
            let _ = match self.of(bug) {
                Some(row) => {
                    let by = row.caught_by.as_deref().unwrap_or("SLIPPED THROUGH");
                    writeln!(text, "| {name} | {area} | {by} | {} | {} |", row.tests, row.seconds)
                }
                None => writeln!(text, "| {name} | {area} | not tried | | |"),
            };
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bug(name: &str, to: &str) -> Bug {
        Bug {
            name: name.to_owned(),
            area: "wire".to_owned(),
            file: "a.rs".to_owned(),
            from: "a\n\"b\"".to_owned(),
            to: to.to_owned(),
            packages: vec!["rqps".to_owned()],
        }
    }

    #[test]
    fn results_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("planted/results.toml");
        let mut results = Results::read(&path).unwrap();
        let (one, two) = (bug("one", ""), bug("two", "c"));
        let mut row = Row::new(&one, "packages");
        results.put(row.clone()).unwrap();
        row.set(Outcome::Failed("a::b".to_owned()), Duration::from_millis(2500));
        results.put(row).unwrap();
        let mut row = Row::new(&two, "all");
        row.set(Outcome::Passed, Duration::from_secs(7));
        results.put(row).unwrap();
        let read = Results::read(&path).unwrap();
        assert_eq!(read.rows, results.rows);
        assert!(read.of(&one).unwrap().is_caught() && !read.of(&two).unwrap().is_caught());
        let three = bug("two", "d");
        assert!(read.of(&three).is_none(), "another change is another bug");
        assert_eq!(
            read.render(&[one, two, three]).lines().skip(2).collect::<Vec<_>>(),
            [
                "| one | wire | a::b | packages | 2 |",
                "| two | wire | SLIPPED THROUGH | all | 7 |",
                "| two | wire | not tried | | |",
            ]
        );
    }
}
