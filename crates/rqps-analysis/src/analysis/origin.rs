//! Which run each system of a report is of, where they are of several: what its cells are compared with
//! and how.

use rqps_model::{Calibrated, Run, RunStep, Schedule, WarningKind};

use super::estimate::Measured;
use super::footnote::{Book, CellWarning};
use super::system_pair::SystemPair;
use crate::join::Joined;

/// What cells are compared with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule<'j> {
    /// Index of the base.
    pub(super) base: usize,
    /// The runs that the systems are of, where they are of several.
    pub(super) joined: Option<&'j Joined>,
}

impl Rule<'_> {
    /// The schedule that a system was measured by.
    pub(super) fn schedule(&self, run: &Run, idx: usize) -> Schedule {
        let source = self.joined.and_then(|joined| joined.source(idx));
        source.map_or(run.schedule, |source| source.schedule)
    }

    /// The calibration of the host that a system was measured on.
    pub(super) fn calibration<'r>(&'r self, run: &'r Run, idx: usize) -> Option<&'r Calibrated> {
        let source = self.joined.and_then(|joined| joined.source(idx));
        source.map_or(&run.calibration, |source| &source.calibration).as_ref()
    }

    /// Whether two systems took turns.
    pub(super) fn are_interleaved(&self, run: &Run, a: usize, b: usize) -> bool {
        match self.joined {
            None => run.schedule.is_interleaved(),
            Some(joined) => joined.are_interleaved(a, b),
        }
    }

    /// How a system was measured beside the base.
    pub(super) fn measured(&self, run: &Run, idx: usize) -> Measured {
        let is_interleaved = self.are_interleaved(run, self.base, idx);
        match self.joined {
            Some(joined) if !joined.is_one_run(self.base, idx) => Measured::OtherRuns,
            _ if is_interleaved => Measured::Interleaved,
            _ => Measured::Sequence,
        }
    }

    /// That a system and the base are of different runs, and how these differ.
    pub(super) fn warning(
        &self,
        step: &RunStep,
        idx: usize,
        book: &mut Book,
    ) -> Option<CellWarning> {
        let joined = self.joined.filter(|joined| !joined.is_one_run(self.base, idx))?;
        let differences = joined.differences(step, SystemPair { base: self.base, candidate: idx });
        Some(book.warn(match differences.is_empty() {
            true => WarningKind::OtherRun,
            false => WarningKind::UnlikeRun { differences },
        }))
    }
}
