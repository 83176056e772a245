//! A server that runs: connected to, watched, settled, stopped; never outlives its value.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use nix::fcntl::Flock;
use nix::sys::signal::Signal;
use rqps_client::{Address, Connection, Endpoint, Password, Tls};
use rqps_model::{Dbms, Transport, Version};

use crate::confine::Confinement;
use crate::connect::connect;
use crate::dbms::{own_scope, own_server};
use crate::destructive::Scope;
use crate::freeze::Freezer;
use crate::instance::{DATABASE, USER};
use crate::log_text::{signal_told, tail};
use crate::process::{self, Process};
use crate::settle::{Settled, Target};
use crate::vigil::Vigil;
use crate::watch::Watch;
use crate::{Error, Patience, core_file, data_dir, log_file, pidfd, settle, socket_dir, threads};

/// A running server; killed with all its processes when dropped.
pub struct RunningServer {
    /// Ends before the process, which it looks after; absent until the server is ready.
    pub(crate) vigil: Option<Vigil>,
    /// Whether rqps has stopped it itself.
    pub(crate) held: Arc<AtomicBool>,
    pub(crate) process: Process,
    /// Ends after the process, which it holds within its limits.
    pub(crate) confinement: Confinement,
    pub(crate) process_facts: BTreeMap<String, String>,
    pub(crate) dbms: Dbms,
    pub(crate) version: Version,
    pub(crate) name: String,
    pub(crate) data_dir: PathBuf,
    pub(crate) log: PathBuf,
    /// Size of the log before this start: what earlier starts wrote.
    pub(crate) log_start: u64,
    /// Up to where what it says tells nothing of a failure.
    pub(crate) log_judged: u64,
    pub(crate) socket: PathBuf,
    pub(crate) port: u16,
    pub(crate) password: Password,
    /// How long it is waited for.
    pub(crate) patience: Patience,
    /// Keeps the instance marked as in use.
    pub(crate) _hold: Arc<Flock<File>>,
}

/// How a server ended after it was asked to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// It shut down cleanly.
    Clean,
    /// It shut down, but not cleanly: `it ended with exit code 1`.
    Unclean(String),
    /// It missed the deadline, and was killed.
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
                write!(f, "did not stop within {} s and was killed", after.as_secs_f64())
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

impl RunningServer {
    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.process.pid()
    }

    /// Its DBMS.
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

    /// What destructive statements may reach: its instance's directory.
    #[must_use]
    pub fn scope(&self) -> Scope<'_> {
        own_scope(self.dbms, self.data_dir.parent().unwrap_or(&self.data_dir))
    }

    /// Disk space of its data directory.
    #[must_use]
    pub fn data_dir_sizes(&self) -> data_dir::DataDirSizes {
        data_dir::data_dir_sizes(self.dbms, &self.data_dir)
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

    /// Its address, with the benchmark's user and database.
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
            server_public_key: None,
            database: DATABASE.to_owned(),
            on_login: None,
            startup: rqps_client::Startup::default(),
            connect_timeout: self.patience.connect(),
        }
    }

    /// Opens a connection over the socket, for everything that is not measured.
    ///
    /// # Errors
    /// [`Error::Client`].
    pub fn connect(&self) -> Result<Box<dyn Connection>, Error> {
        connect(self.dbms, &self.endpoint(Transport::Socket))
    }

    /// Its threads now.
    #[must_use]
    pub fn tasks(&self) -> BTreeSet<i32> {
        threads::tasks(self.pid())
    }

    /// The thread (for PostgreSQL the process) that serves a connection; see
    /// [`threads::thread_of`].
    ///
    /// # Errors
    /// When the connection fails or no thread stands out.
    pub fn thread_of(&self, connection: &mut dyn Connection) -> Result<i32, Error> {
        threads::thread_of(self.dbms, self.pid(), connection)
    }

    /// Settles the server; see [`settle::settle`]. `rows` is the sum over all tables.
    ///
    /// # Errors
    /// When the server fails or the work is stopped.
    pub fn settle(&self, rows: u64, watch: &mut Watch<'_>) -> Result<Settled, Error> {
        let (version, scope) = (&self.version, self.scope());
        let target = Target { dbms: self.dbms, version, scope, data_dir: Some(&self.data_dir) };
        settle::settle(&target, self.connect()?.as_mut(), rows, watch)
    }

    /// Whether its process still exists.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        matches!(self.process.ended(), Ok(None))
    }

    /// Whether somebody else made it shut down cleanly, as an end of all services does.
    #[must_use]
    pub fn has_shut_down(&self) -> bool {
        matches!(self.process.ended(), Ok(Some(status)) if status.success())
    }

    /// How it ended, if it has: `it was killed by signal 9 (SIGKILL)`.
    #[must_use]
    pub fn end(&self) -> Option<String> {
        self.process.ended().ok().flatten().map(|status| self.describe_end(status))
    }

    /// The same of a status, with what is known of the signal, the core and the cause.
    fn describe_end(&self, status: ExitStatus) -> String {
        let end = process::describe_end(status);
        if let Some(told) = self.why_ended() {
            return format!("{end}: {told}");
        }
        if let Some(core) = core_file::told(status, &self.data_dir) {
            return format!("{end}; {core}");
        }
        match self.signal_told().filter(|_| status.code().is_some_and(|code| code != 0)) {
            Some(line) => format!("{end}; its log says: {line}"),
            None => end,
        }
    }

    /// The line of its log in which it says that a signal ended it or one of its processes.
    #[must_use]
    pub fn signal_told(&self) -> Option<String> {
        signal_told(&self.log_since_start()).map(str::to_owned)
    }

    /// Why it was ended from without, where that is known.
    fn why_ended(&self) -> Option<String> {
        let found = self.vigil.as_ref().and_then(Vigil::found).map(str::to_owned);
        self.out_of_memory().or(found)
    }

    /// A sentence with the remedy if the kernel killed any of its processes at its memory limit.
    #[must_use]
    pub fn out_of_memory(&self) -> Option<String> {
        self.confinement.told_by_oom()
    }

    /// Whether it is being ended because a foreign signal stopped one of its processes. Its other processes
    /// may still answer for a moment.
    #[must_use]
    pub fn was_stopped(&self) -> bool {
        self.vigil.as_ref().is_some_and(|vigil| vigil.found().is_some())
    }

    /// Facts of its process: allocator, limits, direct IO.
    #[must_use]
    pub fn process_facts(&self) -> &BTreeMap<String, String> {
        &self.process_facts
    }

    /// All its processes now: PostgreSQL has one per connection.
    #[must_use]
    pub fn processes(&self) -> Vec<i32> {
        process::tree(self.process.pid())
    }

    /// Stops and continues all its processes.
    #[must_use]
    pub fn freezer(&self) -> Freezer {
        Freezer::telling(self.process.pid(), Arc::clone(&self.held))
    }

    /// The signal that makes it end at once and tidily, also when rqps dies.
    #[must_use]
    pub fn death(&self) -> Signal {
        self.process.death()
    }

    /// The last lines of its log, of all starts.
    #[must_use]
    pub fn log_tail(&self, n_lines: usize) -> String {
        tail(&log_file::end(&self.log, 0), n_lines)
    }

    /// Its log since its start; of a long log the first and the last megabyte.
    #[must_use]
    pub fn log_since_start(&self) -> String {
        log_file::ends(&self.log, self.log_start)
    }

    /// Whether it logged that no space is left, since its start or the last [`Self::dismiss_log`].
    #[must_use]
    pub fn lacked_space(&self) -> bool {
        log_file::says_full(&self.log, self.log_judged)
    }

    /// Ignores the log up to now as a cause of later failures.
    pub fn dismiss_log(&mut self) {
        self.log_judged = log_file::len(&self.log);
    }

    /// Shuts it down and waits; kills it at the deadline.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn stop(self, deadline: Duration) -> Result<Stopped, Error> {
        let doing = || format!("stop {}", self.name);
        let signal = own_server(self.dbms)?.stop_signal;
        let start = Instant::now();
        let below = self.process.descendants();
        self.process.signal(signal).map_err(|e| Error::io(doing(), e))?;
        // Should it be frozen, it must thaw to hear the signal.
        let _ = self.process.signal(Signal::SIGCONT);
        for process in below {
            pidfd::send(process, Signal::SIGCONT);
        }
        let left = deadline.saturating_sub(start.elapsed());
        let ended = self.process.wait(left).map_err(|e| Error::io(doing(), e))?;
        if ended.is_none() {
            self.process.kill_tree();
        }
        if let Some(dir) = self.socket.parent() {
            socket_dir::remove(dir);
        }
        Ok(match ended {
            Some(status) if status.success() => Stopped::Clean,
            Some(status) => Stopped::Unclean(self.describe_end(status)),
            None => Stopped::Killed { after: deadline },
        })
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.process.kill_tree();
        if let Some(dir) = self.socket.parent() {
            socket_dir::remove(dir);
        }
    }
}
