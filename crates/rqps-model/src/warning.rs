//! Warnings: why a result may mislead. They hold facts; reports make sentences of them.

mod condition;
mod facts;
mod kind;
mod severity;

use serde::{Deserialize, Serialize};

pub use condition::{Condition, ConditionValue, DifferentCondition, StepDifference, Topic};
pub use facts::{
    AssumedStartSd, BackgroundWork, ChangedSetting, ConfinedBy, FailedCheck, HalfWidth, HeldRate,
    ImportedSource, LastSlice, MetricsPart, OfSystem, PlanOfStarts, RateLevels, ServerFault, Share,
    StallCause, StartSpread, StepClass, StopWay, TakenBy, TakenTime,
};
pub use kind::WarningKind;
pub use severity::Severity;

/// A warning with its scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// When it was noticed, milliseconds since 1970; absent if it was found afterwards.
    pub at_unix_ms: Option<i64>,
    /// Its scope.
    pub scope: Scope,
    /// What happened.
    #[serde(flatten)]
    pub kind: WarningKind,
}

/// The scope of a warning.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// The whole run.
    Run,
    /// One of several runs that are compared, by its id.
    OneOfRuns(String),
    /// One system, by its place in the run.
    System(usize),
}

impl Scope {
    /// The system, unless it is a whole run.
    #[must_use]
    pub fn system(&self) -> Option<usize> {
        match self {
            Self::Run | Self::OneOfRuns(_) => None,
            Self::System(idx) => Some(*idx),
        }
    }
}
