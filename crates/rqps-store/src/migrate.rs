//! Brings a database to the newest schema, one numbered migration after the other, with a copy of what it
//! was beside it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use crate::Error;
use crate::values::Json;

/// What SQLite's header says that the file is: `rQPS` in ASCII.
const APPLICATION_ID: i64 = 0x7251_5053;

/// Migration i brings schema i to schema i + 1. They are never changed once released.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/0001.sql"),
    include_str!("../migrations/0002.sql"),
    include_str!("../migrations/0003.sql"),
    include_str!("../migrations/0004.sql"),
    include_str!("../migrations/0005.sql"),
    include_str!("../migrations/0006.sql"),
    include_str!("../migrations/0007.sql"),
    include_str!("../migrations/0008.sql"),
    include_str!("../migrations/0009.sql"),
    include_str!("../migrations/0010.sql"),
    include_str!("../migrations/0011.sql"),
    include_str!("../migrations/0012.sql"),
    include_str!("../migrations/0013.sql"),
    include_str!("../migrations/0014.sql"),
];

/// The schema since which commands are lists of words.
const WORDS_OF_COMMANDS: i64 = 14;

/// Brings the database to the newest schema.
pub(crate) fn migrate(connection: &Connection, path: &Path) -> Result<(), Error> {
    let sql = |e| Error::of_sql(path, "read the schema", e);
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let found = read_schema(connection, path).map_err(sql)??;
    if found > known {
        return Err(Error::Newer { path: path.to_path_buf(), found, known });
    }
    if found == known {
        return Ok(());
    }
    let sql = |e| Error::of_sql(path, "bring the schema up to date", e);
    // Another process may do the same: who comes second finds it done.
    let transaction =
        Transaction::new_unchecked(connection, TransactionBehavior::Immediate).map_err(sql)?;
    let found = read_schema(&transaction, path).map_err(sql)??;
    if found == known {
        return Ok(());
    }
    if found > 0 {
        // Nobody else writes now, and nothing has been changed yet.
        back_up(&transaction, path, found)?;
    }
    for (migration, number) in MIGRATIONS.iter().zip(1_i64..) {
        if number > found {
            transaction.execute_batch(migration).map_err(sql)?;
            if number == WORDS_OF_COMMANDS {
                take_commands_apart(&transaction).map_err(sql)?;
            }
            transaction.pragma_update(None, "user_version", number).map_err(sql)?;
        }
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(sql)?;
    transaction.commit().map_err(sql)
}

/// Makes lists of words of the commands of all runs. What no shell would take is one word.
fn take_commands_apart(connection: &Connection) -> rusqlite::Result<()> {
    let mut runs = connection.prepare("SELECT run_id, command_line FROM run")?;
    let runs = runs.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for (id, text) in runs.collect::<rusqlite::Result<Vec<(String, String)>>>()? {
        let words = shlex::split(&text).unwrap_or_else(|| vec![text]);
        let sql = "UPDATE run SET command_line = ? WHERE run_id = ?";
        connection.execute(sql, (Json(words), id))?;
    }
    Ok(())
}

/// Where the copy of a database of schema `found` goes: `rqps.db.schema-9`.
fn backup_path(path: &Path, found: i64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".schema-{found}"));
    PathBuf::from(name)
}

/// Copies a database as it is, so that an earlier rqps can still be used should the newer one not do. A
/// copy that is there already is of an attempt that was broken off, and is replaced.
fn back_up(connection: &Connection, path: &Path, found: i64) -> Result<(), Error> {
    // One in memory has no file.
    if connection.path().is_none_or(str::is_empty) {
        return Ok(());
    }
    let sql = |e| Error::of_sql(path, "copy the store before its schema is changed", e);
    let to = backup_path(path, found);
    let half = to.with_extension(format!("schema-{found}.half"));
    let file = |action, path: &Path, source| Error::File { action, path: path.to_owned(), source };
    match fs::remove_file(&half) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            return Err(file("remove", &half, e));
        }
        _ => {}
    }
    // On a connection of its own: this one has a transaction open, in which VACUUM is not allowed.
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let reader = Connection::open_with_flags(path, flags).map_err(sql)?;
    let name = half
        .to_str()
        .ok_or_else(|| file("copy to", &half, std::io::Error::other("the path is not UTF-8")))?;
    let copied = reader.execute("VACUUM INTO ?", [name]).map_err(sql);
    let copied = copied.and_then(|_| {
        File::open(&half).and_then(|f| f.sync_all()).map_err(|e| file("write", &half, e))?;
        fs::rename(&half, &to).map_err(|e| file("write", &to, e))
    });
    if copied.is_err() {
        let _ = fs::remove_file(&half);
    }
    copied
}

/// The schema of a database that is one of ours and not of a later rqps.
pub(crate) fn read_known(connection: &Connection, path: &Path) -> Result<usize, Error> {
    let sql = |e| Error::of_sql(path, "read the schema", e);
    let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
    let found = read_schema(connection, path).map_err(sql)??;
    match usize::try_from(found) {
        Ok(number) if (1..=MIGRATIONS.len()).contains(&number) => Ok(number),
        _ if found > known => Err(Error::Newer { path: path.to_path_buf(), found, known }),
        _ => Err(Error::NotOurs { path: path.to_path_buf() }),
    }
}

/// An empty database as migration `number` leaves it.
pub(crate) fn in_memory(number: usize) -> rusqlite::Result<Connection> {
    let connection = Connection::open_in_memory()?;
    for migration in &MIGRATIONS[..number.min(MIGRATIONS.len())] {
        connection.execute_batch(migration)?;
    }
    Ok(connection)
}

/// The schema's number, 0 for an empty file; an error for a database of something else.
fn read_schema(connection: &Connection, path: &Path) -> rusqlite::Result<Result<i64, Error>> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
    let application = number("PRAGMA application_id")?;
    let is_empty = number("SELECT count(*) FROM sqlite_schema")? == 0;
    if application == APPLICATION_ID || (application == 0 && is_empty) {
        number("PRAGMA user_version").map(Ok)
    } else {
        Ok(Err(Error::NotOurs { path: path.to_path_buf() }))
    }
}

#[cfg(test)]
mod tests;
