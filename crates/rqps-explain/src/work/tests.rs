//! What servers count, of several versions, under one name.

use std::collections::BTreeMap;

use rqps_model::{Usage, Windows};

use super::*;

/// A slice of four operations with counters of a server.
fn slice(counters: &[(&str, u64)]) -> Slice {
    Slice {
        idx: 0,
        start: 0,
        load: 0,
        n_rounds: None,
        start_unix_ms: 0,
        duration_ns: 1_000_000_000,
        seed: 1,
        n_events: 4,
        n_queries: 4,
        n_operations: 4,
        n_rows: 4,
        errors: Vec::new(),
        lateness: None,
        windows: Windows::default(),
        series: Vec::new(),
        response_times: Vec::new(),
        usage: Usage::default(),
        samples: Vec::new(),
        warnings: Vec::new(),
        streams: Vec::new(),
        whole_operations: None,
        counters: counters.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect(),
        stated: None,
    }
}

/// What is known of a server with such counters, per operation.
fn known(counters: &[(&str, u64)]) -> BTreeMap<&'static str, String> {
    let slice = slice(counters);
    let value =
        |work: Work| Some((work.words(), format!("{} {}", work.value(&slice)?, work.unit())));
    Work::ALL.into_iter().filter_map(value).collect()
}

#[test]
fn what_postgres_does_with_data_files_is_that_of_clients_and_of_others() {
    let of_18 = known(&[
        ("pg_stat_database.blks_hit", 520),
        ("pg_stat_database.blks_read", 20),
        ("pg_stat_io.client.hits", 500),
        ("pg_stat_io.client.reads", 3),
        ("pg_stat_io.client.read_bytes", 131_072),
        ("pg_stat_io.client.extend_bytes", 32_768),
        ("pg_stat_io.client.fsyncs", 0),
        ("pg_stat_io.other.hits", 20),
        ("pg_stat_io.other.read_bytes", 32_768),
        ("pg_stat_io.other.fsyncs", 8),
        ("pg_stat_io.wal.fsyncs", 4),
    ]);
    let wanted = [
        ("pages asked for", "135 count"),
        ("pages found in the cache", "130 count"),
        ("pages not in the cache", "5 count"),
        ("KB read from data files", "40 KB"),
        ("KB added to data files", "8 KB"),
        ("fsyncs", "1 count"),
        ("fsyncs of data files", "2 count"),
    ];
    let wanted = wanted.map(|(words, value)| (words, value.to_owned()));
    assert_eq!(of_18, BTreeMap::from(wanted));
}

#[test]
fn what_a_version_does_not_tell_is_absent_and_hits_are_known_of_all() {
    let of_15 = known(&[
        ("pg_stat_database.blks_hit", 520),
        ("pg_stat_database.blks_read", 20),
        ("pg_stat_wal.wal_sync", 4),
    ]);
    let wanted = [
        ("pages asked for", "135 count"),
        ("pages found in the cache", "130 count"),
        ("pages not in the cache", "5 count"),
        ("fsyncs", "1 count"),
    ];
    let wanted = wanted.map(|(words, value)| (words, value.to_owned()));
    assert_eq!(of_15, BTreeMap::from(wanted));
}

#[test]
fn a_counter_that_stands_at_0_is_not_there() {
    assert!(known(&[("Innodb_buffer_pool_read_requests", 0)]).is_empty());
    let of_myrocks = [("Innodb_buffer_pool_read_requests", 0), ("Rocksdb_block_cache_hit", 8)];
    assert_eq!(known(&of_myrocks)["pages asked for"], "2 count");
    // Others count, and have counted nothing.
    assert_eq!(known(&[("Innodb_buffer_pool_reads", 0)])["pages not in the cache"], "0 count");
}
