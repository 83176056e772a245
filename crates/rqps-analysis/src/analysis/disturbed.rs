//! Blocks during which something outside the run had the host's CPUs: ratios exclude them.
//!
//! The evidence is the host's, never the rates': a block is disturbed when the hypervisor and other
//! processes kept a fifth of the CPU time that was wanted from both systems of a pair, each in its
//! own slices. What affects the slices of one system alone may be caused by that system, and stays.
//! Blocks with a pause ([`WarningKind::Paused`]) are always excluded.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::run::SystemStep;
use rqps_model::{Estimate, Slice, WarningKind};
use rqps_stats::ratio_test;

/// Share of the CPU time that was wanted, kept from both systems, from which on a block is disturbed.
pub(super) const DENIED: f64 = 0.20;

/// Fewest blocks that must be left, and the least share of them: of a host that is disturbed for most
/// of the time, the quiet blocks are no fair sample.
const LEAST_BLOCKS: usize = 8;
const LEAST_SHARE: f64 = 0.5;

/// Blocks that a start of the servers that loses some must keep.
const LEAST_OF_START: usize = 2;

/// Significance from which on disturbed blocks count as others than those that stay (Welch's t on log
/// ratios): little evidence is enough, as what it costs to keep them is width alone.
const APART: f64 = 0.20;

/// A block: start of the servers, and number among the blocks of the step.
pub(super) type Block = (u32, u32);

pub(super) fn block(slice: &Slice) -> Block {
    (slice.start, slice.idx)
}

/// Whether rqps or its host did not run for a part of a slice.
fn is_paused(slice: &Slice) -> bool {
    slice.warnings.iter().any(|mark| matches!(mark, WarningKind::Paused { .. }))
}

/// The blocks of two systems that took turns in which nobody measured for a while; none where a start of the
/// servers would keep fewer than two others.
pub(super) fn paused(base: &SystemStep, candidate: &SystemStep) -> BTreeSet<Block> {
    let interleaved = || {
        let slices = base.slices.iter().chain(&candidate.slices);
        slices.filter(|slice| slice.n_rounds.is_some())
    };
    let all: BTreeSet<Block> = interleaved().map(block).collect();
    let paused: BTreeSet<Block> =
        interleaved().filter(|slice| is_paused(slice)).map(block).collect();
    let keeps_enough = |start: u32| {
        let kept = all.difference(&paused).filter(|block| block.0 == start);
        kept.count() >= LEAST_OF_START
    };
    if paused.iter().all(|(start, _)| keeps_enough(*start)) { paused } else { BTreeSet::new() }
}

/// The disturbed blocks of two systems that took turns; none where too few others would be left.
pub(super) fn blocks(base: &SystemStep, candidate: &SystemStep) -> BTreeSet<Block> {
    let shares = |system: &SystemStep| -> BTreeMap<Block, f64> {
        let is_fit = |slice: &&Slice| slice.n_rounds.is_some() && !is_paused(slice);
        let interleaved = system.slices.iter().filter(is_fit);
        interleaved.map(|slice| (block(slice), slice.usage.denied_share())).collect()
    };
    let of_base = shares(base);
    let both = shares(candidate).into_iter().filter_map(|(block, share)| {
        let least = of_base.get(&block)?.min(share);
        Some((block, least >= DENIED))
    });
    let all: Vec<(Block, bool)> = both.collect();
    // Of each start the blocks that it keeps and those that it loses.
    let mut of_starts: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for ((start, _), is_disturbed) in &all {
        let (kept, lost) = of_starts.entry(*start).or_default();
        *(if *is_disturbed { lost } else { kept }) += 1;
    }
    let n_kept: usize = of_starts.values().map(|(kept, _)| kept).sum();
    let is_fair = n_kept >= LEAST_BLOCKS
        && n_kept as f64 >= LEAST_SHARE * all.len() as f64
        && of_starts.values().all(|&(kept, lost)| lost == 0 || kept >= LEAST_OF_START);
    let disturbed = all.into_iter().filter(|(_, is_disturbed)| *is_disturbed && is_fair);
    disturbed.map(|(block, _)| block).collect()
}

/// Whether the ratio of the blocks that are left is one that all blocks allow: leaving out is to make
/// it narrower, never another one.
pub(super) fn agree(all: Option<Estimate>, left: Option<Estimate>) -> bool {
    let inside = |all: Estimate, left: Estimate| {
        all.interval.is_some_and(|(low, high)| (low..=high).contains(&left.point))
    };
    all.zip(left).is_some_and(|(all, left)| inside(all, left))
}

/// Whether blocks that would be left out tell of another ratio than those that stay, by their ratios: a system
/// that suffers more than the other when CPU is scarce is no noise.
pub(super) fn differ(kept: &[f64], disturbed: &[f64]) -> bool {
    let tested = ratio_test(kept, disturbed);
    tested.and_then(|tested| tested.p).is_some_and(|p| p < APART)
}

/// The warning of a system whose blocks are excluded; `None` where none is. Blocks in which nobody measured have a
/// warning of their own.
pub(super) fn excluded(system: &SystemStep, excluded: &BTreeSet<Block>) -> Option<WarningKind> {
    let is_excluded = |slice: &&Slice| excluded.contains(&block(slice)) && !is_paused(slice);
    let found = || system.slices.iter().filter(is_excluded);
    let max_lacking = found().map(|slice| slice.usage.denied_share()).reduce(f64::max)?;
    Some(WarningKind::BlocksExcluded {
        n: found().count(),
        n_blocks: system.slices.len(),
        max_lacking,
    })
}
