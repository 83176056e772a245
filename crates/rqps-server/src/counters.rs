//! What a server counts itself: rows, pages, log, locks, temporary tables, by the server's own names.
//!
//! Read on a connection of its own and never while anything is measured. Names come and go with
//! versions: a counter that a server does not have is absent, never zero. MySQL's family is asked for
//! the names below; of PostgreSQL's views every column that is a whole number is taken, so that a new
//! version's are there as well.

use std::time::Duration;

use rqps_client::{Connection, Endpoint};
use rqps_model::Dbms;

use crate::answer::ask;
use crate::dbms::driver;
use crate::dbms::driver::CounterQuestion;
pub use crate::dbms::driver::Counters;
use crate::{Error, connect_to_keep};

/// A connection that reads a server's counters.
pub struct Probe {
    dbms: Dbms,
    connection: Box<dyn Connection>,
    /// What the server is asked: what it has refused is skipped.
    questions: Vec<&'static CounterQuestion>,
    /// What asking once adds to the counters.
    own: Counters,
    /// Whether the server told any when it was first asked.
    tells_any: bool,
}

impl std::fmt::Debug for Probe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probe").field("dbms", &self.dbms).field("own", &self.own).finish()
    }
}

impl Probe {
    /// Opens a connection, and finds the available counters and the cost of reading them. `within` is the
    /// longest time of a read, while clients work.
    ///
    /// # Errors
    /// When the server cannot be reached, or the connection fails.
    pub fn open(dbms: Dbms, endpoint: &Endpoint, within: Duration) -> Result<Self, Error> {
        let mut connection = connect_to_keep(dbms, endpoint)?;
        connection
            .set_timeout(Some(within))
            .map_err(|e| Error::client("set the time to wait for the server's counters", e))?;
        let questions = driver(dbms).counters.iter().collect();
        let own = Counters::new();
        let mut probe = Self { dbms, connection, questions, own, tells_any: false };
        let first = probe.read()?;
        let second = probe.read()?;
        probe.tells_any = !second.is_empty();
        probe.own = since(&first, &second, &Counters::new());
        let moved = driver(dbms).counters.iter().flat_map(|question| question.moved_by_asking);
        let moved: Vec<&str> = moved.copied().collect();
        probe.own.retain(|name, _| moved.iter().any(|part| name.starts_with(part)));
        Ok(probe)
    }

    /// Whether the server reports any counters.
    #[must_use]
    pub fn tells_any(&self) -> bool {
        self.tells_any
    }

    /// Reads the counters.
    ///
    /// # Errors
    /// When the connection fails. What the server refuses to tell is skipped.
    pub fn read(&mut self) -> Result<Counters, Error> {
        let mut counters = Counters::new();
        for question in std::mem::take(&mut self.questions) {
            let sql = (question.sql)(question.view);
            let result = ask(self.connection.as_mut(), "read the server's counters", &sql)?;
            // A view that the version does not have is not asked for again.
            if result.is_some() || question.view.is_empty() {
                self.questions.push(question);
            }
            if let Some(result) = result {
                counters.extend((question.parse)(question.view, &result));
            }
        }
        Ok(counters)
    }

    /// What was counted from `first` to `last`, without the cost of reading.
    #[must_use]
    pub fn between(&self, first: &Counters, last: &Counters) -> Counters {
        since(first, last, &self.own)
    }
}

/// Differences of the counters that both have and that did not fall, which only a reset does.
fn since(first: &Counters, last: &Counters, own: &Counters) -> Counters {
    let difference = |(name, last): (&String, &u64)| {
        let passed = last.checked_sub(*first.get(name)?)?;
        Some((name.clone(), passed.saturating_sub(own.get(name).copied().unwrap_or(0))))
    };
    last.iter().filter_map(difference).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_exclude_what_was_reset_and_what_asking_adds() {
        let map = |pairs: &[(&str, u64)]| -> Counters {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let first = map(&[("a", 10), ("Handler_write", 100), ("reset", 9), ("gone", 1)]);
        let last = map(&[("a", 15), ("Handler_write", 160), ("reset", 3), ("new", 4)]);
        let own = map(&[("Handler_write", 50)]);
        assert_eq!(since(&first, &last, &own), map(&[("a", 5), ("Handler_write", 10)]));
    }
}
