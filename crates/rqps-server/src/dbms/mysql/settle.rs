//! Settling InnoDB: fresh statistics, no old binary logs, no dirty pages, no purge lag.
//!
//! The field sets both dirty-page limits to 1 and sleeps. Set to 0 the servers flush until nothing
//! is left, at the pace of innodb_io_capacity; that is raised meanwhile, so that they are done soon.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rqps_client::Connection;

use super::changes::HURRY;
use super::rocksdb;
use crate::destructive::{reset_binary_logs, set_global};
use crate::guest::settings::{Changed, forget, is_same, write_down};
use crate::settle::{
    Debt, Settled, Tables, Target, claim, not_refused, try_set_global, wait_for_rest,
};
use crate::watch::{Progress, Watch};
use crate::{Error, lsm};

/// Pages that may stay dirty: the server's own bookkeeping touches some all the time.
const DIRTY_PAGES: u64 = 100;

/// Undo logs that may wait for purge: it works in batches of some hundred (innodb_purge_batch_size
/// is 300), and leaves the last to the next transaction.
const HISTORY: u64 = 500;

/// A history list that has not moved for this long is not being purged: up to 5.6 and MariaDB 10.x
/// its length is only brought up to date after every 128 batches of purge, so an idle server that
/// has purged everything may go on showing a length above [`HISTORY`].
const HISTORY_STANDS: Duration = Duration::from_secs(5);

/// Above this a standing history list is a purge that is held up, not a length out of date: 128
/// batches of 300.
const HISTORY_OUT_OF_DATE: u64 = 128 * 300;

pub(super) fn settle(
    target: &Target<'_>,
    tables: Tables<'_>,
    connection: &mut dyn Connection,
    watch: &mut Watch<'_>,
    settled: &mut Settled,
) -> Result<Vec<Debt>, Error> {
    // First, so that the statistics below are those of the settled tree.
    let mut debts = if lsm::has_tables(connection)? {
        rocksdb::settle(target, connection, tables.limit, watch, &mut settled.detail)?
    } else {
        Vec::new()
    };
    debts.extend(settle_innodb(target, tables, connection, watch, settled)?);
    Ok(debts)
}

fn settle_innodb(
    target: &Target<'_>,
    Tables { names, limit }: Tables<'_>,
    connection: &mut dyn Connection,
    watch: &mut Watch<'_>,
    settled: &mut Settled,
) -> Result<Vec<Debt>, Error> {
    let Settled { left, detail, .. } = settled;
    for table in names {
        watch.check("settle")?;
        (watch.report)(Progress::Waiting { what: &format!("ANALYZE TABLE {table}") });
        analyze(connection, table, detail)?;
    }
    // Somebody else's server keeps its binary logs, which replicas need.
    if target.scope.is_own() {
        drop_binary_logs(target, connection, detail)?;
    }
    let is_claimed = claim(target, connection, detail)?;
    let changes = if is_claimed { changes(&read_settings(connection)?) } else { Vec::new() };
    if is_claimed {
        write_down(target.scope, &changes, connection)?;
    }
    let mut n_changed = 0;
    let mut standing = Standing { value: u64::MAX, since: Instant::now() };
    let mut unreadable = None;
    let result = hurry(target, connection, &changes, &mut n_changed, detail).and_then(|()| {
        wait_for_rest(limit, watch, || {
            let mut debts = read_debts(target, connection, &mut unreadable)?;
            for debt in debts.iter_mut().filter(|debt| debt.what == HISTORY_NAME) {
                standing.allow(debt, Instant::now());
            }
            Ok(debts)
        })
    });
    // Also after an error: a server that is used on must be the one that was configured.
    let restored = restore(target, connection, &changes[changes.len() - n_changed..]);
    if restored.is_ok() && is_claimed {
        forget(target.scope, connection)?;
    }
    let debts = result?;
    restored?;
    left.extend(unreadable);
    Ok(debts)
}

/// How long a history list has had its length.
struct Standing {
    value: u64,
    since: Instant,
}

impl Standing {
    /// Widens the bound to the length itself when that has stood long enough.
    fn allow(&mut self, debt: &mut Debt, now: Instant) {
        if debt.value != self.value {
            *self = Self { value: debt.value, since: now };
        }
        let stands = now.saturating_duration_since(self.since) >= HISTORY_STANDS;
        if stands && debt.value <= HISTORY_OUT_OF_DATE {
            debt.bound = debt.bound.max(debt.value);
        }
    }
}

const HISTORY_NAME: &str = "history list length";

fn analyze(
    connection: &mut dyn Connection,
    table: &str,
    detail: &mut Vec<String>,
) -> Result<(), Error> {
    let sql = format!("ANALYZE TABLE {table}");
    let result = connection.query(&sql).map_err(|e| Error::client(sql.clone(), e))?;
    // Table, Op, Msg_type, Msg_text: errors come as rows.
    for row in result.rows {
        if row.get(2).and_then(Option::as_deref).is_some_and(|kind| kind == "Error") {
            detail.push(format!(
                "not done: {sql} ({})",
                row.get(3).cloned().flatten().unwrap_or_default()
            ));
        }
    }
    Ok(())
}

fn drop_binary_logs(
    target: &Target<'_>,
    connection: &mut dyn Connection,
    detail: &mut Vec<String>,
) -> Result<(), Error> {
    let sql = "select @@log_bin";
    let log_bin = connection.query(sql).map_err(|e| Error::client(sql, e))?;
    if log_bin.scalar() != Some("1") {
        return Ok(());
    }
    let done = reset_binary_logs(target.scope, target.version, connection);
    not_refused(done, detail).map(|_| ())
}

/// The values of those settings that this version has.
fn read_settings(connection: &mut dyn Connection) -> Result<BTreeMap<String, String>, Error> {
    let names: Vec<String> = HURRY.iter().map(|(name, _)| format!("'{name}'")).collect();
    let sql = format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({})", names.join(", "));
    let result = connection.query(&sql).map_err(|e| Error::client("read flush settings", e))?;
    Ok(result
        .rows
        .into_iter()
        .filter_map(|mut row| Some((row.get_mut(0)?.take()?, row.get_mut(1)?.take()?)))
        .collect())
}

/// What has to be changed of them, in the order in which it is restored.
fn changes(before: &BTreeMap<String, String>) -> Vec<Changed> {
    let changed = |(name, ours): &(&str, &str)| {
        let owners = before.get(*name).filter(|owners| !is_same(owners, ours))?.clone();
        Some(Changed { name: (*name).to_owned(), owners, ours: (*ours).to_owned() })
    };
    HURRY.iter().rev().filter_map(changed).collect()
}

/// Changes the settings, and counts those that are changed: the last ones of the list.
fn hurry(
    target: &Target<'_>,
    connection: &mut dyn Connection,
    changes: &[Changed],
    n_changed: &mut usize,
    detail: &mut Vec<String>,
) -> Result<(), Error> {
    for Changed { name, ours, .. } in changes.iter().rev() {
        if !try_set_global(target, (name, ours), connection, detail)? {
            // Not permitted: the rest would not be either. The wait goes on without.
            return Ok(());
        }
        *n_changed += 1;
    }
    Ok(())
}

/// A refusal is an error: all that is measured after it would be of other settings than are told.
fn restore(
    target: &Target<'_>,
    connection: &mut dyn Connection,
    changed: &[Changed],
) -> Result<(), Error> {
    let mut restored = Ok(());
    for Changed { name, owners, .. } in changed {
        let set = set_global(target.scope, (name, owners), connection);
        restored = restored.and(set);
    }
    restored
}

/// Reads both counters. Without the privilege for the second, on somebody else's server, that one is
/// left out and `unreadable` says so.
fn read_debts(
    target: &Target<'_>,
    connection: &mut dyn Connection,
    unreadable: &mut Option<String>,
) -> Result<Vec<Debt>, Error> {
    let sql = "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'";
    let result = connection.query(sql).map_err(|e| Error::client(sql, e))?;
    let dirty = result.rows.first().and_then(|row| row.get(1)?.as_deref()?.parse().ok());
    let answer = |answer: String| Error::Answer {
        doing: "read InnoDB's background work".to_owned(),
        answer,
    };
    let dirty = dirty.ok_or_else(|| answer("no count of dirty pages".to_owned()))?;
    let mut debts = vec![Debt { what: "dirty pages", value: dirty, bound: DIRTY_PAGES }];
    let sql = "SHOW ENGINE INNODB STATUS";
    let status = match connection.query(sql) {
        Ok(status) => status,
        Err(rqps_client::Error::Server(refusal)) if !target.scope.is_own() => {
            *unreadable = Some(format!("{HISTORY_NAME}: not readable ({refusal})"));
            return Ok(debts);
        }
        Err(e) => return Err(Error::client(sql, e)),
    };
    let text = status.rows.first().and_then(|row| row.get(2)?.as_deref()).unwrap_or("");
    let history = parse_history(text).ok_or_else(|| {
        answer(format!("dirty pages {dirty}, no history list length in {} bytes", text.len()))
    })?;
    debts.push(Debt { what: HISTORY_NAME, value: history, bound: HISTORY });
    Ok(debts)
}

/// `History list length 42` in the TRANSACTIONS section, the same since 5.0.
pub(super) fn parse_history(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.trim().strip_prefix("History list length "))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_history_list_length() {
        let text = "TRANSACTIONS\n------------\nTrx id counter 5\nHistory list length 42\nLIST";
        assert_eq!(parse_history(text), Some(42));
        assert_eq!(parse_history("nothing"), None);
    }

    #[test]
    fn a_short_history_list_that_stands_is_at_rest() {
        let start = Instant::now();
        let mut standing = Standing { value: u64::MAX, since: start };
        let mut read = |value, after_s| {
            let mut debt = Debt { what: HISTORY_NAME, value, bound: HISTORY };
            standing.allow(&mut debt, start + Duration::from_secs(after_s));
            debt.bound
        };
        assert_eq!(read(936, 0), HISTORY);
        assert_eq!(read(936, 4), HISTORY);
        assert_eq!(read(936, 5), 936);
        assert_eq!(read(930, 6), HISTORY, "it moves again");
        assert_eq!(read(1_000_000, 7), HISTORY);
        assert_eq!(read(1_000_000, 20), HISTORY, "a purge that is held up is no rest");
    }

    #[test]
    fn a_setting_that_has_the_value_already_is_no_change() {
        let before =
            [("innodb_idle_flush_pct", "100"), ("innodb_max_dirty_pages_pct", "75.000000")];
        let before = before.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let changes = changes(&BTreeMap::from(before));
        let names: Vec<&str> = changes.iter().map(|change| change.name.as_str()).collect();
        assert_eq!(names, ["innodb_max_dirty_pages_pct"]);
    }

    #[test]
    fn the_low_water_mark_never_exceeds_the_maximum() {
        let place = |name: &str| HURRY.iter().position(|(n, _)| *n == name).unwrap();
        assert!(place("innodb_max_dirty_pages_pct_lwm") < place("innodb_max_dirty_pages_pct"));
        assert!(place("innodb_io_capacity_max") < place("innodb_io_capacity"));
    }
}
