//! What is free on a file system, as the kernel tells it.

use std::io;
use std::path::Path;

use nix::sys::statvfs::statvfs;

/// A path itself, or its nearest parent that exists.
pub(crate) fn nearest_existing(path: &Path) -> &Path {
    path.ancestors().find(|parent| parent.exists()).unwrap_or(Path::new("/"))
}

/// Bytes that an ordinary user may still write on the file system of a path that exists.
pub(crate) fn free_bytes_of(existing: &Path) -> io::Result<u64> {
    let stat = statvfs(existing)?;
    // A file system without blocks does not count them: ramfs, some of FUSE.
    if stat.blocks() == 0 {
        return Ok(u64::MAX);
    }
    Ok(stat.blocks_available() * stat.fragment_size())
}
