//! Logs of sysbench with lines that cannot be read, or that contradict one another.

use rqps_import::sysbench::{Flaw, Log};

/// A log of 10 s; its lines are those that cases replace.
const LOG: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 8

Threads started!

Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       65.700 |****************************************  600
       101.410 |*************                             400
 
SQL statistics:
    queries performed:
        read:                            20000
        total:                           20000
    transactions:                        1000   (100.00 per sec.)
    queries:                             20000  (2000.00 per sec.)
    ignored errors:                      3      (0.30 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          10.0004s
    total number of events:              1000

Latency (ms):
         min:                                    65.10
         avg:                                    79.96
         max:                                    102.30
         95th percentile:                        101.40

Threads fairness:
    execution time (avg/stddev):   9.9947/0.00
";

/// The log with one text in place of another.
fn with(text: &str, other: &str) -> String {
    assert!(LOG.contains(text), "{text}");
    LOG.replacen(text, other, 1)
}

fn refusal(text: &str, other: &str) -> String {
    Log::parse(&with(text, other)).unwrap_err()
}

#[test]
fn values_that_cannot_be_read() {
    let all = [
        refusal("20000  (2000.00", "20000  (2000,00"),
        refusal("20000  (2000.00", "20000  (-990.00"),
        refusal("20000  (2000.00", "20000  (nan"),
        refusal("20000  (2000.00", "20000  (inf"),
        refusal("20000  (2000.00", "20000  (1e308"),
        refusal("1000   (100.00", "10000000000000000000000000  (100.00"),
        refusal("3      (0.30", "-3     (0.30"),
        refusal("10.0004s", "0.0000s"),
        refusal("10.0004s", "-1.0004s"),
        refusal("10.0004s", "nans"),
        refusal("threads: 8", "threads: 0"),
        refusal("threads: 8", "threads: 10000000000000000000000000"),
        refusal("79.96\n", "79,96\n"),
        refusal("101.40\n", "inf\n"),
    ];
    expect_test::expect![[r#"
        line 18: queries: "20000  (2000,00 per sec.)" is not a count with its rate; copy the log again, or run the test again
        line 18: queries: "20000  (-990.00 per sec.)" is not a count with its rate; copy the log again, or run the test again
        line 18: queries: "20000  (nan per sec.)" is not a count with its rate; copy the log again, or run the test again
        line 18: queries: "20000  (inf per sec.)" is not a count with its rate; copy the log again, or run the test again
        line 18: queries: "20000  (1e308 per sec.)" is not a count with its rate; copy the log again, or run the test again
        line 17: transactions: "10000000000000000000000000  (100.00 per sec.)" is not a count with its rate; copy the log again, or run the test again
        line 19: ignored errors: "-3     (0.30 per sec.)" is not a count with its rate; copy the log again, or run the test again
        line 23: total time: "0.0000s" is not a time above 0; copy the log again, or run the test again
        line 23: total time: "-1.0004s" is not a time above 0; copy the log again, or run the test again
        line 23: total time: "nans" is not a time above 0; copy the log again, or run the test again
        line 4: Number of threads: "0" is not a number of threads from 1 on; copy the log again, or run the test again
        line 4: Number of threads: "10000000000000000000000000" is not a number of threads from 1 on; copy the log again, or run the test again
        line 28: avg: "79,96" is not a time from 0 on; copy the log again, or run the test again
        line 30: 95th percentile: "inf" is not a time from 0 on; copy the log again, or run the test again"#]].assert_eq(&all.join("\n"));
}

#[test]
fn rates_that_are_not_those_of_the_counts() {
    let all = [
        refusal("20000  (2000.00", "20000  (5000.00"),
        refusal("1000   (100.00", "1000   (10.00"),
        refusal("10.0004s", "60.0004s"),
        refusal("0      (0.00", "0      (7.00"),
    ];
    expect_test::expect![[r#"
        line 18: queries: 20000 in 10.0004 seconds are 1999.92 per second, not 5000.00; copy the log again, or run the test again
        line 17: transactions: 1000 in 10.0004 seconds are 100.00 per second, not 10.00; copy the log again, or run the test again
        line 17: transactions: 1000 in 60.0004 seconds are 16.67 per second, not 100.00; copy the log again, or run the test again
        line 20: reconnects: 0 in 10.0004 seconds are 0.00 per second, not 7.00; copy the log again, or run the test again"#]].assert_eq(&all.join("\n"));
    // A rate that ends some milliseconds later than the time is none of these.
    assert!(Log::parse(&with("20000  (2000.00", "20000  (1999.12")).is_ok());
}

/// Lines that each run has once are those of two processes.
#[test]
fn lines_that_come_twice() {
    let queries = "    queries:                             20000  (2000.00 per sec.)\n";
    let time = "    total time:                          10.0004s\n";
    let percentile = "         95th percentile:                        101.40\n";
    let threads = "Number of threads: 8\n";
    let other = refusal(threads, &format!("{threads}Number of threads: 16\n"));
    assert!(other.starts_with("two processes"), "{other}");
    for line in [queries, time, percentile] {
        let problem = refusal(line, &format!("{line}{line}"));
        assert!(problem.starts_with("two processes of sysbench wrote it"), "{line}: {problem}");
    }
}

#[test]
fn numbers_that_do_not_agree() {
    let kinds =
        "        write:                           5\n        other:                           5\n";
    let total = "        total:                           20000\n";
    let all = [
        refusal(total, &format!("{kinds}{total}")),
        refusal("total:                           20000", "total:                           20001"),
        refusal("events:              1000", "events:              2000"),
        refusal("65.10\n", "112.28\n"),
        refusal("65.10\n", "82.90\n"),
        refusal("102.30\n", "71.40\n"),
        refusal("101.40\n", "265.60\n"),
        refusal("101.40\n", "57.10\n"),
        refusal("102.30\n", "10000000000000.00\n"),
        refusal("20000  (2000.00", "18446744073709551615  (2000.00"),
    ];
    expect_test::expect![[r#"
        line 18: total: 20000 queries, but read, write and other are 20010; copy the log again, or run the test again
        line 16: total: 20001 queries, but queries: 20000; copy the log again, or run the test again
        line 24: total number of events: 2000, but transactions: 1000; copy the log again, or run the test again
        min: 112.28 ms is above max: 102.3 ms; copy the log again, or run the test again
        min: 82.9 ms is above avg: 79.96 ms; copy the log again, or run the test again
        avg: 79.96 ms is above max: 71.4 ms; copy the log again, or run the test again
        95th percentile: 265.6 ms is above max: 102.3 ms; copy the log again, or run the test again
        95th percentile: 57.1 ms is below min: 65.1 ms; copy the log again, or run the test again
        line 29: max: "10000000000000.00" is not a time from 0 on; copy the log again, or run the test again
        line 18: queries: "18446744073709551615  (2000.00 per sec.)" is not a count with its rate; copy the log again, or run the test again"#]].assert_eq(&all.join("\n"));
    // A percentile is the end of a bucket.
    assert!(Log::parse(&with("101.40\n", "103.40\n")).is_ok());
}

/// A histogram may have the events of the statistics and other times.
#[test]
fn a_histogram_of_other_times_is_excluded() {
    let flaws = |text: &str, other: &str| {
        let log = Log::parse(&with(text, other)).unwrap();
        assert_eq!(log.to_slice().response_times.is_empty(), !log.flaws.is_empty(), "{other}");
        log.flaws.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let all = [
        flaws("65.10\n", "31.40\n"),
        flaws("79.96\n", "68.50\n"),
        flaws("79.96\n", "91.40\n"),
        flaws("102.30\n", "257.00\n"),
        flaws("65.700 |****************************************  600", "0.023 |*****  600"),
    ];
    expect_test::expect![[r#"
        its histogram is excluded: its min is 65.70 ms, but that of the statistics is 31.4 ms
        its histogram is excluded: its avg is 79.98 ms, but that of the statistics is 68.5 ms; its times contradict one another: 8 threads of 9.9947 s on average, and 68.50 s of all events, so response times are excluded
        its histogram is excluded: its avg is 79.98 ms, but that of the statistics is 91.4 ms; its times contradict one another: 8 threads of 9.9947 s on average, and 91.40 s of all events, so response times are excluded
        its histogram is excluded: its max is 101.41 ms, but that of the statistics is 257 ms
        its histogram is excluded: its min is 0.02 ms, but that of the statistics is 65.1 ms"#]]
    .assert_eq(&all.join("\n"));
    // The width of a bucket and the last digit.
    for (text, other) in [
        ("65.10\n", "64.50\n"),
        ("79.96\n", "81.40\n"),
        ("79.96\n", "78.55\n"),
        ("102.30\n", "103.40\n"),
    ] {
        assert_eq!(flaws(text, other), "", "{other}");
    }
    // Empty buckets at either end have no times.
    let empty = "       1.000 |  0\n       65.700 |";
    assert_eq!(flaws("       65.700 |", empty), "");
    // After a warm-up an event may be in one of both alone, and so may one that did not end.
    let warm = with("threads: 8\n", "threads: 8\nWarmup time: 1s\n").replace("65.10\n", "31.40\n");
    assert_eq!(Log::parse(&warm.replace("102.30\n", "257.00\n")).unwrap().flaws, []);
    // Times above 100 s are in the last bucket.
    let long = LOG
        .replace("65.700 |", "2300.0 |")
        .replace("101.410 |", "100000.000 |")
        .replace("65.10\n", "2300.00\n")
        .replace("79.96\n", "81000.00\n")
        .replace("102.30\n", "200000.00\n")
        .replace("         95th percentile:                        101.40\n", "")
        .replace("10.0004s", "1000.0000s")
        .replace("(100.00", "(1.00")
        .replace("(2000.00", "(20.00")
        .replace("(0.30", "(0.00")
        .replace("threads: 8\n", "threads: 82\n")
        .replace("9.9947/", "990.0000/");
    assert_eq!(Log::parse(&long).unwrap().flaws, []);
}

/// A percentile is above 0 and up to 100.
#[test]
fn lines_of_no_percentile_are_named() {
    for name in [
        "950th percentile",
        "0th percentile",
        "95.5.5th percentile",
        "-5th percentile",
        "th percentile",
    ] {
        let log = Log::parse(&with("95th percentile", name)).unwrap();
        let said = log.flaws.iter().map(ToString::to_string).collect::<Vec<_>>();
        let wanted =
            format!("line 30 is excluded: {name:?} is not a percentile above 0 and up to 100");
        assert_eq!(said, [wanted]);
        assert!(log.latency.percentiles.is_empty());
    }
    for name in
        ["95th percentile", "approx.  95 percentile", "approx. 95 percentile", "95.0th percentile"]
    {
        let log = Log::parse(&with("95th percentile", name)).unwrap();
        assert_eq!((log.flaws, log.latency.percentiles), (vec![], vec![(95.0, 101.40)]), "{name}");
    }
}

/// Cut anywhere in its last line a log is marked; without its last newline alone it is whole.
#[test]
fn a_log_that_is_cut_in_its_last_line_is_told() {
    let last = LOG.rfind("execution time").unwrap();
    let whole = LOG.trim_end();
    for end in last..whole.len() {
        let flaws = Log::parse(&whole[..end]).unwrap().flaws;
        assert_eq!(flaws, [Flaw::Cut], "{:?}", &whole[last..end]);
    }
    for text in [
        whole.to_owned(),
        format!("{whole}\r\n"),
        format!("{whole}\n\nreal 0m1"),
        format!("{whole}  "),
    ] {
        assert_eq!(Log::parse(&text).unwrap().flaws, [], "{text}");
    }
}

/// No event at all has no response times either.
#[test]
fn a_log_of_no_event_is_a_figure_of_0() {
    let text = LOG
        .replace("1000   (100.00", "0      (0.00")
        .replace("20000  (2000.00", "0      (-nan")
        .replace("          20000\n", "          0\n")
        .replace("              1000\n", "              0\n")
        .replace("                 79.96\n", "                 -nan\n");
    let log = Log::parse(&text).unwrap();
    assert_eq!((log.queries, log.latency.avg), (Some((0, 0.0)), None));
}

#[test]
fn a_histogram_of_other_events_is_excluded() {
    let log = Log::parse(LOG).unwrap();
    assert_eq!(log.flaws, []);
    // An event of each thread may lie between the ends of a warm-up.
    assert_eq!(Log::parse(&with("  600\n", "  591\n")).unwrap().flaws, []);
    assert!(!log.to_slice().response_times.is_empty());
    for (text, other, n) in [
        ("  600\n", "  590\n", 990),
        ("  600\n", "  610\n", 1010),
        ("  600\n", "  6000000000000000000000000000\n", 400),
        ("65.700 |", "65,700 |", 400),
    ] {
        let log = Log::parse(&with(text, other)).unwrap();
        assert_eq!(log.flaws, [Flaw::Histogram { n, n_events: 1000 }], "{other}");
        let slice = log.to_slice();
        assert!(slice.response_times.is_empty());
        // The stated percentile stands.
        let stated = slice.stated.unwrap().response.unwrap();
        assert_eq!(stated.percentiles_ns, [(95.0, 101_400_000)]);
    }
    assert_eq!(
        Flaw::Histogram { n: 990, n_events: 1000 }.to_string(),
        "its histogram is excluded: it has 990 events, but the statistics have 1000"
    );
}
