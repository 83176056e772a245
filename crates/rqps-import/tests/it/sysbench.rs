//! Logs of sysbench as runs.

use expect_test::expect_file;
use rqps_import::sysbench::{self, Log, LogFile};
use rqps_import::{Error, Options};

use crate::{data, options, told};

fn log(text: &str) -> LogFile {
    let LogFile { path, label, step } = LogFile::parse(text);
    LogFile { path: data("sysbench").join(path), label, step }
}

/// One of 1.0 with an error now and then, intervals of 2 s and a histogram, one of 1.1 by another script.
#[test]
fn two_systems_and_two_versions() {
    let files = [
        log("my5651=read-write-1.0.log"),
        log("ma110405:oltp_read_write=point-select-1.1.log"),
        log("ma110405=point-select-1.1.log"),
    ];
    let run = sysbench::import(&files, &options("two logs")).unwrap();
    expect_file!["../data/sysbench.told"].assert_eq(&told(&run));
    let slice = &run.steps[0].systems[0].slices[0];
    let points: Vec<(u32, u32, u32)> =
        slice.series.iter().map(|p| (p.queries, p.events, p.errors)).collect();
    assert_eq!(points, [(4000, 200, 1), (4000, 200, 1), (4100, 205, 0), (4100, 205, 0)]);
}

#[test]
fn what_only_the_user_can_say() {
    let twice = [log("my5651=read-write-1.0.log"), log("my5651=read-write-1.0.log")];
    let error = sysbench::import(&twice, &options("x")).unwrap_err();
    assert!(matches!(error, Error::Twice { .. }), "{error}");
    // The file's name says no DBMS, the log's driver does.
    let run = sysbench::import(&[log("point-select-1.1.log")], &options("x")).unwrap();
    assert_eq!(run.systems[0].spec.dbms, rqps_model::Dbms::Postgres);
    let four = Options { clients: Some(4), ..options("x") };
    assert_eq!(
        sysbench::import(&[log("point-select-1.1.log")], &four).unwrap().steps[0].clients,
        4
    );
}

/// sysbench 1.0.20's own test of the CPU: no SQL, and `eps` in its intervals.
#[test]
fn a_test_without_sql() {
    let text = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\
                Number of threads: 2\n\
                [ 1s ] thds: 2 eps: 2656.18 lat (ms,95%): 4.33\n\
                General statistics:\n    total time:                          2.0003s\n\
                \u{20}   total number of events:              5440\n";
    let log = Log::parse(text).unwrap();
    assert_eq!((log.threads, log.intervals.len()), (Some(2), 1));
    let slice = log.to_slice();
    assert!((slice.figure() - 5440.0 / 2.0003).abs() < 1e-9);
    assert_eq!(slice.series[0].events, 2656);
}

#[test]
fn what_is_no_log() {
    let text = |text: &str| Log::parse(text).unwrap_err();
    assert_eq!(text("hello\n"), "this is no log of sysbench");
    let begun = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n";
    assert_eq!(text(begun), "the log ends before sysbench's statistics");
    let fatal = format!("{begun}FATAL: unable to connect to MySQL server\nFATAL: later\n");
    assert_eq!(text(&fatal), "sysbench gave up: unable to connect to MySQL server");
}

/// No log makes it panic, wherever it is cut off.
#[test]
fn logs_cut_off_anywhere() {
    let whole = std::fs::read_to_string(data("sysbench").join("read-write-1.0.log")).unwrap();
    for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        if let Ok(log) = Log::parse(&whole[..end]) {
            let _ = log.to_slice();
        }
    }
}
