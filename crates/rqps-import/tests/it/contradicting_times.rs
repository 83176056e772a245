//! Logs of sysbench whose times, intervals and histograms are not of one run, and what such logs look like with an
//! innocent reason.

use rqps_import::sysbench::{Flaw, Log};

/// A log of 10 s by eight threads; its lines are those that cases replace.
const LOG: &str = "\
sysbench 1.1.0-df89d34 (using bundled LuaJIT 2.1.0-beta2)

Running the test with following options:
Number of threads: 8
Report intermediate results every 2 second(s)

Threads started!

[ 2s ] thds: 8 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 90.00 err/s: 0.00 reconn/s: 0.00
[ 4s ] thds: 8 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 90.00 err/s: 0.00 reconn/s: 0.00
[ 6s ] thds: 8 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 90.00 err/s: 0.00 reconn/s: 0.00
[ 8s ] thds: 8 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 90.00 err/s: 0.00 reconn/s: 0.00
[ 10s ] thds: 8 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 90.00 err/s: 0.00 reconn/s: 0.00
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
      78.000 |****************************************  900
      90.000 |****                                      100
 
SQL statistics:
    queries performed:
        read:                            14000
        write:                           4000
        other:                           2000
        total:                           20000
    transactions:                        1000   (99.99 per sec.)
    queries:                             20000  (1999.84 per sec.)
    ignored errors:                      0      (0.00 per sec.)
    reconnects:                          0      (0.00 per sec.)

Throughput:
    events/s (eps):                      99.9920
    time elapsed:                        10.0008s
    total number of events:              1000

Latency (ms):
         min:                                   77.50
         avg:                                   79.90
         max:                                   90.50
         95th percentile:                       90.00
         sum:                                79900.00

Threads fairness:
    events (avg/stddev):           125.0000/0.00
    execution time (avg/stddev):   9.9875/0.00
";

/// The log with one text in place of another, wherever that is.
fn with(text: &str, other: &str) -> String {
    assert!(LOG.contains(text), "{text}");
    LOG.replace(text, other)
}

/// What is said of such a log.
fn said(text: &str, other: &str) -> String {
    said_of(&with(text, other))
}

/// What is said of a log of another percentile.
fn said_of_percentile(p: u32, value: &str) -> String {
    let text =
        with("95th percentile:                       90.00", &format!("{p}th percentile: {value}"));
    said_of(&text.replace("(ms,95%)", &format!("(ms,{p}%)")))
}

fn said_of(text: &str) -> String {
    match Log::parse(text) {
        Ok(log) if log.flaws.is_empty() => "nothing".to_owned(),
        Ok(log) => {
            let flaws: Vec<String> = log.flaws.iter().map(ToString::to_string).collect();
            flaws.join("; ")
        }
        Err(why) => format!("refused: {why}"),
    }
}

#[test]
fn times_of_two_runs() {
    let all = [
        said("99.9920", "180.0000"),
        said("90.50\n", "30000.00\n"),
        said("9.9875/", "19.9875/"),
        said(
            "avg:                                   79.90",
            "avg:                                   78.00",
        ),
        said(
            "sum:                                79900.00",
            "sum:                                39900.00",
        ),
        said("125.0000/", "250.0000/"),
        said("9.9875/", "9.1000/"),
        said("9.9875/", "2.0000/"),
    ];
    expect_test::expect![[r#"
        refused: line 31: events/s (eps): 180, but transactions: 99.99 per sec; copy the log again, or run the test again
        refused: max: 30000 ms is above total time: 10.0008 s; copy the log again, or run the test again
        refused: line 44: execution time (avg): 19.9875 s is above total time: 10.0008 s; copy the log again, or run the test again
        its response times are excluded: avg is 78 ms, but sum over the events is 79.90 ms
        its response times are excluded: avg is 79.9 ms, but sum over the events is 39.90 ms; its times contradict one another: 8 threads of 9.9875 s on average, and 39.90 s of all events, so response times are excluded
        its counts contradict one another: 8 threads with 250 events on average, but 1000 events in all
        its times contradict one another: 8 threads of 9.1 s on average, and 79.90 s of all events, so response times are excluded
        threads spent 2.0 of 10.0 seconds on events: a set rate or a pause in the script kept them from more; its times contradict one another: 8 threads of 2 s on average, and 79.90 s of all events, so response times are excluded"#]].assert_eq(&all.join("\n"));
    let log =
        Log::parse(&with("avg:                                   79.90", "avg: 78.00")).unwrap();
    let slice = log.to_slice();
    assert!(slice.response_times.is_empty() && slice.stated.unwrap().response.is_none());
}

#[test]
fn times_with_an_innocent_reason() {
    assert_eq!(said("", ""), "nothing");
    // An event that began in the warm-up counts as a whole.
    let warm = with("Number of threads: 8\n", "Number of threads: 8\nWarmup time: 5s\n")
        .replace("90.50\n", "14000.00\n")
        .replace("9.9875/", "11.9875/")
        .replace("avg:                                   79.90", "avg: 95.90")
        .replace("79900.00", "95900.00");
    assert_eq!(Log::parse(&warm).unwrap().flaws, []);
    // Counters are read a moment before timers: an event of each thread.
    assert_eq!(said("125.0000/", "125.7500/"), "nothing");
    // Rounded digits of many threads.
    assert_eq!(said("9.9875/", "9.9874/"), "nothing");
    // Events that did not end in time are in the times alone.
    let forced = with(
        "Latency histogram",
        "FATAL: The --time limit has expired, forcing shutdown...\nLatency histogram",
    )
    .replace("125.0000/", "126.0000/");
    assert_eq!(Log::parse(&forced).unwrap().flaws, [Flaw::ForcedShutdown]);
    // `--percentile=0`, and a build without the sum.
    let disabled = "         95th percentile:                       90.00\n";
    assert_eq!(said(disabled, "         percentile stats:               disabled\n"), "nothing");
    assert_eq!(said("         sum:                                79900.00\n", ""), "nothing");
}

#[test]
fn intervals_of_another_run() {
    let line = |at_s: u32| {
        let start = format!("[ {at_s}s ]");
        LOG.lines().find(|line| line.starts_with(&start)).unwrap().to_owned() + "\n"
    };
    let all = [
        said("[ 4s ] thds: 8", "[ 4s ] thds: 16"),
        said("[ 10s ]", "[ 90s ]"),
        said("qps: 2000.00", "qps: 3000.00"),
        said("tps: 100.00", "tps: 70.00"),
        said("qps: 2000.00", "qps: 1500.00"),
        said("qps: 2000.00", "qps: 2270.00"),
        said(&line(6), ""),
        said(&(line(4) + &line(6)), ""),
        said(&line(2), ""),
    ];
    expect_test::expect![[r#"
        refused: its interval [ 4s ] has 16 threads, but its options have 8; give each run its own log
        refused: its interval [ 90s ] is later than its total time: 10.0008 s; copy the log again, or run the test again
        refused: its intervals have 30000 queries, but its statistics have 20000; copy the log again, or run the test again
        refused: its intervals have 700 events, but its statistics have 1000; copy the log again, or run the test again
        refused: its intervals have 15000 queries, but its statistics have 20000; copy the log again, or run the test again
        nothing
        its report intervals are not complete: 1 is missing, the first before 8 s
        its report intervals are not complete: 2 are missing, the first before 8 s
        its report intervals are not complete: 1 is missing, the first before 4 s"#]].assert_eq(&all.join("\n"));
}

#[test]
fn intervals_with_an_innocent_reason() {
    let line = |at_s: u32| {
        let start = format!("[ {at_s}s ]");
        LOG.lines().find(|line| line.starts_with(&start)).unwrap().to_owned() + "\n"
    };
    // The last one is not printed when the test ends before it.
    assert_eq!(said(&line(10), ""), "nothing");
    // Late by a moment.
    assert_eq!(said("[ 6s ]", "[ 7s ]"), "nothing");
    assert_eq!(said("[ 10s ]", "[ 11s ]"), "nothing");
    // A report each second; the one of 3 s was half a second late.
    let each_second = |seconds: &[u32]| -> String {
        let lines = seconds.iter().map(|at_s| line(2).replace("2s", &format!("{at_s}s")));
        let from = LOG.find("[ 2s ]").unwrap();
        let to = LOG.find("Latency histogram").unwrap();
        let text = format!("{}{}{}", &LOG[..from], lines.collect::<String>(), &LOG[to..]);
        text.replace("every 2 second", "every 1 second")
    };
    let late = Log::parse(&each_second(&[1, 2, 4, 4, 5, 6, 7, 8, 9, 10])).unwrap();
    assert_eq!(late.flaws, []);
    let lost = Log::parse(&each_second(&[1, 2, 4, 5, 6, 7, 8, 9, 10])).unwrap();
    assert_eq!(lost.flaws, [Flaw::MissingIntervals { n: 1, before_s: 4 }]);
    let two = Log::parse(&each_second(&[1, 1, 2, 2, 3, 3])).unwrap_err();
    assert!(two.starts_with("two processes of sysbench wrote it"), "{two}");
    // A test whose first interval has the warm-up in it.
    let warm = with("Number of threads: 8\n", "Number of threads: 8\nWarmup time: 5s\n")
        .replace(&line(2), &line(2).replace("100.00 qps: 2000.00", "20.00 qps: 400.00"));
    assert_eq!(Log::parse(&warm).unwrap().flaws, []);
}

#[test]
fn histograms_of_other_times() {
    let all = [
        said("95th percentile:                       90.00", "95th percentile: 80.00"),
        said_of_percentile(85, "90.00"),
        said("95th percentile:                       90.00", "50th percentile: 78.00\n max: 79.00"),
        said("  900\n", "  990\n").replace("  100\n", "  10\n"),
    ];
    expect_test::expect![[r#"
        its histogram is excluded: its 95th percentile is 90.00 ms, but that of the statistics is 80 ms
        its histogram is excluded: its 85th percentile is 78.00 ms, but that of the statistics is 90 ms
        refused: two processes of sysbench wrote it at the same time: give each process its own log
        its histogram is excluded: it has 1090 events, but the statistics have 1000"#]].assert_eq(&all.join("\n"));
    // The bucket beside it, and a rank that an event of each thread may shift.
    assert_eq!(
        said("95th percentile:                       90.00", "95th percentile: 91.50"),
        "nothing"
    );
    assert_eq!(said_of_percentile(90, "78.00"), "nothing");
    assert_eq!(said_of_percentile(90, "90.00"), "nothing");
    // The histogram ends at 100 s.
    let long = with("      90.000 |", "  100000.000 |")
        .replace("90.50\n", "150000.00\n")
        .replace("95th percentile:                       90.00", "95th percentile: 100000.00");
    let flaws = Log::parse(&long).map(|log| log.flaws);
    // Only that such a time is longer than the run.
    assert!(flaws.unwrap_err().starts_with("max: 150000 ms is above total time"));
}

/// Some builds print other units.
#[test]
fn units_of_response_times() {
    let us = LOG
        .replace("Latency (ms):", "Latency (us):")
        .replace("values are in milliseconds", "values are in microseconds")
        .replace("77.50\n", "77500.00\n")
        .replace("79.90\n", "79900.00\n")
        .replace("90.50\n", "90500.00\n")
        .replace(
            "90.00\n         sum:                                79900.00",
            "90000.00\n         sum: 79900000.00",
        )
        .replace("      78.000 |", "   78000.000 |")
        .replace("      90.000 |", "   90000.000 |");
    let (log, of_ms) = (Log::parse(&us).unwrap(), Log::parse(LOG).unwrap());
    assert_eq!(log.flaws, []);
    assert_eq!(log.to_slice().response_times, of_ms.to_slice().response_times);
    assert_eq!((log.latency.avg, log.latency.max), (Some(79.9), Some(90.5)));
    assert_eq!(log.latency.percentiles, [(95.0, 90.0)]);
    // A heading that is wrong is told by the times of threads.
    let wrong = with("Latency (ms):", "Latency (us):");
    let flaws = Log::parse(&wrong).unwrap().flaws;
    assert!(flaws.iter().any(|flaw| matches!(flaw, Flaw::ThreadTimes { .. })), "{flaws:?}");
    assert_eq!(
        said("Latency (ms):", "Latency (ticks):"),
        "refused: line 35: its response times are in \"ticks\": only ns, us, ms and s can be read"
    );
}

/// Without an event there are no response times, and nothing to hold against one another.
#[test]
fn no_event_has_no_time() {
    let none = LOG
        .replace("1000   (99.99", "0      (0.00")
        .replace("20000  (1999.84", "0      (0.00")
        .replace("          14000\n", "          0\n")
        .replace("          4000\n", "          0\n")
        .replace("          2000\n", "          0\n")
        .replace("          20000\n", "          0\n")
        .replace("              1000\n", "              0\n")
        .replace("99.9920", "0.0000")
        .replace(
            "tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00)",
            "tps: 0.00 qps: 0.00 (r/w/o: 0.00/0.00/0.00)",
        );
    let from = none.find("Latency histogram").unwrap();
    let to = none.find("SQL statistics").unwrap();
    let end = "Latency (ms):\n         min:                                    0.00\n\
               \u{20}        avg:                                    0.00\n\
               \u{20}        max:                                    0.00\n\
               \u{20}        95th percentile:                        0.00\n\
               \u{20}        sum:                                    0.00\n\n\
               Threads fairness:\n    events (avg/stddev):           0.0000/0.00\n\
               \u{20}   execution time (avg/stddev):   0.0000/0.00\n";
    let times = none.find("Latency (ms)").unwrap();
    let text = format!("{}{}{end}", &none[..from], &none[to..times]);
    let slice = Log::parse(&text).unwrap().to_slice();
    let stated = slice.stated.unwrap();
    assert_eq!((stated.figure, stated.response), (Some(0.0), None));
}

#[test]
fn messages_of_a_log_are_quoted_on_one_line() {
    let told = |line: &str| {
        let text = format!("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\n{line}\n");
        Log::parse(&text).unwrap_err()
    };
    let long = format!("FATAL: failed query was: 'INSERT INTO t VALUES({})'", "1,".repeat(3000));
    let all = [
        told("invalid option: --foo=bar"),
        told("FATAL: Unknown option: --foo.\r\r"),
        told("FATAL: a\tb\u{7}  c..."),
        told(&long),
    ];
    expect_test::expect![[r#"
        line 3: sysbench stopped and said "invalid option: --foo=bar"; correct that and run the test again
        line 3: sysbench stopped and said "Unknown option: --foo"; correct that and run the test again
        line 3: sysbench stopped and said "a b c"; correct that and run the test again
        line 3: sysbench stopped and said "failed query was: 'INSERT INTO t VALUES(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1, ... 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,)'"; correct that and run the test again"#]].assert_eq(&all.join("\n"));
    // A word of a script within a run is none of sysbench's.
    assert_eq!(said("Threads started!\n", "Threads started!\ninvalid option: x\n"), "nothing");
    let flaws = with(
        "Latency histogram",
        "FATAL: mysql_drv_query() returned error 1213 (Deadlock).\nLatency histogram",
    );
    let flaws = Log::parse(&flaws).unwrap().flaws;
    let reason = "mysql_drv_query() returned error 1213 (Deadlock)".to_owned();
    assert_eq!(flaws, [Flaw::Fatal { reason }]);
}

/// A command over several lines, as scripts and shells echo it.
#[test]
fn commands_over_several_lines() {
    for command in [
        "$ sysbench --db-driver=mysql \\\n  --threads=8 \\\n  oltp_read_only run\n",
        "[user@h ~]$ sysbench --db-driver=mysql \\\n> --threads=8 \\\n> oltp_read_only run\n",
        "root@h:~# sysbench oltp_read_only --db-driver=mysql run | tee a.log\n",
    ] {
        let log = Log::parse(&format!("{command}{LOG}")).unwrap();
        assert_eq!(log.script.as_deref(), Some("oltp_read_only"), "{command}");
        assert_eq!(log.driver.as_deref(), Some("mysql"), "{command}");
    }
}
