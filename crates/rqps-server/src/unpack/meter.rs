//! What is read of an archive, metered: entries that are passed over and the rest after the last one can
//! be stopped by the user, too, and have a bound.

use std::cell::{Cell, RefCell};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::Error;

/// As many times what may be written may be read: official archives hold test suites and debugging
/// builds, up to eight times what is kept of them.
const READ_TIMES: u64 = 20;

/// How much is read between two looks at whether to stop, bytes: some milliseconds of work.
const LOOK_EVERY: u64 = 1 << 20;

/// Most bytes of what stands before an entry: its header, and names and attributes that are too long for it, which
/// are held in memory. PATH_MAX is 4096.
const MOST_BEFORE: u64 = 64 << 10;

/// What the reader of an archive and its gate share.
pub(super) struct Meter<'a> {
    /// Told the bytes written so far; may stop the work.
    written: RefCell<&'a mut dyn FnMut(u64) -> Result<(), Error>>,
    n_written: Cell<u64>,
    n_read: Cell<u64>,
    max_read: u64,
    /// How much more may be read before the next entry is there.
    left: Cell<u64>,
    archive: PathBuf,
    /// What stopped the reader: libraries between it and the caller know only their own errors.
    failure: RefCell<Option<Error>>,
}

impl<'a> Meter<'a> {
    /// A meter for one archive of which `max_written` bytes may be written.
    pub(super) fn new(
        archive: &Path,
        max_written: u64,
        written: &'a mut dyn FnMut(u64) -> Result<(), Error>,
    ) -> Self {
        Self {
            written: RefCell::new(written),
            n_written: Cell::new(0),
            n_read: Cell::new(0),
            max_read: max_written.saturating_mul(READ_TIMES),
            left: Cell::new(MOST_BEFORE),
            archive: archive.to_owned(),
            failure: RefCell::new(None),
        }
    }

    /// Tells how much has been written.
    pub(super) fn wrote(&self, n_bytes: u64) -> Result<(), Error> {
        self.n_written.set(n_bytes);
        (self.written.borrow_mut())(n_bytes)
    }

    /// Lets so many bytes of an entry be read, and then what stands before the next one.
    pub(super) fn expect(&self, n_bytes: u64) {
        self.left.set(n_bytes.saturating_add(MOST_BEFORE));
    }

    /// What stopped the reader, in place of what was made of it on the way.
    pub(super) fn take_failure(&self) -> Option<Error> {
        self.failure.borrow_mut().take()
    }

    fn read(&self, n_bytes: u64) -> Result<(), Error> {
        let before = self.n_read.get();
        let after = before + n_bytes;
        self.n_read.set(after);
        if after > self.max_read {
            return Err(Error::UnsafeArchive {
                archive: self.archive.clone(),
                entry: "all entries".to_owned(),
                detail: format!(
                    "hold more than {} MB, the limit for the wanted files",
                    self.max_read / 1_000_000
                ),
            });
        }
        let Some(left) = self.left.get().checked_sub(n_bytes) else {
            return Err(Error::UnsafeArchive {
                archive: self.archive.clone(),
                entry: "an entry".to_owned(),
                detail: format!(
                    "has a name or other headers of more than {} KB",
                    MOST_BEFORE / 1024
                ),
            });
        };
        self.left.set(left);
        if before / LOOK_EVERY == after / LOOK_EVERY {
            return Ok(());
        }
        (self.written.borrow_mut())(self.n_written.get())
    }
}

/// A reader that is metered.
pub(super) struct Metered<'a, R> {
    inner: R,
    meter: Rc<Meter<'a>>,
}

impl<'a, R> Metered<'a, R> {
    pub(super) fn new(inner: R, meter: Rc<Meter<'a>>) -> Self {
        Self { inner, meter }
    }
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        if let Err(error) = self.meter.read(n as u64) {
            let text = error.to_string();
            self.meter.failure.replace(Some(error));
            return Err(io::Error::other(text));
        }
        Ok(n)
    }
}
