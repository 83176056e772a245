//! A lock on a run, so that two processes never measure or remove the same one.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::Error;
use crate::store::Store;

/// How long and how often taking hold of a run is tried again: [`Store::is_held`] of another process has
/// it for some microseconds, or for as long as it gets no CPU.
const AGAIN: (Duration, u32) = (Duration::from_millis(10), 30);

/// A lock on a run, until it is dropped or the process ends.
#[derive(Debug)]
pub struct RunLock {
    // flock(2): the kernel releases it with the file. The file itself stays, with the id of who
    // held it last; removing it would let two processes lock two files of one name.
    _file: Flock<File>,
}

impl Store {
    /// Locks a run.
    ///
    /// # Errors
    /// [`Error::RunInUse`] when another process, or another part of this one, holds it.
    pub fn lock_run(&self, run_id: &str) -> Result<RunLock, Error> {
        let path = self.artifact_dir(run_id)?.join("lock");
        let failed = |source| Error::File { action: "lock", path: path.clone(), source };
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        let in_use = || Error::RunInUse { run_id: run_id.to_owned(), pid: read_pid(&path) };
        let (wait, mut left) = AGAIN;
        let mut unlocked = file;
        let mut file = loop {
            match Flock::lock(unlocked, FlockArg::LockExclusiveNonblock) {
                Ok(file) => break file,
                Err((_, Errno::EWOULDBLOCK)) if left == 0 => return Err(in_use()),
                Err((file, Errno::EWOULDBLOCK)) => unlocked = file,
                Err((_, errno)) => return Err(failed(errno.into())),
            }
            left -= 1;
            #[expect(clippy::disallowed_methods, reason = "a lock has no timed wait")]
            std::thread::sleep(wait);
        };
        file.set_len(0).map_err(failed)?;
        writeln!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(RunLock { _file: file })
    }

    /// Whether any process holds the run now.
    ///
    /// # Errors
    /// When its lock is there and cannot be looked at.
    pub fn is_held(&self, run_id: &str) -> Result<bool, Error> {
        let path = self.artifact_path(run_id)?.join("lock");
        let failed = |source| Error::File { action: "look at", path: path.clone(), source };
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(failed(error)),
        };
        // Shared, so that two that look do not take each other for a holder; gone with the file.
        match Flock::lock(file, FlockArg::LockSharedNonblock) {
            Ok(_) => Ok(false),
            Err((_, Errno::EWOULDBLOCK)) => Ok(true),
            Err((_, errno)) => Err(failed(errno.into())),
        }
    }
}

/// The process that the lock's file names; `?` in the moment before it has written its id.
fn read_pid(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    if text.trim().is_empty() { "?".to_owned() } else { text.trim().to_owned() }
}
