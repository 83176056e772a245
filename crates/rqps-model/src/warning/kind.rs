//! The kinds of warnings, with their facts.

use serde::{Deserialize, Serialize};

use super::condition::{DifferentCondition, StepDifference};
use super::facts::{
    AssumedStartSd, BackgroundWork, ChangedSetting, ConfinedBy, FailedCheck, HalfWidth, HeldRate,
    ImportedSource, LastSlice, MetricsPart, OfSystem, PlanOfStarts, RateLevels, ServerFault, Share,
    StallCause, StartSpread, StopWay,
};
use super::severity::Severity;
use crate::{Calibrated, ErrorCount, Estimate, RunStatus, TableDifference};

/// What happened, with its facts. Of slices and of whole runs.
#[derive(
    Debug, Clone, PartialEq, Serialize, Deserialize, strum::IntoStaticStr, strum::VariantNames,
)]
#[serde(rename_all = "kebab-case", tag = "kind")]
#[strum(serialize_all = "kebab-case")]
pub enum WarningKind {
    /// Events failed and were retried.
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
    /// Background work of the server may have been unfinished when the step began.
    NotSettled {
        /// The unfinished work, as the server reports it.
        left: String,
    },
    /// The set rate was not held.
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
    /// The server read from storage after a block without reads.
    Colder {
        /// Bytes read, and pages of faults that read.
        bytes: u64,
    },
    /// rqps was stopped, or the host was paused, for a part of the measured time.
    Paused {
        /// For how long, seconds.
        seconds: u32,
    },
    /// A block or slice was measured again after a pause.
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
    /// Connection threads were stopped on purpose.
    InjectedSlowdown {
        /// Measured share of the counted time in which they were stopped, basis points.
        share_bp: u32,
        /// How they were stopped.
        way: StopWay,
    },
    /// Waiting servers were not stopped, because slices took too long.
    WaitingNotStopped,
    /// The run was interrupted and resumed before this step, on tables filled again.
    Resumed,
    /// The run was interrupted, and the server was started again on its data.
    StartedAgain,
    /// The server had failed and was started on tables filled again.
    StartedOnNewData,
    /// The base was measured before, so there is no ratio.
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
    /// The same, and the runs differ in conditions that can change the result.
    UnlikeRun {
        /// What differs.
        differences: Vec<StepDifference>,
    },
    /// The rate alternates between two levels.
    TwoLevels {
        /// The rates.
        levels: RateLevels,
    },
    /// The rate alternates between two levels at the same times as that of another system of the
    /// same blocks.
    HostLevels {
        /// The rates.
        levels: RateLevels,
    },
    /// The rate, or its ratio to the base, changed steadily within the step.
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
    /// Starts of the server, or the sessions of a start, ran different query plans.
    PlanVaries {
        /// The plans, the most frequent first; a single one is generic and custom at once.
        plans: Vec<PlanOfStarts>,
        /// The statement; of several the first.
        sql: String,
        /// Further statements whose plan differed.
        n_more: usize,
    },
    /// The tables of system and base differ in state.
    TablesDiffer {
        /// The differences, each with its values on the start where they differ most.
        differences: Vec<TableDifference>,
    },
    /// The run was interrupted and resumed.
    RunResumed {
        /// The slice that was stored last.
        last: Option<LastSlice>,
    },
    /// The run was imported before it had finished, and is not resumed here.
    UnfinishedArchive,
    /// The run ended before its steps did.
    RunEnded {
        /// The error.
        reason: String,
    },
    /// A system is no longer measured.
    Excluded {
        /// The error.
        reason: String,
    },
    /// A server has other settings than at an earlier start.
    SettingsChanged {
        /// The settings.
        settings: Vec<ChangedSetting>,
    },
    /// A server's own counters cannot be read.
    CountersMissing {
        /// The error.
        reason: String,
    },
    /// A server was killed before it answered, and was started again.
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
    /// Data of an earlier attempt are not used.
    DataNotUsed {
        /// The error.
        reason: String,
    },
    /// The tables are copies of an earlier run's.
    TablesReused {
        /// The run, by its id.
        run: String,
        /// When it had filled them, milliseconds since 1970.
        filled_unix_ms: i64,
    },
    /// Tables that an earlier run filled are not used.
    StoredTablesNotUsed {
        /// The error.
        reason: String,
    },
    /// The tables are not stored for later runs.
    TablesNotStored {
        /// The error.
        reason: String,
    },
    /// A system has new tables, because those of another system could not be used.
    NewTables,
    /// A server did not stop as it should, or its guest database could not be removed.
    NotStopped {
        /// What happened.
        reason: String,
    },
    /// The audit could not reach a system before the run.
    NotLookedAt {
        /// The error.
        reason: String,
    },
    /// Systems differ in a setting, their sessions, their builds or their data.
    Difference {
        /// What differs: a setting, `tls`, `build`.
        name: String,
        /// How much it weighs.
        severity: Severity,
        /// The values, and what they can do to the result.
        text: String,
        /// What would make the systems equal.
        remedy: String,
    },
    /// Systems of several runs are compared.
    SeveralRuns {
        /// How many runs.
        n: usize,
        /// The run of the base, by its id.
        base: String,
    },
    /// Compared runs have tables with different rows.
    RowsDiffer {
        /// The runs, by id.
        runs: Vec<String>,
        /// The sizes of tables that differ, with their values per run.
        sizes: Vec<DifferentCondition>,
    },
    /// Runs that are compared differ in their conditions.
    RunsDiffer {
        /// The runs, by id.
        runs: Vec<String>,
        /// The conditions, with their values per run.
        conditions: Vec<DifferentCondition>,
    },
    /// Systems that were meant to read from storage read from the page cache.
    PageCache {
        /// These systems.
        systems: Vec<usize>,
        /// Systems of the same configuration that read past the page cache.
        past: Vec<usize>,
    },
    /// The kernel did not confine servers to their own files.
    NotConfined {
        /// The systems.
        systems: Vec<usize>,
        /// Why.
        reasons: Vec<String>,
    },
    /// The plan slows systems down on purpose.
    SlowedDown {
        /// The systems, each with the share of its measured time in percent.
        systems: Vec<OfSystem<f64>>,
    },
    /// The plan changes tables after they are filled.
    TablesAltered {
        /// The systems, each with its statements.
        systems: Vec<OfSystem<Vec<String>>>,
    },
    /// Steps did other work than intended.
    ChecksFailed {
        /// The checks.
        checks: Vec<FailedCheck>,
    },
    /// Results were imported: one of each, so there are no intervals.
    Imported {
        /// The systems; empty for all of the report.
        systems: Vec<usize>,
        /// Files, and the tools that made them.
        sources: Vec<ImportedSource>,
    },
    /// A note of an importer on its files.
    ImportNote {
        /// The file or folder, where several were imported.
        source: Option<String>,
        /// The note.
        text: String,
    },
    /// Systems were measured one after the other.
    Sequential,
    /// Systems were interleaved.
    Interleaved {
        /// Length of a slice.
        slice_ms: u32,
        /// Steps of the Insert Benchmark among them.
        insert_steps: Share,
        /// Systems that rqps does not run, and so did not stop.
        external: Vec<usize>,
        /// Whether other servers were stopped while they waited.
        are_stopped: bool,
    },
    /// How the systems of several runs were ordered.
    OrderOfRuns {
        /// Runs with interleaved systems, by id.
        interleaved: Vec<String>,
        /// Runs that measured one system after the other.
        sequential: Vec<String>,
    },
    /// Each server was started once.
    StartedOnce {
        /// Whether servers were started again when the run was resumed.
        was_resumed: bool,
        /// The assumed differences between starts; absent without an interval.
        assumed: Option<AssumedStartSd>,
    },
    /// Servers were started several times.
    SeveralStarts {
        /// Starts that steps were measured on.
        n: u32,
        /// How often tables were filled.
        n_loads: u32,
        /// Whether runs have fewer.
        is_most: bool,
        /// Starts that ratios are of, where there are fewer so far.
        n_so_far: Option<u32>,
        /// By how much starts differ.
        spread: Option<StartSpread>,
        /// Intervals of one start alone.
        n_without: usize,
        /// The differences between starts that those assume.
        assumed: Option<AssumedStartSd>,
    },
    /// The base was measured twice, as two servers.
    NullArm {
        /// The second of them.
        system: usize,
        /// Ratios to the base that have an interval.
        n: usize,
        /// Steps whose interval excludes 1.
        outside: Vec<String>,
        /// Steps with a verdict of slower or faster.
        called: Vec<String>,
    },
    /// Half-widths of the intervals of rQPS.
    HalfWidths {
        /// By kind of step.
        medians: Vec<HalfWidth>,
    },
    /// Several intervals are 95% intervals each.
    SeveralIntervals {
        /// How many.
        n: usize,
    },
    /// The plan sets a rate.
    RateSet,
    /// The host was calibrated.
    Calibrated {
        /// What was found.
        found: Box<Calibrated>,
        /// The host now, where its name is another one.
        other_host: Option<String>,
        /// The kernel now, where it is another one.
        other_kernel: Option<String>,
    },
    /// rqps did not start these servers, so it does not see who disturbs them.
    NotStarted {
        /// The systems.
        systems: Vec<usize>,
    },
    /// The plan limits systems differently.
    UnequalLimits {
        /// In CPUs.
        cpus: bool,
        /// In memory.
        memory: bool,
    },
    /// The builds have different allocators.
    UnequalAllocators {
        /// The systems, each with its allocator.
        systems: Vec<OfSystem<String>>,
    },
    /// rqps changed options of the user's configuration.
    OptionsChanged {
        /// The systems, each with its options.
        systems: Vec<OfSystem<String>>,
    },
    /// The kernel confined servers to their own files.
    Confined {
        /// The walls by name, each with its systems.
        walls: Vec<ConfinedBy>,
        /// Whether there are servers that rqps does not run.
        has_external: bool,
    },
    /// The host is a virtual machine.
    VirtualMachine,
    /// The run was interrupted and resumed.
    Interrupted {
        /// How often.
        n: u32,
    },
    /// The run has not finished.
    NotFinished {
        /// Its status.
        status: RunStatus,
    },
    /// Steps failed on a system.
    StepsFailed {
        /// The system.
        system: usize,
        /// The steps.
        steps: Vec<String>,
    },
    /// Steps were not reached on a system.
    StepsNotReached {
        /// The system.
        system: usize,
        /// The steps.
        steps: Vec<String>,
    },
    /// The run of a system has no such steps.
    StepsAbsent {
        /// The system.
        system: usize,
        /// Its run.
        run: String,
        /// The steps.
        steps: Vec<String>,
    },
    /// A part of the metrics of a system was not measured.
    MetricsMissing {
        /// The system.
        system: usize,
        /// The part.
        part: MetricsPart,
        /// The steps; empty for all.
        steps: Vec<String>,
    },
    /// Imported files lack parts.
    NotImported {
        /// The systems; empty for all of the report.
        systems: Vec<usize>,
        /// The parts, besides separate CPU of server and client.
        lacking: Vec<MetricsPart>,
    },
    /// Steps of single slices have no interval.
    SingleSlices {
        /// The steps.
        steps: Vec<String>,
    },
    /// Steps have no ratio, because a slice finished no operation.
    NoOperations {
        /// The steps.
        steps: Vec<String>,
    },
    /// A step that warms caches failed.
    WarmUpFailed {
        /// The step.
        step: String,
        /// The system.
        system: usize,
        /// The first line of the error.
        reason: String,
    },
    /// Something outside the run had the host's CPUs for half of the blocks of steps, or more.
    /// These steps have no verdict unless the reader allows a busy host.
    HostBusy {
        /// The steps.
        steps: Vec<String>,
        /// How many steps the run compares.
        n_steps: usize,
        /// Least and most of all CPU time that other processes used in such a step, percent; absent where it was too
        /// little to tell.
        others_pct: Option<(u32, u32)>,
        /// The same of the hypervisor.
        stolen_pct: Option<(u32, u32)>,
        /// Whether verdicts are withheld.
        is_barred: bool,
    },
    /// Steps that only warm caches are not in the tables.
    WarmUps {
        /// The steps.
        steps: Vec<String>,
    },
}

impl WarningKind {
    /// The names of all kinds.
    #[must_use]
    pub fn keys() -> &'static [&'static str] {
        <Self as strum::VariantNames>::VARIANTS
    }

    /// Whether a result must not be used as it is.
    #[must_use]
    pub fn is_severe(&self) -> bool {
        matches!(
            self,
            Self::Difference { severity: Severity::Severe, .. }
                | Self::RowsDiffer { .. }
                | Self::HostBusy { .. }
        )
    }

    /// Its name for machines: `client-bound`. The name has a section in the reference of warnings.
    #[must_use]
    pub fn key(&self) -> &'static str {
        self.into()
    }
}
