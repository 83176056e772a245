//! Facts of warnings that have several parts.

use serde::{Deserialize, Serialize};

use crate::{PlanShape, Tool, Wall};

/// The held rate and the set rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeldRate {
    /// Mean rate, per second.
    pub average_per_s: f64,
    /// The rate set, per second.
    pub target_per_s: f64,
}

/// Two levels between which the rate of a step alternates.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RateLevels {
    /// The lower rate, per second.
    pub low_per_s: f64,
    /// The higher rate, per second.
    pub high_per_s: f64,
    /// Share of the windows at the lower rate.
    pub low_share: f64,
}

/// What the host's counters say of stalls.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct StallCause {
    /// What took CPU time; absent where nothing took enough.
    pub taken: Option<TakenTime>,
    /// Whether the other side's share is of the same blocks, not of other slices.
    pub is_of_blocks: bool,
}

/// CPU time that was taken from one side more than from the other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TakenTime {
    /// What took it.
    pub by: TakenBy,
    /// Share of the host's CPU time where the stalls were worst.
    pub own_share: f64,
    /// The same on the other side.
    pub other_share: f64,
}

/// What took CPU time from a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TakenBy {
    /// The hypervisor.
    Steal,
    /// Other processes.
    OtherProcesses,
    /// Waiting for storage.
    IoWait,
}

/// Background work that began within a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BackgroundWork {
    /// The most in one slice: a share, or bytes.
    pub most: f64,
    /// Slices that have it.
    pub n: usize,
}

/// A query plan, and the starts on which the server had it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanOfStarts {
    /// The plan.
    pub shape: PlanShape,
    /// The starts, from 0.
    pub starts: Vec<u32>,
}

/// How threads are stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopWay {
    /// Single threads, by ptrace.
    Tracing,
    /// Whole processes, by signals.
    Signals,
}

/// The slice that was stored last before an interruption.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastSlice {
    /// The step.
    pub step: String,
    /// Its number of clients.
    pub n_clients: u32,
    /// The system; absent where systems were interleaved.
    pub system: Option<String>,
    /// Its end, milliseconds since 1970.
    pub until_unix_ms: i64,
}

/// A setting before and after an interruption; absent where the server has none of the name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedSetting {
    /// Its name.
    pub name: String,
    /// The value before.
    pub before: Option<String>,
    /// The value after.
    pub after: Option<String>,
}

/// A failure of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFault {
    /// Failures so far.
    pub n: u32,
    /// Failures from which on the system is excluded.
    pub n_tolerated: u32,
    /// The error.
    pub reason: String,
}

/// A fact of one system.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfSystem<T> {
    /// The system, by its place in the run.
    pub system: usize,
    /// The fact.
    pub fact: T,
}

/// A check of a step's work that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedCheck {
    /// The step.
    pub step: String,
    /// The system.
    pub system: usize,
    /// The check.
    pub name: String,
    /// What it found.
    pub found: String,
}

/// Where imported results come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportedSource {
    /// The file or folder.
    pub source: String,
    /// The tool that made it.
    pub tool: Tool,
}

/// How many of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Share {
    /// None.
    None,
    /// Some, not all.
    Some,
    /// All.
    All,
}

/// Standard deviation of rQPS between starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StartSpread {
    /// Median over the steps.
    pub median: f64,
    /// The most.
    pub most: f64,
    /// The step that has the most.
    pub step: String,
}

/// Assumed standard deviation of rQPS between starts, for ratios of one start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct AssumedStartSd {
    /// The least over the steps.
    pub least: f64,
    /// The most.
    pub most: f64,
    /// Whether starts were measured on this host.
    pub is_calibrated: bool,
}

/// Half-width of the intervals of steps of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HalfWidth {
    /// The kind.
    pub kind: StepClass,
    /// The median, as a share.
    pub median: f64,
}

/// Kinds of steps that a report tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepClass {
    /// Steps that read.
    Reads,
    /// Steps that write.
    Writes,
    /// Others.
    Others,
}

/// A wall, and the systems that it confined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfinedBy {
    /// The wall.
    pub wall: Wall,
    /// The systems.
    pub systems: Vec<usize>,
}

/// A part of what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MetricsPart {
    /// CPU time of the server.
    ServerCpu,
    /// Requests to storage.
    Storage,
    /// Response times.
    ResponseTimes,
    /// Memory of the server.
    Memory,
    /// Metrics per operation.
    PerOperation,
    /// Sizes of the data.
    Sizes,
}
