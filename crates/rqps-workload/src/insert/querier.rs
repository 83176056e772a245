//! HOT PATH: the client that queries: ranges over the secondary indexes, or points by primary key.
//! Budget: 20 ns a query beside the client's own work.

use std::sync::Arc;

use rqps_client::{Connection, Outcome, ParamType, Params, Protocol, StatementId, StatementSpec};

use super::row::{CASH_REGISTERS, PRICES, PRODUCTS};
use super::schema::Schema;
use super::state::TableIds;
use crate::random::Rng;
use crate::worker::EventError;

/// Ids of a point query.
const N_POINTS: usize = 10;

/// Ids at the lower end that are not queried: a deleter may be at them. What it has under
/// way is at most this many rows.
const MARGIN: u64 = 10_000;

/// What a querier asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Queries {
    /// Ten rows of an index from a value on; one of three indexes.
    Range,
    /// Ten rows by their ids.
    Point,
}

/// Queries one table.
#[derive(Debug)]
pub struct Querier {
    queries: Queries,
    ids: Arc<TableIds>,
    statements: Vec<StatementId>,
    /// The rows of the table may be few (tests); the margin is at most a tenth of them.
    rng: Rng,
    client_idx: u32,
    params: Params,
}

impl Querier {
    /// A querier of a table (from 1).
    ///
    /// # Errors
    /// When the server refuses a statement, or the connection is lost.
    pub fn new<C: Connection>(
        connection: &mut C,
        (schema, table, queries): (&Schema, u32, Queries),
        ids: Arc<TableIds>,
        (protocol, client_idx, seed): (Protocol, u32, u64),
    ) -> Result<Self, EventError> {
        let mut prepare = |sql: &str, params: &[ParamType]| {
            connection.prepare(&StatementSpec { sql, params, protocol, null_rows: N_POINTS as u64 })
        };
        let statements = match queries {
            Queries::Range => (0..3)
                .map(|index| prepare(&schema.range_sql(table, index), &[ParamType::Int]))
                .collect::<Result<_, _>>()?,
            Queries::Point => {
                let types = [ParamType::BigInt; N_POINTS];
                vec![prepare(&Schema::point_sql(table), &types)?]
            }
        };
        Ok(Self {
            queries,
            ids,
            statements,
            rng: Rng::stream(seed, client_idx.into()),
            client_idx,
            params: Params::new(),
        })
    }

    pub(super) fn reseed(&mut self, seed: u64) {
        self.rng = Rng::stream(seed, self.client_idx.into());
    }

    #[inline]
    pub(super) fn event<C: Connection>(
        &mut self,
        connection: &mut C,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        let Self { rng, params, .. } = self;
        params.clear();
        let idx = match self.queries {
            Queries::Range => {
                let idx = usize::try_from(rng.below(3)).unwrap_or(0);
                // Of registers, those above a value are asked for: above the last one is none.
                let below = [PRODUCTS, CASH_REGISTERS - 1, PRICES][idx];
                params.push_int(rng.below(below).cast_signed());
                idx
            }
            Queries::Point => {
                let (min, max) = self.ids.range();
                let min = min + MARGIN.min((max - min) / 10);
                for _ in 0..N_POINTS {
                    params.push_int((min + rng.below(max - min + 1)).cast_signed());
                }
                0
            }
        };
        answered(connection.execute(self.statements[idx], params)?);
        Ok(())
    }
}
