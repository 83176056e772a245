//! Commands above logs, held against the logs.

use rqps_import::sysbench::Log;

/// A log of 10 s by eight threads below `above`, with `options` in its list.
fn log(above: &str, options: &str) -> String {
    format!(
        "{above}\nsysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n\
         Running the test with following options:\nNumber of threads: 8\n{options}\nThreads started!\n\n{}",
        statistics(14_000, 6000)
    )
}

fn statistics(reads: u32, writes: u32) -> String {
    let total = reads + writes;
    format!(
        "SQL statistics:\n    queries performed:\n        read:    {reads}\n        write:   {writes}\n\
         \u{20}       other:   0\n        total:   {total}\n\
         \u{20}   transactions:        1000 (100.00 per sec.)\n\
         \u{20}   queries:             {total} ({:.2} per sec.)\n\
         General statistics:\n    total time:          10.0000s\n    total number of events: 1000\n\n\
         Threads fairness:\n    execution time (avg/stddev):   9.9947/0.00\n",
        f64::from(total) / 10.0
    )
}

/// What is said of such a log.
fn said(text: &str) -> String {
    match Log::parse(text) {
        Ok(log) => log.flaws.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        Err(why) => format!("refused: {why}"),
    }
}

#[test]
fn options_that_the_log_contradicts() {
    let with =
        |words: &str, options: &str| said(&log(&format!("$ sysbench mine {words} run"), options));
    let all = [
        with("--threads=4", ""),
        with("--num-threads=4", ""),
        with("--threads=8 --threads=16", ""),
        with("--rate=500", ""),
        with("--threads=8 --report-interval=10", "Report intermediate results every 1 second(s)\n"),
        with("--warmup-time=30", "Warmup time: 5s\n"),
    ];
    expect_test::expect![[r#"
        its command has --threads=4, but the log has 8: check whether the command belongs to this log
        its command has --num-threads=4, but the log has 8: check whether the command belongs to this log
        its command has --threads=16, but the log has 8: check whether the command belongs to this log
        its command has --rate=500, but the log has 0: check whether the command belongs to this log
        its command has --report-interval=10, but the log has 1: check whether the command belongs to this log
        its command has --warmup-time=30, but the log has 5: check whether the command belongs to this log"#]].assert_eq(&all.join("\n"));
    for words in [
        "--threads=8",
        "--num_threads=8 --tx-rate=0",
        "--threads=4 --threads=8",
        "--threads=$T",
        "--threads",
        "--rate=0",
        // sysbench 1.0 takes whole rates.
        "--rate=0.5",
        "--report-interval=1 --warmup-time=5",
    ] {
        let options = "Report intermediate results every 1 second(s)\nWarmup time: 5s\n";
        assert_eq!(with(words, options), "", "{words}");
    }
}

/// Without the list of options the command alone tells that the figure is a set rate.
#[test]
fn a_set_rate_by_the_command_alone() {
    let text = |rate: &str| {
        format!("$ sysbench mine --threads=8 {rate} run\n{}", statistics(14_000, 6000))
    };
    for rate in ["--rate=100", "--tx-rate=100", "--rate=0.5"] {
        let wanted = format!(
            "refused: it ran at a set rate, {rate}: its QPS are that rate, not what the server can do"
        );
        assert_eq!(said(&text(rate)), wanted);
    }
    for rate in ["", "--rate=0", "--rate=$R"] {
        assert_eq!(said(&text(rate)), "", "{rate}");
    }
}

#[test]
fn scripts_that_the_log_contradicts() {
    let with = |script: &str, reads: u32, writes: u32| {
        let text = log(&format!("$ sysbench {script} --threads=8 run"), "");
        said(&text.replace(&statistics(14_000, 6000), &statistics(reads, writes)))
    };
    let all = [
        with("oltp_read_only", 14_000, 6000),
        with("/usr/share/sysbench/oltp_point_select.lua", 14_000, 6000),
        with("oltp_write_only", 14_000, 6000),
        with("bulk_insert", 1000, 0),
    ];
    expect_test::expect![[r#"
        its command runs oltp_read_only, which has no writes, but the log has 6000: check whether the command belongs to this log
        its command runs oltp_point_select, which has no writes, but the log has 6000: check whether the command belongs to this log
        its command runs oltp_write_only, which has no reads, but the log has 14000: check whether the command belongs to this log
        its command runs bulk_insert, which has no reads, but the log has 1000: check whether the command belongs to this log"#]].assert_eq(&all.join("\n"));
    for (script, reads, writes) in [
        ("oltp_read_write", 14_000, 6000),
        ("oltp_read_only", 20_000, 8),
        ("oltp_insert", 0, 1000),
        ("oltp_insert", 8, 1000),
        ("my_oltp_read_only", 14_000, 6000),
    ] {
        assert_eq!(with(script, reads, writes), "", "{script}");
    }
}

/// A run that gave up has a command of its own.
#[test]
fn the_command_is_that_of_the_run() {
    let failed = "$ sysbench oltp_read_only --threads=4 run\nsysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n\
                  FATAL: unable to connect to MySQL server\n$ sysbench oltp_read_write \\\n> --threads=8 run";
    let after = "$ sysbench oltp_insert --threads=2 run\n";
    let parsed = Log::parse(&(log(failed, "") + after)).unwrap();
    assert_eq!((parsed.script.as_deref(), parsed.flaws.len()), (Some("oltp_read_write"), 0));
    // A script that echoed its command once.
    let twice = "$ sysbench oltp_read_write --threads=8 run\nsysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n";
    let parsed = Log::parse(&log(twice, "")).unwrap();
    assert_eq!((parsed.script.as_deref(), parsed.flaws.len()), (Some("oltp_read_write"), 0));
}

/// A log of 1000 events in 10 s whose times have a percentile.
fn with_options(command: &str) -> String {
    let times = "Latency (ms):\n         avg: 79.90\n         max: 120.00\n         95th percentile: 90.00\n\nThreads";
    said(&log(command, "").replace("Threads fairness", &format!("{times} fairness")))
}

#[test]
fn limits_that_the_log_contradicts() {
    let with = |words: &str| with_options(&format!("$ sysbench mine --threads=8 {words} run"));
    let all = [
        with("--percentile=99"),
        with("--percentile=0"),
        with("--events=500"),
        with("--max-requests=500"),
        with("--time=600"),
        with("--max-time=600"),
        with("--time=5"),
        with("--time=10.6"),
        with("--time=600 --events=5000"),
    ];
    expect_test::expect![[r#"
        its command has --percentile=99, but the log has 95: check whether the command belongs to this log
        its command has --percentile=0, but the log has 95: check whether the command belongs to this log
        its command has --events=500, but the log has 1000: check whether the command belongs to this log
        its command has --max-requests=500, but the log has 1000: check whether the command belongs to this log
        its command has --time=600, but the log has 10: check whether the command belongs to this log
        its command has --max-time=600, but the log has 10: check whether the command belongs to this log
        its command has --time=5, but the log has 10: check whether the command belongs to this log
        its command has --time=10.6, but the log has 10: check whether the command belongs to this log
        its command has --time=600, but the log has 10: check whether the command belongs to this log"#]].assert_eq(&all.join("\n"));
    for words in [
        "--percentile=95",
        "--percentile=95.5",
        "--percentile=$P",
        "--events=0 --time=10",
        "--events=1000 --time=600",
        "--events=995",
        "--max-requests=1000 --max-time=3600",
        "--time=0",
        "--time=9",
        "--time=10m",
        "--time=10",
    ] {
        assert_eq!(with(words), "", "{words}");
    }
}

/// What ends a run early or late beside its limit of time.
#[test]
fn times_beside_the_limit_with_an_innocent_reason() {
    let long = "         max: 120.00\n";
    let text = |words: &str, max: &str| {
        let times = format!("Latency (ms):\n{max}\nThreads fairness");
        log(&format!("$ sysbench mine --threads=8 {words} run"), "")
            .replace("Threads fairness", &times)
    };
    assert!(said(&text("--time=5", long)).contains("--time=5, but the log has 10"));
    assert_eq!(said(&text("--time=5", "         max: 5000.00\n")), "");
    let failed =
        text("--time=60", long).replace("Threads started!", "Threads started!\nFATAL: it died");
    assert_eq!(said(&failed), "sysbench reported an error: it died");
    // Before 1.0 at most 10000 requests are the default.
    let of_0_4 = |n: u32| {
        let transactions = format!("{n} ({:.2}", f64::from(n) / 10.0);
        let requests = "read/write requests: 20000 (2000.00 per sec.)\n    other operations: 0 (0.00 per sec.)";
        let text = text("--max-time=60", long)
            .replace("1000 (100.00", &transactions)
            .replace("events: 1000", &format!("events: {n}"))
            .replace("queries:             20000 (2000.00 per sec.)", requests);
        said(&text)
    };
    assert_eq!(of_0_4(10_000), "");
    assert!(of_0_4(9000).contains("--max-time=60, but the log has 10"));
}
