//! What stands beside a cause: how candidate and base differ, and where threads waited.

use rqps_model::query_plan::difference::StatementDifference;
use rqps_stacks::ThreadPlace;

/// Evidence for a cause beside the counters.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Evidence {
    /// The first statement whose access path or index differs from the base's.
    pub plan: Option<StatementDifference>,
    /// Severe differences of settings, sessions and builds that can move such a step.
    pub hints: Vec<Hint>,
    /// Where threads waited longer than the base's, or less long on a faster system.
    pub off_cpu: Option<OffCpu>,
}

/// A severe difference of what two systems run with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// What differs.
    pub what: Differing,
    /// The base's value.
    pub base: Option<String>,
    /// The candidate's.
    pub own: Option<String>,
    /// What it can move.
    pub moves: Moves,
}

/// What can differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Differing {
    /// A setting of the server or the session, by its name.
    Setting(String),
    /// A fact of the build, by its name: `debug`. Without a value it is off.
    Build(&'static str),
}

/// What a difference can move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moves {
    /// Writes, and what commits wait for.
    Writes,
    /// Anything.
    All,
}

/// The place where threads that serve clients were off the CPU longer than the other system's.
#[derive(Debug, Clone, PartialEq)]
pub struct OffCpu {
    /// The place.
    pub place: ThreadPlace,
    /// The candidate's time there less the base's, microseconds per operation.
    pub change_us: f64,
}
