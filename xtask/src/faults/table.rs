//! The trials that were made, one line each, and the table of them: docs/explanation/reliability.md has the totals.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

use super::fault::Fault;
use super::trial::Mode;

/// A trial that was made.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    fault: String,
    nth: usize,
    mode: String,
    /// When the fault struck, seconds after the beginning of the run.
    after_s: f64,
    /// What was done.
    pub(super) done: String,
    /// How rqps ended; absent where it hung.
    pub(super) code: Option<i32>,
    /// How often the same command was run again.
    pub(super) n_resumed: u32,
    /// Slices that were stored when rqps had ended.
    pub(super) slices_kept: usize,
    /// Slices at the end.
    pub(super) slices_in_all: usize,
    /// What went wrong.
    pub(super) problems: Vec<String>,
}

impl Row {
    pub(super) fn new(fault: Fault, nth: usize, mode: Mode, after: Duration) -> Self {
        Self {
            fault: fault.name().to_owned(),
            nth,
            mode: mode.name().to_owned(),
            after_s: after.as_secs_f64(),
            ..Self::default()
        }
    }

    /// Whether the fault met a run that was under way.
    pub(super) fn is_hit(&self) -> bool {
        self.done != MISSED
    }

    pub(super) fn is_named(&self, fault: Fault) -> bool {
        self.fault == fault.name()
    }

    pub(super) fn is_of(&self, fault: Fault, nth: usize) -> bool {
        self.is_named(fault) && self.nth == nth
    }

    /// What came of it, for the terminal.
    pub(super) fn sentence(&self) -> String {
        let code = self.code.map_or_else(|| "hung".to_owned(), |code| format!("exit code {code}"));
        let outcome = match self.problems.as_slice() {
            [] => "nothing lost, nothing left".to_owned(),
            problems => format!("WRONG: {}", problems.join("\n  ")),
        };
        format!(
            "{} {}: {}; {code}; {} slices kept, {} at the end, resumed {} times: {outcome}",
            self.fault, self.nth, self.done, self.slices_kept, self.slices_in_all, self.n_resumed
        )
    }

    fn line(&self) -> String {
        let words = [
            self.fault.clone(),
            self.nth.to_string(),
            self.mode.clone(),
            format!("{:.2}", self.after_s),
            self.done.clone(),
            self.code.map_or_else(String::new, |code| code.to_string()),
            self.n_resumed.to_string(),
            self.slices_kept.to_string(),
            self.slices_in_all.to_string(),
            self.problems.join(" | "),
        ];
        words.map(|word| word.replace(['\t', '\n'], " ")).join("\t")
    }

    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split('\t').collect();
        let [fault, nth, mode, after_s, done, code, n_resumed, kept, in_all, problems] = words[..]
        else {
            return None;
        };
        Some(Self {
            fault: fault.to_owned(),
            nth: nth.parse().ok()?,
            mode: mode.to_owned(),
            after_s: after_s.parse().ok()?,
            done: done.to_owned(),
            code: code.parse().ok(),
            n_resumed: n_resumed.parse().ok()?,
            slices_kept: kept.parse().ok()?,
            slices_in_all: in_all.parse().ok()?,
            problems: problems.split(" | ").filter(|p| !p.is_empty()).map(str::to_owned).collect(),
        })
    }
}

const FILE: &str = "trials.tsv";

/// What was done by a fault that met nothing.
pub(super) const MISSED: &str = "nothing there to hit";

/// Adds a trial to those that were made. One that went wrong stays among them, so that no second try can hide it:
/// who mended what it found takes its line out by hand.
pub(super) fn add(results: &Path, row: &Row) -> Result<()> {
    let path = results.join(FILE);
    let file = fs::OpenOptions::new().create(true).append(true).open(&path);
    let mut file = file.with_context(|| format!("open {}", path.display()))?;
    writeln!(file, "{}", row.line()).with_context(|| format!("write {}", path.display()))
}

/// The trials that were made.
pub(super) fn read(results: &Path) -> Result<Vec<Row>> {
    let path = results.join(FILE);
    let text = match fs::read_to_string(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        other => other.with_context(|| format!("read {}", path.display()))?,
    };
    let row = |line| Row::parse(line).with_context(|| format!("{}: {line:?}", path.display()));
    text.lines().map(row).collect()
}

/// A line for each fault.
pub(super) fn render(rows: &[Row]) -> String {
    let mut text =
        "| fault | trials | needed the command again | wrong |\n|---|---:|---:|---:|\n".to_owned();
    for fault in Fault::ALL {
        let of: Vec<&Row> = rows.iter().filter(|row| row.is_named(fault)).collect();
        if of.is_empty() {
            continue;
        }
        let count = |is: &dyn Fn(&Row) -> bool| of.iter().filter(|row| is(row)).count();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            fault.words(),
            of.len(),
            count(&|row| row.n_resumed > 0),
            count(&|row| !row.problems.is_empty()),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(dir.path()).unwrap().is_empty());
        let mut row =
            Row::new(Fault::ServerKill, 3, Mode::Interleaved, Duration::from_millis(2500));
        row.done = "SIGKILL to 7".to_owned();
        row.problems = vec!["a\tb\nc".to_owned(), "d".to_owned()];
        add(dir.path(), &row).unwrap();
        row.code = Some(2);
        row.problems.clear();
        (row.nth, row.slices_kept, row.slices_in_all) = (4, 5, 20);
        add(dir.path(), &row).unwrap();
        let [hung, ended] = read(dir.path()).unwrap().try_into().unwrap();
        assert!(hung.is_of(Fault::ServerKill, 3) && hung.code.is_none());
        assert_eq!(hung.problems, ["a b c", "d"]);
        assert_eq!((ended.code, ended.problems.len()), (Some(2), 0));
        assert_eq!(
            render(&[hung, ended]).lines().last(),
            Some("| SIGKILL to a server | 2 | 0 | 1 |")
        );
    }
}
