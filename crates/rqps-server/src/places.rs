//! Where prefixes, data and sockets live: where the user wants them, if the servers' user gets there.
//!
//! As root, servers run as `nobody`, which can neither enter a closed home directory nor a closed
//! checkout. Then other places are taken, and the caller is told which and why.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{AccessFlags, access, geteuid};
use sha2::{Digest as _, Sha256};

use crate::Error;
use crate::identity::Identity;

/// Directories that the user asked for.
#[derive(Debug, Clone, Copy)]
pub struct Wishes<'a> {
    /// The cache of fetched servers.
    pub cache: &'a Path,
    /// Parent of the data directories.
    pub data: &'a Path,
    /// The host's directory for temporary files.
    pub temp: &'a Path,
}

/// Directories in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// The cache of fetched servers.
    pub cache: PathBuf,
    /// Parent of the data directories.
    pub data: PathBuf,
    /// Parent of the socket directories; short, because a socket's path may have 107 bytes.
    pub sockets: PathBuf,
    /// Notes for the user: what is elsewhere than asked for, and why.
    pub notes: Vec<String>,
}

/// Longest path of a directory below which sockets still fit: sun_path has 108 bytes (unix(7)), we
/// add `/12345678/.s.PGSQL.65535` and stay below 100.
const SOCKET_DIR_BYTES: usize = 70;

/// Chooses places that `identity` can reach, and creates the directories.
///
/// # Errors
/// [`Error::NoPlace`] when there is none, with what was wrong with each candidate.
pub fn choose(identity: &Identity, wishes: &Wishes<'_>) -> Result<Places, Error> {
    choose_below(identity, wishes, [Path::new("/var/cache"), Path::new("/var/tmp")])
}

fn choose_below(
    identity: &Identity,
    wishes: &Wishes<'_>,
    [system_cache, system_temp]: [&Path; 2],
) -> Result<Places, Error> {
    let own = own_places(wishes, system_temp);
    let mut notes = Vec::new();
    let mut cache = vec![wishes.cache.to_owned(), system_cache.join("rqps")];
    cache.extend(own.iter().map(|dir| dir.join("cache")));
    let data = data_places(wishes, &own);
    let mut sockets: Vec<PathBuf> = own.iter().map(|dir| dir.join("s")).collect();
    if !identity.switch {
        sockets.push(wishes.data.join("s"));
    }
    sockets.retain(|dir| dir.as_os_str().len() <= SOCKET_DIR_BYTES);
    let own = own.as_slice();
    let cache = first(identity, "server programs", Use::Programs, &cache, own, &mut notes)?;
    let data = first(identity, "server data", Use::Files, &data, own, &mut notes)?;
    let sockets = first(identity, "sockets", Use::Files, &sockets, own, &mut Vec::new())?;
    Ok(Places { cache, data, sockets, notes })
}

/// Every existing place that [`choose`] may take for data, to find data of other processes. Creates nothing.
#[must_use]
pub fn existing_data(wishes: &Wishes<'_>) -> Vec<PathBuf> {
    let own = own_places(wishes, Path::new("/var/tmp"));
    existing(&own, data_places(wishes, &own))
}

/// As [`existing_data`], for the parents of socket directories.
#[must_use]
pub fn existing_sockets(wishes: &Wishes<'_>) -> Vec<PathBuf> {
    let own = own_places(wishes, Path::new("/var/tmp"));
    existing(&own, own.iter().chain([&wishes.data.to_owned()]).map(|dir| dir.join("s")).collect())
}

/// Those of some places that are there; of those in directories that are open to all, this user's.
fn existing(own: &[PathBuf], places: Vec<PathBuf>) -> Vec<PathBuf> {
    let is_mine = |dir: &Path| {
        let base = own.iter().find(|base| dir.starts_with(base));
        base.is_none_or(|base| {
            fs::symlink_metadata(base).is_ok_and(|m| m.is_dir() && m.uid() == geteuid().as_raw())
        })
    };
    let all = places.into_iter().map(|dir| absolute(&dir));
    all.filter(|dir| dir.is_dir() && is_mine(dir)).collect()
}

/// Directories of this user in directories that are open to all.
fn own_places(wishes: &Wishes<'_>, system_temp: &Path) -> [PathBuf; 2] {
    let mine = format!("rqps-{}", geteuid());
    [system_temp.join(&mine), wishes.temp.join(&mine)]
}

/// Where data may lie, best first. The same wish always leads to the same places, so that a later
/// process finds the data again.
fn data_places(wishes: &Wishes<'_>, own: &[PathBuf]) -> Vec<PathBuf> {
    let tag = short_hash(&absolute(wishes.data).to_string_lossy());
    let mut data = vec![wishes.data.to_owned()];
    for dir in own.iter().map(|dir| dir.join(format!("data-{tag}"))) {
        if !data.contains(&dir) {
            data.push(dir);
        }
    }
    data
}

/// A hash of a text: eight hex digits.
#[must_use]
pub fn short_hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..4])
}

/// Bytes as hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A path that does not depend on the working directory, whether or not it exists.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// What a place is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Programs,
    Files,
}

/// The first candidate that does, made if need be.
fn first(
    identity: &Identity,
    what: &'static str,
    purpose: Use,
    candidates: &[PathBuf],
    own: &[PathBuf],
    notes: &mut Vec<String>,
) -> Result<PathBuf, Error> {
    let mut tried = Vec::new();
    for candidate in candidates {
        let dir = absolute(candidate);
        let base = own.iter().find(|base| dir.starts_with(base)).map(PathBuf::as_path);
        match usable(identity, &dir, purpose, base) {
            Ok(()) => {
                if !tried.is_empty() {
                    notes.push(format!("{what}: {}, because {}", dir.display(), tried.join("; ")));
                }
                return Ok(dir);
            }
            Err(why) => tried.push(why),
        }
    }
    Err(Error::NoPlace { what, user: identity.name.clone(), tried: tried.join("; ") })
}

/// Makes a directory and says why it cannot be used. `base` is the ancestor with a name that
/// anybody could have taken in a directory open to all: it must belong to us.
fn usable(
    identity: &Identity,
    dir: &Path,
    purpose: Use,
    base: Option<&Path>,
) -> Result<(), String> {
    let existing = dir.ancestors().find(|parent| parent.exists()).unwrap_or(Path::new("/"));
    if identity.switch {
        reachable(identity, existing)?;
    }
    if let Some(base) = base {
        make(base)?;
        let meta = fs::symlink_metadata(base).map_err(|e| format!("{}: {e}", base.display()))?;
        if !meta.is_dir() || meta.uid() != geteuid().as_raw() {
            return Err(format!("{} belongs to somebody else", base.display()));
        }
    }
    make(dir)?;
    if identity.switch {
        reachable(identity, dir)?;
    }
    access(dir, AccessFlags::W_OK | AccessFlags::X_OK)
        .map_err(|_| format!("{} is not writable", dir.display()))?;
    let flags = statvfs(dir).map_err(|e| format!("{}: {e}", dir.display()))?.flags();
    if purpose == Use::Programs && flags.contains(FsFlags::ST_NOEXEC) {
        return Err(format!("{} is mounted noexec", dir.display()));
    }
    if flags.contains(FsFlags::ST_RDONLY) {
        return Err(format!("{} is mounted read-only", dir.display()));
    }
    Ok(())
}

/// Makes a directory and its missing parents, all open to be searched whatever the umask.
fn make(dir: &Path) -> Result<(), String> {
    if dir.is_dir() {
        return Ok(());
    }
    if let Some(parent) = dir.parent() {
        make(parent)?;
    }
    let made =
        fs::create_dir(dir).and_then(|()| fs::set_permissions(dir, Permissions::from_mode(0o755)));
    match made {
        Err(_) if dir.is_dir() => Ok(()),
        other => other.map_err(|e| format!("{} cannot be made: {e}", dir.display())),
    }
}

/// Makes a directory that the servers' user can enter whatever the umask.
pub(crate) fn make_open(dir: &Path) -> Result<(), Error> {
    if dir.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(dir)
        .and_then(|()| fs::set_permissions(dir, Permissions::from_mode(0o755)))
        .map_err(|e| Error::write(dir, e))
}

/// Whether `identity` may search `dir` and all its parents, by their owners and modes.
pub(crate) fn reachable(identity: &Identity, dir: &Path) -> Result<(), String> {
    let real = dir.canonicalize().map_err(|e| format!("{}: {e}", dir.display()))?;
    for parent in real.ancestors() {
        let meta = fs::metadata(parent).map_err(|e| format!("{}: {e}", parent.display()))?;
        let bit = if meta.uid() == identity.uid.as_raw() {
            0o100
        } else if meta.gid() == identity.gid.as_raw() {
            0o010
        } else {
            0o001
        };
        if meta.mode() & bit == 0 {
            let (path, mode) = (parent.display(), meta.mode() & 0o7777);
            return Err(format!("{path} is closed to user {} (mode {mode:o})", identity.name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use nix::unistd::{Gid, Uid};

    use super::*;

    fn stranger() -> Identity {
        let (uid, gid) = (Uid::from_raw(54_321), Gid::from_raw(54_321));
        Identity { uid, gid, name: "stranger".to_owned(), switch: true }
    }

    fn open_dir() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
        dir
    }

    #[test]
    fn an_open_wish_is_granted() {
        let dir = open_dir();
        let (cache, data) = (dir.path().join("a/cache"), dir.path().join("a/data"));
        let wishes = Wishes { cache: &cache, data: &data, temp: dir.path() };
        let places = choose_below(&stranger(), &wishes, [dir.path(); 2]).unwrap();
        assert_eq!((&places.cache, &places.data), (&cache, &data));
        assert_eq!(places.notes, Vec::<String>::new());
        assert!(cache.is_dir() && data.is_dir() && places.sockets.is_dir());
    }

    #[test]
    fn a_closed_wish_is_replaced_and_said() {
        let dir = open_dir();
        let closed = dir.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
        let data = closed.join("data");
        let wishes = Wishes { cache: dir.path(), data: &data, temp: dir.path() };
        let choose = |who: &Identity| choose_below(who, &wishes, [dir.path(); 2]).unwrap();
        let places = choose(&stranger());
        assert!(!places.data.starts_with(dir.path().join("closed")), "{places:?}");
        assert_eq!(places.notes.len(), 1);
        let note = &places.notes[0];
        assert!(
            note.starts_with("server data: ")
                && note.contains("closed to user stranger (mode 700)"),
            "{note}"
        );
        // The same wish leads to the same place.
        assert_eq!(choose(&stranger()).data, places.data);
        // For oneself a closed directory is fine.
        let me = Identity { switch: false, ..Identity::for_servers().unwrap() };
        assert_eq!(choose(&me).data, data);
    }

    #[test]
    fn when_nothing_does_everything_tried_is_named() {
        let dir = open_dir();
        let closed = dir.path().join("closed");
        fs::create_dir(&closed).unwrap();
        fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
        let why = first(&stranger(), "x", Use::Files, &[closed.join("y")], &[], &mut Vec::new());
        let error = why.unwrap_err().to_string();
        assert!(error.contains("no directory for x that user stranger can reach"), "{error}");
        assert!(error.contains("(mode 700)"), "{error}");
    }
}
