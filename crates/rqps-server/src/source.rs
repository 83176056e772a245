//! Where a server of the catalogue can be had, and getting its archive from there.

mod checksum;
mod debian;
mod file;
mod maven;
mod npm;
pub(crate) mod pypi;
pub(crate) mod url;

use std::path::{Path, PathBuf};

use rqps_model::Version;
use serde::Deserialize;

pub use checksum::{Algorithm, Checksum};
pub use debian::{Debian, Glibc};
pub use file::LocalFile;
pub use maven::Maven;
pub use npm::Npm;
pub use pypi::Pypi;
pub use url::Url;

use crate::Error;
use crate::watch::Watch;

/// A source of a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "from", rename_all = "lowercase", deny_unknown_fields)]
pub enum Source {
    /// An artifact that the user's own Maven client resolves.
    Maven(Maven),
    /// Packages of a Debian suite, fetched by the host's own apt.
    Debian(Debian),
    /// An archive of an official download site.
    Url(Url),
    /// A wheel that the user's own pip resolves.
    Pypi(Pypi),
    /// A package that the user's own npm resolves.
    Npm(Npm),
    /// An archive that the user has.
    File(LocalFile),
}

/// What every kind of source says of its archive.
struct Common<'a> {
    kind: &'static str,
    layout: &'a str,
    download_bytes: u64,
    checksum: Option<Checksum>,
}

impl Source {
    fn common(&self) -> Common<'_> {
        let sha256 = |hex: &str| Some(Checksum::sha256(hex));
        let (kind, layout, download_bytes, checksum) = match self {
            Self::Maven(it) => ("Maven", &it.layout, it.download_bytes, sha256(&it.sha256)),
            Self::Debian(it) => ("Debian", &it.layout, it.download_bytes, None),
            Self::Url(it) => ("URL", &it.layout, it.download_bytes, Some(it.checksum.clone())),
            Self::Pypi(it) => ("PyPI", &it.layout, it.download_bytes, sha256(&it.sha256)),
            Self::Npm(it) => ("npm", &it.layout, it.download_bytes, sha256(&it.sha256)),
            Self::File(it) => ("file", &it.layout, 0, it.checksum.clone()),
        };
        Common { kind, layout, download_bytes, checksum }
    }

    /// Its kind in lists: `Maven`, `Debian`, `URL`, `PyPI`, `npm`, `file`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        self.common().kind
    }

    /// What identifies the very files that it gives: coordinates and checksum; for Debian, whose
    /// suites roll, suite and package (the prefix records what they were); for a file without a checksum its
    /// size and when it was changed.
    #[must_use]
    pub fn identity(&self) -> String {
        let what = match self {
            Self::Maven(it) => it.artifact.clone(),
            Self::Debian(it) => it.identity(),
            Self::Url(it) => it.file.clone(),
            Self::Pypi(it) => format!("pypi:{}", it.wheel),
            Self::Npm(it) => format!("npm:{}@{}", it.package, it.version),
            Self::File(it) => it.identity(),
        };
        self.checksum().map_or_else(|| what.clone(), |checksum| format!("{what} {checksum}"))
    }

    /// Whether it delivered files of this identity. A file of the user that no longer exists counts as
    /// delivered.
    #[must_use]
    pub fn gave(&self, identity: &str) -> bool {
        let is_same = self.identity() == identity;
        match self {
            Self::File(it) => is_same || it.was(identity),
            _ => is_same,
        }
    }

    /// Refuses what was made of a file of the user's that changed meanwhile.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        match self {
            Self::File(it) => it.check_unchanged(),
            _ => Ok(()),
        }
    }

    /// Download size, bytes; 0 if unknown.
    #[must_use]
    pub fn download_bytes(&self) -> u64 {
        self.common().download_bytes
    }

    /// Name of the layout of its archive.
    #[must_use]
    pub fn layout(&self) -> &str {
        self.common().layout
    }

    /// The checksum of its archive. A file of the user may have none; apt verifies its own.
    #[must_use]
    pub fn checksum(&self) -> Option<Checksum> {
        self.common().checksum
    }

    /// The file name of its archive below `CACHE/downloads`; empty where there is no single one.
    pub(crate) fn file_name(&self) -> String {
        match self {
            Self::Debian(_) => String::new(),
            Self::Maven(it) => it.path().1,
            Self::Url(it) => it.file.clone(),
            Self::Pypi(it) => it.wheel.clone(),
            Self::Npm(it) => it.tarball(),
            Self::File(it) => {
                it.path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into())
            }
        }
    }

    /// The archive where it is, when it is the user's own and neither copied nor deleted.
    pub(crate) fn in_place(&self) -> Option<&Path> {
        match self {
            Self::File(it) => Some(&it.path),
            _ => None,
        }
    }

    /// Fills in templates and makes paths absolute; `base` is the directory of the catalogue's file.
    pub(crate) fn resolve(&mut self, version: &Version, base: &Path) {
        match self {
            Self::Url(it) => it.resolve(version),
            Self::File(it) => it.resolve(base),
            Self::Maven(_) | Self::Debian(_) | Self::Pypi(_) | Self::Npm(_) => {}
        }
    }

    /// What is wrong with it, for who writes catalogues.
    pub(crate) fn flaw(&self) -> Option<String> {
        let own = match self {
            Self::Debian(it) => return it.flaw(),
            Self::Maven(it) => it.flaw(),
            Self::Url(it) => it.flaw(),
            Self::Pypi(it) => it.flaw(),
            Self::Npm(it) => it.flaw(),
            Self::File(_) => None,
        };
        let plain = |name: &str| !name.is_empty() && !name.contains(['/', '\0']) && name != "..";
        own.or_else(|| self.checksum()?.flaw()).or_else(|| {
            let name = self.file_name();
            (!plain(&name)).then(|| format!("file = {name:?} is not the name of a file"))
        })
    }

    /// Fetches the archive of `name` to `to`, which is on the same file system as `cache`, and
    /// verifies it.
    pub(crate) fn fetch(
        &self,
        name: &str,
        cache: &Path,
        to: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<(), Error> {
        match self {
            Self::Maven(it) => maven::fetch(name, it, cache, to, watch)?,
            // Verifies by itself: the next mirror may have the right one.
            Self::Url(it) => return url::fetch(name, it, to, watch),
            Self::Pypi(it) => pypi::fetch(name, it, cache, to, watch)?,
            Self::Npm(it) => npm::fetch(name, it, cache, to, watch)?,
            Self::File(it) => return Err(it.missing()),
            Self::Debian(_) => {
                return Err(Error::Data {
                    what: "server catalogue".to_owned(),
                    detail: "packages of Debian are no single archive".to_owned(),
                });
            }
        }
        self.verify(to, watch)
    }

    /// Compares the archive with the checksum. One that rqps fetched is deleted when it is another.
    pub(crate) fn verify(&self, archive: &Path, watch: &mut Watch<'_>) -> Result<(), Error> {
        let Some(mut error) = self.mismatch(archive, watch)? else { return Ok(()) };
        if self.in_place().is_none() {
            std::fs::remove_file(archive).map_err(|e| Error::write(archive, e))?;
            if let Error::Checksum { remedy, .. } = &mut error {
                "the file was deleted; the same command fetches it again".clone_into(remedy);
            }
        }
        Err(error)
    }

    /// What to say of an archive that is another one than the catalogue's.
    pub(crate) fn mismatch(
        &self,
        archive: &Path,
        watch: &Watch<'_>,
    ) -> Result<Option<Error>, Error> {
        let Some(checksum) = self.checksum() else { return Ok(None) };
        let found = checksum.algorithm.of_file(archive, watch)?;
        if found == checksum.hex {
            return Ok(None);
        }
        let remedy = if self.in_place().is_some() {
            "it is not the archive of the catalogue; correct `path` or `checksum` there"
        } else {
            "remove it, so that it is fetched again"
        };
        Ok(Some(Error::Checksum {
            file: archive.display().to_string(),
            algorithm: checksum.algorithm.name(),
            expected: checksum.hex,
            found,
            remedy: remedy.to_owned(),
        }))
    }
}

/// What a registry's client that is missing keeps from being had, and the two ways on.
fn missing_client(tool: &'static str, package: &'static str, name: &str, to: &Path) -> Error {
    Error::ToolMissing {
        tool,
        needed_for: format!("fetching {name}"),
        remedy: format!("install it (apt-get install {package}), or {}", by_hand(to)),
    }
}

/// What a registry's client said when it failed, and the ways on.
fn failed_client(tool: &'static str, output: String, name: &str, to: &Path) -> Error {
    Error::FetchFailed {
        what: name.to_owned(),
        tool,
        output,
        remedy: format!(
            "check the network and the settings of {tool} (proxy, mirror), or {}",
            by_hand(to)
        ),
    }
}

fn by_hand(to: &Path) -> String {
    let archive: PathBuf = to.file_name().map_or_else(PathBuf::new, PathBuf::from);
    let dir = to.parent().unwrap_or(Path::new("."));
    format!("put {} into {} yourself", archive.display(), dir.display())
}
