//! Ageing of steps that were measured before the steps that write and after them.

use rqps_explain::Ageing;
use rqps_explain::ageing::{Twins, after_of};
use rqps_model::{Run, RunStep};

use super::estimate::Measured;
use super::origin::Rule;

/// A step, and on which systems it was measured.
#[derive(Debug, Clone)]
pub(super) struct MeasuredStep<'s> {
    pub(super) step: &'s RunStep,
    pub(super) is_measured: Vec<bool>,
}

/// How every step has aged on every system since its twin before the writes; nothing of a step that has none.
pub(super) fn ageings(
    run: &Run,
    steps: &[MeasuredStep<'_>],
    rule: Rule<'_>,
) -> Vec<Vec<Option<Ageing>>> {
    (1..=steps.len()).map(|n| of_last(run, &steps[..n], rule)).collect()
}

/// How the last of some steps has.
fn of_last(run: &Run, steps: &[MeasuredStep<'_>], rule: Rule<'_>) -> Vec<Option<Ageing>> {
    let Some((after, earlier)) = steps.split_last() else { return Vec::new() };
    let is_twin = |other: &&MeasuredStep<'_>| {
        let name = after_of(&other.step.info.name);
        name.as_deref() == Some(after.step.info.name.as_str())
            && other.step.clients == after.step.clients
    };
    let Some(before) = earlier.iter().rev().find(is_twin) else {
        return vec![None; after.is_measured.len()];
    };
    let is_known = |idx: usize| {
        after.is_measured.get(idx) == Some(&true) && before.is_measured.get(idx) == Some(&true)
    };
    let twins = |idx: usize| twins(before.step, after.step, idx).filter(|_| is_known(idx));
    let of_system = |idx: usize| {
        let base = twins(rule.base).filter(|_| idx != rule.base);
        let is_interleaved = rule.measured(run, idx) == Measured::Interleaved;
        twins(idx).and_then(|own| Ageing::of(own, base, is_interleaved))
    };
    (0..after.is_measured.len()).map(of_system).collect()
}

fn twins<'s>(before: &'s RunStep, after: &'s RunStep, idx: usize) -> Option<Twins<'s>> {
    let (before, after) = (before.systems.get(idx)?, after.systems.get(idx)?);
    Some(Twins { before: &before.slices, after: &after.slices })
}
