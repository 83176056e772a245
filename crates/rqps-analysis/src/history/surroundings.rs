//! Conditions of runs that can change QPS and exclude no point from its series: the kernel, the
//! schedule and the like.
//!
//! Where neighbouring points differ in these, a change between them may be theirs and says so.

use rqps_model::{Host, MemorySize, Run, Schedule};

use crate::join::Machine;

/// A condition of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surrounding {
    /// Release of the kernel.
    Kernel,
    /// The distribution.
    Distribution,
    /// The order of the slices, and on how many starts of the servers.
    Schedule,
    /// The host's memory.
    Memory,
    /// File system and kind of device.
    Storage,
    /// How far the kernel reads ahead.
    ReadAhead,
    /// The machine.
    Host,
}

impl Surrounding {
    /// In the order of reports.
    const ALL: [Self; 7] = [
        Self::Kernel,
        Self::Distribution,
        Self::Schedule,
        Self::Memory,
        Self::Storage,
        Self::ReadAhead,
        Self::Host,
    ];

    /// Its name: `kernel`.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Kernel => "kernel",
            Self::Distribution => "distribution",
            Self::Schedule => "schedule",
            Self::Memory => "memory",
            Self::Storage => "storage",
            Self::ReadAhead => "read-ahead",
            Self::Host => "host",
        }
    }
}

/// The conditions of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// Its schedule; absent where an imported file does not tell it.
    pub schedule: Option<SliceOrder>,
    /// Its host.
    pub host: Host,
}

/// The order of a run's slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceOrder {
    /// Length of the slices of interleaved systems, milliseconds; absent for one system after the other.
    pub slice_ms: Option<u32>,
    /// Starts of the servers, one at least.
    pub n_starts: u32,
}

impl Surroundings {
    /// Those of a run.
    pub(super) fn of(run: &Run) -> Self {
        let slice_ms = match run.schedule {
            Schedule::Sequential { .. } => None,
            Schedule::Interleaved { slice_ms, .. } => Some(slice_ms),
        };
        let order = SliceOrder { slice_ms, n_starts: run.n_starts().max(1) };
        Self { schedule: run.imported.is_none().then_some(order), host: run.host.clone() }
    }

    /// Whether something is known of both and differs.
    fn differs(&self, other: &Self, what: Surrounding) -> bool {
        let (own, other_host) = (&self.host, &other.host);
        let text = |a: &str, b: &str| a != b && !a.is_empty() && !b.is_empty();
        match what {
            Surrounding::Kernel => text(&own.kernel, &other_host.kernel),
            Surrounding::Distribution => text(&own.os, &other_host.os),
            Surrounding::Schedule => self.schedule.zip(other.schedule).is_some_and(|(a, b)| a != b),
            Surrounding::Memory => is_other_memory(own.memory_bytes, other_host.memory_bytes),
            Surrounding::Storage => text(&own.storage_kind(), &other_host.storage_kind()),
            Surrounding::ReadAhead => {
                own.read_ahead_kb.zip(other_host.read_ahead_kb).is_some_and(|(a, b)| a != b)
            }
            Surrounding::Host => Machine::of(own) != Machine::of(other_host),
        }
    }

    /// What is known of both and differs.
    pub(super) fn differences(&self, other: &Self) -> Vec<Surrounding> {
        Surrounding::ALL.into_iter().filter(|what| self.differs(other, *what)).collect()
    }
}

/// Whether two known sizes of memory differ by more than what kernels keep for themselves, which is not the same
/// at each boot.
fn is_other_memory(a: u64, b: u64) -> bool {
    let (less, more) = (a.min(b), a.max(b));
    let is_known = less > 0;
    is_known && less < more / 20 * 19 && MemorySize { bytes: a } != MemorySize { bytes: b }
}
