//! Logs of one step whose figures are not of the same events.

use std::fmt::Write as _;
use std::path::Path;

use rqps_import::sysbench::{self, LogFile};
use rqps_import::{Imports, Options, mytools};

use crate::options;

/// What a log of 10 s by four threads is of.
#[derive(Clone, Copy)]
struct Test {
    command: &'static str,
    n_events: u64,
    /// Statements per event: those that read, write, and others.
    read: f64,
    write: f64,
    other: f64,
    n_errors: u64,
}

const READ_WRITE: Test =
    Test { command: "", n_events: 1000, read: 14.0, write: 4.0, other: 2.0, n_errors: 0 };

impl Test {
    fn log(self) -> String {
        let n = |per_event: f64| per_event * self.n_events as f64;
        let (read, write, other) = (n(self.read), n(self.write), n(self.other));
        let (total, n_events, n_errors) = (read + write + other, self.n_events, self.n_errors);
        let command = self.command;
        format!(
            "{command}\nsysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n\
             Running the test with following options:\nNumber of threads: 4\n\nThreads started!\n\n\
             SQL statistics:\n    queries performed:\n        read:        {read}\n        write:       {write}\n\
             \u{20}       other:       {other}\n        total:       {total}\n\
             \u{20}   transactions:        {n_events} ({:.2} per sec.)\n    queries:             {total} ({:.2} per sec.)\n\
             \u{20}   ignored errors:      {n_errors} ({:.2} per sec.)\n    reconnects:          0 (0.00 per sec.)\n\n\
             General statistics:\n    total time:          10.0000s\n    total number of events: {n_events}\n\n\
             Threads fairness:\n    execution time (avg/stddev):   9.9947/0.00\n",
            n_events as f64 / 10.0,
            total / 10.0,
            n_errors as f64 / 10.0
        )
    }
}

/// Imports `my8043:x=a.log`, `pg17.4:x=b.log` and so on.
fn imported(tests: &[Test], options: &Options) -> Imports {
    let dir = tempfile::tempdir().unwrap();
    let labels = ["my8043", "pg17.4", "ma11.4.5"];
    let names = ["a.log", "b.log", "c.log"];
    let files = tests.iter().zip(labels).zip(names).map(|((test, label), name)| {
        let path = dir.path().join(name);
        std::fs::write(&path, test.log()).unwrap();
        LogFile::parse(&format!("{label}:x={}", path.display()))
    });
    sysbench::import(&files.collect::<Vec<_>>(), options).unwrap()
}

/// The systems that have a figure, and everything that was said.
fn told(tests: &[Test], options: &Options) -> String {
    let Imports { runs, skipped } = imported(tests, options);
    let mut out = String::new();
    for run in &runs {
        for (system, cell) in run.systems.iter().zip(&run.steps[0].systems) {
            let _ = write!(out, "{} {}, ", system.spec.label, cell.slices.len());
        }
        let notes = &run.imported.as_ref().unwrap().notes;
        // Logs that are made up alike.
        let notes = notes.iter().filter(|note| !note.contains("is the same log as"));
        notes.for_each(|note| out.push_str(&format!("{note} ")));
    }
    let problems = skipped.iter().map(ToString::to_string);
    problems.for_each(|problem| out.push_str(&format!("{problem} ")));
    let places = out.split(' ').map(|word| match Path::new(word).file_name() {
        Some(name) if word.starts_with('/') => name.to_string_lossy().into_owned(),
        _ => word.to_owned(),
    });
    places.collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

#[test]
fn other_queries_per_event_are_refused() {
    let select = Test { read: 1.0, write: 0.0, other: 0.0, n_events: 90_000, ..READ_WRITE };
    let no_transactions = Test { other: 0.0, ..READ_WRITE };
    // As many queries, of which more read.
    let more_reads = Test { read: 18.0, write: 0.0, ..READ_WRITE };
    let all = [
        told(&[READ_WRITE, select], &options("x")),
        told(&[READ_WRITE, select, select], &options("x")),
        told(&[READ_WRITE, no_transactions], &options("x")),
        told(&[READ_WRITE, more_reads], &options("x")),
        // Held against the base.
        told(&[select, READ_WRITE], &Options { base: Some("pg17.4".to_owned()), ..options("x") }),
    ];
    expect_test::expect![[r#"
        my8043 1, b.log: it has 1.00 queries per event, but a.log of the same step has 20.00: their QPS cannot be compared; give each script its own step in place of x: LABEL:STEP=FILE
        my8043 1, b.log: it has 1.00 queries per event, but a.log of the same step has 20.00: their QPS cannot be compared; give each script its own step in place of x: LABEL:STEP=FILE c.log: it has 1.00 queries per event, but a.log of the same step has 20.00: their QPS cannot be compared; give each script its own step in place of x: LABEL:STEP=FILE
        my8043 1, b.log: it has 18.00 queries per event, but a.log of the same step has 20.00: their QPS cannot be compared; give each script its own step in place of x: LABEL:STEP=FILE
        my8043 1, b.log: it has 18.00 reads per event, but a.log of the same step has 14.00: their QPS cannot be compared; give each script its own step in place of x: LABEL:STEP=FILE
        pg17.4 1, a.log: it has 1.00 queries per event, but b.log of the same step has 20.00: their QPS cannot be compared; give each script its own step in place of x: LABEL:STEP=FILE"#]].assert_eq(&all.join("\n"));
}

#[test]
fn what_may_be_meant_is_told() {
    let with = |command: &'static str| Test { command, ..READ_WRITE };
    let small = with("$ sysbench oltp_read_write --table-size=1000 --mysql-password=pw run");
    let large = with(
        "$ sysbench oltp_read_write --table_size=1000000 --pgsql-password=secret --time=9 run",
    );
    let other = with("root@h:~# sysbench ./mine.lua --table-size=1000 run");
    let none = with("sysbench oltp_read_write run");
    // A tenth of the deletes found a row.
    let empty = Test { write: 0.4, other: 5.6, ..READ_WRITE };
    let random = Test { read: 14.63, n_events: 100_000, ..READ_WRITE };
    let many = Test { n_events: 100_000, ..READ_WRITE };
    let all = [
        told(&[small, large], &options("x")),
        told(&[small, large, large], &options("x")),
        told(&[small, none], &options("x")),
        told(&[small, other], &options("x")),
        told(&[large, other], &options("x")),
        told(&[READ_WRITE, empty], &options("x")),
        told(&[many, random], &options("x")),
    ];
    expect_test::expect![[r#"
        my8043 1, pg17.4 1, b.log: it has --table-size=1000000, but a.log of the same step has --table-size=1000.
        my8043 1, pg17.4 1, ma11.4.5 1, b.log: it has --table-size=1000000, but a.log of the same step has --table-size=1000.
        my8043 1, pg17.4 1, b.log: it has no --table-size, but a.log of the same step has --table-size=1000.
        my8043 1, pg17.4 1, b.log: its script is mine, but that of a.log of the same step is oltp_read_write.
        my8043 1, pg17.4 1, b.log: it has --table-size=1000, but a.log of the same step has --table-size=1000000. b.log: its script is mine, but that of a.log of the same step is oltp_read_write.
        my8043 1, pg17.4 1, b.log: it has 0.40 writes per event, but a.log of the same step has 4.00: sysbench counts no write that changes no row.
        my8043 1, pg17.4 1, b.log: it has 20.63 queries per event, but a.log of the same step has 20.00."#]].assert_eq(&all.join("\n"));
}

/// A name alone switches an option on.
#[test]
fn options_without_a_value_are_compared() {
    let with = |command: &'static str| Test { command, ..READ_WRITE };
    let plain = with("$ sysbench oltp_read_write --histogram run");
    let secondary = with("$ sysbench oltp_read_write --secondary --auto_inc run");
    let on = with("$ sysbench oltp_read_write --secondary=on --auto-inc=true run");
    let off = with("$ sysbench oltp_read_write --secondary=off --auto-inc=1 run");
    let all = [
        told(&[plain, secondary], &options("x")),
        told(&[secondary, plain], &options("x")),
        told(&[secondary, on], &options("x")),
        told(&[secondary, off], &options("x")),
    ];
    expect_test::expect![[r#"
        my8043 1, pg17.4 1, b.log: it has --auto-inc=on, but a.log of the same step has no --auto-inc. b.log: it has --secondary=on, but a.log of the same step has no --secondary.
        my8043 1, pg17.4 1, b.log: it has no --auto-inc, but a.log of the same step has --auto-inc=on. b.log: it has no --secondary, but a.log of the same step has --secondary=on.
        my8043 1, pg17.4 1,
        my8043 1, pg17.4 1, b.log: it has --secondary=off, but a.log of the same step has --secondary=on."#]].assert_eq(&all.join("\n"));
}

#[test]
fn what_does_not_differ_is_not_told() {
    let with = |command: &'static str| Test { command, ..READ_WRITE };
    // A tenth of the events was begun again, once.
    let retried = Test { read: 15.4, write: 4.4, other: 2.2, n_errors: 100, ..READ_WRITE };
    // Four of ten events were under way at the end.
    let few = Test { n_events: 10, read: 17.0, write: 5.0, other: 3.0, ..READ_WRITE };
    let mysql = with(
        "$ sysbench --db-driver=mysql --mysql-host=a --threads=4 --time=9 oltp_read_write run",
    );
    let postgres = with("$ sysbench --db-driver=pgsql --pgsql-port=5433 oltp_read_write run");
    for tests in [
        [READ_WRITE, READ_WRITE],
        [READ_WRITE, retried],
        [retried, READ_WRITE],
        [READ_WRITE, few],
        [mysql, postgres],
        [mysql, READ_WRITE],
        [READ_WRITE, Test { n_events: 0, ..READ_WRITE }],
    ] {
        assert_eq!(told(&tests, &options("x")), "my8043 1, pg17.4 1,");
    }
}

/// The same of folders of raw files, which name their steps by files.
#[test]
fn raw_folders() {
    let dir = tempfile::tempdir().unwrap();
    let select = Test { read: 1.0, write: 0.0, other: 0.0, ..READ_WRITE };
    let small = Test { command: "$ sysbench oltp_read_only --table-size=10 run", ..select };
    let large = Test { command: "$ sysbench oltp_read_only --table-size=20 run", ..select };
    let systems = [("x.my8043_a", small), ("x.my8406_a", READ_WRITE), ("x.pg174_a", large)];
    for (label, test) in systems {
        std::fs::create_dir(dir.path().join(label)).unwrap();
        let path = dir.path().join(label).join("sb.o.point-query.range100.pk1.dop4");
        std::fs::write(path, test.log()).unwrap();
    }
    let run = mytools::import(dir.path(), &options("x")).unwrap().runs.remove(0);
    let n_slices: Vec<usize> = run.steps[0].systems.iter().map(|cell| cell.slices.len()).collect();
    assert_eq!(n_slices, [1, 0, 1]);
    expect_test::expect![[r#"
        x.pg174_a/sb.o.point-query.range100.pk1.dop4: it has --table-size=20, but x.my8043_a/sb.o.point-query.range100.pk1.dop4 of the same step has --table-size=10.
        Not imported: x.my8406_a/sb.o.point-query.range100.pk1.dop4: it has 20.00 queries per event, but x.my8043_a/sb.o.point-query.range100.pk1.dop4 of the same step has 1.00: their QPS cannot be compared; import one of them alone."#]].assert_eq(&run.imported.unwrap().notes.join("\n"));
}
