//! Copies data directories. The file system shares the blocks where it can; holes stay holes.

use std::fs::{self, File, Permissions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd::{Gid, Uid, Whence, fchown, lseek};

use crate::identity::Identity;
use crate::plain;

/// How much is copied before it is looked at whether the user wants to stop, bytes.
const CHUNK_BYTES: u64 = 64 << 20;

/// Whom copied files are given to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owner {
    uid: Uid,
    gid: Gid,
}

impl Owner {
    /// `None` where whoever copies owns them.
    pub(crate) fn of(identity: &Identity) -> Option<Self> {
        let Identity { uid, gid, switch, .. } = identity;
        switch.then_some(Self { uid: *uid, gid: *gid })
    }
}

/// A directory and its copy.
struct Copy<'a> {
    from: &'a Path,
    to: &'a Path,
    owner: Option<Owner>,
    stop: &'a AtomicBool,
}

/// Copies what the directory `from` holds into the directory `to`, which is there.
///
/// # Errors
/// When something cannot be read or written; [`io::ErrorKind::Interrupted`] when `stop` is set; when `from` holds
/// anything but directories and plain files.
pub(crate) fn copy_tree(
    from: &Path,
    to: &Path,
    owner: Option<Owner>,
    stop: &AtomicBool,
) -> io::Result<()> {
    Copy { from, to, owner, stop }.dir(Path::new(""))
}

impl Copy<'_> {
    fn dir(&self, below: &Path) -> io::Result<()> {
        for entry in fs::read_dir(self.from.join(below))? {
            let entry = entry?;
            let below = below.join(entry.file_name());
            let mode = entry.metadata()?.mode();
            let made = if entry.file_type()?.is_dir() {
                let made = plain::make_dir(self.to, &self.to.join(&below))?;
                self.dir(&below)?;
                made
            } else {
                self.file(&below)?
            };
            made.set_permissions(Permissions::from_mode(mode & 0o777))?;
            if let Some(Owner { uid, gid }) = self.owner {
                fchown(&made, Some(uid), Some(gid))?;
            }
        }
        Ok(())
    }

    fn file(&self, below: &Path) -> io::Result<File> {
        let source = plain::open(self.from, &self.from.join(below), OFlag::O_RDONLY)?;
        let mut copy = plain::create(self.to, &self.to.join(below))?;
        let len = source.metadata()?.len();
        copy.set_len(len)?;
        let mut at = 0;
        while let Some(begin) = seek(&source, at, Whence::SeekData)?.filter(|begin| *begin < len) {
            let end = seek(&source, begin, Whence::SeekHole)?.unwrap_or(len).min(len);
            at = begin;
            while at < end {
                if self.stop.load(Ordering::Relaxed) {
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
                let chunk = (end - at).min(CHUNK_BYTES);
                (&source).seek(SeekFrom::Start(at))?;
                copy.seek(SeekFrom::Start(at))?;
                if io::copy(&mut (&source).take(chunk), &mut copy)? < chunk {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                at += chunk;
            }
        }
        Ok(copy)
    }
}

/// The next data or hole of a file from `at` on; `None` where only a hole follows.
fn seek(file: &File, at: u64, whence: Whence) -> io::Result<Option<u64>> {
    let offset = i64::try_from(at).map_err(io::Error::other)?;
    match lseek(file, offset, whence) {
        Ok(found) => Ok(u64::try_from(found).ok()),
        Err(Errno::ENXIO) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_copy_has_the_same_bytes_and_holes() {
        let top = tempfile::tempdir().unwrap();
        let (from, to) = (top.path().join("a"), top.path().join("b"));
        fs::create_dir_all(from.join("deep")).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("deep/t.ibd"), "rows").unwrap();
        let mut sparse = File::create(from.join("sparse")).unwrap();
        sparse.set_len(8 << 20).unwrap();
        sparse.seek(SeekFrom::Start(4 << 20)).unwrap();
        io::Write::write_all(&mut sparse, &[7; 4096]).unwrap();
        copy_tree(&from, &to, None, &AtomicBool::new(false)).unwrap();
        assert_eq!(fs::read_to_string(to.join("deep/t.ibd")).unwrap(), "rows");
        assert_eq!(fs::read(to.join("sparse")).unwrap(), fs::read(from.join("sparse")).unwrap());
        let blocks = |dir: &Path| fs::metadata(dir.join("sparse")).unwrap().blocks();
        assert_eq!(blocks(&to), blocks(&from));
    }

    #[test]
    fn a_link_is_not_followed_and_a_stop_is_heard() {
        let top = tempfile::tempdir().unwrap();
        let (from, to) = (top.path().join("a"), top.path().join("b"));
        fs::create_dir(&from).unwrap();
        fs::create_dir(&to).unwrap();
        fs::write(from.join("t"), "rows").unwrap();
        let stopped = copy_tree(&from, &to, None, &AtomicBool::new(true)).unwrap_err();
        assert_eq!(stopped.kind(), io::ErrorKind::Interrupted);
        symlink("/etc/passwd", from.join("link")).unwrap();
        copy_tree(&from, &to, None, &AtomicBool::new(false)).unwrap_err();
        assert!(!to.join("link").exists());
    }
}
