//! The outcome of one step of one candidate, and why.

use rqps_model::run::Check;
use rqps_model::{StepKind, Verdict};

use super::Outcome;
use super::reason::{Fault, NoRatio, NotJudged, Unsettled, Why};
use crate::analysis::{Analysis, Bar, Cell, CellState, StepAnalysis};

/// How a step of a candidate came out.
pub(super) fn judge(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    system_idx: usize,
    allow_unfinished: bool,
) -> Outcome {
    let both = [analysis.base, system_idx];
    let state = |idx: usize| step.cells.get(idx).map(|cell| &cell.state);
    // What failed on one is an error also where the other was not reached.
    for system_idx in both {
        if let Some(CellState::Failed { reason }) = state(system_idx) {
            let reason = reason.lines().next().unwrap_or_default().to_owned();
            return Outcome::Error(Fault::Failed { system_idx, reason });
        }
    }
    for system_idx in both {
        if !state(system_idx).is_some_and(CellState::is_measured) {
            return if allow_unfinished {
                Outcome::NotReached { system_idx }
            } else {
                Outcome::Error(Fault::NotReached { system_idx })
            };
        }
    }
    for system_idx in both {
        let checks: Vec<Check> = step.cells[system_idx].failed_checks().cloned().collect();
        if !checks.is_empty() {
            return Outcome::Error(Fault::ChecksFailed { system_idx, checks });
        }
    }
    let (base, cell) = (&step.cells[analysis.base], &step.cells[system_idx]);
    if cell.is_imported {
        return Outcome::NotJudged(NotJudged::Imported);
    }
    if base.failed_sla() {
        return Outcome::Error(Fault::BaseRateNotHeld);
    }
    if cell.failed_sla() {
        return Outcome::RateNotHeld;
    }
    // Of a rate that one of both did not hold, the figures tell as they do in the report.
    if cell.bar() == Some(Bar::Rate) {
        return Outcome::NotJudged(NotJudged::SetRate);
    }
    if cell.rqps().is_none() {
        return Outcome::Error(Fault::NoRatio(NoRatio::of(base, cell)));
    }
    if cell.bar() == Some(Bar::Plans) {
        return Outcome::Unclear(Unsettled { why: Why::PlansVary, needs_starts: false });
    }
    if cell.bar() == Some(Bar::HostBusy) {
        return Outcome::Error(Fault::HostBusy);
    }
    match cell.verdict() {
        Some(Verdict::Slower) => Outcome::Slower,
        Some(Verdict::Faster) => Outcome::Faster,
        Some(Verdict::Same) => Outcome::Same,
        Some(Verdict::Unclear) => Outcome::Unclear(unsettled(step, cell)),
        None => Outcome::Error(Fault::NoVerdict),
    }
}

/// Why a verdict is unclear.
fn unsettled(step: &StepAnalysis<'_>, cell: &Cell) -> Unsettled {
    let comparison = cell.comparison();
    let has_interval = cell.rqps().is_some_and(|ratio| ratio.interval.is_some());
    let why = match cell.fallen_verdict() {
        _ if !has_interval => Why::NoInterval,
        Some(alone) => Why::Fallen { alone, p: comparison.and_then(|c| c.rqps.found.tested.p) },
        None => Why::TooWide,
    };
    // A fixed amount of work takes the time that it takes.
    let is_fixed = step.step.info.kind == StepKind::Index || step.step.info.has_blocks_of_work();
    let is_of_one_start = comparison.is_none_or(|c| c.rqps.found.starts < 2);
    Unsettled { why, needs_starts: is_fixed && is_of_one_start }
}
