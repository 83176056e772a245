//! What can be wrong with files of other tools, each with what to do about it.

use std::path::PathBuf;

use rqps_sample::given_file;

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
    /// The directory has none of the files that are looked for.
    #[error("{} has nothing to import: there is {wanted} in it", dir.display())]
    Nothing {
        /// The directory.
        dir: PathBuf,
        /// What is missing, in words: `no qps.abs.*.tsv`.
        wanted: &'static str,
    },
    /// A line is not what it should be.
    #[error("{}, line {line_no}: {problem}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line_no: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// A file as a whole is not what it should be, or does not fit another.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A label does not say which server it is.
    #[error(
        "label {label:?} does not say which DBMS it is (my5651, ma110401, pg174 do); say it with --dbms"
    )]
    UnknownDbms {
        /// The label.
        label: String,
    },
    /// The base that was asked for is none of the systems.
    #[error("there is no system {label:?}; there are {known}")]
    NoSuchBase {
        /// What was asked for.
        label: String,
        /// The labels that there are.
        known: String,
    },
    /// Two files say something of one step on one system.
    #[error("{} and another file are both step {step} on {label}; say which is which with LABEL:STEP=FILE", path.display())]
    Twice {
        /// The second file.
        path: PathBuf,
        /// The system.
        label: String,
        /// The step.
        step: String,
    },
    /// No file says with how many clients it was measured.
    #[error("no file of {} says how many clients there were; say it with --clients N", path.display())]
    UnknownClients {
        /// The directory or file.
        path: PathBuf,
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

    /// The error of a whole file.
    pub(crate) fn file(path: &std::path::Path, problem: impl Into<String>) -> Self {
        Self::File { path: path.to_path_buf(), problem: problem.into() }
    }
}

/// Most bytes of a file: the log of a day with a line for each millisecond has a tenth of it.
const MOST_BYTES: u64 = 1 << 30;

/// The text of a file, or of a pipe; bytes that are no UTF-8 are replaced, as server logs have some.
pub(crate) fn read_text(path: &std::path::Path) -> Result<String, Error> {
    let bytes = given_file::read(path, MOST_BYTES)
        .map_err(|source| Error::Read { path: path.to_path_buf(), source })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The entries of a directory by name.
pub(crate) fn read_names(dir: &std::path::Path) -> Result<Vec<String>, Error> {
    let error = |source| Error::Read { path: dir.to_path_buf(), source };
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(error)? {
        names.push(entry.map_err(error)?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_end_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("qps.log");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let error = read_text(&path).unwrap_err();
        let source = std::error::Error::source(&error).map(ToString::to_string);
        assert!(source.is_some_and(|text| text.contains("no plain file")), "{error}");
        // Another tool's file that is no UTF-8 is read all the same.
        std::fs::write(dir.path().join("log"), b"a\xffb").unwrap();
        assert_eq!(read_text(&dir.path().join("log")).unwrap(), "a\u{fffd}b");
    }
}
