//! Places in a run: of a system among its systems, of a step among its steps.

use std::fmt;

/// Place of a system in a run, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SystemIdx(pub usize);

/// Place of a step in a run, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepIdx(pub usize);

impl StepIdx {
    /// The step after it.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// The steps from this one to the one before `end`.
    pub fn until(self, end: Self) -> impl DoubleEndedIterator<Item = Self> + Clone + use<> {
        (self.0..end.0).map(Self)
    }
}

impl fmt::Display for SystemIdx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
