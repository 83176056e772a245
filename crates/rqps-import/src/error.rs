//! Errors of other tools' files, each with what to do.

use std::path::PathBuf;

/// Why files cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or directory cannot be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The directory has none of the expected files.
    #[error("{} has nothing to import: it has {wanted}{}", dir.display(), instead(within))]
    Nothing {
        /// The directory.
        dir: PathBuf,
        /// What is missing, in words: `no qps.abs.*.tsv`.
        wanted: &'static str,
        /// Its directories that have such files.
        within: Vec<String>,
    },
    /// A line is wrong.
    #[error("{}, line {line_no}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line_no: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A file as a whole is wrong, or contradicts another file.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A label names no DBMS.
    #[error("label {label:?} names no DBMS (my5651, ma110401, pg174 do); use --dbms")]
    UnknownDbms {
        /// The label.
        label: String,
    },
    /// The wanted base is not one of the systems.
    #[error("there is no system {label:?}; the systems are {known}")]
    NoSuchBase {
        /// The wanted label.
        label: String,
        /// The known labels.
        known: String,
    },
    /// Several files are of one step on one system.
    #[error(
        "{} are all step {step} on {label}; give one of them, or name each with LABEL:STEP=FILE",
        names(paths)
    )]
    Twice {
        /// The files.
        paths: Vec<PathBuf>,
        /// The system.
        label: String,
        /// The step.
        step: String,
    },
    /// The number of clients is not known.
    #[error(
        "{} does not give the number of clients, and no name around it does (4u, dop4); use --clients N",
        path.display()
    )]
    UnknownClients {
        /// The directory or file.
        path: PathBuf,
    },
    /// None of several files could be imported.
    #[error("nothing in {} can be imported:{}", dir.display(), list(problems))]
    NothingTaken {
        /// The directory.
        dir: PathBuf,
        /// What is wrong with its files.
        problems: Vec<Self>,
    },
    /// The built-in suite cannot be read, which names the steps.
    #[error("cannot name the steps")]
    Suite(#[from] rqps_workload::SuiteError),
}

impl Error {
    /// The error of line `idx` (from 0) of a file.
    pub(crate) fn line(path: &std::path::Path, idx: usize, problem: impl Into<String>) -> Self {
        Self::Line { path: path.to_path_buf(), line_no: idx + 1, problem: problem.into() }
    }

    /// The error with its cause in one sentence, as notes have it.
    #[must_use]
    pub fn sentence(&self) -> String {
        match std::error::Error::source(self) {
            Some(source) => format!("{self}: {source}"),
            None => self.to_string(),
        }
    }

    /// The error of a whole file.
    pub(crate) fn file(path: &std::path::Path, problem: impl Into<String>) -> Self {
        Self::File { path: path.to_path_buf(), problem: problem.into() }
    }
}

/// What is wrong with a text, and in which line (from 0) where one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextProblem {
    pub(crate) line_idx: Option<usize>,
    pub(crate) problem: String,
}

impl TextProblem {
    pub(crate) fn at(line_idx: usize, problem: impl Into<String>) -> Self {
        Self { line_idx: Some(line_idx), problem: problem.into() }
    }

    /// The error of the file that has the text.
    pub(crate) fn in_file(self, path: &std::path::Path) -> Error {
        match self.line_idx {
            Some(idx) => Error::line(path, idx, self.problem),
            None => Error::file(path, self.problem),
        }
    }
}

impl From<&str> for TextProblem {
    fn from(problem: &str) -> Self {
        Self { line_idx: None, problem: problem.to_owned() }
    }
}

impl From<String> for TextProblem {
    fn from(problem: String) -> Self {
        Self { line_idx: None, problem }
    }
}

/// Which directories to import instead.
fn instead(within: &[String]) -> String {
    match within {
        [] => "; name the directory that has them".to_owned(),
        names => format!("; import its folders one by one: {}", names.join(", ")),
    }
}

/// Files in a sentence.
fn names(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    match names.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => names.concat(),
    }
}

/// Problems below one another.
fn list(problems: &[Error]) -> String {
    problems.iter().map(|problem| format!("\n  {}", problem.sentence())).collect()
}
