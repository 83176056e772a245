//! Extra slices in which the stacks of servers are recorded.

pub(crate) mod ability;
mod counting;
pub(crate) mod extra;
mod perf;
pub(crate) mod record;
pub(crate) mod unwind;
