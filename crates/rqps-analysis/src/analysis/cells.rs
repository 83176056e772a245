//! The cells of a step: what was measured on each system, and compared with the base.

use std::collections::BTreeMap;

use rqps_model::run::SystemStep;
use rqps_model::{
    Figure, Lateness, PerOperation, Run, RunStep, Schedule, Sizes, Slice, StepKind, StepOutcome,
    WarningKind,
};

use super::bar::Bar;
use super::cell::{Cell, CellState, Totals};
use super::comparison::{Comparison, Judged};
use super::estimate::{self, Measured, Pair};
use super::footnote::{Book, slice_errors};
use super::guard;
use super::imported;
use super::insert;
use super::levels;
use super::memory;
use super::observed::{Known, OfSystem};
use super::origin::Rule;
use super::per_operation;
use super::plans;
use super::system_pair::SystemPair;

/// The cells of one step, one per system of the run, compared with the base; their verdicts are
/// decided over the whole run ([`super::judge`]).
pub(super) fn cells(
    run: &Run,
    step: &RunStep,
    observed: &[OfSystem],
    rule: Rule<'_>,
    book: &mut Book,
) -> Vec<Cell> {
    let of_host = levels::of_host(run, step, observed, &rule);
    let mut cells: Vec<Cell> = (0..run.systems.len())
        .map(|idx| {
            let (schedule, n_starts) = rule.schedule(run, idx);
            let of_host = of_host.get(idx) == Some(&true);
            let how = Circumstances { schedule, n_starts, of_host };
            let known = step.systems.get(idx).zip(observed.get(idx));
            known.map_or_else(pending, |(system, observed)| {
                measured(how, step, Known { system, observed }, book)
            })
        })
        .enumerate()
        .map(|(idx, cell)| Cell {
            server_rss_bytes: rss(&cell, step, idx),
            is_stated: imported::is(run, idx),
            is_imported: imported::is(run, idx) || imported::is(run, rule.base),
            ..cell
        })
        .collect();
    for (idx, cell) in cells.iter_mut().enumerate().filter(|(_, cell)| cell.figure.is_some()) {
        let varies = plans::over_starts(run, step, idx);
        cell.warnings.extend(varies.map(|kind| book.warn(kind)));
    }
    insert::compare::set_levels(&mut cells);
    let base_idx = rule.base;
    let Some(base) = cells.get(base_idx).cloned() else { return cells };
    for (idx, cell) in cells.iter_mut().enumerate() {
        let is_measured = base.state == CellState::Measured && cell.state == CellState::Measured;
        if idx == base_idx || !is_measured {
            continue;
        }
        let how = rule.measured(run, idx);
        // Of two files that do not say what they count, each may count something else.
        if step.info.figure == Figure::AsStated && how == Measured::OtherRuns {
            continue;
        }
        let Some(pair) =
            Pair::of(step, observed, SystemPair { base: base_idx, candidate: idx }, how)
        else {
            continue;
        };
        cell.server_rss_ratio = cell
            .server_rss_bytes
            .zip(base.server_rss_bytes)
            .map(|(bytes, base)| bytes as f64 / base as f64);
        if let Some(rqps) = pair.rqps() {
            let comparison = Comparison::of(&pair, rqps);
            cell.rqps = Some(rqps.tested.estimate);
            cell.server_cpu_ratio = comparison.server_cpu.as_ref().map(Judged::estimate);
            cell.comparison = Some(Box::new(comparison));
        } else if cell.is_imported {
            cell.rqps = imported::ratio_of_zero(cell, &base);
        }
        cell.relative = Some(per_operation::relative(&cell.per_operation, &base.per_operation));
        insert::compare::with_base(cell, &base, book);
        cell.bar = Bar::between(cell.standing(), base.standing());
        cell.warnings.extend(rule.warning(step, idx, book));
        cell.warnings.extend(pair.excluded().map(|kind| book.warn(kind)));
        if !insert::is_step(step) {
            guard::of_pair(step.info.kind, &pair, &mut cell.warnings, book);
        }
    }
    cells
}

fn pending() -> Cell {
    Cell {
        state: CellState::Pending,
        figure: None,
        slices: Vec::new(),
        rqps: None,
        verdict: None,
        comparison: None,
        per_operation: PerOperation::default(),
        split: None,
        ageing: None,
        cause: None,
        relative: None,
        server_cpu_ratio: None,
        response: None,
        lateness: None,
        windows: None,
        steady_rate: None,
        warnings: Vec::new(),
        totals: Totals::default(),
        sizes: Sizes::default(),
        server_rss_bytes: None,
        server_rss_ratio: None,
        insert: None,
        bar: None,
        is_stated: false,
        is_imported: false,
        debt: BTreeMap::new(),
        checks: Vec::new(),
    }
}

/// Of what has a figure: a failed step's memory is not that of its work.
fn rss(cell: &Cell, step: &RunStep, idx: usize) -> Option<u64> {
    memory::at_end(step, idx).filter(|_| cell.state == CellState::Measured)
}

/// How a step was measured on a system.
#[derive(Clone, Copy)]
struct Circumstances {
    schedule: Schedule,
    n_starts: u32,
    /// Whether the host had two speeds.
    of_host: bool,
}

fn measured(how: Circumstances, step: &RunStep, known: Known<'_>, book: &mut Book) -> Cell {
    let Known { system, observed } = known;
    let mut cell = Cell {
        sizes: system.sizes,
        debt: system.debt.clone(),
        checks: system.checks.clone(),
        ..pending()
    };
    if let Some(reason) = failure(system) {
        cell.state = CellState::Failed { reason: reason.to_owned() };
        return cell;
    }
    if system.slices.is_empty() {
        return cell;
    }
    cell.state = CellState::Measured;
    cell.slices = system.slices.iter().map(Slice::figure).collect();
    cell.figure = estimate::figure(step, system);
    cell.totals = totals(&system.slices);
    cell.per_operation = per_operation::of(&system.slices);
    cell.response = observed.response.clone();
    cell.lateness = lateness(&system.slices);
    // Creating indexes is a handful of operations: its windows are empty.
    let is_index = step.info.kind == StepKind::Index;
    cell.windows = observed.windows.filter(|_| !is_index);
    let is_insert = insert::is_step(step);
    cell.steady_rate = observed.mean_steady_rate().filter(|_| !is_index);
    cell.warnings = book.of_slices(&system.slices, !is_insert);
    if !is_insert {
        cell.warnings.extend(guard::own(step.info.kind, known, how.of_host, book));
    }
    if is_insert {
        let own = insert::measured::of(step, system, &cell);
        cell.warnings.extend(insert::compare::warnings(&own, book));
        cell.insert = Some(Box::new(own));
    }
    let checks: Vec<String> = cell.failed_checks().map(|check| check.name.clone()).collect();
    if !checks.is_empty() {
        cell.warnings.push(book.warn(WarningKind::CheckFailed { checks }));
    }
    let n = system.slices.len();
    match how.schedule {
        Schedule::Sequential { slices: wanted } => {
            let wanted = wanted.saturating_mul(how.n_starts);
            let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
            let once = matches!(step.info.kind, StepKind::Load | StepKind::Index);
            let lacks = !once && n < wanted;
            if system.outcome == StepOutcome::Pending || lacks {
                let kind = WarningKind::Incomplete { n, n_planned: Some(wanted) };
                cell.warnings.push(book.warn(kind));
            }
        }
        // How many blocks a step has follows from its time, which is the suite's business.
        Schedule::Interleaved { .. } => {
            if system.outcome == StepOutcome::Pending {
                let kind = WarningKind::Incomplete { n, n_planned: None };
                cell.warnings.push(book.warn(kind));
            }
        }
    }
    cell
}

/// Why the step has no figure: its outcome, or the mark of a slice that says so.
fn failure(system: &SystemStep) -> Option<&str> {
    if let StepOutcome::Failed { reason } = &system.outcome {
        return Some(reason.as_str());
    }
    system.slices.iter().flat_map(|s| &s.warnings).find_map(|mark| match mark {
        rqps_model::WarningKind::Failed { reason } => Some(reason.as_str()),
        _ => None,
    })
}

fn totals(slices: &[Slice]) -> Totals {
    slices.iter().fold(Totals::default(), |sum, s| Totals {
        duration_ns: sum.duration_ns.saturating_add(s.duration_ns),
        n_events: sum.n_events.saturating_add(s.n_events),
        n_queries: sum.n_queries.saturating_add(s.n_queries),
        n_operations: sum.n_operations.saturating_add(s.n_operations),
        n_rows: sum.n_rows.saturating_add(s.n_rows),
        n_errors: slice_errors(s).fold(sum.n_errors, |n, e| n.saturating_add(e.n)),
    })
}

fn lateness(slices: &[Slice]) -> Option<Lateness> {
    slices.iter().filter_map(|s| s.lateness.as_ref()).fold(None, |sum, one| {
        let mut sum = sum.unwrap_or_default();
        sum.add(one);
        Some(sum)
    })
}
