//! How a run ended.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The status of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// Running, or ended without a status.
    Running,
    /// Every step has its slices or its failure.
    Finished,
    /// Stopped by the user; can be resumed.
    Interrupted,
    /// Stopped by an error; can be resumed.
    Failed,
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Running => "running",
            Self::Finished => "finished",
            Self::Interrupted => "interrupted",
            Self::Failed => "failed",
        })
    }
}
