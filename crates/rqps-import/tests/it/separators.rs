//! Numbers with marks between their digits, and what else of a log was lost without a word.

use rqps_import::sysbench::Log;

const LOG: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 8
Report intermediate results every 5 second(s)

Threads started!

[ 5s ] thds: 8 tps: 1000.00 qps: 20000.00 (r/w/o: 20000.00/0.00/0.00) lat (ms,95%): 9.00 err/s: 0.00 reconn/s: 0.00
[ 10s ] thds: 8 tps: 1000.00 qps: 20000.00 (r/w/o: 20000.00/0.00/0.00) lat (ms,95%): 9.00 err/s: 0.00 reconn/s: 0.00
SQL statistics:
    queries performed:
        read:                            200000
        total:                           200000
    transactions:                        10000  (1000.00 per sec.)
    queries:                             200000 (20000.00 per sec.)

General statistics:
    total time:                          10.0004s
    total number of events:              10000

Latency (ms):
         min:                                    5.00
         avg:                                    7.99
         max:                                   12.00
         95th percentile:                        9.00
         sum:                                79900.00

Threads fairness:
    events (avg/stddev):           1250.0000/3.00
    execution time (avg/stddev):   9.9875/0.00
";

/// What is said of the log with one text in place of another.
fn said(text: &str, other: &str) -> String {
    assert!(LOG.contains(text), "{text}");
    match Log::parse(&LOG.replacen(text, other, 1)) {
        Ok(log) => log.flaws.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "),
        Err(why) => format!("refused: {why}"),
    }
}

#[test]
fn a_number_with_separators_refuses_its_line() {
    let all = [
        said("qps: 20000.00", "qps: 20,000.00"),
        said("tps: 1000.00", "tps: 1,000.00"),
        said("tps: 1000.00", "tps: 1'000.00"),
        said("thds: 8", "thds: 1,024"),
        said("err/s: 0.00", "err/s: 0,00"),
        said("79900.00", "79,900.00"),
        said("1250.0000/", "1,250.0000/"),
        said("9.9875/", "9,9875/"),
    ];
    expect_test::expect![[r#"
        refused: line 9: qps: "20,000.00" is not a number from 0 on; copy the log again, or run the test again
        refused: line 9: tps: "1,000.00" is not a number from 0 on; copy the log again, or run the test again
        refused: line 9: tps: "1'000.00" is not a number from 0 on; copy the log again, or run the test again
        refused: line 9: thds: "1,024" is not a number from 0 on; copy the log again, or run the test again
        refused: line 9: err/s: "0,00" is not a number from 0 on; copy the log again, or run the test again
        refused: line 27: sum: "79,900.00" is not a number from 0 on; copy the log again, or run the test again
        refused: line 30: events (avg/stddev): "1,250.0000/3.00" is not a number from 0 on; copy the log again, or run the test again
        refused: line 31: execution time (avg/stddev): "9,9875/0.00" is not a number from 0 on; copy the log again, or run the test again"#]].assert_eq(&all.join("\n"));
    let of_0_5 = "[   5s] threads: 8, tps: 1000.00, reads: 20000.00, writes: 0.00, response time: 9.00ms (95%)";
    let line = LOG.lines().find(|line| line.starts_with("[ 5s ]")).unwrap();
    assert_eq!(said(line, of_0_5), "");
    assert!(
        said(line, &of_0_5.replace("1000.00,", "1,000.00,")).starts_with("refused: line 9: tps")
    );
    // What a script prints in brackets is none of sysbench's.
    assert_eq!(said("[ 5s ]", "[ note ] tps: 1,000\n[ 5s ]"), "");
    assert_eq!(said("err/s: 0.00", "err/s: -nan"), "");
}

/// The percentile of the statistics is that of the report intervals.
#[test]
fn another_percentile_than_that_of_intervals_is_excluded() {
    let all = [
        said("95th percentile", "99th percentile"),
        said("lat (ms,95%)", "lat (ms,50%)"),
        said("lat (ms,95%): 9.00", "lat (ms,50/99%): 8.00/9.50"),
    ];
    expect_test::expect![[r#"
        its 99th percentile is excluded: its report intervals have the 95th
        its 95th percentile is excluded: its report intervals have the 50th
        its 95th percentile is excluded: its report intervals have the 50th"#]]
    .assert_eq(&all.join("\n"));
    let log = Log::parse(&LOG.replace("95th percentile", "99th percentile")).unwrap();
    let stated = log.to_slice().stated.unwrap().response.unwrap();
    assert_eq!((stated.percentiles_ns.len(), stated.max_ns), (0, 12_000_000));
    // Whole percents alone, several, and none.
    assert_eq!(said("95th percentile", "95.5th percentile"), "");
    assert_eq!(said("lat (ms,95%): 9.00", "lat (ms,50/95%): 8.00/9.00"), "");
    let none = LOG.replace("(ms,95%): 9.00", "(ms,0%): 0.00");
    let none =
        none.replace("95th percentile:                        9.00", "percentile stats: disabled");
    assert_eq!(Log::parse(&none).unwrap().flaws, []);
}

/// Without a sum the mean of all events is held against the times of threads.
#[test]
fn a_mean_without_a_sum_is_held_against_threads() {
    let no_sum = "         sum:                                79900.00\n";
    assert_eq!(said(no_sum, ""), "");
    let with_avg = |avg: &str| {
        let text = LOG.replace(no_sum, "").replace("   7.99\n", &format!("   {avg}\n"));
        Log::parse(&text).unwrap()
    };
    let log = with_avg("11.00");
    let flaws: Vec<String> = log.flaws.iter().map(ToString::to_string).collect();
    expect_test::expect!["its times contradict one another: 8 threads of 9.9875 s on average, and 110.00 s of all events, so response times are excluded"].assert_eq(&flaws.join("\n"));
    assert!(log.to_slice().stated.unwrap().response.is_none());
    // Digits, and an event of each thread that one of both lacks.
    for avg in ["7.98", "8.00", "8.05"] {
        assert_eq!(with_avg(avg).flaws, [], "{avg}");
    }
}

/// Times of threads that are not those of events leave no response times.
#[test]
fn contradicting_times_leave_no_response_times() {
    let log = Log::parse(&LOG.replace("9.9875/", "9.1000/")).unwrap();
    let slice = log.to_slice();
    assert!(slice.response_times.is_empty() && slice.stated.unwrap().response.is_none());
    assert!(log.flaws[0].to_string().ends_with("so response times are excluded"));
    // The unit of the heading is not that of the values.
    for unit in ["s", "us"] {
        let text = LOG.replace("Latency (ms)", &format!("Latency ({unit})"));
        let has_none = Log::parse(&text)
            .is_ok_and(|log| log.to_slice().stated.is_some_and(|stated| stated.response.is_none()));
        assert!(has_none || Log::parse(&text).is_err(), "{unit}");
    }
}
