//! The statements of the sysbench tables, read into what they do.

use crate::token::{Token, tokens};

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Column {
    Id,
    K,
    C,
    Pad,
}

impl Column {
    pub(crate) const ALL: [Self; 4] = [Self::Id, Self::K, Self::C, Self::Pad];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::K => "k",
            Self::C => "c",
            Self::Pad => "pad",
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.name().eq_ignore_ascii_case(word))
    }
}

/// A value in a statement, or of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Int(i64),
    Text(String),
    Null,
    /// A parameter, from 0.
    Param(usize),
}

/// Which rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Filter {
    All,
    /// A condition that no row meets.
    Never,
    In(Column, Vec<Value>),
    Between(Column, Value, Value),
}

/// What is wanted of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wanted {
    Columns(Vec<Column>),
    /// Different values of c.
    Distinct,
    /// The sum of k.
    Sum,
    /// The number of rows.
    Count,
    /// The smallest and the largest value.
    Bounds(Column),
    /// The sum of the lengths of pad.
    Length,
}

/// What an UPDATE does to a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    /// One more in k.
    NextK,
    /// Another c.
    NewC(Value),
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Statement {
    Select { table: String, wanted: Wanted, filter: Filter },
    Update { table: String, change: Change, filter: Filter },
    Delete { table: String, filter: Filter },
    Insert { table: String, columns: Vec<Column>, rows: Vec<Vec<Value>> },
    CreateTable { table: String },
    DropTable { table: String },
    CreateIndex { table: String },
    Begin,
    Commit,
    Rollback,
}

impl Statement {
    /// Reads a statement; `None` for one that is no business of the tables.
    pub(crate) fn parse(sql: &str) -> Option<Self> {
        let all = tokens(sql.trim_end().trim_end_matches(';'))?;
        let mut parser = Parser { rest: &all };
        let statement = parser.statement()?;
        parser.rest.is_empty().then_some(statement)
    }

    /// The columns of its result; empty for one without rows.
    pub(crate) fn columns(&self) -> Vec<&'static str> {
        let Self::Select { wanted, .. } = self else { return Vec::new() };
        match wanted {
            Wanted::Columns(columns) => columns.iter().map(|column| column.name()).collect(),
            Wanted::Distinct => vec!["c"],
            Wanted::Sum => vec!["sum"],
            Wanted::Count => vec!["count"],
            Wanted::Bounds(_) => vec!["min", "max"],
            Wanted::Length => vec!["sum"],
        }
    }

    /// How many parameters it has.
    pub(crate) fn n_params(sql: &str) -> usize {
        let params = tokens(sql).unwrap_or_default().into_iter().filter_map(|token| match token {
            Token::Param(n) => Some(n + 1),
            _ => None,
        });
        params.max().unwrap_or(0)
    }
}

struct Parser<'t, 's> {
    rest: &'t [Token<'s>],
}

impl<'s> Parser<'_, 's> {
    fn next(&mut self) -> Option<Token<'s>> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn word(&mut self) -> Option<&'s str> {
        match self.next()? {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Takes these words if they come next.
    fn takes(&mut self, words: &str) -> bool {
        let mut rest = self.rest;
        for wanted in words.split(' ') {
            match rest.split_first() {
                Some((Token::Word(word), after)) if word.eq_ignore_ascii_case(wanted) => {
                    rest = after;
                }
                Some((Token::Sign(sign), after)) if wanted.as_bytes() == [*sign] => rest = after,
                _ => return false,
            }
        }
        self.rest = rest;
        true
    }

    fn wants(&mut self, words: &str) -> Option<()> {
        self.takes(words).then_some(())
    }

    /// A table's name, without its schema.
    fn table(&mut self) -> Option<String> {
        let mut name = self.word()?;
        while self.takes(".") {
            name = self.word()?;
        }
        Some(name.to_ascii_lowercase())
    }

    fn value(&mut self) -> Option<Value> {
        Some(match self.next()? {
            Token::Number(n) => Value::Int(n),
            Token::Text(text) if text.contains('\'') => Value::Text(text.replace("''", "'")),
            Token::Text(text) => Value::Text(text.to_owned()),
            Token::Param(n) => Value::Param(n),
            Token::Word(word) if word.eq_ignore_ascii_case("null") => Value::Null,
            _ => return None,
        })
    }

    fn values(&mut self) -> Option<Vec<Value>> {
        self.wants("(")?;
        let mut all = vec![self.value()?];
        while self.takes(",") {
            all.push(self.value()?);
        }
        self.wants(")")?;
        Some(all)
    }

    fn columns(&mut self) -> Option<Vec<Column>> {
        let mut all = vec![Column::of(self.word()?)?];
        while self.takes(",") {
            all.push(Column::of(self.word()?)?);
        }
        Some(all)
    }

    fn statement(&mut self) -> Option<Statement> {
        let verb = self.word()?.to_ascii_lowercase();
        match verb.as_str() {
            "select" => self.select(),
            "update" => {
                let table = self.table()?;
                self.wants("set")?;
                let change = self.change()?;
                Some(Statement::Update { table, change, filter: self.filter()? })
            }
            "delete" => {
                self.wants("from")?;
                let table = self.table()?;
                Some(Statement::Delete { table, filter: self.filter()? })
            }
            "insert" => self.insert(),
            "create" if self.takes("table") => {
                let table = self.table()?;
                self.rest_of_line("id").then_some(Statement::CreateTable { table })
            }
            "create" if self.takes("index") => {
                self.word()?;
                self.wants("on")?;
                let table = self.table()?;
                self.rest = &[];
                Some(Statement::CreateIndex { table })
            }
            "drop" => {
                self.wants("table if exists")?;
                Some(Statement::DropTable { table: self.table()? })
            }
            "begin" => Some(Statement::Begin),
            "start" => self.wants("transaction").map(|()| Statement::Begin),
            "commit" => Some(Statement::Commit),
            "rollback" => Some(Statement::Rollback),
            _ => None,
        }
    }

    /// Takes all that is left, where it is a bracket that begins with a word.
    fn rest_of_line(&mut self, first: &str) -> bool {
        let is_so = self.takes(&format!("( {first}"));
        self.rest = &[];
        is_so
    }

    fn select(&mut self) -> Option<Statement> {
        let wanted = if self.takes("sum ( k )") {
            Wanted::Sum
        } else if self.takes("count ( c )") || self.takes("count ( * )") {
            Wanted::Count
        } else if self.takes("min ( id ) , max ( id )") {
            Wanted::Bounds(Column::Id)
        } else if self.takes("min ( k ) , max ( k )") {
            Wanted::Bounds(Column::K)
        } else if self.takes("sum ( length ( pad ) )") {
            Wanted::Length
        } else if self.takes("distinct c") {
            Wanted::Distinct
        } else if self.takes("*") {
            Wanted::Columns(Column::ALL.to_vec())
        } else {
            Wanted::Columns(self.columns()?)
        };
        self.wants("from")?;
        // Views of PostgreSQL's are no tables of anybody's.
        let table = self.table().filter(|table| !table.starts_with("pg_"))?;
        let filter = self.filter()?;
        let _ = self.takes("order by c");
        Some(Statement::Select { table, wanted, filter })
    }

    fn change(&mut self) -> Option<Change> {
        if self.takes("k = k +") {
            return (self.value()? == Value::Int(1)).then_some(Change::NextK);
        }
        self.wants("c =")?;
        Some(Change::NewC(self.value()?))
    }

    fn filter(&mut self) -> Option<Filter> {
        if !self.takes("where") {
            return Some(Filter::All);
        }
        if self.takes("length ( c ) <") {
            self.value()?;
            return Some(Filter::Never);
        }
        let column = Column::of(self.word()?)?;
        if self.takes("=") {
            return Some(Filter::In(column, vec![self.value()?]));
        }
        if self.takes("in") {
            return Some(Filter::In(column, self.values()?));
        }
        self.wants("between")?;
        let first = self.value()?;
        self.wants("and")?;
        Some(Filter::Between(column, first, self.value()?))
    }

    fn insert(&mut self) -> Option<Statement> {
        self.wants("into")?;
        let table = self.table()?;
        self.wants("(")?;
        let columns = self.columns()?;
        self.wants(") values")?;
        let mut rows = vec![self.values()?];
        while self.takes(",") {
            rows.push(self.values()?);
        }
        let is_even = rows.iter().all(|row| row.len() == columns.len());
        is_even.then_some(Statement::Insert { table, columns, rows })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_the_suite_are_known() {
        for sql in [
            "SELECT c FROM sbtest1 WHERE id=?",
            "SELECT c FROM sbtest1 WHERE id BETWEEN $1 AND $2 ORDER BY c",
            "SELECT DISTINCT c FROM sbtest1 WHERE id BETWEEN 1 AND 2 ORDER BY c",
            "SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN ? AND ?",
            "SELECT k, c FROM sbtest1 WHERE k IN (?, ?,?)",
            "SELECT * FROM sbtest1 WHERE LENGTH(c) < 0",
            "SELECT COUNT(*) FROM sbtest1",
            "SELECT MIN(k), MAX(k) FROM sbtest1",
            "SELECT SUM(LENGTH(pad)) FROM sbtest1 WHERE id BETWEEN 1 AND 10000",
            "UPDATE sbtest1 SET k=k+1 WHERE id=?",
            "UPDATE sbtest1 SET c='x' WHERE id IN (1,2)",
            "DELETE FROM sbtest1 WHERE id=?",
            "INSERT INTO sbtest1 (id,k,c,pad) VALUES (1,2,'c','p'),(2,2,'c','p')",
            "CREATE TABLE sbtest1 (id SERIAL, k INTEGER DEFAULT '0' NOT NULL)",
            "DROP TABLE IF EXISTS sbtest1",
            "CREATE INDEX k_1 ON sbtest1 (k)",
            "BEGIN",
            "COMMIT;",
        ] {
            assert!(Statement::parse(sql).is_some(), "{sql}");
        }
    }

    #[test]
    fn others_are_not_taken_for_them() {
        for sql in ["SELECT c FROM t WHERE id=? FOR UPDATE", "SELECT version()", "UPDATE t SET k=9"]
        {
            assert_eq!(Statement::parse(sql), None, "{sql}");
        }
    }

    #[test]
    fn parameters_are_counted() {
        assert_eq!(Statement::n_params("INSERT INTO t (k,c) VALUES (?,?)"), 2);
        assert_eq!(Statement::n_params("SELECT $2, $1, $2"), 2);
    }
}
