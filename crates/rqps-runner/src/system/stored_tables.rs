//! The store of filled tables, which later runs copy.
//!
//! ```text
//! DATA/tables/NAME/tables.toml  what the tables depend on, who filled them, and which files there are
//! DATA/tables/NAME/instance/    the instance whose server has stopped
//! DATA/tables/NAME.new/         the same on its way into the store; of no use
//! DATA/tables/NAME.lock         locked while somebody copies (shared), stores or removes (exclusive)
//! ```

mod key;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::{Context as _, Result, bail, ensure};
use nix::fcntl::{Flock, FlockArg};
use rqps_model::Sizes;
use rqps_sample::given_file;
use rqps_server::{Identity, Places, Wishes, instance, places};
use serde::{Deserialize, Serialize};

pub(crate) use key::Ingredients;
pub use key::TablesKey;

use crate::environment::Environment;

const ROOT: &str = "tables";
const ENTRY: &str = "tables.toml";
const INSTANCE: &str = "instance";
const ON_ITS_WAY: &str = "new";

/// Most bytes of a `tables.toml`: tens of thousands of files.
const MOST_OF_ENTRY: u64 = 16 << 20;

/// Facts of stored tables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredTables {
    /// The run that filled them, by its id.
    pub run: String,
    /// When they were filled, milliseconds since 1970.
    pub filled_unix_ms: i64,
    /// Their sizes after each step that makes them: the load, and the creation of indexes.
    pub sizes: Vec<Sizes>,
    /// What the data depend on.
    pub key: TablesKey,
    /// Sizes of their files, bytes, by the path in the instance.
    pub files: BTreeMap<String, u64>,
}

/// What the store has under a key.
#[derive(Debug, PartialEq)]
pub(crate) enum Found {
    Nothing,
    Tables(Box<StoredTables>),
    /// Files are missing or are not as they were stored.
    Broken(String),
}

/// A directory of the store.
#[derive(Debug)]
pub struct StoredDir {
    /// Its name, by which it is removed.
    pub name: String,
    /// Where it is.
    pub dir: PathBuf,
    /// Its facts; `None` if they cannot be read or the tables are incomplete.
    pub tables: Option<StoredTables>,
}

/// The store of filled tables.
pub(crate) struct TablesStore {
    root: PathBuf,
}

impl TablesStore {
    pub(crate) fn new(places: &Places) -> Self {
        Self { root: places.data.join(ROOT) }
    }

    fn dir(&self, key: &TablesKey) -> PathBuf {
        let hash = places::short_hash(&format!("{key:?}"));
        self.root.join(format!("{}-{}-{hash}", key.dbms, key.version))
    }

    /// What there is under a key, by its list of files.
    pub(crate) fn find(&self, key: &TablesKey) -> Found {
        let dir = self.dir(key);
        if !dir.is_dir() {
            return Found::Nothing;
        }
        match read_entry(&dir) {
            Err(error) => Found::Broken(format!("{error:#}")),
            Ok(tables) if tables.key != *key => Found::Nothing,
            Ok(tables) => match differing_file(&dir.join(INSTANCE), &tables.files) {
                Some(why) => Found::Broken(format!("{}: {why}", dir.display())),
                None => Found::Tables(Box::new(tables)),
            },
        }
    }

    /// Makes the directory `to` a copy of the tables under a key.
    ///
    /// # Errors
    /// When somebody stores or removes them; when they cannot be copied. Then there is no `to`.
    pub(crate) fn copy_out(&self, key: &TablesKey, to: &Copied<'_>) -> Result<()> {
        let dir = self.dir(key);
        let _lock = lock(&dir, FlockArg::LockSharedNonblock)?;
        to.fill(&dir)
    }

    /// Stores the tables in the instance `to`, whose server has stopped, and makes `to` a copy of them. Tables that are
    /// there under the key are used in place of these.
    ///
    /// # Errors
    /// When they cannot be stored or copied. Then `to` is as it was.
    pub(crate) fn keep(&self, mut tables: StoredTables, to: &Copied<'_>) -> Result<()> {
        let dir = self.dir(&tables.key);
        fs::create_dir_all(&self.root).with_context(|| format!("make {}", self.root.display()))?;
        let _lock = lock(&dir, FlockArg::LockExclusiveNonblock)?;
        if matches!(self.find(&tables.key), Found::Tables(_)) {
            return to.fill(&dir);
        }
        let new = beside(&dir, ON_ITS_WAY);
        remove_dir(&new)?;
        remove_dir(&dir)?;
        tables.files = instance::file_sizes(to.dir).context("list the files")?;
        fs::create_dir(&new).with_context(|| format!("make {}", new.display()))?;
        let moved = write_entry(&new, &tables)
            .and_then(|()| Ok(instance::rename(to.dir, &new.join(INSTANCE))?));
        if let Err(error) = moved {
            let _ = remove_dir(&new);
            return Err(error);
        }
        let stored = fs::rename(&new, &dir).and_then(|()| File::open(&self.root)?.sync_all());
        let stored = stored.with_context(|| format!("store {}", dir.display()));
        let Err(error) = stored.and_then(|()| to.fill(&dir)) else { return Ok(()) };
        // Without a copy for the run, these are for the run.
        let place = if dir.is_dir() { &dir } else { &new };
        instance::rename(&place.join(INSTANCE), to.dir).context("move the tables back")?;
        remove_dir(place)?;
        Err(error)
    }

    /// Removes the tables under a key.
    pub(crate) fn remove(&self, key: &TablesKey) -> Result<()> {
        remove_locked(&self.dir(key))
    }
}

/// A copy of stored tables that a run works on.
pub(crate) struct Copied<'a> {
    /// The instance's directory.
    pub(crate) dir: &'a Path,
    pub(crate) identity: &'a Identity,
    pub(crate) note: &'a str,
    pub(crate) stop: &'a AtomicBool,
}

impl Copied<'_> {
    fn fill(&self, stored: &Path) -> Result<()> {
        let Self { dir, identity, note, stop } = self;
        Ok(instance::copy(&stored.join(INSTANCE), dir, identity, note, stop)?)
    }
}

/// The path of a directory of the store with an ending.
fn beside(dir: &Path, ending: &str) -> PathBuf {
    let name = dir.file_name().unwrap_or_default().to_string_lossy();
    dir.with_file_name(format!("{name}.{ending}"))
}

fn is_on_its_way(dir: &Path) -> bool {
    dir.extension().is_some_and(|end| end == ON_ITS_WAY)
}

/// Locks a directory of the store, whether it is there or on its way.
fn lock(dir: &Path, how: FlockArg) -> Result<Flock<File>> {
    let whole = if is_on_its_way(dir) { dir.with_extension("") } else { dir.to_owned() };
    let path = beside(&whole, "lock");
    let file = File::create(&path).with_context(|| format!("make {}", path.display()))?;
    match Flock::lock(file, how) {
        Ok(lock) => Ok(lock),
        Err(_) => bail!("another rqps is using {}", dir.display()),
    }
}

fn read_entry(dir: &Path) -> Result<StoredTables> {
    let path = dir.join(ENTRY);
    let read = || Ok(toml::from_str(&given_file::read_text(&path, MOST_OF_ENTRY)?)?);
    let read: Result<StoredTables> = read();
    read.with_context(|| format!("read {}", path.display()))
}

fn write_entry(dir: &Path, tables: &StoredTables) -> Result<()> {
    let path = dir.join(ENTRY);
    let text = toml::to_string_pretty(tables).context("write what the tables depend on")?;
    let write = || -> io::Result<()> {
        let mut file = File::create(&path)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()
    };
    write().with_context(|| format!("write {}", path.display()))
}

/// How the files of an instance are not those that were stored.
fn differing_file(instance: &Path, stored: &BTreeMap<String, u64>) -> Option<String> {
    let found = match instance::file_sizes(instance) {
        Ok(found) => found,
        Err(error) => return Some(error.to_string()),
    };
    for (path, bytes) in stored {
        match found.get(path) {
            None => return Some(format!("{path} is missing")),
            Some(now) if now != bytes => {
                return Some(format!("{path} has {now} bytes and had {bytes}"));
            }
            Some(_) => {}
        }
    }
    let other = found.keys().find(|path| !stored.contains_key(*path))?;
    Some(format!("{other} was not stored"))
}

fn remove_locked(dir: &Path) -> Result<()> {
    let _lock = lock(dir, FlockArg::LockExclusiveNonblock)?;
    remove_dir(dir)
}

/// Removes a directory of the store. What is not of the store stays, with an error.
fn remove_dir(dir: &Path) -> Result<()> {
    let gone = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", dir.display()))
        }
        _ => Ok(()),
    };
    // Without it the rest is of no use to anybody, should this be interrupted.
    gone(fs::remove_file(dir.join(ENTRY)))?;
    instance::clear(&dir.join(INSTANCE))?;
    gone(fs::remove_dir(dir))
}

/// All stored tables, by name.
#[must_use]
pub fn list(environment: &Environment) -> Vec<StoredDir> {
    let dirs =
        roots(environment).into_iter().flat_map(|root| fs::read_dir(root).into_iter().flatten());
    let dirs = dirs.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut found: Vec<StoredDir> = dirs
        .map(|entry| {
            let (name, dir) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
            let tables = read_entry(&dir).ok().filter(|_| !is_on_its_way(&dir));
            StoredDir { name, tables, dir }
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Removes stored tables, by their name ([`StoredDir::name`]).
///
/// # Errors
/// When there are none of that name; when a run copies them; when they cannot be removed.
pub fn remove(environment: &Environment, name: &str) -> Result<()> {
    let found: Vec<StoredDir> =
        list(environment).into_iter().filter(|one| one.name == name).collect();
    ensure!(!found.is_empty(), "no stored tables {name:?}; `rqps tables list` shows them");
    found.iter().try_for_each(|one| remove_locked(&one.dir))
}

fn roots(environment: &Environment) -> Vec<PathBuf> {
    let data = environment.results.join("data");
    let wishes = Wishes { cache: &environment.cache, data: &data, temp: &environment.temp };
    places::existing_data(&wishes).into_iter().map(|dir| dir.join(ROOT)).collect()
}

#[cfg(test)]
mod tests;
