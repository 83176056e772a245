//! A directory for perf's files, which hold copies of a server's memory: for this user alone.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::{Context as _, Result};

/// Removed when dropped.
pub(super) struct TempDir(PathBuf);

impl TempDir {
    pub(super) fn create(temp: &Path) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = temp.join(format!("rqps-stacks-{}-{n}", std::process::id()));
        // What a process of the same id left behind, long ago.
        let _ = std::fs::remove_dir_all(&path);
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.with_context(|| format!("create {}", path.display()))?;
        Ok(Self(path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
