//! What a server runs with, as it says itself: settings, the session's facts, sizes.

use std::collections::BTreeMap;

use rqps_client::{Connection, ResultSet};
use rqps_model::Dbms;

use crate::Error;

fn ask(
    connection: &mut dyn Connection,
    sql: &str,
    what: &'static str,
) -> Result<ResultSet, Error> {
    connection.query(sql).map_err(|source| Error::Client { doing: format!("read {what}"), source })
}

/// Rows of two columns as a map; a NULL value is empty text.
fn pairs(result: ResultSet) -> BTreeMap<String, String> {
    let pair = |row: Vec<Option<String>>| {
        let mut cells = row.into_iter();
        let name = cells.next()??;
        Some((name, cells.next()?.unwrap_or_default()))
    };
    result.rows.into_iter().filter_map(pair).collect()
}

/// Settings that hold the moment, a random value or a place rather than a setting: they would differ
/// between any two servers and say nothing.
const NOT_SETTINGS: [&str; 18] = [
    "timestamp",
    "pseudo_thread_id",
    "server_uuid",
    "hostname",
    "rand_seed1",
    "rand_seed2",
    "error_count",
    "warning_count",
    "last_insert_id",
    "insert_id",
    "identity",
    "in_transaction",
    "gtid_executed",
    "gtid_purged",
    "gtid_binlog_pos",
    "gtid_binlog_state",
    "gtid_current_pos",
    "gtid_slave_pos",
];

/// The effective settings: `SHOW GLOBAL VARIABLES`, or `pg_settings` with its units.
///
/// # Errors
/// The server's.
pub fn effective_settings(
    dbms: Dbms,
    connection: &mut dyn Connection,
) -> Result<BTreeMap<String, String>, Error> {
    let sql = match dbms {
        Dbms::Mysql | Dbms::Mariadb => "SHOW GLOBAL VARIABLES",
        Dbms::Postgres => {
            "SELECT name, setting || CASE WHEN unit IS NULL THEN '' ELSE ' ' || unit END \
             FROM pg_settings ORDER BY name"
        }
        Dbms::Null => return Ok(BTreeMap::new()),
    };
    let mut settings = pairs(ask(connection, sql, "settings")?);
    settings.retain(|name, _| !NOT_SETTINGS.contains(&name.to_ascii_lowercase().as_str()));
    Ok(settings)
}

/// Facts of the benchmark's own session that can make one system slower than another: character
/// sets, isolation, autocommit, SQL mode, TLS as the server sees it.
///
/// # Errors
/// The server's.
pub fn session_facts(
    dbms: Dbms,
    connection: &mut dyn Connection,
) -> Result<BTreeMap<String, String>, Error> {
    let mut facts = match dbms {
        Dbms::Mysql | Dbms::Mariadb => {
            let sql = "SHOW SESSION VARIABLES WHERE Variable_name IN ('autocommit', \
                'character_set_client', 'character_set_connection', 'character_set_results', \
                'character_set_database', 'collation_connection', 'collation_database', \
                'sql_mode', 'tx_isolation', 'transaction_isolation')";
            let mut facts = pairs(ask(connection, sql, "session variables")?);
            let sql = "SHOW SESSION STATUS LIKE 'Ssl_cipher'";
            facts.extend(pairs(ask(connection, sql, "session status")?));
            facts
        }
        Dbms::Postgres => {
            let sql = "SELECT name, setting FROM pg_settings WHERE name IN ('client_encoding', \
                'server_encoding', 'lc_collate', 'default_transaction_isolation', \
                'synchronous_commit', 'standard_conforming_strings', 'jit')";
            let mut facts = pairs(ask(connection, sql, "session settings")?);
            let sql = "SELECT 'collation', datcollate FROM pg_database \
                WHERE datname = current_database()";
            facts.extend(pairs(ask(connection, sql, "the database's collation")?));
            facts
        }
        Dbms::Null => BTreeMap::new(),
    };
    let session = connection.session();
    facts.insert("transport".into(), session.transport.clone());
    facts.insert("tls".into(), session.tls.clone());
    facts.insert("auth".into(), session.auth.clone());
    Ok(facts)
}

/// The server's own version text.
///
/// # Errors
/// The server's.
pub fn version_text(connection: &mut dyn Connection) -> Result<String, Error> {
    let result = ask(connection, "SELECT version()", "the version")?;
    Ok(result.scalar().unwrap_or_default().to_owned())
}

/// Size of the current database, tables and indexes, bytes.
///
/// MySQL and MariaDB keep it in statistics that lag behind; PostgreSQL adds up files.
///
/// # Errors
/// The server's, or an answer that is no number.
pub fn database_bytes(dbms: Dbms, connection: &mut dyn Connection) -> Result<u64, Error> {
    let sql = match dbms {
        Dbms::Mysql | Dbms::Mariadb => {
            "SELECT COALESCE(SUM(DATA_LENGTH + INDEX_LENGTH), 0) FROM information_schema.TABLES \
             WHERE TABLE_SCHEMA = DATABASE()"
        }
        Dbms::Postgres => {
            "SELECT COALESCE(SUM(pg_total_relation_size(c.oid)), 0) FROM pg_class c \
             JOIN pg_namespace n ON n.oid = c.relnamespace \
             WHERE n.nspname = 'public' AND c.relkind = 'r'"
        }
        Dbms::Null => return Ok(0),
    };
    number(connection, sql, "the size of the database")
}

/// The first value of a query's result as a number without sign.
pub(crate) fn number(
    connection: &mut dyn Connection,
    sql: &str,
    what: &'static str,
) -> Result<u64, Error> {
    let result = ask(connection, sql, what)?;
    let text = result.scalar().unwrap_or_default();
    text.parse().map_err(|_| Error::Answer { doing: format!("read {what}"), answer: text.into() })
}

/// Size of a directory and everything below it, bytes on disk. Files that vanish are no error.
#[must_use]
pub fn directory_bytes(dir: &std::path::Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let Ok(entries) = std::fs::read_dir(dir) else { return 0 };
    let size = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => directory_bytes(&entry.path()),
        // st_blocks counts 512 bytes, whatever the file system's block.
        Ok(meta) => meta.blocks() * 512,
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
