//! The store itself: opening it, its directories, its soundness.

pub mod artifact;
mod calibration;
mod change;
mod foreign;
mod insert;
pub mod live;
pub mod lock;
pub mod outline;
pub mod query_plans;
pub mod recall;
pub mod run_ref;
mod select;
pub mod stack_profile;
pub mod summary;
pub mod table_state;
pub mod tables;
pub mod tags;
pub mod unfinished;
pub mod verdicts;
pub mod verify;
pub(crate) mod warnings;

use std::fs::{self, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::Error;
use crate::patience::Patience;
use crate::schema;

/// How long to wait for another process that writes. A slice takes milliseconds to store; a slow
/// disk under load may take seconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// How often whoever waits for longer than that is asked whether to go on.
const ASK_EVERY: Duration = Duration::from_secs(1);

/// Problems of a store that are told: a store that somebody made up can have millions.
const MOST_PROBLEMS: usize = 20;

/// An open results directory.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    dir: PathBuf,
    path: PathBuf,
    /// Device and inode of the file that was opened; `None` where it could not be looked at.
    file: Option<(u64, u64)>,
    /// Absent where [`BUSY_TIMEOUT`] is all that is waited.
    patience: Option<Patience>,
}

impl Store {
    /// Opens the store of `results_dir`, and creates both if missing.
    ///
    /// # Errors
    /// When it cannot be created, read or written, is not a store or a damaged one, or is of a later rqps.
    pub fn open(results_dir: &Path) -> Result<Self, Error> {
        refuse_file(results_dir)?;
        create_dir(&results_dir.join("artifacts"))?;
        let store = Self::open_file(results_dir)?;
        store.quick_check()?;
        Ok(store)
    }

    /// Opens the existing store of `results_dir`, read-only if this user cannot write it.
    ///
    /// # Errors
    /// [`Error::NoResults`] when it is not; else as [`Store::open`].
    pub fn open_existing(results_dir: &Path) -> Result<Self, Error> {
        refuse_file(results_dir)?;
        if !results_dir.join("rqps.db").exists() {
            return Err(Error::NoResults { dir: results_dir.to_path_buf() });
        }
        match Self::open_file(results_dir) {
            Err(Error::NotWritable { .. }) => Self::open_to_read(results_dir),
            result => result,
        }
    }

    /// Opens a store that nobody writes to, without writing anything beside it.
    fn open_to_read(results_dir: &Path) -> Result<Self, Error> {
        let path = results_dir.join("rqps.db");
        let log = results_dir.join("rqps.db-wal");
        if log.metadata().is_ok_and(|metadata| metadata.len() > 0) {
            // Only a writer can put its content in its place; without it the latest would be missing.
            let problem = format!("the latest results are still in {}", log.display());
            return Err(Error::NotWritable { path, problem });
        }
        let sql = |e| Error::of_sql(&path, "open the store", e);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        // https://www.sqlite.org/uri.html: what has a meaning in an address is written by number.
        let name = path.display().to_string();
        let name = name.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
        let connection = Connection::open_with_flags(format!("file:{name}?immutable=1"), flags);
        let connection = connection.map_err(sql)?;
        schema::must_be_made(&connection, &path)?;
        keep_statements(&connection).map_err(|e| Error::of_sql(&path, "open the store", e))?;
        Ok(Self::of(connection, results_dir, path))
    }

    fn open_file(results_dir: &Path) -> Result<Self, Error> {
        let path = results_dir.join("rqps.db");
        let sql = |e| Error::of_sql(&path, "open the store", e);
        // No URI flag: a path that begins with `file:` is a path.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(sql)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(sql)?;
        schema::make(&connection, &path)?;
        // WAL: readers (reports, a browser) and the writer do not wait for one another. FULL: a
        // commit has reached the disk when it returns (sqlite.org/pragma.html#pragma_synchronous).
        let to_wal = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        connection.query_row("PRAGMA journal_mode = WAL", [], to_wal).map_err(sql)?;
        connection.pragma_update(None, "synchronous", "FULL").map_err(sql)?;
        connection.pragma_update(None, "foreign_keys", true).map_err(sql)?;
        keep_statements(&connection).map_err(|e| Error::of_sql(&path, "open the store", e))?;
        Ok(Self::of(connection, results_dir, path))
    }

    fn of(connection: Connection, results_dir: &Path, path: PathBuf) -> Self {
        let file = fs::metadata(&path).ok().map(|found| identity(&found));
        Self { connection, dir: results_dir.to_path_buf(), path, file, patience: None }
    }

    /// Waits for other writers as long as `goes_on` returns true. `goes_on` gets the time waited, every
    /// second.
    #[must_use]
    pub fn waiting_while(self, goes_on: impl Fn(Duration) -> bool + Send + 'static) -> Self {
        Self { patience: Some(Patience::new(goes_on)), ..self }
    }

    /// The results directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The database's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory for files of a run; created if missing.
    ///
    /// # Errors
    /// When it cannot be created, or the id cannot be the name of a directory.
    pub fn artifact_dir(&self, run_id: &str) -> Result<PathBuf, Error> {
        let dir = self.artifact_path(run_id)?;
        create_dir(&dir)?;
        Ok(dir)
    }

    /// The same without creating it.
    pub(crate) fn artifact_path(&self, run_id: &str) -> Result<PathBuf, Error> {
        check_run_id(run_id)?;
        Ok(self.dir.join("artifacts").join(run_id))
    }

    /// Looks for damage before anything is added: all pages, without comparing indexes with their tables,
    /// some seconds for a gigabyte.
    fn quick_check(&self) -> Result<(), Error> {
        let sql = |e| self.sql_error("check the store", e);
        let first = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        let found = self.connection.query_row("PRAGMA quick_check(1)", [], first).map_err(sql)?;
        if found == "ok" {
            return Ok(());
        }
        Err(Error::NotADatabase { path: self.path.clone(), problem: found })
    }

    /// Reads and checks the whole database.
    ///
    /// # Errors
    /// [`Error::NotADatabase`] with what was found when it is damaged.
    pub fn integrity_check(&self) -> Result<(), Error> {
        let sql = |e| self.sql_error("check the store", e);
        let rows = |pragma: &str, idx: usize| {
            let mut statement = self.connection.prepare(pragma)?;
            let rows = statement.query_map([], |row| row.get::<_, String>(idx))?;
            rows.take(MOST_PROBLEMS + 1).collect::<rusqlite::Result<Vec<_>>>()
        };
        let mut problems = rows("PRAGMA integrity_check", 0).map_err(sql)?;
        problems.retain(|line| line != "ok");
        for table in rows("PRAGMA foreign_key_check", 0).map_err(sql)? {
            problems.push(format!("a row of {table} refers to a missing row"));
        }
        if problems.is_empty() {
            return Ok(());
        }
        if problems.len() > MOST_PROBLEMS {
            problems.truncate(MOST_PROBLEMS);
            problems.push("and more".to_owned());
        }
        Err(Error::NotADatabase { path: self.path.clone(), problem: problems.join("; ") })
    }

    /// Looks whether what is written can be found again: a file that was removed takes everything, and is
    /// gone with the process.
    fn check_place(&self) -> Result<(), Error> {
        let is_there = match fs::metadata(&self.path) {
            Ok(found) => self.file.is_none_or(|opened| opened == identity(&found)),
            Err(error) => !matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        };
        if is_there { Ok(()) } else { Err(Error::Gone { path: self.path.clone() }) }
    }

    /// Begins to write, as soon as no other process does.
    fn begin(&self) -> rusqlite::Result<Transaction<'_>> {
        let begin = || Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate);
        let Some(patience) = &self.patience else { return begin() };
        let since = Instant::now();
        self.connection.busy_timeout(ASK_EVERY)?;
        let begun = loop {
            match begin() {
                Err(error) if is_busy(&error) && patience.goes_on(since.elapsed()) => {}
                begun => break begun,
            }
        };
        // Whatever else is asked of the store waits as it always does.
        self.connection.busy_timeout(BUSY_TIMEOUT)?;
        begun
    }

    /// Runs `work` in a transaction that is on disk when this returns, or leaves no trace.
    pub(crate) fn transact<T>(
        &self,
        action: &str,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, Error> {
        self.check_place()?;
        let run = || {
            let transaction = self.begin()?;
            let done = work(&transaction)?;
            transaction.commit()?;
            Ok(done)
        };
        run().map_err(|e| self.sql_error(action, e))
    }

    pub(crate) fn sql_error(&self, action: &str, source: rusqlite::Error) -> Error {
        Error::of_sql(&self.path, action, source)
    }
}

/// What tells a file from another one of its name.
fn identity(file: &Metadata) -> (u64, u64) {
    (file.dev(), file.ino())
}

fn is_busy(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
}

fn refuse_file(results_dir: &Path) -> Result<(), Error> {
    if results_dir.exists() && !results_dir.is_dir() {
        return Err(Error::NotADirectory { dir: results_dir.to_path_buf() });
    }
    Ok(())
}

fn create_dir(dir: &Path) -> Result<(), Error> {
    fs::create_dir_all(dir).map_err(|source| Error::File {
        action: "create",
        path: dir.to_path_buf(),
        source,
    })
}

/// A run's id is the name of a directory, too.
pub(crate) fn check_run_id(run_id: &str) -> Result<(), Error> {
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let begins = run_id.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric());
    // Commands say `latest` of the newest run.
    if begins && run_id != "latest" && run_id.len() <= 200 && run_id.bytes().all(fits) {
        Ok(())
    } else {
        Err(Error::BadRunId { run_id: run_id.to_owned() })
    }
}

/// Statements that are kept prepared: all of them, as a run is read by some for each slice.
const KEPT_STATEMENTS: usize = 128;

/// Lets a connection keep its statements as they were prepared, whatever values they are given next
/// (sqlite.org/qpsg.html).
fn keep_statements(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(KEPT_STATEMENTS);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

#[cfg(test)]
pub(crate) mod tests;
