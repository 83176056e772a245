//! The directory of a server's socket: emptied of sockets and their locks, and of nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use nix::fcntl::{OFlag, open, openat};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};

use crate::places::short_hash;

/// What the names of sockets and of their lock files begin with.
const NAMES: [&str; 2] = ["mysql.sock", ".s.PGSQL."];

/// Removes what a server left in its socket directory. A link in the directory's place is not followed.
pub(crate) fn empty(dir: &Path) {
    let flags = OFlag::O_RDONLY | OFlag::O_DIRECTORY | OFlag::O_NOFOLLOW | OFlag::O_CLOEXEC;
    let Ok(opened) = open(dir, flags, Mode::empty()) else { return };
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_known = NAMES.iter().any(|known| name.to_string_lossy().starts_with(known));
        if is_known {
            let _ = unlinkat(&opened, name.as_os_str(), UnlinkatFlags::NoRemoveDir);
        }
    }
}

/// Empties the directory and removes it, unless it holds anything else.
pub(crate) fn remove(dir: &Path) {
    empty(dir);
    let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else { return };
    let flags = OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC;
    let Ok(parent) = open(parent, flags, Mode::empty()) else { return };
    let is_dir = openat(&parent, name, flags | OFlag::O_NOFOLLOW, Mode::empty()).is_ok();
    if is_dir {
        let _ = unlinkat(&parent, name, UnlinkatFlags::RemoveDir);
    }
}

/// The socket directory of an instance.
pub(crate) fn of_instance(sockets: &Path, dir: &Path) -> PathBuf {
    sockets.join(short_hash(&dir.to_string_lossy()))
}

/// Removes the socket directory that a killed server of an instance left below `sockets`. To be called
/// when [`crate::instance::clear`] has said that nobody uses the instance.
pub fn clear_socket(sockets: &Path, dir: &Path) {
    remove(&of_instance(sockets, dir));
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_sockets_and_their_locks_go() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("s");
        fs::create_dir(&dir).unwrap();
        let names = ["mysql.sock", "mysql.sock.lock", ".s.PGSQL.5432", ".s.PGSQL.5432.lock"];
        names.iter().for_each(|name| fs::write(dir.join(name), "").unwrap());
        fs::write(dir.join("thesis.txt"), "years of work").unwrap();
        remove(&dir);
        let left: Vec<_> = fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(left, ["thesis.txt"]);
        fs::remove_file(dir.join("thesis.txt")).unwrap();
        remove(&dir);
        assert!(!dir.exists());
    }

    #[test]
    fn a_link_is_not_followed() {
        let top = tempfile::tempdir().unwrap();
        let (theirs, link) = (top.path().join("theirs"), top.path().join("s"));
        fs::create_dir(&theirs).unwrap();
        fs::write(theirs.join("mysql.sock"), "").unwrap();
        symlink(&theirs, &link).unwrap();
        remove(&link);
        assert!(theirs.join("mysql.sock").exists() && link.is_symlink());
    }

    #[test]
    fn the_socket_of_one_instance_goes_and_those_of_others_stay() {
        let top = tempfile::tempdir().unwrap();
        let dirs = ["/data/run-0", "/data/run-1"].map(Path::new);
        for dir in dirs {
            let of = of_instance(top.path(), dir);
            fs::create_dir(&of).unwrap();
            fs::write(of.join("mysql.sock"), "").unwrap();
        }
        clear_socket(top.path(), dirs[0]);
        clear_socket(top.path(), Path::new("/data/run-2"));
        assert!(!of_instance(top.path(), dirs[0]).exists());
        assert!(of_instance(top.path(), dirs[1]).join("mysql.sock").exists());
    }
}
