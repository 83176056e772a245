//! Errors of sampling, and values that this host lacks.

use std::path::PathBuf;

/// Text of the kernel that differs from its documentation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line_number} {line:?}: {problem}")]
pub struct TextError {
    /// The line, counted from 1; the line after the last when something is absent.
    pub line_number: usize,
    /// The line itself, cut to 200 characters; empty when something is absent.
    pub line: String,
    /// What is wrong with it.
    pub problem: String,
}

impl TextError {
    /// Something wrong with line `line_idx`, counted from 0.
    pub(crate) fn at(line_idx: usize, line: &str, problem: impl Into<String>) -> Self {
        let line = line.chars().take(200).collect();
        Self { line_number: line_idx + 1, line, problem: problem.into() }
    }

    /// A line that should have been there and is not.
    pub(crate) fn absent(text: &str, what: &str) -> Self {
        Self {
            line_number: text.lines().count() + 1,
            line: String::new(),
            problem: format!("{what} is absent"),
        }
    }
}

/// Why a sample could not be taken.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        #[source]
        source: std::io::Error,
    },
    /// A file could not be parsed.
    #[error("cannot parse {}; report it with the kernel's version", path.display())]
    Text {
        /// The file.
        path: PathBuf,
        /// The offending line.
        #[source]
        source: TextError,
    },
    /// The server's process does not exist.
    #[error("no process has id {pid}: the server has ended or was never started")]
    NoProcess {
        /// The id.
        pid: i32,
    },
    /// A system call that cannot fail on Linux failed.
    #[error("{call} failed")]
    System {
        /// The call's name.
        call: &'static str,
        /// What the kernel said.
        #[source]
        source: nix::errno::Errno,
    },
    /// The sampling thread could not be started, or panicked.
    #[error("the sampling thread {what}")]
    Thread {
        /// What happened to it.
        what: String,
    },
}

/// A value that this host or user cannot measure; it is 0 or absent in every sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The value: `storage of the data directory`.
    pub what: &'static str,
    /// Why it is not measured, and what would help.
    pub reason: String,
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} not measured: {}", self.what, self.reason)
    }
}

/// Notes `what` as missing once, however often it is found so.
pub(crate) fn note_missing(
    list: &mut Vec<Missing>,
    what: &'static str,
    reason: impl FnOnce() -> String,
) {
    if !list.iter().any(|m| m.what == what) {
        list.push(Missing { what, reason: reason() });
    }
}
