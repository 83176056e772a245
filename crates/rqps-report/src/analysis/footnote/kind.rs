//! The reasons for caution: each has its name, its sentence and its key here.

/// What a footnote is about; several marks of one kind share a letter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FootnoteKind {
    /// Ignored errors.
    Errors,
    /// The client was the limit.
    ClientBound,
    /// Background work was left.
    NotSettled,
    /// A rate was not held.
    RateMissed,
    /// CPU taken by the hypervisor.
    Steal,
    /// CPU used by processes that have no part in the run.
    OtherProcesses,
    /// Blocks that ratios leave out.
    LeftOut,
    /// Swapping.
    Swapped,
    /// CPUs were too hot.
    Throttled,
    /// CPUs at another frequency.
    FrequencyChanged,
    /// Reads from storage where there were none.
    Colder,
    /// Nobody measured for a while.
    Paused,
    /// The run was resumed before the step.
    Resumed,
    /// Fewer slices than planned.
    Incomplete,
    /// The rate changed within the slices.
    Developed,
    /// The rate of background inserts was not held.
    SlaFailed,
    /// The same of the base.
    SlaFailedOnBase,
    /// The halves of a step of the Insert Benchmark differ.
    Trend,
    /// A check of the step's work failed.
    CheckFailed,
    /// The system and the base are of different runs.
    OtherRun,
    /// The same, and the runs differ in what can move the figure.
    UnlikeRun,
    /// The windows lie at two levels.
    TwoLevels,
    /// They lie at two levels at the same times as another system's that took turns with it.
    HostLevels,
    /// The figure or its ratio drifts within the step.
    Drift,
    /// Average and steady rate disagree.
    Stalls,
    /// Background work of the server began within the step.
    BackgroundBegan,
    /// The server's query plans were not the same on all starts.
    PlanVaries,
    /// A sentence of its own.
    Note(String),
}

impl FootnoteKind {
    /// What it means for the figure, in a sentence without its full stop.
    #[must_use]
    pub fn meaning(&self) -> &str {
        match self {
            Self::Errors => "events met errors that were ignored and retried",
            Self::ClientBound => {
                "the client's threads used nearly all of their CPUs, so the server may not be the limit"
            }
            Self::NotSettled => "background work was not known to be at rest before the step",
            Self::RateMissed => "the rate that was set was not held",
            Self::Steal => "the hypervisor took CPU from this host",
            Self::OtherProcesses => {
                "other processes, or the kernel on its own account, used this host's CPUs"
            }
            Self::LeftOut => {
                "blocks in which the hypervisor or other processes kept a fifth or more of the CPU time that was \
                 wanted from this system and the base are left out of the ratios of figures, CPU and \
                 response times"
            }
            Self::Swapped => "the host swapped",
            Self::Throttled => "CPUs were too hot and slowed themselves down",
            Self::FrequencyChanged => "the CPUs' frequency changed within the step",
            Self::Colder => {
                "the server read from storage what it had found in memory before, so caches became \
                 colder within the step"
            }
            Self::Paused => {
                "rqps or its host did not run for a part of the measured time (somebody stopped it, or the \
                 virtual machine was paused), which is in the figure; ratios of systems that took turns are \
                 without such blocks, unless they are of totals"
            }
            Self::Resumed => {
                "the run was interrupted: measured on tables filled anew, without the writes before"
            }
            Self::Incomplete => "fewer slices than planned",
            Self::Developed => {
                "the rate changed within the slices, so the figure depends on their length"
            }
            Self::SlaFailed => {
                "SLA failed: inserts came at less than 95% of their rate, so the figure is that of \
                 less work and has no verdict"
            }
            Self::SlaFailedOnBase => {
                "the base failed its SLA: it did not hold the insert rate, so there is no verdict"
            }
            Self::Trend => {
                "the second half of the step went at another rate than the first: the step was too \
                 short or had not come to rest"
            }
            Self::CheckFailed => {
                "a check of the step's work failed, so the figure is not that of the work it names"
            }
            Self::OtherRun => {
                "of another run than the base: two samples, whose interval holds no drift of the host \
                 between the runs"
            }
            Self::UnlikeRun => {
                "of another run than the base, and under other conditions, which are in the ratio"
            }
            Self::TwoLevels => {
                "the windows of the step lie at two rates, and the figure between them describes neither"
            }
            Self::HostLevels => {
                "the host went at two rates, as systems that took turns were at theirs at the same times: figures lie \
                 between the two, and both sides of a ratio have the same share of each"
            }
            Self::Drift => {
                "the figure, or its ratio to the base, drifted within the step: it had not come to rest"
            }
            Self::Stalls => {
                "stalls cost one side more than the other, so the ratio of averages is not that of \
                 steady rates"
            }
            Self::BackgroundBegan => {
                "background work of the server began within the step, and only some of its blocks have it"
            }
            Self::PlanVaries => {
                "the server went about a statement in another way on some of its starts, which is in how \
                 much the figure differs from start to start"
            }
            Self::Note(text) => text,
        }
    }

    /// A short name for machines: `client-bound`.
    #[must_use]
    pub fn key(&self) -> &'static str {
        match self {
            Self::Errors => "errors",
            Self::ClientBound => "client-bound",
            Self::NotSettled => "not-settled",
            Self::RateMissed => "rate-missed",
            Self::Steal => "steal",
            Self::OtherProcesses => "other-processes",
            Self::LeftOut => "left-out",
            Self::Swapped => "swapped",
            Self::Throttled => "throttled",
            Self::FrequencyChanged => "frequency-changed",
            Self::Colder => "colder",
            Self::Paused => "paused",
            Self::Resumed => "resumed",
            Self::Incomplete => "incomplete",
            Self::Developed => "developed",
            Self::SlaFailed => "sla-failed",
            Self::SlaFailedOnBase => "sla-failed-on-base",
            Self::Trend => "trend",
            Self::CheckFailed => "check-failed",
            Self::OtherRun => "other-run",
            Self::UnlikeRun => "unlike-run",
            Self::TwoLevels => "two-levels",
            Self::HostLevels => "host-levels",
            Self::Drift => "drift",
            Self::Stalls => "stalls",
            Self::BackgroundBegan => "background-began",
            Self::PlanVaries => "plan-varies",
            Self::Note(_) => "note",
        }
    }
}
