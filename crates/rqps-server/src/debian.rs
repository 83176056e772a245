//! Servers from Debian's suites: packages resolved, fetched and checked by the host's own apt, in a root
//! of its own inside the cache, and unpacked into a prefix. Nothing is installed.
//!
//! Suites roll: what the catalogue was verified with may have left the suite. Then the fetch is
//! refused with what the suite has now, so that no result carries a version that was not measured.
//!
//! ```text
//! CACHE/apt/SUITE/            apt's configuration, lists and state for one suite
//! CACHE/apt/SUITE/archives/   packages that were fetched; kept, as a suite may drop them any day
//! ```

mod apt;
mod deb;
mod elf;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rqps_model::Version;
use serde::{Deserialize, Serialize};

use crate::catalogue::{Entry, Layout};
use crate::source::{Debian, Glibc};
use crate::unpack::Limits;
use crate::watch::{Progress, Watch};
use crate::{Error, disk, lock, patchelf};
use apt::Apt;

/// A package as it was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// Its full version: `1:10.11.19-0+deb12u1`.
    pub(crate) version: String,
    /// SHA-256 of the file, hex.
    pub(crate) sha256: String,
}

/// What dependencies name that is no library: scripts, accounts and settings of an installation
/// that never happens. They are taken for installed, and so is what they need.
const NOT_NEEDED: &[&str] = &[
    "adduser",
    "debconf",
    "dpkg",
    "init-system-helpers",
    "libjson-perl",
    "locales",
    "locales-all",
    "mariadb-common",
    "mysql-common",
    "perl",
    "perl-base",
    "postgresql-client-common",
    "postgresql-common",
    "readline-common",
    "sensible-utils",
    "ssl-cert",
    "tar",
    "tzdata",
    "ucf",
];

/// The C library and what must match it: the host's own, with [`Glibc::Host`].
const HOST_GLIBC: &[&str] = &["libc6", "libgcc-s1", "libgcc1", "libstdc++6", "libcrypt1"];

/// Fetches the packages and unpacks them into the existing directory `partial`, which will be
/// renamed to `prefix`.
pub(crate) fn fill(
    entry: &Entry,
    source: &Debian,
    layout: &Layout,
    cache: &Path,
    partial: &Path,
    prefix: &Path,
    watch: &mut Watch<'_>,
) -> Result<Vec<Package>, Error> {
    let unpacked = entry.unpacked_mb * 1_000_000;
    disk::require(cache, source.download_bytes + unpacked)?;
    // The tool first: it is small, and without it all the rest is in vain.
    let patchelf = match source.glibc {
        Glibc::Own => Some(patchelf::ensure(cache, watch)?),
        Glibc::Host => None,
    };
    let _lock = lock::acquire(
        &cache.join(format!("locks/debian-{}.lock", source.suite)),
        lock::FETCHING,
        watch,
    )?;
    let apt = Apt::open(entry.name(), &source.suite, cache, watch)?;
    let wanted = resolve(&apt, entry, source, watch)?;
    let files = apt.download(&wanted, watch)?;
    apt.tidy();
    // The catalogue's size is rounded and may be a little short; a bomb is far larger.
    let mut limits = Limits { bytes: unpacked * 2 + 100_000_000, entries: 100_000 };
    let name = entry.name();
    let (mut written, mut told) = (0, 0);
    for (_, file) in &files {
        let before = written;
        let done = deb::unpack(file, partial, layout, limits, &mut |bytes| {
            written = before + bytes;
            if written - told >= 4_000_000 {
                told = written;
                (watch.report)(Progress::Unpacking { name: &name, bytes: told, total: unpacked });
            }
            watch.check("unpack a package")
        })?;
        written = before + done.bytes;
        limits.bytes = limits.bytes.saturating_sub(done.bytes);
    }
    if let Some(patchelf) = patchelf {
        elf::relocate(&patchelf, partial, prefix, watch)?;
    }
    Ok(files.into_iter().map(|(package, _)| package).collect())
}

/// The versions of packages that a suite has now, as `(name, version)`, newest first: its lists are
/// read again.
///
/// # Errors
/// What keeps it from being had, as for a fetch.
pub(crate) fn versions_now(
    suite: &str,
    packages: &[String],
    cache: &Path,
    watch: &mut Watch<'_>,
) -> Result<Vec<(String, String)>, Error> {
    let locks = cache.join("locks");
    fs::create_dir_all(&locks).map_err(|e| Error::write(&locks, e))?;
    let _lock = lock::acquire(&locks.join(format!("debian-{suite}.lock")), lock::FETCHING, watch)?;
    let apt = Apt::open(format!("Debian {suite}"), suite, cache, watch)?;
    let versions = apt.versions(packages, watch);
    apt.tidy();
    versions
}

/// The packages to fetch, as `(name, version)`: those whose files are wanted, and their libraries.
fn resolve(
    apt: &Apt,
    entry: &Entry,
    source: &Debian,
    watch: &mut Watch<'_>,
) -> Result<Vec<(String, String)>, Error> {
    let names: Vec<String> = source.packages.iter().chain(&source.needs).cloned().collect();
    let known = apt.versions(&names, watch)?;
    let of = |package: &str| versions_of(&known, package);
    let mut wanted = parts(entry, source, &known)?;
    let (main, version) = wanted.first().cloned().unwrap_or_default();
    let mut roots = vec![format!("{main}={version}")];
    for package in &source.needs {
        // The newest by name: of itself, apt takes from experimental only what it is told to.
        let version = of(package).first().map_or(String::new(), |version| format!("={version}"));
        roots.push(format!("{package}{version}"));
    }
    let mut assumed: BTreeSet<&str> = NOT_NEEDED.iter().copied().collect();
    if source.glibc == Glibc::Host {
        assumed.extend(HOST_GLIBC);
    }
    assumed.extend(source.without.iter().map(String::as_str));
    for found in apt.closure(&roots, &assumed, watch)? {
        if !wanted.iter().any(|(name, _)| *name == found.0) {
            wanted.push(found);
        }
    }
    Ok(wanted)
}

/// The packages whose files make the server, as `(name, version)`, of those that a suite has.
pub(crate) fn parts(
    entry: &Entry,
    source: &Debian,
    known: &[(String, String)],
) -> Result<Vec<(String, String)>, Error> {
    let of = |package: &str| versions_of(known, package);
    let main = source.main();
    let Some(version) = of(main).into_iter().find(|v| upstream(v).as_ref() == Some(&entry.version))
    else {
        return Err(gone(entry, source, main, &of(main)));
    };
    let mut wanted = vec![(main.to_owned(), version.to_owned())];
    for package in source.packages.iter().skip(1) {
        let there = of(package);
        let Some(newest) = there.first() else {
            return Err(gone(entry, source, package, &there));
        };
        let same = there.iter().find(|v| **v == version);
        // A part of the server has a version of its series and must be of the very same build;
        // extensions have versions of their own.
        if same.is_none()
            && upstream(newest).is_some_and(|v| v.numbers[..1] == entry.version.numbers[..1])
        {
            return Err(gone(entry, source, package, &there));
        }
        wanted.push((package.clone(), (*same.unwrap_or(newest)).to_owned()));
    }
    Ok(wanted)
}

fn versions_of<'a>(known: &'a [(String, String)], package: &str) -> Vec<&'a str> {
    known.iter().filter(|(name, _)| name == package).map(|(_, version)| version.as_str()).collect()
}

/// The upstream version of a package's: `10.11.19` of `1:10.11.19-0+deb12u1`, `19rc1` of `19~rc1-1`.
fn upstream(version: &str) -> Option<Version> {
    let without_epoch = version.split_once(':').map_or(version, |(_, rest)| rest);
    let upstream = without_epoch.rsplit_once('-').map_or(without_epoch, |(upstream, _)| upstream);
    upstream.replace('~', "").parse().ok()
}

/// The suite has moved on.
fn gone(entry: &Entry, source: &Debian, package: &str, there: &[&str]) -> Error {
    let has = if there.is_empty() { "(none)".to_owned() } else { there.join(" and ") };
    Error::Rolled {
        server: entry.name(),
        suite: source.suite.clone(),
        package: package.to_owned(),
        has,
        remedy: instead(entry),
    }
}

fn instead(entry: &Entry) -> String {
    let dbms = entry.dbms;
    format!(
        "choose another version or build of {dbms} (see `rqps servers list`), or add the suite's version \
         with the same source to a catalogue of your own"
    )
}

/// Directories of libraries that came with a prefix and that its programs do not find by
/// themselves: those of builds that run on the host's C library.
pub(crate) fn library_dirs(prefix: &Path) -> Vec<PathBuf> {
    let dirs: Vec<PathBuf> = elf::LIBRARY_DIRS.iter().map(|dir| prefix.join(dir)).collect();
    if dirs.iter().any(|dir| dir.join(elf::LOADER).exists()) {
        // Its own C library: the path is in the programs.
        return Vec::new();
    }
    let holds_libraries = |dir: &PathBuf| {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        entries.into_iter().any(|e| e.file_name().to_string_lossy().contains(".so"))
    };
    dirs.into_iter().filter(holds_libraries).collect()
}

/// Where the programs of a prefix look for the C library that came with it, when that is not in the
/// prefix: it was moved or copied since it was made, and its programs hold absolute paths.
pub(crate) fn moved_from(prefix: &Path, program: &Path) -> Option<PathBuf> {
    let loaders = elf::LIBRARY_DIRS.iter().map(|dir| prefix.join(dir).join(elf::LOADER));
    // Builds that run on the host's C library can be anywhere.
    let own: Vec<PathBuf> = loaders.filter(|loader| loader.exists()).collect();
    let asked = crate::elf::interpreter(program).ok().flatten()?;
    let there = asked.canonicalize().ok();
    let is_own = own.iter().any(|loader| there.is_some() && loader.canonicalize().ok() == there);
    (!own.is_empty() && !is_own).then_some(asked)
}

#[cfg(test)]
mod tests;
