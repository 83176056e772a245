//! The programs of a tree, by the name under which the one executable was started.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};

use crate::Family;
use crate::config::CommandLine;
use crate::faults::{Fate, Faults, end, hang, pause};
use crate::log::Log;
use crate::place::Place;
use crate::server::{Server, tables_dir};
use crate::stream::Stream;
use crate::{mysql, postgres};

/// How often it is looked at whether clients are still there, and whether nobody is to be let in.
const LOOK_EVERY: Duration = Duration::from_millis(5);

/// The file that says that a data directory was made.
const MADE: &str = "PG_VERSION";

/// Runs the program that `args` names first: `postgres`, `initdb`, `mariadbd` or `mysqld`.
pub fn run(args: impl Iterator<Item = String>) -> ExitCode {
    let args: Vec<String> = args.collect();
    let Some((program, args)) = args.split_first() else { return ExitCode::FAILURE };
    let program = PathBuf::from(program);
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let place = Place::above(&program);
    let (family, is_initdb) = match name.as_str() {
        "postgres" => (Family::Postgres, false),
        "initdb" => (Family::Postgres, true),
        "mariadbd" => (Family::Mariadb, false),
        "mysqld" => (Family::Mysql, false),
        _ => {
            let text = format!("{name}: call it postgres, initdb, mariadbd or mysqld\n");
            let _ = io::stderr().write_all(text.as_bytes());
            return ExitCode::FAILURE;
        }
    };
    let log = Log { family };
    let done = if args.iter().any(|arg| arg == "--version") {
        say_version(family, &program, &place.version())
    } else if is_initdb || is_to_initialise(args) {
        initialise(family, args, place, log)
    } else if args.iter().any(|arg| arg == "--single") {
        // It makes the database, which is there in any case.
        io::stdin().read_to_end(&mut Vec::new()).map(|_| ())
    } else {
        serve(family, args, place, log)
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log.fatal(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn is_to_initialise(args: &[String]) -> bool {
    args.iter().any(|arg| arg == "--bootstrap" || arg == "--initialize-insecure")
}

fn say_version(family: Family, program: &Path, version: &str) -> io::Result<()> {
    let text = match family {
        Family::Postgres => format!("postgres (PostgreSQL) {version}\n"),
        Family::Mariadb => format!(
            "{}  Ver {version}-MariaDB for Linux on x86_64 (MariaDB Server)\n",
            program.display()
        ),
        Family::Mysql => format!(
            "{}  Ver {version} for Linux on x86_64 (MySQL Community Server - GPL)\n",
            program.display()
        ),
    };
    io::stdout().write_all(text.as_bytes())
}

/// Makes a data directory.
fn initialise(family: Family, args: &[String], place: Place, log: Log) -> io::Result<()> {
    let line = command_line(family, args);
    if line.has("--bootstrap") {
        io::stdin().read_to_end(&mut Vec::new())?;
    }
    let version = place.version();
    let faults = Faults::read(place, log);
    let fate = faults.at_initialise();
    if faults.hangs() {
        hang();
    }
    if faults.is_full() || fate == Fate::DiskFull {
        let path = line.data_dir.display();
        return Err(io::Error::other(format!("could not write {path}: No space left on device")));
    }
    let dir = &line.data_dir;
    fs::create_dir_all(tables_dir(family, dir))?;
    fs::write(dir.join(MADE), format!("{version}\n"))?;
    if family == Family::Postgres {
        fs::create_dir_all(dir.join("pg_wal"))?;
        fs::write(dir.join("pg_wal/000000010000000000000001"), vec![0; 1 << 16])?;
        fs::write(dir.join("postgresql.conf"), "# made by the fake initdb\n")?;
        for file in ["pg_hba.conf", "postgresql.auto.conf"] {
            fs::write(dir.join(file), "# made by the fake initdb\n")?;
        }
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700))?;
    } else {
        for (file, bytes) in [("ibdata1", 1 << 16), ("ib_logfile0", 1 << 16)] {
            fs::write(dir.join(file), vec![0; bytes])?;
        }
    }
    Ok(())
}

fn command_line(family: Family, args: &[String]) -> CommandLine {
    match family {
        Family::Postgres => CommandLine::of_postgres(args),
        Family::Mariadb | Family::Mysql => CommandLine::of_mysql(args),
    }
}

/// Serves until a signal ends it.
fn serve(family: Family, args: &[String], place: Place, log: Log) -> io::Result<()> {
    // Before the first thread, so that this one alone meets them.
    let mut signals = SigSet::empty();
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGQUIT, Signal::SIGHUP] {
        signals.add(signal);
    }
    signals.thread_block()?;
    let line = command_line(family, args);
    let version = place.version();
    let made = fs::read_to_string(line.data_dir.join(MADE)).map_err(|error| {
        let dir = line.data_dir.display();
        io::Error::other(format!("{dir} is no data directory of this server: {error}"))
    })?;
    let is_other = made.split('.').next() != version.split('.').next();
    if family == Family::Postgres && is_other {
        let text = format!(
            "database files are incompatible with server: initialized by PostgreSQL version {}, \
             which is not compatible with this version {version}",
            made.trim()
        );
        return Err(io::Error::other(text));
    }
    log.note(&format!("starting the fake server, version {version}"));
    let faults = Arc::new(Faults::read(place, log));
    faults.at_start();
    let pid = format!("{}\n{}\n", std::process::id(), line.data_dir.display());
    let pid_file = match family {
        Family::Postgres => Some(line.data_dir.join("postmaster.pid")),
        Family::Mariadb | Family::Mysql => line.pid_file.clone(),
    };
    if let Some(file) = &pid_file {
        fs::write(file, pid)?;
    }
    if faults.hangs() {
        hang();
    }
    if faults.is_full() {
        let path = line.data_dir.display();
        return Err(io::Error::other(format!("could not write {path}: No space left on device")));
    }
    let version = faults.version().unwrap_or(version);
    let server = Server::open(version, &line, log, Arc::clone(&faults))?;
    let server = Arc::new(server);
    listen(&server, &line)?;
    log.note("database system is ready to accept connections");
    std::thread::Builder::new().spawn(move || faults.watch())?;
    let code = until_told(&server, &signals, &line);
    for file in pid_file.iter().chain(&line.socket) {
        let _ = fs::remove_file(file);
    }
    log.note("database system is shut down");
    end(code)
}

/// Waits for the signal that ends it, and ends what is to end before. Gives its exit code.
fn until_told(server: &Server, signals: &SigSet, line: &CommandLine) -> i32 {
    loop {
        let Ok(signal) = signals.wait() else { return 1 };
        if signal == Signal::SIGHUP {
            continue;
        }
        server.log.note(&format!("received {signal}"));
        let is_postgres = server.family == Family::Postgres;
        if is_postgres && signal == Signal::SIGQUIT {
            return 2;
        }
        while server.faults.keeps_running() {
            pause(LOOK_EVERY);
        }
        if is_postgres && signal == Signal::SIGTERM {
            // Smart shutdown: nobody gets in, and whoever is in goes first.
            if let Some(socket) = &line.socket {
                let _ = fs::remove_file(socket);
            }
            while server.n_connections() > 0 {
                pause(LOOK_EVERY);
            }
        }
        return 0;
    }
}

/// Lets clients in, by its socket and on its port.
pub(crate) fn listen(server: &Arc<Server>, line: &CommandLine) -> io::Result<()> {
    let Some((socket, port)) = line.socket.as_ref().zip(line.port) else {
        return Err(io::Error::other("a socket and a port are needed"));
    };
    let bound = std::net::TcpListener::bind(("127.0.0.1", port));
    let tcp = bound.map_err(|e| io::Error::other(format!("could not bind port {port}: {e}")))?;
    let local = UnixListener::bind(socket)?;
    fs::set_permissions(socket, fs::Permissions::from_mode(0o777))?;
    let (of_tcp, of_local) = (Arc::clone(server), Arc::clone(server));
    let path = socket.clone();
    std::thread::Builder::new().spawn(move || {
        let next = || {
            let stream = tcp.accept()?.0;
            stream.set_nodelay(true)?;
            Ok(stream)
        };
        accept(&of_tcp, &next);
    })?;
    std::thread::Builder::new().spawn(move || accept(&of_local, &|| Ok(local.accept()?.0)))?;
    // A listener waits for its next client, who is not to find it.
    let server = Arc::clone(server);
    std::thread::Builder::new().spawn(move || {
        while !server.faults.refuses() {
            pause(LOOK_EVERY);
        }
        let _ = fs::remove_file(&path);
    })?;
    Ok(())
}

/// Serves each client on a thread of its own.
fn accept<S: Stream>(server: &Arc<Server>, next: &dyn Fn() -> io::Result<S>) {
    loop {
        let Ok(stream) = next() else { continue };
        if server.faults.hangs() {
            hang();
        }
        if server.faults.refuses() {
            continue;
        }
        let server = Arc::clone(server);
        let serve = move || {
            let mut session = server.enter();
            // A client that goes is no error.
            let _ = match server.family {
                Family::Postgres => postgres::serve(&server, &mut session, stream),
                Family::Mariadb | Family::Mysql => mysql::serve(&server, &mut session, stream),
            };
            server.leave();
        };
        let _ = std::thread::Builder::new().spawn(serve);
    }
}
