//! HOT PATH: the client that inserts. Budget: 60 ns a row beside the client's own work.

use std::sync::Arc;
use std::time::Duration;

use rqps_client::{
    Connection, Outcome, ParamType, Params, Pipeline, Protocol, StatementId, StatementSpec,
};

use super::client::InsertClient;
use super::row::{self, COLUMNS, N_COLUMNS, Now};
use super::schema::Schema;
use super::state::{Pair, TableIds};
use crate::dialect::dialect;
use crate::random::Rng;
use crate::worker::{Ahead, EventError};

/// What an inserter shares with others.
#[derive(Debug, Clone)]
pub struct Rows {
    /// The ids of its table.
    pub ids: Arc<TableIds>,
    /// Its deleter, in the steps that delete.
    pub pair: Option<Arc<Pair>>,
}

/// Inserts rows of several values into one table, each statement a transaction.
#[derive(Debug)]
pub struct Inserter {
    rows: Rows,
    n_rows: u32,
    statement: Option<StatementId>,
    sql: String,
    head: String,
    now: Now,
    rng: Rng,
    client_idx: u32,
    params: Params,
    text: Vec<u8>,
    is_real: bool,
    /// Statements until the bulk load ends, in one.
    bulk: Option<u64>,
    /// Statements that were sent ahead and are not answered.
    n_sent: u64,
}

impl Inserter {
    /// An inserter of `n_rows` rows per statement into a table (from 1).
    ///
    /// # Errors
    /// When the server refuses the statement, or the connection is lost.
    pub fn new<C: Connection>(
        connection: &mut C,
        schema: &Schema,
        table: u32,
        rows: Rows,
        n_rows: u32,
        client: InsertClient,
    ) -> Result<Self, EventError> {
        let InsertClient { protocol, client_idx, seed } = client;
        let head = format!("INSERT INTO {} ({COLUMNS}) VALUES ", Schema::table(table));
        let time = dialect(schema.dbms).time_parameter;
        let one = format!("({time}, ?, ?, ?, ?, ?)");
        let sql = format!("{head}{}", vec![one; n_rows as usize].join(", "));
        let types = [
            ParamType::Text,
            ParamType::Int,
            ParamType::Int,
            ParamType::Int,
            ParamType::Int,
            ParamType::Text,
        ];
        let mut statement = None;
        if protocol == Protocol::Prepared {
            let params: Vec<ParamType> =
                types.iter().copied().cycle().take(N_COLUMNS * n_rows as usize).collect();
            let spec = StatementSpec { sql: &sql, params: &params, protocol, null_rows: 0 };
            statement = Some(connection.prepare(&spec)?);
        }
        let is_real = super::real::is_real(connection);
        Ok(Self {
            rows,
            n_rows,
            statement,
            sql,
            head,
            now: Now::default(),
            rng: Rng::stream(seed, client_idx.into()),
            client_idx,
            params: Params::new(),
            text: Vec::new(),
            is_real,
            bulk: None,
            n_sent: 0,
        })
    }

    /// Lets MyRocks write what this inserts as a bulk load: rows in the order of the primary key go into
    /// files of the last level, past memtables and compactions, and are seen when it ends. It ends
    /// with the `n`th statement, which takes the time of that.
    ///
    /// # Errors
    /// When the server refuses it, or the connection is lost.
    pub fn bulk_load<C: Connection>(
        mut self,
        connection: &mut C,
        n: u64,
    ) -> Result<Self, EventError> {
        connection.execute_text(b"SET SESSION rocksdb_bulk_load = 1")?;
        self.bulk = Some(n);
        Ok(self)
    }

    pub(super) fn reseed(&mut self, seed: u64) {
        self.rng = Rng::stream(seed, self.client_idx.into());
    }

    pub(super) fn n_rows(&self) -> u64 {
        self.n_rows.into()
    }

    /// Whether its deleter is near enough.
    #[inline]
    pub(super) fn is_ready(&self) -> bool {
        self.rows.pair.as_ref().is_none_or(|pair| pair.may_insert(self.n_sent))
    }

    pub(super) fn await_ready(&self, at_most: Duration) {
        if let Some(pair) = &self.rows.pair {
            pair.await_insert(at_most);
        }
    }

    #[inline]
    pub(super) fn event<C: Connection>(
        &mut self,
        connection: &mut C,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        self.make_rows();
        let outcome = match self.statement {
            Some(statement) => connection.execute(statement, &self.params)?,
            None => connection.execute_text(&self.text)?,
        };
        self.check(outcome)?;
        if let Some(left) = &mut self.bulk {
            *left = left.saturating_sub(1);
            if *left == 0 {
                connection.execute_text(b"SET SESSION rocksdb_bulk_load = 0")?;
                self.bulk = None;
            }
        }
        self.count();
        answered(outcome);
        Ok(())
    }

    /// This inserter where its statements can be sent ahead: the bulk load's last one has another behind
    /// it.
    pub(super) fn ahead(&mut self) -> Option<&mut dyn Ahead> {
        if self.bulk.is_none() { Some(self) } else { None }
    }

    /// Makes the rows of a statement: its parameters, or its text.
    #[inline]
    fn make_rows(&mut self) {
        self.now.look();
        if self.statement.is_some() {
            self.params.clear();
            for _ in 0..self.n_rows {
                row::push_params(&self.now, &mut self.rng, &mut self.params);
            }
            return;
        }
        self.text.clear();
        self.text.extend_from_slice(self.head.as_bytes());
        for idx in 0..self.n_rows {
            if idx > 0 {
                self.text.push(b',');
            }
            row::push_text(&self.now, &mut self.rng, &mut self.text);
        }
    }

    /// Every insert writes its rows.
    #[inline]
    fn check(&self, outcome: Outcome) -> Result<(), EventError> {
        if self.is_real && outcome.affected != u64::from(self.n_rows) {
            return Err(EventError::WrongRows {
                statement: self.sql.clone(),
                expected: self.n_rows.to_string(),
                got: outcome.affected,
            });
        }
        Ok(())
    }

    /// Tells the others what was inserted.
    #[inline]
    fn count(&self) {
        self.rows.ids.inserted(self.n_rows.into());
        if let Some(pair) = &self.rows.pair {
            pair.inserted(self.n_rows.into());
        }
    }
}

impl Ahead for Inserter {
    fn may_send(&self) -> bool {
        self.is_ready()
    }

    fn await_send(&self, at_most: Duration) {
        self.await_ready(at_most);
    }

    /// What failed is not sent again as it was: the next rows take its place.
    fn send(&mut self, pipeline: &mut dyn Pipeline) -> Result<(), EventError> {
        self.make_rows();
        match self.statement {
            Some(statement) => pipeline.send(statement, &self.params)?,
            None => pipeline.send_text(&self.text)?,
        }
        self.n_sent += 1;
        Ok(())
    }

    fn answer(&mut self, pipeline: &mut dyn Pipeline) -> Result<Outcome, EventError> {
        self.n_sent = self.n_sent.saturating_sub(1);
        let outcome = pipeline.answer()?;
        self.check(outcome)?;
        self.count();
        Ok(outcome)
    }
}
