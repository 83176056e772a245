//! What a server answers: rows, a count, or an error.

/// Rows as texts, or what was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// A result.
    Rows(Rows),
    /// A statement without rows: its name as PostgreSQL tells it, and how many rows it changed.
    Done(&'static str, u64),
}

/// Columns and rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<Option<String>>>,
}

impl Answer {
    /// Rows of texts without NULL.
    pub(crate) fn rows<T: Into<String>>(columns: &[&str], rows: Vec<Vec<T>>) -> Self {
        let texts = |row: Vec<T>| row.into_iter().map(|cell| Some(cell.into())).collect();
        Self::Rows(Rows {
            columns: columns.iter().map(|name| (*name).to_owned()).collect(),
            rows: rows.into_iter().map(texts).collect(),
        })
    }

    /// One row of one column.
    pub(crate) fn one(column: &str, value: impl Into<String>) -> Self {
        Self::rows(&[column], vec![vec![value.into()]])
    }

    /// No row.
    pub(crate) fn none(columns: &[&str]) -> Self {
        Self::rows::<String>(columns, Vec::new())
    }
}

/// An error, as both families have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// PostgreSQL's code.
    pub(crate) sqlstate: &'static str,
    /// MySQL's number.
    pub(crate) errno: u16,
    /// MySQL's code.
    pub(crate) mysql_state: &'static str,
    pub(crate) text: String,
}

impl Failure {
    /// A statement that this server does not know.
    pub(crate) fn unknown(sql: &str) -> Self {
        let shown: String = sql.chars().take(300).collect();
        let text = format!("the fake server does not know this statement: {shown}");
        Self { sqlstate: "42601", errno: 1064, mysql_state: "42000", text }
    }

    /// A name that is not there.
    pub(crate) fn no_table(name: &str) -> Self {
        let text = format!("relation \"{name}\" does not exist");
        Self { sqlstate: "42P01", errno: 1146, mysql_state: "42S02", text }
    }

    /// What a version does not have.
    pub(crate) fn lacks(what: &str) -> Self {
        let text = format!("the fake server has no {what}");
        Self { sqlstate: "42P01", errno: 1109, mysql_state: "42S02", text }
    }

    /// A table that is there already.
    pub(crate) fn table_exists(name: &str) -> Self {
        let text = format!("relation \"{name}\" already exists");
        Self { sqlstate: "42P07", errno: 1050, mysql_state: "42S01", text }
    }

    /// An id that is there already.
    pub(crate) fn duplicate(id: u64) -> Self {
        let text = format!("Duplicate entry '{id}' for key 'PRIMARY'");
        Self { sqlstate: "23505", errno: 1062, mysql_state: "23000", text }
    }

    /// A prepared statement that is not there.
    pub(crate) fn lost_statement() -> Self {
        let text = "the prepared statement does not exist".to_owned();
        Self { sqlstate: "26000", errno: 1243, mysql_state: "HY000", text }
    }

    /// A disk that is full.
    pub(crate) fn disk_full(table: &str) -> Self {
        let text = format!("The table '{table}' is full: No space left on device");
        Self { sqlstate: "53100", errno: 1114, mysql_state: "HY000", text }
    }

    /// A file that cannot be read or written.
    pub(crate) fn io(table: &str, error: &std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::StorageFull {
            return Self::disk_full(table);
        }
        let text = format!("could not use the file of table {table}: {error}");
        Self { sqlstate: "58030", errno: 1026, mysql_state: "HY000", text }
    }

    /// A value that a statement needs and does not have.
    pub(crate) fn value(what: &str) -> Self {
        let text = format!("the fake server wants {what}");
        Self { sqlstate: "22023", errno: 1210, mysql_state: "HY000", text }
    }
}
