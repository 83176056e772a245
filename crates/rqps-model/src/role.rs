//! The work of clients of one kind, where a step has several kinds.

use serde::{Deserialize, Serialize};

/// The work of clients of one kind, where there are several kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// They query.
    Query,
    /// They insert.
    Insert,
    /// They delete.
    Delete,
    /// They hold transactions open.
    Hold,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 4] = [Self::Query, Self::Insert, Self::Delete, Self::Hold];

    /// Its name: `insert`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Insert => "insert",
            Self::Delete => "delete",
            Self::Hold => "hold",
        }
    }
}
