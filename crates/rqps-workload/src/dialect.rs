//! What differs between DBMS in the SQL of the suites: a table of texts and functions for each.
//!
//! Most DBMS speak the SQL of their family. One with SQL of its own takes its family's table and replaces what differs.

mod h2;
mod mariadb;
mod mysql;
mod postgres;

use rqps_client::Protocol;
use rqps_model::{Compression, Dbms, Engine, Family};
use rqps_vector::Distance;

use crate::vector::Index;

/// The SQL of one DBMS.
pub(crate) struct Dialect {
    /// Makes a table of the sysbench suite, without its secondary index.
    pub(crate) create_table: fn(&SysbenchTable<'_>) -> String,
    /// Where the next id begins when rows 1 to n are there, and the plain index on id where there is no primary key.
    pub(crate) finish_table: fn(&SysbenchTable<'_>, u64) -> Vec<String>,
    /// Makes a table of the Insert Benchmark, without its secondary indexes.
    pub(crate) create_insert_table: fn(&InsertTable<'_>) -> Vec<String>,
    /// Sets the next id of such a table to that after its last; `None` where it is always that.
    pub(crate) reset_sequence: fn(&str) -> Option<String>,
    /// How many of these indexes a table has.
    pub(crate) count_indexes: fn(&str, &[String]) -> String,
    /// Whether several secondary indexes of an engine are made in one pass over the table.
    pub(crate) makes_indexes_at_once: fn(Engine) -> bool,
    /// The hint in a query that makes it use an index.
    pub(crate) force_index: fn(&str) -> String,
    /// Deletes the oldest rows of a table, by a condition with their order and number.
    pub(crate) delete_oldest: fn(&str, &str) -> String,
    /// The parameter of a column of times.
    pub(crate) time_parameter: &'static str,
    /// Begins a transaction that keeps its snapshot.
    pub(crate) begin_snapshot: &'static [&'static str],
    /// How the queries of the original Insert Benchmark travel.
    pub(crate) insert_queries: Protocol,
    /// Whether BEGIN and COMMIT can be prepared.
    pub(crate) prepares_brackets: bool,
    /// Which of a suite's texts of a statement is its own.
    pub(crate) own_text: OwnText,
    /// Vectors, where their indexes can be searched.
    pub(crate) vectors: Option<&'static VectorDialect>,
}

/// The SQL of vectors.
pub(crate) struct VectorDialect {
    /// Makes the table for vectors of so many components.
    pub(crate) create_table: fn(&str, usize) -> Vec<String>,
    /// A distance of column v from `{}`; `None` where there is none.
    pub(crate) distance: fn(Distance) -> Option<&'static str>,
    /// Creates an index of a name on a table; `None` where there is none of the kind.
    pub(crate) create_index: fn(&str, &str, &Index, Distance) -> Option<String>,
    /// What is done before, where the vectors have so many bytes: an index of the name goes, one thread builds, and has
    /// memory for the index.
    pub(crate) before_index: fn(&str, &str, u64) -> Vec<String>,
    /// What a session is set to before it searches an index with an effort, or the whole table.
    pub(crate) session: fn(Option<(&Index, u32)>) -> Vec<String>,
    /// The hint in a query that keeps it from the index of a name.
    pub(crate) without_index: fn(&str) -> String,
}

/// The text of a statement that a suite may hold for a DBMS beside the one for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnText {
    None,
    Mariadb,
    Postgres,
}

/// A table of the sysbench suite.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SysbenchTable<'a> {
    pub(crate) name: &'a str,
    /// From 1.
    pub(crate) number: u32,
    /// The columns behind the id.
    pub(crate) columns: &'a str,
    /// Whether there is a plain index on id in place of the primary key.
    pub(crate) is_secondary: bool,
    pub(crate) engine: Engine,
    pub(crate) compression: Compression,
}

/// A table of the Insert Benchmark.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InsertTable<'a> {
    pub(crate) name: &'a str,
    /// Whether several clients insert into it.
    pub(crate) is_shared: bool,
    /// Upper bounds of its partitions, `None` for what is above all; empty without partitions.
    pub(crate) bounds: &'a [Option<u64>],
    pub(crate) engine: Engine,
    pub(crate) compression: Compression,
}

impl InsertTable<'_> {
    /// The columns behind the id; `time` is the type of those that hold a time.
    fn columns(time: &str) -> String {
        format!(
            "dateandtime {time}, cashregisterid int NOT NULL, customerid int NOT NULL, \
             productid int NOT NULL, price int NOT NULL, data varchar(4000)"
        )
    }
}

/// The dialect of a DBMS.
pub(crate) fn dialect(dbms: Dbms) -> &'static Dialect {
    match (dbms, dbms.family()) {
        (Dbms::Mariadb, _) => &mariadb::DIALECT,
        (Dbms::H2, _) => &h2::DIALECT,
        (_, Family::Postgres) => &postgres::DIALECT,
        (_, Family::Mysql | Family::Null) => &mysql::DIALECT,
    }
}
