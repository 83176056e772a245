//! The input that is being tried, in a file: all that is left of it where the target hangs or takes the
//! process with it.
//!
//! ```text
//! 8 bytes   which input it is, from 1
//! 8 bytes   its length
//! N bytes   the input; what follows is of longer ones before
//! ```
//! Numbers are little-endian. `cargo xtask fuzz` reads the file (`xtask/src/fuzz/watched.rs`). It is not brought
//! to disk: it is to outlive the process, not the host.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Its name in the directory of a target's findings.
const NAME: &str = "under-way";

/// The file.
pub(crate) struct UnderWay {
    file: File,
    n_inputs: u64,
    bytes: Vec<u8>,
}

impl UnderWay {
    /// In `dir`, in place of that of an earlier run.
    pub(crate) fn begin(dir: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(true).open(dir.join(NAME))?;
        Ok(Self { file, n_inputs: 0, bytes: Vec::new() })
    }

    /// Notes the input that is tried next.
    pub(crate) fn note(&mut self, input: &[u8]) -> io::Result<()> {
        self.n_inputs += 1;
        self.bytes.clear();
        self.bytes.extend(self.n_inputs.to_le_bytes());
        self.bytes.extend((input.len() as u64).to_le_bytes());
        self.bytes.extend(input);
        self.file.write_all_at(&self.bytes, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_input_is_in_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let read = || std::fs::read(dir.path().join(NAME)).unwrap();
        let mut under_way = UnderWay::begin(dir.path()).unwrap();
        assert!(read().is_empty());
        under_way.note(b"abc").unwrap();
        assert_eq!(read(), *b"\x01\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0abc");
        under_way.note(b"x").unwrap();
        assert_eq!(read()[..17], *b"\x02\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0x");
        UnderWay::begin(dir.path()).unwrap();
        assert!(read().is_empty());
    }
}
