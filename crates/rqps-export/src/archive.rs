//! A run as one file that another host's store takes in: `RUN.tar.zst`.
//!
//! ```text
//!   manifest.json       what follows: each file's name, size and SHA-256
//!   rqps.db             a store with this one run
//!   artifacts/...       its files: server logs, stacks
//! ```
//!
//! An archive may come from anybody. No name in it may lead out of its directory. Nothing is stored before
//! all of it was read and matches its manifest. Its store must have the schema of rqps and nothing else.

mod gather;
mod manifest;
mod unpack;

use std::fs::File;
use std::path::{Path, PathBuf};

use rqps_store::scratch::sweep;
use rqps_store::{RunRef, Scratch, Store};

use crate::Error;
use manifest::{Entry, FORMAT, Manifest};

/// How the first file of an archive is named.
const MANIFEST: &str = "manifest.json";

/// The store of the run in an archive.
const STORE: &str = "rqps.db";

/// The directory of the run's files in an archive.
const ARTIFACTS: &str = "artifacts";

/// How the name of the directory begins where an archive is packed or unpacked: beside the results, and among
/// temporary files.
const BESIDE_RESULTS: &str = ".archive-";
const TEMPORARY: &str = "rqps-archive-";

/// Files beside a run's own while it is worked on, and no part of it: the one that holds it, and the one in which
/// it tells how it stands.
const KEPT: [&str; 2] = ["lock", "live"];

/// How much of a run an archive holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// Everything.
    #[default]
    Whole,
    /// Small, to keep and send: without samples, seconds of blocks and counters that no report reads.
    /// Each step and system has one histogram of response times in place of one for each block, so
    /// their percentiles have no ratio.
    Small,
}

impl Extent {
    /// Zstandard's level: its own default, as higher ones take ten times as long for a tenth less; what
    /// is to be small is worth that.
    fn level(self) -> i32 {
        match self {
            Self::Whole => 3,
            Self::Small => 19,
        }
    }
}

/// Writes a run into the archive `path`, which is there whole or not at all.
///
/// # Errors
/// When no run or several are meant, a process works on it, or something cannot be read or written.
pub fn write(
    store: &Store,
    run: &RunRef,
    path: &Path,
    extent: Extent,
    rqps_version: &str,
) -> Result<String, Error> {
    let run_id = store.resolve(run)?;
    // Nothing may be added to it meanwhile.
    let _lock = store.lock_run(&run_id)?;
    let temp = scratch(store.dir(), BESIDE_RESULTS)?;
    let alone = Store::open(temp.path())?;
    match extent {
        Extent::Whole => alone.take_run(store, &run_id)?,
        Extent::Small => {
            let counters: Vec<&str> = rqps_explain::work::names().collect();
            alone.take_small_run(store, &run_id, &gather::gather, &counters)?;
        }
    }
    alone.close_into_one_file()?;
    let mut files = vec![(STORE.to_owned(), temp.path().join(STORE))];
    let own = store.artifact_dir(&run_id)?;
    collect(&own, &own, &mut files)?;
    let entries: Result<Vec<Entry>, Error> =
        files.iter().map(|(name, path)| Entry::of(name, path)).collect();
    let manifest = Manifest {
        format: FORMAT,
        run_id: run_id.clone(),
        rqps_version: rqps_version.to_owned(),
        files: entries?,
    };
    let part = path.with_extension("part");
    let written = pack(&part, &manifest, &files, extent.level());
    let moved = written.and_then(|()| {
        std::fs::rename(&part, path).map_err(|source| Error::File {
            action: "write",
            path: path.to_path_buf(),
            source,
        })
    });
    if moved.is_err() {
        // What stays is of no use, and the first error says more than one about removing it.
        let _ = std::fs::remove_file(&part);
    }
    moved.map(|()| run_id)
}

/// Imports the run of an archive into the store, and returns its id. Files that a killed import unpacked
/// are removed.
///
/// # Errors
/// An archive that is incomplete, damaged, of a later rqps or no archive, a run that cannot be read, and one that
/// is there already. Nothing is stored then.
pub fn read(path: &Path, store: &Store) -> Result<String, Error> {
    sweep(store.dir(), BESIDE_RESULTS);
    let temp = scratch(store.dir(), BESIDE_RESULTS)?;
    let (other, run_id) = open_checked(path, temp.path())?;
    let is_there =
        || -> Result<bool, Error> { Ok(store.list_runs()?.iter().any(|run| run.id == run_id)) };
    if is_there()? {
        return Err(Error::Exists { run_id });
    }
    other.read_whole(&run_id)?;
    let (files, own) = (other.artifact_dir(&run_id)?, store.artifact_dir(&run_id)?);
    let _lock = store.lock_run(&run_id)?;
    // Another process may have taken it in meanwhile.
    if is_there()? {
        return Err(Error::Exists { run_id });
    }
    let moved = move_files(&files, &own);
    let taken = moved.and_then(|()| Ok(store.take_in(&other, &run_id)?));
    if taken.is_err() {
        // Files of a run that is not there; the first error says more than one about removing them.
        let _ = std::fs::remove_dir_all(&own);
    }
    taken.map(|()| run_id)
}

fn scratch(parent: &Path, prefix: &str) -> Result<Scratch, Error> {
    Scratch::new(parent, prefix).map_err(|source| Error::File {
        action: "make a directory in",
        path: parent.to_path_buf(),
        source,
    })
}

/// A run that is read where its archive was unpacked, which goes with the value.
#[derive(Debug)]
pub struct Opened {
    // Closed before its directory goes.
    store: Store,
    run_id: String,
    _dir: Scratch,
}

impl Opened {
    /// A store with this run alone.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The run.
    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.run_id
    }
}

/// Opens an archive for reading without a store; it is unpacked into a directory in `temp`. Files that
/// killed processes unpacked there are removed.
///
/// # Errors
/// An archive that is incomplete, damaged, of a later rqps or no archive.
pub fn open(path: &Path, temp: &Path) -> Result<Opened, Error> {
    sweep(temp, TEMPORARY);
    let dir = scratch(temp, TEMPORARY)?;
    let (store, run_id) = open_checked(path, dir.path())?;
    Ok(Opened { store, run_id, _dir: dir })
}

/// Unpacks an archive into `dir`: its store, which is sound, and the run that alone is in it, with its files.
fn open_checked(path: &Path, dir: &Path) -> Result<(Store, String), Error> {
    let run_id = unpack::unpack(path, dir)?.run_id;
    let store = Store::open_foreign(dir)?;
    let only = store.list_runs()?;
    if !matches!(only.as_slice(), [run] if run.id == run_id) {
        let problem = format!("its store does not hold exactly run {run_id}");
        return Err(Error::NotAnArchive { path: path.to_path_buf(), problem });
    }
    // A store has a directory of files for each run.
    let (packed, files) = (dir.join(ARTIFACTS), dir.join("files"));
    if packed.exists() {
        let failed = |source| Error::File { action: "move", path: packed.clone(), source };
        std::fs::rename(&packed, &files).map_err(failed)?;
        move_files(&files, &store.artifact_dir(&run_id)?)?;
    }
    Ok((store, run_id))
}

/// The files below `dir` with their names in the archive. Links are skipped: they lead elsewhere.
fn collect(root: &Path, dir: &Path, files: &mut Vec<(String, PathBuf)>) -> Result<(), Error> {
    let failed = |source| Error::File { action: "list", path: dir.to_path_buf(), source };
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        paths.push((entry.path(), entry.file_type().map_err(failed)?));
    }
    paths.sort_by(|a, b| a.0.cmp(&b.0));
    for (path, kind) in paths {
        if kind.is_dir() {
            collect(root, &path, files)?;
        } else if kind.is_file() && KEPT.iter().all(|name| path != root.join(name)) {
            let inside = path.strip_prefix(root).unwrap_or(&path);
            files.push((format!("{ARTIFACTS}/{}", inside.display()), path));
        }
    }
    Ok(())
}

fn pack(
    path: &Path,
    manifest: &Manifest,
    files: &[(String, PathBuf)],
    level: i32,
) -> Result<(), Error> {
    let failed = |source| Error::File { action: "write", path: path.to_path_buf(), source };
    let out = File::create(path).map_err(failed)?;
    let mut tar = tar::Builder::new(zstd::Encoder::new(out, level).map_err(failed)?);
    let text = manifest.to_json();
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    tar.append_data(&mut header, MANIFEST, text.as_bytes()).map_err(failed)?;
    for (name, path) in files {
        let mut file = File::open(path).map_err(|source| Error::File {
            action: "read",
            path: path.clone(),
            source,
        })?;
        tar.append_file(name, &mut file).map_err(failed)?;
    }
    let encoder = tar.into_inner().map_err(failed)?;
    encoder.finish().and_then(|file| file.sync_all()).map_err(failed)
}

/// Moves everything below `from` to the same places below `to`.
fn move_files(from: &Path, to: &Path) -> Result<(), Error> {
    if !from.exists() {
        return Ok(());
    }
    let failed = |source| Error::File { action: "move", path: from.to_path_buf(), source };
    for entry in std::fs::read_dir(from).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let target = to.join(entry.file_name());
        if entry.file_type().map_err(failed)?.is_dir() {
            std::fs::create_dir_all(&target).map_err(failed)?;
            move_files(&entry.path(), &target)?;
        } else {
            std::fs::rename(entry.path(), &target).map_err(failed)?;
        }
    }
    Ok(())
}
