//! Where a thread was when it was looked at.

use crate::profile::RUNNING;

/// A place where threads were. Of the kernel's functions, the first and the last say most.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadPlace {
    /// The thread's state.
    pub state: String,
    /// The system call that it was in.
    pub system_call: Option<String>,
    /// The outermost function of the kernel.
    pub outermost: Option<String>,
    /// The innermost one, where there are several.
    pub innermost: Option<String>,
}

impl ThreadPlace {
    /// That of the frames that the sampler writes behind the kind of thread: state, system call, functions from
    /// the outermost on.
    #[must_use]
    pub fn of(frames: &[&str]) -> Self {
        let text = |frame: &&str| (*frame).to_owned();
        Self {
            state: frames.first().map(text).unwrap_or_default(),
            system_call: frames.get(1).map(text),
            outermost: frames.get(2).map(text),
            innermost: frames.last().filter(|_| frames.len() > 3).map(text),
        }
    }

    /// Whether a thread there neither was on a CPU nor waited for one.
    #[must_use]
    pub fn is_off_cpu(&self) -> bool {
        self.state != RUNNING
    }
}
