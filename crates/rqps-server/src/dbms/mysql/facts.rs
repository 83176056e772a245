//! What MySQL and MariaDB say of themselves: settings, session, tables and their sizes, background work.

use std::collections::BTreeMap;
use std::path::Path;

use rqps_client::Connection;
use rqps_model::Version;

use super::files::innodb_file_bytes;
use super::guest::quoted;
use super::settle::parse_history;
use crate::answer::{ask, pairs, query};
use crate::guest::MARKER;
use crate::{Error, lsm};

/// The largest value that MySQL and MariaDB take on Linux for the time that a session is idle, s: a year (MySQL 9.7
/// Reference Manual, "wait_timeout").
const LONGEST_IDLE_S: u32 = 31_536_000;

/// Lets a session be idle.
pub(super) fn keep_session_sql() -> Option<String> {
    Some(format!("SET SESSION wait_timeout = {LONGEST_IDLE_S}"))
}

/// The settings in effect.
pub(super) fn settings(connection: &mut dyn Connection) -> Result<BTreeMap<String, String>, Error> {
    query(connection, "read the server's settings", "SHOW GLOBAL VARIABLES").map(pairs)
}

/// The settings of a session that make two sessions differ.
pub(super) fn session(connection: &mut dyn Connection) -> Result<BTreeMap<String, String>, Error> {
    let doing = "read the session's settings";
    let sql = "SHOW SESSION VARIABLES WHERE Variable_name IN ('character_set_client', \
        'character_set_connection', 'character_set_results', 'character_set_database', \
        'collation_connection', 'collation_database', 'autocommit', 'sql_mode', \
        'transaction_isolation', 'tx_isolation', 'default_storage_engine', \
        'big_tables', 'unique_checks', 'foreign_key_checks', 'sql_log_bin', \
        'sql_safe_updates', 'max_execution_time', 'max_statement_time', 'profiling')";
    let mut facts = BTreeMap::new();
    for (name, value) in pairs(query(connection, doing, sql)?) {
        // One name for it, whatever the version calls it.
        let name = if name == "tx_isolation" { "transaction_isolation".into() } else { name };
        facts.insert(name, value);
    }
    let sql = "SHOW SESSION STATUS WHERE Variable_name IN ('Ssl_cipher', 'Ssl_version', \
        'Compression')";
    facts.extend(pairs(query(connection, doing, sql)?));
    Ok(facts)
}

/// Bytes of MySQL's tables with their indexes.
pub(super) fn table_bytes(
    version: &Version,
    data_dir: Option<&Path>,
    connection: &mut dyn Connection,
) -> Result<Option<u64>, Error> {
    if version.at_least(&[8, 0, 3]) {
        // 8.0 answers from a cache that is a day old otherwise.
        let sql = "SET SESSION information_schema_stats_expiry = 0";
        query(connection, "ask for the size of the tables", sql)?;
    }
    // Before 5.7 there is no such column.
    let view = match (version.at_least(&[5, 7]), version.at_least(&[8])) {
        (_, true) => Some("innodb_tablespaces"),
        (true, false) => Some("innodb_sys_tablespaces"),
        (false, false) => None,
    };
    bytes_of_files(view, data_dir, connection)
}

/// Bytes of all tables with their indexes. `view` of the information schema tells what InnoDB's files take.
pub(in crate::dbms) fn bytes_of_files(
    view: Option<&str>,
    data_dir: Option<&Path>,
    connection: &mut dyn Connection,
) -> Result<Option<u64>, Error> {
    let doing = "ask for the size of the tables";
    let sql = format!(
        "select engine, table_name, data_length + index_length, database() \
         from information_schema.tables \
         where table_schema = database() and table_type = 'BASE TABLE' and table_name <> '{MARKER}'"
    );
    let mut sum = 0;
    let mut has_rocksdb = false;
    for row in query(connection, doing, &sql)?.rows {
        let answer = format!("{row:?}");
        let mut texts = row.into_iter().map(Option::unwrap_or_default);
        let mut text = || texts.next().unwrap_or_default();
        let (engine, table, bytes, database) = (text(), text(), text(), text());
        if engine.eq_ignore_ascii_case("rocksdb") {
            has_rocksdb = true;
            continue;
        }
        let by_statistics =
            bytes.parse::<u64>().map_err(|_| Error::Answer { doing: doing.to_owned(), answer })?;
        sum += match data_dir {
            // None has a file of its own with innodb_file_per_table off.
            Some(dir) => innodb_file_bytes(&dir.join(database), &table)
                .filter(|bytes| *bytes > 0)
                .unwrap_or(by_statistics),
            // Statistics are of an earlier time, and may be off by a factor of ten.
            None => match told_bytes(view, connection, &table)?.filter(|bytes| *bytes > 0) {
                Some(bytes) => bytes,
                None => return Ok(None),
            },
        };
    }
    if has_rocksdb {
        sum += lsm::table_bytes(connection)?;
    }
    Ok(Some(sum))
}

/// What the files of a table and its partitions take on disk, as InnoDB tells; `None` where it does not, or not this
/// user.
fn told_bytes(
    view: Option<&str>,
    connection: &mut dyn Connection,
    table: &str,
) -> Result<Option<u64>, Error> {
    let Some(view) = view else { return Ok(None) };
    let table = table.replace('\'', "''");
    let sql = format!(
        "select sum(allocated_size) from information_schema.{view} \
         where substring_index(name, '#', 1) = concat(database(), '/{table}')"
    );
    let result = ask(connection, "ask for the size of a table's file", &sql)?;
    Ok(result.and_then(|result| result.scalar()?.parse().ok()))
}

/// The tables of the current database, as SQL takes their names.
pub(super) fn tables(connection: &mut dyn Connection) -> Result<Vec<String>, Error> {
    let sql = format!(
        "select table_name from information_schema.tables where table_schema = database() \
         and table_type = 'BASE TABLE' and table_name <> '{MARKER}' order by 1"
    );
    let result = query(connection, "list the tables", &sql)?;
    let names = result.rows.into_iter().filter_map(|mut row| row.get_mut(0)?.take());
    Ok(names.map(|name| quoted(&name)).collect())
}

/// Pages to write, versions to purge, trees to compact. What this user may not read is left out.
pub(super) fn debt(connection: &mut dyn Connection) -> Result<BTreeMap<String, u64>, Error> {
    let mut debt = BTreeMap::new();
    let sql = "show global status like 'Innodb_buffer_pool_pages_dirty'";
    let dirty = ask(connection, sql, sql)?;
    if let Some(pages) =
        dirty.and_then(|result| result.rows.first()?.get(1)?.as_deref()?.parse().ok())
    {
        debt.insert("dirty pages".to_owned(), pages);
    }
    let sql = "show engine innodb status";
    let status = ask(connection, sql, sql)?;
    let status = status.and_then(|result| result.rows.first()?.get(2)?.clone());
    if let Some(length) = status.as_deref().and_then(parse_history) {
        debt.insert("history list length".to_owned(), length);
    }
    if lsm::has_tables(connection)?
        && let Ok(state) = lsm::State::read(connection)
    {
        debt.insert("compaction bytes".to_owned(), state.compaction_debt_bytes);
    }
    Ok(debt)
}
