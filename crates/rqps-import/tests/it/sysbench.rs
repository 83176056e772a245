//! Logs of sysbench as runs.

use expect_test::expect_file;
use rqps_import::sysbench::{self, Log, LogFile};
use rqps_import::{Error, Options};
use rqps_model::Run;

use crate::{data, options, told};

fn log(text: &str) -> LogFile {
    let LogFile { path, label, step } = LogFile::parse(text);
    LogFile { path: data("sysbench").join(path), label, step }
}

/// The only run of some logs.
fn imported(files: &[LogFile], options: &Options) -> Run {
    let mut runs = sysbench::import(files, options).unwrap().runs;
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

/// One of 1.0 with an error now and then, intervals of 2 s and a histogram, one of 1.1 by another script.
#[test]
fn two_systems_and_two_versions() {
    let files = [
        log("my5651=read-write-1.0.log"),
        log("pg174:oltp_read_write=point-select-1.1.log"),
        log("pg174=point-select-1.1.log"),
    ];
    let run = imported(&files, &options("two logs"));
    let shown = told(&run).replace(&data("").display().to_string(), "");
    expect_file!["../data/sysbench.told"].assert_eq(&shown);
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
    assert!(error.to_string().contains(" are all step "), "{error}");
    // The file's name says no DBMS, the log's driver does.
    let run = imported(&[log("point-select-1.1.log")], &options("x"));
    assert_eq!(run.systems[0].spec.dbms, rqps_model::Dbms::Postgres);
    // Of each log its own.
    let text = std::fs::read_to_string(data("sysbench").join("point-select-1.1.log")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("other.log");
    std::fs::write(&path, text.replace("pgsql", "mysql")).unwrap();
    let other = LogFile::parse(&path.display().to_string());
    let both = [other, log("point-select-1.1.log")];
    let run = imported(&both, &options("x"));
    let dbms: Vec<_> = run.systems.iter().map(|system| system.spec.dbms).collect();
    assert_eq!(dbms, [rqps_model::Dbms::Mysql, rqps_model::Dbms::Postgres]);
    let four = Options { clients: Some(4), ..options("x") };
    assert_eq!(imported(&[log("point-select-1.1.log")], &four).steps[0].clients, 4);
}

/// Of two logs of one step on one system nobody knows which is meant; all others are taken.
#[test]
fn two_logs_of_a_step_cost_that_step_alone() {
    let files = [
        log("my5651:a=read-write-1.0.log"),
        log("my5651:b=read-write-1.0.log"),
        log("my5651:b=point-select-1.1.log"),
        log("ma110405:b=read-write-1.0.log"),
    ];
    let four = Options { clients: Some(4), ..options("x") };
    let imports = sysbench::import(&files, &four).unwrap();
    let run = &imports.runs[0];
    let cells = run.steps.iter().flat_map(|step| {
        let cells = run.systems.iter().zip(&step.systems);
        cells.map(|(s, c)| format!("{} {} {}", step.info.name, s.spec.label, c.slices.len()))
    });
    assert_eq!(
        cells.collect::<Vec<_>>(),
        ["a my5651 1", "a ma110405 0", "b my5651 0", "b ma110405 1"]
    );
    let skipped: Vec<String> = imports.skipped.iter().map(ToString::to_string).collect();
    let [problem] = skipped.as_slice() else { panic!("{skipped:?}") };
    assert!(
        problem.contains("read-write-1.0.log and ") && problem.contains("point-select-1.1.log")
    );
    assert!(problem.ends_with(
        "are all step b on my5651; give one of them, or name each with LABEL:STEP=FILE"
    ));
}

/// rqps counts the rows of a scan, sysbench its queries.
#[test]
fn a_scan_of_a_log_is_none_of_ours() {
    let scan = [log("my5651:scan=read-write-1.0.log")];
    let run = imported(&scan, &options("x"));
    assert_eq!(run.steps[0].info.name, "scan (queries)");
    assert_eq!(run.steps[0].info.figure, rqps_model::Figure::Queries);
}

/// sysbench's own tests of CPU, memory, threads and files.
#[test]
fn a_test_without_sql_is_none_of_a_database() {
    let ended = |general: &str| {
        format!(
            "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\nNumber of threads: 2\n{general}\
             \nLatency (ms):\n         avg:                                    0.37\n\
             \nThreads fairness:\n    execution time (avg/stddev):   1.9990/0.00\n"
        )
    };
    let cpu = ended(
        "[ 1s ] thds: 2 eps: 2656.18 lat (ms,95%): 4.33\nCPU speed:\n    events per second:  2719.76\n\n\
         General statistics:\n    total time:                          2.0003s\n\
         \u{20}   total number of events:              5440\n",
    );
    let memory = ended(
        "Total operations: 99 (49.99 per second)\n\nGeneral statistics:\n    total time: 2.0s\n",
    );
    let files = ended("Throughput:\n    read, MiB/s:                  83.65\n");
    for text in [cpu, memory, files] {
        let problem = Log::parse(&text).unwrap_err();
        assert!(problem.starts_with("it has no SQL statistics: tests of CPU"), "{problem}");
    }
}

#[test]
fn what_is_no_log() {
    let text = |text: &str| Log::parse(text).unwrap_err();
    assert_eq!(
        text("hello\n"),
        "this is no log of sysbench; name the output of `sysbench ... run`"
    );
    let begun = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n";
    assert_eq!(text(begun), "the log ends before sysbench's statistics");
    let fatal = format!("{begun}FATAL: unable to connect to MySQL server\nFATAL: later\n");
    assert_eq!(
        text(&fatal),
        "line 2: sysbench stopped and said \"unable to connect to MySQL server\"; correct that and run \
         the test again"
    );
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

/// Statistics of 10 s by four threads, with the lines that a case adds to them.
fn finished(before: &str, latency: &str) -> String {
    format!(
        "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)\n\nNumber of threads: 4\n{before}\
         SQL statistics:\n    queries performed:\n        read:                            14000\n\
         \u{20}       total:                           20000\n\
         \u{20}   transactions:                        1000   (100.00 per sec.)\n\
         \u{20}   queries:                             20000  (2000.00 per sec.)\n\
         \u{20}   ignored errors:                      3      (0.30 per sec.)\n\
         \u{20}   reconnects:                          2      (0.20 per sec.)\n\n\
         General statistics:\n    total time:                          10.0004s\n\
         \u{20}   total number of events:              1000\n\n\
         Latency (ms):\n         min:                                    2.10\n\
         \u{20}        avg:                                   40.00\n\
         \u{20}        max:                                   90.00\n{latency}\
         \u{20}        sum:                                39980.12\n\n\
         Threads fairness:\n    events (avg/stddev):           250.0000/10.00\n\
         \u{20}   execution time (avg/stddev):   9.9950/0.00\n"
    )
}

#[test]
fn percentiles_as_they_were_asked_for() {
    let percentiles = |lines: &str| {
        let slice = Log::parse(&finished("", lines)).unwrap().to_slice();
        slice.stated.unwrap().response.unwrap().percentiles_ns
    };
    assert_eq!(percentiles("         99th percentile:        80.03\n"), [(99.0, 80_030_000)]);
    assert_eq!(percentiles("        100th percentile:        90.00\n"), [(100.0, 90_000_000)]);
    assert!(percentiles("         percentile stats:               disabled\n").is_empty());
    let several = "         50th percentile:  38.00\n        99.9th percentile:  88.00\n";
    assert_eq!(percentiles(several), [(50.0, 38_000_000), (99.9, 88_000_000)]);
}

/// `--percentile=0`, an error and a new connection now and then, a script's own report without a colon.
#[test]
fn intervals_with_errors_and_new_connections() {
    let lines = "[ 1s ] thds: 4 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,0%): 0.00 \
                 err/s: 1.00 reconn/s: 2.00\n\
                 [ 2s ] thds: 4 tps: 100.00 qps: 2000.00 (r/w/o: 1400.00/400.00/200.00) lat (ms,95%): 45.79 \
                 err/s 2.00 reconn/s: 0.00\n\
                 [ 3s ] thds: 4 tps: -nan qps: -nan (r/w/o: -nan/-nan/-nan) lat (ms,95%): 0.00 err/s: 0.00\n";
    let slice = Log::parse(&finished(lines, "")).unwrap().to_slice();
    let errors: Vec<u32> = slice.series.iter().map(|point| point.errors).collect();
    assert_eq!(errors, [3, 2]);
    let errors: Vec<(&str, u64)> = slice.errors.iter().map(|e| (e.code.as_str(), e.n)).collect();
    assert_eq!(errors, [("ignored", 3), ("reconnect", 2)]);
}

/// Lines of scripts around a log are not its own, whatever they look like.
#[test]
fn lines_around_a_log() {
    let histogram =
        "Latency histogram (values are in milliseconds)\n  \u{20}    40.000 |*** 1000\n \n";
    let log = format!(
        "+ sysbench --threads=4 select_random_points --db-driver=mysql run\nmin: 9 ms\n 12 | 34\n{}\
         max: 1\nqueries: 5 (1.00 per sec.)\ntotal time: 3s\n 56 | 78\nNumber of threads: 99\nFATAL: a script's own\n",
        finished(histogram, "")
    );
    let log = Log::parse(&log).unwrap();
    assert_eq!(log.script.as_deref(), Some("select_random_points"));
    assert_eq!((log.latency.min, log.latency.max), (Some(2.1), Some(90.0)));
    assert_eq!((log.queries, log.seconds), (Some((20_000, 2000.0)), Some(10.0004)));
    assert_eq!(log.histogram, [(40.0, 1000)]);
    assert_eq!((log.threads, log.flaws.len()), (Some(4), 0));
}

#[test]
fn a_log_at_a_set_rate_says_nothing_of_the_server() {
    let at_rate = finished("", "").replace(
        "Number of threads: 4\n",
        "Running the test with following options:\nNumber of threads: 4\nTarget transaction rate: 50/sec\n",
    );
    let why = Log::parse(&at_rate).unwrap_err();
    assert!(why.starts_with("it ran at a set rate, 50/sec"), "{why}");
}

#[test]
fn more_than_a_run() {
    let whole = finished("", "");
    let prepared =
        "sysbench 1.0.20 (using bundled LuaJIT 2.1.0-beta2)\nCreating table 'sbtest1'...\n";
    assert!(Log::parse(&format!("{prepared}{whole}")).is_ok());
    let gave_up = format!("{prepared}[ 1s ] thds: 4 tps: 1.00 qps: 1.00 lat\nFATAL: gone\n{whole}");
    let log = Log::parse(&gave_up).unwrap();
    assert_eq!((log.intervals.len(), log.flaws.as_slice()), (0, &[][..]));
    let problem = |text: &str| Log::parse(text).unwrap_err();
    assert_eq!(
        problem(&format!("{whole}{whole}")),
        "it has several runs of sysbench: give each run its own log"
    );
    let checkpoint = format!("{whole}[ 10s ] Checkpoint report:\n");
    assert!(problem(&checkpoint).contains("--report-checkpoints"));
    let old = "sysbench 0.3.3:  multi-threaded system evaluation benchmark\n    transactions:  8 (1.00 per sec.)\n";
    assert!(problem(old).contains("a log of sysbench 0.3.3"));
    // No event at all, in no time.
    let none = whole
        .replace("20000  (2000.00", "0      (-nan")
        .replace("1000   (100.00", "0      (-nan")
        .replace("          20000\n", "          0\n")
        .replace("              1000\n", "              0\n");
    assert_eq!(Log::parse(&none).unwrap().queries, Some((0, 0.0)));
}

/// A command of `rqps sysbench` names its script as one of sysbench does.
#[test]
fn commands_of_rqps() {
    for command in [
        "rqps sysbench lua/mine.lua --threads=4 run",
        "+ /usr/bin/rqps --results /r sysbench --threads=4 lua/mine.lua run",
        "++ sysbench lua/mine.lua run",
        "$ time sysbench lua/mine.lua run",
    ] {
        let log = Log::parse(&format!("{command}\n{}", finished("", ""))).unwrap();
        assert_eq!(log.script.as_deref(), Some("mine"), "{command}");
    }
}

#[test]
fn what_is_another_form_of_a_log() {
    let whole = finished("", "");
    let coloured = whole.replace("queries: ", "\u{1b}[1;32mqueries:\u{1b}[0m ");
    assert_eq!(Log::parse(&coloured), Log::parse(&whole));
    let stamped: String =
        whole.lines().map(|line| format!("2026-01-01 10:00:00 {line}\n")).collect();
    assert_eq!(
        Log::parse(&stamped).unwrap_err(),
        "line 4: its lines have \"2026-01-01 10:00:00\" before them: remove it, for example with cut -c21-"
    );
    let json = "{\n  \"queries\": 1\n}\n";
    assert!(Log::parse(json).unwrap_err().starts_with("this is the JSON of rqps sysbench --json"));
}

#[test]
fn a_label_or_step_without_letters() {
    let path = data("sysbench").join("read-write-1.0.log");
    for said in ["=", ":step=", "my8043:="] {
        let log = LogFile::parse(&format!("{said}{}", path.display()));
        let problem = sysbench::import(&[log], &options("x")).unwrap_err().to_string();
        assert!(
            problem.ends_with("its label or step is empty: write LABEL=FILE or LABEL:STEP=FILE"),
            "{problem}"
        );
    }
}
