//! The summary of a calibration in a run.

use serde::{Deserialize, Serialize};

use crate::{Dbms, Estimate, Host, StepKind};

/// The noise on one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// The step: `point-query`.
    pub step: String,
    /// Client threads.
    pub clients: u32,
    /// Measured time on each side, seconds.
    pub seconds: f64,
    /// rQPS of the same system against itself.
    pub ratio: Estimate,
}

/// Differences between starts of the same server on one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibratedStarts {
    /// The server.
    pub dbms: Dbms,
    /// The step: `point-query`.
    pub step: String,
    /// What it does.
    pub kind: StepKind,
    /// Starts that were measured, 2 at the least.
    pub n_starts: u32,
    /// Standard deviation of rQPS from start to start with the noise of their blocks, as a share.
    pub sd: f64,
}

/// The summary of the calibration that existed when a run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibrated {
    /// When it was made, milliseconds since 1970.
    pub made_unix_ms: i64,
    /// Where.
    pub host: Host,
    /// The server that was measured against itself.
    pub system: String,
    /// Measured time on each side, seconds.
    pub seconds: f64,
    /// The largest difference of a system from itself, as a share.
    pub apart: f64,
    /// The step that shows it, with its interval; absent in runs of older versions.
    #[serde(default)]
    pub worst: Option<Floor>,
    /// Pairs of one system whose interval excludes 1, and all pairs; absent where the calibration
    /// was made without `--power`.
    #[serde(default)]
    pub false_alarms: Option<(u32, u32)>,
    /// The smallest difference that is found on every step tried, as a share.
    pub visible: Option<f64>,
    /// Differences between starts of the servers.
    pub starts: Vec<CalibratedStarts>,
}
