//! Directories that are needed for a while: where an archive is packed or unpacked (beside the results, so that files
//! are moved and not copied, or among temporary files, where one is only looked at), and where perf writes copies of a
//! server's memory. Each is for its user alone, marked and locked, so that what a process that was killed has left goes
//! when the next one of its kind is made.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// How many letters and digits come after that, drawn each time: tempfile's own.
const N_DRAWN: usize = 6;

/// The file in it that says whose it is, locked while it is in use.
const MARK: &str = ".in-use";

/// What the mark says.
const WORDS: &str = "made by rqps for a while, and removed when it is done\n";

/// A temporary directory; removed when dropped.
#[derive(Debug)]
pub struct Scratch {
    dir: TempDir,
    /// Ends after the directory.
    _mark: File,
}

impl Scratch {
    /// Creates one in `parent`, with a name that begins with `prefix`.
    ///
    /// # Errors
    /// When the directory cannot be made or marked.
    pub fn new(parent: &Path, prefix: &str) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(prefix).rand_bytes(N_DRAWN).permissions(Permissions::from_mode(0o700));
        let dir = builder.tempdir_in(parent)?;
        let mark = mark(dir.path())?;
        Ok(Self { dir, _mark: mark })
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Marks a directory; the mark has its name when it is locked already.
fn mark(dir: &Path) -> io::Result<File> {
    let draft = dir.join(format!("{MARK}-draft"));
    let mut file = File::create_new(&draft)?;
    file.write_all(WORDS.as_bytes())?;
    file.lock()?;
    fs::rename(&draft, dir.join(MARK))?;
    Ok(file)
}

/// Removes the directories that killed processes of this user left in `parent`. Directories that are not
/// marked as rqps's, are in use, or cannot be removed stay.
pub fn sweep(parent: &Path, prefix: &str) {
    for dir in named(parent, prefix) {
        if is_of_this_user(&dir)
            && let Some(_mark) = held(&dir)
        {
            let _ = remove(&dir);
        }
    }
}

/// Whether a directory belongs to the user that this process runs as: anybody may make one of such a name among
/// temporary files, and put something else into its place while root empties it.
fn is_of_this_user(dir: &Path) -> bool {
    // The owner of a process's directory is its effective user: proc_pid(5).
    let own = fs::metadata("/proc/self").map(|meta| meta.uid());
    let owner = fs::symlink_metadata(dir).map(|meta| meta.uid());
    matches!((own, owner), (Ok(own), Ok(owner)) if own == owner)
}

/// The directories that have such a name. Links are none.
fn named(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let is_named = |name: &str| {
        let drawn = name.strip_prefix(prefix).unwrap_or_default();
        drawn.len() == N_DRAWN && drawn.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| entry.file_name().to_str().is_some_and(is_named))
        .map(|entry| entry.path())
        .collect()
}

/// The lock of a directory that is marked as ours and that nobody works in.
fn held(dir: &Path) -> Option<File> {
    let path = dir.join(MARK);
    let is_ours = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file())
        && fs::read(&path).is_ok_and(|words| words == WORDS.as_bytes());
    let file = File::open(path).ok().filter(|_| is_ours)?;
    file.try_lock().is_ok().then_some(file)
}

/// Empties a directory, its mark last, so that one that is half removed is known as ours still.
fn remove(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name() == MARK {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_file(dir.join(MARK))?;
    fs::remove_dir(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = ".archive-";

    #[test]
    fn only_what_killed_processes_left_goes() {
        let dir = tempfile::tempdir().unwrap();
        let parent = dir.path();
        let in_use = Scratch::new(parent, PREFIX).unwrap();
        // As a killed process leaves it: its lock ended with it.
        let left = parent.join(".archive-aB3dE6");
        fs::create_dir_all(left.join("artifacts/x")).unwrap();
        drop(mark(&left).unwrap());
        fs::write(left.join("rqps.db"), "half").unwrap();
        let others = [".archive-abc", ".archive-unmark", ".archive-foreig", "archive-aB3dE6"];
        for name in others {
            fs::create_dir(parent.join(name)).unwrap();
        }
        drop(mark(&parent.join(".archive-abc")).unwrap());
        fs::write(parent.join(".archive-foreig").join(MARK), "somebody's").unwrap();
        sweep(parent, PREFIX);
        assert!(!left.exists());
        assert!(in_use.path().join(MARK).exists());
        assert_eq!(fs::metadata(in_use.path()).unwrap().mode() & 0o777, 0o700);
        for name in others {
            assert!(parent.join(name).exists(), "{name} is gone");
        }
        let path = in_use.path().to_owned();
        drop(in_use);
        assert!(!path.exists());
    }

    /// Root alone can make what belongs to somebody else.
    #[test]
    fn what_another_user_left_stays() {
        let dir = tempfile::tempdir().unwrap();
        let (own, others) =
            (dir.path().join(".archive-aB3dE6"), dir.path().join(".archive-fG7hI8"));
        for left in [&own, &others] {
            fs::create_dir(left).unwrap();
            drop(mark(left).unwrap());
        }
        let is_root = std::os::unix::fs::chown(&others, Some(1), None).is_ok();
        sweep(dir.path(), PREFIX);
        assert!(!own.exists());
        assert_eq!(others.exists(), is_root);
    }

    #[test]
    fn a_link_in_it_leads_nowhere() {
        let dir = tempfile::tempdir().unwrap();
        let parent = dir.path().join("results");
        fs::create_dir(&parent).unwrap();
        let outside = dir.path().join("outside");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("kept"), "").unwrap();
        let left = parent.join(".archive-aB3dE6");
        fs::create_dir(&left).unwrap();
        drop(mark(&left).unwrap());
        std::os::unix::fs::symlink(&outside, left.join("link")).unwrap();
        // Nor is a directory taken for ours by way of a link.
        std::os::unix::fs::symlink(&outside, parent.join(".archive-linked")).unwrap();
        sweep(&parent, PREFIX);
        assert!(!left.exists() && outside.join("kept").exists());
    }
}
