//! What people say of runs: tags and a note. Nothing that was measured changes by them.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, params};

use crate::Error;
use crate::store::Store;

/// The longest tag, characters.
pub const LONGEST_TAG: usize = 64;

/// The most tags of a run.
pub const MOST_TAGS: usize = 50;

/// The longest note, characters.
pub const LONGEST_NOTE: usize = 4000;

/// A tag: a word that people find runs by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag(String);

impl Tag {
    /// The tag as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::str::FromStr for Tag {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let fits = |c: char| !c.is_control() && !c.is_whitespace() && c != ',';
        if !text.is_empty() && text.chars().count() <= LONGEST_TAG && text.chars().all(fits) {
            Ok(Self(text.to_owned()))
        } else {
            Err(Error::BadTag { tag: text.chars().take(2 * LONGEST_TAG).collect() })
        }
    }
}

impl Store {
    /// Adds a tag to a run, unless the run has it.
    ///
    /// # Errors
    /// When there is no such run, it has [`MOST_TAGS`], or the store cannot be written.
    pub fn add_tag(&self, run_id: &str, tag: &Tag) -> Result<(), Error> {
        let tags = self.list_tags(run_id)?;
        if tags.len() >= MOST_TAGS && !tags.iter().any(|known| known == tag.as_str()) {
            return Err(Error::TooManyTags { run_id: run_id.to_owned(), most: MOST_TAGS });
        }
        self.transact(&format!("tag run {run_id}"), |transaction| {
            let sql = "INSERT INTO tag (run_id, tag) VALUES (?, ?) ON CONFLICT DO NOTHING";
            transaction.execute(sql, params![run_id, tag.as_str()])
        })?;
        Ok(())
    }

    /// Removes a tag of a run, if the run has it.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn remove_tag(&self, run_id: &str, tag: &Tag) -> Result<(), Error> {
        self.transact(&format!("remove a tag of run {run_id}"), |transaction| {
            let sql = "DELETE FROM tag WHERE run_id = ? AND tag = ?";
            transaction.execute(sql, params![run_id, tag.as_str()])
        })?;
        Ok(())
    }

    /// The tags of a run in order.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn list_tags(&self, run_id: &str) -> Result<Vec<String>, Error> {
        let read = || {
            let sql = "SELECT tag FROM tag WHERE run_id = ? ORDER BY tag";
            let mut statement = self.connection.prepare_cached(sql)?;
            statement.query_map([run_id], |row| row.get(0))?.collect::<rusqlite::Result<_>>()
        };
        read().map_err(|e| self.sql_error(&format!("read the tags of run {run_id}"), e))
    }

    /// The tags of all runs that have any, by the run's id.
    pub(crate) fn all_tags(&self) -> rusqlite::Result<BTreeMap<String, Vec<String>>> {
        let sql = "SELECT run_id, tag FROM tag ORDER BY run_id, tag";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        while let Some(row) = rows.next()? {
            all.entry(row.get(0)?).or_default().push(row.get(1)?);
        }
        Ok(all)
    }

    /// Sets the note of a run, in place of an earlier note.
    ///
    /// # Errors
    /// When there is no such run, it is longer than [`LONGEST_NOTE`], or the store cannot be written.
    pub fn set_note(&self, run_id: &str, note: &str) -> Result<(), Error> {
        let note = note.trim();
        if note.chars().count() > LONGEST_NOTE {
            return Err(Error::NoteTooLong { longest: LONGEST_NOTE });
        }
        self.transact(&format!("write the note of run {run_id}"), |transaction| {
            if note.is_empty() {
                return transaction.execute("DELETE FROM note WHERE run_id = ?", [run_id]);
            }
            let sql = "INSERT INTO note (run_id, note) VALUES (?, ?)
                       ON CONFLICT (run_id) DO UPDATE SET note = excluded.note";
            transaction.execute(sql, params![run_id, note])
        })?;
        Ok(())
    }

    /// The note of a run.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn select_note(&self, run_id: &str) -> Result<Option<String>, Error> {
        let read = || {
            let sql = "SELECT note FROM note WHERE run_id = ?";
            self.connection.query_row(sql, [run_id], |row| row.get(0)).optional()
        };
        read().map_err(|e| self.sql_error(&format!("read the note of run {run_id}"), e))
    }
}
