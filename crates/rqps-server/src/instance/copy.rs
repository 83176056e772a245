//! Whole instances that no server runs on: moved, copied, and looked at.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::unistd::syncfs;

use super::marker::{Marker, clear, lock_marker, not_ours, read_marker, remove_all, write_marker};
use super::{DATA, make_private};
use crate::Error;
use crate::copy_tree::{Owner, copy_tree};
use crate::identity::Identity;

/// What of an instance is copied: the data, and the certificate beside them. The server makes the rest again.
const COPIED: [&str; 2] = [DATA, "tls"];

/// Moves an instance with a stopped server on the same file system.
///
/// # Errors
/// [`Error::NotSound`] when the server did not stop by itself; [`Error::NotOurs`] and [`Error::InUse`]; when it cannot
/// be moved. Then it is where it was.
pub fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    let _lock = lock_marker(from, false)?;
    read_whole(from)?;
    fs::rename(from, to).map_err(|e| Error::write(to, e))
}

/// Copies an instance with a stopped server, with the note `note`, in place of an earlier instance at `to`.
/// The whole copy is on disk when this returns.
///
/// # Errors
/// As [`rename`]; [`Error::Interrupted`] when `stop` is set. Then nothing stays of the copy.
pub fn copy(
    from: &Path,
    to: &Path,
    identity: &Identity,
    note: &str,
    stop: &AtomicBool,
) -> Result<(), Error> {
    let source = read_whole(from)?;
    clear(to)?;
    make_private(to.parent().unwrap_or(to), to, identity)?;
    let lock = lock_marker(to, true)?;
    let mut marker = Marker {
        rqps_pid: std::process::id(),
        initialised: false,
        note: Some(note.to_owned()),
        ..source
    };
    write_marker(&lock, to, &marker)?;
    if let Err(error) = copy_parts(from, to, identity, stop) {
        let _ = remove_all(to);
        let doing = || format!("copying {}", from.display());
        let is_stopped = stop.load(Ordering::Relaxed);
        return Err(if is_stopped { Error::Interrupted { doing: doing() } } else { error });
    }
    marker.initialised = true;
    write_marker(&lock, to, &marker)
}

fn copy_parts(from: &Path, to: &Path, identity: &Identity, stop: &AtomicBool) -> Result<(), Error> {
    make_private(to, &to.join("tmp"), identity)?;
    for part in COPIED.iter().filter(|part| from.join(part).is_dir()) {
        let copy = to.join(part);
        make_private(to, &copy, identity)?;
        let copied = copy_tree(&from.join(part), &copy, Owner::of(identity), stop);
        copied.map_err(|e| Error::write(&copy, e))?;
    }
    let synced = File::open(to).and_then(|dir| Ok(syncfs(dir)?));
    synced.map_err(|e| Error::write(to, e))
}

/// The marker of an instance whose server has stopped by itself.
fn read_whole(dir: &Path) -> Result<Marker, Error> {
    let marker = read_marker(dir).filter(|marker| marker.initialised);
    let marker = marker.ok_or_else(|| not_ours(dir))?;
    if marker.is_stopped {
        return Ok(marker);
    }
    let why = "its server did not stop cleanly".to_owned();
    Err(Error::NotSound { path: dir.to_owned(), why })
}

/// Sizes of the files in a copy of an instance, bytes, by path.
///
/// # Errors
/// When a directory cannot be read.
pub fn file_sizes(dir: &Path) -> io::Result<BTreeMap<String, u64>> {
    let mut sizes = BTreeMap::new();
    for part in COPIED.iter().filter(|part| dir.join(part).is_dir()) {
        add_sizes(dir, Path::new(part), &mut sizes)?;
    }
    Ok(sizes)
}

fn add_sizes(dir: &Path, below: &Path, sizes: &mut BTreeMap<String, u64>) -> io::Result<()> {
    for entry in fs::read_dir(dir.join(below))? {
        let entry = entry?;
        let below: PathBuf = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            add_sizes(dir, &below, sizes)?;
        } else {
            sizes.insert(below.to_string_lossy().into_owned(), entry.metadata()?.len());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instance::{is_ours, note_on};

    /// A directory as a server leaves it that has stopped, or not.
    fn instance(dir: &Path, is_stopped: bool) {
        fs::create_dir_all(dir.join("data/deep")).unwrap();
        fs::write(dir.join("data/deep/t.ibd"), "rows").unwrap();
        fs::write(dir.join("server.log"), "started").unwrap();
        let new = Marker::new(rqps_model::Dbms::Mysql, "8.0.33".parse().unwrap(), "pw".to_owned());
        let lock = lock_marker(dir, true).unwrap();
        write_marker(&lock, dir, &Marker { initialised: true, is_stopped, ..new }).unwrap();
    }

    #[test]
    fn a_copy_is_an_instance_of_its_own_with_its_note() {
        let top = tempfile::tempdir().unwrap();
        let (from, to) = (top.path().join("a"), top.path().join("b"));
        instance(&from, true);
        let identity = Identity { switch: false, ..Identity::for_servers().unwrap() };
        let go = AtomicBool::new(false);
        copy(&from, &to, &identity, "load=0", &go).unwrap();
        assert_eq!(note_on(&to).as_deref(), Some("load=0"));
        assert_eq!(read_marker(&to).unwrap().password, "pw");
        assert_eq!(file_sizes(&to).unwrap(), BTreeMap::from([("data/deep/t.ibd".to_owned(), 4)]));
        assert!(!to.join("server.log").exists());
        // Stopped half-way, nothing of it stays, and nobody takes it for whole.
        let stopped = copy(&from, &to, &identity, "load=0", &AtomicBool::new(true)).unwrap_err();
        assert!(matches!(stopped, Error::Interrupted { .. }), "{stopped}");
        assert!(!to.exists());
    }

    #[test]
    fn what_no_server_has_stopped_on_is_neither_moved_nor_copied() {
        let top = tempfile::tempdir().unwrap();
        let (from, to) = (top.path().join("a"), top.path().join("b"));
        instance(&from, false);
        assert!(matches!(rename(&from, &to), Err(Error::NotSound { .. })));
        assert!(is_ours(&from) && !to.exists());
        fs::remove_dir_all(&from).unwrap();
        instance(&from, true);
        let lock = lock_marker(&from, false).unwrap();
        assert!(matches!(rename(&from, &to), Err(Error::InUse { .. })));
        drop(lock);
        rename(&from, &to).unwrap();
        assert!(is_ours(&to) && !from.exists());
    }
}
