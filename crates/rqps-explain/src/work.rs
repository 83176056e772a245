//! The work of a server for an operation by its own counters, under one name for all servers.
//!
//! Servers count the same things under many names, and versions drop and move them (PostgreSQL 17
//! moved checkpoints' writes from `pg_stat_bgwriter` to `pg_stat_checkpointer`, 18 the log's from
//! `pg_stat_wal` to `pg_stat_io`). A metric is the sum of its terms that the server has; it is
//! absent where the server has none of them, never zero. A counter that a version never increases
//! counts as absent.
//!
//! Metrics of data files from `pg_stat_io` include clients and all others, background workers and
//! autovacuum among them; `pg_stat_database` does not separate these either.

use rqps_model::Slice;

/// Work of a server, per operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Work {
    /// Rows that the executor read from the engine.
    Rows,
    /// Pages or blocks asked for.
    Pages,
    /// Of these, found in the server's own cache; InnoDB does not count them.
    Hits,
    /// Of these, not found in the server's own cache.
    Misses,
    /// Bytes read from data files, also from the kernel's page cache. PostgreSQL only: InnoDB's
    /// counter does not move for tables of MyRocks.
    DataReadKb,
    /// Bytes by which data files grew; PostgreSQL only.
    DataAddedKb,
    /// Pages written back by flushing and checkpoints.
    Flushed,
    /// Writes of the redo or write-ahead log.
    LogWrites,
    /// Bytes of these.
    LogKb,
    /// Fsyncs; of PostgreSQL those of its log.
    Fsyncs,
    /// The same of PostgreSQL's data files. They are separate from those of its log, because
    /// versions before 16 do not count them.
    DataFsyncs,
    /// Waits for a row lock.
    LockWaits,
    /// Time of these.
    LockTime,
    /// Temporary tables or files.
    Temporary,
    /// Of these, on disk.
    TemporaryOnDisk,
    /// Reads that RocksDB's memtables answered.
    MemtableHits,
    /// Reads that its files answered, level 0.
    Level0Hits,
    /// Reads that its files answered, level 1.
    Level1Hits,
    /// Reads that its files answered, deeper levels.
    DeepHits,
}

/// Stands at 0 in MariaDB 10.11.5 and its siblings of 2023, whatever is asked for (MDEV-32920), and in none that has
/// tables of InnoDB otherwise.
const DEAD_AT_ZERO: &str = "Innodb_buffer_pool_read_requests";

/// A term of a sum: of several names the first that the server has counts, as they are of one thing.
type Term = &'static [&'static str];

impl Work {
    /// Every metric, in the order of reports.
    pub const ALL: [Self; 19] = [
        Self::Rows,
        Self::Pages,
        Self::Hits,
        Self::Misses,
        Self::DataReadKb,
        Self::DataAddedKb,
        Self::Flushed,
        Self::LogWrites,
        Self::LogKb,
        Self::Fsyncs,
        Self::DataFsyncs,
        Self::LockWaits,
        Self::LockTime,
        Self::Temporary,
        Self::TemporaryOnDisk,
        Self::MemtableHits,
        Self::Level0Hits,
        Self::Level1Hits,
        Self::DeepHits,
    ];

    fn terms(self) -> &'static [Term] {
        match self {
            Self::Rows => &[
                &["Handler_read_first"],
                &["Handler_read_key"],
                &["Handler_read_last"],
                &["Handler_read_next"],
                &["Handler_read_prev"],
                &["Handler_read_rnd"],
                &["Handler_read_rnd_next"],
                &["pg_stat_database.tup_returned"],
            ],
            Self::Pages => &[
                &["Innodb_buffer_pool_read_requests"],
                &["Rocksdb_block_cache_hit"],
                &["Rocksdb_block_cache_miss"],
                &["pg_stat_database.blks_hit"],
                &["pg_stat_database.blks_read"],
            ],
            Self::Hits => &[
                &["Rocksdb_block_cache_hit"],
                &["pg_stat_io.client.hits", "pg_stat_database.blks_hit"],
                &["pg_stat_io.other.hits"],
            ],
            Self::Misses => &[
                &["Innodb_buffer_pool_reads"],
                &["Rocksdb_block_cache_miss"],
                &["pg_stat_database.blks_read"],
            ],
            Self::DataReadKb => {
                &[&["pg_stat_io.client.read_bytes"], &["pg_stat_io.other.read_bytes"]]
            }
            Self::DataAddedKb => {
                &[&["pg_stat_io.client.extend_bytes"], &["pg_stat_io.other.extend_bytes"]]
            }
            Self::Flushed => &[
                &["Innodb_buffer_pool_pages_flushed"],
                &["pg_stat_checkpointer.buffers_written", "pg_stat_bgwriter.buffers_checkpoint"],
                &["pg_stat_bgwriter.buffers_clean"],
                &["pg_stat_bgwriter.buffers_backend", "pg_stat_io.client.writes"],
            ],
            Self::LogWrites => {
                &[&["Innodb_log_writes"], &["pg_stat_wal.wal_write", "pg_stat_io.wal.writes"]]
            }
            Self::LogKb => {
                &[&["Innodb_os_log_written"], &["Rocksdb_wal_bytes"], &["pg_stat_wal.wal_bytes"]]
            }
            Self::Fsyncs => &[
                &["Innodb_data_fsyncs"],
                &["Rocksdb_wal_synced"],
                &["pg_stat_wal.wal_sync", "pg_stat_io.wal.fsyncs"],
            ],
            Self::DataFsyncs => &[&["pg_stat_io.client.fsyncs"], &["pg_stat_io.other.fsyncs"]],
            Self::LockWaits => &[&["Innodb_row_lock_waits"], &["Rocksdb_row_lock_wait_timeouts"]],
            Self::LockTime => &[&["Innodb_row_lock_time"]],
            Self::Temporary => &[&["Created_tmp_tables"], &["pg_stat_database.temp_files"]],
            Self::TemporaryOnDisk => {
                &[&["Created_tmp_disk_tables"], &["pg_stat_database.temp_files"]]
            }
            Self::MemtableHits => &[&["Rocksdb_memtable_hit"]],
            Self::Level0Hits => &[&["Rocksdb_get_hit_l0"]],
            Self::Level1Hits => &[&["Rocksdb_get_hit_l1"]],
            Self::DeepHits => &[&["Rocksdb_get_hit_l2_and_up"]],
        }
    }

    /// The factor from the servers' units to [`Work::unit`].
    fn scale(self) -> f64 {
        match self {
            Self::LogKb | Self::DataReadKb | Self::DataAddedKb => 1.0 / 1024.0,
            // Milliseconds.
            Self::LockTime => 1e3,
            _ => 1.0,
        }
    }

    /// The unit of a value: `count`, `KB` or `us`.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::LogKb | Self::DataReadKb | Self::DataAddedKb => "KB",
            Self::LockTime => "us",
            _ => "count",
        }
    }

    /// For programs, without the unit: `rows_read`.
    #[must_use]
    pub fn stem(self) -> &'static str {
        match self {
            Self::Rows => "rows_read",
            Self::Pages => "pages_requested",
            Self::Hits => "pages_hit",
            Self::Misses => "pages_missed",
            Self::DataReadKb => "data_files_read",
            Self::DataAddedKb => "data_files_added",
            Self::Flushed => "pages_flushed",
            Self::LogWrites => "log_writes",
            Self::LogKb => "log_written",
            Self::Fsyncs => "fsyncs",
            Self::DataFsyncs => "data_file_fsyncs",
            Self::LockWaits => "row_lock_waits",
            Self::LockTime => "row_lock_time",
            Self::Temporary => "temporary_tables",
            Self::TemporaryOnDisk => "temporary_tables_on_disk",
            Self::MemtableHits => "memtable_hits",
            Self::Level0Hits => "level_0_hits",
            Self::Level1Hits => "level_1_hits",
            Self::DeepHits => "deeper_level_hits",
        }
    }

    /// For people, as a plural: `rows read`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Rows => "rows read",
            Self::Pages => "pages asked for",
            Self::Hits => "pages found in the cache",
            Self::Misses => "pages not in the cache",
            Self::DataReadKb => "KB read from data files",
            Self::DataAddedKb => "KB added to data files",
            Self::Flushed => "pages flushed",
            Self::LogWrites => "log writes",
            Self::LogKb => "KB of log",
            Self::Fsyncs => "fsyncs",
            Self::DataFsyncs => "fsyncs of data files",
            Self::LockWaits => "row lock waits",
            Self::LockTime => "µs of row lock waits",
            Self::Temporary => "temporary tables",
            Self::TemporaryOnDisk => "temporary tables on disk",
            Self::MemtableHits => "reads from memtables",
            Self::Level0Hits => "reads from level 0",
            Self::Level1Hits => "reads from level 1",
            Self::DeepHits => "reads from deeper levels",
        }
    }

    /// The counters that it is the sum of, for the documentation.
    #[must_use]
    pub fn source(self) -> String {
        let term = |term: &Term| term.join(" or ");
        self.terms().iter().map(term).collect::<Vec<_>>().join(", ")
    }

    /// The value per operation of a slice; `None` where the server has none of the counters or nothing
    /// was done.
    #[must_use]
    pub fn value(self, slice: &Slice) -> Option<f64> {
        let n = slice.operations_of_counters();
        let is_alive = |name: &str, n: u64| n > 0 || name != DEAD_AT_ZERO;
        let count = |name: &&str| slice.counters.get(*name).filter(|n| is_alive(name, **n));
        let of_term = |term: &Term| term.iter().find_map(count);
        let mut known = self.terms().iter().filter_map(of_term).peekable();
        known.peek()?;
        let sum: f64 = known.map(|n| *n as f64).sum();
        (n > 0).then(|| sum * self.scale() / n as f64)
    }
}

/// The names of all counters that a metric is made of.
pub fn names() -> impl Iterator<Item = &'static str> {
    Work::ALL.into_iter().flat_map(|work| work.terms().iter().flat_map(|term| term.iter().copied()))
}

#[cfg(test)]
mod tests;
