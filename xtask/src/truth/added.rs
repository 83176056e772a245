//! What a slowed server burnt in each step, by its library's counts.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use rqps_model::{Run, RunStep, Slice};

use super::counts::{Counts, Log};

/// The counts of one system in one step, over all starts.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Added {
    /// From the first block of each start to the end of its last.
    counts: Counts,
    /// From block to block: commands that the library counted, and operations that rqps counted.
    from_block_to_block: [u64; 2],
}

impl Added {
    /// The counts of a system in each step of a run, by the step's name.
    ///
    /// # Errors
    /// Where nothing was counted while a step was measured.
    pub(super) fn of_steps(log: &Log, run: &Run, system: usize) -> Result<BTreeMap<String, Self>> {
        let label = &run.systems[system].spec.label.0;
        let mut steps = BTreeMap::<String, Self>::new();
        for step in run.steps.iter().filter(|step| !step.systems[system].slices.is_empty()) {
            let found = of_start(log, step, label, system);
            let name = &step.info.name;
            let found =
                found.with_context(|| format!("{}: no counts of {label} in {name}", run.id))?;
            steps.entry(name.clone()).or_default().add(&found);
        }
        Ok(steps)
    }

    fn add(&mut self, other: &Self) {
        self.counts = self.counts.plus(other.counts);
        for (sum, n) in self.from_block_to_block.iter_mut().zip(other.from_block_to_block) {
            *sum += n;
        }
    }

    /// CPU burnt per command, microseconds. Of the suite's steps each operation is one command.
    pub(super) fn us(&self) -> f64 {
        self.counts.burnt_ns as f64 / 1e3 / self.counts.commands as f64
    }

    /// All CPU that the library saw per command, what was burnt included, microseconds.
    pub(super) fn seen_us(&self) -> f64 {
        (self.counts.own_ns + self.counts.burnt_ns) as f64 / 1e3 / self.counts.commands as f64
    }

    /// CPU burnt over the CPU of the threads' own work.
    pub(super) fn share(&self) -> f64 {
        self.counts.burnt_ns as f64 / self.counts.own_ns as f64
    }

    /// Commands that the library counted over operations that rqps counted; absent where no start has
    /// two blocks.
    pub(super) fn commands_per_operation(&self) -> Option<f64> {
        let [commands, operations] = self.from_block_to_block;
        (operations > 0).then(|| commands as f64 / operations as f64)
    }
}

/// The counts of a step on one start; `None` where there are none.
fn of_start(log: &Log, step: &RunStep, label: &str, system: usize) -> Option<Added> {
    let slices = &step.systems[system].slices;
    let (first, last) = (slices.first()?, slices.last()?);
    let counts = log.between(label, first.start_unix_ms, end_ms(last, step.systems.len()))?;
    let mut from_block_to_block = [0; 2];
    if first.start_unix_ms < last.start_unix_ms {
        let whole = log.between(label, first.start_unix_ms, last.start_unix_ms)?;
        let operations = slices[..slices.len() - 1].iter().map(Slice::operations_of_counters);
        from_block_to_block = [whole.commands, operations.sum()];
    }
    Some(Added { counts, from_block_to_block })
}

/// The end of a block, or a moment before it: the systems of a block are interleaved.
fn end_ms(block: &Slice, n_systems: usize) -> i64 {
    let measured_ms = block.duration_ns / 1_000_000 * n_systems as u64;
    block.start_unix_ms + i64::try_from(measured_ms).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_per_command() {
        let counts = Counts { commands: 4, own_ns: 80_000, burnt_ns: 4_000 };
        let mut added = Added { counts, from_block_to_block: [0, 0] };
        assert_eq!((added.us(), added.seen_us(), added.share()), (1.0, 21.0, 0.05));
        assert_eq!(added.commands_per_operation(), None);
        added.add(&Added { counts, from_block_to_block: [101, 100] });
        assert_eq!((added.us(), added.commands_per_operation()), (1.0, Some(1.01)));
    }
}
