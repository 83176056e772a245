//! `rqps sysbench` without a server: what it says of scripts and options that err, in sysbench's words,
//! and whole outputs.

use crate::bench::Bench;
use crate::sysbench_sandbox::has_sysbench;

/// A bench with scripts of ours, each named by what it is about.
fn bench() -> Bench {
    let bench = Bench::new();
    for (name, text) in [
        ("plain.lua", "function event() end\n"),
        ("syntax.lua", "function event()\n  x = = 3\nend\n"),
        (
            "nil.lua",
            "function thread_init() end\nfunction event()\n  local a = nil\n  a.b = 1\nend\n",
        ),
        ("no_event.lua", "function thread_init() end\n"),
        ("init.lua", "function thread_init() error('boom') end\nfunction event() end\n"),
        (
            "options.lua",
            "sysbench.cmdline.options = {\n  rows = {'Rows', 10}, flag = {'Flag', true},\n  \
             name = {'Name', 'x'}, list = {'List', {'a', 'b'}}, bare = {'Bare'},\n}\n\
             function event()\n  local o = sysbench.opt\n  print(o.rows, o.flag, o.name, o.list[2], \
             o.bare, o.threads)\n  return true\nend\n",
        ),
        (
            "commands.lua",
            "sysbench.cmdline.commands = {\n  all = {function() print('all', sysbench.opt.threads) end, \
             sysbench.cmdline.PARALLEL_COMMAND},\n  bad = {function() error('no') end},\n  \
             worse = {function() error('no') end, sysbench.cmdline.PARALLEL_COMMAND},\n}\n\
             function event() end\n",
        ),
        (
            "random.lua",
            "function event()\n  local r = sysbench.rand\n  for i = 1, 1000 do\n    \
             local v = r.default(1, 10)\n    assert(v >= 1 and v <= 10 and v == math.floor(v), v)\n    \
             assert(r.varstring(2, 4):match('^%l%l%l?%l?$'))\n  end\n  \
             print(r.string('##-@@'):match('^%d%d%-%l%l$') ~= nil, sb_rand(5, 5))\n  return true\nend\n",
        ),
        (
            "hooks.lua",
            "function event() end\nfunction sysbench.hooks.report_cumulative(stat)\n  \
             print('events', stat.events)\n  sysbench.report_csv(stat)\nend\n",
        ),
    ] {
        bench.write(name, text);
    }
    bench
}

/// A command and what it printed, without times and the version of rqps.
fn said(bench: &Bench, args: &str) -> String {
    let words: Vec<&str> = std::iter::once("sysbench").chain(args.split_whitespace()).collect();
    let said = bench.run(&words);
    let mut text = format!("$ sysbench {args}\n{}", said.stdout);
    if !said.stderr.is_empty() {
        text.push_str(&format!("[stderr] {}", said.stderr));
    }
    let banner = format!("rqps {}", env!("CARGO_PKG_VERSION"));
    format!("{}[exit {}]\n\n", text.replace(&banner, "rqps VERSION"), said.code())
}

#[test]
fn what_errs_is_said_as_sysbench_says_it() {
    let bench = bench();
    let commands = [
        "./syntax.lua run",
        "./nil.lua run",
        "./no_event.lua run",
        "./init.lua run",
        "./plain.lua prepare",
        "./plain.lua help",
        "./plain.lua run more",
        "./plain.lua --threads=0 run",
        "./plain.lua --threads=abc run",
        "./plain.lua --rand-type=foo run",
        "./plain.lua --percentile=101 run",
        "./options.lua --nosuch=3 run",
        "./options.lua --rows=abc run",
        "./commands.lua nosuch",
        "./commands.lua bad",
        "./commands.lua worse",
        "nosuch run",
        "oltp_read_only --mysql-host=127.0.0.1 --mysql-port=1 run",
        "oltp_read_only --db-driver=foo run",
        "oltp_read_only --mysql-compression=on run",
        "cpu run",
        "fileio --file-test-mode=seqwr run",
    ];
    let text: String = commands.iter().map(|command| said(&bench, command)).collect();
    expect_test::expect_file!["../data/sysbench_errors.out"].assert_eq(&text);
}

#[test]
fn what_errs_is_said_as_the_real_sysbench_says_it() {
    if !has_sysbench() {
        return;
    }
    let bench = bench();
    for args in [
        "./syntax.lua run",
        "./nil.lua run",
        "./no_event.lua run",
        "./init.lua run",
        "./plain.lua prepare",
        "./plain.lua prewarm",
        "./plain.lua help",
        "./plain.lua nosuch",
        "./plain.lua run more",
        "./plain.lua --threads=0 run",
        "./plain.lua --threads=abc run",
        "./plain.lua --rate=abc run",
        "./plain.lua --verbosity=9 run",
        "./plain.lua --rand-type=foo run",
        "./plain.lua --percentile=101 run",
        "./plain.lua --report-checkpoints=abc run",
        "./plain.lua --forced-shutdown=abc run",
        "./options.lua --nosuch=3 run",
        "./options.lua help",
        "./commands.lua nosuch",
        "./commands.lua prepare",
        "./commands.lua bad",
        "./commands.lua worse",
        "./nosuch.lua run",
        "nosuch run",
        "--test=./plain.lua nosuch",
        "./no_event.lua --max-time=1 --num-threads=2 --tx-rate=5 --max-requests=3 run",
        "/usr/share/sysbench/oltp_read_only.lua --db-driver=foo run",
        "/usr/share/sysbench/oltp_read_only.lua --db-ps-mode=foo --mysql-dry-run run",
        "/usr/share/sysbench/oltp_read_only.lua --mysql-dry-run --table-size=3 prepare",
    ] {
        let words: Vec<&str> = args.split_whitespace().collect();
        let ours = bench.run(&[&["sysbench"], &words[..]].concat());
        let mut command = std::process::Command::new("sysbench");
        let theirs = command.current_dir(bench.dir()).args(words).output().unwrap();
        let text = |bytes: &[u8]| {
            let lines = std::str::from_utf8(bytes).unwrap().lines();
            // The line that names the program.
            let is_told = |line: &&str| !line.starts_with("sysbench 1.0.20 (");
            lines.filter(is_told).map(str::to_owned).collect::<Vec<_>>()
        };
        let (out, err) = (text(&theirs.stdout), text(&theirs.stderr));
        assert_eq!(text(ours.stdout.as_bytes()), out, "{args}");
        assert_eq!(text(ours.stderr.as_bytes()), err, "{args}");
        assert_eq!(Some(ours.code()), theirs.status.code(), "{args}");
    }
}

#[test]
fn scripts_options_commands_and_hooks() {
    let bench = bench();
    let commands = [
        "--version",
        "./options.lua help",
        "./options.lua --rows=1e3 --flag=off --list=q,r --threads=1 run --percentile=0 --time=1",
        "./commands.lua --threads=2 all",
        "./plain.lua",
        "oltp_read_write help",
    ];
    let text: String = commands
        .iter()
        .map(|command| {
            let text = said(&bench, command);
            // What follows is of the clock.
            text.split("\nGeneral statistics:").next().unwrap_or_default().to_owned()
        })
        .collect();
    expect_test::expect_file!["../data/sysbench_scripts.out"].assert_eq(&text);
}

#[test]
fn random_numbers_keep_their_ranges_under_every_distribution() {
    let bench = bench();
    for kind in ["uniform", "gaussian", "special", "pareto", "zipfian"] {
        let kind = format!("--rand-type={kind}");
        let said = bench.run(&["sysbench", "./random.lua", &kind, "run"]);
        assert_eq!(said.code(), 0, "{}", said.stdout);
        assert!(said.stdout.contains("\ntrue\t5\n"), "{}", said.stdout);
    }
}

#[test]
fn one_seed_gives_the_same_numbers() {
    let bench = Bench::new();
    bench.write(
        "draw.lua",
        "function event() print(sysbench.rand.default(1, 1e9), sysbench.rand.unique()) end\n",
    );
    let drawn = |seed: &str| {
        let said = bench.run(&["sysbench", "./draw.lua", seed, "--events=3", "run"]);
        let lines: Vec<String> =
            said.stdout.lines().filter(|line| line.contains('\t')).map(str::to_owned).collect();
        assert_eq!(lines.len(), 3, "{}", said.stdout);
        lines
    };
    assert_eq!(drawn("--rand-seed=5"), drawn("--rand-seed=5"));
    assert_ne!(drawn("--rand-seed=5"), drawn("--rand-seed=6"));
}

#[test]
fn the_report_as_json_with_several_percentiles() {
    let bench = bench();
    let args = ["sysbench", "./plain.lua", "--json", "--percentile=50,99.9", "--events=100", "run"];
    let said = bench.run(&args);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains("Threads started!"), "{}", said.stderr);
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["events"], 100);
    assert_eq!(report["latency_from"], "start");
    let percentiles = report["latency_ms"]["percentiles"].as_object().unwrap();
    assert_eq!(percentiles.keys().collect::<Vec<_>>(), ["50", "99.9"]);
}

#[test]
fn hooks_print_in_place_of_the_report() {
    let bench = bench();
    let said = bench.run(&["sysbench", "./hooks.lua", "--events=7", "run"]);
    assert!(said.stdout.contains("\nevents\t7\n0,0,"), "{}", said.stdout);
    assert!(!said.stdout.contains("General statistics"), "{}", said.stdout);
}

#[test]
fn response_times_count_from_the_intended_start() {
    let bench = Bench::new();
    // 20 events a second of 100 ms each: the queue grows, and so must response times.
    bench.write(
        "slow.lua",
        "ffi.cdef('int usleep(unsigned int);')\nfunction event() ffi.C.usleep(100000) end\n",
    );
    let args = ["sysbench", "./slow.lua", "--rate=20", "--time=3", "--json", "--report-interval=1"];
    let said = bench.run(&[&args[..], &["run"]].concat());
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains("s ] queue length: "), "{}", said.stderr);
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["latency_from"], "intended start");
    let max = report["latency_ms"]["max"].as_f64().unwrap();
    assert!(max > 500.0, "the longest response time is {max} ms: {}", said.stdout);
}

#[test]
fn unfinished_events_are_given_up() {
    let bench = Bench::new();
    bench.write(
        "stuck.lua",
        "ffi.cdef('int usleep(unsigned int);')\nfunction event() ffi.C.usleep(600000000) end\n",
    );
    let args = ["sysbench", "./stuck.lua", "--time=1", "--forced-shutdown=0", "run"];
    let said = bench.run(&args);
    assert_eq!(said.code(), 2, "{}", said.stdout);
    let unfinished = "Number of unfinished transactions on forced shutdown: 1";
    assert!(said.stdout.contains(unfinished), "{}", said.stdout);
}

#[test]
fn options_come_from_a_file_and_scripts_from_standard_input() {
    let bench = bench();
    bench.write("conf", "# ours\nthreads=3\nevents = 5\nother-script=1\n");
    let said = bench.run(&["sysbench", "./plain.lua", "--config-file=conf", "run"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stdout.contains("Number of threads: 3\n"), "{}", said.stdout);
    assert!(said.stdout.contains("number of events:              5\n"), "{}", said.stdout);
    let script = "print('read')\nfunction event() print('event') return true end\n";
    let said = bench.run_with_input(&["sysbench", "-", "run"], script);
    // Its body alone, as in sysbench.
    assert!(said.stdout.ends_with("\nread\n"), "{}", said.stdout);
}

#[test]
fn the_help_text_has_the_words_of_sysbench_and_what_rqps_adds() {
    let bench = Bench::new();
    let said = bench.run(&["sysbench", "--help"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    if has_sysbench() {
        let theirs = std::process::Command::new("sysbench").arg("--help").output().unwrap();
        let theirs = String::from_utf8(theirs.stdout).unwrap();
        // The order of what is between these two lines is rqps's own.
        let whole_lines = |text: &str| {
            let (head, rest) = text.split_once("Compiled-in database drivers:").unwrap();
            let (_, tail) = rest.split_once("Compiled-in tests:").unwrap();
            let (_, tail) = tail.split_once('\n').unwrap();
            format!("{head}{tail}")
        };
        assert_eq!(whole_lines(&said.stdout), whole_lines(&theirs));
        for line in theirs.lines() {
            assert!(said.stdout.contains(line), "{line}");
        }
    }
    for words in ["--warmup-time=N", "--json[=on|off]", "50,95,99.9", "oltp_read_write - "] {
        assert!(said.stdout.contains(words), "no {words} in {}", said.stdout);
    }
}

#[test]
fn what_fails_after_the_last_event_takes_no_figure_away() {
    let bench = Bench::new();
    for name in ["thread_done", "done"] {
        let script = format!("function event() end\nfunction {name}()\n  error('boom')\nend\n");
        bench.write("late.lua", &script);
        let said = bench.run(&["sysbench", "./late.lua", "--events=7", "--time=0", "run"]);
        // As sysbench 1.0.20 does.
        assert_eq!(said.code(), 0, "{}", said.stdout);
        let failed = format!("FATAL: `{name}' function failed: ./late.lua:3: boom\n");
        assert!(said.stdout.contains(&failed), "{}", said.stdout);
        let n_events = "total number of events:              7\n";
        assert!(said.stdout.contains(n_events), "{}", said.stdout);
    }
}

#[test]
fn events_of_the_warm_up_are_not_among_those_asked_for() {
    let bench = Bench::new();
    bench.write(
        "short.lua",
        "ffi.cdef('int usleep(unsigned int);')\nfunction event() ffi.C.usleep(5000) end\n",
    );
    let args = ["sysbench", "./short.lua", "--warmup-time=1", "--events=20", "--time=0", "--json"];
    let said = bench.run(&[&args[..], &["run"]].concat());
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains("Warming up for 1 seconds...\n"), "{}", said.stderr);
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    // One may be under way when the warm-up ends.
    let events = report["events"].as_u64().unwrap();
    assert!((20..=21).contains(&events), "{}", said.stdout);
}

#[test]
fn a_rate_of_less_than_an_event_lasts_as_long_as_any_run() {
    let bench = bench();
    let args = ["sysbench", "./plain.lua", "--rate=0.000001", "--time=1", "--json", "run"];
    let said = bench.run(&args);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let report: serde_json::Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["events"], 0);
    assert!(report["time_s"].as_f64().unwrap() >= 1.0, "{}", said.stdout);
}

/// What the API says of wrong arguments, at the script's own line; nothing is sent in a dry run.
const WRONG: &str = r#"
local types = sysbench.sql.type
function thread_init() con = sysbench.sql.driver():connect() end
local wrong = {
  function() con:query(nil) end,
  function() con:query(5) end,
  function() con:query_row({}) end,
  function() con:prepare(nil) end,
  function() con:prepare("SELECT '\xff'") end,
  function() con:bulk_insert_next(nil) end,
  function() con:bulk_insert_init() end,
  function() con:prepare("SELECT ?"):bind_create(types.INT):set("x") end,
  function() con:prepare("SELECT ?"):bind_create(types.INT):set({}) end,
  function() con:prepare("SELECT ?"):bind_param(nil) end,
  function() con:prepare("SELECT ?"):bind_create(types.CHAR, 5):set_rand_str(nil) end,
  function() sysbench.rand.uniform(nil, 1) end,
  function() sysbench.rand.string(nil) end,
  function() sysbench.rand.varstring(3, 2) end,
  function() sysbench.sql.driver("nosuch") end,
}
function event() wrong[sysbench.opt.rand_seed]() end
"#;

#[test]
fn wrong_arguments_are_said_at_the_line_of_the_script() {
    let bench = Bench::new();
    bench.write("wrong.lua", WRONG);
    let first = WRONG.lines().position(|line| line.starts_with("local wrong")).unwrap() + 2;
    let n_cases = WRONG.lines().filter(|line| line.starts_with("  function()")).count();
    for case in 0..n_cases {
        let seed = format!("--rand-seed={}", case + 1);
        let said = bench.run(&["sysbench", "./wrong.lua", "--mysql-dry-run", &seed, "run"]);
        assert_eq!(said.code(), 1, "{}", said.stdout);
        let failed = format!("FATAL: `thread_run' function failed: ./wrong.lua:{}: ", first + case);
        let line = said.stdout.lines().last().unwrap();
        assert!(line.starts_with(&failed), "{}", said.stdout);
        assert!(!line.contains("traceback") && line.len() < 200, "{line}");
    }
}

#[test]
fn a_statement_without_a_result_gives_what_equals_nil() {
    let bench = Bench::new();
    bench.write(
        "nothing.lua",
        "function event()\n  local con = sysbench.sql.driver():connect()\n  \
         local rs = con:query('UPDATE t SET a = 1')\n  \
         print(rs == nil, not rs, rs.nrows, rs:fetch_row(), con:query_row('BEGIN'))\n  return true\nend\n",
    );
    let said = bench.run(&["sysbench", "./nothing.lua", "--mysql-dry-run", "run"]);
    assert!(said.stdout.contains("\ntrue\tfalse\t0\tnil\tnil\n"), "{}", said.stdout);
}
