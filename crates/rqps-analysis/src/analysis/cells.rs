//! The cells of a run: what was measured on each system, compared with the base, judged among all ratios, and
//! explained.

use rqps_model::run::SystemStep;
use rqps_model::{Figure, Run, RunStep, Schedule, StepKind, StepOutcome, WarningKind};

use super::ageing::{self, MeasuredStep};
use super::bar::{Bar, Standing, holds_rate};
use super::cell::{Cell, CellState};
use super::comparison::{Judgement, Ratios};
use super::estimate::{Measured, Pair};
use super::explain::{Around, Explanation, Subject};
use super::footnote::{Book, CellWarning};
use super::guard;
use super::host_busy::host_busy;
use super::imported;
use super::insert;
use super::judge::{self, OpenStep};
use super::levels;
use super::measurement::Measurement;
use super::observed::{ObservedSystem, OfSystem};
use super::open_cell::{Closing, OpenAgainst, OpenCell, Ratio};
use super::origin::Rule;
use super::per_operation;
use super::plan_ratio::plan_ratios;
use super::plans::StepPlans;
use super::recall;
use super::settle;
use super::start_prior;
use super::system_pair::SystemPair;
use super::table_states;

/// A step, what its slices tell, and how the systems go about its statements.
#[derive(Clone, Copy)]
pub(super) struct ObservedStep<'s> {
    pub(super) step: &'s RunStep,
    pub(super) observed: &'s [OfSystem],
    pub(super) plans: &'s StepPlans,
    /// Whether a host that is busy with something else bars a verdict.
    pub(super) bars_busy_host: bool,
}

/// A step on a system that was measured.
#[derive(Clone, Copy)]
struct Side<'c> {
    system_idx: usize,
    system: &'c SystemStep,
    measurement: &'c Measurement,
}

/// The cells of all steps, by step and system.
pub(super) fn cells<'s>(
    around: &Around<'_>,
    steps: &[ObservedStep<'s>],
    bound: f64,
    book: &mut Book,
) -> Vec<Vec<Cell>> {
    let (run, rule) = (around.run, around.rule);
    let open = |of: &ObservedStep<'s>| OpenStep {
        cells: open_cells(run, *of, rule, book),
        is_compared: of.step.info.is_compared(),
        is_timed: settle::is_timed(of.step),
        has_loads: of.step.systems.iter().flat_map(|s| &s.slices).any(|slice| slice.load > 0),
    };
    let open: Vec<OpenStep<'s>> = steps.iter().map(open).collect();
    let judgements = judge::judge(&open, bound);
    let ageings = ageing::ageings(run, &measured_on(steps, &open), rule);
    let mut out = Vec::new();
    for (step_idx, (of, open)) in steps.iter().zip(open).enumerate() {
        let mut cells = Vec::new();
        for (system_idx, cell) in open.cells.into_iter().enumerate() {
            let judgement = &judgements[step_idx][system_idx];
            let explanation = explain(around, *of, system_idx, &cell, judgement);
            let ageing = ageings[step_idx][system_idx];
            let pair = SystemPair { base: rule.base, candidate: system_idx };
            let closing = Closing { judgement, explanation, ageing };
            cells.push(cell.close(run, of.step, pair, closing));
        }
        out.push(cells);
    }
    out
}

/// On which systems steps were measured.
fn measured_on<'s>(steps: &[ObservedStep<'s>], open: &[OpenStep<'_>]) -> Vec<MeasuredStep<'s>> {
    let is_measured = |step: &OpenStep<'_>| {
        step.cells.iter().map(|cell| cell.state.is_measured()).collect::<Vec<bool>>()
    };
    let of = |(step, open): (&ObservedStep<'s>, &OpenStep<'_>)| MeasuredStep {
        step: step.step,
        is_measured: is_measured(open),
    };
    steps.iter().zip(open).map(of).collect()
}

/// What explains the ratio of a cell, where it has one.
fn explain(
    around: &Around<'_>,
    of: ObservedStep<'_>,
    system_idx: usize,
    cell: &OpenCell<'_>,
    judgement: &Judgement,
) -> Explanation {
    let Some(against) = cell.against.as_ref().filter(|against| against.rqps().is_some()) else {
        return Explanation::default();
    };
    let verdict = judgement.decision.map(|decision| decision.verdict);
    let (ObservedStep { step, plans, .. }, pair) = (of, &against.pair);
    around.explain(Subject { step, plans, system_idx, pair, verdict })
}

/// The cells of one step, one per system of the run, compared with the base.
fn open_cells<'s>(
    run: &Run,
    of: ObservedStep<'s>,
    rule: Rule<'_>,
    book: &mut Book,
) -> Vec<OpenCell<'s>> {
    let ObservedStep { step, observed, .. } = of;
    let of_host = levels::of_host(run, step, observed, &rule);
    let known = |system_idx: usize| {
        let system = step.systems.get(system_idx)?;
        Some(ObservedSystem { system, observed: observed.get(system_idx)? })
    };
    let states: Vec<CellState> = (0..run.systems.len())
        .map(|idx| known(idx).map_or(CellState::Pending, |known| state(step, known)))
        .collect();
    let side = |system_idx: usize| match states.get(system_idx)? {
        CellState::Measured(measurement) => {
            Some(Side { system_idx, system: step.systems.get(system_idx)?, measurement })
        }
        CellState::Pending | CellState::TablesReused | CellState::Failed { .. } => None,
    };
    // Letters of footnotes go by the order of first use.
    let mut warnings: Vec<Vec<CellWarning>> = Vec::new();
    for idx in 0..states.len() {
        let schedule = rule.schedule(run, idx);
        let how = Circumstances { schedule, of_host: of_host.get(idx) == Some(&true) };
        let own = known(idx).zip(side(idx));
        warnings.push(own.map_or_else(Vec::new, |(known, own)| {
            own_warnings(how, step, known, own.measurement, book)
        }));
    }
    for (idx, warnings) in warnings.iter_mut().enumerate() {
        if side(idx).is_some_and(|own| own.measurement.figure.is_some()) {
            warnings.extend(of.plans.warning(idx).map(|kind| book.warn(kind)));
        }
    }
    let mut against = Vec::new();
    for (idx, warnings) in warnings.iter_mut().enumerate() {
        let sides = side(rule.base).zip(side(idx)).filter(|_| idx != rule.base);
        against.push(sides.and_then(|(base, own)| {
            let pair = pair(run, of, rule, idx)?;
            warnings.extend(warnings_of_pair(step, rule, base, own, book));
            warnings.extend(pair.excluded().map(|kind| book.warn(kind)));
            let differ = table_states::differ(run, step, rule.base, idx);
            warnings.extend(differ.map(|kind| book.warn(kind)));
            if !insert::is_step(step) {
                guard::of_pair(step.info.kind, &pair, warnings, book);
            }
            Some(open_against(run, of, pair, base, own))
        }));
    }
    let parts = states.into_iter().zip(warnings).zip(against);
    parts.map(|((state, warnings), against)| OpenCell { state, warnings, against }).collect()
}

/// Whether a step has a figure on a system, and what its slices give.
fn state(step: &RunStep, known: ObservedSystem<'_>) -> CellState {
    if let Some(reason) = failure(known.system) {
        CellState::Failed { reason: reason.to_owned() }
    } else if known.system.slices.is_empty() {
        let is_done = known.system.outcome == StepOutcome::Done;
        let makes_tables = step.info.fills_tables() || step.info.kind == StepKind::Index;
        if is_done && makes_tables { CellState::TablesReused } else { CellState::Pending }
    } else {
        CellState::Measured(Box::new(Measurement::of(step, known)))
    }
}

/// Why the step has no figure: its outcome, or the warning of a slice that says so.
fn failure(system: &SystemStep) -> Option<&str> {
    if let StepOutcome::Failed { reason } = &system.outcome {
        return Some(reason.as_str());
    }
    system.slices.iter().flat_map(|s| &s.warnings).find_map(|warning| match warning {
        WarningKind::Failed { reason } => Some(reason.as_str()),
        _ => None,
    })
}

/// How a step was measured on a system.
#[derive(Clone, Copy)]
struct Circumstances {
    schedule: Schedule,
    /// Whether the host had two speeds.
    of_host: bool,
}

/// What is to be said of a figure by itself.
fn own_warnings(
    how: Circumstances,
    step: &RunStep,
    known: ObservedSystem<'_>,
    measurement: &Measurement,
    book: &mut Book,
) -> Vec<CellWarning> {
    let system = known.system;
    let mut warnings = book.of_slices(&system.slices, measurement.insert.is_none());
    match &measurement.insert {
        None => warnings.extend(guard::own(step.info.kind, known, how.of_host, book)),
        Some(own) => warnings.extend(insert::compare::warnings(own, book)),
    }
    let failed = system.checks.iter().filter(|check| !check.passed);
    let checks: Vec<String> = failed.map(|check| check.name.clone()).collect();
    if !checks.is_empty() {
        warnings.push(book.warn(WarningKind::CheckFailed { checks }));
    }
    warnings.extend(incomplete(how, step, system).map(|kind| book.warn(kind)));
    warnings
}

/// That a step has fewer slices than planned.
fn incomplete(how: Circumstances, step: &RunStep, system: &SystemStep) -> Option<WarningKind> {
    let n = system.slices.len();
    let is_pending = system.outcome == StepOutcome::Pending;
    match how.schedule {
        Schedule::Sequential { slices: wanted } => {
            let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
            let once = matches!(step.info.kind, StepKind::Load | StepKind::Index);
            let lacks = !once && n < wanted;
            (is_pending || lacks).then_some(WarningKind::Incomplete { n, n_planned: Some(wanted) })
        }
        // How many blocks a step has follows from its time, which is the suite's business.
        Schedule::Interleaved { .. } => {
            is_pending.then_some(WarningKind::Incomplete { n, n_planned: None })
        }
    }
}

/// The step on base and candidate; `None` where they cannot be compared.
fn pair<'s>(run: &Run, of: ObservedStep<'s>, rule: Rule<'_>, idx: usize) -> Option<Pair<'s>> {
    let how = rule.measured(run, idx);
    // Of two files that do not say what they count, each may count something else.
    if of.step.info.figure == Figure::AsStated && how == Measured::OtherRuns {
        return None;
    }
    let systems = SystemPair { base: rule.base, candidate: idx };
    let prior = start_prior::of_pair(run, rule.calibration(run, idx), of.step, systems);
    Some(Pair::of(of.step, of.observed, systems, how)?.assuming(prior))
}

/// What must be known of a ratio by what its two sides are.
fn warnings_of_pair(
    step: &RunStep,
    rule: Rule<'_>,
    base: Side<'_>,
    own: Side<'_>,
    book: &mut Book,
) -> Vec<CellWarning> {
    let insert = base.measurement.insert.as_ref();
    let of_base = insert.and_then(|insert| insert::compare::warning_of_base(insert, book));
    of_base.into_iter().chain(rule.warning(step, own.system_idx, book)).collect()
}

/// A candidate against the base, before the run's ratios are judged together.
fn open_against<'s>(
    run: &Run,
    of: ObservedStep<'s>,
    pair: Pair<'s>,
    base: Side<'_>,
    own: Side<'_>,
) -> OpenAgainst<'s> {
    let systems = SystemPair { base: base.system_idx, candidate: own.system_idx };
    let is_imported = [base, own].iter().any(|side| imported::is(run, side.system_idx));
    let (of_base, measurement) = (base.measurement, own.measurement);
    let field = of_base.insert.as_ref().zip(measurement.insert.as_ref());
    let rss = measurement.server_rss_bytes.zip(of_base.server_rss_bytes);
    OpenAgainst {
        ratio: match pair.rqps() {
            Some(rqps) => Ratio::Tested(Box::new(Ratios::of(&pair, rqps))),
            None => {
                let of_zero = imported::ratio_of_zero(measurement, of_base);
                of_zero.filter(|_| is_imported).map_or(Ratio::None, Ratio::Zero)
            }
        },
        bar: Bar::between(own.standing(of), base.standing(of)),
        plan_ratios: plan_ratios(of.step, of.plans, systems, &pair),
        is_imported,
        relative: per_operation::relative(&measurement.per_operation, &of_base.per_operation),
        field_relative: field.map(|(base, own)| own.field.relative_to(&base.field)),
        server_rss_ratio: rss.map(|(bytes, base)| bytes as f64 / base as f64),
        pair,
    }
}

impl Side<'_> {
    /// What of it can bar its ratios.
    fn standing(&self, of: ObservedStep<'_>) -> Standing {
        let insert = self.measurement.insert.as_ref();
        let sla = insert.and_then(|insert| insert.sla);
        let all = self.measurement.lateness.as_ref().filter(|_| insert.is_none());
        Standing {
            check_failed: self.system.checks.iter().any(|check| !check.passed),
            sla_failed: sla.is_some_and(|sla| !sla.is_held),
            plans_vary: !of.plans.variations_of(self.system_idx).is_empty(),
            rate_held: all.is_some_and(|late| holds_rate(late.n_due, late.n_missed)),
            recall: recall::mean(self.system),
            host_busy: of.bars_busy_host && host_busy(self.system).is_some(),
        }
    }
}
