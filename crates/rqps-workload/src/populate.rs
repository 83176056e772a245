//! Filling the tables: their SQL, the rows, and how the work is split over connections.
//!
//! Row `id` of a table is the same for every DBMS, engine and number of connections: it is drawn from
//! a stream of its own, and its id is written out.

use std::ops::RangeInclusive;

use rqps_client::{Connection, Error, ErrorClass};
use rqps_model::{Compression, Dbms, Engine};

use crate::dialect::{SysbenchTable, dialect};
use crate::digits::{C_BYTES, PAD_BYTES, push_c, push_pad};
use crate::distribution::Sampler;
use crate::random::{Rng, mix};
use crate::statement::table_name;
use crate::{Distribution, SuiteArgs};

/// An INSERT is closed when it has grown to this many bytes: sysbench's half megabyte. The smallest
/// default of `max_allowed_packet` is 1 MB (MySQL 5.5).
pub const INSERT_BYTES: usize = 500_000;
/// The longest row in an INSERT: two numbers, two strings, quotes, commas and brackets.
const ROW_BYTES: usize = 2 * 10 + C_BYTES + PAD_BYTES + 16;
/// How often an INSERT is sent that meets a deadlock or a lock wait.
const N_TRIES: u32 = 10;

/// What tables are made of.
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
    /// What the rows are drawn from.
    pub seed: u64,
}

/// Some rows of one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablePart {
    /// Table, from 1.
    pub table: u32,
    /// Its rows.
    pub ids: RangeInclusive<u64>,
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

    /// What is run on a table when its rows are there: indexes, and where the next id is to begin.
    #[must_use]
    pub fn finish_table_sql(&self, table: u32) -> Vec<String> {
        let name = table_name(table);
        let mut all = (dialect(self.dbms).finish_table)(&self.table(&name, table), self.rows);
        all.push(format!("CREATE INDEX k_{table} ON {name} (k)"));
        all
    }

    /// Splits the load over at most `n_loaders` connections, each with its parts in order.
    ///
    /// Whole tables while there are at least as many tables as connections; else each table is cut
    /// into ranges of ids. Not for MyRocks's bulk load: connections that fill one table write the same
    /// files, and fail. No connection has an empty part, and none has nothing to do.
    #[must_use]
    pub fn split(&self, n_loaders: u32) -> Vec<Vec<TablePart>> {
        let tables = u64::from(self.tables);
        let most = if self.bulk_load_sql().is_some() { tables } else { u64::MAX };
        let n_loaders = u64::from(n_loaders).clamp(1, most.max(1));
        let mut loaders: Vec<Vec<TablePart>> = Vec::new();
        if n_loaders <= tables {
            loaders.resize(usize::try_from(n_loaders).unwrap_or(1), Vec::new());
            for (table, loader) in (1..=self.tables).zip((0..loaders.len()).cycle()) {
                loaders[loader].push(TablePart { table, ids: 1..=self.rows });
            }
            return loaders;
        }
        for table in 1..=self.tables {
            let idx = u64::from(table) - 1;
            let more = u64::from(idx < n_loaders % tables);
            let n_parts = (n_loaders / tables + more).clamp(1, self.rows.max(1));
            for part in 0..n_parts {
                let first = self.rows * part / n_parts + 1;
                let last = self.rows * (part + 1) / n_parts;
                loaders.push(vec![TablePart { table, ids: first..=last }]);
            }
        }
        loaders
    }
}

/// The query that counts a table's rows.
#[must_use]
pub fn count_sql(table: u32) -> String {
    format!("SELECT COUNT(*) FROM {}", table_name(table))
}

/// Inserts the rows of a part, by bulk load where the engine has one. Calls `on_rows` with the number
/// of rows of each answered INSERT; ends early when it returns false.
///
/// # Errors
/// The server's, or a lost connection. What can be retried is, ten times.
pub fn populate_table_part(
    connection: &mut dyn Connection,
    spec: &LoadSpec,
    part: &TablePart,
    on_rows: &mut dyn FnMut(u64) -> bool,
) -> Result<(), Error> {
    let Some((begin, end)) = spec.bulk_load_sql() else {
        return populate_rows(connection, spec, part, on_rows);
    };
    connection.execute_text(begin.as_bytes())?;
    populate_rows(connection, spec, part, on_rows)?;
    connection.execute_text(end.as_bytes()).map(|_| ())
}

/// The rows, without what goes around them.
fn populate_rows(
    connection: &mut dyn Connection,
    spec: &LoadSpec,
    part: &TablePart,
    on_rows: &mut dyn FnMut(u64) -> bool,
) -> Result<(), Error> {
    let sampler = Sampler::new(spec.distribution, spec.rows);
    let seed = mix(spec.seed).wrapping_add(u64::from(part.table));
    let head = format!("INSERT INTO {} (id,k,c,pad) VALUES ", table_name(part.table));
    let mut sql: Vec<u8> = Vec::with_capacity(INSERT_BYTES);
    let mut n_rows = 0_u64;
    for id in part.ids.clone() {
        sql.extend_from_slice(if n_rows == 0 { head.as_bytes() } else { b"," });
        push_row(id, &sampler, &mut Rng::stream(seed, id), &mut sql);
        n_rows += 1;
        if sql.len() + ROW_BYTES > INSERT_BYTES {
            insert(connection, &sql)?;
            if !on_rows(n_rows) {
                return Ok(());
            }
            sql.clear();
            n_rows = 0;
        }
    }
    if n_rows > 0 {
        insert(connection, &sql)?;
        on_rows(n_rows);
    }
    Ok(())
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

fn insert(connection: &mut dyn Connection, sql: &[u8]) -> Result<(), Error> {
    let mut tries = 1;
    loop {
        match connection.execute_text(sql) {
            Ok(_) => return Ok(()),
            Err(error) if error.class() == ErrorClass::Retry && tries < N_TRIES => tries += 1,
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests;
