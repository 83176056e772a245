//! Settling MyRocks: memtables flushed, level 0 empty, no level above its target, nothing running.
//!
//! The field flushes and then has level 0 compacted by `rocksdb_compact_lzero_now`. MariaDB's
//! counterpart, `rocksdb_force_flush_memtable_and_lzero_now`, compacts with Snappy whatever the
//! family's compression is and into level 1, which dynamic levels leave empty (seen in 10.11.19). So
//! the trigger of level 0 is set to one file instead, and RocksDB's own compaction does the work.

use std::collections::BTreeMap;
use std::time::Duration;

use rqps_client::Connection;

use super::changes::ROCKSDB_OPTIONS;
use crate::destructive::set_global;
use crate::guest::settings::{Changed, forget, value, write_down};
use crate::settle::{Debt, Target, claim, try_set_global, wait_for_rest};
use crate::watch::{Progress, Watch};
use crate::{Error, lsm};

/// Level 0 is compacted as soon as it has this many files.
const TRIGGER: &str = "level0_file_num_compaction_trigger";

pub(super) fn settle(
    target: &Target<'_>,
    connection: &mut dyn Connection,
    limit: Duration,
    watch: &mut Watch<'_>,
    detail: &mut Vec<String>,
) -> Result<Vec<Debt>, Error> {
    watch.check("settle")?;
    if !claim(target, connection, detail)? {
        let at_rest = most_at_rest(&read_triggers(connection)?);
        return wait_for_rest(limit, watch, || debts(connection, at_rest));
    }
    let before = read_triggers(connection)?;
    let option = "select @@rocksdb_update_cf_options";
    let option = connection.query(option).map_err(|e| Error::client(option, e))?;
    let option = option.scalar().unwrap_or("").to_owned();
    let once = triggers_of(before.keys().map(|family| (family.as_str(), 1)));
    let back = triggers_of(before.iter().map(|(family, trigger)| (family.as_str(), *trigger)));
    let changes = [changed(&back, &once), changed(&option, &back)];
    write_down(target.scope, &changes, connection)?;
    let flush = ("rocksdb_force_flush_memtable_now", "1");
    (watch.report)(Progress::Waiting { what: "flush of MyRocks's memtables" });
    let mut is_set = false;
    let result = try_set_global(target, flush, connection, detail)
        .and_then(|_| try_set_global(target, (ROCKSDB_OPTIONS, &value(&once)), connection, detail))
        .and_then(|done| {
            is_set = done;
            let at_rest = if done { 0 } else { most_at_rest(&before) };
            wait_for_rest(limit, watch, || debts(connection, at_rest))
        });
    // Also after an error: a server that is used on must be the one that was configured.
    let restored = if is_set {
        [back, option].iter().try_for_each(|options| {
            set_global(target.scope, (ROCKSDB_OPTIONS, &value(options)), connection)
        })
    } else {
        Ok(())
    };
    if restored.is_ok() {
        forget(target.scope, connection)?;
    }
    let debts = result?;
    restored?;
    Ok(debts)
}

/// Files of level 0 at rest: below its trigger it stays as it is.
fn most_at_rest(triggers: &BTreeMap<String, u64>) -> u64 {
    triggers.values().max().map_or(0, |trigger| trigger.saturating_sub(1))
}

fn debts(connection: &mut dyn Connection, files_at_rest: u64) -> Result<Vec<Debt>, Error> {
    let state = lsm::State::read(connection)?;
    let level_0 = state.levels.iter().find(|l| l.level == "L0").map_or(0, |l| l.files);
    let debt = |what, value| Debt { what, value, bound: 0 };
    Ok(vec![
        debt("memtables to flush", state.immutable_memtables),
        debt("column families with work pending", state.pending),
        Debt { what: "files in level 0", value: level_0, bound: files_at_rest },
        debt("bytes above the levels' targets", state.compaction_debt_bytes),
        debt("compactions under way", running(connection)?),
    ])
}

/// Compactions and flushes that run now. Newer versions list them; the others tell what each thread
/// does in their status.
fn running(connection: &mut dyn Connection) -> Result<u64, Error> {
    let sql = "SHOW ENGINE ROCKSDB STATUS";
    let status = connection.query(sql).map_err(|e| Error::client(sql, e))?;
    let texts = status.rows.iter().filter_map(|row| row.get(2)?.as_deref());
    Ok(texts.map(busy_threads).sum())
}

fn busy_threads(status: &str) -> u64 {
    let work = |line: &&str| {
        line.trim()
            .strip_prefix("operation_type:")
            .is_some_and(|what| matches!(what.trim(), "Compaction" | "Flush"))
    };
    status.lines().filter(work).count() as u64
}

/// The trigger of each family of tables.
fn read_triggers(connection: &mut dyn Connection) -> Result<BTreeMap<String, u64>, Error> {
    let sql = "select cf_name, value from information_schema.rocksdb_cf_options \
               where option_type = 'LEVEL0_FILE_NUM_COMPACTION_TRIGGER' \
               and cf_name <> '__system__'";
    let result = connection.query(sql).map_err(|e| Error::client("read RocksDB's options", e))?;
    let pairs = result.rows.into_iter().filter_map(|row| {
        let mut texts = row.into_iter().map(Option::unwrap_or_default);
        Some((texts.next()?, texts.next()?.parse().ok()?))
    });
    Ok(pairs.collect())
}

/// The families with their triggers as the variable takes them.
fn triggers_of<'a>(triggers: impl Iterator<Item = (&'a str, u64)>) -> String {
    let parts: Vec<String> =
        triggers.map(|(family, trigger)| format!("{family}={{{TRIGGER}={trigger}}}")).collect();
    parts.join(";")
}

fn changed(owners: &str, ours: &str) -> Changed {
    Changed { name: ROCKSDB_OPTIONS.to_owned(), owners: owners.to_owned(), ours: ours.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_at_work_are_counted() {
        let status = "\nthread_type: Low Pri\ncf_name: default\noperation_type: Compaction\n\
                      operation_stage: x\nthread_type: High Pri\noperation_type: \n\
                      thread_type: High Pri\noperation_type: Flush\n";
        assert_eq!(busy_threads(status), 2);
        assert_eq!(busy_threads(""), 0);
    }
}
