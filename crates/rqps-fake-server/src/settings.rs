//! What a server runs with: defaults, its file, its command line, what was set since.

use std::collections::BTreeMap;

use crate::Family;
use crate::config::CommandLine;

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    Config,
    CommandLine,
}

/// A setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) value: String,
    pub(crate) default: String,
    pub(crate) source: Source,
}

/// Settings by name.
pub(crate) type Settings = BTreeMap<String, Setting>;

/// What servers of MySQL's family have where nothing else is said.
const MYSQL: &[(&str, &str)] = &[
    ("autocommit", "ON"),
    ("big_tables", "OFF"),
    ("binlog_directory", ""),
    ("character_set_client", "latin1"),
    ("character_set_connection", "latin1"),
    ("character_set_database", "latin1"),
    ("character_set_results", "latin1"),
    ("character_set_server", "latin1"),
    ("collation_connection", "latin1_swedish_ci"),
    ("collation_database", "latin1_swedish_ci"),
    ("collation_server", "latin1_swedish_ci"),
    ("default_storage_engine", "InnoDB"),
    ("foreign_key_checks", "ON"),
    ("innodb_data_file_path", "ibdata1:12M:autoextend"),
    ("innodb_data_home_dir", ""),
    ("innodb_flush_log_at_trx_commit", "1"),
    ("innodb_io_capacity", "200"),
    ("innodb_io_capacity_max", "2000"),
    ("innodb_log_group_home_dir", "./"),
    ("innodb_max_dirty_pages_pct", "75"),
    ("innodb_max_dirty_pages_pct_lwm", "0"),
    ("innodb_undo_directory", "./"),
    ("log_bin", "OFF"),
    ("max_connections", "151"),
    ("max_statement_time", "0"),
    ("profiling", "OFF"),
    ("sql_log_bin", "ON"),
    ("sql_mode", ""),
    ("sql_safe_updates", "OFF"),
    ("sync_binlog", "0"),
    ("tx_isolation", "REPEATABLE-READ"),
    ("unique_checks", "ON"),
    ("version_comment", "fake server"),
    ("version_compile_machine", "x86_64"),
    ("version_compile_os", "Linux"),
    ("wait_timeout", "28800"),
];

/// What PostgreSQL has.
const POSTGRES: &[(&str, &str)] = &[
    ("client_encoding", "UTF8"),
    ("debug_assertions", "off"),
    ("default_table_access_method", "heap"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "off"),
    ("fsync", "on"),
    ("jit", "off"),
    ("lc_collate", "C"),
    ("max_connections", "100"),
    ("plan_cache_mode", "auto"),
    ("row_security", "on"),
    ("search_path", "\"$user\", public"),
    ("server_encoding", "UTF8"),
    ("shared_buffers", "128MB"),
    ("statement_timeout", "0"),
    ("synchronous_commit", "on"),
    ("track_activities", "on"),
    ("transaction_isolation", "read committed"),
];

/// Variables of MySQL's that are ON or OFF, whichever way they are written.
const SWITCHES: &[&str] = &[
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_dump_at_shutdown",
    "innodb_buffer_pool_load_at_startup",
    "innodb_file_per_table",
    "innodb_strict_mode",
    "performance_schema",
    "skip_name_resolve",
];

/// The settings of a server that was started so.
pub(crate) fn settings(family: Family, line: &CommandLine) -> Settings {
    let is_postgres = family == Family::Postgres;
    let defaults = if is_postgres { POSTGRES } else { MYSQL };
    let default = |(name, value): &(&str, &str)| {
        let value = (*value).to_owned();
        let setting = Setting { default: value.clone(), value, source: Source::Default };
        ((*name).to_owned(), setting)
    };
    let mut all: Settings = defaults.iter().map(default).collect();
    let layers = [(&line.file, Source::Config), (&line.settings, Source::CommandLine)];
    for (pairs, source) in layers {
        for (name, value) in pairs {
            let value = if is_postgres { value.clone() } else { shown_by_mysql(name, value) };
            let default = all.get(name).map_or_else(String::new, |s| s.default.clone());
            all.insert(name.clone(), Setting { value, default, source });
        }
    }
    let mut tell = |name: &str, value: String| {
        let source = Source::CommandLine;
        all.insert(name.to_owned(), Setting { value, default: String::new(), source });
    };
    let data_dir = line.data_dir.display();
    if is_postgres {
        tell("data_directory", data_dir.to_string());
        return all;
    }
    tell("datadir", format!("{data_dir}/"));
    if line.file.iter().any(|(name, _)| name == "log_bin") {
        tell("log_bin_basename", format!("{data_dir}/rqps-bin"));
        tell("log_bin_index", format!("{data_dir}/rqps-bin.index"));
    }
    all
}

/// A value as `SHOW VARIABLES` has it.
pub(crate) fn shown_by_mysql(name: &str, value: &str) -> String {
    let is_on = |value: &str| matches!(value.to_ascii_lowercase().as_str(), "1" | "on" | "true");
    if name == "log_bin" {
        return if value.is_empty() || value == "0" { "OFF" } else { "ON" }.to_owned();
    }
    if SWITCHES.contains(&name) {
        return if is_on(value) { "ON" } else { "OFF" }.to_owned();
    }
    let unit = match value.as_bytes().last() {
        Some(b'K' | b'k') => 1 << 10,
        Some(b'M' | b'm') => 1 << 20,
        Some(b'G' | b'g') => 1 << 30,
        _ => return value.to_owned(),
    };
    let number = value.get(..value.len() - 1).and_then(|digits| digits.parse::<u64>().ok());
    number.map_or_else(|| value.to_owned(), |number| (number * unit).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_layers_win_and_sizes_are_shown_in_bytes() {
        let pair = |n: &str, v: &str| (n.to_owned(), v.to_owned());
        let line = CommandLine {
            file: vec![pair("log_bin", "rqps-bin"), pair("max_allowed_packet", "64M")],
            settings: vec![pair("port", "7")],
            ..CommandLine::default()
        };
        let all = settings(Family::Mariadb, &line);
        assert_eq!((all["log_bin"].value.as_str(), all["log_bin"].source), ("ON", Source::Config));
        assert_eq!(all["max_allowed_packet"].value, "67108864");
        assert_eq!(all["port"].source, Source::CommandLine);
        assert_eq!(all["sync_binlog"].source, Source::Default);
    }
}
