//! HOT PATH: the clients of the Insert Benchmark as the load generator sees them.

use std::time::Duration;

use rqps_client::{Connection, Outcome};

use super::{Deleter, Holder, Inserter, Querier};
use crate::worker::{Ahead, EventError, Worker};

/// A client of the Insert Benchmark.
#[derive(Debug)]
pub enum InsertWorker {
    /// Inserts.
    Insert(Inserter),
    /// Deletes.
    Delete(Deleter),
    /// Queries.
    Query(Querier),
    /// Holds a transaction open.
    Hold(Holder),
}

impl<C: Connection> Worker<C> for InsertWorker {
    #[inline]
    fn event(
        &mut self,
        connection: &mut C,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        match self {
            Self::Insert(it) => it.event(connection, answered),
            Self::Delete(it) => it.event(connection, answered),
            Self::Query(it) => it.event(connection, answered),
            Self::Hold(it) => it.event(connection, answered),
        }
    }

    #[inline]
    fn is_ready(&self) -> bool {
        match self {
            Self::Insert(it) => it.is_ready(),
            Self::Delete(it) => it.is_ready(),
            Self::Query(_) => true,
            Self::Hold(it) => it.is_ready(),
        }
    }

    fn await_ready(&self, at_most: Duration) {
        match self {
            Self::Insert(it) => it.await_ready(at_most),
            Self::Delete(it) => it.await_ready(at_most),
            Self::Query(_) => {}
            Self::Hold(it) => it.await_ready(at_most),
        }
    }

    #[inline]
    fn ask(&mut self, connection: &mut C) -> Result<bool, EventError> {
        match self {
            Self::Delete(it) => it.ask(connection),
            Self::Query(it) => it.ask(connection),
            Self::Insert(_) | Self::Hold(_) => Ok(false),
        }
    }

    fn ahead(&mut self) -> Option<&mut dyn Ahead> {
        match self {
            Self::Insert(it) => it.ahead(),
            Self::Delete(it) => Some(it),
            Self::Query(_) | Self::Hold(_) => None,
        }
    }

    /// Each statement is a transaction of its own but for the holder's.
    fn roll_back(&mut self, connection: &mut C) -> Result<(), EventError> {
        match self {
            Self::Hold(it) => it.roll_back(connection),
            _ => Ok(()),
        }
    }

    fn reseed(&mut self, seed: u64) {
        match self {
            Self::Insert(it) => it.reseed(seed),
            Self::Query(it) => it.reseed(seed),
            Self::Delete(_) | Self::Hold(_) => {}
        }
    }

    fn operations_per_statement(&self) -> u64 {
        match self {
            Self::Insert(it) => it.n_rows(),
            Self::Delete(it) => it.n_rows(),
            Self::Query(_) | Self::Hold(_) => 1,
        }
    }
}
