//! Space on file systems: how much is free, how much a tree takes, enough for what comes.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use nix::sys::statvfs::statvfs;

use crate::Error;

/// Bytes that an ordinary user may still write on the file system of `path` (or of its nearest
/// existing parent).
///
/// # Errors
/// When the file system cannot be asked.
pub fn free_bytes(path: &Path) -> Result<u64, Error> {
    let existing = path.ancestors().find(|parent| parent.exists()).unwrap_or(Path::new("/"));
    let stat = statvfs(existing).map_err(|e| {
        Error::io(format!("ask for free space of {}", existing.display()), e.into())
    })?;
    // A file system without blocks does not count them: ramfs, some of FUSE.
    if stat.blocks() == 0 {
        return Ok(u64::MAX);
    }
    Ok(stat.blocks_available() * stat.fragment_size())
}

/// Refuses work that would fill the disk: `needed` bytes and 5% of slack must be free.
pub(crate) fn require(path: &Path, needed: u64) -> Result<(), Error> {
    let free = free_bytes(path)?;
    let needed = needed + needed / 20;
    if free < needed {
        return Err(Error::DiskFull {
            path: path.to_owned(),
            needed_mb: needed / 1_000_000,
            free_mb: free / 1_000_000,
        });
    }
    Ok(())
}

/// Bytes that the files below `dir` occupy on disk (allocated blocks, so sparse files count as
/// what they take). Files that vanish meanwhile count as nothing: servers delete files.
#[must_use]
pub fn tree_bytes(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => tree_bytes(&entry.path()),
            // st_blocks counts units of 512 bytes whatever the file system's own block is: stat(2).
            Ok(meta) => meta.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_does_not_fit() {
        let dir = tempfile::tempdir().unwrap();
        require(&dir.path().join("not/there/yet"), 1).unwrap();
        let error = require(dir.path(), u64::MAX / 2).unwrap_err().to_string();
        assert!(error.contains("no space left for") && error.contains("choose another"), "{error}");
    }

    #[test]
    fn a_file_system_that_does_not_count_is_not_full() {
        // procfs has no blocks: statfs(2) gives 0 of 0.
        assert_eq!(free_bytes(Path::new("/proc")).unwrap(), u64::MAX);
    }

    #[test]
    fn counts_what_files_take() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        fs::write(dir.path().join("sub/file"), vec![1_u8; 100_000]).unwrap();
        let bytes = tree_bytes(dir.path());
        assert!((100_000..200_000).contains(&bytes), "{bytes}");
        assert_eq!(tree_bytes(&dir.path().join("absent")), 0);
    }
}
