//! The state of PostgreSQL's tables: dead rows, sizes, levels of indexes, the oldest snapshot.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rqps_client::Connection;
use rqps_model::{TableFact, TableState};

use super::facts::IN_PATH;
use crate::Error;
use crate::answer::{ask, rows};
use crate::guest::MARKER;

/// What an index of type btree has after the header of its first page, in 9.3 and later: `BTMetaPageData` begins with
/// its magic number and has the level of the root as the fourth word.
const META_AT: u64 = 24;
const MAGIC: u32 = 0x0005_3162;

pub(super) fn table_state(
    data_dir: Option<&Path>,
    connection: &mut dyn Connection,
) -> Result<TableState, Error> {
    let facts = [
        TableFact::Rows,
        TableFact::DeadRows,
        TableFact::Updates,
        TableFact::HotUpdates,
        TableFact::Autovacuums,
        TableFact::TableBytes,
        TableFact::IndexBytes,
        TableFact::SnapshotAge,
    ];
    let sql = format!(
        "select sum(n_live_tup)::bigint, sum(n_dead_tup)::bigint, sum(n_tup_upd)::bigint, sum(n_tup_hot_upd)::bigint, \
         sum(autovacuum_count + autoanalyze_count)::bigint, sum(pg_table_size(relid))::bigint, \
         sum(pg_indexes_size(relid))::bigint, \
         (select coalesce(max(age(backend_xmin)), 0) from pg_stat_activity \
          where pid <> pg_backend_pid()) \
         from pg_stat_user_tables s join pg_namespace n on n.nspname = s.schemaname \
         where s.relname <> '{MARKER}' and {IN_PATH}"
    );
    let answer = ask(connection, "ask for the state of the tables", &sql)?;
    let values = answer.and_then(|answer| answer.rows.into_iter().next()).unwrap_or_default();
    let mut state = TableState::new();
    for (fact, value) in facts.into_iter().zip(values) {
        state.extend(value.and_then(|value| value.parse().ok()).map(|value| (fact, value)));
    }
    if let Some(data_dir) = data_dir {
        let levels = index_levels(data_dir, connection);
        state.extend(levels.map(|levels| (TableFact::IndexLevels, levels)));
    }
    Ok(state)
}

/// The levels of all indexes, as they are on disk: those of the last checkpoint. `None` where one cannot be read.
fn index_levels(data_dir: &Path, connection: &mut dyn Connection) -> Option<u64> {
    let sql = format!(
        "select pg_relation_filepath(c.oid) from pg_class c \
         join pg_namespace n on n.oid = c.relnamespace join pg_am a on a.oid = c.relam \
         where c.relkind = 'i' and a.amname = 'btree' and {IN_PATH}"
    );
    let level = |row: &Vec<String>| {
        let mut meta = [0; 16];
        let file = File::open(data_dir.join(row.first()?)).ok()?;
        file.read_exact_at(&mut meta, META_AT).ok()?;
        parse_level(&meta)
    };
    rows(connection, &sql).iter().map(level).sum()
}

/// The level of the root: 0 where it is a leaf.
fn parse_level(meta: &[u8; 16]) -> Option<u64> {
    let word = |at: usize| {
        let bytes = meta.get(at..at + 4)?;
        Some(u32::from_le_bytes(bytes.try_into().ok()?))
    };
    (word(0)? == MAGIC).then_some(())?;
    word(12).map(u64::from)
}

#[cfg(test)]
mod tests {
    use super::parse_level;

    #[test]
    fn the_level_of_an_index_is_the_fourth_word_of_its_first_page() {
        let mut meta = [0; 16];
        meta[..4].copy_from_slice(&0x0005_3162_u32.to_le_bytes());
        meta[4] = 4;
        meta[8] = 209;
        meta[12] = 2;
        assert_eq!(parse_level(&meta), Some(2));
        meta[0] = 0;
        assert_eq!(parse_level(&meta), None, "no btree");
    }
}
