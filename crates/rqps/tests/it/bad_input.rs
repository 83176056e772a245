//! Bad input: each ends with exit code 2 and one message that names the value and the remedy.

use expect_test::expect;

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
    ("null with a version", "[[system]]\ndbms = 'null'\nversion = '1'\n"),
    ("basedir without a server", "[[system]]\ndbms = 'mysql'\nbasedir = '/proc/self/fd'\n"),
    ("unknown scheme", "[[system]]\ndsn = 'oracle://scott:tiger@host/db'\n"),
    ("nobody answers", "[[system]]\ndsn = 'mysql://u:secret@127.0.0.1:1/db'\n"),
    ("configured dsn", "[[system]]\ndsn = 'mysql://u@h/db'\noptions = { a = 1 }\n"),
    ("two of one label", "[[system]]\ndbms = 'null'\n[[system]]\ndbms = 'null'\n"),
    ("unknown base", "base = 'x'\n[[system]]\ndbms = 'null'\n"),
    ("unknown suite", "[[system]]\ndbms = 'null'\n[[suite]]\nkind = 'tpcc'\n"),
    ("unknown step", "[[system]]\ndbms = 'null'\n[[suite]]\nsteps = ['piont-query']\n"),
    ("unknown size", "[[system]]\ndbms = 'null'\n[[suite]]\nsize = 'huge'\n"),
    ("unknown form", "[[system]]\ndbms = 'null'\n[[suite]]\nform = 'long'\n"),
    ("no clients", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = []\n"),
    ("zero clients", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = [1, 0]\n"),
    ("negative clients", "[[system]]\ndbms = 'null'\n[[suite]]\nclients = [-1]\n"),
    ("negative seconds", "[[system]]\ndbms = 'null'\n[[suite]]\nseconds = { read = -1 }\n"),
    ("zero seconds", "[[system]]\ndbms = 'null'\n[[suite]]\nseconds = { write = 0 }\n"),
    ("no rows", "[[system]]\ndbms = 'null'\n[[suite]]\nrows = 0\n"),
    ("rows as a word", "[[system]]\ndbms = 'null'\n[[suite]]\nrows = 'many'\n"),
    ("two suites of no name", "[[system]]\ndbms = 'null'\n[[suite]]\n[[suite]]\n"),
    ("unknown placement", "[[system]]\ndbms = 'null'\n[schedule]\nplacement = 'best'\n"),
    ("unknown mode", "[[system]]\ndbms = 'null'\n[schedule]\nmode = 'random'\n"),
    ("no slices", "[[system]]\ndbms = 'null'\n[schedule]\nslices = 0\n"),
];

/// Runs a command that must fail with one message, and shows it.
fn refused(bench: &Bench, shown: &str, args: &[&str]) -> String {
    let said = bench.run(args);
    assert_eq!(said.code(), 2, "{shown}: {}", said.stderr);
    assert_eq!(said.stdout, "", "{shown}");
    format!("{shown}\n{}", bench.redact(&said.stderr))
}

#[test]
fn plans() {
    let bench = Bench::new();
    let mut text = String::new();
    for (what, plan) in PLANS {
        bench.write("plan.toml", plan);
        text.push_str(&refused(&bench, &format!("# {what}"), &["run", "plan.toml"]));
    }
    expect![[r##"
        # not TOML
        rqps: error: plan.toml: TOML parse error at line 1, column 8
          |
        1 | name = 
          |        ^
        string values must be quoted, expected literal string
        # nothing in it
        rqps: error: plan.toml: no [[system]]; name at least one system
        # unknown key
        rqps: error: plan.toml: TOML parse error at line 4, column 1
          |
        4 | colour = 'red'
          | ^^^^^^
        unknown field `colour`, expected one of `label`, `dbms`, `version`, `basedir`, `dsn`, `engine`, `config`, `options`, `transport`
        # unknown dbms
        rqps: error: plan.toml: system 1: unknown dbms "oracle" (known: mysql, mariadb, postgres, null); write one of them
        # unknown version
        rqps: error: plan.toml: system 1: mysql 5.6.99 is not in the catalogue; the nearest are 5.5.34, 5.6.14, 8.0.33 (or give basedir = "DIR" for a server that is installed); see `rqps servers list`
        # no version
        rqps: error: plan.toml: system 1: "latest" is not a server version (expected numbers such as 8.0.33, 11.4.5, 17.4); see `rqps servers list`
        # no source
        rqps: error: plan.toml: system 1: there is no version, basedir or dsn; write version = "..." (see `rqps servers list`), or basedir or dsn
        # no dbms
        rqps: error: plan.toml: system 1: dbms is missing; write dbms = "mysql", "mariadb" or "postgres"
        # two sources
        rqps: error: plan.toml: system 1: a system has only one of version, basedir and dsn; keep one of them
        # unknown engine
        rqps: error: plan.toml: system 1: unknown engine "myisam" (known: innodb, rocksdb, heap); write one of them
        # wrong engine
        rqps: error: plan.toml: system 1: PostgreSQL has no engine "innodb"; write engine = "heap", or leave it out
        # engine to come
        rqps: error: plan.toml: system 1: engine "rocksdb" is not supported yet; use innodb
        # unknown transport
        rqps: error: plan.toml: TOML parse error at line 4, column 13
          |
        4 | transport = 'pipe'
          |             ^^^^^^
        unknown variant `pipe`, expected one of `socket`, `tcp`, `tls`
        # unreadable config
        run TIME-pg180.such: 39 steps
        rqps: error: get pg180.such: config "no/such.conf" is neither a built-in profile (small) nor a readable file: No such file or directory (os error 2)
        # null with a version
        rqps: error: plan.toml: system 1: dbms "null" is a part of rqps and has no version; leave out version
        # basedir without a server
        run TIME-my-fd.small: 39 steps
        rqps: error: get my-fd.small: no server found in /proc/self/fd: looked for mysqld, mariadbd and postgres in bin and sbin
        # unknown scheme
        rqps: error: plan.toml: system 1: dsn "oracle://scott:...@host/db": unknown scheme "oracle" (expected mysql://USER:PASSWORD@HOST:PORT/DATABASE?socket=PATH); write mysql://user:password@host:port/db
        # nobody answers
        run TIME-my-external: 39 steps
        rqps: error: measure my-external: open a connection to MySQL: connect to 127.0.0.1:1: Connection refused (os error 111)
        # configured dsn
        rqps: error: plan.toml: system 1: a server given by dsn is not configured by rqps; leave out config and options
        # two of one label
        rqps: error: plan.toml: two systems have the label "null"; give each a `label` of its own
        # unknown base
        rqps: error: plan.toml: base "x" is no system's label; write one of: null
        # unknown suite
        rqps: error: read suite "tpcc" (known: sysbench, or the path of a suite file): No such file or directory (os error 2)
        # unknown step
        rqps: error: no step of suite sysbench is named "piont-query" (near: point-query, point-query.pre, insert)
        # unknown size
        rqps: error: plan.toml: unknown size "huge" (known: tiny, small, medium); write one of them
        # unknown form
        rqps: error: plan.toml: form "long" is not known; write "short" or "full"
        # no clients
        rqps: error: plan.toml: clients = []; give at least one number of clients
        # zero clients
        rqps: error: plan.toml: clients = 0; give numbers from 1 on
        # negative clients
        rqps: error: plan.toml: TOML parse error at line 4, column 12
          |
        4 | clients = [-1]
          |            ^^
        invalid value: integer `-1`, expected u32
        # negative seconds
        rqps: error: plan.toml: seconds.read = -1 is no time; write a number of seconds, 0 or more
        # zero seconds
        rqps: error: plan.toml: seconds.write = 0; give a time above zero
        # no rows
        rqps: error: plan.toml: rows = 0; give 1 to 2147483647 rows per table
        # rows as a word
        rqps: error: plan.toml: TOML parse error at line 4, column 8
          |
        4 | rows = 'many'
          |        ^^^^^^
        invalid type: string "many", expected u64
        # two suites of no name
        rqps: error: plan.toml: two suites have the same name, or none; give each [[suite]] a `name` of its own
        # unknown placement
        rqps: error: plan.toml: unknown placement "best" (known: auto, free, split, paired); write one of them
        # unknown mode
        rqps: error: plan.toml: schedule mode "random" is not known; write mode = "sequential", or leave it out
        # no slices
        rqps: error: plan.toml: slices = 0 is out of range; write 1 to 1000
    "##]].assert_eq(&text);
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
        "servers fetch mysql@1.2.3",
        "servers fetch null",
        "servers fetch mysql://user:secret@host/db",
        "servers shell mysql",
        "suites show tpcc",
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
        rqps: error: command line: two systems have the label "pg1122.small"; give each a `label` of its own
        $ rqps run plan.toml --clients 0
        rqps: error: plan.toml: clients = 0; give numbers from 1 on
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
        $ rqps servers fetch mysql@1.2.3
        rqps: error: command line: system 1: mysql 1.2.3 is not in the catalogue; the nearest are 5.5.34, 5.6.14 (or give basedir = "DIR" for a server that is installed); see `rqps servers list`
        $ rqps servers fetch null
        rqps: error: null is not fetched; name DBMS@VERSION (see `rqps servers list`)
        $ rqps servers fetch mysql://user:secret@host/db
        rqps: error: my-external is not fetched; name DBMS@VERSION (see `rqps servers list`)
        $ rqps servers shell mysql
        rqps: error: system "mysql" is not DBMS@VERSION (such as mysql@8.0.33), DBMS@DIRECTORY or an address
        $ rqps suites show tpcc
        rqps: error: unknown suite "tpcc" (known: sysbench)
    "#]].assert_eq(&text);
}

#[test]
fn references_to_runs() {
    let bench = Bench::new();
    for name in ["first", "second"] {
        let plan = format!(
            "name = {name:?}\n[[system]]\ndbms = 'null'\n[[suite]]\nrows = 10\n\
             steps = ['point-query']\nseconds = {{ read = 0.02, warm_up = 0 }}\n"
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
        rqps: error: "2" is the beginning of several runs; write more of one of TIME-second, TIME-first
        $ rqps report --bound 90
        rqps: error: bound "90" is not a percentage from 0.1% to 50%
        $ rqps report --format pdf
        error: invalid value 'pdf' for '--format <FORMAT>'
          [possible values: text, markdown, csv, json, html]

        For more information, try '--help'.
        $ rqps report -o no/such/file
        rqps: error: write no/such/file: No such file or directory (os error 2)
        $ rqps runs show x
        rqps: error: no run matches "x"; there are TIME-second, TIME-first
        $ rqps runs rm x
        rqps: error: no run matches "x"; there are TIME-second, TIME-first
    "#]].assert_eq(&text);
}
