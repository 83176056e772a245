//! Attempts at an interleaved step: on which systems, with which seeds, and who belongs together.

use std::collections::BTreeMap;
use std::time::Duration;

use rqps_model::{StepOutcome, SystemIdx, SystemStep};

use crate::engine::waiting::Brake;
use crate::plan::seed;
use crate::system_state::Member;

/// How often a step was begun on which systems.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    /// The members that have not ended it.
    pub(super) left: Vec<usize>,
    /// From 0; one more for each system that failed, and [`Self::BITS`] higher for each server.
    pub(super) n: u32,
    /// What sets its seeds apart from those of an attempt at the run that was broken off, whose writes are in
    /// the tables; 0 where none is.
    pub(super) of_run: u64,
    /// Per system that was warmed up for the step, the usual time of an event.
    pub(super) events: BTreeMap<SystemIdx, Duration>,
}

impl Attempt {
    /// Where those that servers failed in are counted: in one of them systems may fail.
    pub(super) const BITS: u32 = 8;

    /// The seed of what is drawn in it, of a step's own.
    pub(super) fn seed(&self, of_step: u64) -> u64 {
        seed::of_attempt(of_step, (self.of_run << 16) + u64::from(self.n))
    }
}

/// The members that have not done a step, each with how many slices it has of it, by who is measured together:
/// those that have as many, the ones with most first. One that was out of an attempt that was broken off has
/// none of its blocks, and what it lacks the others have.
pub(super) fn together(pending: impl IntoIterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut by_slices: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (member, n_slices) in pending {
        by_slices.entry(n_slices).or_default().push(member);
    }
    by_slices.into_values().rev().collect()
}

/// Those of the members that are not in a step: they wait throughout it. One that has ended is not looked for
/// before it has to do something, and its id may be another's.
pub(super) fn brakes_of_others<'m>(
    members: &'m [Member<'_>],
    left: &'m [usize],
) -> impl Iterator<Item = Brake> {
    let others = members.iter().enumerate().filter(|(m, _)| !left.contains(m));
    others.map(|(_, member)| member.up.freezer().filter(|_| !member.up.has_ended()))
}

/// Whether another system has ended a step with the block that is the last of this one, too. One that is
/// late, after the others have ended it, shares none with them.
pub(super) fn has_ended_partner(systems: &[SystemStep], system: SystemIdx) -> bool {
    let last = |system: &SystemStep| system.slices.last().map(|s| (s.idx, s.start_unix_ms));
    let Some(own) = last(&systems[system.0]) else { return false };
    systems.iter().any(|other| other.outcome == StepOutcome::Done && last(other) == Some(own))
}
