//! What runs were made under that can move their figures and keeps no point out of its series: the
//! kernel, the schedule and the like.
//!
//! Where neighbouring points differ in these, a change between them may be theirs and says so.

use rqps_model::{Run, Schedule};

use super::point_warning::PointWarning;
use crate::join::host_name;
use rqps_text::number::{bytes, count, kb};

/// What differs between two points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherSurroundings {
    /// Its name: `kernel`.
    pub name: &'static str,
    /// Its value at the first.
    pub before: String,
    /// Its value at the second.
    pub after: String,
}

/// What a run was made under, by name, in the order of reports.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Surroundings {
    /// The order of its slices, and on how many starts of the servers.
    pub schedule: String,
    /// Release of the kernel.
    pub kernel: String,
    distribution: String,
    memory_bytes: u64,
    memory: String,
    storage: String,
    read_ahead: String,
    host: String,
}

impl Surroundings {
    /// Those of a run.
    pub(super) fn of(run: &Run) -> Self {
        let host = &run.host;
        let order = match run.schedule {
            Schedule::Sequential { .. } => "one system after the other".to_owned(),
            Schedule::Interleaved { slice_ms, .. } => format!("slices of {slice_ms} ms"),
        };
        let starts = usize::try_from(run.n_starts()).unwrap_or(usize::MAX);
        let starts =
            if starts > 1 { format!(", {}", count(starts, "start")) } else { String::new() };
        Self {
            // An imported file does not tell it.
            schedule: if run.imported.is_some() { String::new() } else { order + &starts },
            kernel: host.kernel.clone(),
            distribution: host.os.clone(),
            memory_bytes: host.memory_bytes,
            memory: if host.memory_bytes > 0 { bytes(host.memory_bytes) } else { String::new() },
            storage: host.storage_kind(),
            read_ahead: host.read_ahead_kb.map(kb).unwrap_or_default(),
            host: host_name(host),
        }
    }

    fn all(&self) -> [(&'static str, &str); 7] {
        let Self { schedule, kernel, distribution, memory, storage, read_ahead, host, .. } = self;
        [
            ("kernel", kernel),
            ("distribution", distribution),
            ("schedule", schedule),
            ("memory", memory),
            ("storage", storage),
            ("read-ahead", read_ahead),
            ("host", host),
        ]
    }

    /// What is known of both and differs: name, own value, the other's.
    fn unlike<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (&'static str, [&'a str; 2])> {
        let both = self.all().into_iter().zip(other.all());
        // Kernels keep some memory for themselves, not the same at each boot.
        let (less, more) =
            (self.memory_bytes.min(other.memory_bytes), self.memory_bytes.max(other.memory_bytes));
        let is_other_memory = less < more / 20 * 19;
        both.filter(|((_, own), (_, other))| own != other && !own.is_empty() && !other.is_empty())
            .filter(move |((name, _), _)| *name != "memory" || is_other_memory)
            .map(|((name, own), (_, other))| (name, [own, other]))
    }

    /// The conditions that are not those of the latest point.
    pub(super) fn warnings(&self, latest: &Self) -> Vec<PointWarning> {
        self.unlike(latest).map(|(name, _)| PointWarning::OtherCondition(name)).collect()
    }

    /// What the next point was measured under that these were not.
    pub(super) fn then(&self, next: &Self) -> Vec<OtherSurroundings> {
        let differing = self.unlike(next);
        let of = |(name, [own, next]): (&'static str, [&str; 2])| OtherSurroundings {
            name,
            before: own.to_owned(),
            after: next.to_owned(),
        };
        differing.map(of).collect()
    }
}
