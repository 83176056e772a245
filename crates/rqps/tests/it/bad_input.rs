//! Bad input: each ends with exit code 2 and one message that names the value and the remedy.

use std::io::Write as _;
use std::process::Stdio;

use expect_test::{expect, expect_file};

use crate::bench::Bench;

/// Plans that are refused, each for one thing.
const PLANS: &[(&str, &str)] = &[
    ("not TOML", "name = \n"),
    ("nothing in it", ""),
    ("unknown key", "name = 'x'\n[[system]]\ndbms = 'null'\ncolour = 'red'\n"),
    ("unknown dbms", "[[system]]\ndbms = 'oracle'\nversion = '1'\n"),
    ("unknown version", "[[system]]\ndbms = 'mysql'\nversion = '5.6.99'\n"),
    ("no version", "[[system]]\ndbms = 'mysql'\nversion = 'latest'\n"),
    ("no source", "[[system]]\ndbms = 'mysql'\n"),
    ("no dbms", "[[system]]\nversion = '8.0.33'\n"),
    ("two sources", "[[system]]\ndbms = 'mysql'\nversion = '8.0.33'\nbasedir = '/opt'\n"),
    ("unknown engine", "[[system]]\ndbms = 'mysql'\nversion = '8.0.33'\nengine = 'myisam'\n"),
    ("wrong engine", "[[system]]\ndbms = 'pg'\nversion = '18.0'\nengine = 'innodb'\n"),
    ("engine to come", "[[system]]\ndbms = 'ma'\nversion = '10.11.5'\nengine = 'rocksdb'\n"),
    ("unknown transport", "[[system]]\ndbms = 'pg'\nversion = '18.0'\ntransport = 'pipe'\n"),
    ("unreadable config", "[[system]]\ndbms = 'pg'\nversion = '18.0'\nconfig = 'no/such.conf'\n"),
    ("endless config", "[[system]]\ndbms = 'pg'\nversion = '18.0'\nconfig = '/dev/zero'\n"),
    ("null with a version", "[[system]]\ndbms = 'null'\nversion = '1'\n"),
    ("basedir without a server", "[[system]]\ndbms = 'mysql'\nbasedir = '/proc/self/fd'\n"),
    ("unknown scheme", "[[system]]\ndsn = 'oracle://scott:tiger@host/db'\n"),
    ("nobody answers", "[[system]]\ndsn = 'mysql://u:secret@127.0.0.1:1/db'\n"),
    ("configured dsn", "[[system]]\ndsn = 'mysql://u@h/db'\noptions = { a = 1 }\n"),
    ("cut password", "[[system]]\ndsn = 'mysql://u:12/secret@h/db'\n"),
    ("dsn of another dbms", "[[system]]\ndbms = 'pg'\ndsn = 'mysql://u@h/db'\n"),
    ("dsn with a transport", "[[system]]\ndsn = 'mysql://u@h/db'\ntransport = 'tls'\n"),
    ("version and more", "[[system]]\ndbms = 'pg'\nversion = '18.0; x'\n"),
    ("two of one label", "[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\n"),
    ("unknown base", "base = 'x'\n[[system]]\ndbms = 'null'\n"),
    ("unknown suite", "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'tpcc'\n"),
    ("endless suite", "[[system]]\ndbms = 'null'\n[[suite]]\nkind = '/dev/zero'\n"),
    ("unknown step", "[[system]]\ndbms = 'null'\n[[suite]]\nsteps = ['piont-query']\n"),
    ("unknown size", "[[system]]\ndbms = 'null'\n[[suite]]\nsize = 'huge'\n"),
    ("unknown form", "[[system]]\ndbms = 'null'\n[[suite]]\nform = 'long'\n"),
    ("no clients", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = []\n"),
    ("zero clients", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = [1, 0]\n"),
    ("negative clients", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = [-1]\n"),
    ("too many clients", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = [100_000]\n"),
    ("clients twice", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = [1, 2, 1]\n"),
    ("rate beyond all clocks", "[[system]]\ndbms = 'null'\n[[suite]]\nrate = 1e300\n"),
    ("a slice of years", "[[system]]\ndbms = 'null'\n[[suite]]\nseconds = { read = 1e12 }\n"),
    ("negative seconds", "[[system]]\ndbms = 'null'\n[[suite]]\nseconds = { read = -1 }\n"),
    ("zero seconds", "[[system]]\ndbms = 'null'\n[[suite]]\nseconds = { write = 0 }\n"),
    ("no rows", "[[system]]\ndbms = 'null'\n[[suite]]\nrows = 0\n"),
    ("rows as a word", "[[system]]\ndbms = 'null'\n[[suite]]\nrows = 'many'\n"),
    ("two suites of no name", "[[system]]\ndbms = 'null'\n[[suite]]\n[[suite]]\n"),
    ("unknown placement", "[[system]]\ndbms = 'null'\n[schedule]\nplacement = 'best'\n"),
    ("unknown mode", "[[system]]\ndbms = 'null'\n[schedule]\nmode = 'random'\n"),
    ("insert's key elsewhere", "[[system]]\ndbms = 'null'\n[[suite]]\nrates = [100]\n"),
    ("another's key", "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'insert'\nform = 'short'\n"),
    (
        "clients of insert",
        "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'insert'\nclients = [1, 2]\n",
    ),
    (
        "bulk load of none",
        "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'insert'\nbulk_load = true\n",
    ),
    ("no slices", "[[system]]\ndbms = 'null'\n[schedule]\nslices = 0\n"),
];

/// Runs a command that must fail with one message, and shows it.
fn refused(bench: &Bench, shown: &str, args: &[&str]) -> String {
    let said = bench.run(args);
    assert_eq!(said.code(), 2, "{shown}: {}", said.stderr);
    assert_eq!(said.stdout, "", "{shown}");
    // Other tests may have the CPUs meanwhile.
    let is_of_host = |line: &&str| line.contains("% of this host's CPU is in use");
    let told: String = said.stderr.split_inclusive('\n').filter(|line| !is_of_host(line)).collect();
    format!("{shown}\n{}", bench.redact(&told))
}

#[test]
fn plans() {
    let bench = Bench::new();
    let mut text = String::new();
    for (what, plan) in PLANS {
        bench.write_private("plan.toml", plan);
        text.push_str(&refused(&bench, &format!("# {what}"), &["run", "plan.toml"]));
    }
    expect_file!["../data/bad_plans.out"].assert_eq(&text);
    // None of them left a run behind.
    assert_eq!(bench.json(&["runs", "list", "--json"]), serde_json::json!([]));
}

#[test]
fn command_lines() {
    let bench = Bench::new();
    bench.write("plan.toml", "[[system]]\ndbms = 'null'\n");
    bench.write("file", "");
    std::fs::create_dir(bench.path("other")).unwrap();
    bench.write("other/rqps.db", &"This is a text and no database. ".repeat(100));
    let mut text = String::new();
    for line in [
        "run",
        "run nosuch.toml",
        "run --base null",
        "run --vs null",
        "run --base pg@11.22 --vs 18",
        "run --base pg@11.22 --vs pg@11.22",
        "run plan.toml --clients 0",
        "run plan.toml --clients x",
        "run plan.toml --steps x*",
        "run plan.toml --placement here",
        "run plan.toml --results file",
        "run plan.toml --results other",
        "runs list --results file",
        "runs list --results other",
        "runs list --results nothing",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        text.push_str(&refused(&bench, &format!("$ rqps {line}"), &args));
    }
    expect![[r#"
        $ rqps run
        rqps: error: name a PLAN.toml, or --base SYSTEM and --vs SYSTEM
        $ rqps run nosuch.toml
        rqps: error: read the plan nosuch.toml (or name systems with --base and --vs): No such file or directory (os error 2)
        $ rqps run --base null
        rqps: error: --base needs at least one --vs SYSTEM to compare it with
        $ rqps run --vs null
        rqps: error: name a PLAN.toml, or --base SYSTEM and --vs SYSTEM
        $ rqps run --base pg@11.22 --vs 18
        rqps: error: system "18" is not DBMS@VERSION (such as mysql@8.0.33), DBMS@DIRECTORY or an address
        $ rqps run --base pg@11.22 --vs pg@11.22
        rqps: error: command line: two systems have the label "pg1122.small"; give each a `label` of its own (--base NAME=SYSTEM); to measure the base against itself, `null = true` or --null
        $ rqps run plan.toml --clients 0
        rqps: error: plan.toml: clients = 0; give numbers from 1 to 4096
        $ rqps run plan.toml --clients x
        error: invalid value 'x' for '--clients <N,N...>': invalid digit found in string

        For more information, try '--help'.
        $ rqps run plan.toml --steps x*
        rqps: error: no step of suite sysbench is named "x*" (near: load, scan, delete)
        $ rqps run plan.toml --placement here
        rqps: error: plan.toml: unknown placement "here" (known: auto, free, split, paired); write one of them
        $ rqps run plan.toml --results file
        rqps: error: DIR/file is a file, not a directory; name another directory with --results
        $ rqps run plan.toml --results other
        rqps: error: DIR/other/rqps.db is not a sound SQLite database: file is not a database; move it away, or name another directory with --results
        $ rqps runs list --results file
        rqps: error: DIR/file is a file, not a directory; name another directory with --results
        $ rqps runs list --results other
        rqps: error: DIR/other/rqps.db is not a sound SQLite database: file is not a database; move it away, or name another directory with --results
        $ rqps runs list --results nothing
        rqps: error: no results in DIR/nothing; measure something with `rqps run`, or name another directory with --results
    "#]].assert_eq(&text);
}

#[test]
fn names_and_addresses() {
    let bench = Bench::new();
    let mut text = String::new();
    for line in [
        "servers fetch mysql@1.2.3",
        "servers fetch null",
        "servers fetch mysql://user@host/db",
        "servers audit mysql://user:secret@host/db",
        "run --base null --vs mysql://user:secret@host/db",
        "run --base null --vs mysql://user@127.0.0.1:1/db?password_env=NO_SUCH_VARIABLE",
        "servers shell mysql",
        "suites show tpcc",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        text.push_str(&refused(&bench, &format!("$ rqps {line}"), &args));
    }
    expect![[r#"
        $ rqps servers fetch mysql@1.2.3
        rqps: error: command line: system 1: mysql 1.2.3 is not in the catalogue; the nearest are 5.0.96, 5.1.73 (or give basedir = "DIR" for a server that is installed); see `rqps servers list`
        $ rqps servers fetch null
        rqps: error: null is not fetched; name DBMS@VERSION (see `rqps servers list`)
        $ rqps servers fetch mysql://user@host/db
        rqps: error: my-external is not fetched; name DBMS@VERSION (see `rqps servers list`)
        $ rqps servers audit mysql://user:secret@host/db
        rqps: error: an address on the command line holds a password, which every user of this host can read there; write mysql://USER@HOST/DATABASE?password_env=NAME or ?password_file=PATH, or put the address into a plan
        $ rqps run --base null --vs mysql://user:secret@host/db
        rqps: error: an address on the command line holds a password, which every user of this host can read there; write mysql://USER@HOST/DATABASE?password_env=NAME or ?password_file=PATH, or put the address into a plan
        $ rqps run --base null --vs mysql://user@127.0.0.1:1/db?password_env=NO_SUCH_VARIABLE
        rqps: error: get my-external: dsn "mysql://user@127.0.0.1:1/db?password_env=NO_SUCH_VARIABLE": password_env NO_SUCH_VARIABLE: not set, or empty; export NO_SUCH_VARIABLE before rqps is started (expected mysql://USER@HOST:PORT/DATABASE?password_env=NAME, with &socket=PATH or &tls=required where needed)
        $ rqps servers shell mysql
        rqps: error: system "mysql" is not DBMS@VERSION (such as mysql@8.0.33), DBMS@DIRECTORY or an address
        $ rqps suites show tpcc
        rqps: error: unknown suite "tpcc" (known: sysbench, insert)
    "#]].assert_eq(&text);
}

#[test]
fn references_to_runs() {
    let bench = Bench::new();
    for name in ["first", "second"] {
        let plan = format!(
            "name = {name:?}\n[[system]]\ndbms = 'null'\n[[suite]]\nrows = 10\n\
             steps = ['point-query']\nseconds = {{ read = 0.02, warm_up = 0, fixed_at_most = 0.02 }}\n"
        );
        bench.write("plan.toml", &plan);
        let said = bench.run(&["run", "plan.toml"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
    }
    let mut text = String::new();
    for line in [
        "report 1999",
        "report 2",
        "report --bound 90",
        "report --format pdf",
        "report -o no/such/file",
        "runs show x",
        "runs rm x",
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        text.push_str(&refused(&bench, &format!("$ rqps {line}"), &args));
    }
    expect![[r#"
        $ rqps report 1999
        rqps: error: no run matches "1999"; there are TIME-second, TIME-first
        $ rqps report 2
        rqps: error: "2" is the beginning or the name of several runs; write more of one of TIME-second, TIME-first
        $ rqps report --bound 90
        rqps: error: --bound "90" is not a percentage from 0.1% to 50%
        $ rqps report --format pdf
        error: invalid value 'pdf' for '--format <FORMAT>'
          [possible values: terminal, text, markdown, csv, json, html]

        For more information, try '--help'.
        $ rqps report -o no/such/file
        rqps: error: write no/such/file: No such file or directory (os error 2)
        $ rqps runs show x
        rqps: error: no run matches "x"; there are TIME-second, TIME-first
        $ rqps runs rm x
        rqps: error: no run matches "x"; there are TIME-second, TIME-first
    "#]].assert_eq(&text);
}

#[test]
fn plans_without_an_end_and_from_a_pipe() {
    let bench = Bench::new();
    std::os::unix::fs::symlink("/dev/zero", bench.path("zero.toml")).unwrap();
    // It is refused, not read until there is no memory.
    let said = bench.run_after("ulimit -v 8000000", &["run", "zero.toml"]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    let words =
        "read the plan zero.toml (or name systems with --base and --vs): it is no plain file";
    assert!(said.stderr.contains(words), "{}", said.stderr);
    let mut command = bench.command(&["run", "/dev/stdin", "--no-html"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let plan = "[[system]]\ndbms = 'null'\n[[suite]]\nrows = 10\nsteps = ['point-query']\n\
                seconds = { read = 0.02, warm_up = 0, fixed_at_most = 0.02 }\n";
    child.stdin.take().unwrap().write_all(plan.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_plan_with_a_password_that_others_may_read_is_refused() {
    let bench = Bench::new();
    let plan = "[[system]]\ndsn = 'mysql://u:secret@127.0.0.1:1/d'\n";
    bench.write("plan.toml", plan);
    let said = bench.run(&["run", "plan.toml"]);
    assert_eq!(said.code(), 2);
    assert!(said.stderr.contains("run chmod 600 plan.toml"), "{}", said.stderr);
    assert!(!said.stderr.contains("secret"), "{}", said.stderr);
    bench.write_private("plan.toml", plan);
    let said = bench.run(&["run", "plan.toml"]);
    assert!(said.stderr.contains("127.0.0.1:1"), "{}", said.stderr);
}

#[test]
fn a_factor_of_time_limits_is_a_number() {
    let bench = Bench::new();
    let said = bench.run_with(&["runs", "list"], &[("RQPS_PATIENCE", "soon")]);
    let words = "rqps: error: RQPS_PATIENCE: \"soon\" is no factor of time limits (expected a number from \
                 0.01 to 100, such as 2)\n";
    assert_eq!((said.code(), said.stderr.as_str()), (2, words));
}
