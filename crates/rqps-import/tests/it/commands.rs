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
        its command says --threads=4, and the log 8: see whether the command is that of this log
        its command says --num-threads=4, and the log 8: see whether the command is that of this log
        its command says --threads=16, and the log 8: see whether the command is that of this log
        its command says --rate=500, and the log 0: see whether the command is that of this log
        its command says --report-interval=10, and the log 1: see whether the command is that of this log
        its command says --warmup-time=30, and the log 5: see whether the command is that of this log"#]].assert_eq(&all.join("\n"));
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
            "refused: it ran at a set rate, {rate}: its figure is that rate, and not what the server can do"
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
        its command runs oltp_read_only, which has no writes, and the log has 6000: see whether the command is that of this log
        its command runs oltp_point_select, which has no writes, and the log has 6000: see whether the command is that of this log
        its command runs oltp_write_only, which has no reads, and the log has 14000: see whether the command is that of this log
        its command runs bulk_insert, which has no reads, and the log has 1000: see whether the command is that of this log"#]].assert_eq(&all.join("\n"));
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
