//! HOT PATH: a client that searches. Budget: two copies of the query's vector beside the client's own work; the vectors
//! were encoded before.

use std::sync::Arc;

use rqps_client::{Connection, Outcome, ParamType, Params, Protocol, StatementId, StatementSpec};

use super::{Encoded, VectorSchema};
use crate::random::Rng;
use crate::worker::{EventError, Worker};

/// Where a client searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchPlace {
    /// The table, from 1.
    pub table: u32,
    /// Whether it looks at all vectors.
    pub is_exact: bool,
    /// Vectors in the table.
    pub n_vectors: u64,
    /// The client, from 0.
    pub client_idx: u32,
}

/// A client that asks for the nearest neighbours of queries in random order.
#[derive(Debug)]
pub struct Searcher {
    queries: Arc<Encoded>,
    statement: StatementId,
    sql: String,
    /// Rows of an answer.
    n_rows: u64,
    client_idx: u32,
    rng: Rng,
    params: Params,
}

impl Searcher {
    /// Prepares the search on a connection whose session is set.
    ///
    /// # Errors
    /// When the server refuses the statement, or the connection is lost.
    pub fn new<C: Connection>(
        connection: &mut C,
        schema: &VectorSchema,
        queries: Arc<Encoded>,
        place: SearchPlace,
        seed: u64,
    ) -> Result<Self, EventError> {
        let SearchPlace { table, is_exact, n_vectors, client_idx } = place;
        let sql = schema.search_sql(table, is_exact);
        let n_rows = u64::from(schema.k).min(n_vectors);
        let statement = connection.prepare(&StatementSpec {
            sql: &sql,
            params: &[ParamType::Binary],
            protocol: Protocol::Prepared,
            null_rows: n_rows,
        })?;
        let rng = Rng::stream(seed, client_idx.into());
        Ok(Self { queries, statement, sql, n_rows, client_idx, rng, params: Params::new() })
    }

    #[cold]
    fn wrong_rows(&self, got: u64) -> EventError {
        EventError::WrongRows {
            statement: self.sql.clone(),
            expected: self.n_rows.to_string(),
            got,
        }
    }
}

impl<C: Connection> Worker<C> for Searcher {
    #[inline]
    fn event(
        &mut self,
        connection: &mut C,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        let place = self.rng.below(self.queries.len() as u64);
        let query = self.queries.get(usize::try_from(place).unwrap_or(0));
        self.params.clear();
        self.params.push_text(|arena| arena.extend_from_slice(query));
        let outcome = connection.execute(self.statement, &self.params)?;
        if outcome.rows != self.n_rows {
            return Err(self.wrong_rows(outcome.rows));
        }
        answered(outcome);
        Ok(())
    }

    /// Each search is a transaction of its own.
    fn roll_back(&mut self, _connection: &mut C) -> Result<(), EventError> {
        Ok(())
    }

    fn reseed(&mut self, seed: u64) {
        self.rng = Rng::stream(seed, self.client_idx.into());
    }

    fn operations_per_statement(&self) -> u64 {
        1
    }
}
