//! The tests of changes of level.

use super::Point;

/// The test of changes of level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Student's t: all points have intervals, and a few of them suffice.
    Student,
    /// E-divisive with a permutation test: about eight points are needed.
    EDivisive,
}

impl Method {
    /// Student where of every point it is known how far it may be off; the base is 1 by definition.
    pub(super) fn of(points: &[Point]) -> Self {
        let is_known = |point: &Point| point.is_base || point.uncertainty.is_some();
        if points.iter().all(is_known) { Self::Student } else { Self::EDivisive }
    }

    /// For programs and tables.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Student => "student",
            Self::EDivisive => "e-divisive",
        }
    }
}
