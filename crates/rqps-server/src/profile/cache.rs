//! How large the caches are that a configuration asks for, whether a server has them so, and how many connections it
//! allows.

use std::collections::BTreeMap;

use rqps_model::variant::written_bytes;
use rqps_model::{Dbms, Engine};

use super::{Config, Rendered, same};
use crate::Error;
use crate::dbms::server_files::{ConfigFormat, config_format};

/// The cache when a configuration does not say, bytes: 128 MiB is the default of
/// `innodb_buffer_pool_size` (MySQL 5.5 on, MariaDB) and of `shared_buffers` (PostgreSQL 9.3 on).
const DEFAULT: u64 = 128 << 20;

/// The default of `rocksdb_block_cache_size`, bytes (MariaDB 10.11, MyRocks).
const DEFAULT_BLOCK_CACHE: u64 = 512 << 20;

/// Defaults of RocksDB for `write_buffer_size`, bytes, and `max_write_buffer_number` (options.h).
const DEFAULT_MEMTABLE: u64 = 64 << 20;
const DEFAULT_MEMTABLES: u64 = 2;

/// The options that set the size of a cache.
pub(super) const NAMES: &[&str] =
    &["innodb_buffer_pool_size", "shared_buffers", "rocksdb_block_cache_size"];

/// Memory that a configuration reserves for data, bytes: buffer pool or shared buffers; with MyRocks also
/// block cache and memtables.
///
/// # Errors
/// [`Error::Unsupported`] for a DBMS that rqps does not start.
pub fn cache_bytes(dbms: Dbms, config: &Rendered) -> Result<u64, Error> {
    let format = config_format(dbms)?;
    let own = size(format, &config.text, format.cache_option).unwrap_or(DEFAULT);
    if config.engine != Engine::Rocksdb {
        return Ok(own);
    }
    let blocks = size(format, &config.text, NAMES[2]).unwrap_or(DEFAULT_BLOCK_CACHE);
    Ok(own.saturating_add(blocks).saturating_add(memtable_bytes(format, &config.text)))
}

/// Connections that a configuration allows, if set.
#[must_use]
pub fn max_connections(config: &Rendered) -> Option<u64> {
    let mut lines =
        config.text.lines().filter_map(|line| value(line, "max_connections")?.parse().ok());
    lines.next_back()
}

/// What the memtables of a column family may take: the tables' one, as the system's stays small.
fn memtable_bytes(format: &ConfigFormat, text: &str) -> u64 {
    let mut options = text.lines().filter_map(|line| value(line, "rocksdb_default_cf_options"));
    let options = options.next_back().unwrap_or_default();
    let part = |name: &str| {
        let mut parts = options.split([';', '{', '}']).filter_map(|part| part.split_once('='));
        let found = parts.find(|(key, _)| key.trim() == name);
        found.and_then(|(_, value)| parse_size(value.trim(), format.size_unit_bytes))
    };
    let memtable = part("write_buffer_size").unwrap_or(DEFAULT_MEMTABLE);
    memtable.saturating_mul(part("max_write_buffer_number").unwrap_or(DEFAULT_MEMTABLES))
}

/// Compares a server's cache sizes with its configuration, as versions round sizes differently. A size set by
/// the user gives a note, a size of a profile an error.
///
/// # Errors
/// [`Error::NotAsMeant`] with both sizes and the remedy; [`Error::Unsupported`] for a DBMS that rqps does not start.
pub fn check_caches(
    server: &str,
    dbms: Dbms,
    config: &Config,
    rendered: &Rendered,
    effective: &BTreeMap<String, String>,
) -> Result<Vec<String>, Error> {
    let format = config_format(dbms)?;
    let mut notes = Vec::new();
    for name in NAMES {
        let meant = size(format, &rendered.text, name);
        let found = effective.get(*name).and_then(|text| parse_size(text, format.size_unit_bytes));
        let (Some(meant), Some(found)) = (meant, found) else { continue };
        if meant == found {
            continue;
        }
        let (is, not) = (written_bytes(found), written_bytes(meant));
        let is_users =
            !config.is_builtin() || config.options.keys().any(|option| same(option, name));
        if is_users {
            notes.push(format!(
                "{name} is {is} where its configuration asks for {not}; another version may round \
                 it differently"
            ));
            continue;
        }
        return Err(Error::NotAsMeant {
            server: server.to_owned(),
            found: format!("{name} is {is}, not {not}"),
            meant: format!(
                "{not} from config {:?} (set {name} in options to a size that no system of the plan \
                 rounds, or leave out options that change the rounding)",
                config.base
            ),
        });
    }
    Ok(notes)
}

/// The size that a configuration's text sets; the last line counts, as it does for the servers.
fn size(format: &ConfigFormat, text: &str, name: &str) -> Option<u64> {
    let sizes = text.lines().filter_map(|line| value(line, name));
    let mut sizes = sizes.filter_map(|text| parse_size(text, format.size_unit_bytes));
    sizes.next_back()
}

/// The value that a line sets an option to.
fn value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (key, value) = line.split_once('=')?;
    let value = value.split('#').next().unwrap_or_default();
    same(key.trim(), name).then(|| value.trim().trim_matches(['\'', '"']))
}

/// `134217728`, `128M`, `128MB`: bytes. A number without a unit counts `plain` bytes each.
fn parse_size(text: &str, plain: u64) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number: u64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim().to_ascii_uppercase().trim_end_matches('B') {
        "" if text[digits..].trim().is_empty() => plain,
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        "T" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(engine: Engine, text: &str) -> Rendered {
        Rendered {
            text: text.to_owned(),
            initdb_arguments: Vec::new(),
            changes: Vec::new(),
            notes: Vec::new(),
            engine,
            options: BTreeMap::new(),
            is_of_profile: false,
        }
    }

    #[test]
    fn the_last_line_counts_in_every_spelling() {
        let of = |dbms, text| cache_bytes(dbms, &rendered(Engine::Innodb, text)).unwrap() >> 20;
        let text = "[mysqld]\ninnodb_buffer_pool_size=1G\ninnodb-buffer-pool-size = 512M # small\n";
        assert_eq!(of(Dbms::Mysql, text), 512);
        assert_eq!(of(Dbms::Mariadb, "innodb_buffer_pool_size=268435456"), 256);
        assert_eq!(of(Dbms::Postgres, "shared_buffers = '3072MB'\nwork_mem = '1GB'"), 3072);
        assert_eq!(of(Dbms::Postgres, "shared_buffers = 131072"), 1024);
        assert_eq!(of(Dbms::Postgres, "shared_buffers = 1048576B"), 1);
        assert_eq!(of(Dbms::Mysql, "# innodb_buffer_pool_size"), 128);
    }

    #[test]
    fn myrocks_has_its_block_cache_and_its_memtables_beside_innodbs_pool() {
        let rocksdb = |text: &str| cache_bytes(Dbms::Mariadb, &rendered(Engine::Rocksdb, text));
        let of = |text: &str| rocksdb(text).unwrap() >> 20;
        let caches = "innodb_buffer_pool_size=64M\nrocksdb_block_cache_size=1G\n";
        let options = "rocksdb-default-cf-options=\"compression=kZSTD; write_buffer_size=33554432;\
                       max_write_buffer_number=4;block_based_table_factory={a=1;b=2}\"";
        assert_eq!(of(&format!("{caches}{options}")), 64 + 1024 + 4 * 32);
        let some = "rocksdb_default_cf_options=write_buffer_size=8m";
        assert_eq!(of(&format!("{caches}{some}")), 64 + 1024 + 2 * 8);
        assert_eq!(of(""), 128 + 512 + 2 * 64);
    }

    fn checked(
        dbms: Dbms,
        (base, options): (&str, &[&str]),
        text: &str,
        (name, value): (&str, &str),
    ) -> Result<Vec<String>, String> {
        let options = options.iter().map(|name| ((*name).to_owned(), String::new())).collect();
        let config = Config { options, ..Config::of(base, Engine::Innodb) };
        let effective = BTreeMap::from([(name.to_owned(), value.to_owned())]);
        let rendered = rendered(Engine::Innodb, text);
        check_caches("MySQL 8.0.33", dbms, &config, &rendered, &effective)
            .map_err(|e| e.to_string())
    }

    #[test]
    fn a_cache_that_the_server_made_larger_is_an_error() {
        let text = "innodb_buffer_pool_size=1207959552\n";
        let pool = "innodb_buffer_pool_size";
        let small = ("small", &[][..]);
        assert_eq!(checked(Dbms::Mysql, small, text, (pool, "1207959552")), Ok(Vec::new()));
        assert_eq!(
            checked(Dbms::Mysql, small, text, (pool, "1610612736")).unwrap_err(),
            "MySQL 8.0.33 does not run as planned: innodb_buffer_pool_size is 1536M, not 1152M; \
             expected 1152M from config \"small\" (set innodb_buffer_pool_size in options to a size \
             that no system of the plan rounds, or leave out options that change the rounding)"
        );
        let buffers = "shared_buffers = '1152MB'\n";
        let at = |value| checked(Dbms::Postgres, small, buffers, ("shared_buffers", value));
        assert_eq!(at("1152MB"), Ok(Vec::new()));
        assert!(at("1GB").unwrap_err().contains("shared_buffers is 1G, not 1152M"));
    }

    #[test]
    fn what_became_of_the_users_own_size_is_told() {
        let text = "innodb_buffer_pool_size=100M\n";
        let found = ("innodb_buffer_pool_size", "134217728");
        for config in [("small", &["innodb-buffer-pool-size"][..]), ("/etc/my.cnf", &[])] {
            let notes = checked(Dbms::Mysql, config, text, found).unwrap();
            assert_eq!(notes.len(), 1);
            assert!(
                notes[0].contains("is 128M where its configuration asks for 100M"),
                "{notes:?}"
            );
        }
    }
}
