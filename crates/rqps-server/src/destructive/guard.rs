//! What a statement that destroys asks before it is sent: where the running server works, and whose schema it
//! is about.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rqps_client::Connection;

use crate::dbms::guest_driver::GuestDriver;
use crate::dbms::own_guard::{Location, OwnGuard};
use crate::guest::{has_marker, is_schema_name};
use crate::{Error, Refusal};

/// Where destructive statements may work.
#[derive(Debug, Clone, Copy)]
pub enum Scope<'a> {
    /// A server that this run started.
    Own {
        /// The run's directory of this server: its data directory and everything beside.
        dir: &'a Path,
        /// What is asked of it.
        driver: &'static OwnGuard,
    },
    /// An external server.
    Guest {
        /// The schema that rqps made there.
        schema: &'a str,
        /// Whether the user lets rqps change settings of the server.
        allow_settings: bool,
        /// What is said to it.
        driver: &'static GuestDriver,
    },
}

impl Scope<'_> {
    /// Whether rqps started the server.
    #[must_use]
    pub fn is_own(self) -> bool {
        matches!(self, Self::Own { .. })
    }

    /// Whether settings of the server may be changed, and restored.
    #[must_use]
    pub fn allows_settings(self) -> bool {
        match self {
            Self::Own { .. } => true,
            Self::Guest { allow_settings, .. } => allow_settings,
        }
    }
}

/// What a statement reaches beside the data directory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// Variables that name a directory.
    directories: &'static [&'static str],
    /// Variables that name a file, or what file names begin with.
    files: &'static [&'static str],
    /// Whether it deletes binary logs.
    is_of_logs: bool,
}

pub(super) const OF_SETTINGS: Reach = Reach { directories: &[], files: &[], is_of_logs: false };

pub(super) const OF_TABLES: Reach = Reach {
    directories: &[
        "innodb_data_home_dir",
        "innodb_log_group_home_dir",
        "innodb_undo_directory",
        "rocksdb_datadir",
        "rocksdb_wal_dir",
    ],
    files: &[],
    is_of_logs: false,
};

pub(super) const OF_BINARY_LOGS: Reach = Reach {
    // MariaDB 12.3 keeps logs that InnoDB writes there.
    directories: &["binlog_directory"],
    files: &["log_bin_basename", "log_bin_index"],
    is_of_logs: true,
};

const DATA_DIR: &str = "datadir";
const DATA_FILES: &str = "innodb_data_file_path";

/// Refuses a statement unless all that it reaches is the run's, by the server's own word.
pub(super) fn require(
    scope: Scope<'_>,
    statement: &str,
    reach: Reach,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    match scope {
        Scope::Own { dir, driver } => match driver.location {
            Location::DataDirectory(sql) => {
                let result = connection.query(sql).map_err(|e| Error::client(sql, e))?;
                let value = result.scalar().unwrap_or_default().as_bytes();
                let at = Within::of(dir, statement)?;
                at.require("data_directory", value, Path::new("/")).map(|_| ())
            }
            Location::MysqlVariables => require_mysql_variables(dir, statement, reach, connection),
            Location::Untold => {
                let why = "the server does not report where it works".to_owned();
                Err(Refusal::PlaceUntold { statement: statement.to_owned(), why }.into())
            }
        },
        Scope::Guest { schema, driver, .. } => {
            if is_schema_name(schema) && has_marker(driver, schema, connection)? {
                return Ok(());
            }
            let (statement, schema) = (statement.to_owned(), schema.to_owned());
            Err(Refusal::SchemaNotOurs { statement, schema }.into())
        }
    }
}

fn require_mysql_variables(
    dir: &Path,
    statement: &str,
    reach: Reach,
    connection: &mut dyn Connection,
) -> Result<(), Error> {
    let variables = variables(statement, reach, connection)?;
    let within = Within::of(dir, statement)?;
    let told = |name: &str| variables.get(name).map_or(&[][..], Vec::as_slice);
    let data_dir = within.require(DATA_DIR, told(DATA_DIR), Path::new("/"))?;
    let is_set = |value: &[u8]| !value.is_empty() && !value.eq_ignore_ascii_case(b"null");
    for name in reach.directories {
        // An empty one means the data directory.
        if is_set(told(name)) {
            within.require(name, told(name), &data_dir)?;
        }
    }
    if !is_set(told("innodb_data_home_dir")) {
        for file in absolute_files(told(DATA_FILES)) {
            within.require_file(DATA_FILES, file, &data_dir)?;
        }
    }
    if !reach.is_of_logs {
        return Ok(());
    }
    let names: Vec<&str> = reach.files.iter().copied().filter(|n| is_set(told(n))).collect();
    for name in &names {
        within.require_file(name, told(name), &data_dir)?;
    }
    if names.len() == reach.files.len() {
        return Ok(());
    }
    // MySQL 5.5 and MariaDB 10.0 tell no directory of the logs.
    within.require_logs_in(&data_dir, connection)
}

/// The variables that tell where a server works, byte by byte; those that a version lacks are absent.
fn variables(
    statement: &str,
    reach: Reach,
    connection: &mut dyn Connection,
) -> Result<BTreeMap<&'static str, Vec<u8>>, Error> {
    let doing = |e| Error::client("ask where the server works", e);
    let names = [DATA_DIR, DATA_FILES].iter().chain(reach.directories).chain(reach.files).copied();
    let names: Vec<&'static str> = names.collect();
    let listed = names.join("', '");
    let sql = format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('{listed}')");
    let result = connection.query(&sql).map_err(doing)?;
    let has = |name: &str| {
        let mut known = result.rows.iter().filter_map(|row| row.first()?.as_deref());
        known.any(|known| known.eq_ignore_ascii_case(name))
    };
    let mut variables = BTreeMap::new();
    for name in names.into_iter().filter(|name| has(name)) {
        // As text a path comes in the connection's character set, which may lack its letters.
        let sql = format!("SELECT HEX(@@GLOBAL.{name})");
        let result = connection.query(&sql).map_err(doing)?;
        let value = bytes_of_hex(result.scalar().unwrap_or_default()).ok_or_else(|| {
            let why = format!("the server reports no value of {name}");
            Error::from(Refusal::PlaceUntold { statement: statement.to_owned(), why })
        })?;
        variables.insert(name, value);
    }
    Ok(variables)
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let digit = |c: u8| u8::try_from(char::from(c).to_digit(16)?).ok();
    let byte = |&[high, low]: &[u8; 2]| Some(digit(high)? << 4 | digit(low)?);
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

/// The files of `innodb_data_file_path` that do not lie in the data directory: `/x/ibdata1:12M:autoextend`.
fn absolute_files(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let files = value.split(|b| *b == b';');
    let names = files.filter_map(|file| file.split(|b| *b == b':').next());
    names.filter(|name| name.starts_with(b"/"))
}

/// The directory of a run, and the statement that asks.
struct Within<'a> {
    statement: &'a str,
    dir: PathBuf,
}

impl<'a> Within<'a> {
    fn of(dir: &Path, statement: &'a str) -> Result<Self, Error> {
        let found = fs::canonicalize(dir);
        let dir = found.map_err(|e| Error::io(format!("find {}", dir.display()), e))?;
        Ok(Self { statement, dir })
    }

    /// The directory that a variable names, links resolved, where it lies in the run's.
    fn require(&self, name: &str, value: &[u8], base: &Path) -> Result<PathBuf, Error> {
        let found = fs::canonicalize(base.join(OsStr::from_bytes(value)))
            .ok()
            .filter(|_| !value.is_empty());
        found.filter(|path| path.starts_with(&self.dir)).ok_or_else(|| self.outside(name, value))
    }

    /// The same of a file, which need not be there.
    fn require_file(&self, name: &str, value: &[u8], base: &Path) -> Result<(), Error> {
        let path = base.join(OsStr::from_bytes(value));
        let parent = path.parent().ok_or_else(|| self.outside(name, value))?;
        let found = fs::canonicalize(parent).ok().filter(|dir| dir.starts_with(&self.dir));
        found.ok_or_else(|| self.outside(name, value))?;
        match fs::canonicalize(&path) {
            Ok(path) if !path.starts_with(&self.dir) => Err(self.outside(name, value)),
            _ => Ok(()),
        }
    }

    /// Finds every binary log that the server lists in the data directory, each with the size that it says.
    fn require_logs_in(
        &self,
        data_dir: &Path,
        connection: &mut dyn Connection,
    ) -> Result<(), Error> {
        let sql = "SHOW BINARY LOGS";
        let result = connection.query(sql).map_err(|e| Error::client(sql, e))?;
        let untold = |why: String| {
            Err(Refusal::PlaceUntold { statement: self.statement.to_owned(), why }.into())
        };
        if result.rows.is_empty() {
            return untold("the server lists no binary logs".to_owned());
        }
        for row in &result.rows {
            let text = |at: usize| row.get(at).and_then(Option::as_deref).unwrap_or_default();
            let (name, bytes) = (text(0), text(1));
            let is_plain = !name.is_empty() && !name.contains('/');
            let meta = fs::symlink_metadata(data_dir.join(name)).ok().filter(|_| is_plain);
            let is_it = meta.is_some_and(|m| m.is_file() && m.len().to_string() == bytes);
            if !is_it {
                let shown = data_dir.display();
                return untold(format!("{shown} has no log {name} of {bytes} bytes"));
            }
        }
        Ok(())
    }

    fn outside(&self, name: &str, value: &[u8]) -> Error {
        Refusal::OutsideOfRun {
            statement: self.statement.to_owned(),
            variable: name.to_owned(),
            value: String::from_utf8_lossy(value).into_owned(),
            dir: self.dir.clone(),
        }
        .into()
    }
}
