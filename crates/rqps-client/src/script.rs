//! What scripts need beyond a workload: statements whose parameters are declared later and that are
//! forgotten again, and the rows of answers.

use crate::{Connection, Error, ParamType, StatementId};

/// A connection for scripts.
pub trait ScriptConnection: Connection {
    /// Makes a statement known whose parameters are declared later, by [`Self::declare`]; without
    /// parameters it can be executed at once. What the server cannot prepare travels as text.
    ///
    /// # Errors
    /// When the server refuses the statement already; PostgreSQL waits for the declaration.
    fn open_statement(&mut self, sql: &str) -> Result<StatementId, Error>;

    /// Declares a statement's parameters, the first time or once more.
    ///
    /// # Errors
    /// When there are more or fewer than it has, or the server refuses it.
    fn declare(&mut self, statement: StatementId, params: &[ParamType]) -> Result<(), Error>;

    /// Forgets a statement, on the server too. Its id may be given to another one.
    ///
    /// # Errors
    /// A lost connection.
    fn forget(&mut self, statement: StatementId) -> Result<(), Error>;

    /// Whether the rows of an answer can be fetched until the next call; not so at first.
    fn keep_answers(&mut self, keep: bool);

    /// Whether the last answer of a statement had a result, be it without rows, rather than a count
    /// of changed rows.
    fn had_result(&self) -> bool;

    /// The columns of the last answer; 0 where it has none, or PostgreSQL told of none because
    /// there is no row.
    ///
    /// # Errors
    /// When the answer was not kept: too long, or followed by another call.
    fn n_columns(&mut self) -> Result<usize, Error>;

    /// Reads the next row of the last answer; false after the last one. Of several results of one
    /// text, those of the first that has any.
    ///
    /// # Errors
    /// As [`Self::n_columns`].
    fn fetch_row(&mut self, row: &mut Row) -> Result<bool, Error>;
}

/// A row, every value as the server's text for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    text: Vec<u8>,
    /// Where each value lies in the text; `None` is NULL.
    values: Vec<Option<(usize, usize)>>,
}

impl Row {
    /// Forgets all values and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.values.clear();
    }

    /// Adds a NULL.
    pub(crate) fn push_null(&mut self) {
        self.values.push(None);
    }

    /// Adds a value.
    pub(crate) fn push(&mut self, text: &[u8]) {
        let start = self.text.len();
        self.text.extend_from_slice(text);
        self.values.push(Some((start, self.text.len())));
    }

    /// The number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether it has no values at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// A value by its column, from 0 on; `None` is NULL, or beyond the last column.
    #[must_use]
    pub fn value(&self, column: usize) -> Option<&[u8]> {
        let (start, end) = (*self.values.get(column)?)?;
        self.text.get(start..end)
    }

    /// The values in order; `None` is NULL.
    pub fn values(&self) -> impl Iterator<Item = Option<&[u8]>> {
        self.values
            .iter()
            .map(|value| value.map(|(start, end)| self.text.get(start..end).unwrap_or(&[])))
    }
}

/// The error of a fetch from an answer that is not there any more.
#[cold]
pub(crate) fn not_kept() -> Error {
    let detail = "its rows were not kept: the answer is longer than 32 MiB, or another call came \
                  between";
    Error::Usage { sql: String::new(), detail: detail.to_owned() }
}
