//! Warnings of a whole run: those to read before the results, how sure results are, and what was
//! not measured.

use rqps_model::warning::{FailedCheck, MetricsPart, Share};
use rqps_model::{
    RunStatus, RunSystem, Schedule, StepKind, StepOutcome, SystemSource, WarningKind,
};

use super::data;
use super::missing::lacks;
use super::of_systems::{of_systems, systems_with};
use super::{Analysis, Cell, CellState, StepAnalysis};
use rqps_audit::Finding;
use rqps_audit::findings::findings;
use rqps_text::words::one_line;

/// What must be known before any figure is read. What is severe comes first.
pub(super) fn before_reading(analysis: &Analysis<'_>) -> Vec<WarningKind> {
    let findings = findings(&analysis.run.systems, &analysis.differences.audit);
    let mut found: Vec<WarningKind> = super::host_busy::warning(analysis).into_iter().collect();
    found.extend(findings.into_iter().map(difference));
    found.extend(data::rows(analysis));
    found.extend(data::bytes(analysis).map(difference));
    let (mut out, others): (Vec<_>, Vec<_>) = found.into_iter().partition(WarningKind::is_severe);
    out.extend(analysis.joined.map_or_else(Vec::new, |joined| joined.warnings(analysis.base)));
    out.extend(others);
    out.extend(super::page_cache::warning(&analysis.run.systems));
    out.extend(super::wall::not_confined(analysis));
    out.extend(slowed_down(analysis));
    out.extend(altered(analysis));
    out.extend(failed_checks(analysis));
    out
}

fn difference(Finding { severity, name, text, remedy }: Finding) -> WarningKind {
    WarningKind::Difference { name, severity, text, remedy }
}

fn is_external(system: &RunSystem) -> bool {
    matches!(system.spec.source, SystemSource::External { .. })
}

/// Systems that were slowed down on purpose.
fn slowed_down(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let systems = of_systems(&analysis.run.systems, |system| {
        let bp = system.spec.variant.injected_slowdown_bp;
        (bp > 0).then(|| f64::from(bp) / 100.0)
    });
    (!systems.is_empty()).then_some(WarningKind::SlowedDown { systems })
}

/// Systems whose tables the plan changed once they were filled.
fn altered(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let systems = of_systems(&analysis.run.systems, |system| {
        let statements = &system.spec.variant.sql_after_load;
        (!statements.is_empty()).then(|| statements.clone())
    });
    (!systems.is_empty()).then_some(WarningKind::TablesAltered { systems })
}

/// Steps that did other work than they should have.
fn failed_checks(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let mut checks = Vec::new();
    for step in &analysis.steps {
        for (system, cell) in step.cells.iter().enumerate() {
            checks.extend(cell.failed_checks().map(|check| FailedCheck {
                step: step.title.clone(),
                system,
                name: check.name.clone(),
                found: check.found.clone(),
            }));
        }
    }
    (!checks.is_empty()).then_some(WarningKind::ChecksFailed { checks })
}

/// What the intervals contain and what they do not.
pub(super) fn certainty(analysis: &Analysis<'_>) -> Vec<WarningKind> {
    let run = analysis.run;
    let mut out = super::imported::certainty(analysis);
    if analysis.joined.is_none() && analysis.is_all_imported() {
        return out;
    }
    if run.systems.len() > 1 {
        out.push(order_of_systems(analysis));
        out.push(super::restart::starts(analysis));
        out.extend(super::null_arm::of_run(analysis));
        out.extend(super::width::half_widths(analysis));
    }
    let n = analysis.n_tests();
    if n > 1 {
        out.push(WarningKind::SeveralIntervals { n });
    }
    if analysis.steps.iter().flat_map(|s| &s.cells).any(|c| c.lateness().is_some()) {
        out.push(WarningKind::RateSet);
    }
    out.extend(super::calibrated::calibrated(analysis));
    let systems = systems_with(&run.systems, is_external);
    if !systems.is_empty() {
        out.push(WarningKind::NotStarted { systems });
    }
    out.extend(unequal_limits(analysis));
    out.extend(unequal_allocators(analysis));
    let systems = of_systems(&analysis.run.systems, |system| system.process.get("config").cloned());
    if !systems.is_empty() {
        out.push(WarningKind::OptionsChanged { systems });
    }
    out.extend(super::wall::confined(analysis));
    if analysis.host().virtual_machine && !run.systems.is_empty() {
        out.push(WarningKind::VirtualMachine);
    }
    if run.n_resumed > 0 {
        out.push(WarningKind::Interrupted { n: run.n_resumed });
    }
    out
}

/// The order in which systems were measured.
fn order_of_systems(analysis: &Analysis<'_>) -> WarningKind {
    if let Some(joined) = analysis.joined {
        return joined.order();
    }
    let run = analysis.run;
    let Schedule::Interleaved { slice_ms, .. } = run.schedule else {
        return WarningKind::Sequential;
    };
    let is_ours =
        |s: &RunSystem| !is_external(s) && !matches!(s.spec.source, SystemSource::Builtin);
    WarningKind::Interleaved {
        slice_ms,
        insert_steps: insert_steps(analysis),
        external: systems_with(&run.systems, is_external),
        are_stopped: run.systems.iter().any(is_ours),
    }
}

/// How many of the steps are of the Insert Benchmark.
#[must_use]
pub fn insert_steps(analysis: &Analysis<'_>) -> Share {
    match &analysis.insert {
        None => Share::None,
        Some(own) if own.steps.len() == analysis.steps.len() => Share::All,
        Some(_) => Share::Some,
    }
}

/// Ratios between servers that may use different shares of the host say as much of the shares.
fn unequal_limits(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let limits = || analysis.run.systems.iter().map(|s| &s.spec.variant.limits);
    let first = limits().next()?;
    let cpus = limits().any(|l| l.cpus != first.cpus);
    let memory = limits().any(|l| l.memory_bytes != first.memory_bytes);
    (cpus || memory).then_some(WarningKind::UnequalLimits { cpus, memory })
}

/// Allocators that were found in the processes and differ although the plan asks for the same: builds bring their
/// own.
fn unequal_allocators(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let found = |system: &RunSystem| system.process.get("malloc").cloned();
    let differs = |system: &RunSystem| {
        let alike = |other: &&RunSystem| other.spec.variant.malloc == system.spec.variant.malloc;
        let others = analysis.run.systems.iter().filter(alike).filter_map(found);
        found(system).is_some_and(|own| others.into_iter().any(|other| other != own))
    };
    let systems =
        of_systems(&analysis.run.systems, |system| found(system).filter(|_| differs(system)));
    (!systems.is_empty()).then_some(WarningKind::UnequalAllocators { systems })
}

/// Steps, systems and metrics without figures.
pub(super) fn not_measured(analysis: &Analysis<'_>) -> Vec<WarningKind> {
    let mut out = Vec::new();
    let run = analysis.run;
    if run.status != RunStatus::Finished {
        out.push(WarningKind::NotFinished { status: run.status });
    }
    (0..run.systems.len()).for_each(|system| out.extend(steps_without_figure(analysis, system)));
    for idx in (0..run.systems.len()).filter(|&idx| !analysis.is_imported(idx)) {
        out.extend(missing_metrics(analysis, idx));
    }
    out.extend(super::imported::not_measured(analysis));
    let steps = single_slices(analysis);
    if !steps.is_empty() {
        out.push(WarningKind::SingleSlices { steps });
    }
    let steps = without_ratio(analysis);
    if !steps.is_empty() {
        out.push(WarningKind::NoOperations { steps });
    }
    out.extend(failed_warm_ups(analysis));
    if !analysis.warm_ups.is_empty() {
        out.push(WarningKind::WarmUps { steps: analysis.warm_ups.clone() });
    }
    out
}

/// The steps of a system that failed, were not reached, or are none of its run's.
fn steps_without_figure(analysis: &Analysis<'_>, system: usize) -> Vec<WarningKind> {
    let with = |wanted: fn(&CellState) -> bool| {
        let steps = analysis.steps.iter();
        steps.filter(move |s| s.cells.get(system).is_some_and(|c| wanted(&c.state)))
    };
    let titles = |steps: Vec<&StepAnalysis<'_>>| -> Vec<String> {
        steps.iter().map(|s| s.title.clone()).collect()
    };
    let mut out = Vec::new();
    let failed: Vec<_> = with(|state| matches!(state, CellState::Failed { .. })).collect();
    if !failed.is_empty() {
        out.push(WarningKind::StepsFailed { system, steps: titles(failed) });
    }
    let has_step = |s: &&StepAnalysis<'_>| {
        analysis.joined.is_none_or(|joined| joined.has_step(&s.step, system))
    };
    let (pending, absent): (Vec<_>, Vec<_>) =
        with(|state| matches!(state, CellState::Pending)).partition(has_step);
    if !pending.is_empty() {
        out.push(WarningKind::StepsNotReached { system, steps: titles(pending) });
    }
    if let Some(source) = analysis.joined.and_then(|joined| joined.source(system))
        && !absent.is_empty()
    {
        let (run, steps) = (source.id.clone(), titles(absent));
        out.push(WarningKind::StepsAbsent { system, run, steps });
    }
    out
}

/// Steps that warm caches and failed: they have no row in which this could stand.
fn failed_warm_ups(analysis: &Analysis<'_>) -> Vec<WarningKind> {
    let mut out = Vec::new();
    for step in analysis.run.steps.iter().filter(|s| s.info.kind == StepKind::WarmUp) {
        for (system, state) in step.systems.iter().enumerate() {
            let StepOutcome::Failed { reason } = &state.outcome else { continue };
            // A log stands below the step that failed alone.
            let reason = one_line(reason.lines().next().unwrap_or_default());
            let step = step.info.name.clone();
            out.push(WarningKind::WarmUpFailed { step, system, reason });
        }
    }
    out
}

/// The parts of the metrics that a system lacks on any of its measured steps.
fn missing_metrics(analysis: &Analysis<'_>, system: usize) -> Vec<WarningKind> {
    let measured: Vec<_> = analysis
        .steps
        .iter()
        .filter_map(|s| Some((s, s.cells.get(system)?)))
        .filter(|(_, c)| c.totals().n_operations > 0)
        .collect();
    let parts = [MetricsPart::ServerCpu, MetricsPart::Storage, MetricsPart::ResponseTimes];
    let missing = parts.into_iter().filter_map(|part| {
        let without = measured.iter().filter(|(_, cell)| lacks(cell, part));
        let mut steps: Vec<String> = without.map(|(s, _)| s.title.clone()).collect();
        if steps.is_empty() {
            return None;
        }
        if steps.len() == measured.len() {
            steps.clear();
        }
        Some(WarningKind::MetricsMissing { system, part, steps })
    });
    missing.collect()
}

/// Compared steps with a ratio of single slices.
fn single_slices(analysis: &Analysis<'_>) -> Vec<String> {
    let is_single = |c: &Cell| c.rqps().is_some_and(|r| r.interval.is_none()) && !c.is_imported;
    let steps = analysis.steps.iter().filter(|s| s.is_compared());
    steps.filter(|s| s.cells.iter().any(is_single)).map(|s| s.title.clone()).collect()
}

/// Steps measured on base and candidate that still have no ratio: a slice did nothing.
fn without_ratio(analysis: &Analysis<'_>) -> Vec<String> {
    // A block that ratios leave out takes none away.
    let has_none = |step: &&StepAnalysis<'_>| {
        let measured = |cell: &Cell| cell.state.is_measured();
        let lacks = |idx: usize| measured(&step.cells[idx]) && step.cells[idx].rqps().is_none();
        step.cells.iter().any(|cell| measured(cell) && cell.did_nothing())
            && (0..step.cells.len()).any(|idx| idx != analysis.base && lacks(idx))
    };
    analysis.steps.iter().filter(has_none).map(|step| step.title.clone()).collect()
}
