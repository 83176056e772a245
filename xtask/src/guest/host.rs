//! A server with an owner, whose tables have the names that rqps uses.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use rqps_client::{Address, Connection, Endpoint, Password, Tls};
use rqps_model::Dbms;

/// The password of the user that rqps logs in as, and where it is.
pub(super) const PASSWORD: &str = "pw";
pub(super) const PASSWORD_VARIABLE: &str = "RQPS_GUEST_PASSWORD";

/// Tables of the owner's: two with names that rqps gives.
const TABLES: [&str; 3] = ["sbtest1", "pi1", "orders"];

/// A server that is up until this is dropped.
pub(super) struct Host {
    shell: Child,
    /// The server stops at the end of it.
    input: Option<ChildStdin>,
    owner: Box<dyn Connection>,
    dbms: Dbms,
}

impl Host {
    /// Starts the server, makes the owner's tables, and writes the plan of the runs.
    pub(super) fn start(rqps: &Path, dir: &Path, dbms: Dbms, version: &str) -> Result<Self> {
        let mut shell = Command::new(rqps)
            .args(["servers", "shell", &format!("{dbms}@{version}")])
            .current_dir(dir)
            .env("XDG_CONFIG_HOME", dir.join("config"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("run rqps servers shell")?;
        let mut input = shell.stdin.take().context("no input of the shell")?;
        let output = BufReader::new(shell.stdout.take().context("no output of the shell")?);
        for sql in accounts(dbms) {
            writeln!(input, "{sql};").context("write to the shell")?;
        }
        let mut lines = output.lines();
        let socket = loop {
            let line = lines.next().context("the server did not start")??;
            if let Some((_, path)) = line.split_once("at=") {
                break PathBuf::from(path.trim());
            }
        };
        // The shell is not to wait for a reader.
        std::thread::spawn(move || lines.count());
        let plan = format!(
            "name = 'guest'\n[[system]]\ndsn = '{}://guest@/shop?socket={}&password_env={}'\n\
             [[suite]]\nrows = 20_000\nclients = [2]\ntables = 2\n\
             steps = ['point-query', 'update-index', 'read-write_range=10', 'insert']\n\
             [suite.seconds]\nread = 0.5\nwrite = 0.5\ninsert = 0.5\nwarm_up = 0.1\n\
             fixed_at_most = 0.3\n[schedule]\nslices = 2\n",
            dbms,
            socket.display(),
            PASSWORD_VARIABLE
        );
        std::fs::write(dir.join("plan.toml"), plan).context("write the plan")?;
        let endpoint = Endpoint {
            address: Address::Unix(socket),
            tls: Tls::Off,
            user: "owner".to_owned(),
            password: Password(PASSWORD.to_owned()),
            server_public_key: None,
            database: "shop".to_owned(),
            on_login: None,
            startup: rqps_client::Startup::default(),
            connect_timeout: Duration::from_secs(60),
        };
        let owner = rqps_server::connect(dbms, &endpoint)?;
        let mut host = Self { shell, input: Some(input), owner, dbms };
        for table in TABLES {
            for sql in [
                format!("CREATE TABLE {table} (id int primary key, v varchar(20))"),
                format!("INSERT INTO {table} VALUES (1, 'theirs'), (2, 'too')"),
            ] {
                host.owner.query(&sql).with_context(|| sql.clone())?;
            }
        }
        Ok(host)
    }

    /// The owner's tables and the server's settings.
    pub(super) fn owned(&mut self) -> Result<Vec<String>> {
        let settings = match self.dbms {
            Dbms::Postgres => "SELECT name, reset_val FROM pg_settings ORDER BY 1",
            _ => "SHOW GLOBAL VARIABLES WHERE Variable_name NOT LIKE 'gtid%'",
        };
        let mut questions = vec![settings.to_owned()];
        questions.extend(TABLES.map(|table| format!("SELECT * FROM {table} ORDER BY 1")));
        let mut texts = Vec::new();
        for sql in questions {
            let result = self.owner.query(&sql).with_context(|| sql.clone())?;
            texts.push(format!("{:?}", result.rows));
        }
        Ok(texts)
    }

    /// The schemas whose names are like rqps's.
    pub(super) fn schemas(&mut self) -> Result<Vec<String>> {
        let sql = match self.dbms {
            Dbms::Postgres => "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rqps\\_%'",
            _ => {
                "SELECT schema_name FROM information_schema.schemata \
                 WHERE schema_name LIKE 'rqps\\_%'"
            }
        };
        let result = self.owner.query(sql).context("list the schemas")?;
        Ok(result.rows.into_iter().flatten().flatten().collect())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.shell.wait();
    }
}

/// What makes an owner with all rights, and a user who may make schemas of rqps's names.
fn accounts(dbms: Dbms) -> Vec<String> {
    let user = |name: &str| match dbms {
        Dbms::Postgres => format!("CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'"),
        _ => format!("CREATE USER {name}@localhost IDENTIFIED BY '{PASSWORD}'"),
    };
    let others: &[&str] = if dbms == Dbms::Postgres {
        &[
            "ALTER ROLE owner SUPERUSER",
            "CREATE DATABASE shop OWNER owner",
            "GRANT CREATE ON DATABASE shop TO guest",
            "SELECT 'at=' || current_setting('unix_socket_directories') || '/.s.PGSQL.' \
             || current_setting('port') AS place",
        ]
    } else {
        &[
            "CREATE DATABASE shop",
            "GRANT ALL ON *.* TO owner@localhost",
            "GRANT ALL ON shop.* TO guest@localhost",
            "GRANT ALL ON `rqps\\_%`.* TO guest@localhost",
            "SELECT CONCAT('at=', @@socket) AS place",
        ]
    };
    let users = ["owner", "guest"].map(user);
    users.into_iter().chain(others.iter().map(|sql| (*sql).to_owned())).collect()
}
