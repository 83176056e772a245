//! Downloads an archive of an official site: mirrors in order, resumed where it broke off, verified.

mod transfer;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rqps_model::Version;
use serde::Deserialize;

use super::Checksum;
use crate::watch::{Progress, Watch};
use crate::{Error, disk};
use transfer::Transfer;

pub(crate) use transfer::is_there;

/// An archive that is published under one or several addresses.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Url {
    /// Name of a `[site]` of the catalogue, whose addresses are tried after `urls`.
    pub site: Option<String>,
    /// Addresses, tried in order; `{version}`, `{series}` (`8.0`) and `{file}` are filled in.
    #[serde(default)]
    pub urls: Vec<String>,
    /// The archive's file name; `{version}` and `{series}` are filled in.
    pub file: String,
    /// Its published checksum.
    pub checksum: Checksum,
    /// Name of the layout by which it is unpacked.
    pub layout: String,
    /// Size of the archive, bytes; 0 where it is not known.
    #[serde(default)]
    pub download_bytes: u64,
}

impl Url {
    /// Adds the addresses of its site.
    pub(crate) fn take_site(&mut self, sites: &BTreeMap<String, Vec<String>>) -> Option<String> {
        let name = self.site.take()?;
        let Some(urls) = sites.get(&name) else { return Some(format!("unknown site {name:?}")) };
        self.urls.extend(urls.iter().cloned());
        None
    }

    pub(super) fn resolve(&mut self, version: &Version) {
        let numbers: Vec<String> = version.numbers.iter().take(2).map(u32::to_string).collect();
        let (version, series) = (version.to_string(), numbers.join("."));
        let fill = |text: &str| text.replace("{version}", &version).replace("{series}", &series);
        self.file = fill(&self.file);
        for url in &mut self.urls {
            *url = fill(url).replace("{file}", &self.file);
        }
    }

    pub(super) fn flaw(&self) -> Option<String> {
        if self.urls.is_empty() {
            return Some("a source from = \"url\" needs urls or site".to_owned());
        }
        self.urls.iter().find_map(|url| {
            let safe = url.starts_with("https://");
            if !safe && !url.starts_with("http://") {
                return Some(format!("{url:?} does not begin with https:// or http://"));
            }
            if !safe && self.checksum.algorithm == super::Algorithm::Md5 {
                return Some(format!("{url:?}: md5 guards against accidents only, use https"));
            }
            let filled = !url.contains(['{', '}', ' ']);
            (!filled).then(|| format!("{url:?} has something unknown in braces, or a space"))
        })
    }
}

/// How patient a download is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// Longest time without a byte.
    pub(crate) stall: Duration,
    /// How often a transfer that broke off is taken up again, per mirror.
    pub(crate) resumes: u32,
    /// Pause before it is.
    pub(crate) pause: Duration,
}

impl Patience {
    /// Official sites send from other continents, through caches that may have to fill first.
    pub(crate) const USUAL: Self =
        Self { stall: Duration::from_secs(60), resumes: 5, pause: Duration::from_secs(2) };
}

/// What an archive may have in bytes where the catalogue does not know: MySQL's largest has 1.2 GB.
const UNKNOWN_BYTES: u64 = 3_000_000_000;

/// Fetches the archive to `to` and verifies it.
pub(super) fn fetch(
    name: &str,
    source: &Url,
    to: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    fetch_patiently(name, source, to, Patience::USUAL, watch)
}

/// Tries the mirrors in order.
pub(crate) fn fetch_patiently(
    name: &str,
    source: &Url,
    to: &Path,
    patience: Patience,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let mut tried = Vec::new();
    for url in &source.urls {
        match from_mirror(name, source, url, to, patience, watch)? {
            Ok(()) => return Ok(()),
            Err(why) => {
                let text = format!("{url}: {why}");
                (watch.report)(Progress::Note { text: &format!("{name} from {text}") });
                tried.push(text);
            }
        }
    }
    Err(Error::Download {
        what: name.to_owned(),
        tried: tried.join("\n  "),
        file: source.file.clone(),
        dir: to.parent().unwrap_or(Path::new(".")).to_owned(),
    })
}

/// The file that a download grows in.
fn part_of(to: &Path) -> PathBuf {
    let mut name = to.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

/// The inner error says why this mirror is of no use.
fn from_mirror(
    name: &str,
    source: &Url,
    url: &str,
    to: &Path,
    patience: Patience,
    watch: &mut Watch<'_>,
) -> Result<Result<(), String>, Error> {
    let part = part_of(to);
    let max_bytes = match source.download_bytes {
        0 => UNKNOWN_BYTES,
        // The catalogue's size is rounded.
        known => known + known / 4 + 1_000_000,
    };
    // What an earlier attempt left may be of another file: then once more from the beginning.
    loop {
        let resumed = fs::metadata(&part).is_ok_and(|meta| meta.len() > 0);
        let transfer = Transfer { url, part: &part, max_bytes, patience };
        let total = source.download_bytes;
        let done = transfer.run(watch, &mut |watch, bytes| {
            (watch.report)(Progress::Fetching { name, bytes, total: total.max(bytes) });
        });
        match done {
            Ok(Ok(())) => {}
            Ok(Err(why)) => return Ok(Err(why)),
            Err(error @ Error::DiskFull { .. }) => {
                disk::require(to, source.download_bytes)?;
                return Err(error);
            }
            Err(error) => return Err(error),
        }
        let checksum = &source.checksum;
        let found = checksum.algorithm.of_file(&part, watch)?;
        if found == checksum.hex {
            fs::rename(&part, to).map_err(|e| Error::write(to, e))?;
            return Ok(Ok(()));
        }
        fs::remove_file(&part).map_err(|e| Error::write(&part, e))?;
        if !resumed {
            let (algorithm, expected) = (checksum.algorithm.name(), &checksum.hex);
            return Ok(Err(format!(
                "it sent a different file: its {algorithm} is {found}, the catalogue says {expected}"
            )));
        }
    }
}

#[cfg(test)]
mod tests;
