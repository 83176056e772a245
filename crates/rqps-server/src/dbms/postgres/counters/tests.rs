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
fn postgres_9_6_and_17_count_checkpoints_in_other_views() {
    let old = result(
        "checkpoints_timed|checkpoints_req|checkpoint_write_time|buffers_checkpoint|buffers_clean|maxwritten_clean|buffers_backend|buffers_backend_fsync|buffers_alloc|stats_reset
         3|1|1823|512|7|0|33|0|900|2026-11-22 10:00:00+00",
    );
    expect![[r#"
        pg_stat_bgwriter.buffers_alloc 900
        pg_stat_bgwriter.buffers_backend 33
        pg_stat_bgwriter.buffers_backend_fsync 0
        pg_stat_bgwriter.buffers_checkpoint 512
        pg_stat_bgwriter.buffers_clean 7
        pg_stat_bgwriter.checkpoint_write_time 1823
        pg_stat_bgwriter.checkpoints_req 1
        pg_stat_bgwriter.checkpoints_timed 3
        pg_stat_bgwriter.maxwritten_clean 0
    "#]]
    .assert_eq(&shown(&parse_view("pg_stat_bgwriter", &old)));
    let new = result(
        "num_timed|num_requested|restartpoints_timed|write_time|sync_time|buffers_written|stats_reset
         3|1|0|1823.5|12.25|512|2026-11-22 10:00:00+00",
    );
    expect![[r#"
        pg_stat_checkpointer.buffers_written 512
        pg_stat_checkpointer.num_requested 1
        pg_stat_checkpointer.num_timed 3
        pg_stat_checkpointer.restartpoints_timed 0
    "#]]
    .assert_eq(&shown(&parse_view("pg_stat_checkpointer", &new)));
}

#[test]
fn a_database_has_no_gauges_among_its_counters() {
    let text = "datid|datname|numbackends|xact_commit|blks_read|blks_hit|tup_returned|blk_read_time|stats_reset
        16384|rqps|4|100|7|93|1000|0|-";
    expect![[r#"
        pg_stat_database.blk_read_time 0
        pg_stat_database.blks_hit 93
        pg_stat_database.blks_read 7
        pg_stat_database.tup_returned 1000
        pg_stat_database.xact_commit 100
    "#]]
    .assert_eq(&shown(&parse_view("pg_stat_database", &result(text))));
}

#[test]
fn io_is_that_of_clients_of_others_and_of_the_log() {
    let of_18 = result(
        "backend_type|object|context|reads|read_bytes|writes|extends|hits|evictions|reuses|fsyncs|stats_reset
         client backend|relation|normal|10|81920|2|1|500|3|-|0|2026-11-22 10:00:00+00
         client backend|relation|bulkread|4|32768|0|-|20|0|4|-|2026-11-22 10:00:00+00
         checkpointer|relation|normal|-|-|70|-|-|-|-|5|2026-11-22 10:00:00+00
         client backend|wal|normal|-|-|40|-|-|-|-|11|2026-11-22 10:00:00+00
         walwriter|wal|normal|-|-|9|-|-|-|-|2|2026-11-22 10:00:00+00",
    );
    expect![[r#"
        pg_stat_io.client.evictions 3
        pg_stat_io.client.extends 1
        pg_stat_io.client.fsyncs 0
        pg_stat_io.client.hits 520
        pg_stat_io.client.read_bytes 114688
        pg_stat_io.client.reads 14
        pg_stat_io.client.reuses 4
        pg_stat_io.client.writes 2
        pg_stat_io.other.fsyncs 5
        pg_stat_io.other.writes 70
        pg_stat_io.wal.fsyncs 13
        pg_stat_io.wal.writes 49
    "#]]
    .assert_eq(&shown(&parse_view("pg_stat_io", &of_18)));
}

#[test]
fn blocks_of_16_and_17_are_bytes_as_in_18() {
    let of_17 = result(
        "backend_type|object|context|reads|writes|extends|op_bytes|hits|evictions|reuses|fsyncs|stats_reset
         client backend|relation|normal|10|2|3|8192|500|3|-|0|2026-11-22 10:00:00+00
         client backend|relation|bulkread|4|0|-|8192|20|0|4|-|2026-11-22 10:00:00+00
         checkpointer|relation|normal|-|70|-|8192|-|-|-|5|2026-11-22 10:00:00+00",
    );
    expect![[r#"
        pg_stat_io.client.evictions 3
        pg_stat_io.client.extend_bytes 24576
        pg_stat_io.client.extends 3
        pg_stat_io.client.fsyncs 0
        pg_stat_io.client.hits 520
        pg_stat_io.client.read_bytes 114688
        pg_stat_io.client.reads 14
        pg_stat_io.client.reuses 4
        pg_stat_io.client.write_bytes 16384
        pg_stat_io.client.writes 2
        pg_stat_io.other.fsyncs 5
        pg_stat_io.other.write_bytes 573440
        pg_stat_io.other.writes 70
    "#]]
    .assert_eq(&shown(&parse_view("pg_stat_io", &of_17)));
}

#[test]
fn a_column_of_times_is_no_counter_though_some_print_as_whole_numbers() {
    let timed = result(
        "backend_type|object|context|reads|read_time|write_time
         client backend|relation|normal|10|0|5
         client backend|relation|bulkread|4|12.25|-
         checkpointer|relation|normal|1|0|0.5
         walwriter|relation|normal|1|0|7",
    );
    // The client's writes take a whole number in the one row that has any.
    expect![[r#"
        pg_stat_io.client.reads 14
        pg_stat_io.client.write_time 5
        pg_stat_io.other.read_time 0
        pg_stat_io.other.reads 2
    "#]]
    .assert_eq(&shown(&parse_view("pg_stat_io", &timed)));
}

/// What the causes are found by is asked for.
#[test]
fn every_counter_of_the_causes_is_read() {
    let names = rqps_explain::work::names();
    for name in names.into_iter().filter(|name| name.starts_with("pg_stat")) {
        let is_asked = VIEWS.iter().any(|asked| name.starts_with(&format!("{}.", asked.view)));
        assert!(is_asked, "{name} is not asked for");
    }
}
