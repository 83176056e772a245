//! A run as one file that another host's store takes in: `RUN.tar.zst`.
//!
//! ```text
//!   manifest.json       what follows: each file's name, size and SHA-256
//!   rqps.db             a store with this one run
//!   artifacts/...       its files: server logs, stacks
//! ```
//!
//! An archive may come from anybody: no name in it leads out of its own directory, nothing is stored before
//! all of it was read and is what its manifest says, and its store must have the schema of rqps and nothing
//! else.

mod manifest;
mod unpack;

use std::fs::File;
use std::path::{Path, PathBuf};

use rqps_store::{RunRef, Store};

use crate::Error;
use manifest::{Entry, FORMAT, Manifest};

/// How the first file of an archive is named.
const MANIFEST: &str = "manifest.json";

/// The store of the run in an archive.
const STORE: &str = "rqps.db";

/// The directory of the run's files in an archive.
const ARTIFACTS: &str = "artifacts";

/// The file that holds a run while it is worked on; no part of it.
const LOCK: &str = "lock";

/// Zstandard's own default: its higher levels take ten times as long for a tenth less.
const LEVEL: i32 = 3;

/// Writes a run into the archive `path`, which is there whole or not at all.
///
/// # Errors
/// When no run or several are meant, a process works on it, or something cannot be read or written.
pub fn write(
    store: &Store,
    run: &RunRef,
    path: &Path,
    rqps_version: &str,
) -> Result<String, Error> {
    let run_id = store.resolve(run)?;
    // Nothing may be added to it meanwhile.
    let _lock = store.lock_run(&run_id)?;
    let temp = temp_dir(store)?;
    let alone = Store::open(temp.path())?;
    alone.take_run(store, &run_id)?;
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
    let written = pack(&part, &manifest, &files);
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

/// Takes the run of an archive into the store, and returns its id.
///
/// # Errors
/// An archive that is incomplete, damaged, of a later rqps or no archive, and a run that is there already.
/// Nothing is stored then.
pub fn read(path: &Path, store: &Store) -> Result<String, Error> {
    let temp = temp_dir(store)?;
    let manifest = unpack::unpack(path, temp.path())?;
    let run_id = manifest.run_id;
    let other = Store::open_foreign(temp.path())?;
    let only = other.list_runs()?;
    if !matches!(only.as_slice(), [run] if run.id == run_id) {
        let problem = format!("its store has not the run {run_id} alone");
        return Err(Error::NotAnArchive { path: path.to_path_buf(), problem });
    }
    if store.list_runs()?.iter().any(|run| run.id == run_id) {
        return Err(Error::Exists { run_id });
    }
    // The id was checked when the store was read: it is a plain name.
    let own = store.artifact_dir(&run_id)?;
    let _lock = store.lock_run(&run_id)?;
    let moved = move_files(&temp.path().join(ARTIFACTS), &own);
    let taken = moved.and_then(|()| Ok(store.take_run(&other, &run_id)?));
    if taken.is_err() {
        // Files of a run that is not there; the first error says more than one about removing them.
        let _ = std::fs::remove_dir_all(&own);
    }
    taken.map(|()| run_id)
}

/// A directory beside the results, so that files are moved and not copied; it goes with the value.
fn temp_dir(store: &Store) -> Result<tempfile::TempDir, Error> {
    let made = tempfile::Builder::new().prefix(".archive-").tempdir_in(store.dir());
    made.map_err(|source| Error::File {
        action: "make a directory in",
        path: store.dir().to_path_buf(),
        source,
    })
}

/// The files below `dir` with their names in the archive. Links are left out: they lead elsewhere.
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
        } else if kind.is_file() && path != root.join(LOCK) {
            let inside = path.strip_prefix(root).unwrap_or(&path);
            files.push((format!("{ARTIFACTS}/{}", inside.display()), path));
        }
    }
    Ok(())
}

fn pack(path: &Path, manifest: &Manifest, files: &[(String, PathBuf)]) -> Result<(), Error> {
    let failed = |source| Error::File { action: "write", path: path.to_path_buf(), source };
    let out = File::create(path).map_err(failed)?;
    let mut tar = tar::Builder::new(zstd::Encoder::new(out, LEVEL).map_err(failed)?);
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
