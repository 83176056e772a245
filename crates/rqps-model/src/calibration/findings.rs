//! Other findings of a calibration: disturbances, and the narrowest location.

use serde::{Deserialize, Serialize};

use super::Calibration;
use crate::WarningKind;

/// One kind of disturbance of a calibration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Disturbance {
    /// The worst of them.
    pub kind: WarningKind,
    /// Slices and blocks that had one.
    pub n: u32,
}

/// The location of the windows whose interval is clearly narrower than the average's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Narrowest {
    /// `median`, `midmean`, `p90`, `p80-95`.
    pub location: String,
    /// Its half-width over the average's, the geometric mean over all interleaved trials.
    pub share: f64,
    /// Those trials.
    pub n_trials: u32,
}

impl Calibration {
    /// Disturbances of a tenth or more of its slices and blocks, the most frequent first.
    #[must_use]
    pub fn disturbed_by(&self) -> Vec<&Disturbance> {
        let is_often = |d: &&Disturbance| d.n > 0 && d.n.saturating_mul(10) >= self.n_slices;
        let mut often: Vec<&Disturbance> = self.disturbances.iter().filter(is_often).collect();
        often.sort_by_key(|d| std::cmp::Reverse(d.n));
        often
    }
}
