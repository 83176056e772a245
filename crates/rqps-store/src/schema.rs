//! The schema of a store: made in an empty file, and known again in one that is there.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::Error;

/// What SQLite's header says that the file is: `rQPS` in ASCII.
const APPLICATION_ID: i64 = 0x7251_5053;

/// The number of the schema, `user_version` of the file.
pub(crate) const NUMBER: i64 = 17;

/// The statements that make the tables. Comments say what every table and column means.
const COMMENTED: &str = include_str!("../schema.sql");

/// The statements without comments. SQLite stores the text of a table with the comments inside, and
/// [`crate::Store::open_foreign`] compares that text. A changed comment must not change the schema.
fn statements() -> String {
    let code = |line: &'static str| line.split_once("--").map_or(line, |(code, _)| code).trim_end();
    let lines: Vec<&str> = COMMENTED.lines().map(code).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// Makes the tables in an empty file.
///
/// # Errors
/// [`Error::NotOurs`] for a database of something else, [`Error::OtherSchema`] for one of another rqps.
pub(crate) fn make(connection: &Connection, path: &Path) -> Result<(), Error> {
    if is_made(connection, path)? {
        return Ok(());
    }
    let sql = |e| Error::of_sql(path, "make the tables", e);
    // Another process may do the same: who comes second finds it done.
    let transaction =
        Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(sql)?;
    if is_made(&transaction, path)? {
        return Ok(());
    }
    transaction.execute_batch(&statements()).map_err(sql)?;
    transaction.pragma_update(None, "user_version", NUMBER).map_err(sql)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(sql)?;
    transaction.commit().map_err(sql)
}

/// Whether the file has the tables; an empty one has none yet.
fn is_made(connection: &Connection, path: &Path) -> Result<bool, Error> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let sql = |e| Error::of_sql(path, "read the schema", e);
    let application = number("PRAGMA application_id").map_err(sql)?;
    let is_empty = number("SELECT count(*) FROM sqlite_schema").map_err(sql)? == 0;
    if application == 0 && is_empty {
        return Ok(false);
    }
    if application != APPLICATION_ID {
        return Err(Error::NotOurs { path: path.to_path_buf() });
    }
    match number("PRAGMA user_version").map_err(sql)? {
        NUMBER => Ok(true),
        found => Err(Error::OtherSchema { path: path.to_path_buf(), found, known: NUMBER }),
    }
}

/// Refuses what is no store of this schema, an empty file among it.
pub(crate) fn must_be_made(connection: &Connection, path: &Path) -> Result<(), Error> {
    match is_made(connection, path)? {
        true => Ok(()),
        false => Err(Error::NotOurs { path: path.to_path_buf() }),
    }
}

/// An empty store in memory.
pub(crate) fn in_memory() -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    connection.execute_batch(&statements())?;
    Ok(connection)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_comment_is_stored() {
        let sql = "SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%--%'";
        let store = in_memory().unwrap();
        let n: i64 = store.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(n, 0);
    }
}
