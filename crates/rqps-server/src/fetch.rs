//! Gets a server of the catalogue into the cache: fetch, verify, unpack, libraries.
//!
//! ```text
//! CACHE/downloads/ARCHIVE    while it is fetched and unpacked (or put there by hand)
//! CACHE/maven/               Maven's local repository: its plugins
//! CACHE/servers/NAME/        the prefix; appears in one step, with rqps-origin.json inside
//! CACHE/servers/NAME.partial what an interrupted unpacking left; removed by the next
//! CACHE/libs/SONAME/         a library that the host does not have
//! CACHE/locks/NAME.lock      held by the process that works on it
//! ```

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::catalogue::{Catalogue, Entry};
use crate::installed::Installed;
use crate::places::hex;
use crate::source::Source;
use crate::unpack::{Limits, unpack};
use crate::watch::{Progress, Watch};
use crate::{Error, disk, library, lock};

/// The file in a prefix that says where it came from.
const ORIGIN: &str = "rqps-origin.json";

/// Where a prefix came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    /// The source's identity: coordinates and checksum.
    source: String,
    /// How it was compiled.
    compiled: String,
    /// When it was unpacked, seconds since 1970.
    unpacked_unix_s: u64,
}

/// The most entries an archive may have; MySQL's has 12,000 with its test suite.
const MAX_ENTRIES: usize = 100_000;

/// Whether a server is in the cache already.
#[must_use]
pub fn is_cached(entry: &Entry, cache: &Path) -> bool {
    origin_of(entry, cache).is_some()
}

/// Removes a server from the cache.
///
/// # Errors
/// When its files cannot be removed.
pub fn forget(entry: &Entry, cache: &Path) -> Result<(), Error> {
    let prefix = prefix_of(entry, cache);
    if !prefix.exists() {
        return Ok(());
    }
    // The origin goes first: half a tree must not look whole.
    let origin = prefix.join(ORIGIN);
    let _ = fs::remove_file(&origin);
    fs::remove_dir_all(&prefix).map_err(|e| Error::write(&prefix, e))
}

/// Brings a server into `cache` unless it is there, and tells where it is.
///
/// # Errors
/// When it cannot be fetched, is not the archive of the catalogue, or does not fit on the disk.
pub fn ensure(
    catalogue: &Catalogue,
    entry: &Entry,
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<Installed, Error> {
    if !is_cached(entry, cache) {
        for dir in ["downloads", "servers", "locks", "libs"] {
            make_open(&cache.join(dir))?;
        }
        let _lock = lock::acquire(&cache.join(format!("locks/{}.lock", entry.name())), watch)?;
        // Another process may have done the work while we waited.
        if !is_cached(entry, cache) {
            install(catalogue, entry, cache, watch)?;
        }
    }
    let library_dirs = library::ensure(catalogue, entry, cache, watch)?;
    let origin = origin_of(entry, cache).map_or_else(String::new, |origin| origin.source);
    Installed::of_catalogue(entry, &prefix_of(entry, cache), library_dirs, origin)
}

fn prefix_of(entry: &Entry, cache: &Path) -> PathBuf {
    cache.join("servers").join(entry.name())
}

/// Where the prefix of an entry came from, when it is one of the entry's sources.
fn origin_of(entry: &Entry, cache: &Path) -> Option<Origin> {
    let origin = read_origin(&prefix_of(entry, cache))?;
    entry.sources.iter().any(|source| source.identity() == origin.source).then_some(origin)
}

fn read_origin(prefix: &Path) -> Option<Origin> {
    serde_json::from_slice(&fs::read(prefix.join(ORIGIN)).ok()?).ok()
}

/// Makes a directory that the servers' user can enter whatever the umask.
fn make_open(dir: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;
    if dir.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(dir)
        .and_then(|()| fs::set_permissions(dir, fs::Permissions::from_mode(0o755)))
        .map_err(|e| Error::write(dir, e))
}

/// Fetches and unpacks from the first source that has it.
fn install(
    catalogue: &Catalogue,
    entry: &Entry,
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let mut failed = None;
    for source in &entry.sources {
        match install_from(catalogue, (entry, source), cache, watch) {
            Ok(()) => return Ok(()),
            Err(error) if error.is_of_one_source() => {
                let text = format!("{} from {}: {error}", entry.name(), source.kind());
                // The first source is the usual one: its failure is what the user should mend.
                failed.get_or_insert(error);
                (watch.report)(Progress::Note { text: &text });
            }
            Err(error) => return Err(error),
        }
    }
    Err(failed.unwrap_or_else(|| Error::Data {
        what: "server catalogue".to_owned(),
        detail: format!("{}: no source", entry.name()),
    }))
}

fn install_from(
    catalogue: &Catalogue,
    (entry, source): (&Entry, &Source),
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let name = entry.name();
    let prefix = prefix_of(entry, cache);
    let archive = cache.join("downloads").join(source.file_name());
    let unpacked = entry.unpacked_mb * 1_000_000;
    if archive.is_file() {
        disk::require(cache, unpacked)?;
    } else {
        disk::require(cache, source.download_bytes() + unpacked)?;
        source.fetch(entry, cache, &archive, watch)?;
    }
    verify(source, &archive, watch)?;
    let layout = catalogue.layout(source).ok_or_else(|| Error::Data {
        what: "server catalogue".to_owned(),
        detail: format!("{name}: unknown layout {:?}", source.layout()),
    })?;
    let partial = prefix.with_file_name(format!("{name}.partial"));
    for stale in [&partial, &prefix] {
        if stale.exists() {
            fs::remove_dir_all(stale).map_err(|e| Error::write(stale, e))?;
        }
    }
    make_open(&partial)?;
    // The catalogue's size is rounded and may be a little short; a bomb is far larger.
    let limits = Limits { bytes: unpacked * 2 + 100_000_000, entries: MAX_ENTRIES };
    let mut told = 0;
    let version = entry.version.to_string();
    let done = unpack(&archive, &partial, (layout, &version), limits, &mut |bytes| {
        // Told every 4 MB: often enough for the eye.
        if bytes - told >= 4_000_000 {
            told = bytes;
            (watch.report)(Progress::Unpacking { name: &name, bytes, total: unpacked });
        }
        watch.check("unpack an archive")
    });
    if let Err(error) = done.and_then(|_| write_origin((entry, source), &partial)) {
        let _ = fs::remove_dir_all(&partial);
        return Err(error);
    }
    fs::rename(&partial, &prefix).map_err(|e| Error::write(&prefix, e))?;
    fs::remove_file(&archive).map_err(|e| Error::write(&archive, e))
}

fn write_origin((entry, source): (&Entry, &Source), partial: &Path) -> Result<(), Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let origin = Origin {
        source: source.identity(),
        compiled: entry.compiled.clone(),
        unpacked_unix_s: now,
    };
    let path = partial.join(ORIGIN);
    let text = serde_json::to_string_pretty(&origin)
        .map_err(|e| Error::Data { what: ORIGIN.to_owned(), detail: e.to_string() })?;
    fs::write(&path, text).map_err(|e| Error::write(&path, e))
}

/// Deletes the archive when it is not the one of the catalogue.
fn verify(source: &Source, archive: &Path, watch: &mut Watch<'_>) -> Result<(), Error> {
    let doing = || format!("read {}", archive.display());
    let mut file = File::open(archive).map_err(|e| Error::io(doing(), e))?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0_u8; 1 << 20];
    loop {
        watch.check("verify an archive")?;
        let n = file.read(&mut buffer).map_err(|e| Error::io(doing(), e))?;
        if n == 0 {
            break;
        }
        hash.update(&buffer[..n]);
    }
    let found = hex(&hash.finalize());
    if found == source.sha256() {
        return Ok(());
    }
    fs::remove_file(archive).map_err(|e| Error::write(archive, e))?;
    Err(Error::Checksum {
        file: archive.display().to_string(),
        expected: source.sha256().to_owned(),
        found,
    })
}

#[cfg(test)]
mod tests;
