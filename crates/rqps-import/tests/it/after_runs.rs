//! What stands below a run: other commands of sysbench, and other runs.

use rqps_import::sysbench::Log;

const BANNER: &str = "sysbench 1.0.17 (using bundled LuaJIT 2.1.0-beta2)\n\n";

const RUN: &str = "\
Running the test with following options:
Number of threads: 8

Threads started!

SQL statistics:
    queries performed:
        read:                            14000
        write:                           4000
        other:                           2000
        total:                           20000
    transactions:                        1000   (100.00 per sec.)
    queries:                             20000  (2000.00 per sec.)

General statistics:
    total time:                          10.0000s
    total number of events:              1000

Threads fairness:
    events (avg/stddev):           125.0000/0.00
    execution time (avg/stddev):   9.9875/0.00
";

/// The script and the rate, or why there are none.
fn read(text: &str) -> String {
    match Log::parse(text) {
        Ok(log) => {
            let (script, flaws) = (log.script.unwrap_or_default(), log.flaws.len());
            format!("{script} {} {flaws}", log.queries.map_or(0.0, |(_, qps)| qps))
        }
        Err(why) => format!("refused: {why}"),
    }
}

#[test]
fn commands_behind_a_run_are_passed_over() {
    let command = |word: &str| format!("\n$ sysbench oltp_read_write --threads=8 {word}\n");
    let run = format!("{}{BANNER}{RUN}", command("run"));
    let cleanup = format!("{}{BANNER}Dropping table 'sbtest1'...\n", command("cleanup"));
    let prepare = format!(
        "{}{BANNER}Creating table 'sbtest1'...\nInserting 10 records into 'sbtest1'\n",
        command("prepare")
    );
    for behind in [
        cleanup.clone(),
        format!("{BANNER}Dropping table 'sbtest1'...\n"),
        format!("{cleanup}{prepare}"),
        "sysbench 0.4.12:  multi-threaded system evaluation benchmark\n\nDropping table 'sbtest'...\nDone.\n".to_owned(),
        format!("{cleanup}FATAL: unable to connect to MySQL server\n"),
        BANNER.to_owned(),
    ] {
        assert_eq!(read(&format!("{prepare}{run}{behind}")), "oltp_read_write 2000 0", "{behind}");
    }
}

#[test]
fn runs_behind_a_run_are_refused() {
    let options = "Running the test with following options:\nNumber of threads: 16\n";
    let interval = "[ 1s ] thds: 8 tps: 1.00 qps: 2.00\n";
    for behind in [RUN, options, interval, "Dropping table 'sbtest1'...\nThreads started!\n"] {
        let text = format!("{BANNER}{RUN}{BANNER}{behind}");
        assert_eq!(
            read(&text),
            "refused: it has several runs of sysbench: give each run its own log",
            "{behind}"
        );
    }
    let three = format!("{BANNER}{RUN}{BANNER}Dropping table 'sbtest1'...\n{BANNER}{RUN}");
    assert!(read(&three).starts_with("refused: it has several runs"));
}
