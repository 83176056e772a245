//! HOT PATH: files of /proc, opened once and read again from their start into a reused buffer.
//!
//! Budget: two system calls a file and sample. A kept file stays bound to its process: when that
//! ends, reading fails with ESRCH, even if another process has its id by then.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use nix::errno::Errno;

use crate::error::{Error, TextError};

/// Size to which buffers start; most files of /proc fit.
const BUFFER_BYTES: usize = 16 * 1024;

/// A file of /proc.
#[derive(Debug)]
pub(crate) struct ProcFile {
    path: PathBuf,
    /// Absent: opened for each read, because too many are open already.
    file: Option<File>,
}

impl ProcFile {
    /// Opens a file to be kept open, or with `keep` false, only makes sure that it can be opened.
    pub(crate) fn open(path: impl Into<PathBuf>, keep: bool) -> io::Result<Self> {
        let path = path.into();
        let file = File::open(&path)?;
        Ok(Self { path, file: keep.then_some(file) })
    }

    /// As [`ProcFile::open`] for files that every Linux has, kept open.
    pub(crate) fn open_always(path: &str) -> Result<Self, Error> {
        Self::open(path, true).map_err(|source| Error::Read { path: path.into(), source })
    }

    /// Whether it holds a file descriptor.
    pub(crate) fn is_kept(&self) -> bool {
        self.file.is_some()
    }

    /// The whole text. Bytes that are no UTF-8 (names of processes) are replaced.
    pub(crate) fn read<'b>(&self, buffer: &'b mut Vec<u8>) -> io::Result<Cow<'b, str>> {
        let n_bytes = match &self.file {
            Some(file) => read_from_start(file, buffer)?,
            None => read_from_start(&File::open(&self.path)?, buffer)?,
        };
        Ok(String::from_utf8_lossy(&buffer[..n_bytes]))
    }

    /// Reads and parses a file that must be there.
    pub(crate) fn parse<T>(
        &self,
        buffer: &mut Vec<u8>,
        parse: impl FnOnce(&str) -> Result<T, TextError>,
    ) -> Result<T, Error> {
        let text =
            self.read(buffer).map_err(|source| Error::Read { path: self.path.clone(), source })?;
        parse(&text).map_err(|source| Error::Text { path: self.path.clone(), source })
    }

    /// Reads and parses a file of a process or thread; `None` when that has ended.
    pub(crate) fn parse_living<T>(
        &self,
        buffer: &mut Vec<u8>,
        parse: impl FnOnce(&str) -> Result<T, TextError>,
    ) -> Result<Option<T>, Error> {
        match self.read(buffer) {
            Ok(text) if text.is_empty() => Ok(None),
            Ok(text) => parse(&text)
                .map(Some)
                .map_err(|source| Error::Text { path: self.path.clone(), source }),
            Err(e) if is_gone(&e) => Ok(None),
            Err(source) => Err(Error::Read { path: self.path.clone(), source }),
        }
    }
}

/// Whether an error means that the process or thread has ended, which is nothing unusual.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    let errno = error.raw_os_error().map(Errno::from_raw);
    matches!(errno, Some(Errno::ENOENT | Errno::ESRCH))
}

/// Reads until the end: files of several records come in pieces of whole records.
fn read_from_start(file: &File, buffer: &mut Vec<u8>) -> io::Result<usize> {
    if buffer.len() < BUFFER_BYTES {
        buffer.resize(BUFFER_BYTES, 0);
    }
    let mut n_bytes = 0;
    loop {
        if n_bytes == buffer.len() {
            buffer.resize(buffer.len() * 2, 0);
        }
        match file.read_at(&mut buffer[n_bytes..], n_bytes as u64) {
            Ok(0) => return Ok(n_bytes),
            Ok(n) => n_bytes += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_again_from_the_start_and_beyond_the_buffer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "x".repeat(BUFFER_BYTES * 3 + 1)).unwrap();
        let mut buffer = Vec::new();
        for keep in [true, false] {
            let file = ProcFile::open(&path, keep).unwrap();
            assert_eq!(file.is_kept(), keep);
            for _ in 0..2 {
                assert_eq!(file.read(&mut buffer).unwrap().len(), BUFFER_BYTES * 3 + 1);
            }
        }
    }

    #[test]
    fn a_process_that_ended_is_gone() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let path = format!("/proc/{}/stat", child.id());
        let files = [ProcFile::open(&path, true).unwrap(), ProcFile::open(&path, false).unwrap()];
        child.kill().unwrap();
        child.wait().unwrap();
        for file in files {
            assert!(is_gone(&file.read(&mut Vec::new()).unwrap_err()));
            assert!(file.parse_living(&mut Vec::new(), |_| Ok(())).unwrap().is_none());
        }
    }
}
