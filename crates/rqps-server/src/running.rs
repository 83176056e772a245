//! A server that runs: started, awaited, connected to, watched, stopped; never outlives its value.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::net::TcpListener;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::fcntl::{Flock, OFlag};
use nix::sys::signal::Signal;
use rqps_client::{Address, Connection, Endpoint, MysqlConnection, Password, PostgresConnection, Tls};
use rqps_model::{Dbms, Transport, Version};

use crate::identity::Identity;
use crate::instance::{DATABASE, Instance, USER, make_private};
use crate::log_text::{tail, unknown_option};
use crate::process::{self, Process};
use crate::watch::{Progress, Watch};
use crate::{Error, disk, mysql, postgres};

/// Longest time from start to the first answer; a crash recovery may take a while.
const READY_LIMIT: Duration = Duration::from_secs(120);

/// Time for one attempt to connect, on loopback or a socket.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a free port is drawn again when somebody else took it meanwhile.
const PORT_ATTEMPTS: u32 = 5;

/// Lines of the log that an error shows.
const LOG_LINES: usize = 20;

/// A running server. Killed with all its processes when dropped.
pub struct RunningServer {
    process: Process,
    dbms: Dbms,
    version: Version,
    name: String,
    data_dir: PathBuf,
    log: PathBuf,
    /// Size of the log before this start: what earlier starts wrote.
    log_start: u64,
    socket: PathBuf,
    port: u16,
    password: Password,
    _hold: Arc<Flock<File>>,
}

/// How a server ended when it was told to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// It shut down by itself.
    Clean,
    /// It shut down, but not as it should: `it ended with exit code 1`.
    Unclean(String),
    /// It did not within the deadline, and was killed.
    Killed {
        /// The deadline.
        after: Duration,
    },
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clean => f.write_str("stopped"),
            Self::Unclean(how) => write!(f, "stopped, but {how}"),
            Self::Killed { after } => {
                write!(f, "did not stop within {} s and was killed", after.as_secs())
            }
        }
    }
}

impl fmt::Debug for RunningServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningServer")
            .field("name", &self.name)
            .field("pid", &self.process.pid())
            .field("data_dir", &self.data_dir)
            .field("socket", &self.socket)
            .field("port", &self.port)
            .finish_non_exhaustive()
    }
}

/// Opens a connection of the right protocol.
///
/// # Errors
/// [`Error::Client`] with the address.
pub fn connect(dbms: Dbms, endpoint: &Endpoint) -> Result<Box<dyn Connection>, Error> {
    let connection: Result<Box<dyn Connection>, _> = match dbms {
        Dbms::Mysql | Dbms::Mariadb => MysqlConnection::connect(endpoint).map(|c| Box::new(c) as _),
        Dbms::Postgres => PostgresConnection::connect(endpoint).map(|c| Box::new(c) as _),
        Dbms::Null => rqps_client::NullConnection::connect(endpoint).map(|c| Box::new(c) as _),
    };
    connection.map_err(|e| Error::client(format!("connect to {}", endpoint.address), e))
}

/// Starts an instance's server and waits until it answers.
pub(crate) fn start(
    instance: &Instance,
    port: Option<u16>,
    watch: &mut Watch<'_>,
) -> Result<RunningServer, Error> {
    let mut attempt = 0;
    loop {
        attempt += 1;
        let chosen = match port {
            Some(port) => {
                // Asked first: the servers' own messages come late and differ.
                TcpListener::bind(("127.0.0.1", port)).map_err(|_| Error::PortInUse { port })?;
                port
            }
            None => free_port()?,
        };
        match start_on(instance, chosen, watch) {
            Err(Error::PortInUse { .. }) if port.is_none() && attempt < PORT_ATTEMPTS => {}
            other => return other,
        }
    }
}

fn free_port() -> Result<u16, Error> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|e| Error::io("find a free port on 127.0.0.1", e))
}

fn start_on(
    instance: &Instance,
    port: u16,
    watch: &mut Watch<'_>,
) -> Result<RunningServer, Error> {
    let setup = instance.setup();
    let name = setup.installed.name();
    make_socket_dir(&instance.socket_dir(), &setup.identity)?;
    let log = instance.log_path();
    let log_file = open_log(&log, &setup.identity)?;
    let log_start = log_file.metadata().map_or(0, |meta| meta.len());
    let mysql_family = setup.installed.dbms.is_mysql_family();
    let (mut command, socket, death) = if mysql_family {
        (mysql::start_command(instance, port), mysql::socket_path(instance), Signal::SIGKILL)
    } else {
        // SIGQUIT is "immediate shutdown": the postmaster takes its children with it.
        let socket = postgres::socket_path(instance, port);
        (postgres::start_command(instance, port), socket, Signal::SIGQUIT)
    };
    let twin = log_file.try_clone().map_err(|e| Error::write(&log, e))?;
    command.stdout(twin).stderr(log_file);
    let program = setup.installed.program.display().to_string();
    let process = process::spawn(command, &setup.identity, death)
        .map_err(|e| Error::io(format!("start {program} as {}", setup.identity.name), e))?;
    let server = RunningServer {
        process,
        dbms: setup.installed.dbms,
        version: setup.installed.version.clone(),
        name,
        data_dir: instance.data_dir(),
        log,
        log_start,
        socket,
        port,
        password: Password(instance.password().to_owned()),
        _hold: instance.hold(),
    };
    server.await_ready(watch)?;
    server.check_transport(setup.transport)?;
    Ok(server)
}

fn make_socket_dir(dir: &Path, identity: &Identity) -> Result<(), Error> {
    make_private(dir, identity)?;
    // What a killed server left would make a later one wait or fail.
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let _ = fs::remove_file(entry.path());
    }
    Ok(())
}

/// Opens the log for appending; not through a link, as its directory belongs to the servers' user.
fn open_log(path: &Path, identity: &Identity) -> Result<File, Error> {
    let mut options = OpenOptions::new();
    options.create(true).append(true).mode(0o600).custom_flags(OFlag::O_NOFOLLOW.bits());
    let file = options.open(path).map_err(|e| Error::write(path, e))?;
    if identity.switch {
        nix::unistd::fchown(&file, Some(identity.uid), Some(identity.gid))
            .map_err(|e| Error::write(path, e.into()))?;
    }
    Ok(file)
}

impl RunningServer {
    fn await_ready(&self, watch: &mut Watch<'_>) -> Result<(), Error> {
        let doing = format!("start {}", self.name);
        let what = format!("{} starts", self.name);
        let every = Duration::from_millis(50);
        let ready = watch.poll(&doing, (READY_LIMIT, every), |watch| {
            if let Some(status) = self.process.ended().map_err(|e| Error::io(doing.clone(), e))? {
                return Err(self.start_failure(&process::describe_end(status)));
            }
            (watch.report)(Progress::Waiting { what: &what });
            match connect(self.dbms, &self.endpoint(Transport::Socket)) {
                Ok(_) => Ok(Some(())),
                Err(Error::Client { source: rqps_client::Error::Server(error), .. })
                    // 57P03: the database system is starting up.
                    if error.sqlstate != "57P03" =>
                {
                    Err(self.start_failure(&format!("its own user is refused: {error}")))
                }
                Err(_) => Ok(None),
            }
        })?;
        ready.ok_or_else(|| {
            self.start_failure(&format!("no answer within {} s", READY_LIMIT.as_secs()))
        })
    }

    /// Why it did not start, by its log.
    fn start_failure(&self, detail: &str) -> Error {
        let log = self.log_since_start();
        if let Some(unknown) = unknown_option(&log) {
            let version = self.name.clone();
            return Error::UnknownOption { option: unknown.option, version, line: unknown.line };
        }
        if log.contains("Address already in use") {
            return Error::PortInUse { port: self.port };
        }
        let (server, detail) = (self.name.clone(), detail.to_owned());
        Error::StartFailed { server, detail, log: tail(&log, LOG_LINES) }
    }

    /// Makes one connection the way the benchmark will.
    fn check_transport(&self, transport: Transport) -> Result<(), Error> {
        match connect(self.dbms, &self.endpoint(transport)) {
            Ok(_) => Ok(()),
            Err(Error::Client { source, .. }) if transport == Transport::Tls => {
                Err(Error::Unsupported {
                    server: self.name.clone(),
                    what: "transport = \"tls\"".to_owned(),
                    detail: format!(
                        "{source} (rqps speaks TLS 1.2 and 1.3; MySQL before 5.7 and MariaDB before \
                         10.4 were often built for less; use socket or tcp)"
                    ),
                })
            }
            Err(error) => Err(error),
        }
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.process.pid()
    }

    /// Its family.
    #[must_use]
    pub fn dbms(&self) -> Dbms {
        self.dbms
    }

    /// Its version, as the catalogue or the program's `--version` has it.
    #[must_use]
    pub fn version(&self) -> &Version {
        &self.version
    }

    /// Its name in messages: `MySQL 8.0.33`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its data directory.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Bytes that its data directory takes on disk.
    #[must_use]
    pub fn data_dir_bytes(&self) -> u64 {
        disk::tree_bytes(&self.data_dir)
    }

    /// The path of its socket.
    #[must_use]
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Its port on 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// How to reach it with the benchmark's user and database.
    #[must_use]
    pub fn endpoint(&self, transport: Transport) -> Endpoint {
        let tcp = || Address::Tcp { host: "127.0.0.1".to_owned(), port: self.port };
        let (address, tls) = match transport {
            Transport::Socket => (Address::Unix(self.socket.clone()), Tls::Off),
            Transport::Tcp => (tcp(), Tls::Off),
            Transport::Tls => (tcp(), Tls::Required { ca: None }),
        };
        Endpoint {
            address,
            tls,
            user: USER.to_owned(),
            password: self.password.clone(),
            database: DATABASE.to_owned(),
            connect_timeout: CONNECT_TIMEOUT,
        }
    }

    /// Opens a connection over the socket, for everything that is not measured.
    ///
    /// # Errors
    /// [`Error::Client`].
    pub fn connect(&self) -> Result<Box<dyn Connection>, Error> {
        connect(self.dbms, &self.endpoint(Transport::Socket))
    }

    /// Whether its process is still there.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        matches!(self.process.ended(), Ok(None))
    }

    /// How it ended, in words, when it has: `it was killed by signal 9 (SIGKILL)`.
    #[must_use]
    pub fn end(&self) -> Option<String> {
        self.process.ended().ok().flatten().map(process::describe_end)
    }

    /// All its processes at this moment: PostgreSQL has one per connection.
    #[must_use]
    pub fn processes(&self) -> Vec<i32> {
        process::tree(self.process.pid())
    }

    /// The last lines of its log, of all starts.
    #[must_use]
    pub fn log_tail(&self, n_lines: usize) -> String {
        tail(&read_lossy(&self.log, 0), n_lines)
    }

    /// What it logged since it was started.
    #[must_use]
    pub fn log_since_start(&self) -> String {
        read_lossy(&self.log, self.log_start)
    }

    /// Shuts it down and waits; kills it when the deadline passes.
    ///
    /// MySQL and MariaDB take SIGTERM for the SHUTDOWN statement, in all versions; PostgreSQL's
    /// "fast shutdown" is SIGINT.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn stop(self, deadline: Duration) -> Result<Stopped, Error> {
        let doing = || format!("stop {}", self.name);
        let signal = if self.dbms.is_mysql_family() { Signal::SIGTERM } else { Signal::SIGINT };
        let start = Instant::now();
        self.process.signal(signal).map_err(|e| Error::io(doing(), e))?;
        // Should it be frozen, it must thaw to hear the signal.
        for pid in self.processes() {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), Signal::SIGCONT);
        }
        let left = deadline.saturating_sub(start.elapsed());
        let ended = self.process.wait(left).map_err(|e| Error::io(doing(), e))?;
        if ended.is_none() {
            self.process.kill_tree();
        }
        if let Some(dir) = self.socket.parent() {
            let _ = fs::remove_dir_all(dir);
        }
        Ok(match ended {
            Some(status) if status.success() => Stopped::Clean,
            Some(status) => Stopped::Unclean(process::describe_end(status)),
            None => Stopped::Killed { after: deadline },
        })
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.process.kill_tree();
        if let Some(dir) = self.socket.parent() {
            let _ = fs::remove_dir_all(dir);
        }
    }
}

/// A file's text from `offset` on; empty when it cannot be read.
fn read_lossy(path: &Path, offset: u64) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    let start = usize::try_from(offset).unwrap_or(0).min(bytes.len());
    String::from_utf8_lossy(&bytes[start..]).into_owned()
}
