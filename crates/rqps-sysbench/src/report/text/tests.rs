//! The layout, character by character, as sysbench 1.0.20 printed it.

use super::*;
use crate::Environment;
use crate::console::Console;
use crate::options::cmdline;
use crate::tally::Tally;

fn settings(words: &str) -> Settings {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let console = Console::new(Box::new(std::io::sink()), Box::new(std::io::sink()));
    Settings::new(&cmdline::parse(&words).unwrap(), &Environment::default(), console).unwrap()
}

fn reported(uses_sql: bool) -> Reported {
    let tally = Tally::new();
    for ms in [1, 2, 92] {
        tally.count_event(ms * 1_000_000);
    }
    let mut sum = tally.read();
    (sum.reads, sum.writes, sum.others, sum.errors) = (11956, 3404, 1703, 5);
    Reported {
        sum,
        threads: vec![
            OfThread { events: 1, sum_s: 2.0, min_s: 2.0, max_s: 2.0 },
            OfThread { events: 2, sum_s: 2.0, min_s: 0.5, max_s: 1.5 },
        ],
        interval_s: 2.0,
        total_s: 2.0327,
        uses_sql,
    }
}

#[test]
fn a_report_with_statements() {
    let expected = "\
SQL statistics:
    queries performed:
        read:                            11956
        write:                           3404
        other:                           1703
        total:                           17063
    transactions:                        3      (1.50 per sec.)
    queries:                             17063  (8531.50 per sec.)
    ignored errors:                      5      (2.50 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          2.0327s
    total number of events:              3

Latency (ms):
         min:                                    1.00
         avg:                                   31.67
         max:                                   92.00
         95th percentile:                       92.42
         sum:                                   95.00

Threads fairness:
    events (avg/stddev):           1.5000/0.50
    execution time (avg/stddev):   2.0000/0.00

";
    assert_eq!(cumulative(&reported(true), &settings("")), expected);
}

#[test]
fn percentiles_none_and_several() {
    let none = cumulative(&reported(false), &settings("--percentile=0"));
    assert!(none.starts_with("\nGeneral statistics:\n"), "{none}");
    assert!(none.contains("\n         percentile stats:               disabled\n"), "{none}");
    let several = cumulative(&reported(false), &settings("--percentile=50,99.9"));
    assert!(
        several.contains("         50th percentile:                        2.00\n"),
        "{several}"
    );
    assert!(
        several.contains("        99.9th percentile:                      92.42\n"),
        "{several}"
    );
}

#[test]
fn lines_of_each_thread() {
    let expected = "\
Verbose per-thread statistics:

    thread #  0: min: 2.0000s  avg: 2.0000s  max: 2.0000s  events: 1
                 total time taken by event execution: 2.0000s
    thread #  1: min: 0.5000s  avg: 1.0000s  max: 1.5000s  events: 2
                 total time taken by event execution: 2.0000s";
    assert_eq!(of_threads(&reported(true)).join("\n"), expected);
}

#[test]
fn intermediate_lines() {
    let more = Intermediate { n_threads: 2, queue: None };
    let line = intermediate(&reported(true), more, &[95.0]);
    let expected = "[ 2s ] thds: 2 tps: 1.50 qps: 8531.50 (r/w/o: 5978.00/1702.00/851.50) \
                    lat (ms,95%): 92.42 err/s: 2.50 reconn/s: 0.00\n";
    assert_eq!(line, expected);
    let more = Intermediate { n_threads: 1, queue: Some((60, 1)) };
    let line = intermediate(&reported(false), more, &[50.0, 95.0]);
    let expected = "[ 2s ] thds: 1 eps: 1.50 lat (ms,50/95%): 2.00/92.42\n\
                    [ 2s ] queue length: 60 concurrency: 1\n";
    assert_eq!(line, expected);
}

#[test]
fn options_as_sysbench_says_them() {
    let said = options(&settings("--threads=2 --rate=100 --report-interval=1 --rand-seed=42"));
    let expected = "Running the test with following options:\nNumber of threads: 2\n\
                    Target transaction rate: 100/sec\nReport intermediate results every 1 second(s)\n\
                    Initializing random number generator from seed (42).\n\n\n";
    assert_eq!(said, expected);
    let said = options(&settings("--time=1 --forced-shutdown=1 --report-checkpoints=1,2 --debug"));
    let expected = "Running the test with following options:\nNumber of threads: 1\n\
                    Report checkpoint(s) at 1, 2 seconds\nDebug mode enabled.\n\n\
                    Initializing random number generator from current time\n\n\
                    Forcing shutdown in 2 seconds\n\n";
    assert_eq!(said, expected);
}
