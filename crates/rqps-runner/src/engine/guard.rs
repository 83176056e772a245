//! What is watched from block to block of a step: the CPUs' speed, whether caches became colder, and the
//! host's clocks.

use std::collections::BTreeMap;
use std::path::Path;

use rqps_model::{Slice, SystemIdx, Usage, WarningKind};
use rqps_sample::speed::{Speed, SpeedReader};

use crate::engine::clocks::Clocks;
use crate::engine::heartbeat::Heartbeat;

/// A frequency below this share of the highest in the step gives the slice a warning, percent. Boost clocks move
/// by some percent with the number of busy cores.
const FREQUENCY_PCT: u64 = 90;

/// A server that reads no more than this from storage in a block finds its data in memory, bytes: a
/// few pages of its own bookkeeping.
const WARM_BYTES: u64 = 64 << 10;

/// Reads from which on such a server counts as colder than before, bytes.
const COLD_BYTES: u64 = 1 << 20;

/// A page of a fault that read storage, bytes.
const PAGE_BYTES: u64 = 4096;

/// The guards of a step.
#[derive(Debug)]
pub(crate) struct Guards {
    reader: SpeedReader,
    n_throttled: Option<u64>,
    highest_khz: u64,
    /// Per system, what it read from storage in its last block, bytes.
    read_bytes: BTreeMap<SystemIdx, u64>,
    /// When the last block ended.
    clocks: Option<Clocks>,
}

impl Guards {
    /// At the start of a step on this host.
    pub(crate) fn new() -> Self {
        let reader = SpeedReader::find(Path::new("/"));
        let now = reader.read();
        let mut guards = Self {
            reader,
            n_throttled: None,
            highest_khz: 0,
            read_bytes: BTreeMap::new(),
            clocks: Clocks::read(),
        };
        // What was before the step is its measure, and gives no warning.
        let _ = guards.of_speed(now);
        guards
    }

    /// Marks blocks, each with its system, that have just ended.
    pub(crate) fn look(&mut self, blocks: &mut [(SystemIdx, Slice)]) {
        let now = self.reader.read();
        let mut warnings = self.of_speed(now);
        warnings.extend(self.of_clocks());
        for (system_idx, slice) in blocks {
            slice.warnings.extend(warnings.iter().cloned());
            slice.warnings.extend(self.of_caches(*system_idx, &slice.usage));
        }
    }

    fn of_clocks(&mut self) -> Vec<WarningKind> {
        let now = Clocks::read();
        match (std::mem::replace(&mut self.clocks, now), now) {
            (Some(before), Some(now)) => now.since(before),
            _ => Vec::new(),
        }
    }

    fn of_speed(&mut self, now: Speed) -> Vec<WarningKind> {
        let mut warnings = Vec::new();
        if let Some(n) = now.n_throttled {
            let before = self.n_throttled.replace(n).unwrap_or(n);
            if n > before {
                warnings.push(WarningKind::Throttled { n: n - before });
            }
        }
        if let Some(khz) = now.fastest_khz {
            self.highest_khz = self.highest_khz.max(khz);
            let pct = khz * 100 / self.highest_khz.max(1);
            if pct < FREQUENCY_PCT {
                let pct = u32::try_from(pct).unwrap_or(u32::MAX);
                warnings.push(WarningKind::FrequencyChanged { pct });
            }
        }
        warnings
    }

    fn of_caches(&mut self, system_idx: SystemIdx, usage: &Usage) -> Option<WarningKind> {
        let server = usage.server?;
        let bytes = server.read_bytes.max(server.major_faults * PAGE_BYTES);
        let before = self.read_bytes.insert(system_idx, bytes)?;
        (before <= WARM_BYTES && bytes >= COLD_BYTES).then_some(WarningKind::Colder { bytes })
    }
}

/// What is watched while a long job runs that is not repeated: tables that fill,
/// indexes that are made.
#[derive(Debug)]
pub(crate) struct Witness {
    heartbeat: Heartbeat,
    clocks: Option<Clocks>,
}

impl Witness {
    pub(crate) fn start() -> Self {
        Self { heartbeat: Heartbeat::start(), clocks: Clocks::read() }
    }

    /// The warnings of what has gone on since.
    pub(crate) fn warnings(self) -> Vec<WarningKind> {
        let clocks = self.clocks.zip(Clocks::read());
        let of_clocks = clocks.map_or_else(Vec::new, |(before, now)| now.since(before));
        self.heartbeat.warning().into_iter().chain(of_clocks).collect()
    }
}

#[cfg(test)]
mod tests {
    use rqps_model::ProcessCounters;

    use super::*;

    fn guards() -> Guards {
        let root = tempfile::tempdir().unwrap();
        let reader = SpeedReader::find(root.path());
        let read_bytes = BTreeMap::new();
        Guards { reader, n_throttled: None, highest_khz: 0, read_bytes, clocks: Clocks::read() }
    }

    #[test]
    fn heat_and_frequency_are_told_against_what_was_before() {
        let mut guards = guards();
        let at = |mhz: u64, n| Speed { fastest_khz: Some(mhz * 1000), n_throttled: Some(n) };
        assert!(guards.of_speed(at(3000, 5)).is_empty());
        assert!(guards.of_speed(at(2800, 5)).is_empty());
        let warnings = guards.of_speed(at(1500, 7));
        assert_eq!(
            warnings,
            [WarningKind::Throttled { n: 2 }, WarningKind::FrequencyChanged { pct: 50 }]
        );
        assert!(guards.of_speed(at(3000, 7)).is_empty());
        assert!(guards.of_speed(Speed::default()).is_empty());
    }

    #[test]
    fn only_a_server_that_was_warm_becomes_colder() {
        let reads = |read_bytes: u64, major_faults: u64| Usage {
            server: Some(ProcessCounters { read_bytes, major_faults, ..Default::default() }),
            ..Default::default()
        };
        let mut guards = guards();
        // The first block of a step has nothing before it; another system is another matter.
        assert_eq!(guards.of_caches(SystemIdx(0), &reads(5 << 20, 0)), None);
        assert_eq!(guards.of_caches(SystemIdx(0), &reads(5 << 20, 0)), None);
        assert_eq!(guards.of_caches(SystemIdx(1), &reads(0, 0)), None);
        assert_eq!(guards.of_caches(SystemIdx(0), &reads(0, 0)), None);
        assert_eq!(guards.of_caches(SystemIdx(0), &reads(8 << 10, 2)), None);
        let found = guards.of_caches(SystemIdx(0), &reads(0, 512));
        assert_eq!(found, Some(WarningKind::Colder { bytes: 2 << 20 }));
        assert_eq!(guards.of_caches(SystemIdx(0), &Usage::default()), None);
    }
}
