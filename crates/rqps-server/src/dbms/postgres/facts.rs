//! What PostgreSQL says of itself: settings, session, tables and their sizes.

use std::collections::BTreeMap;
use std::path::Path;

use rqps_client::Connection;
use rqps_model::Version;

use crate::Error;
use crate::answer::{ask, pairs, query};
use crate::guest::MARKER;

/// The setting that ends idle sessions, from 14 on (documentation of 19, "Statement Behavior").
pub(super) const IDLE_SETTING: &str = "idle_session_timeout";

/// Lets a session be idle. Nothing is set where there is no such setting, or no limit: it would be told as one of
/// somebody's.
pub(super) fn keep_session_sql() -> Option<String> {
    Some(format!(
        "select set_config(name, '0', false) from pg_settings where name = '{IDLE_SETTING}' \
         and setting <> '0'"
    ))
}

/// The settings in effect: `pg_settings` with units as SHOW writes them.
pub(super) fn settings(connection: &mut dyn Connection) -> Result<BTreeMap<String, String>, Error> {
    // These settings may be of this very connection ([`keep_session_sql`], [`crate::guest`]).
    let sql = format!(
        "select name, case when name in ('{IDLE_SETTING}', 'search_path') then reset_val else setting end, unit \
         from pg_settings"
    );
    let result = query(connection, "read the server's settings", &sql)?;
    let value = |row: &mut Vec<Option<String>>, idx: usize| {
        row.get_mut(idx).and_then(Option::take).unwrap_or_default()
    };
    let with_unit = |mut row: Vec<Option<String>>| {
        (value(&mut row, 0), with_unit(&value(&mut row, 1), &value(&mut row, 2)))
    };
    Ok(result.rows.into_iter().map(with_unit).collect())
}

/// Units of memory and of time, each with how many of the one before it make one.
const MEMORY: &[(&str, i64)] = &[("B", 1), ("kB", 1024), ("MB", 1024), ("GB", 1024), ("TB", 1024)];
const TIME: &[(&str, i64)] = &[("ms", 1), ("s", 1000), ("min", 60), ("h", 60), ("d", 24)];

/// A value of `pg_settings` with its unit as SHOW writes it: `16384` of `8kB` is `128MB`.
pub(super) fn with_unit(value: &str, unit: &str) -> String {
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

/// The settings of a session that make two sessions differ.
pub(super) fn session(connection: &mut dyn Connection) -> Result<BTreeMap<String, String>, Error> {
    let doing = "read the session's settings";
    // The path of a session in rqps's own schema is rqps's.
    let sql = "select name, case name when 'search_path' then reset_val else setting end \
        from pg_settings where name in ('client_encoding', \
        'server_encoding', 'default_transaction_isolation', 'default_transaction_read_only', \
        'synchronous_commit', 'plan_cache_mode', 'jit', 'search_path', 'lc_collate', \
        'statement_timeout', 'default_table_access_method', 'transaction_isolation', \
        'row_security', 'track_activities')";
    let mut facts = pairs(query(connection, doing, sql)?);
    // 16 no longer shows the collation as a setting.
    // 15 lets ICU compare strings, 17 the server itself: columns come and go with versions.
    let sql = "select datcollate, row_to_json(d) ->> 'datlocprovider', \
        coalesce(row_to_json(d) ->> 'datlocale', row_to_json(d) ->> 'daticulocale') \
        from pg_database d where datname = current_database()";
    for row in query(connection, doing, sql)?.rows {
        facts.insert("lc_collate".to_owned(), collation(&row));
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

/// Bytes of the tables with their indexes, in files.
pub(super) fn table_bytes(
    _: &Version,
    _: Option<&Path>,
    connection: &mut dyn Connection,
) -> Result<Option<u64>, Error> {
    let doing = "ask for the size of the tables";
    let sql = format!(
        "select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c \
         join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'm') \
         and c.relname <> '{MARKER}' and {IN_PATH}"
    );
    let result = query(connection, doing, &sql)?;
    let bytes = result.scalar().and_then(|text| text.parse().ok());
    bytes
        .map(Some)
        .ok_or_else(|| Error::Answer { doing: doing.to_owned(), answer: format!("{result:?}") })
}

/// The schemas of PostgreSQL in which rqps's tables lie, by the session's path.
pub(super) const IN_PATH: &str =
    "n.nspname = any(current_schemas(false)) and n.nspname <> 'pg_catalog'";

/// The tables of the session's path, as SQL takes their names.
pub(super) fn tables(connection: &mut dyn Connection) -> Result<Vec<String>, Error> {
    let sql = format!(
        "select quote_ident(n.nspname) || '.' || quote_ident(c.relname) from pg_class c \
         join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p') \
         and c.relname <> '{MARKER}' and {IN_PATH} order by 1"
    );
    let result = query(connection, "list the tables", &sql)?;
    Ok(result.rows.into_iter().filter_map(|mut row| row.get_mut(0)?.take()).collect())
}

/// Rows that vacuum has not removed yet.
pub(super) fn debt(connection: &mut dyn Connection) -> Result<BTreeMap<String, u64>, Error> {
    let sql = "select coalesce(sum(n_dead_tup), 0)::bigint from pg_stat_user_tables";
    let result = ask(connection, sql, sql)?;
    let rows = result.and_then(|result| result.scalar()?.parse().ok());
    Ok(rows.map(|rows| ("dead tuples".to_owned(), rows)).into_iter().collect())
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
            assert_eq!(with_unit(value, unit), shown, "{value} of {unit}");
        }
    }
}
