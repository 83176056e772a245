//! Filling the tables: their SQL, the rows, and how the work is divided into blocks, INSERTs and connections.
//!
//! Row `id` of a table is the same for every DBMS, engine and number of connections: it is drawn from
//! a stream of its own, and its id is written out.

use std::ops::Range;

use rqps_client::{Connection, Outcome};
use rqps_model::{Compression, Dbms, Engine};

use crate::dialect::{SysbenchTable, dialect};
use crate::digits::{C_BYTES, PAD_BYTES, push_c, push_pad};
use crate::distribution::Sampler;
use crate::random::{Rng, mix};
use crate::statement::table_name;
use crate::worker::{EventError, Worker};
use crate::{Distribution, SuiteArgs};

/// An INSERT has at most this many bytes: sysbench's half megabyte. The smallest default of
/// `max_allowed_packet` is 1 MB (MySQL 5.5).
pub const INSERT_BYTES: u64 = 500_000;
/// The longest row in an INSERT: two numbers, two strings, quotes, commas and brackets.
const ROW_BYTES: u64 = 2 * 10 + C_BYTES as u64 + PAD_BYTES as u64 + 16;
/// Fewest rows of an INSERT where a load is cut into several blocks: 0.1 MB, which costs hardly more per row than half
/// a megabyte.
const LEAST_ROWS_OF_INSERT: u64 = 500;
/// Blocks of a load whose tables have rows enough: enough for an interval, few enough for a store.
const N_BLOCKS: u64 = 20;

/// How tables are made and filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadSpec {
    /// The server's family.
    pub dbms: Dbms,
    /// The tables' engine, on the MySQL side.
    pub engine: Engine,
    /// Their compression, as far as the table's own definition decides it.
    pub compression: Compression,
    /// How many tables.
    pub tables: u32,
    /// Rows of each.
    pub rows: u64,
    /// A plain index on id in place of the primary key.
    pub secondary: bool,
    /// Distribution of column k.
    pub distribution: Distribution,
    /// The seed of the rows.
    pub seed: u64,
}

/// Rows of an INSERT.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowsOfInsert {
    /// Fewest, where a load is cut into several blocks.
    pub(crate) least: u64,
    pub(crate) most: u64,
}

/// How the rows of a load are divided into INSERTs and blocks: alike on every DBMS and engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadCut {
    /// Connections that fill a table at once, each a part of its own.
    pub loaders_per_table: u64,
    /// INSERTs of each table, of equally many rows (one more or less). Each connection sends equally many of each block.
    pub inserts_per_table: u64,
    /// Blocks of equally many rows of every table.
    pub n_blocks: u32,
}

impl LoadCut {
    /// The division of `tables` with `rows` each over about `clients` clients: equally many for each
    /// table, and at least one.
    #[must_use]
    pub fn of(tables: u32, rows: u64, clients: u32) -> Self {
        // The longest parts have one row more.
        let most_rows = INSERT_BYTES / ROW_BYTES - 1;
        let of_insert = RowsOfInsert { least: LEAST_ROWS_OF_INSERT, most: most_rows };
        Self::of_rows(tables, rows, clients, of_insert)
    }

    /// The same for INSERTs of other sizes.
    #[must_use]
    pub(crate) fn of_rows(tables: u32, rows: u64, clients: u32, of_insert: RowsOfInsert) -> Self {
        let RowsOfInsert { least, most } = of_insert;
        let loaders_per_table = u64::from(clients / tables.max(1)).clamp(1, rows.max(1));
        let rows_of_loader = (rows / loaders_per_table).max(1);
        let n_blocks = (rows_of_loader / least.max(1)).clamp(1, N_BLOCKS);
        let inserts = n_blocks * rows_of_loader.div_ceil(n_blocks * most.max(1));
        Self {
            loaders_per_table,
            inserts_per_table: inserts * loaders_per_table,
            n_blocks: u32::try_from(n_blocks).unwrap_or(1),
        }
    }
}

/// Some INSERTs of one table, as one connection sends them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablePart {
    /// Table, from 1.
    pub table: u32,
    /// INSERTs of the table, from 0.
    pub inserts: Range<u64>,
}

impl TablePart {
    /// The parts of all tables.
    #[must_use]
    pub fn of_tables(tables: u32, cut: LoadCut) -> Vec<Self> {
        let LoadCut { loaders_per_table: n, inserts_per_table, .. } = cut;
        let begin = move |part: u64| inserts_per_table * part / n.max(1);
        let parts = move |table| {
            (0..n).map(move |part| Self { table, inserts: begin(part)..begin(part + 1) })
        };
        (1..=tables).flat_map(parts).collect()
    }
}

impl LoadSpec {
    /// The tables of a suite run with these arguments.
    #[must_use]
    pub fn new(args: &SuiteArgs, dbms: Dbms, engine: Engine, seed: u64) -> Self {
        Self {
            dbms,
            engine,
            compression: Compression::None,
            tables: args.tables,
            rows: args.rows,
            secondary: args.secondary,
            distribution: args.distribution.unwrap_or_default(),
            seed,
        }
    }

    /// The same with compressed tables.
    #[must_use]
    pub fn compressed(self, compression: Compression) -> Self {
        Self { compression, ..self }
    }

    /// The statement that makes a table, without its secondary index.
    #[must_use]
    pub fn create_table_sql(&self, table: u32) -> String {
        (dialect(self.dbms).create_table)(&self.table(&table_name(table), table))
    }

    fn table<'a>(&self, name: &'a str, number: u32) -> SysbenchTable<'a> {
        SysbenchTable {
            name,
            number,
            columns: "k INTEGER DEFAULT '0' NOT NULL, c CHAR(120) DEFAULT '' NOT NULL, \
                      pad CHAR(60) DEFAULT '' NOT NULL",
            is_secondary: self.secondary,
            engine: self.engine,
            compression: self.compression,
        }
    }

    /// The statements around a connection's rows, when there are any. MyRocks's bulk load writes rows
    /// that come in the order of the primary key into files of the last level, past memtables and
    /// compactions; rows are seen once it is switched off. The field loads MyRocks like this.
    #[must_use]
    pub fn bulk_load_sql(&self) -> Option<(&'static str, &'static str)> {
        let ordered = self.engine == Engine::Rocksdb && !self.secondary;
        ordered
            .then_some(("SET SESSION rocksdb_bulk_load = 1", "SET SESSION rocksdb_bulk_load = 0"))
    }

    /// The statements after a table's rows: indexes, and the next id.
    #[must_use]
    pub fn finish_table_sql(&self, table: u32) -> Vec<String> {
        let name = table_name(table);
        let mut all = (dialect(self.dbms).finish_table)(&self.table(&name, table), self.rows);
        all.push(format!("CREATE INDEX k_{table} ON {name} (k)"));
        all
    }

    /// A sample that identifies the tables beyond their spec: the statements that make the first table,
    /// and its first rows.
    #[must_use]
    pub fn sample(&self) -> Vec<String> {
        let mut all = vec![self.create_table_sql(1)];
        all.extend(self.bulk_load_sql().map(|(before, _)| before.to_owned()));
        all.extend(self.finish_table_sql(1));
        let (seed, sampler) = (self.seed_of_table(1), self.sampler());
        all.extend((1..=3).map(|id| {
            let mut row = Vec::new();
            push_row(id, &sampler, &mut Rng::stream(seed, id), &mut row);
            String::from_utf8_lossy(&row).into_owned()
        }));
        all
    }

    /// What the rows of a table are drawn from.
    fn seed_of_table(&self, table: u32) -> u64 {
        mix(self.seed).wrapping_add(u64::from(table))
    }

    fn sampler(&self) -> Sampler {
        Sampler::new(self.distribution, self.rows)
    }

    /// Divides the load over connections, one part each. Connections that fill one table by MyRocks's bulk load write
    /// the same files, and fail: there each table has one connection.
    #[must_use]
    pub fn split(&self, cut: LoadCut) -> Vec<TablePart> {
        let per_table = if self.bulk_load_sql().is_some() { 1 } else { cut.loaders_per_table };
        TablePart::of_tables(self.tables, LoadCut { loaders_per_table: per_table, ..cut })
    }
}

/// The query that counts a table's rows.
#[must_use]
pub fn count_sql(table: u32) -> String {
    format!("SELECT COUNT(*) FROM {}", table_name(table))
}

/// HOT PATH: a client that fills a part of a table, by bulk load where the engine has one. An event is an INSERT.
#[derive(Debug)]
pub struct Loader {
    part: TablePart,
    /// Rows of the table, and INSERTs that they are divided into.
    rows: u64,
    inserts_per_table: u64,
    /// The INSERT that comes next.
    next: u64,
    sampler: Sampler,
    /// Seed of the table's rows.
    seed: u64,
    head: String,
    bulk_load_sql: Option<(&'static str, &'static str)>,
    text: Vec<u8>,
}

impl Loader {
    /// A client for a part of a load.
    #[must_use]
    pub fn new(spec: &LoadSpec, cut: LoadCut, part: TablePart) -> Self {
        Self {
            rows: spec.rows,
            inserts_per_table: cut.inserts_per_table,
            next: part.inserts.start,
            sampler: spec.sampler(),
            seed: spec.seed_of_table(part.table),
            head: format!("INSERT INTO {} (id,k,c,pad) VALUES ", table_name(part.table)),
            bulk_load_sql: spec.bulk_load_sql(),
            text: Vec::new(),
            part,
        }
    }

    /// The ids of the INSERT that comes next.
    fn ids(&self) -> Range<u64> {
        let upto = |insert: u64| {
            let all = u128::from(self.rows) * u128::from(insert);
            u64::try_from(all / u128::from(self.inserts_per_table)).unwrap_or(self.rows)
        };
        upto(self.next) + 1..upto(self.next + 1) + 1
    }

    fn make_text(&mut self) {
        self.text.clear();
        self.text.extend_from_slice(self.head.as_bytes());
        for (at, id) in self.ids().enumerate() {
            if at > 0 {
                self.text.push(b',');
            }
            push_row(id, &self.sampler, &mut Rng::stream(self.seed, id), &mut self.text);
        }
    }
}

impl<C: Connection> Worker<C> for Loader {
    fn event(
        &mut self,
        connection: &mut C,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        self.make_text();
        if let Some((begin, _)) = self.bulk_load_sql
            && self.next == self.part.inserts.start
        {
            connection.execute_text(begin.as_bytes())?;
        }
        let outcome = connection.execute_text(&self.text)?;
        // The rows are seen when the bulk load has ended.
        if let Some((_, end)) = self.bulk_load_sql
            && self.next + 1 == self.part.inserts.end
        {
            connection.execute_text(end.as_bytes())?;
        }
        answered(outcome);
        self.next += 1;
        Ok(())
    }

    /// Each INSERT is a transaction of its own.
    fn roll_back(&mut self, _connection: &mut C) -> Result<(), EventError> {
        Ok(())
    }

    /// Rows are drawn from the seed of the load alone.
    fn reseed(&mut self, _seed: u64) {}

    fn operations_per_statement(&self) -> u64 {
        let ids = self.ids();
        ids.end - ids.start
    }
}

fn push_row(id: u64, sampler: &Sampler, rng: &mut Rng, out: &mut Vec<u8>) {
    let mut number = itoa::Buffer::new();
    out.push(b'(');
    out.extend_from_slice(number.format(id).as_bytes());
    out.push(b',');
    out.extend_from_slice(number.format(sampler.draw(rng)).as_bytes());
    out.extend_from_slice(b",'");
    push_c(rng, out);
    out.extend_from_slice(b"','");
    push_pad(rng, out);
    out.extend_from_slice(b"')");
}

#[cfg(test)]
mod tests;
