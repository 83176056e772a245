//! Files of a folder by name, and their texts. What gzip has packed is read as if it were not.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use rqps_sample::given_file;

use crate::Error;

/// Most bytes of a file: the log of a day with a line for each millisecond has a tenth of it.
const MOST_BYTES: u64 = 1 << 30;

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
}

impl Folder {
    /// Lists a directory. Where a file is there packed and unpacked, the unpacked one counts.
    pub(crate) fn read(dir: &Path) -> Result<Self, Error> {
        let error = |source| Error::Read { path: dir.to_path_buf(), source };
        let mut entries = BTreeMap::new();
        for entry in std::fs::read_dir(dir).map_err(error)? {
            let name = entry.map_err(error)?.file_name().to_string_lossy().into_owned();
            match name.strip_suffix(".gz").filter(|plain| !plain.ends_with(".tar")) {
                Some(plain) => {
                    entries.entry(plain.to_owned()).or_insert(name);
                }
                None => {
                    entries.insert(name.clone(), name);
                }
            }
        }
        Ok(Self { dir: dir.to_path_buf(), entries })
    }

    /// The names in order, without `.gz`.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// The path of a file by its name without `.gz`.
    pub(crate) fn path(&self, name: &str) -> Option<PathBuf> {
        self.entries.get(name).map(|name| self.dir.join(name))
    }

    /// The names of the directory's own directories.
    pub(crate) fn dirs(&self) -> impl Iterator<Item = &str> {
        self.names().filter(|name| self.dir.join(name).is_dir())
    }
}

/// Whether a name is that of something only the user can unpack.
pub(crate) fn is_packed(name: &str) -> bool {
    PACKED.iter().any(|ending| name.ends_with(ending))
}

/// The text of a file, or of a pipe; bytes that are no UTF-8 are replaced, as server logs have some.
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
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_end_is_not_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("qps.log");
        std::os::unix::fs::symlink("/dev/zero", &path).unwrap();
        let error = read_text(&path).unwrap_err();
        assert!(error.sentence().contains("no plain file"), "{}", error.sentence());
        // Another tool's file that is no UTF-8 is read all the same.
        std::fs::write(dir.path().join("log"), b"a\xffb").unwrap();
        assert_eq!(read_text(&dir.path().join("log")).unwrap(), "a\u{fffd}b");
    }
}
