//! A server's tree: where its programs, its version and its faults lie, and what outlives a data directory.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Family;
use crate::fault::{Fault, Rule, When};
use crate::place::{VERSION, file_in, shared_of};

/// A server's tree as a test sees it: made with it, and told by it what to do wrong.
#[derive(Debug)]
pub struct Tree {
    family: Family,
    dir: PathBuf,
    shared: PathBuf,
    rules: Vec<Rule>,
}

impl Tree {
    /// Lays a server's tree out in `dir`, which is made. `program` is an executable that calls
    /// [`crate::run`].
    ///
    /// # Errors
    /// When a file cannot be made.
    pub fn lay_out(dir: &Path, program: &Path, family: Family, version: &str) -> io::Result<Self> {
        fs::create_dir_all(dir.join("bin"))?;
        for name in family.programs() {
            put(program, &dir.join("bin").join(name))?;
        }
        if family != Family::Postgres {
            let share = dir.join("share");
            fs::create_dir_all(share.join("english"))?;
            fs::create_dir_all(share.join("charsets"))?;
            fs::write(share.join("english/errmsg.sys"), "none\n")?;
            for name in ["mysql_system_tables.sql", "mysql_system_tables_data.sql"] {
                fs::write(share.join(name), "-- none\n")?;
            }
        }
        let shared = shared_of(dir);
        let _ = fs::remove_dir_all(&shared);
        fs::create_dir(&shared)?;
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o777))?;
        let tree = Self { family, dir: dir.to_owned(), shared, rules: Vec::new() };
        tree.set_version(version)?;
        Ok(tree)
    }

    /// The directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Which server it is.
    #[must_use]
    pub fn family(&self) -> Family {
        self.family
    }

    /// Makes it another version, from its next start on.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn set_version(&self, version: &str) -> io::Result<()> {
        replace(&self.dir.join(VERSION), version)
    }

    /// Has it do something wrong, once.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn fail(&mut self, when: When, fault: Fault) -> io::Result<()> {
        self.add(Rule { when, fault, is_repeated: false })
    }

    /// Has it do something wrong each time.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn fail_each_time(&mut self, when: When, fault: Fault) -> io::Result<()> {
        self.add(Rule { when, fault, is_repeated: true })
    }

    fn add(&mut self, rule: Rule) -> io::Result<()> {
        self.rules.push(rule);
        self.write()
    }

    /// Has it do nothing wrong any more; states that last are over.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn heal(&mut self) -> io::Result<()> {
        self.rules.clear();
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let lines: String = self.rules.iter().map(|rule| format!("{rule}\n")).collect();
        replace(&file_in(&self.dir), &lines)
    }

    /// How often it was started.
    #[must_use]
    pub fn n_starts(&self) -> u64 {
        fs::metadata(self.shared.join("starts")).map_or(0, |meta| meta.len())
    }

    /// How many of its faults have happened, each counted once.
    #[must_use]
    pub fn n_met(&self) -> usize {
        let names = fs::read_dir(&self.shared).into_iter().flatten().flatten();
        names.filter(|entry| entry.file_name().to_string_lossy().starts_with("met-")).count()
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.shared);
    }
}

/// Writes a file in one step: a server may read it at any moment.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_extension("new");
    fs::write(&new, text)?;
    fs::rename(new, path)
}

/// Puts a program in place. By another process where a link does not do: what this one has open to write, and
/// forks with, cannot be run.
fn put(program: &Path, to: &Path) -> io::Result<()> {
    if fs::hard_link(program, to).is_ok() {
        return Ok(());
    }
    let done = Command::new("cp").arg(program).arg(to).status()?;
    if done.success() { Ok(()) } else { Err(io::Error::other("cp failed")) }
}
