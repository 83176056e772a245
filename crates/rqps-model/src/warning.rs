//! Warnings: why a result is not to be taken at its face value. Facts alone: reports make sentences of them.

use serde::{Deserialize, Serialize};

use crate::{ErrorCount, Estimate, PlanShape};

/// A warning with its scope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// When it was noticed, milliseconds since 1970; absent for what was found afterwards.
    pub at_unix_ms: Option<i64>,
    /// What it is about.
    pub scope: Scope,
    /// What happened.
    #[serde(flatten)]
    pub kind: WarningKind,
}

/// What a warning is about.
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

/// What happened, with its facts. Of slices and of whole runs.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[strum(serialize_all = "kebab-case")]
pub enum WarningKind {
    /// Events met errors that are ignored and retried.
    Errors {
        /// How many.
        n: u64,
        /// How many by code; empty where the slice has them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        by_code: Vec<ErrorCount>,
    },
    /// The step failed and has no result.
    Failed {
        /// The error.
        reason: String,
    },
    /// The client's threads used nearly all of their CPUs, so the server may not be the limit.
    ClientBound {
        /// Client CPU over the CPU time that its threads could have had, percent.
        pct: u32,
    },
    /// The server's background work had not come to rest before the step.
    NotSettled {
        /// What the server still had to do, as it says.
        left: String,
    },
    /// A rate was set and not held.
    RateMissed {
        /// Starts missed.
        n_missed: u64,
    },
    /// The hypervisor took CPU.
    Steal {
        /// Share of all CPU time, percent.
        pct: u32,
    },
    /// Processes that have no part in the run, or kernel threads, used the host's CPUs.
    OtherProcesses {
        /// Share of all CPU time, percent.
        pct: u32,
    },
    /// Pages were swapped.
    Swapped {
        /// Pages in and out.
        pages: u64,
    },
    /// CPUs were slowed down because they were hot.
    Throttled {
        /// How often, all CPUs.
        n: u64,
    },
    /// The CPUs' frequency changed.
    FrequencyChanged {
        /// Lowest over highest frequency of the fastest CPU in the step so far, percent.
        pct: u32,
    },
    /// The server read from storage what the block before had found in memory.
    Colder {
        /// Bytes read, and pages of faults that read.
        bytes: u64,
    },
    /// Neither rqps nor, as far as is known, its host ran for a part of the measured time: somebody stopped
    /// it, or the virtual machine was paused.
    Paused {
        /// For how long, seconds.
        seconds: u32,
    },
    /// The block was measured again, because nobody measured for a part of its time.
    MeasuredAgain,
    /// The host was suspended.
    HostSuspended {
        /// For how long, milliseconds.
        ms: u64,
    },
    /// The host's wall clock was set.
    ClockSet {
        /// Forward, or back where it is negative, milliseconds.
        by_ms: i64,
    },
    /// The threads that serve the clients were stopped on purpose.
    InjectedSlowdown {
        /// Share of the counted time in which they were, as it was measured, basis points.
        share_bp: u32,
        /// How they were stopped.
        way: StopWay,
    },
    /// The servers that waited were not stopped, as slices took too long.
    WaitingNotStopped,
    /// The run was interrupted and resumed before this step, on tables filled again.
    Resumed,
    /// The run was interrupted, and the server was started again on its data.
    StartedAgain {
        /// Whether its caches were warmed and its background work came to rest.
        is_warmed: bool,
    },
    /// The server failed before and was started on tables filled again.
    StartedOnNewData,
    /// The base had been measured before, so there is no ratio.
    WithoutBase,
    /// The systems do not fit into memory together and were measured one after the other.
    OneAfterTheOther,
    /// MyRocks was loaded in bulk, each table by one connection.
    BulkLoad {
        /// Clients that loaded.
        n_loaders: u32,
        /// Clients of the step.
        n_clients: u32,
    },
    /// An importer found a fault in a file.
    ImportedFault {
        /// The fault, in the importer's words.
        text: String,
    },
    /// There are fewer slices than planned.
    Incomplete {
        /// Slices, or blocks of interleaved systems.
        n: usize,
        /// Slices that were planned; absent for blocks, whose number depends on the step's time.
        n_planned: Option<usize>,
    },
    /// Ratios exclude blocks in which this system and the base lacked CPU time.
    BlocksExcluded {
        /// Blocks excluded.
        n: usize,
        /// All blocks.
        n_blocks: usize,
        /// The largest share of the CPU time wanted that a block lacked.
        max_lacking: f64,
    },
    /// The rate changed within the slices, so the result depends on their length.
    Developed {
        /// Rate of the second half over that of the first.
        second_half: f64,
    },
    /// The halves of a step of the Insert Benchmark differ.
    Trend {
        /// Rate of the second half over that of the first.
        second_half: f64,
    },
    /// The rate of background inserts was not held.
    SlaFailed {
        /// The rate held.
        rate: HeldRate,
    },
    /// The same of the base.
    SlaFailedOnBase {
        /// The rate held.
        rate: HeldRate,
    },
    /// Checks of the step's work failed.
    CheckFailed {
        /// Their names.
        checks: Vec<String>,
    },
    /// The system and the base are of different runs.
    OtherRun,
    /// The same, and the runs differ in what can move the result.
    UnlikeRun {
        /// What differs.
        differences: Vec<String>,
    },
    /// The windows of the step lie at two rates.
    TwoLevels {
        /// The rates.
        levels: RateLevels,
    },
    /// The windows lie at two rates at the same times as those of another system of the same blocks.
    HostLevels {
        /// The rates.
        levels: RateLevels,
    },
    /// The rate or its ratio to the base drifts from the first block to the last.
    Drift {
        /// Rate of the last block over that of the first, where it drifts.
        rate: Option<Estimate>,
        /// The same of the ratio.
        ratio: Option<Estimate>,
    },
    /// Stalls cost one side more than the other.
    Stalls {
        /// Ratio of averages.
        average: Estimate,
        /// Ratio of steady rates.
        steady: Estimate,
        /// Whether this system stalled, not the base.
        is_own: bool,
        /// What the host's counters say of the stalls.
        cause: StallCause,
    },
    /// Background work of the server began within the step.
    BackgroundBegan {
        /// CPU time of threads that serve no client: the largest share of the host's, and slices that have it.
        cpu: Option<BackgroundWork>,
        /// Bytes written in a step that reads: the most in a slice, and slices that have it.
        written: Option<BackgroundWork>,
        /// All slices.
        n_slices: usize,
        /// Whether they are blocks of interleaved systems.
        are_blocks: bool,
    },
    /// The query plan of a statement was not the same on all starts of the server.
    PlanVaries {
        /// The plans, the most frequent first.
        plans: Vec<PlanOfStarts>,
        /// The statement.
        sql: String,
    },
    /// The run was interrupted and resumed.
    RunResumed {
        /// The slice that was stored last.
        last: Option<LastSlice>,
    },
    /// The run came from an archive before it had finished, and is not resumed here.
    UnfinishedArchive,
    /// The run ended before its steps did.
    RunEnded {
        /// The error.
        reason: String,
    },
    /// A system is not measured any more.
    Excluded {
        /// The error.
        reason: String,
    },
    /// A server has other settings than before the interruption.
    SettingsChanged {
        /// The settings.
        settings: Vec<ChangedSetting>,
    },
    /// A server's own counters cannot be read.
    CountersMissing {
        /// The error.
        reason: String,
    },
    /// A server was killed before it answered, and was started again on new data.
    KilledAtStart {
        /// Failures so far and the most that are tolerated, and the error.
        #[serde(flatten)]
        fault: ServerFault,
    },
    /// A server failed, and was started again on new data.
    ServerFailed {
        /// Failures so far and the most that are tolerated, and the error.
        #[serde(flatten)]
        fault: ServerFault,
    },
    /// Data that an earlier attempt left are not used.
    DataNotUsed {
        /// The error.
        reason: String,
    },
    /// A system begins on new tables, as those of another system could not be used.
    NewTables,
    /// A server did not stop as it should, or its guest's database could not be left.
    NotStopped {
        /// What happened.
        reason: String,
    },
    /// A system could not be looked at before the run began.
    NotLookedAt {
        /// The error.
        reason: String,
    },
}

/// A rate that was held of the one that was set.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct HeldRate {
    /// Mean rate, per second.
    pub average_per_s: f64,
    /// The rate set, per second.
    pub target_per_s: f64,
}

/// Two rates at which the windows of a step lie.
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

/// What takes CPU time from a server.
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

/// A query plan, and on how many starts the server had it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanOfStarts {
    /// The plan.
    pub shape: PlanShape,
    /// Starts.
    pub n_starts: usize,
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

impl WarningKind {
    /// The names of all kinds.
    #[must_use]
    pub fn keys() -> &'static [&'static str] {
        <Self as strum::VariantNames>::VARIANTS
    }

    /// Its name for machines: `client-bound`. The name has a section in the reference of warnings.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.into()
    }
}
