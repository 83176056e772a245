//! Builds in the cache: `CACHE/source-builds/KEY`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rqps_model::{BuildType, Dbms};
use rqps_server::lock;
use serde::{Deserialize, Serialize};

use crate::{Commit, Error};

/// The file that tells what a build is; it is written last.
pub(crate) const RECORD: &str = "build.json";

/// What all steps wrote.
pub(crate) const LOG: &str = "build.log";

/// What a finished build is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// What it is a server of.
    pub dbms: Dbms,
    /// Its version, as the source has it.
    pub version: String,
    /// The recipe.
    pub recipe: String,
    /// The hash of its files, before patches.
    pub tree: String,
    /// The commit, the first one where several have equal files; of a directory the one that is checked out there.
    pub commit: Option<Commit>,
    /// Whether the files of a directory differ from that commit.
    pub is_dirty: bool,
    /// What the compiler says of itself.
    pub compiler: String,
    /// Options of the compilers.
    pub cflags: String,
    /// Whether it was optimised across files.
    pub lto: bool,
    /// For whom it was built.
    pub build: BuildType,
    /// Names of the patches.
    pub patches: Vec<String>,
    /// How long it took, s.
    pub seconds: f64,
}

/// A build in the cache.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredBuild {
    /// Its key.
    pub key: String,
    /// What it is; absent where it is not finished.
    pub record: Option<Record>,
    /// What it takes on disk.
    pub bytes: u64,
    /// When it was used last.
    pub used: SystemTime,
}

/// The directory of all builds.
pub(crate) fn dir_of_all(cache: &Path) -> PathBuf {
    cache.join("source-builds")
}

pub(crate) fn dir_of(cache: &Path, key: &str) -> PathBuf {
    dir_of_all(cache).join(key)
}

/// The file that is locked while a build is made or removed.
pub(crate) fn lock_of(cache: &Path, key: &str) -> PathBuf {
    cache.join("locks").join(format!("source-build-{key}.lock"))
}

/// The file that is locked while a build is used.
pub(crate) fn use_of(cache: &Path, key: &str) -> PathBuf {
    cache.join("locks").join(format!("source-build-{key}.use"))
}

/// What a finished build is; `None` where it is not finished.
pub(crate) fn record(cache: &Path, key: &str) -> Option<Record> {
    let text = fs::read(dir_of(cache, key).join(RECORD)).ok()?;
    serde_json::from_slice(&text).ok()
}

/// All builds of a cache, those that were used last first.
#[must_use]
pub fn list(cache: &Path) -> Vec<StoredBuild> {
    let entries = fs::read_dir(dir_of_all(cache)).into_iter().flatten().flatten();
    let mut builds: Vec<StoredBuild> = entries
        .filter_map(|entry| {
            let key = entry.file_name().into_string().ok()?;
            let dir = entry.path();
            let mark = [dir.join(RECORD), dir.join(LOG), dir.clone()];
            let used = mark.iter().find_map(|path| path.metadata().ok()?.modified().ok())?;
            Some(StoredBuild { record: record(cache, &key), bytes: bytes_of(&dir), used, key })
        })
        .collect();
    builds.sort_by_key(|b| std::cmp::Reverse(b.used));
    builds
}

/// The log of a build, by the beginning of its key.
///
/// # Errors
/// When no build or several have such a key.
pub fn log_of(cache: &Path, key: &str) -> Result<PathBuf, Error> {
    Ok(dir_of(cache, &one(cache, key)?.key).join(LOG))
}

/// Removes a build, by the beginning of its key; gives what it took on disk.
///
/// # Errors
/// When no build or several have such a key, or it is in use.
pub fn remove(cache: &Path, key: &str) -> Result<u64, Error> {
    let build = one(cache, key)?;
    match try_remove(cache, &build.key)? {
        true => Ok(build.bytes),
        false => Err(Error::InUse { key: build.key }),
    }
}

/// Removes the builds that were used longest ago until the others take `most_bytes` at most; those in use stay.
pub(crate) fn bound(cache: &Path, most_bytes: u64) -> Result<(), Error> {
    let builds = list(cache);
    let mut all: u64 = builds.iter().map(|build| build.bytes).sum();
    for build in builds.iter().rev() {
        if all <= most_bytes {
            break;
        }
        if try_remove(cache, &build.key)? {
            all -= build.bytes;
        }
    }
    Ok(())
}

/// Whether it was removed: it is not in use.
fn try_remove(cache: &Path, key: &str) -> Result<bool, Error> {
    let Some(_made) = lock::try_alone(&lock_of(cache, key))? else { return Ok(false) };
    let Some(_used) = lock::try_alone(&use_of(cache, key))? else { return Ok(false) };
    let dir = dir_of(cache, key);
    // What is left of it by a kill meanwhile is no finished build.
    let _ = fs::remove_file(dir.join(RECORD));
    fs::remove_dir_all(&dir).map_err(|e| Error::io(format!("remove {}", dir.display()), e))?;
    Ok(true)
}

fn one(cache: &Path, key: &str) -> Result<StoredBuild, Error> {
    let mut found: Vec<StoredBuild> =
        list(cache).into_iter().filter(|build| build.key.starts_with(key)).collect();
    match (found.pop(), found.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(Error::NoBuild { key: key.to_owned() }),
        (Some(_), n) => Err(Error::ManyBuilds { key: key.to_owned(), n: n + 1 }),
    }
}

/// What a directory takes on disk, without what links lead to.
fn bytes_of(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => bytes_of(&entry.path()),
            Ok(meta) => meta.blocks() * 512,
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn cache_with(keys: &[&str]) -> tempfile::TempDir {
        let cache = tempfile::tempdir().unwrap();
        fs::create_dir(cache.path().join("locks")).unwrap();
        for (age, key) in keys.iter().enumerate() {
            let dir = dir_of(cache.path(), key);
            fs::create_dir_all(dir.join("installed")).unwrap();
            fs::write(dir.join("installed/postgres"), vec![7; 1 << 20]).unwrap();
            let log = fs::File::create(dir.join(LOG)).unwrap();
            let age = Duration::from_secs(100 * age as u64);
            log.set_modified(SystemTime::now() - age).unwrap();
        }
        cache
    }

    #[test]
    fn builds_are_listed_and_removed_by_the_beginning_of_their_keys() {
        let cache = cache_with(&["abc1", "abd2"]);
        let keys: Vec<String> = list(cache.path()).into_iter().map(|build| build.key).collect();
        assert_eq!(keys, ["abc1", "abd2"]);
        assert!(matches!(remove(cache.path(), "ab"), Err(Error::ManyBuilds { n: 2, .. })));
        assert!(matches!(remove(cache.path(), "x"), Err(Error::NoBuild { .. })));
        assert!(log_of(cache.path(), "abc").unwrap().ends_with("abc1/build.log"));
        assert!(remove(cache.path(), "abc").unwrap() >= 1 << 20);
        assert_eq!(list(cache.path()).len(), 1);
    }

    #[test]
    fn a_build_in_use_stays() {
        let cache = cache_with(&["a", "b", "c"]);
        let held = lock::try_alone(&use_of(cache.path(), "c")).unwrap();
        assert!(matches!(remove(cache.path(), "c"), Err(Error::InUse { .. })));
        // The oldest one is in use, so that the next goes.
        bound(cache.path(), 5 << 19).unwrap();
        let keys: Vec<String> = list(cache.path()).into_iter().map(|build| build.key).collect();
        assert_eq!(keys, ["a", "c"]);
        drop(held);
    }
}
