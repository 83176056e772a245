//! HOT PATH: the client that deletes the oldest rows, so that the table stays as large as it is.

use std::sync::Arc;
use std::time::Duration;

use rqps_client::{Connection, Outcome, ParamType, Params, Protocol, StatementId, StatementSpec};

use super::schema::Schema;
use super::state::{Pair, TableIds};
use crate::worker::EventError;

/// After so many statements the smallest id is read from the table again.
const READ_MIN_EVERY: u32 = 1000;

/// Deletes the oldest rows of one table, each statement a transaction.
#[derive(Debug)]
pub struct Deleter {
    ids: Arc<TableIds>,
    pair: Arc<Pair>,
    n_rows: u32,
    statement: StatementId,
    sql: String,
    min_sql: String,
    n_until_read: u32,
    /// The first id of a statement that failed and is sent again.
    claimed: Option<u64>,
    /// Whether it is the only one that deletes from the table, so that what the table says is true.
    alone: bool,
    params: Params,
    is_real: bool,
}

impl Deleter {
    /// A deleter of `n_rows` rows per statement from a table (from 1); `alone` where no other client
    /// deletes from it.
    ///
    /// # Errors
    /// When the server refuses the statement, or the connection is lost.
    pub fn new<C: Connection>(
        connection: &mut C,
        (schema, table, alone): (&Schema, u32, bool),
        (ids, pair): (Arc<TableIds>, Arc<Pair>),
        (n_rows, protocol): (u32, Protocol),
    ) -> Result<Self, EventError> {
        let sql = schema.delete_sql(table, n_rows);
        let params = [ParamType::BigInt];
        let spec = StatementSpec { sql: &sql, params: &params, protocol, null_rows: 0 };
        let statement = connection.prepare(&spec)?;
        Ok(Self {
            ids,
            pair,
            n_rows,
            statement,
            sql,
            min_sql: format!("SELECT MIN(transactionid) FROM {}", Schema::table(table)),
            n_until_read: READ_MIN_EVERY,
            claimed: None,
            alone,
            params: Params::new(),
            is_real: super::worker::is_real(connection),
        })
    }

    pub(super) fn n_rows(&self) -> u64 {
        self.n_rows.into()
    }

    /// Whether its inserter is near enough.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        self.pair.may_delete()
    }

    pub(super) fn await_ready(&self, at_most: Duration) {
        self.pair.await_delete(at_most);
    }

    #[inline]
    pub(super) fn event<C: Connection>(
        &mut self,
        connection: &mut C,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        if self.n_until_read == 0 {
            self.read_min(connection)?;
        }
        self.n_until_read -= 1;
        let from = match self.claimed {
            Some(from) => from,
            None => self.ids.claim(self.n_rows.into()),
        };
        self.claimed = Some(from);
        self.params.clear();
        self.params.push_int(from.cast_signed());
        let outcome = connection.execute(self.statement, &self.params)?;
        self.claimed = None;
        // Deletes must find their rows. Where several delete from one table, one may take another's.
        if self.is_real && self.alone && outcome.affected != u64::from(self.n_rows) {
            return Err(EventError::WrongRows {
                statement: self.sql.clone(),
                expected: self.n_rows.to_string(),
                got: outcome.affected,
            });
        }
        let n_deleted = if self.is_real { outcome.affected } else { self.n_rows.into() };
        self.pair.deleted(n_deleted);
        answered(outcome);
        Ok(())
    }

    #[cold]
    fn read_min<C: Connection>(&mut self, connection: &mut C) -> Result<(), EventError> {
        self.n_until_read = READ_MIN_EVERY;
        let claimed = self.ids.range().0;
        let result = connection.query(&self.min_sql)?;
        if self.alone
            && let Some(found) = result.scalar().and_then(|text| text.parse().ok())
        {
            self.ids.correct_min(claimed, found);
        }
        Ok(())
    }
}
