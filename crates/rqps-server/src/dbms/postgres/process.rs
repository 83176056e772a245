//! PostgreSQL: the command line, and making a data directory.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::fcntl::OFlag;
use rqps_model::Transport;

use crate::certificate::{CERTIFICATE, KEY};
use crate::instance::{DATABASE, Instance, USER};
use crate::log_text::says_disk_full;
use crate::process::Cage;
use crate::tool::Terms;
use crate::watch::Watch;
use crate::{Error, library, plain, tool, wall};

/// The file in the data directory that holds our settings.
const CONFIG: &str = "rqps.conf";

/// The socket's path; PostgreSQL makes the name from the port.
pub(super) fn socket_path(instance: &Instance, port: u16) -> PathBuf {
    instance.socket_dir().join(format!(".s.PGSQL.{port}"))
}

fn base_command(instance: &Instance, program: &Path) -> Command {
    let setup = instance.setup();
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C")
        .env("HOME", &setup.dir)
        .current_dir(&setup.dir)
        .stdin(Stdio::null());
    if let Some(path) = setup.installed.library_path() {
        command.env("LD_LIBRARY_PATH", path);
    }
    command
}

/// The command that starts the server.
pub(super) fn start_command(instance: &Instance, port: u16) -> Command {
    let setup = instance.setup();
    let mut command = base_command(instance, &setup.installed.program);
    command
        .arg("-D")
        .arg(instance.data_dir())
        .arg("-k")
        .arg(instance.socket_dir())
        .args(["-h", "127.0.0.1", "-p", &port.to_string()])
        // To stderr, which is our log file, in a language that we can read.
        .args(["-c", "logging_collector=off", "-c", "log_destination=stderr"])
        .args(["-c", "lc_messages=C"])
        .envs(setup.allocator.environment(setup.installed.library_path()));
    if setup.transport == Transport::Tls {
        let tls = setup.dir.join("tls");
        for (option, file) in [("ssl_cert_file", CERTIFICATE), ("ssl_key_file", KEY)] {
            command.arg("-c").arg(format!("{option}={}", tls.join(file).display()));
        }
        command.args(["-c", "ssl=on"]);
    } else {
        command.args(["-c", "ssl=off"]);
    }
    command
}

/// Makes the data directory with the benchmark's user and database in it.
pub(super) fn initialise(instance: &Instance, watch: &mut Watch<'_>) -> Result<(), Error> {
    let setup = instance.setup();
    let installed = &setup.installed;
    let password_file = setup.dir.join("password");
    instance.write_private(&password_file, &format!("{}\n", instance.password()))?;
    // SCRAM came with 10. Which one it is costs time when connecting only.
    let auth = if installed.version.at_least(&[10]) { "scram-sha-256" } else { "md5" };
    let mut initdb = base_command(instance, &installed.program.with_file_name("initdb"));
    initdb
        .arg("-D")
        .arg(instance.data_dir())
        .args(["-U", USER, "-A", auth, "-E", "UTF8", "--locale=C"])
        .arg(format!("--pwfile={}", password_file.display()))
        // Nothing is lost when the host crashes now but an empty data directory.
        .arg("-N")
        .args(&setup.config.initdb_arguments);
    run(instance, initdb, "init.log", watch)?;
    fs::remove_file(&password_file).map_err(|e| Error::write(&password_file, e))?;

    let sql = setup.dir.join("init.sql");
    instance.write_private(&sql, &format!("CREATE DATABASE {DATABASE};\n"))?;
    let mut single = base_command(instance, &installed.program);
    let input = plain::open(&setup.dir, &sql, OFlag::O_RDONLY);
    let input = input.map_err(|e| Error::io("open init.sql", e))?;
    single.arg("--single").arg("-D").arg(instance.data_dir()).arg("postgres").stdin(input);
    run(instance, single, "init2.log", watch)?;
    fs::remove_file(&sql).map_err(|e| Error::write(&sql, e))?;
    write_config(instance, &setup.config.text)
}

fn run(
    instance: &Instance,
    command: Command,
    log: &str,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let setup = instance.setup();
    let log = setup.dir.join(log);
    let program = command.get_program().to_string_lossy().into_owned();
    let terms = Terms { identity: &setup.identity, log: &log, limit: setup.patience.initialise() };
    let cage = Cage { door: instance.door(None, watch)?, ..Cage::default() };
    let done = tool::run_in(cage, command, terms, watch, &mut |_| {})?
        .map_err(|e| Error::io(format!("run {program} as {}", setup.identity.name), e))?;
    if done.success() && !done.output.contains("ERROR:") && !done.output.contains("FATAL:") {
        return Ok(());
    }
    if says_disk_full(&done.output) {
        return Err(Error::disk_full(&setup.dir));
    }
    if let Some(error) = library::not_found(&setup.installed.name(), &done.output) {
        return Err(error);
    }
    let mut detail = done.end();
    detail.push_str(&wall::suspicion(instance.wall(), &done.output));
    if done.output.contains("could not look up effective user ID") {
        let uid = setup.identity.uid;
        detail.push_str(&format!("; initdb needs an entry in /etc/passwd for user id {uid}"));
    }
    if setup.installed.program.to_string_lossy().contains(['"', '$', '`', '\\', '\n']) {
        detail.push_str(
            "; initdb runs postgres in a shell, which misreads a path with \", $, ` or \\; move the server",
        );
    }
    Err(Error::InitFailed {
        server: setup.installed.name(),
        path: setup.dir.clone(),
        detail,
        was_killed: done.was_killed(),
        log: done.last_words(),
    })
}

/// Writes our settings beside initdb's file, which includes them at its end: the last one wins.
pub(super) fn write_config(instance: &Instance, text: &str) -> Result<(), Error> {
    instance.write_private(&instance.data_dir().join(CONFIG), text)?;
    let main = instance.data_dir().join("postgresql.conf");
    let include = format!("include = '{CONFIG}'\n");
    let flags = OFlag::O_RDWR | OFlag::O_APPEND;
    let written = plain::open(&instance.setup().dir, &main, flags).and_then(|mut file| {
        let mut there = String::new();
        file.read_to_string(&mut there)?;
        if there.contains(&include) { Ok(()) } else { file.write_all(include.as_bytes()) }
    });
    written.map_err(|e| Error::write(&main, e))
}
