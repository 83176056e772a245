//! What marks a data directory as ours, locks it while it is in use, and lets nothing else be deleted.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::time::Duration;

use nix::fcntl::{Flock, FlockArg, OFlag};
use rqps_model::{Dbms, Version};
use serde::{Deserialize, Serialize};

use crate::watch::pause;
use crate::{Error, at_work, plain};

/// The file that marks a directory as ours.
const MARKER: &str = "rqps-instance.json";

/// How often, and after what time, a directory is removed again into which something was written meanwhile.
const REMOVES: u32 = 20;
const REMOVE_AGAIN: Duration = Duration::from_millis(50);

/// The marker's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Marker {
    pub(super) dbms: Dbms,
    pub(super) version: Version,
    pub(super) password: String,
    /// The rqps process that made or last opened it, for the message when it is in use.
    pub(super) rqps_pid: u32,
    /// False until the data directory is complete, and again when it is about to be removed.
    pub(super) initialised: bool,
    /// What whoever made it wants to know of its data when rqps has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// The boot of the host in which a server was last started on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) boot: Option<String>,
    /// Whether that server has stopped by itself since, and all that it wrote is on disk.
    #[serde(default)]
    pub(super) is_stopped: bool,
}

impl Marker {
    /// Of a directory with nothing in it yet.
    pub(super) fn new(dbms: Dbms, version: Version, password: String) -> Self {
        Self {
            dbms,
            version,
            password,
            rqps_pid: std::process::id(),
            initialised: false,
            note: None,
            boot: None,
            is_stopped: false,
        }
    }
}

/// Whether a directory is an instance of rqps.
#[must_use]
pub fn is_ours(dir: &Path) -> bool {
    read_marker(dir).is_some()
}

/// The note on an instance's data, if the data are complete and have one. It may change at any time.
#[must_use]
pub fn note_on(dir: &Path) -> Option<String> {
    read_marker(dir).filter(|marker| marker.initialised)?.note
}

/// Removes an unused instance directory; an absent or empty one is fine. Processes of a killed server in it
/// are ended.
///
/// # Errors
/// [`Error::NotOurs`] when it holds anything that is not marked as ours; [`Error::InUse`] when another rqps
/// uses it, or a server of another user's.
pub fn clear(dir: &Path) -> Result<(), Error> {
    let meta = match fs::symlink_metadata(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other.map_err(|e| Error::io(format!("look at {}", dir.display()), e))?,
    };
    if !meta.is_dir() {
        return Err(not_ours(dir));
    }
    let mut entries =
        fs::read_dir(dir).map_err(|e| Error::io(format!("read {}", dir.display()), e))?;
    if entries.next().is_none() {
        return fs::remove_dir(dir).map_err(|e| Error::write(dir, e));
    }
    if is_unmarked_beginning(dir) {
        let _lock = lock_marker(dir, false)?;
        return fs::remove_dir_all(dir).map_err(|e| Error::write(dir, e));
    }
    if !is_ours(dir) {
        return Err(not_ours(dir));
    }
    let lock = lock_marker(dir, false)?;
    at_work::end_all(dir)?;
    // Should this be interrupted, nobody takes what is left of the data for all of them.
    if let Some(mut marker) = read_marker(dir) {
        (marker.initialised, marker.note) = (false, None);
        let _ = write_marker(&lock, dir, &marker);
    }
    remove_all(dir)
}

/// Removes a directory of ours that is locked.
pub(super) fn remove_all(dir: &Path) -> Result<(), Error> {
    // All but the marker first: should this be interrupted, the rest is still known as ours.
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.file_name().is_some_and(|name| name == MARKER) {
            continue;
        }
        let is_dir = entry.file_type().is_ok_and(|kind| kind.is_dir());
        let gone = if is_dir { remove_tree(&path) } else { fs::remove_file(&path) };
        gone.map_err(|e| Error::write(&path, e))?;
    }
    remove_tree(dir).map_err(|e| Error::write(dir, e))
}

/// Removes a directory into which processes of a server that was killed may still write as they end.
fn remove_tree(dir: &Path) -> io::Result<()> {
    let mut left = REMOVES;
    loop {
        match fs::remove_dir_all(dir) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && left > 0 => left -= 1,
            other => return other,
        }
        pause(REMOVE_AGAIN);
    }
}

/// Whether a directory holds nothing but a marker that was never written: an rqps that was killed, or
/// a disk that was full, in the moment after the marker's file was made.
fn is_unmarked_beginning(dir: &Path) -> bool {
    let mut names = fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.file_name());
    let is_alone = names.next().is_some_and(|name| name == MARKER) && names.next().is_none();
    let marker = fs::symlink_metadata(dir.join(MARKER));
    is_alone && marker.is_ok_and(|meta| meta.is_file() && meta.len() == 0)
}

pub(super) fn not_ours(dir: &Path) -> Error {
    Error::NotOurs { path: dir.to_owned(), marker: MARKER }
}

pub(super) fn read_marker(dir: &Path) -> Option<Marker> {
    let bytes = plain::read(dir, &dir.join(MARKER), 0).ok()?;
    // What follows is the end of a longer one that was written over.
    serde_json::Deserializer::from_slice(&bytes).into_iter().next()?.ok()
}

/// Opens the marker and locks it against other rqps processes.
pub(super) fn lock_marker(dir: &Path, create: bool) -> Result<Flock<File>, Error> {
    let path = dir.join(MARKER);
    let mut options = OpenOptions::new();
    // Not through a link: the directory belongs to the servers' user, and root writes to this file.
    options.read(true).write(true).create_new(create).mode(0o600);
    options.custom_flags(OFlag::O_NOFOLLOW.bits());
    let file = match options.open(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Err(not_ours(dir)),
        other => other.map_err(|e| Error::write(&path, e))?,
    };
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|_| {
        let pid = read_marker(dir).map_or(0, |marker| marker.rqps_pid);
        Error::InUse { path: dir.to_owned(), pid: i32::try_from(pid).unwrap_or(0) }
    })
}

pub(super) fn write_marker(mut file: &File, dir: &Path, marker: &Marker) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(marker)
        .map_err(|e| Error::Data { what: MARKER.to_owned(), detail: e.to_string() })?;
    // Never emptied first: should this be the end of rqps, or the disk be full, the directory would be
    // nobody's, and its data would stay for good. On disk before there are data to mark.
    file.rewind()
        .and_then(|()| file.write_all(text.as_bytes()))
        .and_then(|()| file.set_len(text.len() as u64))
        .and_then(|()| file.sync_all())
        .map_err(|e| Error::write(&dir.join(MARKER), e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clears_only_what_is_ours() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("d");
        clear(&dir).unwrap();
        fs::create_dir(&dir).unwrap();
        clear(&dir).unwrap();
        assert!(!dir.exists());
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("thesis.txt"), "years of work").unwrap();
        let error = clear(&dir).unwrap_err().to_string();
        assert!(error.contains("has files that rqps did not create"), "{error}");
        // A marker that is not one does not count, nor does a link to a directory of ours.
        fs::write(dir.join(MARKER), "{}").unwrap();
        assert!(matches!(clear(&dir), Err(Error::NotOurs { .. })));
        let link = top.path().join("link");
        std::os::unix::fs::symlink(&dir, &link).unwrap();
        assert!(matches!(clear(&link), Err(Error::NotOurs { .. })));
        assert_eq!(fs::read_to_string(dir.join("thesis.txt")).unwrap(), "years of work");
    }

    /// As left by an rqps that ended between making the marker and writing it.
    #[test]
    fn a_marker_that_was_never_written_is_no_reason_to_stop() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("d");
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join(MARKER), "").unwrap();
        let lock = lock_marker(&dir, false).unwrap();
        assert!(
            matches!(clear(&dir), Err(Error::InUse { .. })),
            "another rqps is about to write it"
        );
        drop(lock);
        clear(&dir).unwrap();
        assert!(!dir.exists());
        // With anything beside it, it says nothing.
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join(MARKER), "").unwrap();
        fs::write(dir.join("thesis.txt"), "years of work").unwrap();
        assert!(matches!(clear(&dir), Err(Error::NotOurs { .. })));
    }

    /// At no moment is a marker in place of another one empty or torn: it says the same length or grows.
    #[test]
    fn a_marker_is_written_over_in_place() {
        let top = tempfile::tempdir().unwrap();
        let lock = lock_marker(top.path(), true).unwrap();
        let mut marker = Marker {
            rqps_pid: 1_000_000,
            note: Some("long ago".to_owned()),
            ..Marker::new(Dbms::Mysql, "8.0.33".parse().unwrap(), String::new())
        };
        write_marker(&lock, top.path(), &marker).unwrap();
        (marker.rqps_pid, marker.initialised, marker.note) = (7, true, None);
        write_marker(&lock, top.path(), &marker).unwrap();
        assert_eq!(read_marker(top.path()).as_ref(), Some(&marker));
        // Ended between the two calls that write a shorter one.
        let text = fs::read_to_string(top.path().join(MARKER)).unwrap();
        fs::write(top.path().join(MARKER), format!("{text}e\n}}")).unwrap();
        assert_eq!(read_marker(top.path()), Some(marker));
    }

    #[test]
    fn a_marked_directory_is_locked_while_in_use_and_cleared_after() {
        let top = tempfile::tempdir().unwrap();
        let dir = top.path().join("d");
        fs::create_dir_all(dir.join("data/deep")).unwrap();
        let lock = lock_marker(&dir, true).unwrap();
        let marker = Marker {
            rqps_pid: 7,
            initialised: true,
            note: Some("filled".to_owned()),
            ..Marker::new(Dbms::Mysql, "8.0.33".parse().unwrap(), "00ff".repeat(6))
        };
        write_marker(&lock, &dir, &marker).unwrap();
        assert!(matches!(clear(&dir), Err(Error::InUse { pid: 7, .. })));
        drop(lock);
        assert!(is_ours(&dir));
        assert_eq!(note_on(&dir), marker.note);
        clear(&dir).unwrap();
        assert!(!dir.exists());
    }
}
