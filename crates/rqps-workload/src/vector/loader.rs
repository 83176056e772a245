//! HOT PATH: a client that fills a part of a table. An event is an INSERT of several rows.

use std::ops::Range;
use std::sync::Arc;

use rqps_client::{Connection, Outcome, ParamType, Params, Protocol, StatementId, StatementSpec};

use super::{Encoded, VectorSchema};
use crate::populate::{LoadCut, RowsOfInsert, TablePart};
use crate::worker::{EventError, Worker};

/// Bytes of vectors in an INSERT at most: half of what the sysbench suite sends, as servers copy each once more.
const INSERT_BYTES: u64 = 250_000;

/// Fewest rows of an INSERT of small vectors where a load is cut into several blocks, and most rows.
const LEAST_ROWS: u64 = 20;
const MOST_ROWS: u64 = 200;

/// A client that fills a part of a table.
#[derive(Debug)]
pub struct VectorLoader {
    vectors: Arc<Encoded>,
    /// INSERTs that the rows of the table are divided into.
    inserts_per_table: u64,
    /// Statements by their numbers of rows: those of two INSERTs differ by one.
    statements: Vec<(u64, StatementId)>,
    next: u64,
    params: Params,
}

impl VectorLoader {
    /// How a load of vectors of so many components is divided over about `clients` clients.
    #[must_use]
    pub fn cut(tables: u32, rows: u64, dimension: usize, clients: u32) -> LoadCut {
        let most = (INSERT_BYTES / (4 * dimension.max(1) as u64)).clamp(1, MOST_ROWS);
        LoadCut::of_rows(tables, rows, clients, RowsOfInsert { least: most.min(LEAST_ROWS), most })
    }

    /// Prepares the INSERTs of a part of a table.
    ///
    /// # Errors
    /// When the server refuses a statement, or the connection is lost.
    pub fn new<C: Connection>(
        connection: &mut C,
        vectors: Arc<Encoded>,
        cut: LoadCut,
        part: TablePart,
    ) -> Result<Self, EventError> {
        let TablePart { table, inserts } = part;
        let mut loader = Self {
            vectors,
            inserts_per_table: cut.inserts_per_table.max(1),
            statements: Vec::new(),
            next: inserts.start,
            params: Params::new(),
        };
        let mut sizes: Vec<u64> = inserts
            .map(|insert| loader.rows_of(insert))
            .map(|rows| rows.end - rows.start)
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        for n_rows in sizes {
            let n = usize::try_from(n_rows).unwrap_or(1);
            let types = [ParamType::Int, ParamType::Binary].repeat(n);
            let sql = VectorSchema::insert_sql(table, n);
            let spec = StatementSpec {
                sql: &sql,
                params: &types,
                protocol: Protocol::Prepared,
                null_rows: 0,
            };
            loader.statements.push((n_rows, connection.prepare(&spec)?));
        }
        Ok(loader)
    }

    /// An INSERT beyond the part, whose number of rows no INSERT of the part has.
    #[cold]
    fn not_prepared(&self, n_rows: u64) -> EventError {
        let detail = format!("no statement of {n_rows} rows is prepared for INSERT {}", self.next);
        rqps_client::Error::Usage { sql: String::new(), detail }.into()
    }

    /// The rows of an INSERT, by place.
    fn rows_of(&self, insert: u64) -> Range<u64> {
        let rows = self.vectors.len() as u64;
        let upto = |insert: u64| {
            let all = u128::from(rows) * u128::from(insert);
            u64::try_from(all / u128::from(self.inserts_per_table)).unwrap_or(rows)
        };
        upto(insert)..upto(insert + 1)
    }
}

impl<C: Connection> Worker<C> for VectorLoader {
    fn event(
        &mut self,
        connection: &mut C,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        let rows = self.rows_of(self.next);
        self.params.clear();
        for place in rows.clone() {
            self.params.push_int(i64::try_from(place).unwrap_or(i64::MAX));
            let vector = self.vectors.get(usize::try_from(place).unwrap_or(usize::MAX));
            self.params.push_text(|arena| arena.extend_from_slice(vector));
        }
        let n_rows = rows.end - rows.start;
        let Some((_, statement)) = self.statements.iter().find(|(n, _)| *n == n_rows) else {
            return Err(self.not_prepared(n_rows));
        };
        answered(connection.execute(*statement, &self.params)?);
        self.next += 1;
        Ok(())
    }

    /// Each INSERT is a transaction of its own.
    fn roll_back(&mut self, _connection: &mut C) -> Result<(), EventError> {
        Ok(())
    }

    /// The rows are those of the set.
    fn reseed(&mut self, _seed: u64) {}

    fn operations_per_statement(&self) -> u64 {
        let rows = self.rows_of(self.next);
        rows.end - rows.start
    }
}
