//! Starting an instance's server: port, log, socket directory, process, and the wait for its answer.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::net::TcpListener;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::fcntl::OFlag;
use nix::sys::signal::Signal;
use rqps_client::Password;
use rqps_model::{DIRECT_IO, Transport, WALL};

use crate::confine::Confinement;
use crate::connect::connect;
use crate::dbms::own_server;
use crate::identity::Identity;
use crate::instance::{Instance, Setup, make_private};
use crate::log_text::{says_disk_full, says_no_memory, telling, unknown_option};
use crate::options::summarise_changes;
use crate::places::short_hash;
use crate::process::Cage;
use crate::running::RunningServer;
use crate::vigil::Vigil;
use crate::watch::{Progress, Watch};
use crate::{Error, library, plain, process, socket_dir, wall};

/// How often a free port is drawn again when somebody else took it meanwhile.
const PORT_ATTEMPTS: u32 = 5;

/// Lines of the log that an error shows.
const LOG_LINES: usize = 20;

impl Instance {
    /// Starts the server on `port`, or on a free one, and waits until it answers.
    ///
    /// # Errors
    /// [`Error::PortInUse`], [`Error::UnknownOption`], [`Error::StartFailed`].
    pub fn start(&self, port: Option<u16>, watch: &mut Watch<'_>) -> Result<RunningServer, Error> {
        let mut attempt = 0;
        loop {
            attempt += 1;
            let chosen = match port {
                Some(port) => {
                    // Asked first: the servers' own messages come late and differ.
                    TcpListener::bind(("127.0.0.1", port))
                        .map_err(|_| Error::PortInUse { port })?;
                    port
                }
                None => free_port()?,
            };
            match start_on(self, chosen, watch) {
                Err(Error::PortInUse { .. }) if port.is_none() && attempt < PORT_ATTEMPTS => {}
                Err(error) => return Err(or_of_program(error, self, watch)),
                Ok(running) => return Ok(running),
            }
        }
    }
}

fn free_port() -> Result<u16, Error> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|e| Error::io("find a free port on 127.0.0.1", e))
}

fn start_on(instance: &Instance, port: u16, watch: &mut Watch<'_>) -> Result<RunningServer, Error> {
    let setup = instance.setup();
    let name = setup.installed.name();
    make_socket_dir(&instance.socket_dir(), &setup.identity)?;
    let log = instance.log_path();
    let log_file = open_log(instance, &setup.identity)?;
    let log_start = log_file.metadata().map_or(0, |meta| meta.len());
    let own = own_server(setup.installed.dbms)?;
    let (mut command, socket) =
        ((own.start_command)(instance, port), (own.socket_path)(instance, port));
    let death = own.kill_signal;
    let confinement = Confinement::new(&setup.limits, &short_hash(&setup.dir.to_string_lossy()))?;
    let twin = log_file.try_clone().map_err(|e| Error::write(&log, e))?;
    command.stdout(twin).stderr(log_file);
    let program = setup.installed.program.display().to_string();
    let door = instance.door(Some(port), watch)?;
    let cage = Cage { door, ..confinement.cage()? };
    let before = instance.mark_running()?;
    let spawned = process::spawn_in(cage, command, &setup.identity, death);
    let process = match spawned {
        Ok(process) => process,
        Err(e) => {
            instance.mark_as_before(before)?;
            return Err(Error::io(format!("start {program} as {}", setup.identity.name), e));
        }
    };
    let mut server = RunningServer {
        vigil: None,
        held: Arc::default(),
        process,
        confinement,
        process_facts: BTreeMap::new(),
        dbms: setup.installed.dbms,
        version: setup.installed.version.clone(),
        name,
        data_dir: instance.data_dir(),
        log,
        log_start,
        log_judged: log_start,
        socket,
        port,
        password: Password(instance.password()),
        patience: setup.patience,
        _hold: instance.hold(),
    };
    server
        .await_ready(instance.ready_limit(), watch)
        .map_err(|error| with_suspicion(error, instance))?;
    if let Some(finish_start) = own.finish_start {
        finish_start(server.connect()?.as_mut())?;
    }
    server.check_transport(setup.transport)?;
    server.process_facts = server.check_process(instance, watch)?;
    let vigil = Vigil::start(server.pid(), death, Arc::clone(&server.held), setup.patience.look());
    server.vigil = Some(vigil.map_err(|e| Error::io(format!("watch over {program}"), e))?);
    Ok(server)
}

/// A start failure with what else may be its cause than what the log says.
fn with_suspicion(error: Error, instance: &Instance) -> Error {
    match error {
        Error::StartFailed { server, mut detail, was_killed, lacked_memory, log } => {
            if let Some(suspicion) = instance.setup().allocator.suspicion() {
                detail.push_str(&format!("; {suspicion}"));
            }
            detail.push_str(&wall::suspicion(instance.wall(), &log));
            Error::StartFailed { server, detail, was_killed, lacked_memory, log }
        }
        error => error,
    }
}

/// The failure of a start on data that were left, or what is wrong with the program where that is no longer
/// the one that it was: its failure says nothing of the data.
fn or_of_program(error: Error, instance: &Instance, watch: &mut Watch<'_>) -> Error {
    let is_by_data = matches!(error, Error::StartFailed { .. }) && !error.spares_data();
    if !instance.is_left || !is_by_data {
        return error;
    }
    let Setup { installed, identity, dir, .. } = instance.setup();
    let scratch = dir.join("version");
    let found = installed.load_failure(identity, &scratch, watch);
    let _ = fs::remove_file(&scratch);
    match found {
        Ok(None) => error,
        Ok(Some(found)) | Err(found) => found,
    }
}

fn make_socket_dir(dir: &Path, identity: &Identity) -> Result<(), Error> {
    make_private(dir.parent().unwrap_or(dir), dir, identity)?;
    // What a killed server left would make a later one wait or fail.
    socket_dir::empty(dir);
    Ok(())
}

/// Opens the log for appending.
fn open_log(instance: &Instance, identity: &Identity) -> Result<File, Error> {
    let path = &instance.log_path();
    let flags = OFlag::O_WRONLY | OFlag::O_APPEND | OFlag::O_CREAT;
    let opened = plain::open(&instance.setup().dir, path, flags);
    let file = opened.map_err(|e| Error::write(path, e))?;
    if identity.switch {
        nix::unistd::fchown(&file, Some(identity.uid), Some(identity.gid))
            .map_err(|e| Error::write(path, e.into()))?;
    }
    Ok(file)
}

impl RunningServer {
    fn await_ready(&self, limit: Duration, watch: &mut Watch<'_>) -> Result<(), Error> {
        let doing = format!("start {}", self.name);
        let what = format!("{} starts", self.name);
        let every = Duration::from_millis(50);
        let ready = watch.poll(&doing, limit, every, |watch| {
            if let Some(status) = self.process.ended().map_err(|e| Error::io(doing.clone(), e))? {
                let was_killed = status.signal() == Some(Signal::SIGKILL as i32);
                return Err(self.start_failure(&process::describe_end(status), was_killed));
            }
            (watch.report)(Progress::Waiting { what: &what });
            match connect(self.dbms, &self.endpoint(Transport::Socket)) {
                Ok(_) => Ok(Some(())),
                Err(Error::Client { source: rqps_client::Error::Server(error), .. })
                    // 57P03: the database system is starting up.
                    if error.sqlstate != "57P03" =>
                {
                    Err(self.start_failure(&format!("it refuses rqps's user: {error}"), false))
                }
                Err(_) => Ok(None),
            }
        })?;
        ready.ok_or_else(|| {
            self.start_failure(&format!("no answer within {} s", limit.as_secs()), false)
        })
    }

    /// Checks that its processes are what the plan says, and tells what they are.
    fn check_process(
        &self,
        instance: &Instance,
        watch: &Watch<'_>,
    ) -> Result<BTreeMap<String, String>, Error> {
        let Setup { installed, allocator, config, .. } = instance.setup();
        let pids = self.processes();
        self.confinement.check(&self.name, &pids)?;
        let mut facts = allocator.check(installed, &pids)?;
        facts.extend(self.confinement.facts());
        facts.push((WALL, instance.wall().to_string()));
        facts.extend(instance.direct_io(watch.stop)?.map(|text| (DIRECT_IO, text)));
        facts.extend(summarise_changes(&config.changes).map(|text| ("config", text)));
        Ok(facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }

    /// Why it did not start, by its log.
    fn start_failure(&self, detail: &str, was_killed: bool) -> Error {
        let log = self.log_since_start();
        if let Some(told) = self.confinement.told_by_oom() {
            let (server, detail) = (self.name.clone(), format!("{detail}: {told}"));
            let (was_killed, lacked_memory, log) = (false, true, telling(&log, LOG_LINES));
            return Error::StartFailed { server, detail, was_killed, lacked_memory, log };
        }
        if let Some(unknown) = unknown_option(&log) {
            let version = self.name.clone();
            return Error::UnknownOption { option: unknown.option, version, line: unknown.line };
        }
        if says_disk_full(&log) {
            return Error::disk_full(&self.data_dir);
        }
        if let Some(error) = library::not_found(&self.name, &log) {
            return error;
        }
        if log.contains("Address already in use") {
            return Error::PortInUse { port: self.port };
        }
        let (server, detail) = (self.name.clone(), detail.to_owned());
        let (lacked_memory, log) = (says_no_memory(&log), telling(&log, LOG_LINES));
        Error::StartFailed { server, detail, was_killed, lacked_memory, log }
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
}
