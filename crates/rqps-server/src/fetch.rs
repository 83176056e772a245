//! Gets a server of the catalogue into the cache: fetch, verify, unpack, libraries.
//!
//! ```text
//! CACHE/downloads/ARCHIVE    while it is fetched and unpacked (or put there by hand)
//! CACHE/downloads/*.part     what an interrupted download left; the next one goes on from there
//! CACHE/maven/               Maven's local repository: its plugins
//! CACHE/servers/NAME/        the prefix; appears in one step, with rqps-origin.json inside
//! CACHE/servers/NAME.partial what an interrupted unpacking left; removed by the next
//! CACHE/apt/SUITE/           lists and packages of Debian suites
//! CACHE/tools/               programs that rqps itself needs
//! CACHE/libs/SONAME/         a library that the host does not have
//! CACHE/locks/NAME.lock      held by the process that works on it
//! CACHE/locks/NAME.use       held by the processes that run it
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::catalogue::{Catalogue, Entry, Layout};
use crate::debian::{self, Package};
use crate::identity::Identity;
use crate::installed::Installed;
use crate::lock::Lease;
use crate::places::make_open;
use crate::source::Source;
use crate::unpack::{Limits, unpack};
use crate::watch::{Progress, Watch};
use crate::{Error, disk, library, lock};

mod findings;

pub use findings::findings;

/// The file in a prefix that says where it came from.
const ORIGIN: &str = "rqps-origin.json";

/// Where a prefix came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Origin {
    /// The source's identity: coordinates and checksum.
    source: String,
    /// How it was compiled.
    compiled: String,
    /// The identities of what was added to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    additions: Vec<String>,
    /// The packages that it was made of, where it came from Debian.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    packages: Vec<Package>,
    /// What tells the layout by which it was unpacked from others.
    #[serde(default)]
    layout: String,
    /// When it was unpacked, seconds since 1970.
    unpacked_unix_s: u64,
}

/// The most entries an archive may have; MySQL's has 12,000 with its test suite.
const MAX_ENTRIES: usize = 100_000;

/// Whether a server is in the cache, at the place that its programs expect.
#[must_use]
pub fn is_cached(entry: &Entry, cache: &Path) -> bool {
    origin_of(entry, cache).is_some() && moved_from(entry, cache).is_none()
}

/// Where a server of the cache looks for its C library, when that is elsewhere: the cache was moved.
fn moved_from(entry: &Entry, cache: &Path) -> Option<PathBuf> {
    let prefix = prefix_of(entry, cache);
    let program = Installed::program_in(&prefix, entry.dbms)?;
    debian::moved_from(&prefix, &program)
}

/// Removes a server from the cache, if no rqps runs it.
///
/// # Errors
/// When its files cannot be removed, or the work is stopped.
pub fn forget(entry: &Entry, cache: &Path, watch: &mut Watch<'_>) -> Result<(), Error> {
    let prefix = prefix_of(entry, cache);
    if !prefix.exists() {
        return Ok(());
    }
    let _alone = lock::acquire(&in_use(entry, cache), lock::REPLACING, watch)?;
    // The origin goes first: half a tree must not look whole.
    let origin = prefix.join(ORIGIN);
    let _ = fs::remove_file(&origin);
    fs::remove_dir_all(&prefix).map_err(|e| Error::write(&prefix, e))
}

/// Fetches a server into `cache` if it is missing, and returns its installation.
///
/// # Errors
/// When it cannot be fetched, is not the archive of the catalogue, or does not fit on the disk.
pub fn ensure(
    catalogue: &Catalogue,
    entry: &Entry,
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<Installed, Error> {
    check_machine(entry)?;
    let mut fresh = false;
    let lease = loop {
        if !is_cached(entry, cache) {
            for dir in ["downloads", "servers", "locks", "libs"] {
                make_open(&cache.join(dir))?;
            }
            let lock = cache.join(format!("locks/{}.lock", entry.name()));
            let _lock = lock::acquire(&lock, lock::FETCHING, watch)?;
            // Another process may have done the work while we waited.
            if !is_cached(entry, cache) {
                install(catalogue, entry, cache, watch)?;
                fresh = true;
            }
        }
        let lease = Lease::take(&in_use(entry, cache), watch)?;
        // One with another catalogue may have replaced it meanwhile.
        if is_cached(entry, cache) {
            break lease;
        }
    };
    let prefix = prefix_of(entry, cache);
    let mut library_dirs = library::ensure(catalogue, entry, cache, watch)?;
    library_dirs.extend(debian::library_dirs(&prefix));
    let origin = origin_of(entry, cache).map_or_else(String::new, |origin| origin.text());
    let mut installed = Installed::of_catalogue(entry, &prefix, library_dirs, origin)?;
    installed.lease = lease;
    if fresh
        && let Source::Debian(_) = source_of(entry, cache)?
        && let Err(error) = try_out(entry, &installed, cache, watch)
    {
        drop(installed);
        forget(entry, cache, watch)?;
        return Err(error);
    }
    Ok(installed)
}

/// Runs a server that was put together of packages once: what does not run here, or is not what it
/// should be, does not stay.
fn try_out(
    entry: &Entry,
    installed: &Installed,
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let log = cache.join("locks").join(format!("{}.log", entry.name()));
    let me = Identity { switch: false, ..Identity::for_servers()? };
    let tried = installed.try_out(&me, &log, watch);
    let _ = fs::remove_file(&log);
    tried
}

/// Refuses a server that this machine cannot run.
fn check_machine(entry: &Entry) -> Result<(), Error> {
    let found = std::env::consts::ARCH;
    if entry.arch == found {
        return Ok(());
    }
    let (server, wanted) = (entry.name(), entry.arch.clone());
    Err(Error::Architecture { server, wanted, found })
}

/// The file that is locked while a server of the cache is used or replaced.
fn in_use(entry: &Entry, cache: &Path) -> PathBuf {
    cache.join("locks").join(format!("{}.use", entry.name()))
}

fn prefix_of(entry: &Entry, cache: &Path) -> PathBuf {
    cache.join("servers").join(entry.name())
}

/// The source that the prefix of an entry came from.
fn source_of<'a>(entry: &'a Entry, cache: &Path) -> Result<&'a Source, Error> {
    let identity = origin_of(entry, cache).map(|origin| origin.source);
    let found = identity.and_then(|is| entry.sources.iter().find(|source| source.gave(&is)));
    found.ok_or_else(|| Error::Data {
        what: ORIGIN.to_owned(),
        detail: format!("{} in the cache has no known source", entry.name()),
    })
}

impl Origin {
    /// Where it came from, for the reader.
    fn text(self) -> String {
        match self.packages.first() {
            // What a build of a distribution brings along is part of what is measured.
            Some(main) => format!(
                "{} {} sha256:{} ({})",
                self.source, main.version, main.sha256, self.compiled
            ),
            None => [vec![self.source], self.additions].concat().join(" with "),
        }
    }
}

/// Where the prefix of an entry came from, when it is one of the entry's sources and the layout is
/// still the same.
fn origin_of(entry: &Entry, cache: &Path) -> Option<Origin> {
    let origin = read_origin(&prefix_of(entry, cache))?;
    let (_, tag) = entry.source_of(&origin.source)?;
    let is_whole = origin.additions == additions_of(entry);
    // Prefixes of earlier versions of rqps have no tag.
    (is_whole && (origin.layout.is_empty() || origin.layout == tag)).then_some(origin)
}

fn additions_of(entry: &Entry) -> Vec<String> {
    entry.additions.iter().map(Source::identity).collect()
}

fn read_origin(prefix: &Path) -> Option<Origin> {
    serde_json::from_slice(&fs::read(prefix.join(ORIGIN)).ok()?).ok()
}

/// Fetches and unpacks from the first source that has it; tells the failure of each.
fn install(
    catalogue: &Catalogue,
    entry: &Entry,
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let mut failed = Vec::new();
    for source in &entry.sources {
        match install_from(catalogue, entry, source, cache, watch) {
            Ok(()) => return Ok(()),
            Err(error) if error.is_of_one_source() => {
                if entry.sources.len() > 1 {
                    let text =
                        format!("{} from {}: {}", entry.name(), source.kind(), error.chain());
                    (watch.report)(Progress::Note { text: &text });
                }
                failed.push((source.kind(), error));
            }
            Err(error) => return Err(error),
        }
    }
    if failed.len() > 1 {
        let lines = failed.iter().map(|(kind, error)| format!("  {kind}: {}", error.chain()));
        return Err(Error::NoSource {
            server: entry.name(),
            n: failed.len(),
            failures: lines.collect::<Vec<_>>().join("\n"),
        });
    }
    Err(failed.pop().map_or_else(
        || Error::Data {
            what: "server catalogue".to_owned(),
            detail: format!("{}: no source", entry.name()),
        },
        |(_, error)| error,
    ))
}

fn install_from(
    catalogue: &Catalogue,
    entry: &Entry,
    source: &Source,
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let name = entry.name();
    let prefix = prefix_of(entry, cache);
    let layout = catalogue.layout(source).ok_or_else(|| Error::Data {
        what: "server catalogue".to_owned(),
        detail: format!("{name}: unknown layout {:?}", source.layout()),
    })?;
    let archive = match source {
        Source::Debian(_) => None,
        _ => Some(archive(entry, source, cache, watch)?),
    };
    let partial = prefix.with_file_name(format!("{name}.partial"));
    // What others run must stay until they have ended.
    let _alone = prefix
        .exists()
        .then(|| lock::acquire(&in_use(entry, cache), lock::REPLACING, watch))
        .transpose()?;
    for stale in [&partial, &prefix] {
        if stale.exists() {
            fs::remove_dir_all(stale).map_err(|e| Error::write(stale, e))?;
        }
    }
    make_open(&partial)?;
    let filled = match (source, &archive) {
        (Source::Debian(source), _) => {
            debian::fill(entry, source, layout, cache, &partial, &prefix, watch)
        }
        (_, Some(archive)) => {
            unpack_archive(entry, layout, archive, &partial, watch).map(|()| Vec::new())
        }
        _ => Ok(Vec::new()),
    };
    let done = filled.and_then(|packages| {
        add(catalogue, entry, cache, &partial, watch)?;
        source.check_unchanged()?;
        write_origin(entry, source, packages, &partial)
    });
    if let Err(error) = done {
        let _ = fs::remove_dir_all(&partial);
        return Err(error);
    }
    fs::rename(&partial, &prefix).map_err(|e| Error::write(&prefix, e))?;
    match archive {
        // An archive of the user's own stays where it is.
        Some(archive) if source.in_place().is_none() => {
            fs::remove_file(&archive).map_err(|e| Error::write(&archive, e))
        }
        _ => Ok(()),
    }
}

/// Unpacks what an entry has beside its server into the same tree.
fn add(
    catalogue: &Catalogue,
    entry: &Entry,
    cache: &Path,
    partial: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    for addition in &entry.additions {
        let layout = catalogue.layout(addition).ok_or_else(|| Error::Data {
            what: "server catalogue".to_owned(),
            detail: format!("{}: unknown layout {:?}", entry.name(), addition.layout()),
        })?;
        let archive = archive(entry, addition, cache, watch)?;
        unpack_archive(entry, layout, &archive, partial, watch)?;
        if addition.in_place().is_none() {
            fs::remove_file(&archive).map_err(|e| Error::write(&archive, e))?;
        }
    }
    Ok(())
}

/// The archive of a source, fetched unless it is there, with the right checksum.
fn archive(
    entry: &Entry,
    source: &Source,
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<PathBuf, Error> {
    let own = source.in_place();
    let archive =
        own.map_or_else(|| cache.join("downloads").join(source.file_name()), Path::to_owned);
    let unpacked = entry.unpacked_mb * 1_000_000;
    if archive.is_file() {
        disk::require(cache, unpacked)?;
        source.verify(&archive, watch)?;
    } else {
        disk::require(cache, source.download_bytes() + unpacked)?;
        source.fetch(&entry.name(), cache, &archive, watch)?;
    }
    Ok(archive)
}

fn unpack_archive(
    entry: &Entry,
    layout: &Layout,
    archive: &Path,
    partial: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let (name, version) = (entry.name(), entry.version.to_string());
    let unpacked = entry.unpacked_mb * 1_000_000;
    // The catalogue's size is rounded and may be a little short; a bomb is far larger.
    let limits = Limits { bytes: unpacked * 2 + 100_000_000, entries: MAX_ENTRIES };
    let mut told = 0;
    let done = unpack(archive, partial, layout, &version, limits, &mut |bytes| {
        // Told every 4 MB: often enough for the eye.
        if bytes - told >= 4_000_000 {
            told = bytes;
            (watch.report)(Progress::Unpacking { name: &name, bytes, total: unpacked });
        }
        watch.check("unpack an archive")
    });
    done.map(|_| ())
}

fn write_origin(
    entry: &Entry,
    source: &Source,
    packages: Vec<Package>,
    partial: &Path,
) -> Result<(), Error> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let identity = source.identity();
    let tag = entry.source_of(&identity).map_or_else(String::new, |(_, tag)| tag.to_owned());
    let origin = Origin {
        source: identity,
        additions: additions_of(entry),
        layout: tag,
        compiled: entry.compiled.clone(),
        packages,
        unpacked_unix_s: now,
    };
    let path = partial.join(ORIGIN);
    let text = serde_json::to_string_pretty(&origin)
        .map_err(|e| Error::Data { what: ORIGIN.to_owned(), detail: e.to_string() })?;
    fs::write(&path, text).map_err(|e| Error::write(&path, e))
}

#[cfg(test)]
mod tests;
