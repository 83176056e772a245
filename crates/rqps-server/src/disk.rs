//! Space on file systems: how much is free, and whether that is enough for what comes.

use std::path::Path;

use crate::Error;
use crate::free_space::{free_bytes_of, nearest_existing};

/// Bytes that an ordinary user may still write on the file system of `path`, or of its nearest existing
/// parent.
///
/// # Errors
/// When the file system cannot be asked.
pub fn free_bytes(path: &Path) -> Result<u64, Error> {
    let existing = nearest_existing(path);
    free_bytes_of(existing)
        .map_err(|e| Error::io(format!("ask for free space of {}", existing.display()), e))
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
}
