//! Blocks during which something outside the run took the host's CPUs: they are left out of ratios.
//!
//! The evidence is the host's, never the figures': a block is disturbed when the hypervisor and other
//! processes took a tenth of the CPU time in the turns of every system. What hits the turns of one
//! system alone may be that system's doing, and stays.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::run::SystemStep;
use rqps_model::{RunStep, Slice};

use super::observed::OfSystem;
use crate::number::count;

/// Share of all CPU time, taken from every system, from which on a block is disturbed.
const TAKEN: f64 = 0.10;

/// Fewest blocks that must be left, and the least share of them: of a host that is disturbed for most
/// of the time, the quiet blocks are no fair sample.
const LEAST_BLOCKS: usize = 8;
const LEAST_SHARE: f64 = 0.5;

/// Share of the starts of the servers that must keep two blocks or more.
const LEAST_STARTS: f64 = 0.75;

/// A block: start of the servers, and number among the blocks of the step.
type Block = (u32, u32);

fn block(slice: &Slice) -> Block {
    (slice.start, slice.idx)
}

/// Whether each block is disturbed; empty unless systems took turns.
fn blocks(step: &RunStep) -> BTreeMap<Block, bool> {
    let measured = || step.systems.iter().filter(|system| !system.slices.is_empty());
    let n_systems = measured().count();
    let mut least: BTreeMap<Block, (usize, f64)> = BTreeMap::new();
    for slice in measured().flat_map(|system| &system.slices).filter(|s| s.n_rounds.is_some()) {
        let (n, share) = least.entry(block(slice)).or_insert((0, 1.0));
        (*n, *share) = (*n + 1, share.min(slice.usage.taken_share()));
    }
    let is_of_all = |n: usize| n == n_systems && n > 1;
    let disturbed = |(n, share): (usize, f64)| is_of_all(n) && share >= TAKEN;
    least.into_iter().map(|(block, found)| (block, disturbed(found))).collect()
}

/// The blocks of a step that are left out, of all systems alike; none where too few would be left, and none
/// of a fixed amount of work, of which every block is a part.
pub(super) fn left_out(step: &RunStep) -> BTreeSet<Block> {
    if step.info.has_blocks_of_work() {
        return BTreeSet::new();
    }
    let all = blocks(step);
    let mut of_starts: BTreeMap<u32, usize> = BTreeMap::new();
    for ((start, _), is_disturbed) in &all {
        *of_starts.entry(*start).or_default() += usize::from(!is_disturbed);
    }
    let n_kept: usize = of_starts.values().sum();
    let n_good = of_starts.values().filter(|n| **n > 1).count();
    let is_fair = n_kept >= LEAST_BLOCKS
        && n_kept as f64 >= LEAST_SHARE * all.len() as f64
        && n_good as f64 >= LEAST_STARTS * of_starts.len() as f64;
    let disturbed = all.into_iter().filter(|(_, is_disturbed)| *is_disturbed && is_fair);
    disturbed.map(|(block, _)| block).collect()
}

/// Whether a slice is one of these.
pub(super) fn is_among(left_out: &BTreeSet<Block>, slice: &Slice) -> bool {
    slice.n_rounds.is_some() && left_out.contains(&block(slice))
}

/// The facts of a footnote: `9 of 80 blocks, from which up to 62% of all CPU time was taken`; `None` where
/// nothing was left out.
pub(super) fn note(system: &SystemStep, observed: &OfSystem) -> Option<String> {
    let left = || {
        let slices = system.slices.iter().enumerate();
        slices.filter(|(at, _)| observed.slice(*at).is_some_and(|own| own.is_left_out))
    };
    let most = left().map(|(_, slice)| slice.usage.taken_share()).reduce(f64::max)?;
    let (n, of) = (left().count(), count(system.slices.len(), "block"));
    let most = crate::number::percent(most);
    Some(format!("{n} of {of}, from which up to {most} of all CPU time was taken"))
}
