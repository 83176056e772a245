//! A data directory made by rqps: marked as ours, initialised, started any number of times, removed.
//!
//! ```text
//! DIR/rqps-instance.json   the marker: what it is, the password; locked while in use
//! DIR/data/                the server's data directory
//! DIR/tmp/                 its temporary files
//! DIR/server.log           its log, appended to by every start
//! DIR/server.cnf           its configuration (MySQL family; PostgreSQL's is in data/)
//! DIR/tls/                 key and certificate, with transport tls
//! ```

mod copy;
mod door;
mod marker;
mod noted;

use std::fs::{File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use nix::fcntl::{Flock, OFlag};
use nix::unistd::{fchown, syncfs};
use rqps_model::{Limits, Transport, Wall};

use crate::error::server_name;
use crate::identity::Identity;
use crate::installed::Installed;
use crate::malloc::Allocator;
use crate::patience::Patience;
use crate::profile::Rendered;
use crate::random::random_hex;
use crate::trial::Trial;
use crate::watch::Watch;
use crate::{Error, at_work, direct_io, disk, plain, process, socket_dir, wall};

pub use crate::socket_dir::clear_socket;
pub use copy::{copy, file_sizes, rename};
use marker::{Marker, lock_marker, not_ours, read_marker, remove_all, write_marker};
pub use marker::{clear, is_ours, note_on};

/// The user of the benchmark; it may do everything on its server.
pub(crate) const USER: &str = "rqps";

/// The database of the benchmark.
pub(crate) const DATABASE: &str = "rqps";

/// Everything that an instance is made from.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The server's files.
    pub installed: Installed,
    /// The instance's directory; its parent exists and can be reached by `identity`.
    pub dir: PathBuf,
    /// Parent of its socket directory.
    pub sockets: PathBuf,
    /// The user that the server runs as.
    pub identity: Identity,
    /// Its configuration.
    pub config: Rendered,
    /// The benchmark's transport; the server offers TLS only for `tls`.
    pub transport: Transport,
    /// The allocator of the running server; not used while the data directory is made.
    pub allocator: Allocator,
    /// Limits of the running server.
    pub limits: Limits,
    /// What a trial switches off.
    pub trial: Trial,
    /// Directory of data templates to copy from; `None` if each server initialises its own.
    pub templates: Option<PathBuf>,
    /// How long rqps waits for the server.
    pub patience: Patience,
}

/// The server's data directory and its log, in an instance's directory.
const DATA: &str = "data";
const LOG: &str = "server.log";

/// What the smallest new data directory takes, bytes: MySQL 8.0's, without its redo.
const MIN_FREE: u64 = 200_000_000;

/// A data directory with everything needed to start its server.
#[derive(Debug)]
pub struct Instance {
    setup: Setup,
    /// What confines its programs.
    wall: Wall,
    /// Directories of the libraries that the loader finds for its server, once that was asked.
    libraries: OnceLock<Vec<PathBuf>>,
    marker: Mutex<Marker>,
    /// Whether an earlier rqps made its data.
    pub(crate) is_left: bool,
    /// Held while the instance is in use; its reference count tells of servers that still run.
    lock: Arc<Flock<File>>,
}

impl Instance {
    /// Makes the directory with its marker and nothing else. A directory of an earlier instance is replaced.
    pub(crate) fn begin(setup: Setup) -> Result<Self, Error> {
        clear(&setup.dir)?;
        disk::require(&setup.dir, MIN_FREE)?;
        let identity = &setup.identity;
        make_private(setup.dir.parent().unwrap_or(&setup.dir), &setup.dir, identity)?;
        let version = setup.installed.version.clone();
        let marker = Marker::new(setup.installed.dbms, version, random_hex()?);
        let lock = Arc::new(lock_marker(&setup.dir, true)?);
        write_marker(&lock, &setup.dir, &marker)?;
        let wall = wall::probe(&setup.identity, setup.trial.walls);
        let (marker, libraries) = (Mutex::new(marker), OnceLock::new());
        Ok(Self { setup, wall, libraries, marker, is_left: false, lock })
    }

    /// Locks the directory of a complete instance that an earlier rqps left, and judges whether its data can be used.
    pub(crate) fn take_up(setup: Setup) -> Result<Self, Error> {
        let lock = lock_marker(&setup.dir, false)?;
        let marker = read_marker(&setup.dir).filter(|marker| marker.initialised);
        let mut marker = marker.ok_or_else(|| not_ours(&setup.dir))?;
        let installed = &setup.installed;
        if (marker.dbms, &marker.version) != (installed.dbms, &installed.version) {
            let (was, is) = (server_name(marker.dbms, &marker.version), installed.name());
            return Err(Error::OtherServer { path: setup.dir, was, is });
        }
        at_work::await_nobody(&setup.dir, &setup.installed.program, setup.patience)?;
        let is_of_this_boot =
            marker.boot.as_ref().is_none_or(|boot| Some(boot) == process::boot_id().as_ref());
        let why = if !setup.dir.join(DATA).is_dir() {
            Some("its data directory is gone")
        } else if !marker.is_stopped && !is_of_this_boot {
            Some("the host went down while its server ran")
        } else {
            None
        };
        if let Some(why) = why {
            return Err(Error::NotSound { path: setup.dir, why: why.to_owned() });
        }
        marker.rqps_pid = std::process::id();
        write_marker(&lock, &setup.dir, &marker)?;
        let (marker, lock) = (Mutex::new(marker), Arc::new(lock));
        let wall = wall::probe(&setup.identity, setup.trial.walls);
        let libraries = OnceLock::new();
        Ok(Self { setup, wall, libraries, marker, is_left: true, lock })
    }

    /// Removes what was made of it so far, while it is locked.
    pub(crate) fn discard(&self) -> Result<(), Error> {
        remove_all(&self.setup.dir)
    }

    /// How long its server may take to its first answer.
    pub(crate) fn ready_limit(&self) -> Duration {
        if self.is_left { self.setup.patience.recover() } else { self.setup.patience.ready() }
    }

    /// Keeps the directory and its data for a later rqps ([`Instance::open`]). `is_stopped` says that the
    /// server stopped by itself.
    ///
    /// # Errors
    /// [`Error::InUse`] while its server runs; when the disk does not take what is to be kept.
    pub fn leave(self, is_stopped: bool) -> Result<(), Error> {
        self.refuse_in_use()?;
        let dir = &self.setup.dir;
        if is_stopped && let Err(error) = File::open(dir).and_then(|dir| Ok(syncfs(dir)?)) {
            // What is not on disk is not what the server wrote.
            self.set_note(None)?;
            return Err(Error::write(dir, error));
        }
        self.mark(|marker| marker.is_stopped = is_stopped)
    }

    fn refuse_in_use(&self) -> Result<(), Error> {
        if Arc::strong_count(&self.lock) > 1 {
            let pid = i32::try_from(std::process::id()).unwrap_or(0);
            return Err(Error::InUse { path: self.setup.dir.clone(), pid });
        }
        Ok(())
    }

    /// Deletes the directory and everything in it.
    ///
    /// # Errors
    /// [`Error::InUse`] while its server runs, [`Error::NotOurs`] when the marker is gone.
    pub fn remove(self) -> Result<(), Error> {
        self.refuse_in_use()?;
        let Self { setup, lock, .. } = self;
        drop(lock);
        clear(&setup.dir)
    }

    /// What it was made from.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The server's data directory.
    #[must_use]
    pub fn data_dir(&self) -> PathBuf {
        self.setup.dir.join(DATA)
    }

    /// The server's log.
    #[must_use]
    pub fn log_path(&self) -> PathBuf {
        self.setup.dir.join(LOG)
    }

    /// What confines its programs.
    pub(crate) fn wall(&self) -> &Wall {
        &self.wall
    }

    pub(crate) fn password(&self) -> String {
        self.marker.lock().unwrap_or_else(PoisonError::into_inner).password.clone()
    }

    pub(crate) fn hold(&self) -> Arc<Flock<File>> {
        Arc::clone(&self.lock)
    }

    /// The directory of its socket: a short path that depends on the instance's directory alone.
    pub(crate) fn socket_dir(&self) -> PathBuf {
        socket_dir::of_instance(&self.setup.sockets, &self.setup.dir)
    }

    /// Makes the directories that its server writes to.
    pub(crate) fn make_directories(&self) -> Result<(), Error> {
        self.make_private(&self.data_dir())?;
        self.make_private(&self.setup.dir.join("tmp"))
    }

    /// Whether direct IO works where the data are; `None` when nothing asks for it.
    pub(crate) fn direct_io(&self, stop: &AtomicBool) -> Result<Option<String>, Error> {
        let Setup { installed, config, .. } = &self.setup;
        // What there is to say is said when the configuration is chosen.
        let mut quiet = Watch { stop, report: &mut |_| {} };
        direct_io::check(installed.dbms, config, &self.data_dir(), &mut quiet)
    }

    /// Writes a file of the instance that only the servers' user can read.
    pub(crate) fn write_private(&self, path: &Path, text: &str) -> Result<(), Error> {
        let Setup { dir, identity, .. } = &self.setup;
        let write = || -> io::Result<()> {
            let mut file = plain::create(dir, path)?;
            file.write_all(text.as_bytes())?;
            hand_over(&file, identity)
        };
        write().map_err(|e| Error::write(path, e))
    }

    /// Makes a directory of the instance that only the servers' user (and root) can enter.
    pub(crate) fn make_private(&self, path: &Path) -> Result<(), Error> {
        make_private(&self.setup.dir, path, &self.setup.identity)
    }

    /// Empties the server's log, after it was copied.
    ///
    /// # Errors
    /// When there is none, or something else in its place.
    pub fn empty_log(&self) -> io::Result<()> {
        let flags = OFlag::O_WRONLY | OFlag::O_TRUNC;
        plain::open(&self.setup.dir, &self.log_path(), flags).map(|_| ())
    }

    /// Opens the server's log for reading.
    ///
    /// # Errors
    /// When there is none, or something else in its place.
    pub fn open_log(&self) -> io::Result<File> {
        open_log_in(&self.setup.dir)
    }
}

/// Opens the log in an instance's directory for reading, whoever made it.
///
/// # Errors
/// When there is none, or something else in its place.
pub fn open_log_in(dir: &Path) -> io::Result<File> {
    plain::open(dir, &dir.join(LOG), OFlag::O_RDONLY)
}

/// Makes a directory that only the servers' user (and root) can enter; nobody but rqps writes to `root`,
/// above it.
pub(crate) fn make_private(root: &Path, path: &Path, identity: &Identity) -> Result<(), Error> {
    let make = || -> io::Result<()> {
        let dir = plain::make_dir(root, path)?;
        dir.set_permissions(Permissions::from_mode(0o700))?;
        hand_over(&dir, identity)
    };
    make().map_err(|e| Error::write(path, e))
}

/// Gives what was opened to the servers' user.
fn hand_over(opened: &File, identity: &Identity) -> io::Result<()> {
    if !identity.switch {
        return Ok(());
    }
    Ok(fchown(opened, Some(identity.uid), Some(identity.gid))?)
}
