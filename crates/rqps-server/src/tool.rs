//! Runs a program of the host or of a server to its end: output kept, stoppable, with a deadline.

use std::io::{self, Read as _, Seek as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use nix::fcntl::OFlag;
use nix::sys::signal::Signal;

use crate::identity::Identity;
use crate::log_text::telling;
use crate::process::Cage;
use crate::watch::Watch;
use crate::{Error, plain, process};

/// The most that a program may write, bytes. Installations and initdb write a thousandth of it.
const MOST_SAID: u64 = 16 * 1024 * 1024;

/// How a program went.
#[derive(Debug)]
pub(crate) struct Done {
    /// How it ended; `None` when it was killed at the deadline.
    pub(crate) status: Option<ExitStatus>,
    /// What it wrote to both of its outputs: of more than [`MOST_SAID`] the beginning.
    pub(crate) output: String,
    /// Whether it was killed as it wrote more than that.
    pub(crate) said_too_much: bool,
}

impl Done {
    pub(crate) fn success(&self) -> bool {
        self.status.is_some_and(|status| status.success())
    }

    /// How it ended, in words.
    pub(crate) fn end(&self) -> String {
        if self.said_too_much {
            return format!("it wrote more than {} MB and was killed", MOST_SAID / 1024 / 1024);
        }
        self.status.map_or("it took too long and was killed".to_owned(), process::describe_end)
    }

    /// Whether somebody killed it, before its deadline.
    pub(crate) fn was_killed(&self) -> bool {
        self.status.and_then(|status| status.signal()) == Some(Signal::SIGKILL as i32)
    }

    /// How it ended, and the last lines of its output, where it wrote any.
    pub(crate) fn end_and_words(&self) -> String {
        match self.last_words() {
            words if words.is_empty() => format!("{}, without output", self.end()),
            words => format!("{} ({words})", self.end()),
        }
    }

    /// The last lines of its output.
    pub(crate) fn last_words(&self) -> String {
        telling(&self.output, 20)
    }
}

/// How a program is run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// Whom it runs as.
    pub(crate) identity: &'a Identity,
    /// The file that gets what it writes to both of its outputs.
    pub(crate) log: &'a Path,
    /// After which time it is killed.
    pub(crate) limit: Duration,
}

/// Runs `command`; `meanwhile` is called ten times a second. The inner error says that the program
/// could not be executed, the outer one that something else failed or the work was stopped.
pub(crate) fn run(
    command: Command,
    terms: Terms<'_>,
    watch: &mut Watch<'_>,
    meanwhile: &mut dyn FnMut(&mut Watch<'_>),
) -> Result<Result<Done, io::Error>, Error> {
    run_in(Cage::default(), command, terms, watch, meanwhile)
}

/// As [`run`], in a cage.
pub(crate) fn run_in(
    cage: Cage,
    mut command: Command,
    terms: Terms<'_>,
    watch: &mut Watch<'_>,
    meanwhile: &mut dyn FnMut(&mut Watch<'_>),
) -> Result<Result<Done, io::Error>, Error> {
    let Terms { identity, log, limit } = terms;
    let program = command.get_program().to_string_lossy().into_owned();
    let doing = format!("run {program}");
    // It may lie in a directory of the servers' user.
    let root = log.parent().unwrap_or(log);
    let opened = plain::open(root, log, OFlag::O_RDWR | OFlag::O_CREAT);
    let mut said = opened.map_err(|e| Error::write(log, e))?;
    said.set_len(0).map_err(|e| Error::write(log, e))?;
    let twin = || said.try_clone().map_err(|e| Error::io(doing.clone(), e));
    command.stdout(twin()?).stderr(twin()?);
    if command.get_current_dir().is_none() {
        command.current_dir("/");
    }
    let process = match process::spawn_in(cage, command, identity, Signal::SIGKILL) {
        Ok(process) => process,
        Err(e) => return Ok(Err(e)),
    };
    let is_too_much = || said.metadata().is_ok_and(|meta| meta.len() > MOST_SAID);
    let ended = watch.poll(&doing, limit, Duration::from_millis(100), |watch| {
        meanwhile(watch);
        if is_too_much() {
            return Ok(Some(None));
        }
        let ended = process.ended().map_err(|e| Error::io(doing.clone(), e))?;
        Ok(ended.map(Some))
    })?;
    drop(process);
    let said_too_much = is_too_much();
    let mut output = Vec::new();
    let read = said.set_len(said.metadata().map_or(0, |meta| meta.len().min(MOST_SAID)));
    let read = read.and_then(|()| said.rewind()).and_then(|()| said.read_to_end(&mut output));
    read.map_err(|e| Error::io(format!("read {}", log.display()), e))?;
    let output = String::from_utf8_lossy(&output).into_owned();
    Ok(Ok(Done { status: ended.flatten(), output, said_too_much }))
}

/// A program of a server, without input and with as little environment as the server itself has: what is in
/// that of rqps, such as a password that an address names, is not for programs that run as another user.
pub(crate) fn of_server(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).env_clear();
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("LC_ALL", "C");
    command
}

/// A command without input that inherits the environment, but for secrets ([`crate::secrets`]): registries'
/// clients need the user's.
pub(crate) fn command(program: &str) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null());
    command
}
