//! A system and the one that it is compared with.

/// A system and the one that it is compared with, by their places in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SystemPair {
    pub(crate) base: usize,
    pub(crate) candidate: usize,
}
