//! Reads an archive that may come from anybody into a directory of its own.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write as _};
use std::path::{Component, Path};
use std::rc::Rc;

use rqps_store::stack_profile;

use super::manifest::{Entry, FORMAT, Manifest};
use super::{ARTIFACTS, KEPT, MANIFEST, STORE};
use crate::Error;

/// Most bytes of a manifest: some ten thousand files.
const MAX_MANIFEST: u64 = 8 << 20;

/// What any archive may expand to, bytes, and how many times its own size a larger one may: what rqps writes
/// has expanded to some ten times.
const ANY_MAY: u64 = 8 << 30;
const MOST_TIMES: u64 = 200;

/// The same of the store in it and of stacks, which are held in memory when the run is read.
const ANY_HELD_MAY: u64 = 1 << 30;
const HELD_MOST_TIMES: u64 = 64;

/// What stands between two files of an archive at most, bytes: headers, a long name, filling.
const AROUND: u64 = 16 << 10;

/// Gives no more than so many bytes until it is told that more may come: a name is held in memory as long as it
/// is.
struct Bounded<R> {
    inner: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        let left = self.left.get().checked_sub(n as u64).ok_or_else(|| {
            io::Error::new(ErrorKind::FileTooLarge, "it holds more than its manifest says")
        })?;
        self.left.set(left);
        Ok(n)
    }
}

/// Reads all files of `path` into `dir` and holds each against the manifest.
///
/// # Errors
/// As [`super::read`].
pub(super) fn unpack(path: &Path, dir: &Path) -> Result<Manifest, Error> {
    let file = File::open(path).map_err(|source| Error::File {
        action: "read",
        path: path.to_path_buf(),
        source,
    })?;
    let no_archive = |problem: &str| Error::NotAnArchive {
        path: path.to_path_buf(),
        problem: problem.to_owned(),
    };
    let incomplete = |problem: String| Error::Incomplete { path: path.to_path_buf(), problem };
    let damaged = |problem: String| Error::Damaged { path: path.to_path_buf(), problem };
    // How long a pipe is nobody knows.
    let meta = file.metadata().ok().filter(std::fs::Metadata::is_file);
    let packed = meta.map(|meta| meta.len());
    let decoder =
        zstd::Decoder::new(file).map_err(|_| no_archive("it is not compressed by zstd"))?;
    let left = Rc::new(Cell::new(MAX_MANIFEST + AROUND));
    let mut tar = tar::Archive::new(Bounded { inner: decoder, left: Rc::clone(&left) });
    let mut entries = tar.entries().map_err(|_| no_archive("it is not a tar archive"))?;
    let first = entries.next().ok_or_else(|| no_archive("it is empty"))?;
    let mut first = first.map_err(|e| first_error(path, &e))?;
    if first.path_bytes().as_ref() != MANIFEST.as_bytes() {
        return Err(no_archive("it does not begin with a manifest"));
    }
    let mut text = String::new();
    let read = first.by_ref().take(MAX_MANIFEST).read_to_string(&mut text);
    read.map_err(|e| incomplete(format!("its manifest: {e}")))?;
    let manifest = parse(&text).map_err(|problem| no_archive(&problem))?;
    check_names(&manifest).map_err(damaged)?;
    check_sizes(&manifest, packed).map_err(damaged)?;
    left.set(AROUND);
    let mut wanted = manifest.files.iter();
    let n = manifest.files.len();
    let mut done = 0;
    for entry in entries {
        let entry = entry.map_err(|e| match e.kind() {
            ErrorKind::FileTooLarge => damaged(e.to_string()),
            _ => incomplete(format!("{done} of {n} files, then {e}")),
        })?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let known = wanted.next().filter(|known| known.name == name);
        let known =
            known.ok_or_else(|| damaged(format!("{name:?} is not the manifest's next file")))?;
        if !entry.header().entry_type().is_file() {
            return Err(damaged(format!("{name:?} is not a regular file")));
        }
        left.set(known.bytes);
        write(entry, known, dir).map_err(|problem| match problem {
            Problem::Short(problem) => incomplete(problem),
            Problem::Wrong(problem) => damaged(problem),
        })?;
        left.set(AROUND);
        done += 1;
    }
    if done < n {
        return Err(incomplete(format!("{done} of {n} files")));
    }
    Ok(manifest)
}

/// A first entry that cannot be read: cut off, or no archive at all.
fn first_error(path: &Path, error: &std::io::Error) -> Error {
    let path = path.to_path_buf();
    if error.kind() == std::io::ErrorKind::UnexpectedEof {
        Error::Incomplete { path, problem: "its first file is truncated".to_owned() }
    } else {
        Error::NotAnArchive { path, problem: error.to_string() }
    }
}

fn parse(text: &str) -> Result<Manifest, String> {
    #[derive(serde::Deserialize)]
    struct Format {
        format: u32,
    }
    let of = serde_json::from_str::<Format>(text).map_err(|e| format!("its manifest: {e}"))?;
    if of.format != FORMAT {
        let found = of.format;
        return Err(format!(
            "it has format {found}, but this rqps reads format {FORMAT}; use a later rqps"
        ));
    }
    serde_json::from_str(text).map_err(|e| format!("its manifest: {e}"))
}

/// Names that lead out of the directory, come twice or have no business there.
fn check_names(manifest: &Manifest) -> Result<(), String> {
    let mut seen = std::collections::BTreeSet::new();
    for Entry { name, .. } in &manifest.files {
        let parts: Vec<Component<'_>> = Path::new(name).components().collect();
        let is_inside = parts.iter().all(|part| matches!(part, Component::Normal(_)));
        let is_ours = match name.strip_prefix(ARTIFACTS).and_then(|name| name.strip_prefix('/')) {
            Some(name) => !KEPT.contains(&name.split('/').next().unwrap_or(name)),
            None => name == STORE,
        };
        // `a/./b` and `a//b` are other names for a file that may be there, too.
        let plain: Vec<String> =
            parts.iter().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        if !is_inside || !is_ours || plain.join("/") != *name || !seen.insert(name) {
            return Err(format!("file name {name:?} is not allowed"));
        }
    }
    if !seen.contains(&STORE.to_owned()) {
        return Err(format!("it has no {STORE}"));
    }
    Ok(())
}

/// Refuses sizes that no exported run has; an archive of unknown size, as from a pipe, may hold any files but a
/// large store and large stacks.
fn check_sizes(manifest: &Manifest, packed: Option<u64>) -> Result<(), String> {
    let files = manifest.files.iter().map(|file| file.bytes);
    let total = files.fold(0, u64::saturating_add);
    let most = packed.map_or(u64::MAX, |packed| packed.saturating_mul(MOST_TIMES)).max(ANY_MAY);
    let packed = packed.unwrap_or_default();
    if total > most {
        return Err(format!(
            "its {packed} bytes would expand to {total}, more than any exported run of that size"
        ));
    }
    let stacks = format!("{ARTIFACTS}/{}/", stack_profile::DIR);
    let is_held = |name: &str| name == STORE || name.starts_with(&stacks);
    let held = manifest.files.iter().filter(|file| is_held(&file.name)).map(|file| file.bytes);
    let held = held.fold(0, u64::saturating_add);
    let most = packed.saturating_mul(HELD_MOST_TIMES).max(ANY_HELD_MAY);
    if held > most {
        return Err(format!(
            "its {STORE} and stacks would have {held} bytes; an archive of its size may have at \
             most {most}"
        ));
    }
    Ok(())
}

/// Why a file is not taken.
enum Problem {
    Short(String),
    Wrong(String),
}

/// Writes a file of the archive and holds it against what the manifest says.
fn write(mut entry: impl Read, known: &Entry, dir: &Path) -> Result<(), Problem> {
    let Entry { name, bytes, .. } = known;
    let unread = |e: &io::Error| match e.kind() {
        ErrorKind::FileTooLarge => Problem::Wrong(format!("{name:?}: {e}")),
        _ => Problem::Short(format!("{name:?}: {e}")),
    };
    let path = dir.join(name);
    let failed = |e: std::io::Error| Problem::Wrong(format!("cannot write {name:?}: {e}"));
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    let mut out = File::create_new(&path).map_err(failed)?;
    let mut left = *bytes;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let n = entry.read(&mut buffer).map_err(|e| unread(&e))?;
        if n == 0 {
            break;
        }
        let too_much = || Problem::Wrong(format!("{name:?} is larger than its manifest says"));
        left = left.checked_sub(n as u64).ok_or_else(too_much)?;
        out.write_all(&buffer[..n]).map_err(failed)?;
    }
    if left > 0 {
        return Err(Problem::Short(format!("{name:?} lacks {left} bytes")));
    }
    drop(out);
    let found = Entry::of(name, &path).map_err(|e| Problem::Wrong(e.to_string()))?;
    if found != *known {
        return Err(Problem::Wrong(format!("{name:?} differs from its manifest")));
    }
    Ok(())
}
