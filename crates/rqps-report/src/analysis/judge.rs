//! Verdicts over a whole run: each ratio among all ratios of its kind.
//!
//! Steps that are compared are one family, filling the tables another. Cells whose insert rate was
//! not held compare unlike work and take no part.

use rqps_model::Verdict;
use rqps_stats::fdr::{self, DEFAULT_Q};
use rqps_stats::{CONFIDENCE, Tested};

use super::comparison::Comparison;
use super::settle::{self, Settle};
use super::{Cell, StepAnalysis};

/// Gives every cell its verdict for the practical bound `bound`.
pub(super) fn decide(steps: &mut [StepAnalysis<'_>], bound: f64) {
    for is_compared in [true, false] {
        let family = steps.iter_mut().filter(|step| step.is_compared() == is_compared);
        let mut cells: Vec<(f64, bool, &mut Cell)> = Vec::new();
        for step in family {
            let (block_s, is_timed) = (settle::block_s(&step.cells), settle::is_timed(&step.step));
            let open = step.cells.iter_mut().filter(|c| c.comparison.is_some() && !c.is_barred);
            cells.extend(open.map(|cell| (block_s, is_timed, cell)));
        }
        verdicts(&mut cells, bound);
        let compared = cells.iter_mut().filter_map(|(_, _, c)| c.comparison.as_deref_mut());
        others(compared.collect());
    }
}

/// The verdicts of the rQPS, and what would settle those that are unclear.
fn verdicts(cells: &mut [(f64, bool, &mut Cell)], bound: f64) {
    let ratios: Vec<Tested> = cells.iter().filter_map(|(_, _, cell)| tested(cell)).collect();
    let decisions = fdr::decisions(&ratios, bound, DEFAULT_Q);
    let n_tests = ratios.iter().filter(|ratio| ratio.p.is_some()).count();
    let n_significant = decisions.iter().filter(|d| d.is_significant).count();
    // What the next one to stand among them needs.
    let rank = (n_significant + 1).min(n_tests).max(1);
    let p_needed = (1.0 - CONFIDENCE).min(DEFAULT_Q * rank as f64 / n_tests.max(1) as f64);
    for ((block_s, is_timed, cell), decision) in cells.iter_mut().zip(decisions) {
        cell.verdict = Some(decision.verdict);
        let Some(comparison) = cell.comparison.as_deref_mut() else { continue };
        comparison.alone = Some(decision.alone);
        comparison.rqps.adjusted_p = decision.adjusted_p;
        if decision.verdict == Verdict::Unclear {
            let rule = settle::Rule { bound, p_needed, block_s: *block_s, is_timed: *is_timed };
            comparison.settle = Settle::of(&comparison.rqps.found, rule);
        }
    }
}

fn tested(cell: &Cell) -> Option<Tested> {
    cell.comparison.as_ref().map(|comparison| comparison.rqps.found.tested)
}

/// The other ratios, each kind on its own.
fn others(mut comparisons: Vec<&mut Comparison>) {
    let mut judged: Vec<_> = comparisons.iter_mut().flat_map(|c| c.others()).collect();
    let n_kinds = judged.iter().map(|(kind, _)| kind + 1).max().unwrap_or(0);
    for kind in 0..n_kinds {
        let of_kind =
            || judged.iter().filter(|(own, j)| *own == kind && j.found.tested.p.is_some());
        let p_values: Vec<f64> = of_kind().filter_map(|(_, j)| j.found.tested.p).collect();
        let mut adjusted = fdr::adjusted(&p_values).into_iter();
        for (own, judged) in &mut judged {
            if *own == kind && judged.found.tested.p.is_some() {
                judged.adjusted_p = adjusted.next();
            }
        }
    }
}
