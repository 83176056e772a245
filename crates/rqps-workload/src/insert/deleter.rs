//! HOT PATH: the client that deletes the oldest rows, so that the table stays as large as it is.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use rqps_client::{
    Connection, Error, Outcome, ParamType, Params, Pipeline, Protocol, StatementId, StatementSpec,
};

use super::schema::Schema;
use super::state::{MAX_GAP, Pair, TableIds};
use crate::worker::{Ahead, EventError};

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
    /// First ids of the statements that were sent and are not answered, oldest first.
    sent: VecDeque<u64>,
    /// First ids of statements that failed and are sent again, oldest first.
    failed: VecDeque<u64>,
    /// Whether it is the only one that deletes from the table, so that what the table says is true.
    alone: bool,
    params: Params,
    is_real: bool,
}

/// The table that a client deletes from.
#[derive(Debug)]
pub struct DeletedTable {
    /// Its number, from 1.
    pub table: u32,
    /// Whether no other client deletes from it.
    pub alone: bool,
    /// The ids in it.
    pub ids: Arc<TableIds>,
    /// The inserter that it keeps pace with.
    pub pair: Arc<Pair>,
}

impl Deleter {
    /// A deleter of `n_rows` rows per statement.
    ///
    /// # Errors
    /// When the server refuses the statement, or the connection is lost.
    pub fn new<C: Connection>(
        connection: &mut C,
        schema: &Schema,
        from: DeletedTable,
        n_rows: u32,
        protocol: Protocol,
    ) -> Result<Self, EventError> {
        let DeletedTable { table, alone, ids, pair } = from;
        let sql = schema.delete_sql(table, n_rows);
        let params = [ParamType::BigInt];
        let spec = StatementSpec { sql: &sql, params: &params, protocol, null_rows: 0 };
        let statement = connection.prepare(&spec)?;
        let room = usize::try_from(MAX_GAP).unwrap_or_default();
        Ok(Self {
            ids,
            pair,
            n_rows,
            statement,
            sql,
            min_sql: format!("SELECT MIN(transactionid) FROM {}", Schema::table(table)),
            n_until_read: READ_MIN_EVERY,
            sent: VecDeque::with_capacity(room),
            failed: VecDeque::with_capacity(room),
            alone,
            params: Params::new(),
            is_real: super::real::is_real(connection),
        })
    }

    pub(super) fn n_rows(&self) -> u64 {
        self.n_rows.into()
    }

    /// Whether its inserter is near enough.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        self.pair.may_delete(self.sent.len() as u64)
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
        self.claim();
        let outcome = connection.execute(self.statement, &self.params);
        answered(self.settle(outcome)?);
        Ok(())
    }

    /// Reads the smallest id from the table, where that is due.
    #[inline]
    pub(super) fn ask<C: Connection>(&mut self, connection: &mut C) -> Result<bool, EventError> {
        let is_due = self.reads_min();
        if is_due {
            self.read_min(connection)?;
        }
        Ok(is_due)
    }

    /// Whether the table is to be asked for its smallest id: not while it may change under the question.
    #[inline]
    fn reads_min(&self) -> bool {
        self.n_until_read == 0 && self.sent.is_empty() && self.failed.is_empty()
    }

    /// Chooses the next statement's rows and writes its parameters.
    #[inline]
    fn claim(&mut self) {
        self.n_until_read = self.n_until_read.saturating_sub(1);
        let from = match self.failed.pop_front() {
            Some(from) => from,
            None => self.ids.claim(self.n_rows.into()),
        };
        self.sent.push_back(from);
        self.params.clear();
        self.params.push_int(from.cast_signed());
    }

    /// Takes note of what the oldest statement did.
    #[inline]
    fn settle(&mut self, result: Result<Outcome, Error>) -> Result<Outcome, EventError> {
        let from = self.sent.pop_front();
        let outcome = match result {
            Ok(outcome) => outcome,
            Err(error) => {
                self.failed.extend(from);
                return Err(error.into());
            }
        };
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
        Ok(outcome)
    }

    #[cold]
    fn read_min<C: Connection + ?Sized>(&mut self, connection: &mut C) -> Result<(), EventError> {
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

impl Ahead for Deleter {
    /// Not while it wants to read the smallest id, and what was sent is not answered.
    fn may_send(&self) -> bool {
        let is_to_read = self.n_until_read == 0 && self.failed.is_empty();
        self.is_ready() && (!is_to_read || self.sent.is_empty())
    }

    fn await_send(&self, at_most: Duration) {
        self.await_ready(at_most);
    }

    fn send(&mut self, pipeline: &mut dyn Pipeline) -> Result<(), EventError> {
        if self.reads_min() {
            self.read_min(pipeline)?;
        }
        self.claim();
        Ok(pipeline.send(self.statement, &self.params)?)
    }

    fn answer(&mut self, pipeline: &mut dyn Pipeline) -> Result<Outcome, EventError> {
        let result = pipeline.answer();
        self.settle(result)
    }
}

#[cfg(test)]
mod tests {
    use rqps_client::ServerError;
    use rqps_model::{Compression, Dbms, Engine};

    use super::*;
    use crate::Size;
    use crate::fake::Recorder;
    use crate::insert::InsertSize;

    fn deleter(connection: &mut Recorder) -> Deleter {
        let args = InsertSize::args(Size::Tiny);
        let schema = Schema::new(&args, Dbms::Mysql, Engine::Innodb, Compression::None);
        let ids = Arc::new(TableIds::new(1, 1000));
        let from = DeletedTable { table: 1, alone: true, ids, pair: Arc::default() };
        Deleter::new(connection, &schema, from, 5, Protocol::Prepared).unwrap()
    }

    /// The first ids that statements had, in their order.
    fn first_ids(connection: &Recorder) -> Vec<String> {
        let id = |line: &String| line.rsplit_once('[').unwrap().1.trim_end_matches(']').to_owned();
        connection.log.iter().map(id).collect()
    }

    #[test]
    fn what_fails_is_sent_again_before_anything_new() {
        let mut connection = Recorder { affected: 5, ..Recorder::server() };
        let mut deleter = deleter(&mut connection);
        let message = "made up".to_owned();
        let deadlock = ServerError { errno: 1213, sqlstate: "40001".into(), message, notes: None };
        connection.failures = vec![deadlock.clone(), deadlock];
        for _ in 0..3 {
            deleter.send(&mut connection).unwrap();
        }
        assert!(
            deleter.answer(&mut connection).is_err() && deleter.answer(&mut connection).is_err()
        );
        assert_eq!(deleter.answer(&mut connection).unwrap().affected, 5);
        for _ in 0..3 {
            deleter.send(&mut connection).unwrap();
        }
        assert_eq!(first_ids(&connection), ["1", "6", "11", "1", "6", "16"]);
        let mut n = 0;
        while deleter.sent.front().is_some() {
            n += deleter.answer(&mut connection).unwrap().affected;
        }
        assert_eq!((n, deleter.pair.rows()), (15, (0, 20)));
    }

    #[test]
    fn what_is_under_way_counts_as_ahead_of_the_inserter() {
        let mut connection = Recorder { affected: 5, ..Recorder::server() };
        let mut deleter = deleter(&mut connection);
        for _ in 0..MAX_GAP {
            assert!(deleter.may_send());
            deleter.send(&mut connection).unwrap();
        }
        assert!(!deleter.may_send());
        deleter.pair.inserted(5);
        assert!(deleter.may_send());
    }

    #[test]
    fn the_smallest_id_is_read_once_nothing_is_under_way() {
        let mut connection = Recorder { affected: 5, ..Recorder::server() };
        let mut deleter = deleter(&mut connection);
        deleter.n_until_read = 1;
        deleter.send(&mut connection).unwrap();
        assert!(!deleter.may_send());
        deleter.answer(&mut connection).unwrap();
        assert!(deleter.may_send());
        deleter.send(&mut connection).unwrap();
        assert_eq!(connection.log[1], "SELECT MIN(transactionid) FROM pi1");
    }

    #[test]
    fn a_delete_that_misses_rows_is_an_error() {
        let mut connection = Recorder { affected: 4, ..Recorder::server() };
        let mut deleter = deleter(&mut connection);
        deleter.send(&mut connection).unwrap();
        let error = deleter.answer(&mut connection).unwrap_err();
        assert!(matches!(error, EventError::WrongRows { got: 4, .. }), "{error:?}");
    }
}
