//! Logs of one client that stand for two.

use std::path::PathBuf;

use crate::Error;
use crate::copies::FileText;

/// What tells a client's log from those of others.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ClientLog {
    pub(super) file: FileText,
    /// `--my_id` of its command line. 0, the default, says nothing.
    my_id: Option<u32>,
    /// `--table_name` of its command line.
    table: Option<String>,
}

impl ClientLog {
    pub(super) fn new(shown: PathBuf, text: &str) -> Self {
        let command = text.lines().find(|line| line.contains("iibench.py")).unwrap_or_default();
        let value = |option: &str| {
            command.split_whitespace().find_map(|word| word.strip_prefix(option)).map(str::to_owned)
        };
        let my_id = value("--my_id=").and_then(|id| id.parse().ok()).filter(|id| *id > 0);
        Self { file: FileText::new(shown, text), my_id, table: value("--table_name=") }
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
        if let Some(other) = before().find(|other| log.file.is_copy_of(&other.file)) {
            let problem = format!(
                "it is the same as {}, byte for byte: {remedy}",
                other.file.shown.display()
            );
            return Err(Error::file(&log.file.shown, problem));
        }
        if let Some((other, id)) =
            before().find(|other| log.is_of_same_client(other)).zip(log.my_id)
        {
            let problem = format!(
                "it is from the same client as {}, --my_id={id}: {remedy}",
                other.file.shown.display()
            );
            return Err(Error::file(&log.file.shown, problem));
        }
    }
    Ok(())
}
