//! A system of a run.

/// A system of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) run_idx: usize,
    pub(super) system_idx: usize,
}
