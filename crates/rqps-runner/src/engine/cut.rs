//! How a step is cut into blocks, and blocks into slices.

mod counted;
mod timed;

use std::time::Duration;

use rqps_load::{PlaceInBlock, Stop};
use rqps_model::{Schedule, StepKind};

pub(crate) use counted::CountedCut;
pub(crate) use timed::TimedCut;

use crate::plan::steps::{Job, PlannedStep};

/// How a step is cut into blocks and slices, and when it is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Short slices, as many of them in a block as its measured time takes.
    Timed(TimedCut),
    /// Blocks of a number of slices that is known before.
    Counted(CountedCut),
}

/// What is done of a step: by an attempt that was interrupted, or in which a system failed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Done {
    /// Blocks.
    pub(crate) n_blocks: u32,
    /// What they took on the system with the longest.
    pub(crate) spent: Duration,
}

impl Cut {
    /// A step that is measured by a plan's schedule.
    pub(crate) fn of_step(planned: &PlannedStep, schedule: Schedule) -> Self {
        match (&planned.job, schedule) {
            (Job::Insert { step, args }, _) => {
                Self::Counted(CountedCut::of(step, args, schedule, planned.n_shares))
            }
            (Job::File { args, .. }, _) if planned.fills() => {
                Self::Counted(CountedCut::of_load(args, planned.clients))
            }
            (Job::File { .. } | Job::Vector { .. }, _) if planned.makes_tables() => {
                Self::Counted(CountedCut::alone(1, Duration::ZERO))
            }
            (Job::File { .. } | Job::Vector { .. }, Schedule::Interleaved { .. })
                if planned.info.kind != StepKind::WarmUp =>
            {
                Self::timed(planned, schedule, planned.time(schedule))
            }
            (Job::File { step, args, .. }, _) => {
                let n_slices = planned.n_slices(schedule.slices());
                Self::Counted(CountedCut::alone(n_slices, step.slice_time(args)))
            }
            (Job::Vector { args, .. }, _) => {
                let n_slices = planned.n_slices(schedule.slices());
                Self::Counted(CountedCut::alone(n_slices, args.read))
            }
        }
    }

    /// A step of an interleaved schedule that is measured for `total` on each system.
    pub(crate) fn timed(planned: &PlannedStep, schedule: Schedule, total: Duration) -> Self {
        let slice = schedule.slice().unwrap_or(total);
        let may_end = schedule.half_width().is_some();
        Self::Timed(TimedCut::of(total, slice, may_end, planned.n_shares))
    }

    /// Blocks of the step, at most.
    pub(crate) fn n_blocks(&self) -> u32 {
        match self {
            Self::Timed(cut) => cut.n_blocks,
            Self::Counted(cut) => cut.n_blocks,
        }
    }

    /// Whether a step is over after so much of it.
    pub(crate) fn is_over(&self, done: Done) -> bool {
        match self {
            Self::Timed(cut) => cut.is_over(done.n_blocks, done.spent),
            Self::Counted(cut) => done.n_blocks >= cut.n_blocks,
        }
    }

    /// When a slice ends, the `nth` of a block.
    pub(super) fn stop(&self, block: u32, nth: u32) -> Stop {
        match self {
            Self::Timed(cut) => Stop::Time(cut.slice),
            Self::Counted(cut) => cut.stop(block, nth),
        }
    }

    /// Whether a block has all of its slices, after `n_rounds` of one slice of each system, of which the one with
    /// the least has been measured for `least_ns`.
    pub(super) fn has_all(&self, block: u32, n_rounds: u32, least_ns: u64) -> bool {
        match self {
            Self::Timed(cut) => least_ns >= cut.enough_ns(),
            Self::Counted(cut) => n_rounds >= cut.slices_of(block),
        }
    }
}

/// A slice by itself, whose rates have a clock of its own.
pub(crate) const ALONE: PlaceInBlock = PlaceInBlock { is_first: true, is_last: true };
