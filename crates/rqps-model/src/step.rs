//! Steps of a suite, as reports and the store have them: name, kind, group, and what is counted.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of work a step does, which decides how long it runs and whether it is reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepKind {
    /// Creates and fills the tables; a fixed amount of work.
    Load,
    /// Changes no row.
    Read,
    /// Changes rows.
    Write,
    /// Inserts rows and so makes the tables larger.
    Insert,
    /// Warms caches; run, recorded, and excluded from summary tables.
    WarmUp,
    /// Creates indexes; a fixed amount of work.
    Index,
    /// Queries while rows are inserted and deleted at a rate.
    Mixed,
}

/// The groups in which the field reports microbenchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// Point queries and in-lists.
    Point,
    /// Range queries without aggregation, and the scan.
    Range,
    /// Range queries with aggregation.
    RangeAggregate,
    /// Inserts, updates, deletes and mixes of them.
    Write,
    /// Searches for the nearest vectors.
    Vector,
    /// Loading, warming, and all that charts do not compare.
    Other,
}

impl Group {
    /// Every group, in the order of reports.
    pub const ALL: [Self; 6] =
        [Self::Point, Self::Range, Self::RangeAggregate, Self::Write, Self::Vector, Self::Other];

    /// The heading over the group's chart.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Point => "Point queries",
            Self::Range => "Range queries without aggregation",
            Self::RangeAggregate => "Range queries with aggregation",
            Self::Write => "Writes",
            Self::Vector => "Vector searches",
            Self::Other => "Loading and warming",
        }
    }
}

/// What a step's rate counts per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Statements, BEGIN and COMMIT included.
    Queries,
    /// Rows that the server read (the scan).
    RowsRead,
    /// Rows inserted.
    RowsInserted,
    /// Rows of tables whose indexes are being created.
    RowsIndexed,
    /// What an imported file counts, which it does not say.
    AsStated,
}

impl Figure {
    /// One operation in words: `query`, `row`.
    #[must_use]
    pub fn operation(self) -> &'static str {
        match self {
            Self::Queries => "query",
            Self::AsStated => "operation",
            Self::RowsRead | Self::RowsInserted | Self::RowsIndexed => "row",
        }
    }

    /// The unit of the rate.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Queries => "queries/s",
            Self::RowsRead => "rows/s",
            Self::RowsInserted => "inserts/s",
            Self::RowsIndexed => "indexed rows/s",
            Self::AsStated => "as stated",
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.unit())
    }
}

/// The description of a step for reports. `rqps-workload` has how it runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepInfo {
    /// Unique in its suite: `point-query.pre`, `random-points_range=100`.
    pub name: String,
    /// The name without arguments: `random-points`.
    pub family: String,
    /// Range size or in-list length, where the step has one.
    pub n: Option<u32>,
    /// What kind of work it does.
    pub kind: StepKind,
    /// The group it is reported in.
    pub group: Group,
    /// What its rate counts.
    pub figure: Figure,
    /// The statements and arguments in a sentence, for the report's details.
    pub what: String,
}

/// The family of the Insert Benchmark's l.i0, l.i1 and l.i2.
const INSERT_LOADS: &str = "l.i";

/// The first of them, which finds the tables empty.
const INSERT_LOAD: &str = "l.i0";

impl StepInfo {
    /// Whether its blocks (sequential: slices) are parts of equal work that take the time they need: loads, and l.i0,
    /// l.i1 and l.i2 of the Insert Benchmark. All other steps are cut by time.
    #[must_use]
    pub fn has_blocks_of_work(&self) -> bool {
        self.kind == StepKind::Load || self.kind == StepKind::Insert && self.family == INSERT_LOADS
    }

    /// Whether its rate is judged: not that of a warm-up, nor of the indexes of a suite file, which are created once.
    #[must_use]
    pub fn is_compared(&self) -> bool {
        self.kind != StepKind::WarmUp && !self.is_index_of_suite()
    }

    /// Whether it fills or indexes the tables of a suite file: once, whatever the numbers of clients.
    #[must_use]
    pub fn prepares_tables(&self) -> bool {
        self.kind == StepKind::Load || self.is_index_of_suite()
    }

    /// Those of the Insert Benchmark are a step of its own, among the writes.
    fn is_index_of_suite(&self) -> bool {
        self.kind == StepKind::Index && self.group == Group::Other
    }

    /// Whether it fills the tables from empty: a load, and l.i0 of the Insert Benchmark.
    #[must_use]
    pub fn fills_tables(&self) -> bool {
        // The name of a suite stands before that of the step.
        let own = self.name.rsplit('/').next().unwrap_or_default();
        self.kind == StepKind::Load || self.kind == StepKind::Insert && own == INSERT_LOAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_with_a_name_fills_tables_too() {
        let step = |name: &str, kind: StepKind| StepInfo {
            name: name.to_owned(),
            family: INSERT_LOADS.to_owned(),
            n: None,
            kind,
            group: Group::Other,
            figure: Figure::Queries,
            what: String::new(),
        };
        assert!(step("ib/l.i0", StepKind::Insert).fills_tables());
        assert!(step("l.i0", StepKind::Insert).fills_tables());
        assert!(!step("ib/l.i1", StepKind::Insert).fills_tables());
        assert!(step("a/load", StepKind::Load).fills_tables());
    }
}
