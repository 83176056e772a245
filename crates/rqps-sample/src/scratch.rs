//! HOT PATH: buffers and facts that reading a process tree needs, reused from sample to sample.

use std::path::Path;

use crate::clock::tick_ns;
use crate::error::{Error, Missing};
use crate::proc_file::{ProcFile, is_gone};
use crate::wait_text::parse_schedstat;

/// Files of processes and threads that are kept open at most; the others are opened for each read.
/// A quarter of the usual limit of 1024, because client connections need descriptors, too; where several
/// servers are up, each sampler gets less ([`crate::Sampler::keep_at_most`]).
pub(crate) const MAX_KEPT_FILES: usize = 256;

/// Buffers and facts that reading needs, reused from sample to sample.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) buffer: Vec<u8>,
    pub(crate) task_ids: Vec<i32>,
    /// Ids of children, as they are found.
    pub(crate) found: Vec<i32>,
    /// Whether the kernel has /proc/PID/task/TID/children.
    pub(crate) has_children_files: bool,
    /// Whether the kernel tells how long threads wait to run.
    pub(crate) has_schedstat: bool,
    pub(crate) tick_ns: u64,
    pub(crate) missing: Vec<Missing>,
    /// Files of processes that are open now.
    pub(crate) n_kept: usize,
    /// And that may be.
    pub(crate) most_kept: usize,
}

impl Scratch {
    /// Empty buffers for this kernel.
    pub(crate) fn new() -> Self {
        Self {
            has_children_files: Path::new("/proc/thread-self/children").exists(),
            has_schedstat: has_schedstat(),
            tick_ns: tick_ns(),
            most_kept: MAX_KEPT_FILES,
            ..Self::default()
        }
    }

    /// Whether one more file may stay open; counts it.
    pub(crate) fn may_keep(&mut self) -> bool {
        let may = self.n_kept < self.most_kept;
        self.n_kept += usize::from(may);
        may
    }

    /// Opens a file of a process or thread; `None` when that has ended.
    pub(crate) fn open_living(&mut self, path: String) -> Result<Option<ProcFile>, Error> {
        let keep = self.may_keep();
        match ProcFile::open(path.as_str(), keep) {
            Ok(file) => Ok(Some(file)),
            Err(e) if is_gone(&e) => Ok(None),
            Err(source) => Err(Error::Read { path: path.into(), source }),
        }
    }
}

/// Whether the kernel keeps the times of threads.
fn has_schedstat() -> bool {
    let Ok(file) = ProcFile::open("/proc/thread-self/schedstat", true) else { return false };
    file.parse(&mut Vec::new(), parse_schedstat).is_ok_and(|times| times.is_some())
}
