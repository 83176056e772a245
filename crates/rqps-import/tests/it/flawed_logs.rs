//! Logs of sysbench that are not of one whole run of 1.0: of several processes, with dead threads, cut off, or
//! of versions that count otherwise.

use rqps_import::sysbench::{Flaw, Log};

/// A log of 1.0 by eight threads with `lines` before its statistics.
fn log(lines: &str) -> String {
    format!(
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n\
         Running the test with following options:\nNumber of threads: 8\n\n\
         Threads started!\n\n{lines}{}",
        statistics(10_000)
    )
}

fn statistics(n: u32) -> String {
    let per_s = f64::from(n) / 10.0;
    format!(
        "SQL statistics:\n    queries performed:\n        read:                            {n}\n\
         \u{20}   transactions:                        {n}  ({per_s:.2} per sec.)\n\
         \u{20}   queries:                             {n}  ({per_s:.2} per sec.)\n\
         \u{20}   ignored errors:                      0      (0.00 per sec.)\n\
         \u{20}   reconnects:                          0      (0.00 per sec.)\n\n\
         General statistics:\n    total time:                          10.0000s\n\
         \u{20}   total number of events:              {n}\n\n\
         Latency (ms):\n         95th percentile:                        3.55\n\n\
         Threads fairness:\n    events (avg/stddev):           1250.0000/0.00\n\
         \u{20}   execution time (avg/stddev):   9.9947/0.00\n"
    )
}

fn interval(at_s: u32, threads: u32, qps: u32) -> String {
    format!(
        "[ {at_s}s ] thds: {threads} tps: {qps}.00 qps: {qps}.00 (r/w/o: {qps}.00/0.00/0.00) \
         lat (ms,95%): 3.36 err/s: 0.00 reconn/s: 0.00"
    )
}

/// Each line of two logs in turn.
fn interleaved(a: &str, b: &str) -> String {
    let lines = a.lines().zip(b.lines()).flat_map(|(a, b)| [a, b]);
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn two_processes_in_one_log() {
    let two = "two processes of sysbench wrote it at the same time: give each process its own log";
    let problem = |text: &str| Log::parse(text).unwrap_err();
    assert_eq!(problem(&interleaved(&log(""), &log(""))), two);
    // One of them was killed, or began later, or both began with a log of an earlier run.
    let both = interleaved(&interval(1, 8, 900), &interval(1, 8, 950));
    assert_eq!(problem(&log(&both)), two);
    let later = format!(
        "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n{}\n{}\n",
        interval(6, 8, 900),
        interval(1, 8, 950)
    );
    assert_eq!(problem(&log(&later)), two);
    let headless = format!("{}{}", statistics(10_000), statistics(20_000));
    assert_eq!(problem(&headless), two);
    // One after the other is another mistake.
    assert!(problem(&log("").repeat(2)).contains("several runs"));
}

#[test]
fn threads_that_died_are_told() {
    let flaws = |lines: &str| Log::parse(&log(lines)).unwrap().flaws;
    let died = format!(
        "FATAL: `thread_run' function failed: ./tpcc_run.lua:721: bad argument #1 to 'unpack'{}{}\n{}\n{}\n",
        interval(1, 5, 4000),
        interval(2, 5, 3000),
        interval(3, 5, 500),
        interval(4, 5, 500),
    );
    let parsed = Log::parse(&log(&died)).unwrap();
    let rates: Vec<u32> = parsed.to_slice().series.iter().map(|point| point.queries).collect();
    assert_eq!(rates, [4000, 3000, 500, 500]);
    let said: Vec<String> = parsed.flaws.iter().map(ToString::to_string).collect();
    let why = "`thread_run' function failed: ./tpcc_run.lua:721: bad argument #1 to 'unpack'";
    assert_eq!(
        said,
        [
            "sysbench continued with 5 of 8 threads".to_owned(),
            format!("sysbench reported an error: {why}")
        ]
    );
    assert_eq!(parsed.to_slice().warnings.len(), 2);
    // Nobody says why; threads that have ended by the last interval are none that died.
    let silent = format!("{}\n{}\n", interval(1, 7, 900), interval(2, 7, 900));
    assert_eq!(flaws(&silent), [Flaw::DeadThreads { n_running: 7, n_threads: 8 }]);
    let at_the_end = format!("{}\n{}\n", interval(5, 8, 900), interval(10, 3, 900));
    assert_eq!(flaws(&at_the_end), []);
    let reason = "failed to execute MySQL query".to_owned();
    assert_eq!(flaws("ALERT: failed to execute MySQL query\n"), [Flaw::Fatal { reason }]);
}

/// Without report intervals, and with errors on a terminal, the times at the end alone tell it.
#[test]
fn threads_that_died_without_a_word_are_told() {
    let flaws = |times: &str| Log::parse(&log("").replace("9.9947/0.00", times)).unwrap().flaws;
    // One of eight died at once, two in the middle.
    let mean_s = 8.75;
    assert_eq!(flaws("8.7500/3.31"), [Flaw::UnequalThreads { mean_s, total_s: 10.0 }]);
    assert_eq!(
        flaws("8.7500/2.17")[0].to_string(),
        "threads ended early: they ran for 8.8 of 10.0 seconds on average, and not all for the same time"
    );
    // Threads that wait within the script.
    let idle = flaws("3.0000/0.50");
    assert_eq!(idle, [Flaw::IdleThreads { mean_s: 3.0, total_s: 10.0 }]);
    assert!(idle[0].to_string().starts_with("threads spent 3.0 of 10.0 seconds on events"));
    // With a last event that took long, with a pause now and then, and with a log that is cut there.
    for times in ["9.5000/0.30", "6.0000/0.10", "9.9947/0.00", "9.9"] {
        assert_eq!(flaws(times), [], "{times}");
    }
}

#[test]
fn a_forced_shutdown_is_told() {
    for option in ["max-time", "time"] {
        let line = format!("FATAL: The --{option} limit has expired, forcing shutdown...\n");
        assert_eq!(Log::parse(&log(&line)).unwrap().flaws, [Flaw::ForcedShutdown]);
    }
    assert_eq!(Log::parse(&log("")).unwrap().flaws, []);
}

/// Wherever a log is cut off, it has no rate or the whole figure and a mark, and no number lacks digits.
#[test]
fn cut_logs_are_told() {
    let whole = log(&format!("{}\n", interval(1, 8, 1000)));
    let last = whole.rfind("execution time").unwrap();
    let mut n_figures = 0;
    for end in (0..last).filter(|end| whole.is_char_boundary(*end)) {
        let Ok(log) = Log::parse(&whole[..end]) else { continue };
        n_figures += 1;
        assert_eq!(log.flaws, [Flaw::Cut], "{end}");
        assert!((log.to_slice().figure() - 1000.0).abs() < 1e-9, "{end}");
        assert!(log.seconds.is_none_or(|s| (s - 10.0).abs() < 1e-9), "{end}");
        assert!(log.latency.percentiles.iter().all(|p| *p == (95.0, 3.55)), "{end}");
    }
    assert!(n_figures > 100, "{n_figures}");
    let problem = |until: &str| {
        let end = whole.find(until).unwrap();
        Log::parse(&whole[..end]).unwrap_err()
    };
    assert_eq!(problem("SQL statistics"), "the log ends before sysbench's statistics");
    // Transactions alone are no queries.
    assert_eq!(problem("    queries:  "), "the log ends before sysbench's statistics");
}

/// Versions before 1.0 count transactions, requests and other operations, and no queries.
#[test]
fn events_and_queries_before_1_0() {
    let statistics = "OLTP test statistics:\n    queries performed:\n\
                      \u{20}       read:                            420000\n\
                      \u{20}       write:                           120000\n\
                      \u{20}       other:                           60000\n\
                      \u{20}       total:                           600000\n\
                      \u{20}   transactions:                        30000  (1500.00 per sec.)\n";
    let requests = "    read/write requests:                 540000 (27000.00 per sec.)\n\
                    \u{20}   other operations:                    60000  (3000.00 per sec.)\n";
    let times = "         min:                                  2.09ms\n\
                 \u{20}        avg:                                  5.29ms\n\
                 \u{20}        max:                                 98.83ms\n\
                 \u{20}        approx.  95 percentile:               7.06ms\n\n\
                 Threads fairness:\n    execution time (avg/stddev):   19.9947/0.00\n";
    let started =
        "Running the test with following options:\nNumber of threads: 8\n\nThreads started!\n\n";
    let of_0_5 = |version: &str| {
        format!(
            "sysbench {version}:  multi-threaded system evaluation benchmark\n\n{started}\
             [  10s] threads: 8, tps: 1500.00, reads: 21000.00, writes: 6000.00, response time: 7.11ms (95%), \
             errors: 0.00, reconnects:  0.00\n{statistics}{requests}\
             \u{20}   ignored errors:                      3      (0.15 per sec.)\n\
             \u{20}   reconnects:                          0      (0.00 per sec.)\n\n\
             General statistics:\n    total time:                          20.0000s\n\
             \u{20}   total number of events:              30000\n\
             \u{20}   total time taken by event execution: 159.9442s\n    response time:\n{times}"
        )
    };
    let of_0_4 = format!(
        "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\n{started}Done.\n\n{statistics}\
         \u{20}   deadlocks:                           3      (0.15 per sec.)\n{requests}\n\
         Test execution summary:\n    total time:                          20.0000s\n\
         \u{20}   total number of events:              30000\n    per-request statistics:\n{times}"
    );
    for text in [of_0_5("0.5"), of_0_5("1.0"), of_0_4] {
        let log = Log::parse(&text).unwrap();
        assert_eq!(log.queries, Some((600_000, 30_000.0)), "{text}");
        assert_eq!(log.events, Some((30_000, 1500.0)));
        assert_eq!((log.ignored_errors, log.seconds), (Some(3), Some(20.0)));
        assert_eq!((log.latency.avg, log.latency.max), (Some(5.29), Some(98.83)));
        assert_eq!(log.latency.percentiles, [(95.0, 7.06)]);
        assert_eq!(log.flaws, []);
        // Their intervals do not count other operations.
        assert!(log.to_slice().series.is_empty());
    }
    // A script that begins no transaction counts its events alone.
    let text = of_0_5("0.5")
        .replace(
            "transactions:                        30000  (1500.00 per sec.)",
            "transactions:                        0      (0.00 per sec.)",
        )
        .replace("tps: 1500.00", "tps: 0.00");
    let log = Log::parse(&text).unwrap();
    assert_eq!((log.queries, log.events), (Some((600_000, 30_000.0)), Some((30_000, 1500.0))));
    let slice = log.to_slice();
    assert_eq!(slice.n_events, 30_000);
    assert_eq!(slice.stated.unwrap().response.unwrap().mean_ns, Some(5_290_000.0));
    // Sums of rates have the digits of the rates.
    let of_others =
        of_0_5("0.5").replace("27000.00", "27000.05").replace("3000.00 per", "2999.97 per");
    assert_eq!(Log::parse(&of_others).unwrap().queries, Some((600_000, 30_000.02)));
    // Cut off before the other operations there is no figure.
    let whole = of_0_5("0.5");
    let end = whole.find("    other operations").unwrap();
    assert!(Log::parse(&whole[..end]).is_err());
}

/// Scripts before 1.0 that begin no transaction.
#[test]
fn a_log_of_0_5_without_transactions_has_its_events() {
    let text = "sysbench 0.5:  multi-threaded system evaluation benchmark\n\nNumber of threads: 2\n\nThreads started!\n\n\
        [  10s] threads: 2, tps: 0.00, reads: 0.00, writes: 1000.00, response time: 4.13ms (95%)\n\
        OLTP test statistics:\n    queries performed:\n        read:   0\n        write:  10000\n        other:  0\n\
        \u{20}       total:  10000\n    transactions:         0 (0.00 per sec.)\n    read/write requests:  10000 (1000.00 per sec.)\n\
        \u{20}   other operations:     0 (0.00 per sec.)\n\nGeneral statistics:\n    total time:  10.0000s\n\
        \u{20}   total number of events:  10000\n    total time taken by event execution: 19.9s\n    response time:\n\
        \u{20}        min:  0.42ms\n         avg:  1.99ms\n         max:  28.11ms\n         approx.  95 percentile:  4.41ms\n\n\
        Threads fairness:\n    events (avg/stddev):  5000.0000/0.00\n    execution time (avg/stddev):  9.95/0.00\n";
    let log = Log::parse(text).unwrap();
    let slice = log.to_slice();
    assert_eq!((slice.n_events, slice.n_queries, log.flaws.len()), (10_000, 10_000, 0));
    let response = slice.stated.unwrap().response.unwrap();
    assert_eq!((response.n, response.max_ns), (10_000, 28_110_000));
    assert_eq!(response.percentiles_ns, [(95.0, 4_410_000)]);
    // Times of no event are still held against one another.
    let wrong = Log::parse(&text.replace("min:  0.42ms", "min:  42.00ms")).unwrap_err();
    assert!(wrong.contains("min: 42 ms is above"), "{wrong}");
    // An event may have several transactions, which then count.
    let one = text.replace("transactions:         0 (0.00", "transactions:         5000 (500.00");
    let one = one.replace("tps: 0.00", "tps: 500.00");
    assert_eq!(Log::parse(&one).unwrap().to_slice().n_events, 5000);
}
