//! Brings a server's background work to rest without a restart, so that reads do not pay for
//! earlier writes: facts as the field's scripts have them, waiting as long as needed, not longer.
//!
//! The field sleeps 60 s and 1 s per million rows. Here that is the ceiling: the server's own
//! counters are watched, and what is still left then is said.

mod changes;
mod mysql;
mod postgres;
mod rocksdb;

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::unistd::syncfs;
use rqps_client::Connection;
use rqps_model::{Dbms, Version};

use crate::destructive::Scope;
use crate::guest::settings;
use crate::watch::{Progress, Watch};
use crate::{Error, destructive, facts, lsm};
pub(crate) use changes::{ROCKSDB_OPTIONS, changed_settings};

/// The server to bring to rest.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// Its family.
    pub dbms: Dbms,
    /// Its version.
    pub version: &'a Version,
    /// What may be changed of it: somebody else's server keeps its logs and, unless the user allows it, its
    /// settings.
    pub scope: Scope<'a>,
    /// Its data directory where rqps can reach it: then the kernel writes back its files as well.
    pub data_dir: Option<&'a Path>,
}

/// What is told of settings that stay as they are.
const KEPT: &str = "settings are left alone on a server given by its address (--allow-settings)";

/// How settling went.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// How long it took, s.
    pub seconds: f64,
    /// What was not at rest in the end: `dirty pages: 1200 (bound 100)`. Empty when all was.
    pub left: Vec<String>,
    /// What could not be done, and what was seen at the end, for the record.
    pub detail: Vec<String>,
}

impl Settled {
    /// Whether everything came to rest.
    #[must_use]
    pub fn at_rest(&self) -> bool {
        self.left.is_empty()
    }
}

/// A counter of background work.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Debt {
    /// What is counted.
    what: &'static str,
    /// How much there is.
    value: u64,
    /// Up to which value it is at rest.
    bound: u64,
}

impl fmt::Display for Debt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} (at rest up to {})", self.what, self.value, self.bound)
    }
}

/// How often the counters are read.
const EVERY: Duration = Duration::from_millis(250);

/// Longest time that is waited for tables of so many rows in all: the field's sleep.
#[must_use]
pub fn ceiling(rows: u64) -> Duration {
    Duration::from_secs((60 + rows / 1_000_000).min(1200))
}

/// Brings a server to rest: statistics, logs, dirty pages, purge or vacuum, write-back.
///
/// `rows` are those of all tables; they bound the wait. Settings that are changed meanwhile are
/// restored, also after an error.
///
/// # Errors
/// When the server or the connection fails, or the work is stopped. What is merely not permitted
/// (external servers) is told in [`Settled::detail`].
pub fn settle(
    target: &Target<'_>,
    connection: &mut dyn Connection,
    rows: u64,
    watch: &mut Watch<'_>,
) -> Result<Settled, Error> {
    let start = Instant::now();
    let mut settled = Settled { seconds: 0.0, left: Vec::new(), detail: Vec::new() };
    let tables = facts::tables(target.dbms, connection)?;
    if !target.scope.allows_settings() {
        settled.detail.push(KEPT.to_owned());
    }
    let debts = match target.dbms {
        Dbms::Mysql | Dbms::Mariadb => {
            let limit = ceiling(rows);
            // First, so that the statistics below are those of the settled tree.
            let mut debts = if lsm::has_tables(connection)? {
                rocksdb::settle(target, connection, limit, watch, &mut settled.detail)?
            } else {
                Vec::new()
            };
            let both = (tables.as_slice(), limit);
            debts.extend(mysql::settle(target, connection, both, watch, &mut settled)?);
            debts
        }
        Dbms::Postgres => {
            postgres::settle(target, connection, (&tables, ceiling(rows)), watch, &mut settled)?
        }
        Dbms::Null => Vec::new(),
    };
    if let Some(dir) = target.data_dir {
        write_back(dir)?;
    }
    for debt in debts {
        let list = if debt.value > debt.bound { &mut settled.left } else { &mut settled.detail };
        list.push(debt.to_string());
    }
    settled.seconds = start.elapsed().as_secs_f64();
    Ok(settled)
}

/// The length of the history list in InnoDB's status.
pub(crate) fn history_of(status: &str) -> Option<u64> {
    mysql::parse_history(status)
}

/// Makes the kernel write what the server wrote without a sync: logs, temporary files.
fn write_back(dir: &Path) -> Result<(), Error> {
    let doing = || format!("write back the file system of {}", dir.display());
    let file = File::open(dir).map_err(|e| Error::io(doing(), e))?;
    syncfs(&file).map_err(|e| Error::io(doing(), e.into()))
}

/// Polls until every debt is within its bound or `limit` has passed; gives the last reading.
fn wait_for_rest(
    limit: Duration,
    watch: &mut Watch<'_>,
    mut read: impl FnMut() -> Result<Vec<Debt>, Error>,
) -> Result<Vec<Debt>, Error> {
    let mut last = Vec::new();
    watch.poll("settle", (limit, EVERY), |watch| {
        last = read()?;
        let open: Vec<String> =
            last.iter().filter(|debt| debt.value > debt.bound).map(ToString::to_string).collect();
        if open.is_empty() {
            return Ok(Some(()));
        }
        (watch.report)(Progress::Waiting { what: &open.join(", ") });
        Ok(None)
    })?;
    Ok(last)
}

/// Sets a variable of the server, where that is allowed to fail by the server's word; says what it said.
fn try_set_global(
    target: &Target<'_>,
    setting: (&str, &str),
    connection: &mut dyn Connection,
    detail: &mut Vec<String>,
) -> Result<bool, Error> {
    not_refused(destructive::set_global(target.scope, target.dbms, setting, connection), detail)
}

/// Claims the settings before they are read and changed; false, and a word in `detail`, where they have to stay.
fn claim(
    target: &Target<'_>,
    connection: &mut dyn Connection,
    detail: &mut Vec<String>,
) -> Result<bool, Error> {
    if !target.scope.allows_settings() {
        return Ok(false);
    }
    let is_claimed = settings::claim(target.scope, target.dbms, connection)?;
    if !is_claimed {
        detail.push("settings are left alone: another rqps has changed them".to_owned());
    }
    Ok(is_claimed)
}

/// Whether something was done; a refusal of the server's goes to `detail`.
fn not_refused(done: Result<(), Error>, detail: &mut Vec<String>) -> Result<bool, Error> {
    match done {
        Ok(()) => Ok(true),
        Err(Error::Client { doing, source: rqps_client::Error::Server(said) }) => {
            detail.push(format!("not done: {doing} ({said})"));
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn the_ceiling_is_the_fields_sleep() {
        assert_eq!(ceiling(0).as_secs(), 60);
        assert_eq!(ceiling(50_000_000).as_secs(), 110);
        assert_eq!(ceiling(u64::MAX).as_secs(), 1200);
    }

    #[test]
    fn waits_until_all_debts_are_paid_and_tells_what_is_open() {
        let stop = AtomicBool::new(false);
        let mut told = Vec::new();
        let mut report = |progress: Progress<'_>| {
            if let Progress::Waiting { what } = progress {
                told.push(what.to_owned());
            }
        };
        let mut watch = Watch { stop: &stop, report: &mut report };
        let mut pages = 2;
        let last = wait_for_rest(Duration::from_secs(60), &mut watch, || {
            pages -= 1;
            Ok(vec![Debt { what: "dirty pages", value: pages, bound: 0 }])
        });
        assert_eq!(last.unwrap(), [Debt { what: "dirty pages", value: 0, bound: 0 }]);
        assert_eq!(told, ["dirty pages: 1 (at rest up to 0)"]);
    }

    #[test]
    fn gives_up_at_the_limit_with_the_last_reading() {
        let stop = AtomicBool::new(false);
        let mut watch = Watch { stop: &stop, report: &mut |_| {} };
        let debt = Debt { what: "x", value: 9, bound: 1 };
        let last = wait_for_rest(Duration::ZERO, &mut watch, || Ok(vec![debt.clone()]));
        assert_eq!(last.unwrap(), [debt]);
    }
}
