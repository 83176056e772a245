//! The client that holds a transaction open, so that old row versions cannot be purged.

use std::time::{Duration, Instant};

use rqps_client::{Connection, Outcome};
use rqps_model::Dbms;

use super::schema::Schema;
use crate::dialect::dialect;
use crate::worker::EventError;

/// Begins a transaction, reads a row, and ends it after a while, again and again.
#[derive(Debug)]
pub struct Holder {
    hold: Duration,
    since: Option<Instant>,
    begin_sql: &'static [&'static str],
    read_sql: String,
}

impl Holder {
    /// One that holds each of its transactions for `hold`, with a snapshot of a table (from 1).
    #[must_use]
    pub fn new(dbms: Dbms, table: u32, hold: Duration) -> Self {
        let read_sql = format!("SELECT transactionid FROM {} LIMIT 1", Schema::table(table));
        let begin_sql = dialect(dbms).begin_snapshot;
        Self { hold, since: None, begin_sql, read_sql }
    }

    /// Whether its transaction has been open long enough.
    pub(super) fn is_ready(&self) -> bool {
        self.since.is_none_or(|since| since.elapsed() >= self.hold)
    }

    pub(super) fn await_ready(&self, at_most: Duration) {
        let held = self.since.map_or(self.hold, |since| since.elapsed());
        #[expect(clippy::disallowed_methods, reason = "a transaction is held for a time")]
        std::thread::sleep(self.hold.saturating_sub(held).min(at_most));
    }

    pub(super) fn event<C: Connection>(
        &mut self,
        connection: &mut C,
        answered: &mut impl FnMut(Outcome),
    ) -> Result<(), EventError> {
        if self.since.take().is_some() {
            answered(connection.execute_text(b"COMMIT")?);
        }
        for sql in self.begin_sql {
            answered(connection.execute_text(sql.as_bytes())?);
        }
        answered(connection.execute_text(self.read_sql.as_bytes())?);
        self.since = Some(Instant::now());
        Ok(())
    }

    pub(super) fn roll_back<C: Connection>(
        &mut self,
        connection: &mut C,
    ) -> Result<(), EventError> {
        self.since = None;
        connection.execute_text(b"ROLLBACK")?;
        Ok(())
    }
}
