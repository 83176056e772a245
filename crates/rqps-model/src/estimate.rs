//! Estimates with their uncertainty, and verdicts.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Which direction of a metric is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better: QPS.
    Higher,
    /// Less is better: CPU per query, response time.
    Lower,
}

/// A value, its interval and the number of observations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate itself.
    pub point: f64,
    /// The 95% interval, lower and upper end; absent when there was one observation.
    pub interval: Option<(f64, f64)>,
    /// Observations on each side (the smaller number, where they differ).
    pub n: u32,
}

impl Estimate {
    /// An estimate from a single observation, which has no interval.
    #[must_use]
    pub fn single(point: f64) -> Self {
        Self { point, interval: None, n: 1 }
    }

    /// Half the interval's width relative to the point; `None` without an interval.
    #[must_use]
    pub fn half_width(&self) -> Option<f64> {
        self.interval.map(|(low, high)| (high - low) / 2.0 / self.point)
    }
}

/// The verdict on a ratio, given the bound d.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The interval lies below 1 and the estimate at or below 1 - d.
    Slower,
    /// The interval lies above 1 and the estimate at or above 1 + d.
    Faster,
    /// The interval lies within 1 ± d.
    Same,
    /// None of these: more measuring would settle it, or one observation cannot.
    Unclear,
}

impl Verdict {
    /// The verdict as one lower-case word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Slower => "slower",
            Self::Faster => "faster",
            Self::Same => "same",
            Self::Unclear => "unclear",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}
