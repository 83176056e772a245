//! Files and directories that belong to the servers' user, opened through no link: rqps may be root, and
//! that user could have put a link, a pipe or another's file in their place.
//!
//! Each function is told a directory that only rqps writes to (`root`) and goes down from there.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};

use nix::errno::Errno;
use nix::fcntl::{OFlag, open as open_path, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{UnlinkatFlags, unlinkat};

/// Opens a plain file.
///
/// # Errors
/// When there is none, or something else in its place.
pub(crate) fn open(root: &Path, path: &Path, flags: OFlag) -> io::Result<File> {
    let (dir, name) = parent(root, path)?;
    // A pipe would make the opening wait.
    let flags = flags | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC | OFlag::O_NONBLOCK;
    let file = File::from(openat(&dir, &name, flags, Mode::from_bits_truncate(0o600))?);
    let meta = file.metadata()?;
    // Another name of somebody else's file is one that was put there.
    if meta.is_file() && meta.nlink() <= 1 {
        return Ok(file);
    }
    Err(io::Error::other(format!("{} is not a plain file of its own", path.display())))
}

/// The bytes of a plain file from `offset` on.
///
/// # Errors
/// As [`open`], or when it cannot be read.
pub(crate) fn read(root: &Path, path: &Path, offset: u64) -> io::Result<Vec<u8>> {
    use std::io::Seek as _;
    let mut file = open(root, path, OFlag::O_RDONLY)?;
    file.seek(io::SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Makes a new file, in place of whatever bears its name.
///
/// # Errors
/// When it cannot be made.
pub(crate) fn create(root: &Path, path: &Path) -> io::Result<File> {
    let (dir, name) = parent(root, path)?;
    match unlinkat(&dir, &name, UnlinkatFlags::NoRemoveDir) {
        Ok(()) | Err(Errno::ENOENT) => {}
        Err(errno) => return Err(errno.into()),
    }
    open(root, path, OFlag::O_RDWR | OFlag::O_CREAT | OFlag::O_EXCL)
}

/// Makes a directory, or opens the one that is there.
///
/// # Errors
/// When it cannot be made, or something else has its name.
pub(crate) fn make_dir(root: &Path, path: &Path) -> io::Result<File> {
    let (dir, name) = parent(root, path)?;
    match mkdirat(&dir, &name, Mode::S_IRWXU) {
        Ok(()) | Err(Errno::EEXIST) => {}
        Err(errno) => return Err(errno.into()),
    }
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    Ok(File::from(openat(&dir, &name, flags, Mode::empty())?))
}

/// The directory that something lies in, reached from `root` through no link, and its name there.
fn parent(root: &Path, path: &Path) -> io::Result<(OwnedFd, PathBuf)> {
    let bad = || {
        let text = format!("{} is not below {}", path.display(), root.display());
        io::Error::new(io::ErrorKind::InvalidInput, text)
    };
    let below = path.strip_prefix(root).map_err(|_| bad())?;
    let mut names = Vec::new();
    for component in below.components() {
        let Component::Normal(name) = component else { return Err(bad()) };
        if name.as_bytes().is_empty() {
            return Err(bad());
        }
        names.push(name);
    }
    let last = names.pop().ok_or_else(bad)?;
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let mut dir = open_path(root, flags, Mode::empty())?;
    for name in names {
        dir = openat(&dir, name, flags | OFlag::O_NOFOLLOW, Mode::empty())?;
    }
    Ok((dir, PathBuf::from(last)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_reached_through_a_link_or_by_another_name() {
        let dir = tempfile::tempdir().unwrap();
        let (root, secret) = (dir.path().join("instance"), dir.path().join("secret"));
        fs::create_dir_all(root.join("data")).unwrap();
        fs::write(&secret, "theirs").unwrap();
        symlink(&secret, root.join("log")).unwrap();
        fs::hard_link(&secret, root.join("same")).unwrap();
        symlink(dir.path(), root.join("out")).unwrap();
        nix::unistd::mkfifo(&root.join("pipe"), Mode::S_IRWXU).unwrap();
        for name in ["log", "same", "out/secret", "pipe", "data", "nothing", "../secret", ""] {
            let path = root.join(name);
            for flags in [OFlag::O_RDONLY, OFlag::O_WRONLY | OFlag::O_APPEND] {
                assert!(open(&root, &path, flags).is_err(), "{name}");
            }
        }
        // The new file takes the link's place and leaves what it led to.
        for name in ["log", "same"] {
            let mut file = create(&root, &root.join(name)).unwrap();
            file.write_all(b"ours").unwrap();
            assert_eq!(read(&root, &root.join(name), 1).unwrap(), b"urs");
        }
        assert!(create(&root, &root.join("out/new")).is_err());
        assert!(make_dir(&root, &root.join("out")).is_err());
        assert!(make_dir(&root, &root.join("out/new")).is_err());
        make_dir(&root, &root.join("data/new")).unwrap();
        make_dir(&root, &root.join("data/new")).unwrap();
        assert!(root.join("data/new").is_dir() && !dir.path().join("new").exists());
        assert_eq!(fs::read_to_string(&secret).unwrap(), "theirs");
        assert!(open(&root, &secret, OFlag::O_RDONLY).is_err());
    }
}
