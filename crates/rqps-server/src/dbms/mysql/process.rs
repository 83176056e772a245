//! MySQL and MariaDB: the command line, and making a data directory without a shell.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::fcntl::OFlag;
use rqps_client::Connection;
use rqps_model::{Dbms, Engine, Transport};

use crate::certificate::{CERTIFICATE, KEY};
use crate::engine::ROCKSDB_PLUGIN;
use crate::installed::Installed;
use crate::instance::{DATABASE, Instance, USER};
use crate::log_text::{says_disk_full, unknown_option};
use crate::process::Cage;
use crate::profile::option_name;
use crate::tool::Terms;
use crate::watch::Watch;
use crate::{Error, library, plain, tool, wall};

/// Where an instance's configuration is.
fn config_path(instance: &Instance) -> PathBuf {
    instance.setup().dir.join("server.cnf")
}

/// Writes the configuration file.
pub(super) fn write_config(instance: &Instance, text: &str) -> Result<(), Error> {
    instance.write_private(&config_path(instance), text)
}

/// The socket's path.
pub(super) fn socket_path(instance: &Instance, _: u16) -> PathBuf {
    instance.socket_dir().join("mysql.sock")
}

/// What initialising and starting have in common.
fn base_command(instance: &Instance, config: &Path) -> Command {
    let setup = instance.setup();
    let share = setup.installed.share.display();
    let mut command = Command::new(&setup.installed.program);
    command
        .env_clear()
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("LC_ALL", "C")
        .env("HOME", &setup.dir)
        .current_dir(instance.data_dir())
        .stdin(Stdio::null())
        // Must come first: mysqld looks for it there only.
        .arg(format!("--defaults-file={}", config.display()))
        .arg(format!("--basedir={}", setup.installed.basedir.display()))
        .arg(format!("--datadir={}", instance.data_dir().display()))
        .arg(format!("--tmpdir={}", setup.dir.join("tmp").display()))
        .arg(format!("--character-sets-dir={share}/charsets"));
    if let Some(plugins) = &setup.installed.plugin_dir {
        command.arg(format!("--plugin-dir={}", plugins.display()));
    }
    // Statements read and write files there alone. MySQL since 5.7 is often compiled with a directory that must exist.
    command.arg(format!("--secure-file-priv={}", setup.dir.join("tmp").display()));
    if setup.installed.dbms == Dbms::Mysql && setup.installed.version.at_least(&[5, 7]) {
        // It would listen on all addresses, on port 33060.
        command.arg("--loose-mysqlx=OFF");
        // Percona Server sends a report once a day.
        command.arg("--loose-percona-telemetry-disable=1");
    }
    if before_5_5(&setup.installed) {
        command.arg(format!("--language={share}/english"));
    } else {
        command.arg(format!("--lc-messages-dir={share}"));
    }
    if let Some(path) = setup.installed.library_path() {
        command.env("LD_LIBRARY_PATH", path);
    }
    command
}

/// MySQL 5.0 and 5.1: no plugins for authentication, other names of some options.
fn before_5_5(installed: &Installed) -> bool {
    installed.dbms == Dbms::Mysql && !installed.version.at_least(&[5, 5])
}

fn before_5_6(installed: &Installed) -> bool {
    installed.dbms == Dbms::Mysql && !installed.version.at_least(&[5, 6])
}

/// The command that starts the server.
pub(super) fn start_command(instance: &Instance, port: u16) -> Command {
    let setup = instance.setup();
    let dir = &setup.dir;
    let mut command = base_command(instance, &config_path(instance));
    if setup.config.engine == Engine::Rocksdb {
        command.arg(format!("--plugin-load-add={ROCKSDB_PLUGIN}"));
    }
    command
        .arg(format!("--socket={}", socket_path(instance, port).display()))
        .arg(format!("--port={port}"))
        .arg("--bind-address=127.0.0.1")
        .arg(format!("--pid-file={}", dir.join("server.pid").display()))
        .arg(format!("--log-error={}", instance.log_path().display()))
        .envs(setup.allocator.environment(setup.installed.library_path()));
    if before_5_6(&setup.installed) {
        // A wait for the next statement that a stop interrupts counts as a failed read, and ten of
        // them end an idle connection (sql/net_serv.cc of 5.5; later versions wait by poll(2)).
        command.arg("--net-retry-count=4294967295");
    }
    if setup.transport == Transport::Tls {
        let tls = dir.join("tls");
        for (option, file) in [("ssl-ca", CERTIFICATE), ("ssl-cert", CERTIFICATE), ("ssl-key", KEY)]
        {
            // A build without TLS knows none of them; that it offers none is said by the caller.
            command.arg(format!("--loose-{option}={}", tls.join(file).display()));
        }
    } else if setup.installed.dbms == Dbms::Mysql && setup.installed.version.at_least(&[8, 0, 16]) {
        // --skip-ssl is deprecated from 8.0.26 on; an empty list of versions offers no TLS.
        command.arg("--tls-version=");
    } else {
        command.arg("--loose-skip-ssl");
    }
    command
}

/// How a data directory is made.
#[derive(Debug, Clone, Copy)]
pub(in crate::dbms) struct Making {
    /// The scripts of the server that a bootstrap runs; `None` where the server makes its own tables.
    pub(in crate::dbms) scripts: Option<&'static [&'static str]>,
    /// The statements that remove all other accounts.
    pub(in crate::dbms) others_go: &'static [&'static str],
}

/// How MySQL's is made.
fn making(installed: &Installed) -> Making {
    let scripts: &[&str] = &["mysql_system_tables", "mysql_system_tables_data", "fill_help_tables"];
    if installed.version.at_least(&[5, 7]) {
        Making { scripts: None, others_go: &["DROP USER IF EXISTS 'root'@'localhost';"] }
    } else if before_5_5(installed) {
        let others_go = &[
            "DELETE FROM mysql.user WHERE User IN ('', 'root');",
            "DELETE FROM mysql.db WHERE User = '';",
        ];
        Making { scripts: Some(scripts), others_go }
    } else {
        Making { scripts: Some(scripts), others_go: OTHERS_GO }
    }
}

/// Removes all other accounts from the tables of 5.5 and 5.6.
pub(in crate::dbms) const OTHERS_GO: &[&str] = &[
    "DELETE FROM mysql.user WHERE User IN ('', 'root');",
    "DELETE FROM mysql.db WHERE User = '';",
    "DELETE FROM mysql.proxies_priv;",
];

/// Makes MySQL's data directory.
pub(super) fn initialise(instance: &Instance, watch: &mut Watch<'_>) -> Result<(), Error> {
    initialise_by(making(&instance.setup().installed), instance, watch)
}

/// Makes a data directory with the benchmark's user and database in it, and no other account.
pub(in crate::dbms) fn initialise_by(
    Making { scripts, others_go }: Making,
    instance: &Instance,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let installed = &instance.setup().installed;
    write_config(instance, &instance.setup().config.text)?;
    let sql = instance.setup().dir.join("init.sql");
    // Without the plugin of an engine its options are unknown, and the system's tables need neither.
    let config = instance.setup().dir.join("init.cnf");
    instance.write_private(&config, &without_plugins(&instance.setup().config.text))?;
    let mut command = base_command(instance, &config);
    let accounts = accounts(instance, others_go);
    if let Some(scripts) = scripts {
        let script = bootstrap_script(&installed.share, scripts)?;
        instance.write_private(&sql, &format!("{script}\n{accounts}"))?;
        let input = plain::open(&instance.setup().dir, &sql, OFlag::O_RDONLY);
        let input = input.map_err(|e| Error::io("open init.sql", e))?;
        command.arg("--bootstrap").args(["--max-allowed-packet=8M", "--net-buffer-length=16K"]);
        command.stdin(input);
        instance.make_private(&instance.data_dir().join("mysql"))?;
    } else {
        instance.write_private(&sql, &accounts)?;
        command.arg("--initialize-insecure").arg(format!("--init-file={}", sql.display()));
    }
    let log = instance.setup().dir.join("init.log");
    run(instance, command, &log, watch)?;
    fs::remove_file(&config).map_err(|e| Error::write(&config, e))?;
    fs::remove_file(&sql).map_err(|e| Error::write(&sql, e))
}

/// A configuration without the options of an engine that is a plugin.
fn without_plugins(text: &str) -> String {
    let of_plugin = |name: &str| {
        let name = name.replace('-', "_").to_ascii_lowercase();
        name.starts_with("rocksdb") || name.starts_with("loose_rocksdb")
    };
    let keep = |line: &&str| !option_name(line).is_some_and(of_plugin);
    text.lines().filter(keep).map(|line| format!("{line}\n")).collect()
}

fn run(
    instance: &Instance,
    command: Command,
    log: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let setup = instance.setup();
    let terms = Terms { identity: &setup.identity, log, limit: setup.patience.initialise() };
    let cage = Cage { door: instance.door(None, watch)?, ..Cage::default() };
    let done = tool::run_in(cage, command, terms, watch, &mut |_| {})?.map_err(|e| {
        let program = setup.installed.program.display();
        Error::io(format!("run {program} as {}", setup.identity.name), e)
    })?;
    if let Some(unknown) = unknown_option(&done.output) {
        return Err(Error::UnknownOption {
            option: unknown.option,
            version: setup.installed.name(),
            line: unknown.line,
        });
    }
    // A bootstrap goes on after a failed statement and ends with code 0 in some versions.
    let failed =
        done.output.lines().any(|line| line.contains("ERROR: ") || line.contains("[ERROR]"));
    if done.success() && !failed {
        return Ok(());
    }
    if says_disk_full(&done.output) {
        return Err(Error::disk_full(&setup.dir));
    }
    if let Some(error) = library::not_found(&setup.installed.name(), &done.output) {
        return Err(error);
    }
    let mut detail = if done.success() { "a statement failed".to_owned() } else { done.end() };
    detail.push_str(&wall::suspicion(instance.wall(), &done.output));
    Err(Error::InitFailed {
        server: setup.installed.name(),
        path: setup.dir.clone(),
        detail,
        was_killed: done.was_killed(),
        log: done.last_words(),
    })
}

/// Gives the database the server's default character set: MySQL 8.0 makes it with its own one while
/// it initialises, whatever the configuration says.
pub(super) fn align_database(connection: &mut dyn Connection) -> Result<(), Error> {
    let doing = "set the database's character set";
    let sql = "select @@character_set_server, @@collation_server, @@character_set_database, \
               @@collation_database";
    let result = connection.query(sql).map_err(|e| Error::client(doing, e))?;
    let answer = format!("{:?}", result.rows);
    let names: Option<Vec<String>> = result.rows.into_iter().next().into_iter().flatten().collect();
    let plain = |name: &String| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match names.as_deref() {
        Some([charset, collation, ..]) if !plain(charset) || !plain(collation) => {}
        Some([charset, collation, db_charset, db_collation]) => {
            if (charset, collation) == (db_charset, db_collation) {
                return Ok(());
            }
            let sql =
                format!("ALTER DATABASE {DATABASE} CHARACTER SET {charset} COLLATE {collation}");
            return connection.query(&sql).map(|_| ()).map_err(|e| Error::client(doing, e));
        }
        _ => {}
    }
    Err(Error::Answer { doing: doing.to_owned(), answer })
}

/// The SQL that the install script of the server feeds to `--bootstrap`, in its order.
fn bootstrap_script(share: &Path, parts: &[&str]) -> Result<String, Error> {
    // One statement per line: the bootstrap's reader takes no two.
    let mut script = String::from(
        "create database if not exists mysql;\nuse mysql;\nSET @skip_auth_anonymous=1;\n\
         SET @auth_root_socket=NULL;\n",
    );
    for part in parts {
        // MariaDB renamed its scripts; the performance and sys schemas come and go.
        let names = [format!("mariadb_{part}"), format!("mysql_{part}"), (*part).to_owned()];
        let found = names.iter().map(|name| share.join(format!("{name}.sql"))).find(|p| p.exists());
        match found {
            Some(path) => {
                let text = fs::read(&path)
                    .map_err(|e| Error::io(format!("read {}", path.display()), e))?;
                script.push_str(&String::from_utf8_lossy(&text));
                script.push('\n');
            }
            None if ["system_tables", "mysql_system_tables"].contains(part) => {
                return Err(Error::NoServer {
                    path: share.to_owned(),
                    detail: format!("looked for {}.sql", names.join(".sql, ")),
                });
            }
            None => {}
        }
    }
    Ok(script)
}

/// The benchmark's user (over the socket it comes from localhost, over TCP from 127.0.0.1, as names
/// are not resolved) and its database; everybody else goes.
fn accounts(instance: &Instance, others_go: &[&str]) -> String {
    let password = instance.password();
    let mut lines = vec![
        "use mysql;".to_owned(),
        // A bootstrap has not read the grant tables; without them CREATE USER is refused.
        "FLUSH PRIVILEGES;".to_owned(),
    ];
    for host in ["localhost", "127.0.0.1"] {
        lines.push(format!("CREATE USER '{USER}'@'{host}' IDENTIFIED BY '{password}';"));
        lines.push(format!("GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'{host}' WITH GRANT OPTION;"));
    }
    lines.extend(others_go.iter().map(|line| (*line).to_owned()));
    lines.push(format!("CREATE DATABASE {DATABASE};"));
    lines.push(String::new());
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugins_options_are_left_out_where_it_is_not_loaded() {
        let text = "[mysqld]\nserver_id=1\nrocksdb_block_cache_size=1\n# rocksdb\n\
                    loose-rocksdb-x=2\ninnodb_x=3\n";
        assert_eq!(without_plugins(text), "[mysqld]\nserver_id=1\n# rocksdb\ninnodb_x=3\n");
    }
}
