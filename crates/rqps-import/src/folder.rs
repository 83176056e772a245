//! Files of a folder by name, and their texts. What gzip has packed is read as if it were not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::FileType;
use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use rqps_sample::given_file;

use crate::Error;

/// Most bytes of a file: the log of a day with a line for each millisecond has a tenth of it.
const MOST_BYTES: u64 = 1 << 30;

/// The byte order mark of UTF-8.
const UTF_8_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// How a file begins that gzip has packed.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Endings of archives and of what other programs pack, which only the user can unpack.
const PACKED: [&str; 7] = [".tar.gz", ".tgz", ".tar", ".zip", ".xz", ".bz2", ".zst"];

/// The entries of a directory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Folder {
    /// The directory.
    pub(crate) dir: PathBuf,
    /// By name without `.gz` the name.
    entries: BTreeMap<String, String>,
    /// By name the packed file that is there beside the unpacked one.
    packed_twins: BTreeMap<String, String>,
    /// Links that lead nowhere: whether they were meant as directories is not known.
    broken_links: BTreeSet<String>,
    /// Pipes, sockets and devices.
    special: Vec<ExcludedFile>,
    /// Entries whose names are no text. Several may look alike.
    odd_names: Vec<ExcludedFile>,
}

impl Folder {
    /// Lists a directory. Where a file is there packed and unpacked, the unpacked one counts.
    pub(crate) fn read(dir: &Path) -> Result<Self, Error> {
        let error = |source| Error::Read { path: dir.to_path_buf(), source };
        let mut plain_names = BTreeMap::new();
        let mut packed = BTreeMap::new();
        let mut folder = Self { dir: dir.to_path_buf(), ..Self::default() };
        for entry in std::fs::read_dir(dir).map_err(error)? {
            let entry = entry.map_err(error)?;
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else {
                let name = entry.file_name().to_string_lossy().into_owned();
                folder.odd_names.push(ExcludedFile {
                    name,
                    why: "its name is not UTF-8: rename it".to_owned(),
                });
                continue;
            };
            let mut kind = entry.file_type().map_err(error)?;
            if kind.is_symlink() {
                match std::fs::metadata(entry.path()) {
                    Ok(meta) => kind = meta.file_type(),
                    Err(_) => drop(folder.broken_links.insert(name.clone())),
                }
            }
            if let Some(what) = special_kind(kind) {
                let why = format!("it is {what}: remove it, or put a regular file there");
                folder.special.push(ExcludedFile { name, why });
                continue;
            }
            match name.strip_suffix(".gz").filter(|plain| !plain.ends_with(".tar")) {
                Some(plain) => {
                    packed.insert(plain.to_owned(), name);
                }
                None => {
                    plain_names.insert(name.clone(), name);
                }
            }
        }
        let mut packed_twins = packed.clone();
        packed_twins.retain(|name, _| plain_names.contains_key(name));
        let mut entries = packed;
        entries.append(&mut plain_names);
        Ok(Self { entries, packed_twins, ..folder })
    }

    /// The names in order, without `.gz`.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The path of a file by its name without `.gz`.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.entries.get(name).map(|name| self.dir.join(name))
    }

    /// Entries whose names cannot be told from others.
    pub(crate) fn odd_names(&self) -> impl Iterator<Item = Error> {
        self.odd_names
            .iter()
            .map(|ExcludedFile { name, why }| Error::file(&self.dir.join(name), why))
    }

    /// Files that are excluded: packed ones for an unpacked one of another text, and what is no plain file.
    pub(crate) fn excluded(&self, is_of: impl Fn(&str) -> bool) -> Vec<ExcludedFile> {
        let twins = self.packed_twins.iter().filter(|(name, _)| is_of(name));
        let differs = |name: &str, packed: &str| {
            let plain = read_text(&self.dir.join(name)).ok();
            plain.is_some_and(|plain| {
                read_text(&self.dir.join(packed)).map_or(true, |other| other != plain)
            })
        };
        twins
            .filter(|(name, packed)| differs(name, packed))
            .map(|(name, packed)| ExcludedFile {
                name: packed.clone(),
                why: format!("it differs from {name}, which is imported: remove one of them"),
            })
            .chain(self.special.iter().filter(|special| is_of(&special.name)).cloned())
            .collect()
    }

    /// The names of the directory's own directories, and of links that lead nowhere.
    pub(crate) fn dirs(&self) -> impl Iterator<Item = &str> {
        let is_broken = |name: &str| self.broken_links.contains(name) && !name.starts_with('.');
        self.names().filter(move |name| self.dir.join(name).is_dir() || is_broken(name))
    }
}

/// What an entry is that is neither a file nor a directory.
fn special_kind(kind: FileType) -> Option<&'static str> {
    if kind.is_fifo() {
        Some("a pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else if kind.is_char_device() || kind.is_block_device() {
        Some("a device")
    } else {
        None
    }
}

/// A file that is excluded for another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ExcludedFile {
    /// Its name with `.gz`.
    pub(crate) name: String,
    /// Why, and what to do.
    pub(crate) why: String,
}

/// Whether a name is that of something only the user can unpack.
pub(crate) fn is_packed(name: &str) -> bool {
    PACKED.iter().any(|ending| name.ends_with(ending))
}

/// The text of a file, or of a pipe, without a byte order mark. Bytes that are no UTF-8 are replaced, as server
/// logs have some.
pub(crate) fn read_text(path: &Path) -> Result<String, Error> {
    let error = |source| Error::Read { path: path.to_path_buf(), source };
    let mut bytes = given_file::read(path, MOST_BYTES).map_err(error)?;
    if bytes.starts_with(&GZIP) {
        let mut unpacked = Vec::new();
        let mut decoder = MultiGzDecoder::new(bytes.as_slice()).take(MOST_BYTES + 1);
        decoder.read_to_end(&mut unpacked).map_err(error)?;
        if unpacked.len() as u64 > MOST_BYTES {
            return Err(Error::file(path, format!("it unpacks to more than {MOST_BYTES} bytes")));
        }
        bytes = unpacked;
    }
    if is_utf_16(&bytes) {
        return Err(Error::file(path, "it is UTF-16; run iconv -f UTF-16 -t UTF-8 on it"));
    }
    let text = bytes.strip_prefix(&UTF_8_MARK).unwrap_or(&bytes);
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// Whether a text begins with a byte order mark of UTF-16, or with letters that have a zero byte each.
fn is_utf_16(bytes: &[u8]) -> bool {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => true,
        [a, b, c, d, ..] => {
            let is_alike = (*a == 0) == (*c == 0) && (*b == 0) == (*d == 0);
            is_alike && (*a == 0) != (*b == 0)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_marks() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("qps.log");
        let read = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            read_text(&path).map_err(|problem| problem.to_string())
        };
        assert_eq!(read(b"\xef\xbb\xbfcol-1").unwrap(), "col-1");
        assert_eq!(read(b"\xef\xbb").unwrap(), "\u{fffd}");
        for bytes in
            [&b"\xff\xfec\0o\0"[..], b"\xfe\xff\0c\0o", b"c\0o\0l\0", b"\0c\0o\0l", b"\xff\xfe"]
        {
            let problem = read(bytes).unwrap_err();
            assert!(
                problem.ends_with("qps.log: it is UTF-16; run iconv -f UTF-16 -t UTF-8 on it"),
                "{problem}"
            );
        }
        for text in ["", "a", "ab\0c", "\0\0\0\0"] {
            assert_eq!(read(text.as_bytes()).unwrap(), text);
        }
    }

    #[test]
    fn a_file_without_end_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("qps.log");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let error = read_text(&path).unwrap_err();
        assert!(error.sentence().contains("not a regular file"), "{}", error.sentence());
        // Another tool's file that is no UTF-8 is read all the same.
        std::fs::write(dir.path().join("log"), b"a\xffb").unwrap();
        assert_eq!(read_text(&dir.path().join("log")).unwrap(), "a\u{fffd}b");
    }
}
