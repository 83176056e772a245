//! Counters of MySQL's family, by names: MySQL has hundreds, which come and go.

use rqps_client::ResultSet;

use crate::dbms::driver::{CounterQuestion, Counters};

/// Counters of MySQL's family (MySQL 9.7 Reference Manual, "Server Status Variables"; MariaDB's and
/// MyRocks's documentation of the same).
const STATUS: [&str; 60] = [
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

/// The server fills a table in memory with all of them and reads it.
const MOVED_BY_ASKING: &[&str] = &["Created_tmp", "Handler_", "Select_", "Bytes_"];

/// Asks for all of them at once.
pub(super) const STATUS_QUESTION: CounterQuestion = CounterQuestion {
    view: "",
    sql: status_sql,
    parse: |_, result| parse_status(result),
    moved_by_asking: MOVED_BY_ASKING,
};

fn status_sql(_: &str) -> String {
    let names = STATUS.map(|name| format!("'{name}'")).join(", ");
    format!("show global status where Variable_name in ({names})")
}

/// The rows of `SHOW GLOBAL STATUS`, under the names of [`STATUS`] however a server writes them (Meta's
/// MySQL: `rocksdb_wal_bytes`). What is no whole number, or none of these, is left out.
fn parse_status(result: &ResultSet) -> Counters {
    let row = |row: &Vec<Option<String>>| {
        let name = row.first()?.as_deref()?;
        let known = STATUS.iter().find(|known| known.eq_ignore_ascii_case(name))?;
        Some(((*known).to_owned(), row.get(1)?.as_deref()?.parse().ok()?))
    };
    result.rows.iter().filter_map(row).collect()
}

#[cfg(test)]
mod tests;
