//! A step that is measured, on its way into the store.

use std::time::Duration;

use anyhow::Result;
use rqps_model::{StepIdx, SystemIdx, WarningKind};

use crate::engine::cut::Done;
use crate::engine::guard::Guards;
use crate::engine::observer::{Block, Next, Observer};
use crate::engine::precision::Figures;
use crate::event::Event;
use crate::journal::Journal;

/// The warnings of every slice of a step on a system.
pub(crate) struct SystemWarnings {
    pub(crate) system: SystemIdx,
    pub(crate) kinds: Vec<WarningKind>,
}

/// Stores a step's blocks as they end.
pub(crate) struct StepRecord<'j, 'a> {
    journal: &'j mut Journal<'a>,
    step: StepIdx,
    /// The warnings of every slice of a system.
    warnings: Vec<SystemWarnings>,
    /// Blocks that are stored already and only repeated.
    n_stored: u32,
    /// The rates so far and the half-width at which the step ends.
    precision: Option<(Figures, f64)>,
    guards: Guards,
}

impl<'j, 'a> StepRecord<'j, 'a> {
    pub(crate) fn new(
        journal: &'j mut Journal<'a>,
        step: StepIdx,
        warnings: Vec<SystemWarnings>,
    ) -> Self {
        Self { journal, step, warnings, n_stored: 0, precision: None, guards: Guards::new() }
    }

    /// The first blocks are stored already, and repeated because of what they do.
    pub(crate) fn repeating(self, n_stored: u32) -> Self {
        Self { n_stored, ..self }
    }

    /// Ends the step at a half-width of the rQPS.
    pub(crate) fn ending_at(self, figures: Figures, half_width: Option<f64>) -> Self {
        Self { precision: half_width.map(|half_width| (figures, half_width)), ..self }
    }

    /// Whether the step is as precise as it is to be.
    pub(crate) fn is_enough(&self) -> bool {
        self.precision.as_ref().is_some_and(|(figures, width)| figures.are_enough(*width))
    }
}

impl Observer for StepRecord<'_, '_> {
    fn tell(&mut self, event: Event<'_>) {
        self.journal.tell(event);
    }

    fn keep(&mut self, mut block: Block) -> Result<Next> {
        if block.iter().any(|(_, slice)| slice.idx < self.n_stored) {
            return Ok(Next::Block);
        }
        self.guards.look(&mut block);
        for (system, slice) in &mut block {
            let of_system = self.warnings.iter().filter(|other| other.system == *system);
            slice.warnings.extend(of_system.flat_map(|other| other.kinds.iter().cloned()));
        }
        if let Some((figures, _)) = &mut self.precision {
            figures.add(&block);
        }
        self.journal.keep_block(self.step, block)?;
        Ok(if self.is_enough() { Next::Enough } else { Next::Block })
    }
}

/// Shows what is measured and stores none of it: work that only brings servers back to where they were.
pub(crate) struct Unrecorded<'j, 'a>(pub(crate) &'j mut Journal<'a>);

impl Observer for Unrecorded<'_, '_> {
    fn tell(&mut self, event: Event<'_>) {
        self.0.tell(event);
    }

    fn keep(&mut self, _block: Block) -> Result<Next> {
        Ok(Next::Block)
    }
}

impl Journal<'_> {
    /// What is stored of a step on some systems.
    pub(crate) fn done_of(&self, step: StepIdx, systems: &[SystemIdx]) -> Done {
        let slices = |system: &SystemIdx| &self.cell(step, *system).slices;
        let n_blocks = systems.iter().map(|system| slices(system).len()).max().unwrap_or(0);
        let ns = |system: &SystemIdx| slices(system).iter().map(|s| s.duration_ns).sum::<u64>();
        Done {
            n_blocks: u32::try_from(n_blocks).unwrap_or(u32::MAX),
            spent: Duration::from_nanos(systems.iter().map(ns).max().unwrap_or(0)),
        }
    }
}
