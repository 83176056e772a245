//! What a server really runs with, as it says itself: settings, session, sizes.

use std::collections::BTreeMap;
use std::path::Path;

use rqps_client::{Connection, ResultSet};
use rqps_model::{Dbms, Version};

use crate::guest::MARKER;
use crate::{Error, disk, idle, lsm};

fn query(connection: &mut dyn Connection, doing: &str, sql: &str) -> Result<ResultSet, Error> {
    connection.query(sql).map_err(|e| Error::client(doing, e))
}

/// The first two columns of a result as a map; NULL is an empty text.
fn pairs(result: ResultSet) -> BTreeMap<String, String> {
    let mut map = BTreeMap::new();
    for mut row in result.rows {
        if row.len() >= 2 {
            let (name, value) = (row[0].take(), row[1].take());
            map.insert(name.unwrap_or_default(), value.unwrap_or_default());
        }
    }
    map
}

/// The effective settings by the server's own names: `SHOW GLOBAL VARIABLES`, or `pg_settings` with
/// units as SHOW writes them.
///
/// # Errors
/// [`Error::Client`].
pub fn effective_settings(
    dbms: Dbms,
    connection: &mut dyn Connection,
) -> Result<BTreeMap<String, String>, Error> {
    let sql = match dbms {
        Dbms::Mysql | Dbms::Mariadb => "SHOW GLOBAL VARIABLES".to_owned(),
        // These settings may be of this very connection ([`idle::keep`], [`crate::guest`]).
        Dbms::Postgres => format!(
            "select name, case when name in ('{}', 'search_path') then reset_val else setting end, unit \
             from pg_settings",
            idle::POSTGRES_SETTING
        ),
        Dbms::Null => return Ok(BTreeMap::new()),
    };
    let result = query(connection, "read the server's settings", &sql)?;
    if dbms != Dbms::Postgres {
        return Ok(pairs(result));
    }
    let mut rows = result.rows.into_iter();
    let value = |row: &mut Vec<Option<String>>, idx: usize| {
        row.get_mut(idx).and_then(Option::take).unwrap_or_default()
    };
    let with_unit = |row: &mut Vec<Option<String>>| {
        (value(row, 0), postgres_value(&value(row, 1), &value(row, 2)))
    };
    Ok(rows.by_ref().map(|mut row| with_unit(&mut row)).collect())
}

/// Units of memory and of time, each with how many of the one before it make one.
const MEMORY: &[(&str, i64)] = &[("B", 1), ("kB", 1024), ("MB", 1024), ("GB", 1024), ("TB", 1024)];
const TIME: &[(&str, i64)] = &[("ms", 1), ("s", 1000), ("min", 60), ("h", 60), ("d", 24)];

/// A value of `pg_settings` with its unit as SHOW writes it: `16384` of `8kB` is `128MB`.
pub(crate) fn postgres_value(value: &str, unit: &str) -> String {
    let digits = unit.len() - unit.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (factor, name) = unit.split_at(digits);
    let scale = [MEMORY, TIME].into_iter().find(|s| s.iter().any(|(n, _)| *n == name));
    let parsed = (value.parse::<i64>().ok(), factor.parse::<i64>().ok().or(Some(1)));
    let (Some(scale), (Some(number), Some(factor))) = (scale, parsed) else {
        return format!("{value}{unit}");
    };
    // 0 and the negative values are switches: they mean the same in every unit.
    let Some(mut number) = number.checked_mul(factor).filter(|n| *n > 0) else {
        return value.to_owned();
    };
    let mut at = scale.iter().position(|(n, _)| *n == name).unwrap_or(0);
    while let Some((_, step)) = scale.get(at + 1).filter(|(_, step)| number % step == 0) {
        number /= step;
        at += 1;
    }
    format!("{number}{}", scale[at].0)
}

/// The server's own version text: `select version()`.
///
/// # Errors
/// [`Error::Client`], or [`Error::Answer`] when there is none.
pub fn version_text(connection: &mut dyn Connection) -> Result<String, Error> {
    let doing = "ask for the server's version";
    let result = query(connection, doing, "select version()")?;
    let text = result.scalar().map(ToOwned::to_owned);
    text.ok_or_else(|| Error::Answer { doing: doing.to_owned(), answer: format!("{result:?}") })
}

/// Facts of this very connection: transport, TLS, authentication, character set, isolation and
/// what else makes two sessions differ.
///
/// # Errors
/// [`Error::Client`].
pub fn session_facts(
    dbms: Dbms,
    connection: &mut dyn Connection,
) -> Result<BTreeMap<String, String>, Error> {
    let session = connection.session();
    let mut facts = BTreeMap::from([
        ("transport".to_owned(), session.transport.clone()),
        ("tls".to_owned(), session.tls.clone()),
        ("auth".to_owned(), session.auth.clone()),
    ]);
    let doing = "read the session's settings";
    match dbms {
        Dbms::Mysql | Dbms::Mariadb => {
            let sql = "SHOW SESSION VARIABLES WHERE Variable_name IN ('character_set_client', \
                'character_set_connection', 'character_set_results', 'character_set_database', \
                'collation_connection', 'collation_database', 'autocommit', 'sql_mode', \
                'transaction_isolation', 'tx_isolation', 'default_storage_engine', \
                'big_tables', 'unique_checks', 'foreign_key_checks', 'sql_log_bin', \
                'sql_safe_updates', 'max_execution_time', 'max_statement_time', 'profiling')";
            for (name, value) in pairs(query(connection, doing, sql)?) {
                // One name for it, whatever the version calls it.
                let name =
                    if name == "tx_isolation" { "transaction_isolation".into() } else { name };
                facts.insert(name, value);
            }
            let sql = "SHOW SESSION STATUS WHERE Variable_name IN ('Ssl_cipher', 'Ssl_version', \
                'Compression')";
            facts.extend(pairs(query(connection, doing, sql)?));
        }
        Dbms::Postgres => {
            // The path of a session in rqps's own schema is rqps's.
            let sql = "select name, case name when 'search_path' then reset_val else setting end \
                from pg_settings where name in ('client_encoding', \
                'server_encoding', 'default_transaction_isolation', 'default_transaction_read_only', \
                'synchronous_commit', 'plan_cache_mode', 'jit', 'search_path', 'lc_collate', \
                'statement_timeout', 'default_table_access_method', 'transaction_isolation', \
                'row_security', 'track_activities')";
            facts.extend(pairs(query(connection, doing, sql)?));
            // 16 no longer shows the collation as a setting.
            // 15 lets ICU compare strings, 17 the server itself: columns come and go with versions.
            let sql = "select datcollate, row_to_json(d) ->> 'datlocprovider', \
                coalesce(row_to_json(d) ->> 'datlocale', row_to_json(d) ->> 'daticulocale') \
                from pg_database d where datname = current_database()";
            for row in query(connection, doing, sql)?.rows {
                facts.insert("lc_collate".to_owned(), collation(&row));
            }
        }
        Dbms::Null => {}
    }
    Ok(facts)
}

/// What compares strings, from the C library's locale, a database's provider and its locale there:
/// `en_US.utf8`, `en_US.utf8 (icu en-US)`. Without a provider it is the C library.
fn collation(row: &[Option<String>]) -> String {
    let cell = |at: usize| row.get(at).and_then(Option::as_deref).unwrap_or_default();
    let provider = match cell(1) {
        "" | "c" => return cell(0).to_owned(),
        "i" => "icu",
        "b" => "builtin",
        other => other,
    };
    format!("{} ({})", cell(0), format!("{provider} {}", cell(2)).trim())
}

/// Bytes of all tables with their indexes in the current database.
///
/// They are what files take: InnoDB's and PostgreSQL's with the free space in them and, of pages that
/// are compressed, without the holes; MyRocks's without what is in memory alone. Nothing is flushed or
/// analysed for it, as that would disturb what is measured next. InnoDB's files are looked at where
/// `data_dir` is known; else the server is asked, and `None` says that it does not tell, or not this user.
///
/// # Errors
/// [`Error::Client`], or [`Error::Answer`] when it is no number.
pub fn database_bytes(
    dbms: Dbms,
    version: &Version,
    data_dir: Option<&Path>,
    connection: &mut dyn Connection,
) -> Result<Option<u64>, Error> {
    let doing = "ask for the size of the tables";
    let sql = match dbms {
        Dbms::Mysql | Dbms::Mariadb => {
            if dbms == Dbms::Mysql && version.at_least(&[8, 0, 3]) {
                // 8.0 answers from a cache that is a day old otherwise.
                query(connection, doing, "SET SESSION information_schema_stats_expiry = 0")?;
            }
            return mysql_bytes((dbms, version), data_dir, connection);
        }
        Dbms::Postgres => {
            format!(
                "select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c \
                 join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'm') \
                 and c.relname <> '{MARKER}' and {IN_PATH}"
            )
        }
        Dbms::Null => return Ok(Some(0)),
    };
    let result = query(connection, doing, &sql)?;
    let bytes = result.scalar().and_then(|text| text.parse().ok());
    bytes
        .map(Some)
        .ok_or_else(|| Error::Answer { doing: doing.to_owned(), answer: format!("{result:?}") })
}

fn mysql_bytes(
    subject: (Dbms, &Version),
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
            Some(dir) => disk::innodb_file_bytes(&dir.join(database), &table)
                .filter(|bytes| *bytes > 0)
                .unwrap_or(by_statistics),
            // Statistics are of an earlier time, and may be off by a factor of ten.
            None => match told_bytes(subject, connection, &table)?.filter(|bytes| *bytes > 0) {
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

/// What the files of a table and its partitions take on disk, as InnoDB tells; `None` where it does
/// not: MySQL before 5.7 and MariaDB 10.1 have no such column, MariaDB 10.2 shows files as they were
/// when they were made, and some users may not ask.
fn told_bytes(
    (dbms, version): (Dbms, &Version),
    connection: &mut dyn Connection,
    table: &str,
) -> Result<Option<u64>, Error> {
    let first: &[u32] = if dbms == Dbms::Mysql { &[5, 7] } else { &[10, 3] };
    if !version.at_least(first) {
        return Ok(None);
    }
    let new = dbms == Dbms::Mysql && version.at_least(&[8]);
    let view = if new { "innodb_tablespaces" } else { "innodb_sys_tablespaces" };
    let table = table.replace('\'', "''");
    let sql = format!(
        "select sum(allocated_size) from information_schema.{view} \
         where substring_index(name, '#', 1) = concat(database(), '/{table}')"
    );
    match connection.query(&sql) {
        Ok(result) => Ok(result.scalar().and_then(|text| text.parse().ok())),
        Err(rqps_client::Error::Server(_)) => Ok(None),
        Err(e) => Err(Error::client("ask for the size of a table's file", e)),
    }
}

/// The schemas of PostgreSQL in which rqps's tables lie, by the session's path.
const IN_PATH: &str = "n.nspname = any(current_schemas(false)) and n.nspname <> 'pg_catalog'";

/// The tables of the current database; of PostgreSQL those of the session's path.
pub(crate) fn tables(dbms: Dbms, connection: &mut dyn Connection) -> Result<Vec<String>, Error> {
    let sql = match dbms {
        Dbms::Mysql | Dbms::Mariadb => format!(
            "select table_name from information_schema.tables where table_schema = database() \
             and table_type = 'BASE TABLE' and table_name <> '{MARKER}' order by 1"
        ),
        Dbms::Postgres => format!(
            "select quote_ident(n.nspname) || '.' || quote_ident(c.relname) from pg_class c \
             join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p') \
             and c.relname <> '{MARKER}' and {IN_PATH} order by 1"
        ),
        Dbms::Null => return Ok(Vec::new()),
    };
    let result = query(connection, "list the tables", &sql)?;
    let quote = |name: String| {
        let mysql = dbms.is_mysql_family();
        if mysql { format!("`{}`", name.replace('`', "``")) } else { name }
    };
    Ok(result.rows.into_iter().filter_map(|mut row| row.get_mut(0)?.take()).map(quote).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_compares_strings_is_named() {
        for (row, said) in [
            // Before 15 there is no provider.
            ([Some("C"), None, None], "C"),
            ([Some("en_US.utf8"), Some("c"), None], "en_US.utf8"),
            ([Some("en_US.utf8"), Some("i"), Some("en-US")], "en_US.utf8 (icu en-US)"),
            ([Some("C"), Some("b"), Some("C.UTF-8")], "C (builtin C.UTF-8)"),
        ] {
            assert_eq!(collation(&row.map(|cell| cell.map(str::to_owned))), said);
        }
    }

    #[test]
    fn values_of_postgres_with_their_units() {
        for (value, unit, shown) in [
            ("16384", "8kB", "128MB"),
            ("524288", "8kB", "4GB"),
            ("3", "8kB", "24kB"),
            ("16777216", "B", "16MB"),
            ("1024", "MB", "1GB"),
            ("1800", "s", "30min"),
            ("100", "ms", "100ms"),
            ("14400", "min", "10d"),
            ("-1", "8kB", "-1"),
            ("0", "ms", "0"),
            ("0.05", "", "0.05"),
            ("0.5", "ms", "0.5ms"),
            ("on", "", "on"),
            ("7", "furlongs", "7furlongs"),
        ] {
            assert_eq!(postgres_value(value, unit), shown, "{value} of {unit}");
        }
    }
}
