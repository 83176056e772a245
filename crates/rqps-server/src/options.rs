//! A user's configuration read as data: parsed with its includes, classified by an allow-list, written again.
//!
//! `my_cnf` and `postgresql_conf` parse what the servers would parse. `table` says what becomes of each option.
//! `classify` applies the table and tells what it changed. No line of a user's file reaches a server unread.

mod change;
mod classify;
mod looks;
mod my_cnf;
mod postgresql_conf;
mod table;

use std::path::{Path, PathBuf};

use rqps_model::{Dbms, Version};

pub use change::{Change, Outcome, describe_changes, summarise_changes};
pub(crate) use classify::{Clean, classify};
pub use table::{Treatment, treatment};
pub(crate) use table::{part_of, refused_library};

use crate::Error;
use crate::dbms::server_files::config_format;

/// Configuration files with all their comments take less, bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// How deep files may include one another, the servers' own limit
/// (`max_recursion_level` of MySQL's my_default.cc, `CONF_FILE_MAX_DEPTH` of PostgreSQL's guc-file.l).
const MAX_INCLUDE_DEPTH: usize = 10;

/// How many files one may include in all.
const MAX_FILES: usize = 1000;

/// Where an option is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// In a configuration file.
    File {
        /// The file, which may be an included one.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// In `options` of the plan.
    Plan,
}

/// One option as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The option's name, as written.
    pub name: String,
    /// Its value without quotes; `None` for an option without `=`.
    pub value: Option<String>,
    /// Where it is written.
    pub written: Written,
}

/// What a configuration file sets.
#[derive(Debug, Default)]
pub(crate) struct FileSettings {
    /// Options of the server.
    pub(crate) server: Vec<Setting>,
    /// Options of mysqld_safe.
    pub(crate) mysqld_safe: Vec<Setting>,
}

/// Reads a user's configuration file with all that it includes.
///
/// # Errors
/// [`Error::ConfigFile`] with file and line; [`Error::Unsupported`] for a DBMS that rqps does not start.
pub(crate) fn read(
    dbms: Dbms,
    version: &Version,
    path: &Path,
    text: &str,
) -> Result<FileSettings, Error> {
    if let Some(names) = &config_format(dbms)?.groups {
        return my_cnf::read(path, text, &my_cnf::Groups::new(names, version));
    }
    let server = postgresql_conf::read(path, text)?;
    Ok(FileSettings { server, ..FileSettings::default() })
}

/// A fault of a configuration file at one of its lines.
fn fault(path: &Path, line: usize, detail: impl Into<String>) -> Error {
    Error::ConfigFile { place: format!("{}:{line}", path.display()), detail: detail.into() }
}

/// The text of a configuration file: comments may be in any encoding.
pub(crate) fn read_file(path: &Path) -> std::io::Result<String> {
    let bytes = rqps_sample::given_file::read(path, MAX_FILE_BYTES)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The files that are being read, each included by the one before it.
#[derive(Debug, Default)]
struct OpenFiles {
    stack: Vec<PathBuf>,
    /// Files read so far.
    n_read: usize,
}

impl OpenFiles {
    fn push(&mut self, path: &Path, text: &str) -> Result<(), Error> {
        // The two bytes of UTF-16 are no UTF-8: they were replaced.
        let is_utf16 = text.starts_with("\u{fffd}\u{fffd}") && text.contains('\0');
        if text.starts_with('\u{feff}') || is_utf16 {
            let detail = "the file begins with a byte order mark; save it as UTF-8 without one";
            return Err(fault(path, 1, detail));
        }
        self.stack.push(path.to_owned());
        self.n_read += 1;
        Ok(())
    }

    fn pop(&mut self) {
        self.stack.pop();
    }

    /// The text of a file that a line of another one includes.
    fn read_included(&self, file: &Path, from: &Path, line: usize) -> Result<String, Error> {
        let bad = |detail: String| fault(from, line, detail);
        if self.stack.len() >= MAX_INCLUDE_DEPTH || self.stack.iter().any(|open| open == file) {
            return Err(bad(format!("{} includes itself, or is nested too deep", file.display())));
        }
        if self.n_read >= MAX_FILES {
            return Err(bad(format!("more than {MAX_FILES} files are included")));
        }
        read_file(file).map_err(|e| bad(not_included(&file.display().to_string(), &e)))
    }
}

/// What is said of a file or directory that cannot be included.
fn not_included(what: &str, error: &std::io::Error) -> String {
    format!("{what}: {error}; correct the path, or remove the line")
}

/// The plain files of an included directory whose names a server reads, in the order of their names.
fn included_files(dir: &Path, reads: fn(&str) -> bool) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().to_str().is_some_and(reads) && entry.path().is_file() {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// The directory that relative includes of a file are in.
fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}
