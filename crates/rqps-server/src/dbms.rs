//! The DBMS: everything that differs between them, one folder each.
//!
//! Each folder ends in a [`Driver`], a table of statements and functions. A DBMS that is like another takes that one's
//! table and replaces what differs. To add one: its row in `rqps-model/src/dbms.rs`, its file or folder here, and its
//! line in [`driver`].

pub(crate) mod driver;
pub(crate) mod guest_driver;
mod h2;
mod mariadb;
pub(crate) mod mysql;
mod null;
pub(crate) mod own_guard;
pub(crate) mod postgres;
pub(crate) mod server_files;

use std::path::Path;

use rqps_client::Connection;
use rqps_model::{Dbms, Family, Version};

use crate::Error;
use crate::answer::query;
use crate::destructive::Scope;
use driver::{Driver, OwnServer, VersionWords};

/// The driver of a DBMS.
pub(crate) fn driver(dbms: Dbms) -> &'static Driver {
    match dbms {
        Dbms::Mysql => &mysql::DRIVER,
        Dbms::Mariadb => &mariadb::DRIVER,
        Dbms::Postgres => &postgres::DRIVER,
        Dbms::H2 => &h2::DRIVER,
        Dbms::Null => &null::DRIVER,
    }
}

/// DBMS and version as a server reports them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    /// The DBMS.
    pub dbms: Dbms,
    /// Its version: `10.11.19`; empty if not reported.
    pub version: String,
}

/// Which DBMS a server is by its own words. `named` is what its address says, which decides the protocol.
///
/// # Errors
/// [`Error::Client`].
pub(crate) fn recognise(named: Dbms, connection: &mut dyn Connection) -> Result<Told, Error> {
    let sql = match named.family() {
        Family::Mysql => "select version(), @@version_comment",
        Family::Postgres => "select version()",
        Family::Null => return Ok(Told { dbms: named, version: String::new() }),
    };
    let greeting = connection.session().server_version_text.clone();
    let row = query(connection, sql, sql)?.rows.into_iter().next();
    let mut texts = row.into_iter().flatten().map(Option::unwrap_or_default);
    let mut text = || texts.next().unwrap_or_default();
    Ok(told_by(named, &VersionWords { greeting, version: text(), comment: text() }))
}

/// The version that a server reports on a connection, if any.
///
/// # Errors
/// [`Error::Client`].
pub fn version(dbms: Dbms, connection: &mut dyn Connection) -> Result<Option<Version>, Error> {
    if driver(dbms).tells_version_at_login {
        return Ok(connection.session().server_version.clone());
    }
    Ok(recognise(dbms, connection)?.version.parse().ok())
}

/// The DBMS of a family whose driver knows the words; the one that is named where none does.
fn told_by(named: Dbms, words: &VersionWords) -> Told {
    let family = Dbms::ALL.into_iter().filter(|dbms| dbms.family() == named.family());
    // The one that gave the family its name takes all words that no other one knows.
    let (first, others): (Vec<Dbms>, Vec<Dbms>) =
        family.partition(|dbms| [Dbms::Mysql, Dbms::Postgres].contains(dbms));
    let found = others
        .into_iter()
        .chain(first)
        .find_map(|dbms| (driver(dbms).recognise)(words).map(|version| Told { dbms, version }));
    found.unwrap_or_else(|| Told { dbms: named, version: String::new() })
}

/// The numbers that a text begins with: `10.11.19` of `10.11.19-MariaDB-0+deb12u1`.
fn numbers_of(text: &str) -> String {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text[..end].to_owned()
}

/// How rqps makes and starts a server of its own.
///
/// # Errors
/// [`Error::Unsupported`] for a DBMS that is reached by address alone.
pub(crate) fn own_server(dbms: Dbms) -> Result<&'static OwnServer, Error> {
    driver(dbms).own.as_ref().ok_or_else(|| server_files::not_started(dbms))
}

/// What destructive statements may reach on a server that this run started: its directory.
#[must_use]
pub fn own_scope(dbms: Dbms, dir: &Path) -> Scope<'_> {
    Scope::Own { dir, driver: &driver(dbms).own_guard }
}

/// Default memory of a client connection in the server, bytes.
#[must_use]
pub fn connection_bytes(dbms: Dbms) -> u64 {
    driver(dbms).connection_bytes
}

/// Whether rqps's own servers of this DBMS write a binary log.
#[must_use]
pub fn has_binary_log(dbms: Dbms) -> bool {
    driver(dbms).own_guard.has_binary_logs
}

/// Whether the server has a process per connection.
#[must_use]
pub fn has_process_per_connection(dbms: Dbms) -> bool {
    driver(dbms).has_process_per_connection
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_itself_says_which_dbms_it_is() {
        let told = |named, [greeting, version, comment]: [&str; 3]| {
            let [greeting, version, comment] = [greeting, version, comment].map(str::to_owned);
            let told = told_by(named, &VersionWords { greeting, version, comment });
            format!("{} {}", told.dbms.name(), told.version)
        };
        for (named, words, said) in [
            (
                Dbms::Mysql,
                ["5.5.5-10.11.5-MariaDB", "10.11.5-MariaDB-0+deb12u1", ""],
                "MariaDB 10.11.5",
            ),
            (Dbms::Mariadb, ["8.0.33", "8.0.33", "MySQL Community Server - GPL"], "MySQL 8.0.33"),
            // A user has set the version's text.
            (Dbms::Mysql, ["5.7.1", "5.7.1", "mariadb.org binary distribution"], "MariaDB 5.7.1"),
            (Dbms::Postgres, ["", "PostgreSQL 17.4 on x86_64-pc-linux-gnu", ""], "PostgreSQL 17.4"),
            (
                Dbms::Postgres,
                ["8.2.23", "PostgreSQL 8.2.23 server protocol using H2 2.5.252", ""],
                "H2 2.5.252",
            ),
            (Dbms::H2, ["17.4", "PostgreSQL 17.4 on x86_64-pc-linux-gnu", ""], "PostgreSQL 17.4"),
            (Dbms::Postgres, ["", "something else", ""], "PostgreSQL "),
        ] {
            assert_eq!(told(named, words), said);
        }
    }
}
