//! What a run remembers of a calibration.

use serde::{Deserialize, Serialize};

use crate::{Dbms, Estimate, Host, StepKind};

/// The noise that is left on one step.
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

/// How far starts of the same server differ on one step.
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

/// What a run remembers of the calibration that was there when it began.
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
    /// Pairs of one system whose interval did not hold 1, and all that were tried; absent where the
    /// calibration was made without `--power`.
    #[serde(default)]
    pub false_alarms: Option<(u32, u32)>,
    /// The largest difference that is seen on every step that was tried, as a share.
    pub visible: Option<f64>,
    /// How far starts of the servers differed.
    pub starts: Vec<CalibratedStarts>,
}
