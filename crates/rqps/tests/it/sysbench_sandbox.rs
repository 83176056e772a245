//! What tests of `rqps sysbench` stand on: a server with an empty database and a user `sbtest`, commands
//! of rqps and of the real sysbench on it, and what it counts.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use nix::unistd::Pid;

use crate::bench::Bench;
use rqps_client::{Address, AnyConnection, Connection, Endpoint, Password, Tls};
use rqps_model::Dbms;

/// A server with an empty database and a user `sbtest`.
pub(crate) struct Server {
    shell: Child,
    input: Option<ChildStdin>,
    pub(crate) is_postgres: bool,
    /// The options that lead there.
    pub(crate) options: Vec<String>,
    pub(crate) admin: Box<dyn Connection>,
}

impl Server {
    pub(crate) fn start(bench: &Bench, dbms: &str, version: &str) -> Self {
        let system = format!("{dbms}@{version}");
        let mut command = bench.command(&["servers", "shell", &system]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut shell = command.spawn().unwrap();
        let mut input = shell.stdin.take().unwrap();
        let is_postgres = dbms == "postgres";
        let setup: &[&str] = if is_postgres {
            &[
                "CREATE ROLE sbtest SUPERUSER LOGIN PASSWORD 'pw';",
                "CREATE DATABASE sbtest OWNER sbtest;",
                "SELECT 'at=' || current_setting('unix_socket_directories') || '/.s.PGSQL.' \
                 || current_setting('port') AS place;",
            ]
        } else {
            &[
                "CREATE USER sbtest@localhost IDENTIFIED BY 'pw';",
                "GRANT ALL ON *.* TO sbtest@localhost;",
                "CREATE DATABASE sbtest;",
                "SELECT CONCAT('at=', @@socket) AS place;",
            ]
        };
        for statement in setup {
            writeln!(input, "{statement}").unwrap();
        }
        let mut lines = BufReader::new(shell.stdout.take().unwrap()).lines();
        let socket = loop {
            let line = lines.next().expect("the server's socket").unwrap();
            if let Some((_, path)) = line.split_once("at=") {
                break PathBuf::from(path.trim().trim_end_matches('|').trim());
            }
        };
        std::thread::spawn(move || lines.count());
        let options = if is_postgres {
            let name = socket.file_name().unwrap().to_str().unwrap();
            let port = name.rsplit('.').next().unwrap();
            vec![
                "--db-driver=pgsql".to_owned(),
                format!("--pgsql-host={}", socket.parent().unwrap().display()),
                format!("--pgsql-port={port}"),
                "--pgsql-password=pw".to_owned(),
            ]
        } else {
            vec![format!("--mysql-socket={}", socket.display()), "--mysql-password=pw".to_owned()]
        };
        let endpoint = Endpoint {
            address: Address::Unix(socket),
            tls: Tls::Off,
            user: "sbtest".to_owned(),
            password: Password("pw".to_owned()),
            server_public_key: None,
            database: "sbtest".to_owned(),
            on_login: None,
            startup: rqps_client::Startup::default(),
            connect_timeout: std::time::Duration::from_secs(60),
        };
        let dbms = if is_postgres { Dbms::Postgres } else { Dbms::Mysql };
        let admin: Box<dyn Connection> = Box::new(AnyConnection::open(dbms, &endpoint).unwrap());
        Self { shell, input: Some(input), is_postgres, options, admin }
    }

    /// The server's process.
    pub(crate) fn process(&mut self) -> Pid {
        let asked = if self.is_postgres {
            "SELECT current_setting('data_directory') || '/postmaster.pid'"
        } else {
            "SELECT @@pid_file"
        };
        let path = self.admin.query(asked).unwrap().scalar().unwrap().to_owned();
        let text = std::fs::read_to_string(path).unwrap();
        Pid::from_raw(text.lines().next().unwrap().trim().parse().unwrap())
    }

    /// A command of rqps with this server's options, under way; its standard output is read by the caller.
    pub(crate) fn spawn(&self, bench: &Bench, args: &[&str]) -> Child {
        let mut command = bench.command(&["sysbench"]);
        command.args(&self.options).args(args).stdout(Stdio::piped()).stderr(Stdio::inherit());
        command.spawn().unwrap()
    }

    /// A command of rqps with this server's options.
    pub(crate) fn rqps(&self, bench: &Bench, args: &[&str]) -> String {
        let mut command = bench.command(&["sysbench"]);
        command.args(&self.options).args(args);
        output(&mut command)
    }

    /// The same command of the real sysbench.
    pub(crate) fn real(&self, bench: &Bench, args: &[&str]) -> String {
        let mut command = Command::new("sysbench");
        command.current_dir(bench.dir()).stdin(Stdio::null()).args(&self.options).args(args);
        output(&mut command)
    }

    pub(crate) fn number(&mut self, sql: &str) -> u64 {
        self.admin.query(sql).unwrap().scalar().unwrap().parse().unwrap()
    }

    /// Columns and rows of a table, without the content of columns.
    pub(crate) fn shape(&mut self, table: &str) -> String {
        let columns = format!(
            "SELECT column_name, data_type, character_maximum_length, is_nullable, column_default \
             FROM information_schema.columns \
             WHERE table_name = '{table}' AND table_schema IN ('sbtest', 'public') \
             ORDER BY ordinal_position"
        );
        let columns = self.admin.query(&columns).unwrap().rows;
        let indexes = if self.is_postgres {
            format!("SELECT indexdef FROM pg_indexes WHERE tablename = '{table}' ORDER BY 1")
        } else {
            format!(
                "SELECT index_name, column_name, non_unique FROM information_schema.statistics \
                 WHERE table_schema = 'sbtest' AND table_name = '{table}' ORDER BY 1, 2"
            )
        };
        let indexes = self.admin.query(&indexes).unwrap().rows;
        let rows = self.number(&format!("SELECT COUNT(*) FROM {table}"));
        format!("{columns:?}\n{indexes:?}\n{rows} rows")
    }

    /// Statements by kind, as the server has counted them.
    fn counters(&mut self) -> BTreeMap<String, i64> {
        let sql = if self.is_postgres {
            // Whether a read scans an index or the table is the planner's choice.
            "SELECT 'inserted', SUM(n_tup_ins) FROM pg_stat_user_tables \
             UNION ALL SELECT 'updated', SUM(n_tup_upd) FROM pg_stat_user_tables \
             UNION ALL SELECT 'deleted', SUM(n_tup_del) FROM pg_stat_user_tables \
             UNION ALL SELECT 'scans', SUM(COALESCE(idx_scan, 0) + seq_scan) \
             FROM pg_stat_user_tables"
        } else {
            "SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select', 'Com_insert', 'Com_update', \
             'Com_delete', 'Com_begin', 'Com_commit', 'Com_stmt_execute')"
        };
        let rows = self.admin.query(sql).unwrap().rows;
        let number = |value: &Option<String>| value.as_deref().unwrap_or("0").parse().unwrap();
        rows.iter().map(|row| (row[0].clone().unwrap(), number(&row[1]))).collect()
    }

    /// What a run adds to the counters; PostgreSQL's are waited for until they stand still.
    pub(crate) fn counted(
        &mut self,
        run: impl FnOnce(&Self) -> String,
    ) -> (BTreeMap<String, i64>, String) {
        let before = self.settled_counters();
        let text = run(self);
        let mut after = self.settled_counters();
        for (name, n) in &mut after {
            *n -= before.get(name).copied().unwrap_or(0);
        }
        (after, text)
    }

    #[expect(clippy::disallowed_methods, reason = "the server tells its counters late")]
    fn settled_counters(&mut self) -> BTreeMap<String, i64> {
        let mut last = self.counters();
        // A session sends its statistics, this one's too, at the end of a statement and only every
        // 500 ms: what the first of these statements sends, the third one sees.
        let mut n_alike = if self.is_postgres { 0 } else { 2 };
        while n_alike < 2 {
            std::thread::sleep(std::time::Duration::from_millis(600));
            let now = self.counters();
            n_alike = if now == last { n_alike + 1 } else { 0 };
            last = now;
        }
        last
    }

    pub(crate) fn stop(mut self) {
        drop(self.input.take());
        assert!(self.shell.wait().unwrap().success());
    }

    /// Ends what is left of a server that was killed.
    pub(crate) fn bury(mut self) {
        drop(self.input.take());
        let _ = self.shell.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The end of its input ends the shell, which stops the server.
        drop(self.input.take());
        let _ = self.shell.wait();
    }
}

pub(crate) fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {text}{stderr}");
    text
}

/// Whether the real sysbench is here; says so when it is not.
pub(crate) fn has_sysbench() -> bool {
    let has = Path::new("/usr/share/sysbench/oltp_common.lua").exists();
    if !has {
        #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
        let must_run = std::env::var_os("RQPS_CI").is_some();
        assert!(!must_run, "sysbench is not installed: run scripts/setup --for-tests");
        eprintln!("skipped: Debian's package sysbench is not installed, nothing to run beside");
    }
    has
}
