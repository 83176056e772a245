//! Numbers as JSON reports have them.

use rqps_model::Lateness;
use serde::{Serialize, Serializer};

#[derive(Serialize)]
pub(crate) struct EstimateJson {
    pub(crate) point: f64,
    pub(crate) interval: Option<[RatioJson; 2]>,
    pub(crate) n: u32,
}

/// A number, or `"inf"`, which JSON has no number for.
pub(crate) struct RatioJson(f64);

impl From<f64> for RatioJson {
    fn from(ratio: f64) -> Self {
        Self(ratio)
    }
}

impl Serialize for RatioJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_infinite() {
            serializer.serialize_str("inf")
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}

#[derive(Serialize)]
pub(super) struct LatenessJson {
    pub(super) due: u64,
    pub(super) late: u64,
    pub(super) missed: u64,
    pub(super) mean_ns: Option<f64>,
    pub(super) max_ns: u64,
}

impl From<Lateness> for LatenessJson {
    fn from(l: Lateness) -> Self {
        Self {
            due: l.n_due,
            late: l.n_late,
            missed: l.n_missed,
            mean_ns: l.mean_ns(),
            max_ns: l.max_ns,
        }
    }
}
