//! The settings that settling changes for a while.

/// Settings that make InnoDB flush everything, in an order that never has lwm above its maximum;
/// restored in the reverse order. Those that a version lacks are skipped.
pub(super) const HURRY: &[(&str, &str)] = &[
    ("innodb_max_dirty_pages_pct_lwm", "0"),
    ("innodb_max_dirty_pages_pct", "0"),
    // 8.0.18 and later: full pace when idle.
    ("innodb_idle_flush_pct", "100"),
    ("innodb_io_capacity_max", "40000"),
    ("innodb_io_capacity", "20000"),
];

/// The variable by which RocksDB's options for a family are changed.
pub(crate) const ROCKSDB_OPTIONS: &str = "rocksdb_update_cf_options";

/// The names of the numbers that settling changes for a while.
pub(crate) fn changed_settings() -> impl Iterator<Item = &'static str> {
    HURRY.iter().map(|(name, _)| *name)
}
