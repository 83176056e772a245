//! Runs on a server of somebody else's, given by its address: the owner's tables, settings and logs stay as they
//! are, whatever becomes of rqps.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::bench::{Bench, DEADLINE, Said, assert_complete, pause, pause_for};
use crate::sysbench_sandbox::Server;

/// The two servers.
pub(crate) const SERVERS: [(&str, &str); 2] = [("mariadb", "10.2.11"), ("postgres", "17.4")];

/// Moments of a run, s: while it enters, loads, measures, leaves.
const MOMENTS: [f64; 4] = [0.1, 0.6, 1.5, 3.0];

/// A server with tables of its owner's in the database of the address, some of them of rqps's names.
pub(crate) struct Host {
    pub(crate) server: Server,
    pub(crate) bench: Bench,
    /// How rqps reaches it.
    pub(crate) address: String,
}

impl Host {
    pub(crate) fn new(dbms: &str, version: &str) -> Self {
        let bench = Bench::new();
        let mut server = Server::start(&bench, dbms, version);
        for sql in [
            "CREATE TABLE sbtest1 (id int primary key, v varchar(20))",
            "INSERT INTO sbtest1 VALUES (1, 'theirs'), (2, 'too')",
            "CREATE TABLE orders (id int primary key, v varchar(20))",
            "INSERT INTO orders VALUES (1, 'theirs'), (3, 'too')",
        ] {
            server.admin.query(sql).unwrap();
        }
        let (scheme, socket) = if server.is_postgres {
            let place = "SELECT current_setting('unix_socket_directories') || '/.s.PGSQL.' \
                         || current_setting('port')";
            ("postgres", server.admin.query(place).unwrap())
        } else {
            for sql in ["SET GLOBAL userstat = 1", "SET GLOBAL log_output = 'TABLE'"] {
                server.admin.query(sql).unwrap();
            }
            server.admin.query("SET GLOBAL general_log = 1").unwrap();
            // What the server itself says decides, not the scheme.
            ("mysql", server.admin.query("SELECT @@socket").unwrap())
        };
        let socket = socket.scalar().unwrap();
        let address = format!("{scheme}://sbtest@/sbtest?socket={socket}&password_env=PW");
        Self { server, bench, address }
    }

    /// A plan for it with these lines in its system.
    pub(crate) fn write_plan(&self, lines: &str) {
        self.bench.write(
            "plan.toml",
            &format!(
                "name = 'guest'\n[[system]]\ndsn = '{}'\nlabel = 'a'\n{lines}\n\
                 [[suite]]\nrows = 2000\nclients = [1]\n\
                 steps = ['point-query', 'update-index', 'insert']\n\
                 [suite.seconds]\nread = 0.3\nwrite = 0.3\ninsert = 0.3\nwarm_up = 0.05\n\
                 fixed_at_most = 0.3\n[schedule]\nslices = 2\n",
                self.address
            ),
        );
    }

    /// A plan after whose steps there is no history that purge would wait for; gives its text.
    fn write_plan_without_updates(&self) -> String {
        self.write_plan("");
        let plan = std::fs::read_to_string(self.bench.path("plan.toml")).unwrap();
        let plan = plan.replace("'update-index'", "'range-covered-pk'");
        self.bench.write("plan.toml", &plan);
        plan
    }

    pub(crate) fn run(&self, more: &[&str]) -> Said {
        let args = [&["run", "plan.toml", "--no-html"], more].concat();
        self.bench.run_with(&args, &[("PW", "pw")])
    }

    /// The owner's tables and the server's settings.
    fn owned(&mut self) -> Vec<String> {
        let mut texts = Vec::new();
        let settings = if self.server.is_postgres {
            "SELECT name, reset_val FROM pg_settings ORDER BY 1"
        } else {
            "SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE 'gtid%' \
             AND Variable_name NOT LIKE 'timestamp%'"
        };
        for sql in ["SELECT * FROM sbtest1 ORDER BY 1", "SELECT * FROM orders ORDER BY 1", settings]
        {
            texts.push(format!("{:?}", self.server.admin.query(sql).unwrap().rows));
        }
        texts
    }

    /// How often the owner's tables were used, as the server counts it.
    fn uses(&mut self) -> BTreeMap<String, String> {
        let sql = if self.server.is_postgres {
            // What this test itself did is counted within a second, by then or not.
            self.server.admin.query("SELECT pg_stat_force_next_flush()").unwrap();
            "SELECT relname, concat_ws(' ', seq_scan, idx_scan, n_tup_ins, n_tup_upd, n_tup_del, \
             vacuum_count, analyze_count) FROM pg_stat_user_tables WHERE schemaname = 'public'"
        } else {
            "SELECT table_name, concat_ws(' ', rows_read, rows_changed) \
             FROM information_schema.table_statistics WHERE table_schema = 'sbtest'"
        };
        let rows = self.server.admin.query(sql).unwrap().rows;
        let pair = |row: Vec<Option<String>>| {
            let mut texts = row.into_iter().map(Option::unwrap_or_default);
            Some((texts.next()?, texts.next()?))
        };
        rows.into_iter().filter_map(pair).collect()
    }

    /// The schemas whose names are like rqps's.
    pub(crate) fn schemas(&mut self) -> Vec<String> {
        let sql = if self.server.is_postgres {
            "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rqps\\_%'"
        } else {
            "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'rqps\\_%'"
        };
        let rows = self.server.admin.query(sql).unwrap().rows;
        rows.into_iter().flatten().flatten().collect()
    }

    /// Ends the session that holds the lock on a schema; false where none does.
    fn kill_holder(&mut self) -> bool {
        if self.server.is_postgres {
            let sql = "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'";
            return self.server.admin.query(sql).unwrap().scalar().is_some();
        }
        let Some(schema) = self.schemas().pop() else { return false };
        let holder = format!("SELECT is_used_lock('{schema}')");
        let Some(id) = self.server.admin.query(&holder).unwrap().scalar().map(str::to_owned) else {
            return false;
        };
        self.server.admin.query(&format!("KILL {id}")).is_ok()
    }

    /// Statements that change a whole server, of the user of the address but this test's own connection.
    fn changes(&mut self) -> Vec<String> {
        if self.server.is_postgres {
            return Vec::new();
        }
        let sql = "SELECT argument FROM mysql.general_log WHERE thread_id <> connection_id() AND \
                   command_type = 'Query' AND user_host LIKE 'sbtest%' AND argument RLIKE \
                   '^ *(SET GLOBAL|RESET|PURGE|FLUSH|TRUNCATE|ALTER)'";
        self.server.admin.query(sql).unwrap().rows.into_iter().flatten().flatten().collect()
    }
}

#[test]
fn a_run_by_address_leaves_everything_as_it_was() {
    for (dbms, version) in SERVERS {
        let mut host = Host::new(dbms, version);
        host.write_plan(
            "sql_after_load = ['CREATE INDEX i ON sbtest1 (pad)', 'UPDATE sbtest1 SET k = k + 1']",
        );
        let (owned, uses) = (host.owned(), host.uses());
        let said = host.run(&[]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        let run = host.bench.latest();
        assert_complete(&run, 2);
        assert_eq!(run["systems"][0]["spec"]["dbms"], dbms);
        let is_named = said.stderr.contains("names MySQL, but the server says that it is MariaDB");
        assert_eq!(is_named, dbms == "mariadb", "{}", said.stderr);
        assert_eq!(host.uses(), uses, "{dbms}");
        assert_eq!(host.owned(), owned, "{dbms}");
        assert_eq!(host.schemas(), Vec::<String>::new());
        assert_eq!(host.changes(), Vec::<String>::new());
    }
}

#[test]
fn settings_are_changed_by_consent_and_restored() {
    let mut host = Host::new("mariadb", "10.2.11");
    host.write_plan("");
    let owned = host.owned();
    let said = host.run(&["--allow-settings"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    let changes = host.changes();
    assert!(changes.iter().any(|sql| sql.starts_with("SET GLOBAL innodb_")), "{changes:?}");
    assert!(!changes.iter().any(|sql| sql.starts_with("RESET")), "{changes:?}");
    assert_eq!(host.owned(), owned);
}

#[test]
fn settings_that_a_killed_rqps_had_changed_are_restored_by_the_next() {
    let mut host = Host::new("mariadb", "10.2.11");
    host.write_plan_without_updates();
    let owned = host.owned();
    let capacity = "SELECT @@global.innodb_io_capacity";
    let theirs = host.server.admin.query(capacity).unwrap().scalar().unwrap().to_owned();
    // Purge stands still, so settling takes seconds.
    host.server.admin.query("START TRANSACTION WITH CONSISTENT SNAPSHOT").unwrap();
    let args = ["run", "plan.toml", "--no-html", "--allow-settings"];
    let mut command = host.bench.command(&args);
    let mut child = command.env("PW", "pw").stderr(std::process::Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    while host.server.admin.query(capacity).unwrap().scalar() != Some("20000") {
        assert!(since.elapsed() < DEADLINE, "it does not settle");
        pause();
    }
    let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
    nix::sys::signal::kill(pid, Signal::SIGKILL).unwrap();
    child.wait().unwrap();
    host.server.admin.query("COMMIT").unwrap();
    assert_ne!(host.owned(), owned, "the killed rqps left them changed");
    host.server.admin.query("SET GLOBAL innodb_io_capacity = 777").unwrap();
    let said = host.run(&["--new"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(said.stderr.contains("left innodb_io_capacity_max changed"), "{}", said.stderr);
    assert_eq!(host.schemas().len(), 1);
    let said = host.run(&["--new", "--allow-settings"]);
    assert_eq!(said.code(), 0, "{}", said.stderr);
    assert!(
        said.stderr.contains("restored settings that the earlier rqps had changed"),
        "{}",
        said.stderr
    );
    // What the owner has set since stays.
    assert_eq!(host.server.admin.query(capacity).unwrap().scalar(), Some("777"));
    host.server.admin.query(&format!("SET GLOBAL innodb_io_capacity = {theirs}")).unwrap();
    assert_eq!(host.owned(), owned);
    assert_eq!(host.schemas(), Vec::<String>::new());
}

#[test]
#[ignore = "make test-all: takes long"]
fn what_a_killed_rqps_left_goes_with_the_next() {
    for (dbms, version) in SERVERS {
        let mut host = Host::new(dbms, version);
        host.write_plan("");
        let owned = host.owned();
        let somebodys = "rqps_00c0ffee";
        host.server.admin.query(&format!("CREATE SCHEMA {somebodys}")).unwrap();
        for moment in MOMENTS {
            let mut command = host.bench.command(&["run", "plan.toml", "--no-html", "--new"]);
            let mut child =
                command.env("PW", "pw").stderr(std::process::Stdio::null()).spawn().unwrap();
            pause_for(Duration::from_secs_f64(moment));
            let pid = nix::unistd::Pid::from_raw(child.id().cast_signed());
            nix::sys::signal::kill(pid, Signal::SIGKILL).unwrap();
            child.wait().unwrap();
            let said = host.run(&[]);
            assert_eq!(said.code(), 0, "{dbms} after {moment} s: {}", said.stderr);
            // One without rqps's marker is somebody's.
            assert_eq!(host.schemas(), [somebodys], "{dbms} after {moment} s");
            assert_eq!(host.owned(), owned, "{dbms} after {moment} s");
        }
    }
}

#[test]
fn what_the_owner_built_on_rqpss_tables_stays() {
    let mut host = Host::new("postgres", "17.4");
    host.write_plan("");
    let mut command = host.bench.command(&["run", "plan.toml", "--no-html"]);
    let mut child = command.env("PW", "pw").stderr(std::process::Stdio::null()).spawn().unwrap();
    let since = Instant::now();
    let schema = loop {
        let sql = "SELECT schemaname FROM pg_tables WHERE tablename = 'sbtest1' AND schemaname LIKE 'rqps%'";
        if let Some(schema) = host.server.admin.query(sql).unwrap().scalar() {
            break schema.to_owned();
        }
        assert!(since.elapsed() < DEADLINE, "it makes no table");
        pause();
    };
    // A partition would go with its table, without a word of CASCADE.
    for sql in [
        format!("CREATE TABLE public.audit (id int, r {schema}.sbtest1)"),
        format!("CREATE TABLE {schema}.parted (id int) PARTITION BY RANGE (id)"),
        format!("CREATE TABLE public.part PARTITION OF {schema}.parted FOR VALUES FROM (1) TO (9)"),
        "INSERT INTO public.part VALUES (1)".to_owned(),
    ] {
        host.server.admin.query(&sql).unwrap();
    }
    child.wait().unwrap();
    let audit = "SELECT count(*) FROM information_schema.columns WHERE table_name = 'audit'";
    assert_eq!(host.server.admin.query(audit).unwrap().scalar(), Some("2"));
    let part = "SELECT count(*) FROM public.part";
    for (by, remedy) in [
        (
            "table public.part depends on",
            "ALTER TABLE ONLY SCHEMA.parted DETACH PARTITION public.part",
        ),
        ("table column public.audit.r depends on", "DROP TABLE public.audit"),
    ] {
        assert_eq!(host.schemas(), std::slice::from_ref(&schema));
        let said = host.run(&["--new"]);
        assert_eq!(said.code(), 0, "{}", said.stderr);
        assert!(said.stderr.contains(by), "{}", said.stderr);
        assert_eq!(host.server.admin.query(part).unwrap().scalar(), Some("1"));
        host.server.admin.query(&remedy.replace("SCHEMA", &schema)).unwrap();
    }
    assert_eq!(host.run(&["--new"]).code(), 0);
    assert_eq!(host.schemas(), Vec::<String>::new());
    assert_eq!(host.server.admin.query(part).unwrap().scalar(), Some("1"));
}

#[test]
fn a_run_whose_session_ends_keeps_its_schema() {
    for (dbms, version) in SERVERS {
        let mut host = Host::new(dbms, version);
        let short = host.write_plan_without_updates();
        host.bench.write("plan.toml", &short.replace("read = 0.3", "read = 1.5"));
        let owned = host.owned();
        let mut running =
            host.bench.spawn_after("export PW=pw", &["run", "plan.toml", "--no-html"]);
        running.await_line("queries/s");
        // Within the next step, which takes seconds: the session that holds the lock waits.
        pause_for(Duration::from_secs(1));
        assert!(host.kill_holder());
        // The other run, which is a short one, finds a schema that nobody has locked.
        host.bench.write("plan.toml", &short);
        let said = host.run(&[]);
        assert_eq!(said.code(), 0, "{dbms}: {}", said.stderr);
        assert!(!said.stderr.contains("dropped schema"), "{dbms}: {}", said.stderr);
        let said = running.finish();
        assert_eq!(said.code(), 0, "{dbms}: {}", said.stderr);
        assert_eq!(host.schemas(), Vec::<String>::new());
        assert_eq!(host.owned(), owned, "{dbms}");
    }
}

#[test]
fn statements_that_the_server_tells_to_reach_further_are_refused() {
    for (dbms, version) in SERVERS {
        let mut host = Host::new(dbms, version);
        host.server.admin.query("CREATE SCHEMA extra").unwrap();
        // By the statement alone it is an alias.
        host.write_plan("sql_after_load = ['SELECT extra.id FROM sbtest1 AS extra']");
        let said = host.run(&[]);
        assert_eq!(said.code(), 2, "{}", said.stderr);
        assert!(said.stderr.contains("extra is a schema of the server"), "{}", said.stderr);
        assert_eq!(host.schemas(), Vec::<String>::new());
    }
}

#[test]
fn statements_that_reach_further_are_refused_before_anything_is_made() {
    let mut host = Host::new("postgres", "17.4");
    host.write_plan("sql_after_load = ['DELETE FROM public.orders']");
    let said = host.run(&[]);
    assert_eq!(said.code(), 2, "{}", said.stderr);
    assert!(said.stderr.contains("\"public\" is before a point"), "{}", said.stderr);
    assert_eq!(host.schemas(), Vec::<String>::new());
}
