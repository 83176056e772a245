//! A lock between rqps processes that share a cache, held until dropped or until the process ends.

use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::Error;
use crate::watch::{Progress, Watch};

/// Longest wait for another process: as long as its download may take.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// Waits for the lock on a file, which is made if need be and stays.
pub(crate) fn acquire(path: &Path, watch: &mut Watch<'_>) -> Result<Flock<File>, Error> {
    let doing = format!("wait for another rqps that holds {}", path.display());
    let mut file = Some(
        OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(path)
            .map_err(|e| Error::write(path, e))?,
    );
    let every = Duration::from_millis(200);
    let lock = watch.poll(&doing, (LIMIT, every), |watch| {
        let Some(mine) = file.take() else { return Ok(None) };
        match Flock::lock(mine, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => Ok(Some(lock)),
            Err((back, Errno::EWOULDBLOCK)) => {
                file = Some(back);
                (watch.report)(Progress::Waiting { what: "another rqps fetches the same" });
                Ok(None)
            }
            Err((_, e)) => Err(Error::io(format!("lock {}", path.display()), e.into())),
        }
    })?;
    lock.ok_or_else(|| Error::Interrupted { doing })
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
        let held = acquire(&path, &mut Watch { stop: &stop, report: &mut |_| {} }).unwrap();
        let mut asked = 0;
        let second = acquire(
            &path,
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
        stop.store(false, std::sync::atomic::Ordering::Relaxed);
        acquire(&path, &mut Watch { stop: &stop, report: &mut |_| {} }).unwrap();
    }
}
