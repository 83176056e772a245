//! HOT PATH: the client that queries: ranges over the secondary indexes, or points by primary key.
//! Budget: 20 ns a query beside the client's own work.

use std::sync::Arc;

use rqps_client::{Connection, Outcome, ParamType, Params, StatementId, StatementSpec};

use super::client::InsertClient;
use super::row::FIRST_VALUES;
use super::schema::Schema;
use super::state::TableIds;
use crate::random::Rng;
use crate::worker::EventError;

/// Ids of a point query.
const N_POINTS: usize = 10;

/// After so many point queries the largest id is read from the table again.
const READ_MAX_EVERY: u32 = 100;

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
    max_sql: String,
    /// The largest id that point queries ask for, and how many of them until it is read again.
    max: u64,
    n_until_read: u32,
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
        schema: &Schema,
        table: u32,
        queries: Queries,
        ids: Arc<TableIds>,
        client: InsertClient,
    ) -> Result<Self, EventError> {
        let InsertClient { protocol, client_idx, seed } = client;
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
        let max = ids.range().1;
        Ok(Self {
            queries,
            ids,
            statements,
            max_sql: format!("SELECT MAX(transactionid) FROM {}", Schema::table(table)),
            max,
            n_until_read: READ_MAX_EVERY,
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
                params.push_int(rng.below(FIRST_VALUES[idx]).cast_signed());
                idx
            }
            Queries::Point => {
                self.n_until_read = self.n_until_read.saturating_sub(1);
                let min = self.ids.range().0;
                let n = self.max.saturating_sub(min).max(1);
                for _ in 0..N_POINTS {
                    params.push_int((min + rng.below(n)).cast_signed());
                }
                0
            }
        };
        answered(connection.execute(self.statements[idx], params)?);
        Ok(())
    }

    /// Reads the largest id from the table, where that is due: after so many point queries.
    #[inline]
    pub(super) fn ask<C: Connection>(&mut self, connection: &mut C) -> Result<bool, EventError> {
        let is_due = self.n_until_read == 0;
        if is_due {
            self.n_until_read = READ_MAX_EVERY;
            self.read_max(connection)?;
        }
        Ok(is_due)
    }

    #[cold]
    fn read_max<C: Connection>(&mut self, connection: &mut C) -> Result<(), EventError> {
        let found = connection.query(&self.max_sql)?.scalar().and_then(|text| text.parse().ok());
        self.max = found.unwrap_or_else(|| self.ids.range().1);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use rqps_model::{Compression, Dbms, Engine};

    use super::*;
    use crate::Size;
    use crate::fake::Recorder;
    use crate::insert::InsertSize;

    fn run(queries: Queries, max_in_table: &str, n: usize) -> Vec<String> {
        let mut connection =
            Recorder { scalar: Some(max_in_table.to_owned()), ..Recorder::server() };
        let args = InsertSize::args(Size::Tiny);
        let schema = Schema::new(&args, Dbms::Mysql, Engine::Innodb, Compression::None);
        let ids = Arc::new(TableIds::new(501, 1000));
        let client = InsertClient { protocol: rqps_client::Protocol::Text, client_idx: 0, seed: 7 };
        let mut querier = Querier::new(&mut connection, &schema, 1, queries, ids, client).unwrap();
        for _ in 0..n {
            querier.ask(&mut connection).unwrap();
            querier.event(&mut connection, &mut |_| {}).unwrap();
        }
        connection.log
    }

    /// The values that statements had.
    fn values(log: &[String]) -> Vec<u64> {
        let of = |line: &String| -> Vec<u64> {
            let texts = line.split('[').skip(1);
            texts.map(|text| text.trim_end_matches([']', ' ']).parse().unwrap()).collect()
        };
        log.iter().flat_map(of).collect()
    }

    #[test]
    fn the_largest_id_is_read_again_after_every_hundred_point_queries() {
        let log = run(Queries::Point, "3000", 250);
        let read = "SELECT MAX(transactionid) FROM pi1";
        let at = log.iter().enumerate().filter(|(_, line)| *line == read).map(|(idx, _)| idx);
        assert_eq!(at.collect::<Vec<_>>(), [100, 201]);
        // Up to then what was inserted is not asked for; the oldest row is, as the newest are.
        let (first, later) = (values(&log[..100]), values(&log[101..]));
        let span = |ids: &[u64]| (*ids.iter().min().unwrap(), *ids.iter().max().unwrap());
        assert_eq!(first.len(), 100 * N_POINTS);
        let (least, most) = span(&first);
        assert!((501..505).contains(&least) && (995..1000).contains(&most), "{least} {most}");
        let (least, most) = span(&later);
        assert!((501..520).contains(&least) && (2980..3000).contains(&most), "{least} {most}");
    }

    #[test]
    fn a_largest_id_that_cannot_be_read_is_the_one_that_was_counted() {
        let ids = values(&run(Queries::Point, "", 201)[101..]);
        assert!(ids.iter().all(|id| (501..1000).contains(id)));
    }

    #[test]
    fn ranges_begin_at_every_value_of_their_column() {
        let log = run(Queries::Range, "3000", 30_000);
        assert!(!log.iter().any(|line| line.contains("MAX(")));
        for (column, most) in [("productid", 9_999), ("cashregisterid", 999), ("price", 499)] {
            let of = |line: &&String| line.contains(&format!("WHERE {column} "));
            let lines: Vec<String> = log.iter().filter(of).cloned().collect();
            assert!((9_500..10_500).contains(&lines.len()), "{column}: {}", lines.len());
            let starts = values(&lines);
            assert!(starts.iter().all(|start| *start <= most), "{column}");
            assert!(column == "productid" || starts.contains(&most), "{column}");
        }
    }
}
