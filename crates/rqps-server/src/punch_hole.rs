//! Page compression's holes: whether the data directory's file system can punch them into files.
//!
//! InnoDB compresses a page and gives the rest of its place back to the file system. Where that cannot
//! be done, MySQL makes the table without compression and MariaDB compresses for nothing, both with a
//! line in the log at most.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use nix::fcntl::{FallocateFlags, fallocate};
use rqps_model::Compression;

use crate::Error;

/// A block of most file systems, and what InnoDB punches at least: pages have 16 KiB.
const BLOCK: i64 = 4096;

/// Refuses page compression where no hole can be punched into files below `dir`.
///
/// # Errors
/// [`Error::Limit`] with the directory and the remedy, or a failed write.
pub fn check(compression: Compression, dir: &Path) -> Result<(), Error> {
    decide(compression, dir, &probe)
}

/// [`check`] with any way to find out: `Ok(false)` for a hole that gave nothing back.
fn decide(
    compression: Compression,
    dir: &Path,
    probe: &dyn Fn(&Path) -> io::Result<bool>,
) -> Result<(), Error> {
    let Compression::Page(_) = compression else { return Ok(()) };
    let why = match probe(dir) {
        Ok(true) => return Ok(()),
        Ok(false) => "a hole frees no space".to_owned(),
        // fallocate(2): EOPNOTSUPP of the file system, ENOSYS of the kernel.
        Err(e) if e.kind() == io::ErrorKind::Unsupported => e.to_string(),
        Err(e) => return Err(Error::write(dir, e)),
    };
    Err(Error::Limit {
        what: format!("compression = \"{compression}\""),
        detail: format!(
            "the file system of {} cannot punch holes into files ({why}), so compressed pages would \
             save no space",
            dir.display()
        ),
        remedy: "name a directory on another file system, such as ext4 or xfs, with --results, or \
                 write compression = \"row\""
            .to_owned(),
    })
}

/// Writes a page to a file in `dir`, punches all but a block of it out, and removes the file.
fn probe(dir: &Path) -> io::Result<bool> {
    let path = dir.join("rqps-punch-hole");
    let punched = || -> io::Result<bool> {
        let mut options = OpenOptions::new();
        let mut file = options.read(true).write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(&[1; 4 * 4096])?;
        file.sync_all()?;
        let before = file.metadata()?.blocks();
        let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        fallocate(&file, flags, BLOCK, 3 * BLOCK).map_err(io::Error::from)?;
        file.sync_all()?;
        Ok(file.metadata()?.blocks() < before)
    };
    let result = punched();
    let _ = fs::remove_file(&path);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_compression_needs_holes() {
        let dir = Path::new("/d");
        let page = "page-zlib".parse().unwrap();
        let none = |_: &Path| Err(io::Error::from_raw_os_error(nix::libc::EOPNOTSUPP));
        decide(Compression::Row, dir, &none).unwrap();
        decide(page, dir, &|_| Ok(true)).unwrap();
        let text = decide(page, dir, &none).unwrap_err().to_string();
        assert!(text.starts_with("compression = \"page-zlib\": the file system of /d"), "{text}");
        let text = decide(page, dir, &|_| Ok(false)).unwrap_err().to_string();
        assert!(text.contains("a hole frees no space"), "{text}");
        let full = |_: &Path| Err(io::Error::from_raw_os_error(nix::libc::EACCES));
        assert!(!matches!(decide(page, dir, &full), Err(Error::Limit { .. })));
    }

    #[test]
    fn the_probe_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        // Either answer is right: it depends on where temporary files are.
        let _ = probe(dir.path());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
