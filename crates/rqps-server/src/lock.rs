//! A lock between rqps processes that share a cache, held until dropped or until the process ends.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::Error;
use crate::watch::{Progress, Watch};

/// Longest wait for another process: as long as its download may take.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// Who may hold a lock together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One alone.
    Exclusive,
    /// Several, while none holds it alone.
    Shared,
}

/// What a lock is taken for.
#[derive(Debug, Clone, Copy)]
pub struct Purpose {
    kind: Kind,
    /// What whoever holds the lock meanwhile does.
    why: &'static str,
}

/// To work on what is in the cache.
pub const FETCHING: Purpose =
    Purpose { kind: Kind::Exclusive, why: "another rqps is fetching the same" };

/// To replace what others may use.
pub const REPLACING: Purpose =
    Purpose { kind: Kind::Exclusive, why: "another rqps is running the server to be replaced" };

/// To use what is in the cache.
pub const USING: Purpose =
    Purpose { kind: Kind::Shared, why: "another rqps is replacing the server" };

/// Waits for the lock on a file, which is made if need be and stays.
///
/// # Errors
/// When the file cannot be opened, or somebody holds it for an hour.
pub fn acquire(path: &Path, purpose: Purpose, watch: &mut Watch<'_>) -> Result<Flock<File>, Error> {
    let Purpose { kind, why } = purpose;
    let doing = format!("wait for another rqps that holds {}", path.display());
    let arg = match kind {
        Kind::Exclusive => FlockArg::LockExclusiveNonblock,
        Kind::Shared => FlockArg::LockSharedNonblock,
    };
    let mut file = Some(
        OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(|e| Error::write(path, e))?,
    );
    let every = Duration::from_millis(200);
    let lock = watch.poll(&doing, LIMIT, every, |watch| {
        let Some(mine) = file.take() else { return Ok(None) };
        match Flock::lock(mine, arg) {
            Ok(lock) => Ok(Some(lock)),
            Err((back, Errno::EWOULDBLOCK)) => {
                file = Some(back);
                (watch.report)(Progress::Waiting { what: why });
                Ok(None)
            }
            Err((_, e)) => Err(Error::io(format!("lock {}", path.display()), e.into())),
        }
    })?;
    let minutes = LIMIT.as_secs() / 60;
    lock.ok_or_else(|| Error::HeldTooLong { path: path.to_owned(), minutes, why })
}

/// The lock on a file held alone, where nobody holds it; `None` where somebody does.
///
/// # Errors
/// When the file cannot be opened.
pub fn try_alone(path: &Path) -> Result<Option<Flock<File>>, Error> {
    let mut options = OpenOptions::new();
    let opened = options.create(true).truncate(false).write(true).open(path);
    let file = opened.map_err(|e| Error::write(path, e))?;
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(lock) => Ok(Some(lock)),
        Err((_, Errno::EWOULDBLOCK)) => Ok(None),
        Err((_, e)) => Err(Error::io(format!("lock {}", path.display()), e.into())),
    }
}

/// Use of something in the cache: it stays unchanged until all clones are dropped.
#[derive(Debug, Clone, Default)]
pub struct Lease(#[expect(dead_code, reason = "held, not read")] Option<Arc<Flock<File>>>);

impl Lease {
    /// Begins to use what a file stands for.
    ///
    /// # Errors
    /// When the file cannot be opened, or somebody replaces it for too long.
    pub fn take(path: &Path, watch: &mut Watch<'_>) -> Result<Self, Error> {
        if let Some(dir) = path.parent() {
            // What comes of it shows when the file is opened.
            let _ = std::fs::create_dir_all(dir);
        }
        match acquire(path, USING, watch) {
            Ok(lock) => Ok(Self(Some(Arc::new(lock)))),
            // Where nothing can be written (a cache of another user's), nothing is known of others.
            Err(Error::Io { source, .. })
                if matches!(
                    source.kind(),
                    ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                Ok(Self(None))
            }
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn only_one_holds_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.lock");
        let stop = AtomicBool::new(false);
        let held =
            acquire(&path, FETCHING, &mut Watch { stop: &stop, report: &mut |_| {} }).unwrap();
        let mut asked = 0;
        let second = acquire(
            &path,
            FETCHING,
            &mut Watch {
                stop: &stop,
                report: &mut |_| {
                    asked += 1;
                    stop.store(true, std::sync::atomic::Ordering::Relaxed);
                },
            },
        );
        assert!(matches!(second, Err(Error::Interrupted { .. })));
        assert_eq!(asked, 1);
        drop(held);
        let using = [(); 2].map(|()| {
            acquire(&path, USING, &mut Watch { stop: &AtomicBool::new(false), report: &mut |_| {} })
                .unwrap()
        });
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        let replaced = acquire(&path, REPLACING, &mut Watch { stop: &stop, report: &mut |_| {} });
        assert!(matches!(replaced, Err(Error::Interrupted { .. })));
        drop(using);
        stop.store(false, std::sync::atomic::Ordering::Relaxed);
        acquire(&path, FETCHING, &mut Watch { stop: &stop, report: &mut |_| {} }).unwrap();
    }
}
