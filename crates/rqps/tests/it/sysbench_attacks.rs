//! `rqps sysbench` where things go wrong: scripts that never end, servers that die or hang, connections
//! that are killed, deadlocks, results longer than memory should hold.

use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::bench::{Bench, for_each_server};
use crate::sysbench_sandbox::Server;

/// Reads what a command says up to a line, and gives the rest to read.
fn await_line(child: &mut Child, wanted: &str) -> BufReader<std::process::ChildStdout> {
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while line.trim_end() != wanted {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "no line {wanted:?}");
    }
    out
}

/// The rest of what a command says, and its exit code.
fn end(mut child: Child, mut out: impl Read) -> (String, Option<i32>) {
    let mut text = String::new();
    out.read_to_string(&mut text).unwrap();
    (text, child.wait().unwrap().code())
}

/// Whether this process, and so what it starts, ignores a signal.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
    mask & (1 << (signal as i32 - 1)) != 0
}

#[test]
fn signals_end_a_script_that_never_ends() {
    let bench = Bench::new();
    bench.write("endless.lua", "function event() while true do end end\n");
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        if is_ignored(signal) {
            // As in a shell's background: whoever is started here ignores it as well.
            eprintln!("{signal} is ignored here and not tried");
            continue;
        }
        let mut command = bench.command(&["sysbench", "./endless.lua", "--threads=2", "run"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let _out = await_line(&mut child, "Threads started!");
        kill(Pid::from_raw(child.id().cast_signed()), signal).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(signal as i32));
    }
}

#[test]
fn a_script_without_memory_says_so() {
    let bench = Bench::new();
    bench.write("fat.lua", "function event()\n  local s = string.rep('x', 2^31 - 1)\nend\n");
    let said = bench.run(&["sysbench", "./fat.lua", "run"]);
    assert_eq!(said.code(), 1, "{}", said.stdout);
    let failed = "FATAL: `thread_run' function failed: ";
    assert!(said.stdout.lines().last().unwrap().starts_with(failed), "{}", said.stdout);
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_server_that_dies_ends_the_run() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let mut server = Server::start(&bench, dbms, version);
        server.rqps(&bench, &["oltp_point_select", "--table-size=100", "prepare"]);
        let args = ["oltp_point_select", "--table-size=100", "--threads=4", "--time=600", "run"];
        let mut child = server.spawn(&bench, &args);
        let out = await_line(&mut child, "Threads started!");
        kill(server.process(), Signal::SIGKILL).unwrap();
        let (text, code) = end(child, out);
        assert_eq!(code, Some(1), "{text}");
        let told = if server.is_postgres { "PQexec() failed" } else { "returned error 2013" };
        assert!(text.contains(told) && text.contains("`thread_run' function failed"), "{text}");
        server.bury();
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn a_server_that_hangs_is_given_up() {
    for_each_server(|dbms, version| {
        if dbms == "postgres" {
            // It is a process for each connection, of which the one that was found serves none.
            return;
        }
        let bench = Bench::new();
        let mut server = Server::start(&bench, dbms, version);
        server.rqps(&bench, &["oltp_point_select", "--table-size=100", "prepare"]);
        let pid = server.process();
        let args = ["oltp_point_select", "--table-size=100", "--threads=2", "--time=5"];
        let more = ["--forced-shutdown=1", "--report-interval=1", "run"];
        let mut child = server.spawn(&bench, &[&args[..], &more].concat());
        let out = await_line(&mut child, "Threads started!");
        kill(pid, Signal::SIGSTOP).unwrap();
        let (text, code) = end(child, out);
        kill(pid, Signal::SIGCONT).unwrap();
        assert_eq!(code, Some(2), "{text}");
        let unfinished = "Number of unfinished transactions on forced shutdown: 2";
        assert!(text.contains(unfinished), "{text}");
        server.stop();
    });
}

/// Lets its connection be killed by another one, in the middle of an event.
const KILLED: &str = r#"
local n = 0
function thread_init()
  driver = sysbench.sql.driver()
  con = driver:connect()
  plus = con:prepare("SELECT ? + 1")
  four = plus:bind_create(sysbench.sql.type.INT)
  plus:bind_param(four)
end
function event()
  n = n + 1
  if n == 3 then
    local other = driver:connect()
    other:query("KILL " .. con:query_row("SELECT CONNECTION_ID()"))
    other:disconnect()
  end
  four:set(n)
  plus:execute()
  con:query("SELECT 1")
end
"#;

#[test]
#[ignore = "make test-all: real servers"]
fn a_lost_connection_is_made_again_where_its_error_is_ignored() {
    for_each_server(|dbms, version| {
        if dbms == "postgres" {
            return;
        }
        let bench = Bench::new();
        bench.write("killed.lua", KILLED);
        let server = Server::start(&bench, dbms, version);
        let args = ["./killed.lua", "--events=10", "--time=0", "--mysql-ignore-errors=all", "run"];
        let text = server.rqps(&bench, &args);
        assert!(text.contains("number of events:              10\n"), "{text}");
        assert!(text.contains("reconnects:                          1 "), "{text}");
        assert!(text.contains("ignored errors:                      0 "), "{text}");
        server.stop();
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn deadlocks_are_counted_and_survived() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        let server = Server::start(&bench, dbms, version);
        let table = ["oltp_read_write", "--table-size=10", "--rand-type=uniform"];
        server.rqps(&bench, &[&table[..], &["prepare"]].concat());
        let run = ["--threads=16", "--time=0", "--events=100", "--json", "run"];
        let text = server.rqps(&bench, &[&table[..], &run].concat());
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["events"], 100);
        assert!(report["ignored_errors"].as_u64().unwrap() > 0, "{text}");
        assert_eq!(report["reconnects"], 0);
        server.stop();
    });
}

/// Errors that hooks look at: one table's are begun again, the other's end the run.
const HOOKS: &str = r#"
local tables = { "nosuch", "nosuch", "worse" }
local n, n_looked, n_again = 0, 0, 0
local function state_of(err) return err.sql_state == "42S02" or err.sql_state == "42P01" end
function sysbench.hooks.sql_error_ignorable(err)
  assert(state_of(err) and err.connection == con, err.sql_state)
  assert(err.query == "SELECT * FROM " .. tables[n], err.query)
  n_looked = n_looked + 1
  return err.sql_errmsg:match("nosuch") ~= nil
end
function sysbench.hooks.before_restart_event(err)
  assert(state_of(err) and err.sql_errmsg:match("nosuch"), err.sql_errmsg)
  n_again = n_again + 1
end
function thread_init() con = sysbench.sql.driver():connect() end
function event()
  n = n + 1
  if tables[n] ~= sysbench.opt.spared then con:query("SELECT * FROM " .. (tables[n] or "(SELECT 1) t")) end
end
sysbench.cmdline.options = { spared = { "a table that is not asked for", "" } }
function thread_done() print("looked at " .. n_looked .. ", again " .. n_again) end
"#;

#[test]
#[ignore = "make test-all: real servers"]
fn hooks_decide_which_errors_begin_an_event_again() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write("hooks.lua", HOOKS);
        let server = Server::start(&bench, dbms, version);
        let args = ["./hooks.lua", "--events=5", "--time=0", "--spared=worse", "run"];
        let text = server.rqps(&bench, &args);
        assert!(text.contains("number of events:              5\n"), "{text}");
        assert!(text.contains("looked at 2, again 2\n"), "{text}");
        assert!(text.contains("ignored errors:                      2 "), "{text}");
        let mut refused = server.spawn(&bench, &["./hooks.lua", "--events=5", "--time=0", "run"]);
        let out = refused.stdout.take().unwrap();
        let (text, code) = end(refused, out);
        assert_eq!(code, Some(1), "{text}");
        assert!(text.contains("./hooks.lua:18: SQL error"), "{text}");
        server.stop();
    });
}

#[test]
#[ignore = "make test-all: real servers"]
fn connections_take_servers_in_turn() {
    for_each_server(|dbms, version| {
        if dbms == "postgres" {
            return;
        }
        let bench = Bench::new();
        bench.write(
            "where.lua",
            "function thread_init() con = sysbench.sql.driver():connect() end\n\
             function event() con:query('SELECT 1') end\n\
             function thread_done() print('at ' .. con:query_row('SELECT @@socket')) end\n",
        );
        let servers = [(); 2].map(|()| Server::start(&bench, dbms, version));
        let sockets =
            servers.each_ref().map(|s| s.options[0].split_once('=').unwrap().1.to_owned());
        let both = format!("--mysql-socket={}", sockets.join(","));
        let args = ["./where.lua", &both, "--threads=4", "--events=40", "--time=0", "run"];
        let text = servers[0].rqps(&bench, &args);
        for socket in &sockets {
            assert_eq!(text.matches(&format!("at {socket}\n")).count(), 2, "{text}");
        }
        servers.into_iter().for_each(Server::stop);
    });
}

/// Catches errors, drops connections, and uses what is closed.
const DROPPED: &str = r#"
ffi.cdef("int usleep(unsigned int);")
function event()
  local driver = sysbench.sql.driver()
  local con = driver:connect()
  for _ = 1, 3 do assert(not pcall(con.query, con, "SELECT * FROM nosuch")) end
  for _ = 1, 50 do driver:connect() end
  collectgarbage()
  collectgarbage()
  local count = driver:name() == "mysql" and "SELECT COUNT(*) FROM information_schema.processlist"
    or "SELECT COUNT(*) FROM pg_stat_activity WHERE usename = 'sbtest'"
  local function n_connections() return tonumber((con:query_row(count))) end
  -- Servers see the end of a connection some time later.
  for _ = 1, 1000 do
    if n_connections() < 20 then break end
    ffi.C.usleep(10000)
  end
  assert(n_connections() < 20, "dropped connections stay open")
  local statement = con:prepare("SELECT 1")
  con:disconnect()
  local other = driver:connect()
  local two = other:prepare("SELECT 2")
  assert(not pcall(con.query, con, "SELECT 1"), "a closed connection is another one")
  assert(not pcall(statement.execute, statement), "a closed connection's statement is another one")
  two:close()
  assert(not pcall(two.execute, two), "a closed statement is executed")
  return true
end
"#;

#[test]
#[ignore = "make test-all: real servers"]
fn what_scripts_catch_counts_and_what_they_drop_is_closed() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write("dropped.lua", DROPPED);
        let server = Server::start(&bench, dbms, version);
        let text = server.rqps(&bench, &["./dropped.lua", "--json", "run"]);
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(report["ignored_errors"], 3, "{text}");
        server.stop();
    });
}

/// A result of 300 MB, of which nothing is fetched, and its connection afterwards.
const LONG: &str = r#"
local n = 150
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE n(i INT PRIMARY KEY)")
  con:bulk_insert_init("INSERT INTO n VALUES")
  for i = 1, n do con:bulk_insert_next("(" .. i .. ")") end
  con:bulk_insert_done()
end
function event()
  local con = sysbench.sql.driver():connect()
  local rs = con:query("SELECT REPEAT('x', 100) FROM n a, n b, n c")
  assert(rs.nrows == n ^ 3, rs.nrows)
  local ok, why = pcall(function() local row = rs:fetch_row() end)
  assert(not ok and why:match("long.lua:%d+: .* longer than 32 MiB"), why)
  assert(con:query_row("SELECT 7") == "7")
  for line in io.lines("/proc/self/status") do
    local kb = line:match("VmHWM:%s+(%d+)")
    if kb then print("peak " .. math.floor(kb / 1024)) end
  end
  return true
end
"#;

#[test]
#[ignore = "make test-all: real servers"]
fn a_long_result_takes_little_memory() {
    for_each_server(|dbms, version| {
        let bench = Bench::new();
        bench.write("long.lua", LONG);
        let server = Server::start(&bench, dbms, version);
        server.rqps(&bench, &["./long.lua", "prepare"]);
        let text = server.rqps(&bench, &["./long.lua", "run"]);
        let peak = text.lines().find_map(|line| line.strip_prefix("peak ")).unwrap();
        assert!(peak.parse::<u64>().unwrap() < 150, "{peak} MiB of a result of 320 MiB");
        server.stop();
    });
}
