//! Ageing of steps that were measured before the steps that write and after them.

use rqps_explain::Ageing;
use rqps_explain::ageing::{Twins, after_of};
use rqps_model::{Run, RunStep};

use super::estimate::Measured;
use super::origin::Rule;
use super::{CellState, StepAnalysis};

/// Gives the cells of every step that has a twin before the writes how they have aged.
pub(super) fn ageing(run: &Run, steps: &mut [StepAnalysis<'_>], rule: Rule<'_>) {
    for at in 0..steps.len() {
        let (earlier, rest) = steps.split_at_mut(at);
        let Some(StepAnalysis { step: after, cells, .. }) = rest.first_mut() else { continue };
        let is_twin = |other: &&StepAnalysis<'_>| {
            let name = after_of(&other.step.info.name);
            name.as_deref() == Some(after.info.name.as_str()) && other.step.clients == after.clients
        };
        let Some(before) = earlier.iter().rev().find(is_twin) else { continue };
        let is_measured =
            |cell: Option<&super::Cell>| cell.is_some_and(|cell| cell.state == CellState::Measured);
        let known: Vec<bool> = (0..cells.len())
            .map(|idx| is_measured(cells.get(idx)) && is_measured(before.cells.get(idx)))
            .collect();
        for (idx, cell) in cells.iter_mut().enumerate().filter(|(idx, _)| known[*idx]) {
            let own = twins(&before.step, after, idx);
            let has_base = idx != rule.base && known.get(rule.base) == Some(&true);
            let base = twins(&before.step, after, rule.base).filter(|_| has_base);
            let is_interleaved = rule.measured(run, idx) == Measured::Interleaved;
            cell.ageing = own.and_then(|own| Ageing::of(own, base, is_interleaved));
        }
    }
}

fn twins<'s>(before: &'s RunStep, after: &'s RunStep, idx: usize) -> Option<Twins<'s>> {
    let (before, after) = (before.systems.get(idx)?, after.systems.get(idx)?);
    Some(Twins { before: &before.slices, after: &after.slices })
}
