//! How large a cache a configuration asks for.

use rqps_model::Dbms;

use super::same;

/// The cache when a configuration does not say, bytes: 128 MiB is the default of
/// `innodb_buffer_pool_size` (MySQL 5.5 on, MariaDB) and of `shared_buffers` (PostgreSQL 9.3 on).
const DEFAULT: u64 = 128 << 20;

/// The options that set the size of a cache.
pub(super) const NAMES: &[&str] =
    &["innodb_buffer_pool_size", "shared_buffers", "rocksdb_block_cache_size"];

/// Size of the buffer pool or the shared buffers in a configuration's text, bytes. The last line
/// that sets it counts, as it does for the servers.
#[must_use]
pub fn cache_bytes(dbms: Dbms, text: &str) -> u64 {
    let (name, plain) = match dbms {
        Dbms::Postgres => ("shared_buffers", 8192),
        Dbms::Mysql | Dbms::Mariadb | Dbms::Null => ("innodb_buffer_pool_size", 1),
    };
    let value = |line: &str, name: &str| {
        let (key, value) = line.split_once('=')?;
        let value = value.split('#').next().unwrap_or_default();
        let value = value.trim().trim_matches(['\'', '"']);
        same(key.trim(), name).then(|| parse_size(value, plain)).flatten()
    };
    let innodb_or_postgres = text.lines().filter_map(|l| value(l, name)).next_back();
    // MyRocks's block cache comes on top; without the plugin nobody sets it.
    let rocksdb = text.lines().filter_map(|l| value(l, "rocksdb_block_cache_size")).next_back();
    innodb_or_postgres.unwrap_or(DEFAULT).saturating_add(rocksdb.unwrap_or(0))
}

/// `134217728`, `128M`, `128MB`: bytes. A number without a unit counts `plain` bytes each, for
/// PostgreSQL pages of 8 KiB.
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

    #[test]
    fn the_last_line_counts_in_every_spelling() {
        let of = |dbms, text| cache_bytes(dbms, text) >> 20;
        let text = "[mysqld]\ninnodb_buffer_pool_size=1G\ninnodb-buffer-pool-size = 512M # small\n";
        assert_eq!(of(Dbms::Mysql, text), 512);
        assert_eq!(of(Dbms::Mariadb, "innodb_buffer_pool_size=268435456"), 256);
        assert_eq!(of(Dbms::Postgres, "shared_buffers = '3072MB'\nwork_mem = '1GB'"), 3072);
        assert_eq!(of(Dbms::Postgres, "shared_buffers = 131072"), 1024);
        assert_eq!(of(Dbms::Postgres, "shared_buffers = 1048576B"), 1);
        let both = "innodb_buffer_pool_size=64M\nrocksdb_block_cache_size=1G";
        assert_eq!(of(Dbms::Mariadb, both), 64 + 1024);
        assert_eq!(of(Dbms::Mysql, "# innodb_buffer_pool_size"), 128);
    }
}
