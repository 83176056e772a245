//! Answers of servers of several versions.

use expect_test::expect;

use super::*;

/// A result from lines of columns that are separated by `|`; `-` is NULL.
fn result(text: &str) -> ResultSet {
    let mut lines = text.lines().map(|line| line.split('|').map(str::trim).map(str::to_owned));
    let columns = lines.next().unwrap().collect();
    let row = |cells: &mut dyn Iterator<Item = String>| {
        cells.map(|cell| (cell != "-").then_some(cell)).collect()
    };
    let rows = lines.map(|mut line| row(&mut line)).collect();
    ResultSet { columns, rows, affected: 0 }
}

fn shown(counters: &Counters) -> String {
    counters.iter().map(|(name, value)| format!("{name} {value}\n")).collect()
}

#[test]
fn names_of_mysqls_family_are_ours_however_they_are_written() {
    let old = result(
        "Variable_name|Value
         Handler_read_key|1042
         Innodb_buffer_pool_read_requests|88123
         Innodb_os_log_fsyncs|77
         Innodb_have_atomic_builtins|ON
         Uptime|12",
    );
    expect![[r#"
        Handler_read_key 1042
        Innodb_buffer_pool_read_requests 88123
        Innodb_os_log_fsyncs 77
    "#]]
    .assert_eq(&shown(&parse_status(&old)));
    let of_meta = result("Variable_name|Value\nrocksdb_wal_bytes|5\nROCKSDB_MEMTABLE_HIT|6");
    expect![[r#"
        Rocksdb_memtable_hit 6
        Rocksdb_wal_bytes 5
    "#]]
    .assert_eq(&shown(&parse_status(&of_meta)));
}

/// What the causes are found by is asked for.
#[test]
fn every_counter_of_the_causes_is_read() {
    let names = rqps_explain::work::names();
    for name in names.into_iter().filter(|name| !name.starts_with("pg_stat")) {
        assert!(STATUS.contains(&name), "{name} is not asked for");
    }
}
