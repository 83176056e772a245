//! What a server counts itself: rows, pages, log, locks, temporary tables, by the server's own names.
//!
//! Read on a connection of its own and never while anything is measured. Names come and go with
//! versions: a counter that a server does not have is absent, never zero. MySQL's family is asked for
//! the names below; of PostgreSQL's views every column that is a whole number is taken, so that a new
//! version's are there as well.

use std::collections::BTreeMap;
use std::time::Duration;

use rqps_client::{Connection, Endpoint, ResultSet};
use rqps_model::Dbms;

use crate::{Error, connect_to_keep};

/// Counters since a server's start, by its own names; PostgreSQL's with their view:
/// `pg_stat_database.blks_hit`, of `pg_stat_io` with who did it: `pg_stat_io.client.reads`. Bytes of that
/// view have the names of 18 in all versions.
pub type Counters = BTreeMap<String, u64>;

/// Counters of MySQL's family (MySQL 9.7 Reference Manual, "Server Status Variables"; MariaDB's and
/// MyRocks's documentation of the same).
pub const STATUS: [&str; 60] = [
    "Binlog_cache_disk_use",
    "Bytes_received",
    "Bytes_sent",
    "Com_commit",
    "Created_tmp_disk_tables",
    "Created_tmp_files",
    "Created_tmp_tables",
    "Handler_commit",
    "Handler_delete",
    "Handler_read_first",
    "Handler_read_key",
    "Handler_read_last",
    "Handler_read_next",
    "Handler_read_prev",
    "Handler_read_rnd",
    "Handler_read_rnd_next",
    "Handler_update",
    "Handler_write",
    "Innodb_buffer_pool_pages_flushed",
    "Innodb_buffer_pool_read_ahead",
    "Innodb_buffer_pool_read_requests",
    "Innodb_buffer_pool_reads",
    "Innodb_buffer_pool_wait_free",
    "Innodb_buffer_pool_write_requests",
    "Innodb_data_fsyncs",
    "Innodb_data_read",
    "Innodb_data_reads",
    "Innodb_data_writes",
    "Innodb_data_written",
    "Innodb_dblwr_pages_written",
    "Innodb_log_waits",
    "Innodb_log_write_requests",
    "Innodb_log_writes",
    "Innodb_os_log_fsyncs",
    "Innodb_os_log_written",
    "Innodb_pages_created",
    "Innodb_pages_read",
    "Innodb_pages_written",
    "Innodb_row_lock_time",
    "Innodb_row_lock_waits",
    "Rocksdb_block_cache_hit",
    "Rocksdb_block_cache_miss",
    "Rocksdb_bloom_filter_useful",
    "Rocksdb_bytes_read",
    "Rocksdb_bytes_written",
    "Rocksdb_compact_read_bytes",
    "Rocksdb_compact_write_bytes",
    "Rocksdb_flush_write_bytes",
    "Rocksdb_get_hit_l0",
    "Rocksdb_get_hit_l1",
    "Rocksdb_get_hit_l2_and_up",
    "Rocksdb_memtable_hit",
    "Rocksdb_memtable_miss",
    "Rocksdb_row_lock_wait_timeouts",
    "Rocksdb_stall_micros",
    "Rocksdb_wal_bytes",
    "Rocksdb_wal_synced",
    "Select_scan",
    "Sort_merge_passes",
    "Sort_rows",
];

/// Counters that asking for them moves: the server fills a table in memory with all of them and reads it.
const MOVED_BY_ASKING: [&str; 4] = ["Created_tmp", "Handler_", "Select_", "Bytes_"];

/// PostgreSQL's views, each with what is asked of it. `pg_stat_checkpointer` is there since 17,
/// `pg_stat_wal` since 14, `pg_stat_io` since 16 (documentation of 19, "The Cumulative Statistics
/// System").
const VIEWS: [(&str, &str); 5] = [
    ("pg_stat_database", "select * from pg_stat_database where datname = current_database()"),
    ("pg_stat_bgwriter", "select * from pg_stat_bgwriter"),
    ("pg_stat_checkpointer", "select * from pg_stat_checkpointer"),
    ("pg_stat_wal", "select * from pg_stat_wal"),
    (IO, "select * from pg_stat_io"),
];

/// The view with a row for each kind of process and object.
const IO: &str = "pg_stat_io";

/// Columns that are whole numbers and no counters.
const NO_COUNTERS: [&str; 3] = ["datid", "numbackends", OP_BYTES];

/// Up to 17 the size of each read, write and extend of a row of `pg_stat_io`.
const OP_BYTES: &str = "op_bytes";

/// What is counted in units of [`OP_BYTES`], with the column that has its bytes since 18, where one read
/// or extend may be of many blocks: the bytes alone mean the same in all versions.
const WITH_BYTES: [(&str, &str); 3] =
    [("reads", "read_bytes"), ("writes", "write_bytes"), ("extends", "extend_bytes")];

/// A connection that reads a server's counters.
pub struct Probe {
    dbms: Dbms,
    connection: Box<dyn Connection>,
    /// Views that the server has.
    views: Vec<(&'static str, &'static str)>,
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
    /// Opens a connection and finds out what there is and what asking costs. The server may take `within` to
    /// tell its counters, while clients are at work.
    ///
    /// # Errors
    /// When the server cannot be reached, or the connection fails.
    pub fn open(dbms: Dbms, endpoint: &Endpoint, within: Duration) -> Result<Self, Error> {
        let mut connection = connect_to_keep(dbms, endpoint)?;
        connection
            .set_timeout(Some(within))
            .map_err(|e| Error::client("set the time to wait for the server's counters", e))?;
        let views = if dbms == Dbms::Postgres { VIEWS.to_vec() } else { Vec::new() };
        let own = Counters::new();
        let mut probe = Self { dbms, connection, views, own, tells_any: false };
        let first = probe.read()?;
        let second = probe.read()?;
        probe.tells_any = !second.is_empty();
        probe.own = since(&first, &second, &Counters::new());
        probe.own.retain(|name, _| MOVED_BY_ASKING.iter().any(|part| name.starts_with(part)));
        Ok(probe)
    }

    /// Whether the server tells any counters; one may refuse its views, or know none of the names.
    #[must_use]
    pub fn tells_any(&self) -> bool {
        self.tells_any
    }

    /// The counters as they stand.
    ///
    /// # Errors
    /// When the connection fails. What the server refuses to tell is left out.
    pub fn read(&mut self) -> Result<Counters, Error> {
        match self.dbms {
            Dbms::Null => Ok(Counters::new()),
            Dbms::Mysql | Dbms::Mariadb => {
                let names = STATUS.map(|name| format!("'{name}'")).join(", ");
                let sql = format!("show global status where Variable_name in ({names})");
                Ok(self.ask(&sql)?.map_or_else(Counters::new, |result| parse_status(&result)))
            }
            Dbms::Postgres => {
                let mut counters = Counters::new();
                for (view, sql) in std::mem::take(&mut self.views) {
                    // One that the version does not have is not asked for again.
                    if let Some(result) = self.ask(sql)? {
                        counters.extend(parse_view(view, &result));
                        self.views.push((view, sql));
                    }
                }
                Ok(counters)
            }
        }
    }

    /// What was counted from `first` to `last`, less what asking adds.
    #[must_use]
    pub fn between(&self, first: &Counters, last: &Counters) -> Counters {
        since(first, last, &self.own)
    }

    /// A statement's result; nothing where the server refuses it.
    fn ask(&mut self, sql: &str) -> Result<Option<ResultSet>, Error> {
        match self.connection.query(sql) {
            Ok(result) => Ok(Some(result)),
            Err(rqps_client::Error::Server(_)) => Ok(None),
            Err(e) => Err(Error::client("read the server's counters", e)),
        }
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

/// The rows of `SHOW GLOBAL STATUS`, under the names of [`STATUS`] however a server writes them (Meta's
/// MySQL: `rocksdb_wal_bytes`). What is no whole number, or none of these, is left out.
#[must_use]
pub fn parse_status(result: &ResultSet) -> Counters {
    let row = |row: &Vec<Option<String>>| {
        let name = row.first()?.as_deref()?;
        let known = STATUS.iter().find(|known| known.eq_ignore_ascii_case(name))?;
        Some(((*known).to_owned(), row.get(1)?.as_deref()?.parse().ok()?))
    };
    result.rows.iter().filter_map(row).collect()
}

/// The whole numbers of a view's columns, summed over its rows. A column that has anything else in one of
/// the rows is not of whole numbers, even where other rows happen to print one, and is left out.
#[must_use]
pub fn parse_view(view: &str, result: &ResultSet) -> Counters {
    let mut sums: BTreeMap<String, Option<u64>> = BTreeMap::new();
    let column = |name: &str| result.columns.iter().position(|c| c == name);
    let (who, object, unit) = (column("backend_type"), column("object"), column(OP_BYTES));
    for row in &result.rows {
        let text = |at: Option<usize>| at.and_then(|at| row.get(at)?.as_deref()).unwrap_or("");
        let prefix = if view != IO {
            view.to_owned()
        } else if text(object) == "wal" {
            format!("{view}.wal")
        } else if text(who) == "client backend" {
            format!("{view}.client")
        } else {
            format!("{view}.other")
        };
        let unit_bytes: Option<u64> = text(unit).parse().ok();
        let mut add = |name: &str, value: Option<u64>| {
            let sum = sums.entry(format!("{prefix}.{name}")).or_insert(Some(0));
            *sum = sum.zip(value).map(|(sum, value)| sum.saturating_add(value));
        };
        for (name, value) in result.columns.iter().zip(row) {
            // NULL is of a row to which the column does not apply.
            let Some(value) = value.as_deref().filter(|_| !NO_COUNTERS.contains(&name.as_str()))
            else {
                continue;
            };
            let value: Option<u64> = value.parse().ok();
            add(name, value);
            let in_bytes = WITH_BYTES.iter().find(|(counted, _)| *counted == name.as_str());
            if let (Some((_, in_bytes)), Some(unit_bytes)) = (in_bytes, unit_bytes) {
                add(in_bytes, value.map(|n| n.saturating_mul(unit_bytes)));
            }
        }
    }
    sums.into_iter().filter_map(|(name, sum)| Some((name, sum?))).collect()
}

#[cfg(test)]
mod tests;
