//! The order in which systems are measured, and the CPUs of clients and servers.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::UnknownWord;

/// Where client threads and the server threads that serve them run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Paired for at most as many clients as CPUs, free above.
    #[default]
    Auto,
    /// The kernel decides.
    Free,
    /// The server on one half of the CPUs, clients on the other.
    Split,
    /// Each client thread on the CPU of the server thread that serves it.
    Paired,
}

impl FromStr for Placement {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "auto" => Ok(Self::Auto),
            "free" => Ok(Self::Free),
            "split" => Ok(Self::Split),
            "paired" => Ok(Self::Paired),
            _ => Err(UnknownWord {
                what: "placement",
                value: text.to_owned(),
                known: "auto, free, split, paired",
            }),
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Free => "free",
            Self::Split => "split",
            Self::Paired => "paired",
        })
    }
}

/// In which order slices of several systems follow one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "mode")]
pub enum Schedule {
    /// One system after the other, the whole suite each; every step repeated for some slices.
    Sequential {
        /// Slices per step, system and number of clients.
        slices: u32,
    },
    /// All systems are up and are interleaved: rounds of one short slice on each. Each round draws a new
    /// order. Some seconds of rounds make a block. Loads and warm-ups run one system after the other.
    Interleaved {
        /// Length of a short slice, milliseconds.
        slice_ms: u32,
        /// Each step is measured for this many times the seconds of its kind, on each system.
        slices: u32,
        /// Where set, this long instead, on each system, milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        budget_ms: Option<u32>,
        /// Where set, a step ends earlier when the half-width of every candidate's rQPS is at most
        /// this, in basis points (1% is 100).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        half_width_bp: Option<u32>,
    },
}

impl Schedule {
    /// Slices of `slice_ms` milliseconds, for as long as `slices` slices take.
    #[must_use]
    pub const fn interleaved(slice_ms: u32, slices: u32) -> Self {
        Self::Interleaved { slice_ms, slices, budget_ms: None, half_width_bp: None }
    }

    /// How many times the seconds of its kind a step is measured on each system.
    #[must_use]
    pub fn slices(self) -> u32 {
        match self {
            Self::Sequential { slices } | Self::Interleaved { slices, .. } => slices,
        }
    }

    /// The longest time that a step is measured on each system, of which a slice takes `slice_time`.
    #[must_use]
    pub fn at_most(self, slice_time: Duration) -> Duration {
        match self {
            Self::Interleaved { budget_ms: Some(ms), .. } => Duration::from_millis(ms.into()),
            _ => slice_time * self.slices(),
        }
    }

    /// The length of a slice of systems that are interleaved.
    #[must_use]
    pub fn slice(self) -> Option<Duration> {
        match self {
            Self::Interleaved { slice_ms, .. } => Some(Duration::from_millis(slice_ms.into())),
            Self::Sequential { .. } => None,
        }
    }

    /// The half-width of the rQPS at which a step ends before its time, as a share: 0.01 for 1%.
    #[must_use]
    pub fn half_width(self) -> Option<f64> {
        match self {
            Self::Interleaved { half_width_bp, .. } => half_width_bp.map(|bp| f64::from(bp) / 1e4),
            Self::Sequential { .. } => None,
        }
    }

    /// Whether the systems are interleaved, so that block i of one system has block i of another as its
    /// partner.
    #[must_use]
    pub fn is_interleaved(self) -> bool {
        matches!(self, Self::Interleaved { .. })
    }
}
