//! Runs that go from one store to another: out of a store into a file of their own, and out of a file that
//! somebody else made into a store.

use std::path::Path;

use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior, params};

use crate::schema;
use crate::small::{self, Gather};
use crate::store::Store;
use crate::store::tables::{Described, Key, described};
use crate::{Error, RunRef, unfinished};

/// The longest value that is taken of a store that somebody else made, MB: each is held in memory. Those of rqps
/// have some MB, the counts of windows of a slice of an hour.
const MAX_VALUE_MB: i64 = 64;

/// What makes a copy small: how histograms become one, and the counters of the server that are kept.
type Small<'a> = (Gather<'a>, &'a [&'a str]);

impl Store {
    /// Opens a store that somebody else made. It must be sound, have only the tables, triggers and views of
    /// rqps's schema, and no huge values.
    ///
    /// # Errors
    /// [`Error::NotOurs`] when it has other tables; else as [`Store::open_existing`] and [`Store::integrity_check`].
    pub fn open_foreign(results_dir: &Path) -> Result<Self, Error> {
        let path = results_dir.join("rqps.db");
        let sql = |e| Error::of_sql(&path, "read the store", e);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&path, flags).map_err(sql)?;
        connection.pragma_update(None, "trusted_schema", false).map_err(sql)?;
        schema::must_be_made(&connection, &path)?;
        let wanted = schema::in_memory().map_err(sql)?;
        if objects(&connection).map_err(sql)? != objects(&wanted).map_err(sql)? {
            return Err(Error::NotOurs { path });
        }
        if let Some(table) = table_of_long_values(&connection).map_err(sql)? {
            let problem = format!("its table {table} has a value of more than {MAX_VALUE_MB} MB");
            return Err(Error::NotADatabase { path, problem });
        }
        drop(connection);
        let store = Self::open_existing(results_dir)?;
        store.integrity_check()?;
        Ok(store)
    }

    /// Reads all of a run, as reports, lists and histories do: an unreadable run is refused before it is
    /// copied.
    ///
    /// # Errors
    /// When something of it cannot be read.
    pub fn read_whole(&self, run_id: &str) -> Result<(), Error> {
        let of = RunRef::Id(run_id.to_owned());
        let run = self.select_run(&of)?;
        for step_idx in 0..run.steps.len() {
            self.select_blocks(run_id, step_idx, run.systems.len())?;
        }
        drop(run);
        self.select_outline(&of)?;
        self.select_stack_profiles(&of)?;
        self.list_artifacts(run_id)?;
        self.list_tags(run_id)?;
        self.select_note(run_id)?;
        self.list_runs()?;
        self.list_briefly()?;
        self.list_steps()?;
        self.list_unfinished()?;
        Ok(())
    }

    /// Copies a run with all its rows from a store of the same schema; the caller copies its artifacts. All
    /// of it is stored, or nothing.
    ///
    /// # Errors
    /// [`Error::Exists`] when there is a run of that id, or either store cannot be read or written.
    pub fn take_run(&self, from: &Self, run_id: &str) -> Result<(), Error> {
        self.take(from, run_id, None, false)
    }

    /// As [`Store::take_run`], for a run from an archive. An unfinished one is not resumed here: its servers'
    /// data are on another host.
    ///
    /// # Errors
    /// As [`Store::take_run`].
    pub fn take_in(&self, from: &Self, run_id: &str) -> Result<(), Error> {
        self.take(from, run_id, None, true)
    }

    /// As [`Store::take_run`], without what takes most space and no rate needs: samples, seconds of blocks,
    /// unread columns. Of the server's own counters only `counters` are copied. The first slice of a step on
    /// a system gets the histograms of all its slices, of all starts.
    ///
    /// # Errors
    /// As [`Store::take_run`].
    pub fn take_small_run(
        &self,
        from: &Self,
        run_id: &str,
        gather: Gather<'_>,
        counters: &[&str],
    ) -> Result<(), Error> {
        self.take(from, run_id, Some((gather, counters)), false)
    }

    fn take(
        &self,
        from: &Self,
        run_id: &str,
        small: Option<Small<'_>>,
        is_archived: bool,
    ) -> Result<(), Error> {
        let action = format!("store run {run_id}");
        let sql = |e| self.sql_error(&action, e);
        let path = from.path().display().to_string();
        self.connection.execute("ATTACH DATABASE ? AS other", [path]).map_err(sql)?;
        let taken = self.take_attached(run_id, small, is_archived);
        let detached = self.connection.execute("DETACH DATABASE other", []);
        taken.map_err(sql)?;
        detached.map(|_| ()).map_err(sql)
    }

    fn take_attached(
        &self,
        run_id: &str,
        small: Option<Small<'_>>,
        is_archived: bool,
    ) -> rusqlite::Result<()> {
        let transaction =
            Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        // Rows may come before those that they refer to.
        transaction.pragma_update(None, "defer_foreign_keys", true)?;
        number_slices(&transaction, run_id)?;
        if let Some((gather, counters)) = small {
            small::prepare(&transaction, run_id, gather, counters)?;
        }
        for table in described(&transaction)? {
            if small.is_none() || !small::is_excluded(&table.name) {
                copy(&transaction, &table, run_id, small.is_some())?;
            }
        }
        if small.is_some() {
            small::clean_up(&transaction)?;
        }
        if is_archived {
            unfinished::keep_from_going_on(&transaction, run_id)?;
        }
        transaction.execute_batch("DROP TABLE temp.numbered")?;
        transaction.commit()
    }

    /// Closes a store that nobody else has open, with everything in one file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close_into_one_file(self) -> Result<(), Error> {
        let sql = |e| self.sql_error("close the store", e);
        let mode = |row: &rusqlite::Row<'_>| row.get::<_, String>(0);
        self.connection.query_row("PRAGMA journal_mode = DELETE", [], mode).map_err(sql)?;
        self.connection.execute_batch("VACUUM").map_err(sql)
    }
}

/// Fills `temp.numbered` with the ids that the slices of a run get: those after the last one that is there, in the
/// order of their own, whatever these are.
fn number_slices(transaction: &Transaction<'_>, run_id: &str) -> rusqlite::Result<()> {
    let id = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let last =
        transaction.query_row("SELECT coalesce(max(slice_id), 0) FROM main.slice", [], id)?;
    let of_run = "SELECT count(*) FROM other.slice WHERE run_id = ?";
    let n = transaction.query_row(of_run, [run_id], id)?;
    if last.checked_add(n).is_none() {
        return Err(rusqlite::Error::IntegralValueOutOfRange(0, last));
    }
    transaction.execute_batch(
        "CREATE TEMP TABLE numbered (own_id INTEGER PRIMARY KEY, new_id INTEGER NOT NULL)",
    )?;
    let sql = "INSERT INTO temp.numbered
               SELECT slice_id, ?1 + row_number() OVER (ORDER BY slice_id)
               FROM other.slice WHERE run_id = ?2";
    transaction.execute(sql, params![last, run_id]).map(|_| ())
}

/// Copies the rows of a run; slices get the ids of `temp.numbered`.
fn copy(
    transaction: &Transaction<'_>,
    table: &Described,
    run_id: &str,
    is_small: bool,
) -> rusqlite::Result<()> {
    let Described { name, key, columns } = table;
    let stored = || columns.iter().filter(|(.., is_computed)| !is_computed);
    let names: Vec<&str> = stored().map(|(name, ..)| name.as_str()).collect();
    let is_of_slices = *key == Key::Slice || name == "slice";
    let values: Vec<String> = names
        .iter()
        .map(|column| match *column {
            "slice_id" if is_of_slices => {
                format!("(SELECT new_id FROM temp.numbered WHERE own_id = {name}.slice_id)")
            }
            of if is_small => small::value(name, of),
            of => of.to_owned(),
        })
        .collect();
    let besides = if is_small { small::condition(name) } else { String::new() };
    let sql = format!(
        "INSERT INTO main.{name} ({}) SELECT {} FROM other.{name} WHERE {}{besides}",
        names.join(", "),
        values.join(", "),
        key.condition("other")
    );
    transaction.execute(&sql, params![run_id]).map(|_| ())
}

/// A table of runs that has a value of more than [`MAX_VALUE_MB`]; none is read for it.
fn table_of_long_values(connection: &Connection) -> rusqlite::Result<Option<String>> {
    for Described { name, columns, .. } in described(connection)? {
        let stored = columns.iter().filter(|(.., is_computed)| !is_computed);
        let is_long: Vec<String> =
            stored.map(|(column, ..)| format!("octet_length({column}) > ?1")).collect();
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {name} WHERE {})", is_long.join(" OR "));
        if connection.query_row(&sql, [MAX_VALUE_MB << 20], |row| row.get(0))? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Everything that a database says of its tables, indexes, triggers and views.
fn objects(connection: &Connection) -> rusqlite::Result<Vec<[Option<String>; 4]>> {
    let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
    let mut statement = connection.prepare(sql)?;
    let row = |row: &rusqlite::Row<'_>| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]);
    statement.query_map([], row)?.collect()
}
