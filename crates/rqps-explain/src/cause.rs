//! Causes: the small set that rules choose from, and the cause of one step.

use rqps_model::{Figure, Verdict};

use crate::part::TimePart;
use crate::quantity::Quantity;
use crate::reason::Reason;

/// Why an operation takes longer, or less long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The server needs more CPU for the same work.
    CpuOverhead,
    /// The server reads more rows or pages for an operation.
    MoreWork,
    /// Its threads wait longer, and not for storage.
    Waiting,
    /// It waits for storage to read.
    StorageReads,
    /// It waits for storage to write.
    StorageWrites,
    /// A statement is executed by another plan.
    PlanChange,
    /// The client is the limit.
    ClientLimited,
    /// Other processes or the hypervisor are the limit.
    HostLimited,
    /// Background work of the server.
    BackgroundWork,
    /// Several parts of the time together, none of them a major one.
    Several,
    /// None of these explains a major part.
    NotExplained,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 11] = [
        Self::CpuOverhead,
        Self::MoreWork,
        Self::Waiting,
        Self::StorageReads,
        Self::StorageWrites,
        Self::PlanChange,
        Self::ClientLimited,
        Self::HostLimited,
        Self::BackgroundWork,
        Self::Several,
        Self::NotExplained,
    ];

    /// For programs: `cpu-overhead`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::CpuOverhead => "cpu-overhead",
            Self::MoreWork => "more-work",
            Self::Waiting => "waiting",
            Self::StorageReads => "storage-reads",
            Self::StorageWrites => "storage-writes",
            Self::PlanChange => "plan-change",
            Self::ClientLimited => "client-limited",
            Self::HostLimited => "host-limited",
            Self::BackgroundWork => "background-work",
            Self::Several => "several",
            Self::NotExplained => "not-explained",
        }
    }

    /// For people, of a loss or of a gain.
    #[must_use]
    pub fn words(self, direction: Verdict) -> &'static str {
        let is_gain = direction == Verdict::Faster;
        match self {
            Self::CpuOverhead if is_gain => "less CPU overhead",
            Self::CpuOverhead => "new CPU overhead",
            Self::MoreWork if is_gain => "less work per operation",
            Self::MoreWork => "more work per operation",
            Self::Waiting if is_gain => "less contention or waiting",
            Self::Waiting => "contention or waiting",
            Self::StorageReads if is_gain => "fewer storage reads",
            Self::StorageReads => "storage reads",
            Self::StorageWrites if is_gain => "less waiting for writes",
            Self::StorageWrites => "waiting for writes: write amplification or write-back",
            Self::PlanChange => "plan change",
            Self::ClientLimited => "client limited",
            Self::HostLimited => "host limited",
            Self::BackgroundWork if is_gain => "less background work",
            Self::BackgroundWork => "background work",
            Self::Several => "several causes",
            Self::NotExplained => "not explained",
        }
    }
}

/// Shares of the host's CPU time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HostShares {
    /// In the base's slices.
    pub base: f64,
    /// In the candidate's.
    pub candidate: f64,
}

/// What explains the verdict on a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Cause {
    /// The kind.
    pub kind: Kind,
    /// Whether it is a loss or a gain: [`Verdict::Slower`] or [`Verdict::Faster`].
    pub direction: Verdict,
    /// The parts of the time that carry the change; empty where nothing does.
    pub parts: Vec<TimePart>,
    /// Their share of the change: 0.9 is 90%; absent where it is not explained.
    pub share: Option<f64>,
    /// What the rate counts.
    pub figure: Figure,
    /// The quantities that carry it beside the parts.
    pub quantities: Vec<Quantity>,
    /// Why it is not explained, where that is known.
    pub reason: Option<Reason>,
    /// Shares of the host's CPUs that other processes used, where the cause is CPU that they took.
    pub others: Option<HostShares>,
    /// The change of the time per operation that was to be explained, microseconds; absent without a split.
    pub explained_us: Option<f64>,
    /// Whether the systems were interleaved: then CPU that others took is excluded from that change.
    pub is_interleaved: bool,
    /// The server's CPU / that of the base.
    pub times: Option<f64>,
    /// Whether that is the CPU of connection threads, because CPU of all server threads changed
    /// differently.
    pub is_of_serving: bool,
    /// The change of those parts, microseconds per operation.
    pub change_us: Option<f64>,
    /// Whether storage traffic per operation is unchanged; absent where it was not measured.
    pub is_io_unchanged: Option<bool>,
}

impl Cause {
    /// In one or two words, for a table.
    #[must_use]
    pub fn short(&self) -> &'static str {
        match self.kind {
            Kind::CpuOverhead if self.is_of_serving => "connection CPU",
            Kind::CpuOverhead => "CPU",
            Kind::MoreWork => "work",
            Kind::Waiting => "waiting",
            Kind::StorageReads => "reads",
            Kind::StorageWrites => "writes",
            Kind::PlanChange => "plan",
            Kind::ClientLimited => "client",
            Kind::HostLimited => "host",
            Kind::BackgroundWork => "background",
            Kind::Several => "several",
            Kind::NotExplained => "not explained",
        }
    }
}
