//! `rqps sysbench` in place of sysbench where no server is needed: what scripts find, how options are read, what hooks
//! print. Each script runs by the real sysbench, too, where that is installed, and prints the same.

use std::process::Command;

use crate::bench::Bench;
use crate::sysbench_sandbox::has_sysbench;

/// A script with its arguments, and what it prints.
struct Case {
    script: &'static str,
    args: &'static str,
    expected: &'static str,
}

const fn case(script: &'static str, args: &'static str, expected: &'static str) -> Case {
    Case { script, args, expected }
}

/// Runs a case by rqps and, where it is installed, by the real sysbench.
fn assert_same(case: &Case) {
    let Case { script, args, expected } = case;
    let bench = Bench::new();
    bench.write("case.lua", script);
    let mut all = vec!["sysbench", "./case.lua", "--verbosity=1"];
    all.extend(args.split_whitespace());
    let said = bench.run(&all);
    assert_eq!(said.stdout, *expected, "{script}\n{args}\n{}", said.stderr);
    if has_sysbench() {
        let mut command = Command::new("sysbench");
        let theirs = command.current_dir(bench.dir()).args(&all[1..]).output().unwrap();
        assert_eq!(String::from_utf8(theirs.stdout).unwrap(), *expected, "sysbench: {script}");
        assert_eq!(Some(said.code()), theirs.status.code(), "{script}\n{args}");
    }
}

#[test]
fn types_and_constants_of_sysbench_are_known_to_the_ffi() {
    for case in [
        case(
            "local ffi = require('ffi')\nffi.cdef[[ void sb_counter_inc(int, sb_counter_type); ]]\n\
             function event()\n  ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)\n  return true\nend\n\
             sysbench.hooks.report_cumulative = function(stat) print(stat.errors) end\n",
            "run",
            "1\n",
        ),
        case(
            "function event() end\nfunction prepare()\n  for _, name in ipairs { 'SB_CNT_TRX', 'SB_CNT_MAX', \
             'SB_ARG_TYPE_LIST', 'DB_ERROR_FATAL', 'SQL_TYPE_VARCHAR' } do\n    print(name, tonumber(ffi.C[name]))\n  \
             end\nend\n",
            "prepare",
            "SB_CNT_TRX\t3\nSB_CNT_MAX\t6\nSB_ARG_TYPE_LIST\t6\nDB_ERROR_FATAL\t2\nSQL_TYPE_VARCHAR\t12\n",
        ),
        case(
            "function event() end\nfunction prepare()\n  for _, name in ipairs { 'sb_counter_type', 'sb_arg_t', \
             'sql_driver', 'sql_result', 'sql_bind_type_t', 'sb_histogram_t' } do assert(ffi.typeof(name)) end\n  \
             print(ffi.sizeof('sql_error_t'))\nend\n",
            "prepare",
            "4\n",
        ),
    ] {
        assert_same(&case);
    }
}

#[test]
fn functions_behind_the_api_are_refused_by_name() {
    let bench = Bench::new();
    bench.write("inner.lua", "function event() ffi.C.db_fetch_row(nil) end\n");
    let said = bench.run(&["sysbench", "./inner.lua", "run"]);
    let words =
        "./inner.lua:1: ffi.C.db_fetch_row is internal to sysbench: use the table sysbench\n";
    assert!(said.stdout.contains(words), "{}", said.stdout);
}

#[test]
fn options_are_globals_of_scripts_that_declare_none() {
    let show = "function event()\n  print(threads, batch, time, json, type(debug), sysbench.opt.threads)\n  \
                return true\nend\n";
    let declared = "sysbench.cmdline.options = { batch = { 'rows', 5 } }\n";
    let none = "sysbench.cmdline.options = {}\n";
    let own = "threads, json = 8, 'mine'\nassert(batch == nil and time == nil)\n";
    let all: [(&str, &str, &str); 5] = [
        ("", "--batch=7 run", "1\t7\t10\tnil\tboolean\t1\n"),
        (declared, "--batch=7 run", "nil\tnil\tnil\tnil\ttable\t1\n"),
        (none, "run", "nil\tnil\tnil\tnil\ttable\t1\n"),
        // They are set after the script's body.
        (own, "--batch=7 run", "1\t7\t10\tmine\tboolean\t1\n"),
        (
            "sysbench.cmdline.options = { a = { 'x', 1 } }\nthreads = 8\n",
            "run",
            "8\tnil\tnil\tnil\ttable\t1\n",
        ),
    ];
    for (head, args, expected) in all {
        let script: &'static str = format!("{head}{show}").leak();
        assert_same(&case(script, args, expected));
    }
}

#[test]
fn functions_of_0_5_give_back_what_they_gave() {
    let script = "function event()\n  local function n(...) return select('#', ...) end\n  \
                  print(n(db_connect()), n(db_query('SELECT 1')), n(db_query('UPDATE t SET a = 1')))\n  \
                  print(n(db_bulk_insert_init('INSERT INTO t VALUES')), n(db_bulk_insert_next('(1)')), \
                  n(db_bulk_insert_done()))\n  print(n(db_disconnect()))\n  return true\nend\n";
    assert_same(&case(script, "--mysql-dry-run run", "0\t0\t0\n0\t0\t0\n0\n"));
}

#[test]
fn rows_outside_a_bulk_insert_are_an_error() {
    let head = "function event() end\nfunction prepare()\n  local c = sysbench.sql.driver():connect()\n  \
                local function next() print(pcall(c.bulk_insert_next, c, '(1)')) end\n";
    let alert = "ALERT: attempt to call bulk_insert_next() before bulk_insert_init()\n";
    let failed = "false\tdb_bulk_insert_next() failed\n";
    let init = "  c:bulk_insert_init('INSERT INTO t VALUES')\n";
    let done = "  c:bulk_insert_done()\n";
    for body in [
        "  next()\n".to_owned(),
        format!("{init}  c:bulk_insert_next('(1)')\n{done}  next()\n"),
        format!("{init}{done}  next()\n"),
        format!("{done}  next()\n"),
    ] {
        let script: &'static str = format!("{head}{body}end\n").leak();
        let expected: &'static str = format!("{alert}{failed}").leak();
        assert_same(&case(script, "--mysql-dry-run prepare", expected));
    }
}

#[test]
fn options_without_a_value_are_empty() {
    let script = "sysbench.cmdline.options = { name = { 'text', 'abc' }, num = { 'number', 7 }, \
                  list = { 'list', { 'x', 'y' } }, flag = { 'flag', false } }\n\
                  function event() end\nfunction prepare()\n  local o = sysbench.opt\n  \
                  print('[' .. o.name .. ']', o.num, table.concat(o.list, '|'), o.flag, o.rate, o.percentile)\nend\n";
    for (args, expected) in [
        ("prepare", "[abc]\t7\tx|y\tfalse\t0\t95\n"),
        ("--name --num --list prepare", "[]\t0\t\tfalse\t0\t95\n"),
        ("--name= --num= --list= prepare", "[]\t0\t\tfalse\t0\t95\n"),
        ("--flag --rate= --percentile prepare", "[abc]\t7\tx|y\ttrue\t0\t0\n"),
        ("--list=a,,b prepare", "[abc]\t7\ta|b\tfalse\t0\t95\n"),
        ("--list=,a, prepare", "[abc]\t7\ta\tfalse\t0\t95\n"),
    ] {
        assert_same(&case(script, args, expected));
    }
    let bench = Bench::new();
    bench.write("case.lua", script);
    let said = bench.run(&["sysbench", "./case.lua", "--list=a, b", "prepare"]);
    assert!(said.stdout.ends_with("[abc]\t7\ta| b\tfalse\t0\t95\n"), "{}", said.stdout);
}

#[test]
fn reports_as_json_are_documents_of_their_own() {
    let slow = "ffi.cdef('int usleep(unsigned);')\nfunction event() ffi.C.usleep(10000) end\n";
    let both = "sysbench.hooks.report_intermediate = sysbench.report_json\n";
    let end = "sysbench.hooks.report_cumulative = sysbench.report_json\n";
    let twice = "function sysbench.hooks.report_cumulative(stat)\n  sysbench.report_json(stat)\n  \
                 sysbench.report_json(stat)\nend\n";
    let all: [(String, &[&str], &[usize]); 5] = [
        (format!("{slow}{both}{end}"), &["--time=2", "--report-interval=1"], &[2, 1]),
        (format!("{slow}{end}"), &["--events=3"], &[1]),
        (format!("{slow}{end}"), &["--time=2", "--report-checkpoints=1"], &[1, 1]),
        (format!("{slow}{twice}"), &["--events=3"], &[2]),
        (
            format!("{slow}{both}sysbench.hooks.report_cumulative = function() end\n"),
            &["--events=3"],
            &[],
        ),
    ];
    for (script, args, lengths) in all {
        let bench = Bench::new();
        bench.write("json.lua", &script);
        let args = [&["sysbench", "./json.lua", "--verbosity=1"], args, &["run"]].concat();
        let said = bench.run(&args);
        let documents = serde_json::Deserializer::from_str(&said.stdout).into_iter();
        let documents: Vec<Vec<serde_json::Value>> = documents
            .collect::<Result<_, _>>()
            .unwrap_or_else(|why| panic!("{why}: {}", said.stdout));
        let seen: Vec<usize> = documents.iter().map(Vec::len).collect();
        assert_eq!(seen, lengths, "{args:?}: {}", said.stdout);
    }
}

#[test]
fn modules_in_c_and_rocks_of_the_user_are_found() {
    let bench = Bench::new();
    // What a module in C needs of Lua's own header.
    let source = "typedef struct lua_State lua_State;\nint lua_gettop(lua_State *);\n\
                  void lua_pushinteger(lua_State *, long);\nlong luaL_checkinteger(lua_State *, int);\n\
                  int luaopen_twice(lua_State *state);\nstatic int unused;\n\
                  int luaopen_twice(lua_State *state) {\n  (void)unused;\n  \
                  lua_pushinteger(state, 2 * lua_gettop(state));\n  return 1;\n}\n";
    let rocks = bench.path(".luarocks/lib/lua/5.1");
    let modules = bench.path(".luarocks/share/lua/5.1");
    std::fs::create_dir_all(&rocks).unwrap();
    std::fs::create_dir_all(modules.join("kit")).unwrap();
    bench.write("twice.c", source);
    let library = rocks.join("twice.so");
    let mut cc = Command::new("cc");
    let built = cc.current_dir(bench.dir()).args(["-shared", "-fPIC", "-o"]).arg(&library);
    assert!(built.arg("twice.c").status().unwrap().success());
    std::fs::write(modules.join("kit/init.lua"), "return { name = 'kit' }\n").unwrap();
    std::fs::write(
        modules.join("rock.lua"),
        "print(require('twice'), require('kit').name)\nfunction event() end\n",
    )
    .unwrap();
    let run = |args: &[&str]| {
        let mut command = bench.command(&[&["sysbench", "--verbosity=1"], args].concat());
        let output = command.env("HOME", bench.dir()).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run(&["rock"]), "2\tkit\n");
    bench.write("own.lua", "print(require('twice'), require('kit').name)\n");
    assert_eq!(run(&["./own.lua"]), "2\tkit\n");
    let paths =
        "print(package.cpath:find('./?.so', 1, true), package.path:find('./?.lua', 1, true))\n";
    bench.write("paths.lua", paths);
    assert_eq!(run(&["./paths.lua"]), "1\t1\t7\n");
}

#[test]
fn a_missing_oltp_common_is_told_in_one_line() {
    let bench = Bench::new();
    // A host without the package sysbench has no such folder.
    let script = "package.path = './?.lua'\nrequire('oltp_common')\nfunction event() end\n";
    bench.write("public.lua", script);
    let said = bench.run(&["sysbench", "./public.lua", "run"]);
    let told = said.stdout.lines().last().unwrap();
    assert!(told.starts_with("FATAL: ./public.lua:2: oltp_common.lua is a file of"), "{told}");
    assert!(told.contains("install sysbench"), "{told}");
}

#[test]
fn a_link_named_sysbench_runs_scripts_by_their_first_line() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let bench = Bench::new();
    let link = bench.path("sysbench");
    symlink(bench.command(&[]).get_program(), &link).unwrap();
    bench.write(
        "own.lua",
        "#!/usr/bin/env sysbench\nfunction event() end\nfunction prepare() print('own') end\n",
    );
    let script = bench.path("own.lua");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(&script);
    let path = format!("{}:/usr/bin:/bin", bench.dir().display());
    let output = command.env("PATH", path).args(["--verbosity=1", "prepare"]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "own\n");
}

#[test]
fn bulk_insert_takes_the_options_of_every_test() {
    let bench = Bench::new();
    let args = ["sysbench", "bulk_insert", "--mysql-dry-run", "--partition-size=5", "--tables=3"];
    for (command, code) in [("prepare", 0), ("cleanup", 0), ("help", 1)] {
        let said = bench.run(&[&args[..], &["--reconnect=2", command]].concat());
        assert_eq!(said.code(), code, "{command}: {}{}", said.stdout, said.stderr);
        let told = "'bulk_insert' test does not implement the 'help' command.\n";
        assert_eq!(said.stderr, if code == 0 { "" } else { told });
    }
    let said = bench.run(&[&args[..], &["--events=5", "run"]].concat());
    assert!(said.stdout.contains("number of events:              5\n"), "{}", said.stdout);
    let said = bench.run(&["sysbench", "oltp_read_only", "--partition-size=5", "prepare"]);
    assert_eq!(said.stderr, "invalid option: --partition-size=5\n");
}

#[test]
fn details_are_those_of_sysbench() {
    let help = "sysbench.cmdline.options = { a = { 'none' }, b = { 'empty', '' }, c = { 'list', {} }, \
                d = { 'number', 0.25 } }\nfunction event() end\n\
                function prepare() sysbench.cmdline.print_test_options() end\n";
    let shown = "  --a=STRING     none\n  --b=STRING     empty []\n  --c=[LIST,...] list []\n  --d=N          \
                 number [0.25]\n\n";
    let show = "function event() end\nfunction prepare()\n  ";
    for case in [
        case(help, "prepare", shown),
        case(
            "function event() end\nfunction prepare() print(sysbench.cmdline.argv[0], sysbench.cmdline.argv[1]) end\n",
            "prepare",
            "sysbench\t./case.lua\n",
        ),
        case(
            "function event() end\nfunction prepare() end\n",
            "--max-requests=5 --max-time=0 --num-threads=1 prepare",
            "WARNING: --max-requests is deprecated, use --events instead\n",
        ),
        case(
            "function event() end\nfunction prepare() end\n",
            "--time= prepare",
            "WARNING: Both event and time limits are disabled, running an endless test\n",
        ),
    ] {
        assert_same(&case);
    }
    for (body, told) in [
        ("sb_rand(1, 'x')", "bad argument #2"),
        (
            "sysbench.sql.driver():connect():prepare('?'):bind_create(8)",
            "Unsupported argument type: 8",
        ),
        (
            "sysbench.sql.driver():connect():prepare('?'):bind_create(4):set_rand_str('#')",
            "Unsupported argument type: 4",
        ),
    ] {
        let bench = Bench::new();
        bench.write("wrong.lua", &format!("{show}{body}\nend\n"));
        let said = bench.run(&["sysbench", "./wrong.lua", "--mysql-dry-run", "prepare"]);
        assert!(said.stdout.contains(told), "{body}: {}", said.stdout);
    }
    for (declared, told) in [
        ("{ {} }", "wrong table structure in sysbench.cmdline.options"),
        ("{ a = 'x' }", "wrong table structure in sysbench.cmdline.options"),
        ("{ a = {} }", "nil description for option a"),
        ("'x'", "wrong type for sysbench.cmdline.options: string"),
    ] {
        let bench = Bench::new();
        bench.write("wrong.lua", &format!("sysbench.cmdline.options = {declared}\n{show}\nend\n"));
        let said = bench.run(&["sysbench", "./wrong.lua", "prepare"]);
        assert_eq!(said.code(), 1);
        assert!(said.stdout.contains(told), "{declared}: {}", said.stdout);
    }
}

#[test]
fn functions_keep_their_names_and_get_no_number_on_the_main_thread() {
    let script = "local function show(name)\n  return function(...) print(name, select('#', ...)) end\nend\n\
                  prepare, help, init, done = show('prepare'), show('help'), show('init'), show('done')\n\
                  thread_init, thread_done = show('thread_init'), show('thread_done')\n\
                  function event() return true end\n";
    for (command, expected) in [
        ("prepare", "prepare\t0\n"),
        // Not the option of that name, though it is a global.
        ("help", "help\t0\n"),
        // A driver can be made before options are known.
        ("run", "init\t0\nthread_init\t1\nthread_done\t1\ndone\t0\n"),
    ] {
        let hook = "assert(sysbench.sql.driver():name() == 'mysql')\n\
                    sysbench.hooks.report_cumulative = function() end\n";
        let script: &'static str = format!("{script}{hook}").leak();
        assert_same(&case(script, command, expected));
    }
}

#[test]
fn declarations_that_cannot_be_read_are_refused_as_in_sysbench() {
    let bench = Bench::new();
    for (declared, why) in [
        ("{{}}", "wrong table structure in sysbench.cmdline.options"),
        ("{ x = 1 }", "wrong table structure in sysbench.cmdline.options"),
        ("{ x = {} }", "nil description for option x"),
        ("5", "wrong type for sysbench.cmdline.options: number"),
    ] {
        bench.write("case.lua", &format!("sysbench.cmdline.options = {declared}\n"));
        let said = bench.run(&["sysbench", "./case.lua", "help"]);
        assert_eq!(said.code(), 1, "{}", said.stdout);
        let head = "FATAL: `sysbench.cmdline.read_cmdline_options' function failed: [string \"sysbench.cmdline.lua\"]:";
        let line = said.stdout.lines().find(|line| line.starts_with(head)).unwrap();
        assert!(line.ends_with(&format!(": {why}")), "{line}");
    }
}
