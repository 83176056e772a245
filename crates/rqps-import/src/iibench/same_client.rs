//! Logs of one client that stand for two.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

use crate::Error;

/// What tells a client's log from those of others.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClientLog {
    /// The file, below the system's label.
    shown: PathBuf,
    length: usize,
    hash: u64,
    /// `--my_id` of its command line. 0, the default, says nothing.
    my_id: Option<u32>,
    /// `--table_name` of its command line.
    table: Option<String>,
}

impl ClientLog {
    pub(super) fn new(shown: PathBuf, text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let command = text.lines().find(|line| line.contains("iibench.py")).unwrap_or_default();
        let value = |option: &str| {
            command.split_whitespace().find_map(|word| word.strip_prefix(option)).map(str::to_owned)
        };
        let my_id = value("--my_id=").and_then(|id| id.parse().ok()).filter(|id| *id > 0);
        let (length, hash) = (text.len(), hasher.finish());
        Self { shown, length, hash, my_id, table: value("--table_name=") }
    }

    fn is_copy_of(&self, other: &Self) -> bool {
        (self.length, self.hash) == (other.length, other.hash)
    }

    /// Whether both are of one client by their command lines. Clients of one id have tables of their own where a
    /// script gives all of them one id.
    fn is_of_same_client(&self, other: &Self) -> bool {
        let tables = self.table.as_ref().zip(other.table.as_ref());
        let has_own_table = tables.is_some_and(|(own, other)| own != other);
        self.my_id.is_some() && self.my_id == other.my_id && !has_own_table
    }
}

/// Whether the logs of a step are of one client each.
///
/// # Errors
/// A log that is a copy of another, or has its `--my_id`.
pub(super) fn check_clients(logs: &[ClientLog]) -> Result<(), Error> {
    for (at, log) in logs.iter().enumerate() {
        let before = || logs[..at].iter();
        let remedy =
            "the rate of all clients is not known: copy its own log, or run the step again";
        if let Some(other) = before().find(|other| log.is_copy_of(other)) {
            let problem =
                format!("it is the same as {}, byte for byte: {remedy}", other.shown.display());
            return Err(Error::file(&log.shown, problem));
        }
        if let Some((other, id)) =
            before().find(|other| log.is_of_same_client(other)).zip(log.my_id)
        {
            let problem = format!(
                "it is of the same client as {}, --my_id={id}: {remedy}",
                other.shown.display()
            );
            return Err(Error::file(&log.shown, problem));
        }
    }
    Ok(())
}

/// Notes on logs that stand for several steps or systems.
pub(super) fn copy_notes(logs: &[ClientLog]) -> Vec<String> {
    let copies = logs.iter().enumerate().filter_map(|(at, log)| {
        let other = logs[..at].iter().find(|other| log.is_copy_of(other))?;
        Some(format!(
            "{} is the same as {}, byte for byte: one of them is a copy, and its figures are those of the other.",
            log.shown.display(),
            other.shown.display()
        ))
    });
    copies.collect()
}
