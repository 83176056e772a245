//! A directory for perf's files, which hold copies of a server's memory: for this user alone.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};

/// How its name begins; the process's id and a number follow.
const PREFIX: &str = "rqps-stacks-";

/// Removed when dropped. What a process that was killed has left goes when the next one is made.
pub(super) struct TempDir {
    path: PathBuf,
    /// Locked while it is in use.
    _held: File,
}

impl TempDir {
    pub(super) fn create(temp: &Path) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        sweep(temp);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = temp.join(format!("{PREFIX}{}-{n}", std::process::id()));
        // What a process of the same id left behind, long ago.
        if is_of_this_user(&path) {
            let _ = fs::remove_dir_all(&path);
        }
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("create {}", path.display()))?;
        let held = File::open(&path).and_then(|dir| dir.lock().map(|()| dir));
        let held = held.with_context(|| format!("lock {}", path.display()))?;
        Ok(Self { path, _held: held })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes what processes of this user that are no more have left. What cannot be removed stays.
fn sweep(temp: &Path) {
    for entry in fs::read_dir(temp).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(maker) else { continue };
        let path = entry.path();
        // One that has just been made is not locked yet, and one of another container has a process that is not seen.
        let is_left = !Path::new(&format!("/proc/{pid}")).exists();
        if is_left
            && is_of_this_user(&path)
            && File::open(&path).is_ok_and(|dir| dir.try_lock().is_ok())
        {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// The id of the process that made a directory of this name.
fn maker(name: &str) -> Option<u32> {
    let (pid, n) = name.strip_prefix(PREFIX)?.split_once('-')?;
    n.parse::<u32>().ok()?;
    pid.parse().ok()
}

/// Whether it is a directory, and of the user that this process runs as: anybody may make one of such a name.
fn is_of_this_user(path: &Path) -> bool {
    // The owner of a process's directory is its effective user: proc_pid(5).
    let own = fs::metadata("/proc/self").map(|meta| meta.uid());
    let there = fs::symlink_metadata(path);
    matches!((own, there), (Ok(own), Ok(meta)) if meta.is_dir() && meta.uid() == own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_processes_left_goes_and_nothing_else() {
        let temp = tempfile::tempdir().unwrap();
        let dir = |name: &str| {
            let path = temp.path().join(name);
            fs::create_dir_all(path.join("inside")).unwrap();
            path
        };
        // No process has an id above 4194304 (proc_sys_kernel(5), pid_max).
        let left = dir("rqps-stacks-4194305-0");
        let locked = dir("rqps-stacks-4194306-0");
        let held = File::open(&locked).unwrap();
        held.lock().unwrap();
        let alive = dir(&format!("rqps-stacks-{}-999", std::process::id()));
        let others = [dir("rqps-stacks-x-0"), dir("rqps-stacks-4194305"), dir("stacks-4194305-0")];
        let linked = temp.path().join("rqps-stacks-4194307-0");
        std::os::unix::fs::symlink(&others[0], &linked).unwrap();
        let own = TempDir::create(temp.path()).unwrap();
        assert!(!left.exists());
        assert!(locked.exists() && alive.exists() && linked.exists());
        assert!(others.iter().all(|other| other.join("inside").exists()));
        let path = own.path().to_owned();
        assert!(path.exists());
        drop(own);
        assert!(!path.exists());
    }
}
