//! Verdicts over a whole run: each ratio among all ratios of its kind.
//!
//! Steps that are compared are one family, filling the tables another. Cells that are barred
//! ([`Bar`]) take no part, nor do figures that were imported: they have no verdict. At a set rate
//! that was held the rQPS alone takes none: response times and CPU per operation are the result.

use std::collections::BTreeMap;

use rqps_model::Verdict;
use rqps_stats::Tested;
use rqps_stats::fdr::{self, DEFAULT_Q};

use super::comparison::{Comparison, Judged};
use super::settle::{self, Settle};
use super::{Bar, Cell, StepAnalysis};

/// A cell that is to get its verdict, and what measuring its step for longer takes.
struct Open<'c> {
    cell: &'c mut Cell,
    block_s: f64,
    is_timed: bool,
}

/// Gives every cell its verdict for the practical bound `bound`.
pub(super) fn decide(steps: &mut [StepAnalysis<'_>], bound: f64) {
    for is_compared in [true, false] {
        let mut family = Vec::new();
        for step in steps.iter_mut().filter(|step| step.is_compared() == is_compared) {
            let (block_s, is_timed) = (block_s(&step.cells), settle::is_timed(&step.step));
            let is_open = |cell: &&mut Cell| is_of_like_work(cell) && !cell.is_barred();
            let cells = step.cells.iter_mut().filter(is_open);
            family.extend(cells.map(|cell| Open { cell, block_s, is_timed }));
        }
        verdicts(&mut family, bound);
        let of_family = steps.iter_mut().filter(|step| step.is_compared() == is_compared);
        let cells = of_family.flat_map(|step| &mut step.cells).filter(|cell| is_of_like_work(cell));
        others(cells.filter_map(|cell| cell.comparison.as_deref_mut()));
    }
}

/// Time of a block (sequential: slice) on all systems together, seconds.
fn block_s(cells: &[Cell]) -> f64 {
    let mean = |cell: &Cell| match cell.slices.len() {
        0 => 0.0,
        n => cell.totals.duration_ns as f64 / 1e9 / n as f64,
    };
    cells.iter().map(mean).sum()
}

/// Whether a cell has ratios that compare like with like, all measured by rqps.
fn is_of_like_work(cell: &Cell) -> bool {
    let is_other_work = matches!(cell.bar, Some(Bar::Check | Bar::Sla));
    cell.comparison.is_some() && !is_other_work && !cell.is_imported
}

/// The verdicts of the rQPS, and what would settle those that are unclear.
fn verdicts(family: &mut [Open<'_>], bound: f64) {
    let tested = |open: &Open<'_>| open.cell.comparison.as_ref().map(|c| c.rqps.found.tested);
    let ratios: Vec<Tested> = family.iter().filter_map(tested).collect();
    let decisions = fdr::decisions(&ratios, bound, DEFAULT_Q);
    let n_tests = ratios.iter().filter(|ratio| ratio.p.is_some()).count();
    let called = |d: &&fdr::Decision| matches!(d.verdict, Verdict::Slower | Verdict::Faster);
    let n_called = decisions.iter().filter(called).count();
    // What the next one to stand among them needs.
    let rank = (n_called + 1).min(n_tests);
    let p_needed = DEFAULT_Q * rank as f64 / n_tests.max(1) as f64;
    for (open, decision) in family.iter_mut().zip(decisions) {
        open.cell.verdict = Some(decision.verdict);
        let Some(comparison) = open.cell.comparison.as_deref_mut() else { continue };
        comparison.alone = Some(decision.alone);
        comparison.rqps.adjusted_p = decision.adjusted_p;
        comparison.verdict_p = decision.verdict_p;
        if decision.verdict == Verdict::Unclear {
            // Of what is measured further, as much is taken to be left out.
            let block_s = open.block_s / comparison.kept_share;
            let rule = settle::Rule { bound, p_needed, block_s, is_timed: open.is_timed };
            comparison.settle = Settle::of(&comparison.rqps.found, rule);
        }
    }
}

/// The other ratios, each kind on its own.
fn others<'c>(comparisons: impl Iterator<Item = &'c mut Comparison>) {
    let mut kinds: BTreeMap<usize, Vec<&mut Judged>> = BTreeMap::new();
    for (kind, judged) in comparisons.flat_map(Comparison::others) {
        if judged.found.tested.p.is_some() {
            kinds.entry(kind).or_default().push(judged);
        }
    }
    for of_kind in kinds.into_values() {
        let p_values: Vec<f64> = of_kind.iter().filter_map(|j| j.found.tested.p).collect();
        for (judged, p) in of_kind.into_iter().zip(fdr::adjusted(&p_values)) {
            judged.adjusted_p = Some(p);
        }
    }
}
