//! What becomes of a step that makes or changes tables.

use crate::engine::waiting::Brake;

/// What becomes of a step, and who waits throughout it.
pub(crate) struct Recording {
    /// Whether what is measured is kept: not where tables are only brought back.
    pub(crate) is_kept: bool,
    /// The servers that have no part in it.
    pub(crate) others: Vec<Brake>,
}

impl Recording {
    /// Of systems that have the host to themselves.
    pub(crate) fn kept() -> Self {
        Self { is_kept: true, others: Vec::new() }
    }

    /// Of one whose tables are brought back.
    pub(crate) fn dropped() -> Self {
        Self { is_kept: false, others: Vec::new() }
    }
}
