//! Verdicts over a whole run: each ratio among all ratios of its kind.
//!
//! Steps that are compared, loads among them, are one family; warm-ups and the indexes of suite files another. Barred cells ([`Bar`]) and imported rates
//! have no verdict and are not counted. Where a set rate was held, only the rQPS is not counted:
//! response times and CPU per operation are the result.

use std::collections::BTreeMap;

use rqps_model::Verdict;
use rqps_stats::Tested;
use rqps_stats::fdr::{self, DEFAULT_Q};

use super::Bar;
use super::comparison::{Decision, Judgement, RatioKind, Ratios};
use super::open_cell::{OpenAgainst, OpenCell};
use super::settle::{self, Settle};

/// A step whose cells are to be judged.
pub(super) struct OpenStep<'s> {
    pub(super) cells: Vec<OpenCell<'s>>,
    /// Whether its figures count among the comparisons.
    pub(super) is_compared: bool,
    /// Whether it is measured for a set time.
    pub(super) is_timed: bool,
    /// Whether it was measured on several loads of the tables.
    pub(super) has_loads: bool,
}

/// A cell whose ratios are judged.
struct Open<'c> {
    step_idx: usize,
    system_idx: usize,
    ratios: &'c Ratios,
    bar: Option<Bar>,
}

/// What the run says of every cell, by step and system, for the practical bound `bound`.
pub(super) fn judge(steps: &[OpenStep<'_>], bound: f64) -> Vec<Vec<Judgement>> {
    let empty = |step: &OpenStep<'_>| step.cells.iter().map(|_| Judgement::default()).collect();
    let mut all: Vec<Vec<Judgement>> = steps.iter().map(empty).collect();
    for is_compared in [true, false] {
        let family = family(steps, is_compared);
        let with_verdict: Vec<&Open<'_>> =
            family.iter().filter(|open| open.bar.is_none()).collect();
        for (open, decided) in with_verdict.iter().zip(decide(steps, &with_verdict, bound)) {
            let judgement = &mut all[open.step_idx][open.system_idx];
            judgement.decision = Some(decided.decision);
            judgement.adjusted_p.extend(decided.adjusted_p.map(|p| (RatioKind::Rqps, p)));
        }
        for (open, adjusted_p) in family.iter().zip(adjust_others(&family)) {
            all[open.step_idx][open.system_idx].adjusted_p.extend(adjusted_p);
        }
    }
    all
}

/// The cells of a family that have ratios which compare like with like, all measured by rqps.
fn family<'c>(steps: &'c [OpenStep<'_>], is_compared: bool) -> Vec<Open<'c>> {
    let mut out = Vec::new();
    let of_family = steps.iter().enumerate().filter(|(_, step)| step.is_compared == is_compared);
    for (step_idx, step) in of_family {
        for (system_idx, cell) in step.cells.iter().enumerate() {
            let Some(against) = cell.against.as_ref().filter(|a| is_of_like_work(a)) else {
                continue;
            };
            let Some(ratios) = against.ratios() else { continue };
            out.push(Open { step_idx, system_idx, ratios, bar: against.bar });
        }
    }
    out
}

fn is_of_like_work(against: &OpenAgainst<'_>) -> bool {
    !matches!(against.bar, Some(Bar::Check | Bar::Sla | Bar::Plans)) && !against.is_imported
}

/// Time of a block (sequential: slice) on all systems together, seconds.
fn block_s(cells: &[OpenCell<'_>]) -> f64 {
    let mean = |cell: &OpenCell<'_>| match cell.measurement() {
        None => 0.0,
        Some(own) => own.totals.duration_ns as f64 / 1e9 / own.slices.len() as f64,
    };
    cells.iter().map(mean).sum()
}

/// What the rQPS of a cell says, and its adjusted p-value.
struct Decided {
    decision: Decision,
    adjusted_p: Option<f64>,
}

/// What the rQPS of each of the cells says, and what would settle those that are unclear.
fn decide(steps: &[OpenStep<'_>], cells: &[&Open<'_>], bound: f64) -> Vec<Decided> {
    let ratios: Vec<Tested> = cells.iter().map(|open| open.ratios.rqps.tested).collect();
    let decisions = fdr::decisions(&ratios, bound, DEFAULT_Q);
    let n_tests = ratios.iter().filter(|ratio| ratio.p.is_some()).count();
    let called = |d: &&fdr::Decision| matches!(d.verdict, Verdict::Slower | Verdict::Faster);
    let n_called = decisions.iter().filter(called).count();
    // What the next one to stand among them needs.
    let rank = (n_called + 1).min(n_tests);
    let p_needed = DEFAULT_Q * rank as f64 / n_tests.max(1) as f64;
    let decided = |(open, found): (&&Open<'_>, fdr::Decision)| {
        let step = &steps[open.step_idx];
        let settle = || {
            // Of what is measured further, as much is taken to be left out.
            let block_s = block_s(&step.cells) / open.ratios.kept_share;
            let OpenStep { is_timed, has_loads, .. } = *step;
            let rule = settle::Rule { bound, p_needed, block_s, is_timed, has_loads };
            Settle::of(&open.ratios.rqps, rule)
        };
        let is_unclear = found.verdict == Verdict::Unclear;
        let decision = Decision {
            verdict: found.verdict,
            alone: found.alone,
            verdict_p: found.verdict_p,
            settle: if is_unclear { settle() } else { None },
        };
        Decided { decision, adjusted_p: found.adjusted_p }
    };
    cells.iter().zip(decisions).map(decided).collect()
}

/// The adjusted p-values of the other ratios of each of the cells, each kind on its own.
fn adjust_others(cells: &[Open<'_>]) -> Vec<BTreeMap<RatioKind, f64>> {
    let mut kinds: BTreeMap<RatioKind, Vec<(usize, f64)>> = BTreeMap::new();
    for (at, open) in cells.iter().enumerate() {
        for (kind, p) in open.ratios.other_p_values() {
            kinds.entry(kind).or_default().push((at, p));
        }
    }
    let mut out = vec![BTreeMap::new(); cells.len()];
    for (kind, found) in kinds {
        let p_values: Vec<f64> = found.iter().map(|(_, p)| *p).collect();
        for ((at, _), p) in found.into_iter().zip(fdr::adjusted(&p_values)) {
            out[at].insert(kind, p);
        }
    }
    out
}
