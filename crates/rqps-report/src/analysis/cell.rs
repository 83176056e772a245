//! One step on one system: its figure, its ratio to the base, and everything measured beside it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rqps_explain::{Ageing, Cause, Split};
use rqps_model::run::{Check, SystemStep};
use rqps_model::{
    Estimate, Figure, Lateness, PerOperation, Run, RunStep, Schedule, Sizes, Slice, StepOutcome,
};
use rqps_model::{StepKind, Verdict};

use super::bar::Bar;
use super::comparison::{Comparison, Judged};
use super::estimate::{self, Measured, Pair};
use super::footnote::{Book, CellMark, FootnoteKind, slice_errors};
use super::guard;
use super::imported;
use super::insert::{self, InsertCell, Sla};
use super::levels;
use super::memory;
use super::observed::OfSystem;
use super::origin::Rule;
use super::per_operation;
use super::plans;
use super::settle::Settle;
use crate::number::count;
use crate::response::ResponseTimes;

/// Whether a cell has a figure, and why not.
#[derive(Debug, Clone, PartialEq)]
pub enum CellState {
    /// It has slices.
    Measured,
    /// It was not reached.
    Pending,
    /// It failed and has no figure.
    Failed {
        /// What happened, and the end of the server's log.
        reason: String,
    },
}

/// One step on one system.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Whether there is a figure.
    pub state: CellState,
    /// Operations per second: mean over the slices; of slices of equal work, operations of all over
    /// the time of all.
    pub figure: Option<Estimate>,
    /// Operations per second of each slice, in order of time.
    pub slices: Vec<f64>,
    /// rQPS: figure over the base's figure; absent for the base.
    pub rqps: Option<Estimate>,
    /// What the rQPS says among all that were tried; absent for the base and without a ratio.
    pub verdict: Option<Verdict>,
    /// The tests behind it, and the other ratios to the base; absent for the base and without a ratio.
    pub comparison: Option<Box<Comparison>>,
    /// Metrics per operation over all slices together.
    pub per_operation: PerOperation,
    /// The time per operation against the base's, taken apart; absent for the base, where the server's
    /// processes are not known, and where it is not told which threads serve the figure's clients.
    pub split: Option<Box<Split>>,
    /// What explains a verdict of slower or faster; absent for any other.
    pub cause: Option<Box<Cause>>,
    /// How it has aged since its twin before the steps that write; absent where there is none.
    pub ageing: Option<Ageing>,
    /// These metrics relative to the base; 0/0 is 1, x/0 is infinite. Absent for the base.
    pub relative: Option<PerOperation>,
    /// Server CPU per operation over the base's, over slices as the rQPS; above 1 costs more.
    pub server_cpu_ratio: Option<Estimate>,
    /// Response times of events over all slices together.
    pub response: Option<ResponseTimes>,
    /// How a set rate was held over all slices; absent where none was set.
    pub lateness: Option<Lateness>,
    /// Operations per second in short windows.
    pub windows: Option<WindowRates>,
    /// Mean over the slices of the rate of their better windows ([`rqps_stats::steady`]), operations per
    /// second; absent where a slice has too few, or too few events in them.
    pub steady_rate: Option<f64>,
    /// Reasons for caution.
    pub marks: Vec<CellMark>,
    /// Totals over the slices.
    pub totals: Totals,
    /// Sizes after the step.
    pub sizes: Sizes,
    /// Resident memory of the server at the end of the step, bytes: one reading.
    pub server_rss_bytes: Option<u64>,
    /// The same over the base's; absent for the base.
    pub server_rss_ratio: Option<f64>,
    /// What only steps of the Insert Benchmark have.
    pub insert: Option<Box<InsertCell>>,
    /// Why there is no verdict although there is a ratio.
    pub bar: Option<Bar>,
    /// Whether the figure is an imported file's, which is shown with the file's digits.
    pub is_stated: bool,
    /// Whether this figure or the base's was imported: then a ratio has no verdict.
    pub is_imported: bool,
    /// What the server had left to do when the step ended, by name, as the server counts it.
    pub debt: BTreeMap<String, u64>,
    /// What was checked of the step's work.
    pub checks: Vec<Check>,
}

impl Cell {
    /// How the rate of background inserts was held; `None` where none was set.
    #[must_use]
    pub fn sla(&self) -> Option<&Sla> {
        self.insert.as_ref()?.sla.as_ref()
    }

    /// Whether a rate of background inserts was set and not held.
    #[must_use]
    pub fn failed_sla(&self) -> bool {
        self.sla().is_some_and(|sla| !sla.is_held)
    }

    /// Whether something bars the ratio from a verdict.
    #[must_use]
    pub fn is_barred(&self) -> bool {
        self.bar.is_some()
    }

    /// The rQPS as far as it compares like with like and was not set: `None` where it is barred.
    #[must_use]
    pub fn comparable_rqps(&self) -> Option<Estimate> {
        self.rqps.filter(|_| !self.is_barred())
    }

    /// On which side of 1 the rQPS lies beyond chance, among all that were tried and be it by less than
    /// the practical bound: `Less` is slower; `None` where it may be chance.
    #[must_use]
    pub fn direction(&self) -> Option<Ordering> {
        let rqps = self.comparison.as_ref()?.rqps;
        rqps.estimate().point.partial_cmp(&1.0).filter(|_| rqps.is_significant())
    }

    /// What would settle an unclear verdict, where that can be told.
    #[must_use]
    pub fn settle(&self) -> Option<&Settle> {
        self.comparison.as_ref()?.settle.as_ref()
    }

    /// Whether the rQPS alone is slower or faster, and not among all that were tried.
    #[must_use]
    pub fn fell_short(&self) -> bool {
        let alone = self.comparison.as_ref().and_then(|comparison| comparison.alone);
        alone.is_some_and(|alone| alone != Verdict::Unclear)
            && self.verdict == Some(Verdict::Unclear)
    }

    /// Whether a slice finished no operation, so that it has no ratio.
    #[must_use]
    pub fn did_nothing(&self) -> bool {
        self.slices.iter().any(|figure| *figure <= 0.0)
    }

    /// The checks that failed.
    pub fn failed_checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.passed)
    }
}

/// Counts over all slices of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Measured time, nanoseconds.
    pub duration_ns: u64,
    /// Events finished.
    pub n_events: u64,
    /// Statements answered.
    pub n_queries: u64,
    /// What the figure counts.
    pub n_operations: u64,
    /// Rows received.
    pub n_rows: u64,
    /// Events that met an error that is ignored and retried, of all clients.
    pub n_errors: u64,
}

/// Quantiles of the rates in windows, operations per second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WindowRates {
    /// Length of a window, nanoseconds.
    pub length_ns: u64,
    /// Number of windows.
    pub n: usize,
    /// 5% of the windows are slower.
    pub p05: f64,
    /// Half of the windows are slower.
    pub median: f64,
    /// 5% of the windows are faster.
    pub p95: f64,
}

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
            let known = step.systems.get(idx).zip(observed.get(idx));
            known.map_or_else(pending, |known| {
                measured((schedule, n_starts, of_host.get(idx) == Some(&true)), step, known, book)
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
        cell.marks.extend(varies.map(|text| book.mark(FootnoteKind::PlanVaries, text)));
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
        let Some(pair) = Pair::of(step, observed, (base_idx, idx), how) else {
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
        cell.bar = Bar::of(cell, &base);
        cell.marks.extend(rule.mark(step, idx, book));
        cell.marks.extend(pair.left_out().map(|text| book.mark(FootnoteKind::LeftOut, text)));
        if !insert::is_step(step) {
            guard::of_pair(step.info.kind, &pair, &mut cell.marks, book);
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
        marks: Vec::new(),
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

fn measured(
    (schedule, n_starts, of_host): (Schedule, u32, bool),
    step: &RunStep,
    (system, observed): (&SystemStep, &OfSystem),
    book: &mut Book,
) -> Cell {
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
    cell.marks = book.marks(&system.slices, !is_insert);
    if !is_insert {
        cell.marks.extend(guard::own(step.info.kind, (system, observed), of_host, book));
    }
    if is_insert {
        let own = insert::of(step, system, &cell);
        cell.marks.extend(insert::compare::marks(&own, book));
        cell.insert = Some(Box::new(own));
    }
    let failed: Vec<&str> = cell.failed_checks().map(|check| check.name.as_str()).collect();
    if !failed.is_empty() {
        let mark = book.mark(FootnoteKind::CheckFailed, failed.join(", "));
        cell.marks.push(mark);
    }
    let n = system.slices.len();
    match schedule {
        Schedule::Sequential { slices: wanted } => {
            let wanted = wanted.saturating_mul(n_starts);
            let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
            let once = matches!(step.info.kind, StepKind::Load | StepKind::Index);
            let lacks = !once && n < wanted;
            if system.outcome == StepOutcome::Pending || lacks {
                cell.marks.push(book.incomplete(format!("{n} of {wanted}")));
            }
        }
        // How many blocks a step has follows from its time, which is the suite's business.
        Schedule::Interleaved { .. } => {
            if system.outcome == StepOutcome::Pending {
                cell.marks.push(book.incomplete(count(n, "block")));
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
    system.slices.iter().flat_map(|s| &s.marks).find_map(|mark| match mark {
        rqps_model::Mark::Failed { reason } => Some(reason.as_str()),
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
