//! What can go wrong with servers, each with the value concerned and the next step. It is long as there
//! is one enum for the whole crate.

use std::io;
use std::path::{Path, PathBuf};

use rqps_model::{Dbms, Version};

use crate::free_space::{free_bytes_of, nearest_existing};
use crate::refusal::Refusal;

/// Why something with a server failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The catalogue has no such version.
    #[error("{dbms} {version} is not in the catalogue; the nearest are {nearest}")]
    UnknownVersion {
        /// Which family.
        dbms: Dbms,
        /// What was asked for.
        version: String,
        /// The nearest known versions, separated by commas.
        nearest: String,
    },
    /// The catalogue has the version, but not that build of it.
    #[error("{dbms} {version} has no build {build:?} in the catalogue; its builds: {known}")]
    UnknownBuild {
        /// Which family.
        dbms: Dbms,
        /// The version.
        version: String,
        /// What was asked for.
        build: String,
        /// The builds that there are, separated by commas.
        known: String,
    },
    /// The configuration file is malformed.
    #[error("{place}: {detail}")]
    ConfigFile {
        /// File and line.
        place: String,
        /// What is wrong, and the remedy.
        detail: String,
    },
    /// An option could make a server use files or hosts that are not its own.
    #[error("{place}: {written}: {detail}; {remedy}")]
    RefusedOption {
        /// File and line, or `options` of the plan.
        place: String,
        /// The option as it is written.
        written: String,
        /// Why it is refused.
        detail: String,
        /// What to write instead.
        remedy: String,
    },
    /// The catalogue or a built-in profile is malformed.
    #[error("{what}: {detail}")]
    Data {
        /// Which data.
        what: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A program of the host is missing.
    #[error("{tool} is missing, and {needed_for} needs it: {remedy}")]
    ToolMissing {
        /// The program.
        tool: &'static str,
        /// What it is for.
        needed_for: String,
        /// The command that installs it.
        remedy: String,
    },
    /// A registry's client failed.
    #[error("fetch {what}: {tool} failed; the end of its output:\n{output}\n{remedy}")]
    FetchFailed {
        /// What was to be fetched.
        what: String,
        /// The client.
        tool: &'static str,
        /// The end of its output.
        output: String,
        /// What to do next.
        remedy: String,
    },
    /// A Debian suite could not deliver the packages.
    #[error("{server} from Debian {suite}: {detail}")]
    Debian {
        /// The server.
        server: String,
        /// The suite.
        suite: String,
        /// What happened, and the next step.
        detail: String,
    },
    /// A suite of Debian has another version now than the one that was asked for.
    #[error(
        "{server}: Debian {suite} now has {package} {has}, not the version in the catalogue; {remedy}"
    )]
    Rolled {
        /// The server.
        server: String,
        /// The suite.
        suite: String,
        /// The package.
        package: String,
        /// The versions that the suite has.
        has: String,
        /// What to do instead.
        remedy: String,
    },
    /// The downloaded archive is another one than the catalogue knows.
    #[error(
        "{file} is corrupt: its {algorithm} is {found}, the catalogue says {expected}; {remedy}"
    )]
    Checksum {
        /// The archive.
        file: String,
        /// How it was computed.
        algorithm: &'static str,
        /// As the catalogue has it, hex.
        expected: String,
        /// As it came, hex.
        found: String,
        /// What to do next.
        remedy: String,
    },
    /// No address of an archive was of use.
    #[error(
        "{what} could not be downloaded:\n  {tried}\nget {file} in another way and put it into {dir}, \
         then run the command again"
    )]
    Download {
        /// The server.
        what: String,
        /// Each address and what was wrong with it, a line each.
        tried: String,
        /// The archive's name.
        file: String,
        /// Where an archive that is there already is looked for.
        dir: PathBuf,
    },
    /// An archive that a user's catalogue names is not there.
    #[error("{path} does not exist; correct `path` in the catalogue, or put the archive there")]
    FileMissing {
        /// Where it should be.
        path: PathBuf,
    },
    /// An archive that a user's catalogue names became another one while a server was made of it.
    #[error(
        "{path} was changed or replaced while it was read; run the command again when it is whole"
    )]
    FileChanged {
        /// Where it is.
        path: PathBuf,
    },
    /// No source delivered the server.
    #[error("{server} is not available from any of its {n} sources:\n{failures}")]
    NoSource {
        /// The server.
        server: String,
        /// How many sources were tried.
        n: usize,
        /// Each source and its failure with the next step.
        failures: String,
    },
    /// A server of the catalogue is not for this machine.
    #[error(
        "{server} is for {wanted}, this machine is {found}; name the directory of a server compiled for this \
         machine: basedir = \"DIR\" in a plan, DBMS@DIR on the command line"
    )]
    Architecture {
        /// The server.
        server: String,
        /// What its archive is for.
        wanted: String,
        /// What this machine is.
        found: &'static str,
    },
    /// An archive cannot be read to its end.
    #[error(
        "archive {archive} cannot be unpacked: {detail}; it may be incomplete: remove it and get it again"
    )]
    CorruptArchive {
        /// The archive.
        archive: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// An archive writes to a forbidden place, or is larger than it says.
    #[error("archive {archive} is refused: entry {entry:?} {detail}")]
    UnsafeArchive {
        /// The archive.
        archive: PathBuf,
        /// The entry's name.
        entry: String,
        /// What it tried.
        detail: String,
    },
    /// Not enough space.
    #[error(
        "no space left for {path}: {}{free_mb} MB are left; free space, or choose another directory",
        if *needed_mb > 0 { format!("{needed_mb} MB are needed, ") } else { String::new() }
    )]
    DiskFull {
        /// Where.
        path: PathBuf,
        /// What it takes, MB; 0 where unknown.
        needed_mb: u64,
        /// What is left, MB.
        free_mb: u64,
    },
    /// A shared library is missing and could not be fetched.
    #[error("{server} needs {soname}, which this host does not have: {detail}")]
    Library {
        /// The server.
        server: String,
        /// The library.
        soname: String,
        /// What was tried, and the remedy.
        detail: String,
    },
    /// The operating system refused.
    #[error("{doing}")]
    Io {
        /// Verb and object.
        doing: String,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// A directory that should have been empty or ours.
    #[error(
        "{path} has files that rqps did not create (no {marker}); \
         name another directory, or empty it yourself"
    )]
    NotOurs {
        /// The directory.
        path: PathBuf,
        /// The file that would have marked it as ours.
        marker: &'static str,
    },
    /// Data of rqps that may be incomplete.
    #[error("the data in {path} may be incomplete: {why}")]
    NotSound {
        /// The directory.
        path: PathBuf,
        /// What happened to it.
        why: String,
    },
    /// Data of our own of another server than the one that is to be started on them.
    #[error(
        "the data in {path} are of {was}, but the server is now {is}; restore {was}, or begin a new \
         run with --new"
    )]
    OtherServer {
        /// The directory.
        path: PathBuf,
        /// The server that made them.
        was: String,
        /// The one that was to be started.
        is: String,
    },
    /// The data directory belongs to a server that still runs.
    #[error("{path} is in use by process {pid}; stop that server first")]
    InUse {
        /// The directory.
        path: PathBuf,
        /// The server.
        pid: i32,
    },
    /// No directory that the servers' user can reach.
    #[error("no directory for {what} that user {user} can reach: {tried}")]
    NoPlace {
        /// What it is for.
        what: &'static str,
        /// The user that servers run as.
        user: String,
        /// What was tried, and what was wrong with each.
        tried: String,
    },
    /// The server does not know an option.
    #[error("option {option:?} is not known to {version}; remove it, or check its name ({line})")]
    UnknownOption {
        /// The option.
        option: String,
        /// The server.
        version: String,
        /// The line of its log.
        line: String,
    },
    /// The server ended, or was not ready in time.
    #[error("{server} did not start: {detail}\nthe end of its log:\n{log}")]
    StartFailed {
        /// The server.
        server: String,
        /// What happened.
        detail: String,
        /// Whether somebody killed it, for no memory limit's sake: another start may do.
        was_killed: bool,
        /// Whether it lacked memory, within its limit or on the host.
        lacked_memory: bool,
        /// Its log's last lines.
        log: String,
    },
    /// The data directory could not be created.
    #[error(
        "{server} could not create its data directory {path}: {detail}; the end of its output:\n{log}"
    )]
    InitFailed {
        /// The server.
        server: String,
        /// The directory.
        path: PathBuf,
        /// What happened.
        detail: String,
        /// Whether somebody killed it: another attempt may do.
        was_killed: bool,
        /// Its output's last lines.
        log: String,
    },
    /// Something else listens on the port.
    #[error("port {port} on 127.0.0.1 is in use; run again")]
    PortInUse {
        /// The port.
        port: u16,
    },
    /// A client's error.
    #[error("{doing}")]
    Client {
        /// Verb and object.
        doing: String,
        /// What the client says.
        #[source]
        source: rqps_client::Error,
    },
    /// A server gave a senseless answer.
    #[error("{doing}: the server answered {answer:?}")]
    Answer {
        /// Verb and object.
        doing: String,
        /// What came.
        answer: String,
    },
    /// The address of an external server is malformed; the text never holds its password.
    #[error(
        "dsn {dsn:?}: {detail} (expected mysql://USER@HOST:PORT/DATABASE?password_env=NAME, with &socket=PATH or &tls=required where needed)"
    )]
    Dsn {
        /// The address without its password.
        dsn: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A directory has no usable server.
    #[error("no server found in {path}: {detail}")]
    NoServer {
        /// The directory.
        path: PathBuf,
        /// What was looked for.
        detail: String,
    },
    /// No such built-in profile, and no such file.
    #[error(
        "config {config:?} is neither a built-in profile ({known}) nor a readable file: {detail}"
    )]
    UnknownConfig {
        /// What was given.
        config: String,
        /// The profiles.
        known: String,
        /// Why the file cannot be read.
        detail: String,
    },
    /// The server does not support what the plan asks for.
    #[error("{server} does not support {what}: {detail}")]
    Unsupported {
        /// The server.
        server: String,
        /// What was asked.
        what: String,
        /// Why not, and what to do instead.
        detail: String,
    },
    /// The server runs with other values than planned.
    #[error("{server} does not run as planned: {found}; expected {meant}")]
    NotAsMeant {
        /// The server.
        server: String,
        /// What it runs with.
        found: String,
        /// What it should.
        meant: String,
    },
    /// The server's process does not use the planned allocator.
    #[error("{server} does not run with malloc = \"{wanted}\": {detail}")]
    Allocator {
        /// The server.
        server: String,
        /// What the plan says.
        wanted: rqps_model::Malloc,
        /// What was found, and the remedy.
        detail: String,
    },
    /// A limit cannot be set, or does not hold.
    #[error("{what}: {detail}; {remedy}")]
    Limit {
        /// The limit: `memory = "2G"`.
        what: String,
        /// Why not.
        detail: String,
        /// What to do.
        remedy: String,
    },
    /// Another rqps did not give back what it works with.
    #[error(
        "waited {minutes} minutes for {}: {why}; run the command again when that rqps has ended",
        path.display()
    )]
    HeldTooLong {
        /// The locked file.
        path: PathBuf,
        /// How long it was waited for.
        minutes: u64,
        /// What the other one does.
        why: &'static str,
    },
    /// A statement is not sent, or a server is not used, to prevent harm.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The user stopped the work.
    #[error("interrupted while {doing}")]
    Interrupted {
        /// What was under way.
        doing: String,
    },
}

impl Error {
    /// The error with all its sources, as the binary prints it.
    #[must_use]
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            text.push_str(&format!(": {error}"));
            source = error.source();
        }
        text
    }

    /// Whether somebody killed the server while it started or made its data directory: another start may
    /// succeed.
    #[must_use]
    pub fn was_killed(&self) -> bool {
        matches!(
            self,
            Self::StartFailed { was_killed: true, .. } | Self::InitFailed { was_killed: true, .. }
        )
    }

    /// An [`Error::Io`], or [`Error::DiskFull`] when that is what the system says.
    pub(crate) fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }

    /// As [`Error::io`], for a write to `path`: a full disk gets its own message.
    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::StorageFull
            || source.kind() == io::ErrorKind::QuotaExceeded
        {
            return Self::disk_full(path);
        }
        Self::Io { doing: format!("write {}", path.display()), source }
    }

    /// A full disk, by what a server said about `dir`.
    pub(crate) fn disk_full(dir: &Path) -> Self {
        let free_mb = free_bytes_of(nearest_existing(dir)).unwrap_or(0) / 1_000_000;
        Self::DiskFull { path: dir.to_owned(), needed_mb: 0, free_mb }
    }

    /// Whether another source of the same server may still do.
    pub(crate) fn is_of_one_source(&self) -> bool {
        matches!(
            self,
            Self::ToolMissing { .. }
                | Self::FetchFailed { .. }
                | Self::Debian { .. }
                | Self::Rolled { .. }
                | Self::Checksum { .. }
                | Self::Download { .. }
                | Self::FileMissing { .. }
                | Self::CorruptArchive { .. }
                | Self::UnsafeArchive { .. }
        )
    }

    /// Whether the error says nothing against the data: the server never read them, or failed for another
    /// reason.
    #[must_use]
    pub fn spares_data(&self) -> bool {
        match self {
            Self::StartFailed { was_killed, lacked_memory, .. } => *was_killed || *lacked_memory,
            other => matches!(
                other,
                Self::InUse { .. }
                    | Self::OtherServer { .. }
                    | Self::Io { .. }
                    | Self::DiskFull { .. }
                    | Self::NoServer { .. }
                    | Self::Library { .. }
                    | Self::PortInUse { .. }
                    | Self::UnknownOption { .. }
                    | Self::Unsupported { .. }
                    | Self::NotAsMeant { .. }
                    | Self::Allocator { .. }
                    | Self::Limit { .. }
            ),
        }
    }

    /// A client's error with what was under way.
    pub(crate) fn client(doing: impl Into<String>, source: rqps_client::Error) -> Self {
        Self::Client { doing: doing.into(), source }
    }
}

/// A server's name in messages: `MySQL 8.0.33`.
pub(crate) fn server_name(dbms: Dbms, version: &Version) -> String {
    format!("{} {version}", dbms.name())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_never_looked_at_its_data_spares_them() {
        let dir = || PathBuf::from("/data/run-0");
        let failed = |was_killed, lacked_memory| Error::StartFailed {
            server: "MySQL 8.0.33".to_owned(),
            detail: String::new(),
            was_killed,
            lacked_memory,
            log: String::new(),
        };
        let (was, is) = ("MySQL 8.0.33".to_owned(), "MySQL 8.0.34".to_owned());
        for error in [
            Error::InUse { path: dir(), pid: 7 },
            Error::OtherServer { path: dir(), was, is },
            Error::io("start mysqld", io::ErrorKind::NotFound.into()),
            failed(true, false),
            failed(false, true),
        ] {
            assert!(error.spares_data(), "{error}");
        }
        let why = "the host went down while its server ran".to_owned();
        for error in [Error::NotSound { path: dir(), why }, failed(false, false)] {
            assert!(!error.spares_data(), "{error}");
        }
    }
}
