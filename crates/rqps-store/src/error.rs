//! What can go wrong with the results store, each with what to do about it.

use std::path::{Path, PathBuf};

use rusqlite::{ErrorCode, ffi};

/// An error of the results store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no store where one was expected.
    #[error("no results in {}; measure something with `rqps run`, or name another directory with --results", dir.display())]
    NoResults {
        /// The results directory.
        dir: PathBuf,
    },
    /// A file or directory could not be made, read or removed.
    #[error("cannot {action} {}", path.display())]
    File {
        /// What was to be done: `create`, `lock`, `remove`.
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The results directory is no directory.
    #[error("{} is a file, not a directory; name another directory with --results", dir.display())]
    NotADirectory {
        /// What was given as the results directory.
        dir: PathBuf,
    },
    /// The file is not an SQLite database, or is damaged.
    #[error("{} is damaged or not an SQLite database: {problem}; move it away, or name another directory with --results", path.display())]
    NotADatabase {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The file is the database of another program.
    #[error("{} is a database of another program; name another directory with --results", path.display())]
    NotOurs {
        /// The file.
        path: PathBuf,
    },
    /// The store was written by another rqps.
    #[error("{} has schema {found}, but this rqps reads schema {known} only; use the rqps that wrote it", path.display())]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// The store's schema.
        found: i64,
        /// The schema that is known here.
        known: i64,
    },
    /// The store cannot be written, or not even read.
    #[error("cannot write {} ({problem}); make it and its directory writable for this user, or name another directory with --results", path.display())]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        problem: String,
    },
    /// The file was removed, moved or replaced.
    #[error("{} was removed, moved or replaced, so nothing more can be stored; put it back and run the same command again to resume", path.display())]
    Gone {
        /// Where it was.
        path: PathBuf,
    },
    /// No space is left.
    #[error("the disk that holds {} is full; stored results are safe: free some space and run the same command again to resume", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// Another process holds the database for too long.
    #[error("{} is locked by another process; try again when it has ended", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Another process holds the run.
    #[error("run {run_id} is in use by process {pid}; wait for it to end, or stop it")]
    RunInUse {
        /// The run.
        run_id: String,
        /// The process; `?` when it has not said yet.
        pid: String,
    },
    /// No run has that id.
    #[error("no run matches {reference:?}; {}", list("known runs:", near))]
    UnknownRun {
        /// What was asked for.
        reference: String,
        /// Ids that are near, or the latest.
        near: Vec<String>,
    },
    /// Several runs have ids that begin so.
    #[error("{reference:?} matches several runs; {}", list("name one of", matches))]
    AmbiguousRun {
        /// What was asked for.
        reference: String,
        /// The runs that match.
        matches: Vec<String>,
    },
    /// A run's id cannot be the name of a directory.
    #[error(
        "{run_id:?} cannot be the id of a run: use letters, digits, `-`, `_` and `.`, and begin with a letter or digit"
    )]
    BadRunId {
        /// The id.
        run_id: String,
    },
    /// The tag has characters or a length that tags cannot have.
    #[error("{tag:?} cannot be a tag: use 1 to 64 characters without spaces and commas")]
    BadTag {
        /// What was given.
        tag: String,
    },
    /// A run has as many tags as it may.
    #[error("run {run_id} has {most} tags already; remove one first")]
    TooManyTags {
        /// The run.
        run_id: String,
        /// The most that it may have.
        most: usize,
    },
    /// The note is too long.
    #[error("a note has at most {longest} characters; put longer texts into a file")]
    NoteTooLong {
        /// The most characters.
        longest: usize,
    },
    /// The row is stored already.
    #[error("cannot {action}: it is stored already, and stored results never change")]
    Exists {
        /// What was to be done.
        action: String,
    },
    /// Another failure of SQLite, or content that cannot be read.
    #[error("cannot {action} in {}", path.display())]
    Sql {
        /// What was to be done.
        action: String,
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
}

fn list(lead: &str, ids: &[String]) -> String {
    if ids.is_empty() {
        "the store is empty".to_owned()
    } else {
        format!("{lead} {}", ids.join(", "))
    }
}

impl Error {
    /// What an error of SQLite means, while `action` was done to the database `path`.
    pub(crate) fn of_sql(path: &Path, action: &str, source: rusqlite::Error) -> Self {
        let path = path.to_path_buf();
        let rusqlite::Error::SqliteFailure(failure, message) = &source else {
            return Self::Sql { action: action.to_owned(), path, source };
        };
        let problem = message.clone().unwrap_or_else(|| failure.to_string());
        match failure.code {
            ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => {
                Self::NotADatabase { path, problem }
            }
            ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
                Self::NotWritable { path, problem }
            }
            ErrorCode::DiskFull => Self::DiskFull { path },
            // No room for the file that readers and the writer share.
            _ if failure.extended_code == ffi::SQLITE_IOERR_SHMSIZE => Self::DiskFull { path },
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Busy { path },
            ErrorCode::ConstraintViolation if is_duplicate(failure.extended_code) => {
                Self::Exists { action: action.to_owned() }
            }
            _ => Self::Sql { action: action.to_owned(), path, source },
        }
    }
}

fn is_duplicate(extended_code: i32) -> bool {
    use rusqlite::ffi::{SQLITE_CONSTRAINT_PRIMARYKEY, SQLITE_CONSTRAINT_UNIQUE};
    matches!(extended_code, SQLITE_CONSTRAINT_PRIMARYKEY | SQLITE_CONSTRAINT_UNIQUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_names_the_file_and_the_remedy() {
        let text = |code: i32| {
            let source = rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
            Error::of_sql(Path::new("/r/rqps.db"), "store slice 1", source).to_string()
        };
        expect_test::expect![[r#"
            the disk that holds /r/rqps.db is full; stored results are safe: free some space and run the same command again to resume
            the disk that holds /r/rqps.db is full; stored results are safe: free some space and run the same command again to resume
            cannot write /r/rqps.db (Error code 8: attempt to write a readonly database); make it and its directory writable for this user, or name another directory with --results
            /r/rqps.db is damaged or not an SQLite database: Error code 26: file is not a database; move it away, or name another directory with --results
            /r/rqps.db is locked by another process; try again when it has ended
            cannot store slice 1: it is stored already, and stored results never change
            cannot store slice 1 in /r/rqps.db"#]]
        .assert_eq(
            &[
                ffi::SQLITE_FULL,
                ffi::SQLITE_IOERR_SHMSIZE,
                ffi::SQLITE_READONLY,
                ffi::SQLITE_NOTADB,
                ffi::SQLITE_BUSY,
                ffi::SQLITE_CONSTRAINT_UNIQUE,
                ffi::SQLITE_CONSTRAINT_FOREIGNKEY,
            ]
            .map(text)
            .join("\n"),
        );
    }
}
