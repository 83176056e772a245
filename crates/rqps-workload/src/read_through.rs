//! Queries that read tables and indexes through, range by range, which brings them into a server's caches.
//!
//! A scan of a whole table would not do: PostgreSQL reads one that is large beside its buffers through a small ring of
//! them, and InnoDB would not touch the secondary indexes.

use crate::args::SuiteArgs;
use crate::insert::{InsertArgs, Schema};
use crate::statement::table_name;

/// Rows of one query, about.
const ROWS: u64 = 10_000;

/// An index to be read through, with the rows behind it where they are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexRead {
    table: String,
    column: Column,
    n_queries: u64,
}

/// The first column of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Column {
    name: &'static str,
    /// What is asked of a range of it.
    what: &'static str,
}

impl Column {
    /// Of an index that is read with the rows behind it, of which `what` is asked.
    const fn rows(name: &'static str, what: &'static str) -> Self {
        Self { name, what }
    }

    /// Of an index that is read by itself.
    const fn index(name: &'static str) -> Self {
        Self { name, what: "COUNT(*)" }
    }
}

impl IndexRead {
    /// The tables of the sysbench suite and their secondary indexes.
    #[must_use]
    pub fn of_suite(args: &SuiteArgs) -> Vec<Self> {
        let columns = [Column::rows("id", "SUM(LENGTH(pad))"), Column::index("k")];
        let of_table = |number| Self::of_table(&table_name(number), &columns, args.rows);
        (1..=args.tables).flat_map(of_table).collect()
    }

    /// The tables of the Insert Benchmark, with their secondary indexes where they have some.
    #[must_use]
    pub fn of_insert(args: &InsertArgs, are_indexed: bool) -> Vec<Self> {
        let columns = [
            Column::rows("transactionid", "SUM(LENGTH(data))"),
            Column::index("productid"),
            Column::index("cashregisterid"),
            Column::index("price"),
        ];
        let columns = if are_indexed { &columns[..] } else { &columns[..1] };
        let of_table = |number| Self::of_table(&Schema::table(number), columns, args.rows);
        (1..=args.tables()).flat_map(of_table).collect()
    }

    fn of_table(table: &str, columns: &[Column], rows: u64) -> Vec<Self> {
        let n_queries = rows.div_ceil(ROWS).max(1);
        let read = |column: &Column| Self { table: table.to_owned(), column: *column, n_queries };
        columns.iter().map(read).collect()
    }

    /// Asks for the smallest and the largest value.
    #[must_use]
    pub fn bounds_sql(&self) -> String {
        let Self { table, column: Column { name: column, .. }, .. } = self;
        format!("SELECT MIN({column}), MAX({column}) FROM {table}")
    }

    /// The queries that read from the smallest to the largest value.
    pub fn queries(&self, min: f64, max: f64) -> impl Iterator<Item = String> + use<'_> {
        let Self { table, column: Column { name: column, what }, n_queries } = self;
        let bound = move |nth: u64| min + (max - min) * nth as f64 / *n_queries as f64;
        (0..*n_queries).map(move |nth| {
            // Whole numbers, so that an index of any kind of number is used.
            let (from, to) = (bound(nth).floor(), bound(nth + 1).ceil());
            format!("SELECT {what} FROM {table} WHERE {column} BETWEEN {from} AND {to}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;
    use crate::insert::InsertSize;

    #[test]
    fn every_table_and_index_is_read_from_end_to_end() {
        let args = SuiteArgs { tables: 2, rows: 25_000, ..Size::Tiny.args() };
        let reads = IndexRead::of_suite(&args);
        assert_eq!(reads.len(), 4);
        assert_eq!(reads[3].bounds_sql(), "SELECT MIN(k), MAX(k) FROM sbtest2");
        let queries: Vec<String> = reads[0].queries(1.0, 25_000.0).collect();
        assert_eq!(queries.len(), 3);
        assert!(queries[0].contains("sbtest1 WHERE id BETWEEN 1 AND"), "{queries:?}");
        assert!(queries[2].ends_with("AND 25000"), "{queries:?}");
    }

    #[test]
    fn indexes_that_are_not_there_are_not_read() {
        let args = InsertSize::args(Size::Tiny);
        let n_tables = args.tables() as usize;
        assert_eq!(IndexRead::of_insert(&args, false).len(), n_tables);
        assert_eq!(IndexRead::of_insert(&args, true).len(), 4 * n_tables);
    }
}
