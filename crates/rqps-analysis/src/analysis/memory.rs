//! Resident memory of the servers: read at the end of every step, with no noise to average away and
//! so without an interval.

use rqps_model::Slice;

use super::{Analysis, StepAnalysis};

/// Resident memory of one system's server over the run, bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Index of the system.
    pub system_idx: usize,
    /// At the end of the first filling of tables.
    pub after_load: Option<u64>,
    /// The largest reading at a step's end, and that step's title.
    pub largest: (u64, String),
    /// At the end of the last step that all systems have a reading of.
    pub last: Option<u64>,
    /// `last` over the base's; absent for the base.
    pub ratio: Option<f64>,
}

/// The last slice's reading, or what an imported file states, bytes.
pub(in crate::analysis) fn last_reading(slices: &[Slice]) -> Option<u64> {
    let last = slices.last()?;
    let stated = last.stated.as_ref().and_then(|stated| stated.server_rss_bytes);
    // A tree that has ended counts nothing.
    stated.or(last.usage.server.map(|server| server.rss_bytes)).filter(|bytes| *bytes > 0)
}

/// One per system with any reading.
pub(super) fn memory(analysis: &Analysis<'_>) -> Vec<Memory> {
    let steps = &analysis.steps;
    let bytes = |step: &StepAnalysis<'_>, idx: usize| step.cells.get(idx)?.server_rss_bytes();
    let known: Vec<usize> = (0..analysis.run.systems.len())
        .filter(|&idx| steps.iter().any(|s| bytes(s, idx).is_some()))
        .collect();
    let shared = steps.iter().rfind(|s| known.iter().all(|&idx| bytes(s, idx).is_some()));
    let base = shared.and_then(|s| bytes(s, analysis.base));
    let of = |&system_idx: &usize| {
        let readings = || steps.iter().filter_map(|s| Some((s, bytes(s, system_idx)?)));
        let (step, largest) = readings().max_by_key(|(_, bytes)| *bytes)?;
        let last = shared.and_then(|s| bytes(s, system_idx));
        let ratio = last.zip(base).filter(|_| system_idx != analysis.base);
        Some(Memory {
            system_idx,
            after_load: readings()
                .find(|(s, _)| s.step.info.fills_tables())
                .map(|(_, bytes)| bytes),
            largest: (largest, step.title.clone()),
            last,
            ratio: ratio.map(|(bytes, base)| bytes as f64 / base as f64),
        })
    };
    known.iter().filter_map(of).collect()
}
