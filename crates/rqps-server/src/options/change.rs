//! What became of options that did not go through as written, and the words for it.

use std::fmt::Write as _;

use super::{Setting, Written};

/// An option that does not reach the server as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The option's name, as written.
    pub option: String,
    /// Its value, as written; empty where it has none.
    pub value: String,
    /// Where it is written.
    pub written: Written,
    /// What happened to it.
    pub outcome: Outcome,
}

/// What happened to an option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// rqps sets it itself.
    SetByRqps,
    /// It has another value, which lies below the data directory.
    Moved {
        /// The new value.
        to: String,
    },
    /// It is excluded, and the server uses its data directory.
    InDataDirectory,
    /// It is excluded.
    Dropped {
        /// Why, as the table says.
        why: String,
    },
    /// Some of its libraries are excluded.
    NotLoaded {
        /// Those that are excluded.
        libraries: Vec<String>,
        /// Why, as the table says.
        why: String,
    },
}

impl Change {
    pub(super) fn of(setting: &Setting, outcome: Outcome) -> Self {
        Self {
            option: setting.name.clone(),
            value: setting.value.clone().unwrap_or_default(),
            written: setting.written.clone(),
            outcome,
        }
    }

    /// An option for mysqld_safe, which rqps does not start.
    pub(crate) fn of_mysqld_safe(setting: &Setting) -> Self {
        let is_malloc = setting.name.replace('-', "_").eq_ignore_ascii_case("malloc_lib");
        let instead = if is_malloc { ": malloc of the plan does that" } else { "" };
        let why = format!("rqps starts the server without mysqld_safe{instead}");
        Self::of(setting, Outcome::Dropped { why })
    }

    /// `my.cnf:3`, or `options`.
    fn place(&self) -> String {
        match &self.written {
            Written::File { path, line } => format!("{}:{line}", path.display()),
            Written::Plan => "options".to_owned(),
        }
    }

    /// Where it is written, without the line.
    fn source(&self) -> String {
        match &self.written {
            Written::File { path, .. } => path.display().to_string(),
            Written::Plan => "options".to_owned(),
        }
    }

    fn line(&self) -> Option<usize> {
        match self.written {
            Written::File { line, .. } => Some(line),
            Written::Plan => None,
        }
    }
}

/// The changes as sentences, one for each file and reason.
#[must_use]
pub fn describe_changes(changes: &[Change]) -> Vec<String> {
    let mut sentences: Vec<String> = Vec::new();
    let mut lists: Vec<(String, &str, Vec<String>)> = Vec::new();
    for change in changes {
        let (source, reason) = match &change.outcome {
            Outcome::SetByRqps => (change.source(), ""),
            Outcome::Dropped { why } => (change.source(), why.as_str()),
            Outcome::Moved { to } => {
                let Change { option, value, .. } = change;
                sentences.push(format!(
                    "{}: {option} = {value} became {to} in the data directory",
                    change.place()
                ));
                continue;
            }
            Outcome::InDataDirectory => {
                let Change { option, value, .. } = change;
                sentences.push(format!(
                    "{}: {option} = {value} is left out: the server uses its data directory",
                    change.place()
                ));
                continue;
            }
            Outcome::NotLoaded { libraries, why } => {
                let (option, names) = (&change.option, libraries.join(", "));
                sentences.push(format!("{}: {option} loads no {names}: {why}", change.place()));
                continue;
            }
        };
        let mut name = change.option.clone();
        if let Some(line) = change.line().filter(|_| !reason.is_empty()) {
            let _ = write!(name, " (line {line})");
        }
        match lists.iter_mut().find(|(s, r, _)| *s == source && *r == reason) {
            Some((_, _, names)) => names.push(name),
            None => lists.push((source, reason, vec![name])),
        }
    }
    let lists = lists.into_iter().map(|(source, reason, names)| {
        let names = names.join(", ");
        if reason.is_empty() {
            format!("{source}: rqps sets {names} itself")
        } else {
            format!("{source}: left out {names}: {reason}")
        }
    });
    lists.chain(sentences).collect()
}

/// The changes that decide what a server runs with, in short: `moved into the data directory: log_bin; left out:
/// wsrep_on`. `None` where
/// all options went through, but for those that rqps sets itself.
#[must_use]
pub fn summarise_changes(changes: &[Change]) -> Option<String> {
    let of = |wanted: fn(&Outcome) -> bool| -> Vec<&str> {
        let found = changes.iter().filter(|change| wanted(&change.outcome));
        let mut names: Vec<&str> = found.map(|change| change.option.as_str()).collect();
        names.dedup();
        names
    };
    let moved = of(|o| matches!(o, Outcome::Moved { .. }));
    let excluded = of(|o| matches!(o, Outcome::InDataDirectory | Outcome::Dropped { .. }));
    let libraries = of(|o| matches!(o, Outcome::NotLoaded { .. }));
    let told = [
        ("moved into the data directory:", moved),
        ("left out:", excluded),
        ("only some libraries loaded:", libraries),
    ]
    .into_iter()
    .filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> =
        told.map(|(what, names)| format!("{what} {}", names.join(", "))).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
