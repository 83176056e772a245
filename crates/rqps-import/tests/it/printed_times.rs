//! Response times as builds of sysbench print them: with a unit of their own, in seconds, with few digits.

use rqps_import::sysbench::Log;

/// A log of 20 s by 16 threads as 0.4.12 prints it, with these lines of response times.
fn log(times: &str) -> String {
    format!(
        "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\n\
         Running the test with following options:\nNumber of threads: 16\n\nThreads started!\nDone.\n\n\
         OLTP test statistics:\n    queries performed:\n        read:  140000\n        write: 50000\n\
         \u{20}       other: 20000\n        total: 210000\n\
         \u{20}   transactions:        10000  (500.00 per sec.)\n\
         \u{20}   deadlocks:           0      (0.00 per sec.)\n\
         \u{20}   read/write requests: 190000 (9500.00 per sec.)\n\
         \u{20}   other operations:    20000  (1000.00 per sec.)\n\n\
         Test execution summary:\n    total time: 20.0000s\n    total number of events: 10000\n{times}\n\
         Threads fairness:\n    events (avg/stddev): 625.0000/8.60\n\
         \u{20}   execution time (avg/stddev): 19.9687/0.00\n"
    )
}

fn times(min: &str, avg: &str, max: &str, p95: &str) -> String {
    format!(
        "    per-request statistics:\n         min: {min}\n         avg: {avg}\n         max: {max}\n\
         \u{20}        approx.  95 percentile: {p95}\n"
    )
}

/// Its times in milliseconds, and what is said of them.
fn read(times: &str) -> String {
    let log = match Log::parse(&log(times)) {
        Ok(log) => log,
        Err(why) => return format!("refused: {why}"),
    };
    let of = &log.latency;
    let ms = [of.min, of.avg, of.max].map(|time| time.map_or("-".to_owned(), |ms| ms.to_string()));
    let flaws: Vec<String> = log.flaws.iter().map(ToString::to_string).collect();
    format!("{} {:?} {}", ms.join(" "), of.percentiles, flaws.join("; ")).trim_end().to_owned()
}

#[test]
fn a_time_has_the_unit_that_it_says() {
    let wanted = "8.1 32 411.4 [(95.0, 62)]";
    for line in [
        times("0.0081s", "0.0320s", "0.4114s", "0.0620s"),
        times("8.10ms", "32.00ms", "411.40ms", "62.00ms"),
        times("8100us", "32000us", "411400us", "62000us"),
        times("8100\u{b5}s", "32.0 ms", "0.4114 s", "62000000ns"),
        times("8.10", "32.00", "411.40", "62.00"),
    ] {
        assert_eq!(read(&line).replace("62.0)", "62)"), wanted, "{line}");
    }
    let all = [
        times("0.0081m", "0.0320s", "0.4114s", "0.0620s"),
        times("0.0081s", "0.0320s", "41.1400s", "0.0620s"),
        times("0.0081s", "3,2.0ms", "0.4114s", "0.0620s"),
    ];
    expect_test::expect![[r#"
        refused: line 24: min: "0.0081m" is not a time from 0 on; copy the log again, or run the test again
        refused: max: 41140 ms is above total time: 20 s; copy the log again, or run the test again
        refused: line 25: avg: "3,2.0ms" is not a time from 0 on; copy the log again, or run the test again"#]].assert_eq(&all.map(|line| read(&line)).join("\n"));
}

/// The digits of seconds are coarse beside the times of an index lookup.
#[test]
fn few_digits_contradict_nothing() {
    let sum = "    total time taken by event execution: 319.4992\n";
    for line in [
        times("0.0001s", "0.0319s", "0.0400s", "0.0399s"),
        times("0.0319s", "0.0320s", "0.0320s", "0.0321s"),
        times("0.03s", "0.03s", "0.04s", "0.03s"),
    ] {
        let said = read(&format!("{sum}{line}"));
        assert!(!said.contains("refused") && !said.contains("times"), "{said}");
    }
}
