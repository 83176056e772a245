//! Bringing a server's background work to rest without a restart, so that reads do not pay for
//! earlier writes.
//!
//! The field flushes, then sleeps by the tables' size. Here the sleep is only the ceiling: what the
//! server still has to do is asked for every quarter of a second, and what was left is told.

use std::time::{Duration, Instant};

use rqps_client::Connection;
use rqps_model::{Dbms, Version};

use crate::Error;
use crate::facts::number;

/// What is settled, and how.
#[derive(Debug, Clone)]
pub struct SettleOrder<'a> {
    /// The server's family.
    pub dbms: Dbms,
    /// Its version, as it says itself.
    pub version: &'a Version,
    /// Tables to analyse or vacuum.
    pub tables: &'a [String],
    /// Rows of all tables together; the ceiling grows with them.
    pub n_rows: u64,
}

/// How settling went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settled {
    /// How long it took.
    pub took: Duration,
    /// What was still to be done when the ceiling was reached; `None` when all was at rest.
    pub left: Option<String>,
}

/// How often the server is asked.
const POLL: Duration = Duration::from_millis(250);

/// Modified pages that count as none: InnoDB keeps dirtying a few for its own bookkeeping.
const DIRTY_PAGES: u64 = 200;

/// A server whose modified pages are below one percent of its buffer pool (the limit that settling
/// sets) and have not become fewer for this long is at rest: it will not write them by itself.
const NO_DECLINE: Duration = Duration::from_secs(3);

/// Unpurged transactions that count as none.
const HISTORY: u64 = 1000;

impl SettleOrder<'_> {
    /// The longest that settling may take: 60 s and 1 s per million rows, at most 1200 s, as the
    /// field sleeps.
    #[must_use]
    pub fn ceiling(&self) -> Duration {
        Duration::from_secs((60 + self.n_rows / 1_000_000).min(1200))
    }
}

/// Settles a server. `go_on` is asked between polls; when it says no, settling ends early and what
/// is left is told.
///
/// # Errors
/// The server's. Settings that were changed for settling are restored first.
pub fn settle(
    order: &SettleOrder<'_>,
    connection: &mut dyn Connection,
    go_on: &dyn Fn() -> bool,
) -> Result<Settled, Error> {
    let began = Instant::now();
    let left = match order.dbms {
        Dbms::Mysql | Dbms::Mariadb => settle_innodb(order, connection, (began, go_on))?,
        Dbms::Postgres => {
            settle_postgres(order, connection)?;
            None
        }
        Dbms::Null => None,
    };
    Ok(Settled { took: began.elapsed(), left })
}

fn command(connection: &mut dyn Connection, sql: &str) -> Result<(), Error> {
    let doing = || format!("settle ({sql})");
    connection.query(sql).map_err(|source| Error::Client { doing: doing(), source })?;
    Ok(())
}

fn settle_postgres(order: &SettleOrder<'_>, connection: &mut dyn Connection) -> Result<(), Error> {
    let options = if order.version.at_least(&[12]) {
        "(ANALYZE, INDEX_CLEANUP ON)"
    } else {
        "(ANALYZE)"
    };
    for table in order.tables {
        command(connection, &format!("VACUUM {options} {table}"))?;
    }
    // Writes and syncs every modified page before it returns, so there is nothing to wait for.
    command(connection, "CHECKPOINT")
}

fn settle_innodb(
    order: &SettleOrder<'_>,
    connection: &mut dyn Connection,
    wait: (Instant, &dyn Fn() -> bool),
) -> Result<Option<String>, Error> {
    for table in order.tables {
        command(connection, &format!("ANALYZE TABLE {table}"))?;
    }
    drop_binlogs(order, connection)?;
    let changed = flush_harder(connection)?;
    let waited = wait_for_innodb(order, connection, wait);
    for (name, value) in &changed {
        command(connection, &format!("SET GLOBAL {name} = {value}"))?;
    }
    waited
}

/// Drops binary logs where the server writes any.
fn drop_binlogs(order: &SettleOrder<'_>, connection: &mut dyn Connection) -> Result<(), Error> {
    let on = number(connection, "SELECT @@log_bin", "whether there is a binary log")?;
    if on == 0 {
        return Ok(());
    }
    let renamed = order.dbms == Dbms::Mysql && order.version.at_least(&[8, 4]);
    let sql = if renamed { "RESET BINARY LOGS AND GTIDS" } else { "RESET MASTER" };
    command(connection, sql)
}

/// Lowers the share of dirty pages that InnoDB tolerates; returns what was changed and its old
/// value. Variables that a version lacks are left out: the low-water mark came with 5.6,
/// `innodb_idle_flush_pct` with 8.0.18.
fn flush_harder(
    connection: &mut dyn Connection,
) -> Result<Vec<(&'static str, String)>, Error> {
    // The low-water mark may not exceed the limit, so it goes down first and comes back last.
    const SETTINGS: [(&str, &str); 3] = [
        ("innodb_max_dirty_pages_pct_lwm", "1"),
        ("innodb_max_dirty_pages_pct", "1"),
        ("innodb_idle_flush_pct", "100"),
    ];
    let mut changed = Vec::new();
    for (name, value) in SETTINGS {
        let sql = format!("SHOW GLOBAL VARIABLES LIKE '{name}'");
        let result = connection
            .query(&sql)
            .map_err(|source| Error::Client { doing: format!("read {name}"), source })?;
        let old = result.rows.first().and_then(|row| row.get(1).cloned().flatten());
        let Some(old) = old else { continue };
        if let Err(error) = command(connection, &format!("SET GLOBAL {name} = {value}")) {
            for (name, value) in changed.iter().rev() {
                command(connection, &format!("SET GLOBAL {name} = {value}"))?;
            }
            return Err(error);
        }
        changed.push((name, old));
    }
    changed.reverse();
    Ok(changed)
}

fn wait_for_innodb(
    order: &SettleOrder<'_>,
    connection: &mut dyn Connection,
    (began, go_on): (Instant, &dyn Fn() -> bool),
) -> Result<Option<String>, Error> {
    let pool = status(connection, "Innodb_buffer_pool_pages_total")?.unwrap_or(0);
    let (mut fewest, mut declined) = (u64::MAX, Instant::now());
    loop {
        let dirty = status(connection, "Innodb_buffer_pool_pages_dirty")?.unwrap_or(0);
        let history = history_length(connection)?;
        if dirty < fewest {
            (fewest, declined) = (dirty, Instant::now());
        }
        let rests = dirty <= pool / 100 && declined.elapsed() >= NO_DECLINE;
        if (dirty <= DIRTY_PAGES || rests) && history <= HISTORY {
            return Ok(None);
        }
        if began.elapsed() >= order.ceiling() || !go_on() {
            return Ok(Some(format!("{dirty} dirty pages, {history} transactions to purge")));
        }
        #[expect(clippy::disallowed_methods, reason = "the server has no way to tell when it is done")]
        std::thread::sleep(POLL);
    }
}

fn status(connection: &mut dyn Connection, name: &str) -> Result<Option<u64>, Error> {
    let result = connection
        .query(&format!("SHOW GLOBAL STATUS LIKE '{name}'"))
        .map_err(|source| Error::Client { doing: format!("read {name}"), source })?;
    Ok(result.rows.first().and_then(|row| row.get(1)?.as_deref()?.parse().ok()))
}

/// The history list length: a status variable of MariaDB, a line of `SHOW ENGINE INNODB STATUS`
/// everywhere.
fn history_length(connection: &mut dyn Connection) -> Result<u64, Error> {
    if let Some(length) = status(connection, "Innodb_history_list_length")? {
        return Ok(length);
    }
    let result = connection
        .query("SHOW ENGINE INNODB STATUS")
        .map_err(|source| Error::Client { doing: "read the InnoDB status".into(), source })?;
    let text = result.rows.first().and_then(|row| row.get(2)?.as_deref()).unwrap_or_default();
    parse_history_length(text)
}

/// Finds `History list length 123` in the InnoDB status.
fn parse_history_length(text: &str) -> Result<u64, Error> {
    text.lines()
        .find_map(|line| line.trim().strip_prefix("History list length ")?.trim().parse().ok())
        .ok_or_else(|| Error::Answer {
            doing: "find the history list length in the InnoDB status".into(),
            answer: text.chars().take(200).collect(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn history_length_is_found_in_its_line() {
        let text = "------------\nTRANSACTIONS\n------------\nTrx id counter 1800\n\
                    Purge done for trx's n:o < 1799 undo n:o < 0\nHistory list length 1234\n";
        assert_eq!(parse_history_length(text).unwrap(), 1234);
        let error = parse_history_length("nothing of the kind").unwrap_err();
        assert!(error.to_string().contains("history list length"));
    }

    #[test]
    fn the_ceiling_grows_with_the_rows_and_ends() {
        let version = Version::release(&[8, 0, 33]);
        let ceiling = |n_rows| {
            SettleOrder { dbms: Dbms::Mysql, version: &version, tables: &[], n_rows }.ceiling()
        };
        assert_eq!(ceiling(100_000).as_secs(), 60);
        assert_eq!(ceiling(50_000_000).as_secs(), 110);
        assert_eq!(ceiling(9_000_000_000).as_secs(), 1200);
    }
}
