//! The state of MyRocks's tree, as the server tells it: levels, sizes, debt, cache.

use std::collections::BTreeMap;

use rqps_client::Connection;
use serde::Serialize;

use crate::Error;

/// RocksDB's own bookkeeping, no part of the tables.
const SYSTEM_FAMILY: &str = "__system__";

/// One level of the tree.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Level {
    /// `L0` to `L6`.
    pub level: String,
    /// Its files.
    pub files: u64,
    /// Their size, bytes.
    pub bytes: u64,
    /// Size over target; for level 0 files over trigger. Above 1 a compaction is due.
    pub score: f64,
}

impl Level {
    /// Bytes that a compaction has to move before the level is within its target; a lower bound, as
    /// what they overlap with is rewritten too.
    #[must_use]
    pub fn debt_bytes(&self) -> u64 {
        if self.score <= 1.0 || self.bytes == 0 {
            return 0;
        }
        if self.level == "L0" {
            return self.bytes;
        }
        let target = self.bytes as f64 / self.score;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and bytes"
        )]
        let target = target as u64;
        self.bytes.saturating_sub(target)
    }
}

/// State of the tree.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct State {
    /// The levels with files.
    pub levels: Vec<Level>,
    /// All files of tables and indexes, bytes.
    pub file_bytes: u64,
    /// Data blocks on disk by codec as RocksDB names it, bytes.
    pub data_bytes_by_codec: BTreeMap<String, u64>,
    /// Compaction debt, bytes; a lower bound.
    pub compaction_debt_bytes: u64,
    /// Memtables of all kinds, bytes of memory.
    pub memtable_bytes: u64,
    /// Memtables that wait to be flushed.
    pub immutable_memtables: u64,
    /// Column families whose flush or compaction is due.
    pub pending: u64,
    /// Counters since the server's start: `Rocksdb_block_cache_data_hit` and others.
    pub counters: BTreeMap<String, u64>,
}

/// Counters that are kept: reads by place, stalls, compaction's reads and writes.
const COUNTERS: &str = "'Rocksdb_block_cache_hit', 'Rocksdb_block_cache_miss', \
    'Rocksdb_block_cache_data_hit', 'Rocksdb_block_cache_data_miss', 'Rocksdb_bloom_filter_useful', \
    'Rocksdb_memtable_hit', 'Rocksdb_memtable_miss', 'Rocksdb_get_hit_l0', 'Rocksdb_get_hit_l1', \
    'Rocksdb_get_hit_l2_and_up', 'Rocksdb_compact_read_bytes', 'Rocksdb_compact_write_bytes', \
    'Rocksdb_flush_write_bytes', 'Rocksdb_stall_micros', 'Rocksdb_wal_bytes'";

impl State {
    /// Reads the state from a server with RocksDB.
    ///
    /// # Errors
    /// [`Error::Client`].
    pub fn read(connection: &mut dyn Connection) -> Result<Self, Error> {
        let levels = levels(connection)?;
        let mut state = Self {
            file_bytes: levels.iter().map(|level| level.bytes).sum(),
            compaction_debt_bytes: levels.iter().map(Level::debt_bytes).sum(),
            levels,
            ..Self::default()
        };
        let sql = format!(
            "select stat_type, sum(value) from information_schema.rocksdb_cfstats \
             where cf_name <> '{SYSTEM_FAMILY}' group by 1"
        );
        for (name, value) in numbers(connection, &sql)? {
            match name.as_str() {
                "CUR_SIZE_ALL_MEM_TABLES" => state.memtable_bytes = value,
                "NUM_IMMUTABLE_MEM_TABLE" => state.immutable_memtables = value,
                "MEM_TABLE_FLUSH_PENDING" | "COMPACTION_PENDING" => state.pending += value,
                _ => {}
            }
        }
        // Family 1 is the bookkeeping.
        let sql = "select compression_algo, sum(data_block_size) \
                   from information_schema.rocksdb_sst_props where column_family <> 1 group by 1";
        state.data_bytes_by_codec = numbers(connection, sql)?;
        let sql = format!("SHOW GLOBAL STATUS WHERE Variable_name IN ({COUNTERS})");
        state.counters = numbers(connection, &sql)?;
        Ok(state)
    }

    /// The state as one line of JSON, with the step that has just ended.
    #[must_use]
    pub fn to_json_line(&self, step: &str, clients: u32) -> String {
        #[derive(Serialize)]
        struct Line<'a> {
            step: &'a str,
            clients: u32,
            #[serde(flatten)]
            state: &'a State,
        }
        // Plain values under names that are texts: JSON can always hold them.
        let line = Line { step, clients, state: self };
        serde_json::to_string(&line).map_or_else(|_| String::new(), |text| text + "\n")
    }
}

/// The levels of all families of tables together.
fn levels(connection: &mut dyn Connection) -> Result<Vec<Level>, Error> {
    let sql = format!(
        "select level, max(if(type = 'Score', value, 0)), \
         sum(if(type = 'NumFiles', value, 0)), sum(if(type = 'SizeBytes', value, 0)) \
         from information_schema.rocksdb_compaction_stats \
         where cf_name <> '{SYSTEM_FAMILY}' and level like 'L%' group by 1 order by 1"
    );
    let result = connection.query(&sql).map_err(|e| Error::client("read RocksDB's levels", e))?;
    let levels = result.rows.into_iter().filter_map(|row| {
        let mut texts = row.into_iter().map(Option::unwrap_or_default);
        let level = texts.next()?;
        let mut number = || texts.next()?.parse::<f64>().ok();
        let (score, files, bytes) = (number()?, number()?, number()?);
        Some(Level { level, files: whole(files), bytes: whole(bytes), score })
    });
    Ok(levels.filter(|level| level.files > 0).collect())
}

/// A count that the server writes with decimals; sizes stay below 2^53.
fn whole(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let whole = number.round() as u64;
    whole
}

/// Two columns as names and numbers; what is no number is skipped.
fn numbers(connection: &mut dyn Connection, sql: &str) -> Result<BTreeMap<String, u64>, Error> {
    let result = connection.query(sql).map_err(|e| Error::client("read RocksDB's state", e))?;
    let pairs = result.rows.into_iter().filter_map(|row| {
        let mut texts = row.into_iter().map(Option::unwrap_or_default);
        Some((texts.next()?, whole(texts.next()?.parse().ok()?)))
    });
    Ok(pairs.collect())
}

/// Whether the current database has tables of MyRocks.
///
/// # Errors
/// [`Error::Client`].
pub(crate) fn has_tables(connection: &mut dyn Connection) -> Result<bool, Error> {
    let sql = "select count(*) from information_schema.tables \
               where table_schema = database() and engine = 'ROCKSDB'";
    let result = connection.query(sql).map_err(|e| Error::client("list the tables' engines", e))?;
    Ok(result.scalar().is_some_and(|n| n != "0"))
}

/// Bytes that tables and indexes of the current database take in RocksDB's files.
///
/// The sizes of all files, times the share that belongs to this database: a file may hold several
/// indexes, and each counts with its part of the file's keys and values. What is in memtables alone
/// is not counted: it has no size on disk yet.
///
/// # Errors
/// [`Error::Client`], [`Error::Answer`].
pub(crate) fn table_bytes(connection: &mut dyn Connection) -> Result<u64, Error> {
    let doing = "ask for the size of RocksDB's files";
    let sql = "select coalesce(sum(p.bytes * m.ours / m.total) / sum(p.bytes), 0) from \
        (select sst_name, sum(data_block_size + index_block_size + filter_block_size) as bytes \
         from information_schema.rocksdb_sst_props where column_family <> 1 group by sst_name) p \
        join (select f.sst_name, sum(f.data_size) as total, \
         sum(if(d.index_number is null, 0, f.data_size)) as ours \
         from information_schema.rocksdb_index_file_map f left join \
         (select distinct index_number from information_schema.rocksdb_ddl \
          where table_schema = database()) d \
         on d.index_number = f.index_number group by f.sst_name having sum(f.data_size) > 0) m \
        on m.sst_name = p.sst_name";
    let result = connection.query(sql).map_err(|e| Error::client(doing, e))?;
    let share = result.scalar().and_then(|text| text.parse::<f64>().ok());
    let share = share
        .ok_or_else(|| Error::Answer { doing: doing.to_owned(), answer: format!("{result:?}") })?;
    let all: u64 = levels(connection)?.iter().map(|level| level.bytes).sum();
    Ok(whole(all as f64 * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(level: &str, bytes: u64, score: f64) -> Level {
        Level { level: level.to_owned(), files: 1, bytes, score }
    }

    #[test]
    fn debt_is_what_lies_above_the_targets() {
        assert_eq!(level("L5", 300, 1.5).debt_bytes(), 100);
        assert_eq!(level("L5", 300, 1.0).debt_bytes(), 0);
        assert_eq!(level("L0", 300, 1.25).debt_bytes(), 300, "all of level 0 goes at once");
        assert_eq!(level("L0", 300, 0.75).debt_bytes(), 0);
        assert_eq!(level("L6", 300, 0.0).debt_bytes(), 0);
    }

    #[test]
    fn a_state_is_one_line() {
        let state = State {
            levels: vec![level("L6", 1000, 0.5)],
            file_bytes: 1000,
            data_bytes_by_codec: BTreeMap::from([("ZSTD".to_owned(), 900)]),
            ..State::default()
        };
        expect_test::expect![[r#"
            {"step":"update-index","clients":2,"levels":[{"level":"L6","files":1,"bytes":1000,"score":0.5}],"file_bytes":1000,"data_bytes_by_codec":{"ZSTD":900},"compaction_debt_bytes":0,"memtable_bytes":0,"immutable_memtables":0,"pending":0,"counters":{}}
        "#]]
        .assert_eq(&state.to_json_line("update-index", 2));
    }
}
