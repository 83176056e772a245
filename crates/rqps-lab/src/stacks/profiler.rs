//! What is known of stack profiles while a run goes on.

use std::collections::BTreeSet;

use rqps_stacks::profile::{NotHad, Unwind};

use super::ability::Ability;

/// What is known of stack profiles while a run goes on.
#[derive(Debug, Default)]
pub(crate) struct Profiler {
    /// Steps and systems that have one.
    pub(super) done: BTreeSet<(usize, usize)>,
    /// What perf can do, once that was looked at.
    pub(super) ability: Option<Result<Ability, NotHad>>,
    /// How stacks are found, once that was tried: the same for all systems, so that they compare.
    pub(super) unwind: Option<Unwind>,
    /// Extra slices so far: no two may draw the same, whose updates would change nothing.
    pub(super) n_extra: u64,
}
