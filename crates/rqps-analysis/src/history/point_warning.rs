//! Warnings of points.

use std::fmt;

use super::Surrounding;

/// A warning of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PointWarning {
    /// A warning of the system's cell, by its kind.
    Own(&'static str),
    /// The same of the base's cell.
    OnBase(&'static str),
    /// Base and system were measured one after the other.
    Sequential,
    /// A condition is not that of the latest point.
    OtherCondition(Surrounding),
}

impl fmt::Display for PointWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(kind) => f.write_str(kind),
            Self::OnBase(kind) => write!(f, "{kind}-on-base"),
            Self::Sequential => f.write_str("sequential"),
            Self::OtherCondition(what) => write!(f, "other-{}", what.key()),
        }
    }
}
