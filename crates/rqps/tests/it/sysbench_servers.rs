//! `rqps sysbench` on real servers, beside the real sysbench where that is installed: the same tables,
//! the same statements by the server's own counters, the same layout.

use std::collections::BTreeMap;
use std::path::Path;

use crate::bench::{Bench, for_each_server};
use crate::sysbench_sandbox::{Server, has_sysbench};

/// Events of each run whose statements are counted.
const N_EVENTS: u64 = 200;

/// Sysbench's own scripts, as Debian's package has them.
const SCRIPTS: [&str; 11] = [
    "bulk_insert",
    "oltp_delete",
    "oltp_insert",
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
    "select_random_points",
    "select_random_ranges",
];

/// An output without its numbers and without the first line, which names the program. Runs of spaces
/// stay as long as numbers allow: each digit and the spaces beside it are one mark.
fn layout(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines().skip(1) {
        let mut shape = String::new();
        for c in line.chars() {
            let c = if c.is_ascii_digit() || c == '.' { '#' } else { c };
            match (shape.chars().last(), c) {
                (Some('#'), '#' | ' ') => {}
                (Some(' '), '#') => {
                    shape.truncate(shape.trim_end().len());
                    shape.push('#');
                }
                _ => shape.push(c),
            }
        }
        lines.push(shape);
    }
    lines
}

const TABLES: [&str; 2] = ["sbtest1", "sbtest2"];

/// The arguments of a script: one table where it takes one alone.
fn arguments(script: &str) -> Vec<&'static str> {
    match script {
        "bulk_insert" => vec!["--threads=2"],
        "select_random_points" | "select_random_ranges" => vec!["--table-size=300", "--threads=2"],
        _ => vec!["--table-size=300", "--tables=2", "--threads=2"],
    }
}

/// The tables after `prepare`, what the server counted of a run of so many events, and its output.
type Done = (Vec<String>, BTreeMap<String, i64>, String);

fn carry_out(
    server: &mut Server,
    script: &str,
    command: impl Fn(&Server, &[&str]) -> String,
) -> Done {
    let with = |server: &Server, more: &[&str]| {
        command(server, &[&[script], &arguments(name_of(script))[..], more].concat())
    };
    with(server, &["prepare"]);
    let n_tables = if name_of(script).starts_with("select_") { 1 } else { 2 };
    let shapes: Vec<String> = TABLES[..n_tables].iter().map(|table| server.shape(table)).collect();
    let events = format!("--events={N_EVENTS}");
    // One thread: no deadlock repeats an event.
    let run = ["--threads=1", "--time=0", "--rand-type=uniform", &events, "run"];
    let (counted, text) = server.counted(|server| with(server, &run));
    with(server, &["cleanup"]);
    (shapes, counted, text)
}

/// A script by sysbench and by rqps, and the test of its name by rqps.
fn carried_out(server: &mut Server, bench: &Bench, name: &str) -> [Done; 3] {
    let script = format!("/usr/share/sysbench/{name}.lua");
    [
        carry_out(server, &script, |it, args| it.real(bench, args)),
        carry_out(server, &script, |it, args| it.rqps(bench, args)),
        carry_out(server, name, |it, args| it.rqps(bench, args)),
    ]
}

/// What the server counted of rqps that differs by more than 1% from what it counted of sysbench.
fn counted_otherwise(name: &str, [real, ours, built_in]: &[Done; 3]) -> Vec<String> {
    let mut out = Vec::new();
    for (whose, done) in [("its script", ours), ("the built-in test", built_in)] {
        for (counter, expected) in &real.1 {
            // A list of values is one scan or one for each; rows are deleted once.
            let is_luck = counter == "scans" && name.starts_with("select_")
                || counter == "deleted" && name == "oltp_delete";
            let n = done.1.get(counter).copied().unwrap_or(0);
            if !is_luck && (n - expected).abs() > (*expected).max(100) / 100 {
                out.push(format!("{name}, {whose}: {counter} is {n}, in sysbench {expected}"));
            }
        }
    }
    out
}

fn name_of(script: &str) -> &str {
    Path::new(script).file_stem().unwrap().to_str().unwrap()
}

#[test]
#[ignore = "make test-all: real servers"]
fn scripts_of_sysbench_do_the_same_as_in_sysbench() {
    if !has_sysbench() {
        return;
    }
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let mut server = Server::start(&bench, dbms, version);
        for name in SCRIPTS {
            eprintln!("script {name}");
            let mut all = carried_out(&mut server, &bench, name);
            if !counted_otherwise(name, &all).is_empty() {
                // PostgreSQL 11 collects its counters in a process of its own, which may get no CPU for longer
                // than it was waited for.
                all = carried_out(&mut server, &bench, name);
                assert_eq!(counted_otherwise(name, &all), Vec::<String>::new(), "twice");
            }
            let [real, ours, built_in] = &all;
            for (whose, done) in [("its script", ours), ("the built-in test", built_in)] {
                assert_eq!(done.0, real.0, "{name}, tables of {whose}");
                let (ours, theirs) = (layout(&done.2), layout(&real.2));
                assert_eq!(ours, theirs, "{name}, layout of {whose}:\n{}\n{}", done.2, real.2);
            }
        }
        server.stop();
    });
}

/// What makes an event another one, or a table: script, options of both commands, those of `run`, and how far
/// counts may be apart, percent.
const CASES: [(&str, &[&str], &[&str], i64); 6] = [
    // Hot rows lie in the middle of the table, and those of a thread in the middle of its part.
    ("select_random_points", &["--table-size=4000"], &["--threads=4"], 30),
    ("select_random_ranges", &["--table-size=4000"], &["--threads=4"], 30),
    ("oltp_update_index", &["--table-size=300", "--index_updates=5"], &["--threads=1"], 1),
    ("oltp_update_non_index", &["--table-size=300", "--non_index_updates=3"], &["--threads=1"], 1),
    ("oltp_insert", &["--table-size=300", "--auto_inc=off"], &["--threads=1"], 1),
    ("oltp_point_select", &["--table-size=300", "--point_selects=7"], &["--threads=1"], 1),
];

/// What the server counted of `prepare` and of a run of so many events.
fn counted_of(
    server: &mut Server,
    (name, both, run, _): (&str, &[&str], &[&str], i64),
    command: impl Fn(&Server, &[&str]) -> String,
) -> [BTreeMap<String, i64>; 2] {
    let events = format!("--events={N_EVENTS}");
    let of = |end: &'static str| [&[name], both, &[end]].concat();
    let run = [&[name], both, run, &["--time=0", &events, "run"]].concat();
    let (of_prepare, _) = server.counted(|server| command(server, &of("prepare")));
    let (of_run, _) = server.counted(|server| command(server, &run));
    command(server, &of("cleanup"));
    [of_prepare, of_run]
}

#[test]
#[ignore = "make test-all: real servers"]
fn options_and_threads_do_the_same_as_in_sysbench() {
    if !has_sysbench() {
        return;
    }
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let mut server = Server::start(&bench, dbms, version);
        for case in CASES {
            let (name, .., percent) = case;
            let real = counted_of(&mut server, case, |it, args| it.real(&bench, args));
            let ours = counted_of(&mut server, case, |it, args| it.rqps(&bench, args));
            for ((counter, expected), n) in real.iter().zip(&ours).flat_map(|(real, ours)| {
                real.iter().map(|at| (at, ours.get(at.0).copied().unwrap_or(0)))
            }) {
                // A list of values is one scan or one for each.
                let is_luck = counter == "scans" && name.starts_with("select_");
                let is_alike = (n - expected).abs() * 100 <= (*expected).max(100) * percent;
                assert!(is_luck || is_alike, "{name}: {counter} is {n}, in sysbench {expected}");
            }
        }
        for _ in 0..2 {
            server.rqps(&bench, &["bulk_insert", "--mysql-storage-engine=none", "prepare"]);
        }
        server.stop();
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn reports_have_the_layout_of_sysbench() {
    if !has_sysbench() {
        return;
    }
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let server = Server::start(&bench, dbms, version);
        let script = "/usr/share/sysbench/oltp_read_only.lua";
        server.rqps(&bench, &[script, "--table-size=100", "prepare"]);
        for options in [
            &["--time=3", "--report-interval=2"][..],
            &["--time=3", "--report-checkpoints=1,2", "--percentile=0"],
            &["--time=0", "--events=20", "--rate=100", "--rand-seed=5", "--db-ps-mode=disable"],
            &["--time=1", "--forced-shutdown=5", "--validate", "--histogram=off"],
            &["--time=3", "--rate=100", "--report-interval=2", "--percentile=100"],
        ] {
            let args = [&[script, "--table-size=100"], options, &["run"]].concat();
            let (ours, real) = (server.rqps(&bench, &args), server.real(&bench, &args));
            assert_eq!(layout(&ours), layout(&real), "{options:?}:\n{ours}\n{real}");
        }
        server.stop();
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_workload_after_tpc_c_stays_consistent() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write("shop.lua", include_str!("../data/shop.lua"));
        let server = Server::start(&bench, dbms, version);
        let with = |more: &[&str]| {
            server.rqps(&bench, &[&["./shop.lua", "--warehouses=2", "--items=40"], more].concat())
        };
        with(&["prepare"]);
        for mode in ["--db-ps-mode=auto", "--db-ps-mode=disable"] {
            let run = ["--threads=4", "--events=400", "--time=0", mode];
            let more = ["--mysql-ignore-errors=1213,1020,1205", "run"];
            let text = with(&[&run[..], &more].concat());
            assert!(text.contains("number of events:              400\n"), "{text}");
            assert!(with(&["check"]).ends_with("consistent: yes\n"));
        }
        with(&["cleanup"]);
        server.stop();
    });
}

/// What the API promises of statements, results and connections.
const API: &str = r#"
local types = sysbench.sql.type
function thread_init()
  con = sysbench.sql.driver():connect()
  plus = con:prepare("SELECT ? + 1")
  four = plus:bind_create(types.INT)
  plus:bind_param(four)
end
local function only(rs)
  local row = rs:fetch_row()
  assert(rs.nrows == 1 and rs:fetch_row() == nil)
  return unpack(row, 1, rs.nfields)
end
function event()
  four:set(4)
  assert(only(plus:execute()) == "5")
  con:reconnect()
  assert(only(plus:execute()) == "5", "a statement is lost with its connection")
  four:set(nil)
  assert(only(plus:execute()) == nil, "NULL + 1")
  local two = con:prepare("SELECT ?, ?")
  local a, b = two:bind_create(types.DOUBLE), two:bind_create(types.VARCHAR, 10)
  two:bind_param(a, b)
  a:set(1.5)
  b:set("x'\\y")
  local number, text = only(two:execute())
  assert(tonumber(number) == 1.5 and text == "x'\\y", text)
  two:close()
  -- The rest of a result that is being fetched survives other statements.
  local rs = con:query("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3")
  assert(rs:fetch_row()[1] == "1" and con:query_row("SELECT 9") == "9")
  assert(rs:fetch_row()[1] == "2" and rs:fetch_row()[1] == "3" and rs:fetch_row() == nil)
  -- One that nobody has begun does not, and says so with the line.
  rs = con:query("SELECT 1")
  con:query("SELECT 2")
  local ok, why = pcall(function() local row = rs:fetch_row() end)
  assert(not ok and why:match("api.lua:%d+: the rows of this result are gone"), why)
  assert(con:query_row("SELECT 1 WHERE 1 = 0") == nil)
  -- A result is freed once, and a connection is C data.
  rs = con:query("SELECT 1")
  assert(rs:free() and type(con) == "cdata" and tostring(con) == "<sql_connection>")
  ok, why = pcall(rs.free, rs)
  assert(not ok and why == "db_free_results() failed", why)
  -- An error has a line of the script, also where pcall itself made the call.
  ok, why = pcall(con.query, con, "SELECT nope")
  assert(not ok and why:match("api.lua:%d+: SQL error"), why)
  return true
end
function thread_done() con:disconnect() end
"#;

#[test]
#[ignore = "make test-all: real servers"]
fn statements_results_and_connections_of_scripts() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        // MariaDB before 10.3 and MySQL before 8.0 want a table where there is a condition.
        let table = if dbms == "postgres" { "WHERE" } else { "FROM dual WHERE" };
        bench.write("api.lua", &API.replace("1 WHERE", &format!("1 {table}")));
        let server = Server::start(&bench, dbms, version);
        for mode in ["--db-ps-mode=auto", "--db-ps-mode=disable"] {
            let text = server.rqps(&bench, &["./api.lua", mode, "run"]);
            // As in sysbench, a connection to PostgreSQL stays.
            let n = u8::from(dbms != "postgres");
            let reconnects = format!("reconnects:                          {n} ");
            assert!(text.contains(&reconnects), "{text}");
        }
        server.stop();
    });
}

/// Every global that scripts of sysbench 0.5 call.
const LEGACY: &str = r#"
function prepare()
  db_connect()
  print("table", mysql_table_engine, myisam_max_rows)
  db_query("CREATE TABLE old (id INTEGER PRIMARY KEY, v VARCHAR(20))")
  db_bulk_insert_init("INSERT INTO old VALUES")
  for i = 1, 100 do db_bulk_insert_next("(" .. i .. ", 'v" .. i .. "')") end
  db_bulk_insert_done()
  db_disconnect()
end
function cleanup()
  db_connect()
  db_query("DROP TABLE old")
end
function thread_init(thread_id)
  db_connect()
  values = {1}
  statement = db_prepare("UPDATE old SET v = 'w' WHERE id = ?")
  db_bind_param(statement, values)
end
function event(thread_id)
  values[1] = sb_rand_uniq(1, 100)
  assert(values[1] >= 1 and values[1] <= 100)
  assert(sb_rnd() >= 0 and sb_rand(1, 10) <= 10 and #sb_rand_str('##-@@') == 5)
  assert(sb_rand_uniform(5, 5) == 5 and sb_rand_gaussian(5, 5) == 5 and sb_rand_special(5, 5) == 5)
  db_execute(statement)
  db_query("BEGIN")
  local rs = db_query("SELECT v FROM old WHERE id = " .. sb_rand(1, 100))
  db_query("DELETE FROM old WHERE id = " .. sb_rand(1, 100))
  db_query("COMMIT")
end
function thread_done(thread_id)
  db_close(statement)
  db_disconnect()
end
"#;

#[test]
#[ignore = "make test-all: real servers"]
fn scripts_of_older_versions_run() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write("old.lua", LEGACY);
        let server = Server::start(&bench, dbms, version);
        let carry_out = |command: &dyn Fn(&[&str]) -> String| {
            let prepared = command(&["./old.lua", "prepare"]);
            assert!(prepared.contains("table\tinnodb\t1000000\n"), "{prepared}");
            let text = command(&["./old.lua", "--events=30", "--time=0", "run"]);
            command(&["./old.lua", "cleanup"]);
            text
        };
        let ours = carry_out(&|args| server.rqps(&bench, args));
        assert!(ours.contains("    queries:                             150 "), "{ours}");
        if has_sysbench() {
            let real = carry_out(&|args| server.real(&bench, args));
            assert_eq!(layout(&ours), layout(&real), "{ours}\n{real}");
        }
        server.stop();
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn errors_of_the_server_name_file_and_line() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write(
            "wrong.lua",
            "function thread_init() con = sysbench.sql.driver():connect() end\n\
             function event()\n  con:query('SELECT * FROM nosuch')\nend\n",
        );
        let server = Server::start(&bench, dbms, version);
        let mut command = bench.command(&["sysbench"]);
        let output = command.args(&server.options).args(["./wrong.lua", "run"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        let expected = if server.is_postgres {
            "FATAL: PQexec() failed: 7 relation \"nosuch\" does not exist\n\
             FATAL: failed query was: SELECT * FROM nosuch\n\
             FATAL: `thread_run' function failed: ./wrong.lua:3: SQL error, errno = 0, state = '42P01': \
             relation \"nosuch\" does not exist\n"
        } else {
            "FATAL: mysql_drv_query() returned error 1146 (Table 'sbtest.nosuch' doesn't exist) for query \
             'SELECT * FROM nosuch'\n\
             FATAL: `thread_run' function failed: ./wrong.lua:3: SQL error, errno = 1146, state = '42S02': \
             Table 'sbtest.nosuch' doesn't exist\n"
        };
        assert!(text.ends_with(expected), "{text}");
        server.stop();
    });
}
