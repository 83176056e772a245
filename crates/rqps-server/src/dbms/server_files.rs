//! What differs between DBMS in the files of a server: its programs, and its configuration.
//!
//! A table below all others: what is installed and configured is known before anything is started.

use rqps_model::{Dbms, Version};

use crate::Error;

/// The files of a DBMS.
#[derive(Debug)]
pub(crate) struct ServerFiles {
    /// Names of the server program, the likeliest first.
    pub(crate) programs: &'static [&'static str],
    /// Reads the version in a line of `--version` that is this DBMS's.
    pub(crate) parse_version: fn(&str) -> Option<Version>,
    /// Whether packages keep each major version in a directory of its own.
    pub(crate) has_major_dirs: bool,
    /// Beginnings of the names of directories with messages, below `share`; empty where `share` itself is meant.
    pub(crate) message_dirs: &'static [&'static str],
    pub(crate) config: ConfigFormat,
}

/// The configuration of a DBMS.
#[derive(Debug)]
pub(crate) struct ConfigFormat {
    /// The groups of option files that count; `None` for files without groups, as postgresql.conf.
    pub(crate) groups: Option<Groups>,
    /// The line that begins the server's options.
    pub(crate) header: &'static str,
    /// Writes an option with its value.
    pub(crate) line: fn(&str, &str) -> String,
    /// Longest line, bytes, where servers cut longer ones.
    pub(crate) max_line_bytes: Option<usize>,
    /// Whether `-` is `_` in names, and prefixes and abbreviations are taken, as MySQL's programs do.
    pub(crate) has_name_modifiers: bool,
    /// Whether it starts with an option, with a point in its name, of an extension that is not there.
    pub(crate) takes_foreign_options: bool,
    /// What becomes of each option, and the names of all: TOML, and a name in each line.
    pub(crate) rules: &'static str,
    pub(crate) known_options: &'static str,
    pub(crate) libraries: LibraryList,
    /// The option that sets the size of its cache.
    pub(crate) cache_option: &'static str,
    /// What a size without a unit counts, bytes.
    pub(crate) size_unit_bytes: u64,
    /// Options that ask for direct IO.
    pub(crate) direct_io_options: &'static [&'static str],
    /// The option without which it reads tables through the page cache; `None` where profiles ask for direct IO.
    pub(crate) page_cache_unless: Option<DirectReads>,
}

/// An option that lets a server read tables past the page cache.
#[derive(Debug)]
pub(crate) struct DirectReads {
    pub(crate) option: &'static str,
    /// The word of its value that is about tables.
    pub(crate) word: &'static str,
}

/// Groups of option files, in lower case.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Those that servers read.
    pub(crate) server: &'static [&'static str],
    /// Those that servers of a series read, without the series: `mysqld` of `mysqld-8.0`.
    pub(crate) of_series: &'static [&'static str],
    /// Those that `mysqld_safe` reads.
    pub(crate) mysqld_safe: &'static [&'static str],
}

/// How a list of libraries to load is written.
#[derive(Debug)]
pub(crate) struct LibraryList {
    pub(crate) separators: &'static [char],
    /// What rqps writes between them.
    pub(crate) joined_by: &'static str,
    /// Whether `name=` may stand before a library.
    pub(crate) has_names: bool,
}

const MYSQL: ServerFiles = ServerFiles {
    programs: &["mysqld", "mariadbd"],
    parse_version: version_of_mysqld,
    has_major_dirs: false,
    message_dirs: &["mysql", "percona"],
    config: ConfigFormat {
        groups: Some(Groups {
            server: &["mysqld", "server", "mysql_cluster"],
            of_series: &["mysqld"],
            mysqld_safe: &["mysqld_safe", "safe_mysqld"],
        }),
        header: "[mysqld]\n",
        line: |option, value| {
            let quote = value.contains(['#', ';', '"', '\'', '\\']) || value.trim() != value;
            if !quote {
                return format!("{option}={value}\n");
            }
            let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
            format!("{option}=\"{escaped}\"\n")
        },
        // With escapes: MySQL before 8.0 and MariaDB take what follows 4094 bytes for another line
        // (`search_default_file_with_ext` of my_default.c).
        max_line_bytes: Some(4000),
        has_name_modifiers: true,
        takes_foreign_options: false,
        rules: include_str!("../options/mysql.toml"),
        known_options: include_str!("../options/mysql-known.txt"),
        // A colon separates as well.
        libraries: LibraryList { separators: &[';', ':'], joined_by: ";", has_names: true },
        cache_option: "innodb_buffer_pool_size",
        size_unit_bytes: 1,
        direct_io_options: &[
            "innodb_flush_method",
            "rocksdb_use_direct_reads",
            "rocksdb_use_direct_io_for_flush_and_compaction",
        ],
        page_cache_unless: None,
    },
};

const MARIADB: ServerFiles = ServerFiles {
    programs: &["mariadbd", "mysqld"],
    parse_version: |line| version_of_mysqld(line).filter(|_| line.contains("MariaDB")),
    message_dirs: &["mariadb", "mysql"],
    config: ConfigFormat {
        groups: Some(Groups {
            server: &["mysqld", "server", "mariadb", "mariadbd", "client-server", "galera"],
            of_series: &["mysqld", "mariadb", "mariadbd"],
            mysqld_safe: &["mysqld_safe", "safe_mysqld", "mariadb_safe", "mariadbd-safe"],
        }),
        ..MYSQL.config
    },
    ..MYSQL
};

const POSTGRES: ServerFiles = ServerFiles {
    programs: &["postgres", "edb-postgres"],
    parse_version: version_of_postgres,
    has_major_dirs: true,
    message_dirs: &[],
    config: ConfigFormat {
        groups: None,
        header: "",
        // In single quotes a backslash is an escape: it and the quote are doubled.
        line: |option, value| {
            let value = value.replace('\\', "\\\\").replace('\'', "''");
            format!("{option} = '{value}'\n")
        },
        max_line_bytes: None,
        has_name_modifiers: false,
        takes_foreign_options: true,
        rules: include_str!("../options/postgres.toml"),
        known_options: include_str!("../options/postgres-known.txt"),
        libraries: LibraryList { separators: &[','], joined_by: ", ", has_names: false },
        cache_option: "shared_buffers",
        // Pages.
        size_unit_bytes: 8192,
        direct_io_options: &["debug_io_direct"],
        page_cache_unless: Some(DirectReads { option: "debug_io_direct", word: "data" }),
    },
};

/// The files of a DBMS; `None` for one that rqps does not start.
pub(crate) fn server_files(dbms: Dbms) -> Option<&'static ServerFiles> {
    match dbms {
        Dbms::Mysql => Some(&MYSQL),
        Dbms::Mariadb => Some(&MARIADB),
        Dbms::Postgres => Some(&POSTGRES),
        Dbms::H2 | Dbms::Null => None,
    }
}

/// The configuration of a DBMS.
///
/// # Errors
/// [`Error::Unsupported`] for one that rqps does not start.
pub(crate) fn config_format(dbms: Dbms) -> Result<&'static ConfigFormat, Error> {
    server_files(dbms).map(|files| &files.config).ok_or_else(|| Error::Unsupported {
        server: dbms.name().to_owned(),
        what: "options of a plan".to_owned(),
        detail: "rqps does not start this server and knows none of its options".to_owned(),
    })
}

/// That a DBMS is reached by address alone.
pub(crate) fn not_started(dbms: Dbms) -> Error {
    Error::Unsupported {
        server: dbms.name().to_owned(),
        what: "a start by rqps".to_owned(),
        detail: "rqps measures this server only by its address; write dsn".to_owned(),
    }
}

/// The DBMS and version that a server program reports.
pub(crate) fn parse_version_output(text: &str) -> Option<(Dbms, Version)> {
    // MySQL last: it takes the lines of its family that are no other's.
    let of_line = |line: &str| {
        let mut all = Dbms::ALL.into_iter().rev();
        all.find_map(|dbms| Some((dbms, (server_files(dbms)?.parse_version)(line)?)))
    };
    text.lines().find_map(of_line)
}

/// `mysqld  Ver 8.0.33 for Linux on x86_64 (MySQL ...)`.
fn version_of_mysqld(line: &str) -> Option<Version> {
    line.split_once(" Ver ")?.1.split_whitespace().next()?.parse().ok()
}

/// `postgres (PostgreSQL) 17.4`.
fn version_of_postgres(line: &str) -> Option<Version> {
    if let Some((_, rest)) = line.split_once("(PostgreSQL) ") {
        return rest.parse().ok();
    }
    // `16.4.1`: the third number is EnterpriseDB's own.
    let mut version: Version = line.split_once("(EnterpriseDB) ")?.1.parse().ok()?;
    version.numbers.truncate(2);
    Some(version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dbms::own_server;

    #[test]
    fn what_rqps_does_not_start_has_neither_files_nor_options() {
        for dbms in Dbms::ALL {
            let is_started = own_server(dbms).is_ok();
            assert_eq!(server_files(dbms).is_some(), is_started, "{dbms}");
            assert_eq!(config_format(dbms).is_ok(), is_started, "{dbms}");
        }
        assert_eq!(
            config_format(Dbms::H2).unwrap_err().to_string(),
            "H2 does not support options of a plan: rqps does not start this server and knows none of its options"
        );
    }
}
