//! A lock on a run, so that two processes never measure or remove the same one.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::Error;
use crate::store::Store;

/// Holds a run until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct RunLock {
    // flock(2): the kernel releases it with the file. The file itself stays, with the id of who
    // held it last; removing it would let two processes lock two files of one name.
    _file: Flock<File>,
}

impl Store {
    /// Takes hold of a run.
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
        let mut file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(file) => file,
            Err((_, Errno::EWOULDBLOCK)) => {
                return Err(Error::RunInUse { run_id: run_id.to_owned(), pid: read_pid(&path) });
            }
            Err((_, errno)) => return Err(failed(errno.into())),
        };
        file.set_len(0).map_err(failed)?;
        writeln!(file, "{}", std::process::id()).map_err(failed)?;
        Ok(RunLock { _file: file })
    }

    /// Whether a process holds a run at this moment; changes nothing.
    pub(crate) fn is_held(&self, run_id: &str) -> bool {
        let path = self.artifact_path(run_id).map(|dir| dir.join("lock"));
        let Some(file) = path.ok().and_then(|path| File::open(path).ok()) else { return false };
        matches!(Flock::lock(file, FlockArg::LockSharedNonblock), Err((_, Errno::EWOULDBLOCK)))
    }
}

/// The process that the lock's file names; `?` in the moment before it has written its id.
fn read_pid(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    if text.trim().is_empty() { "?".to_owned() } else { text.trim().to_owned() }
}
