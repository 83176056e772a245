//! Query plans: how a server executes a statement, in a form that versions have in common.
//!
//! Costs and estimates of rows are excluded: they differ between versions, and between two loads of
//! the same rows, while the work is the same. [`difference::plan_difference`] compares plans.

pub mod difference;
pub mod kind;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::Dbms;
pub use kind::{PlanCounts, PlanKind};

/// A server's plan of one statement of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryPlan {
    /// The family of the server.
    pub dbms: Dbms,
    /// The statement on its first table, `?` for each parameter; a list of them in short.
    pub sql: String,
    /// How the server was asked.
    pub asked: Asked,
    /// The plan's shape; absent where the statement cannot be explained.
    pub shape: Option<PlanShape>,
    /// Why there is no shape; empty where there is one.
    pub reason: String,
    /// The server's own words.
    pub text: String,
    /// How often the step's sessions ran generic and custom plans; absent where the server does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<PlanCounts>,
}

/// How a server was asked for a plan, which is how the benchmark sends the statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Asked {
    /// Prepared, then executed with parameters.
    Prepared,
    /// As text with the values in it.
    Text,
    /// Not at all.
    Never,
}

/// A query plan without its costs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlanShape {
    /// The tables in the order in which they are read. A table whose partitions are all read alike is
    /// there once.
    pub accesses: Vec<Access>,
    /// How they are joined.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub joins: BTreeSet<Join>,
    /// What is done beside reading.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub extras: BTreeSet<Extra>,
    /// Whether it changes rows: reading is then only how the old row is found.
    #[serde(default)]
    pub is_write: bool,
    /// When the statement is planned (PostgreSQL); absent where the server does not say, for
    /// statements without parameters, and where no session has executed it more than five times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<PlanKind>,
}

/// How a table is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Access {
    /// The table by the server's name.
    pub table: String,
    /// The way to its rows.
    pub path: Path,
    /// The index that is used, several joined by `+`; the primary key's is `PRIMARY` everywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// Whether the index has all columns needed, so rows are not read.
    #[serde(default)]
    pub is_covering: bool,
}

/// The way to a table's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// Nothing is read: the answer is known without reading.
    Nothing,
    /// By one value of an index.
    Lookup,
    /// By one or several ranges or by a list of values of an index.
    Range,
    /// An index from its beginning to its end.
    WholeIndex,
    /// The table from its beginning to its end.
    WholeTable,
}

/// How tables are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Join {
    /// Each row of one table is looked up in the other.
    NestedLoop,
    /// By a hash table of one of them.
    Hash,
    /// Both in the same order.
    Merge,
}

impl Join {
    fn words(self) -> &'static str {
        match self {
            Self::NestedLoop => "nested loop",
            Self::Hash => "hash join",
            Self::Merge => "merge join",
        }
    }
}

/// Other work of a plan than reading tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extra {
    /// Several processes share the work.
    Parallel,
    /// Rows are sorted: MySQL's filesort.
    Sort,
    /// Rows are sorted within groups that are in order already (PostgreSQL since 13).
    IncrementalSort,
    /// An internal temporary table.
    TemporaryTable,
    /// Groups or distinct values by a hash table (PostgreSQL).
    HashAggregate,
    /// Rows are kept to be read again.
    Materialise,
    /// Places of rows are collected first, then read in the order of the table (PostgreSQL).
    Bitmap,
    /// Several indexes of one table are read and merged (MySQL).
    IndexMerge,
    /// An index is used without a condition on its first column.
    SkipScan,
    /// A second index says which rows of the first need not be read (MariaDB since 10.4).
    RowidFilter,
    /// Rows of a range are read in the order of the table (MySQL since 5.6, MariaDB).
    MultiRangeRead,
    /// Conditions are checked in the index before the row is read (MySQL since 5.6, MariaDB).
    IndexCondition,
    /// Rows of the outer table are kept in a buffer.
    JoinBuffer,
}

impl Extra {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::Sort => "sort",
            Self::IncrementalSort => "incremental sort",
            Self::TemporaryTable => "temporary table",
            Self::HashAggregate => "hash aggregate",
            Self::Materialise => "materialise",
            Self::Bitmap => "bitmap",
            Self::IndexMerge => "index merge",
            Self::SkipScan => "skip scan",
            Self::RowidFilter => "rowid filter",
            Self::MultiRangeRead => "multi-range read",
            Self::IndexCondition => "index condition",
            Self::JoinBuffer => "join buffer",
        }
    }

    /// Whether it alone makes two plans different. Index conditions and join buffers do not: they
    /// come with versions and change little.
    #[must_use]
    pub fn matters(self) -> bool {
        !matches!(self, Self::IndexCondition | Self::JoinBuffer)
    }
}

impl Access {
    /// `range on k_1, covering`.
    #[must_use]
    pub fn words(&self) -> String {
        let index = self.index.as_deref().unwrap_or("an index");
        let mut text = match self.path {
            Path::Nothing => "nothing is read".to_owned(),
            Path::Lookup => format!("lookup on {index}"),
            Path::Range => format!("range on {index}"),
            Path::WholeIndex => format!("full scan of index {index}"),
            Path::WholeTable => "full scan".to_owned(),
        };
        if self.is_covering {
            text.push_str(", covering");
        }
        text
    }
}

impl PlanShape {
    /// The shape in words: `range on k_1, covering; sort`. Tables are named where there are several.
    #[must_use]
    pub fn words(&self) -> String {
        let is_single = self.accesses.iter().all(|a| a.table == self.accesses[0].table);
        let mut parts: Vec<String> = self
            .accesses
            .iter()
            .map(|a| if is_single { a.words() } else { format!("{}: {}", a.table, a.words()) })
            .collect();
        if parts.is_empty() {
            parts.push("no table".to_owned());
        }
        parts.extend(self.joins.iter().map(|join| join.words().to_owned()));
        parts.extend(self.extras.iter().map(|extra| extra.words().to_owned()));
        parts.extend(self.kind.map(|kind| kind.words().to_owned()));
        parts.join("; ")
    }
}

impl QueryPlan {
    /// A statement without a plan, and why.
    #[must_use]
    pub fn without(dbms: Dbms, sql: String, reason: impl Into<String>) -> Self {
        Self {
            dbms,
            sql,
            asked: Asked::Never,
            shape: None,
            reason: reason.into(),
            text: String::new(),
            counts: None,
        }
    }

    /// The shape in words, or why there is none.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.shape {
            Some(shape) => shape.words(),
            None => format!("not explained: {}", self.reason),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(table: &str, path: Path, index: Option<&str>) -> Access {
        let index = index.map(str::to_owned);
        Access { table: table.to_owned(), path, index, is_covering: false }
    }

    #[test]
    fn shapes_in_words() {
        let mut shape = PlanShape {
            accesses: vec![access("sbtest1", Path::Range, Some("k_1"))],
            extras: BTreeSet::from([Extra::TemporaryTable, Extra::Sort]),
            ..PlanShape::default()
        };
        shape.accesses[0].is_covering = true;
        assert_eq!(shape.words(), "range on k_1, covering; sort; temporary table");
        shape.accesses.push(access("t2", Path::WholeTable, None));
        shape.joins.insert(Join::Hash);
        shape.kind = Some(PlanKind::Custom);
        assert_eq!(
            shape.words(),
            "sbtest1: range on k_1, covering; t2: full scan; hash join; sort; temporary table; \
             custom plan"
        );
        assert_eq!(PlanShape::default().words(), "no table");
        let none = QueryPlan::without(Dbms::Mysql, "INSERT".to_owned(), "it reads nothing");
        assert_eq!(none.words(), "not explained: it reads nothing");
    }
}
