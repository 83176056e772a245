//! How far the figures can be trusted, and what has none: sentences made from the run.

use rqps_model::{Metric, RunStatus, RunSystem, Schedule, StepKind, StepOutcome, SystemSource};

use super::{Analysis, CellState, StepAnalysis};
use crate::audit::findings::findings;
use crate::audit::{Finding, Severity};
use crate::number::count;
use crate::words::{capital, clip, list, list_in_short, one_line};

/// What must be known before any figure is read, and how many of it are severe: these come first.
pub(super) fn warnings(analysis: &Analysis<'_>) -> (Vec<String>, usize) {
    let mut findings = findings(&analysis.run.systems, &analysis.differences.audit);
    findings.extend(super::data::findings(analysis));
    let (severe, others): (Vec<_>, Vec<_>) =
        findings.iter().partition(|finding| finding.severity == Severity::Severe);
    let mut out: Vec<String> = severe.into_iter().map(Finding::sentence).collect();
    let n_severe = out.len();
    out.extend(analysis.joined.map_or_else(Vec::new, |joined| joined.warnings(analysis.base)));
    out.extend(others.into_iter().map(Finding::sentence));
    out.extend(super::page_cache::warning(&analysis.run.systems));
    out.extend(super::wall::warning(analysis));
    out.extend(injected_slowdowns(analysis));
    out.extend(altered(analysis));
    out.extend(failed_checks(analysis));
    (out, n_severe)
}

/// Systems that were slowed down on purpose.
fn injected_slowdowns(analysis: &Analysis<'_>) -> Option<String> {
    let slowed: Vec<String> = analysis
        .run
        .systems
        .iter()
        .enumerate()
        .filter(|(_, system)| system.spec.variant.injected_slowdown_bp > 0)
        .map(|(idx, system)| {
            let percent = f64::from(system.spec.variant.injected_slowdown_bp) / 100.0;
            format!("{} for {percent}% of its measured time", analysis.label(idx))
        })
        .collect();
    (!slowed.is_empty()).then(|| {
        format!(
            "Slowed down on purpose (injected_slowdown): the threads that serve the clients were stopped, of \
             {}.",
            list_in_short(&slowed)
        )
    })
}

/// Systems whose tables the plan changed once they were filled.
fn altered(analysis: &Analysis<'_>) -> Option<String> {
    let altered: Vec<String> = analysis
        .run
        .systems
        .iter()
        .enumerate()
        .filter(|(_, system)| !system.spec.variant.sql_after_load.is_empty())
        .map(|(idx, system)| {
            let statements: Vec<String> =
                system.spec.variant.sql_after_load.iter().map(|sql| clip(sql, 60)).collect();
            format!("{} ({})", analysis.label(idx), statements.join("; "))
        })
        .collect();
    (!altered.is_empty()).then(|| {
        format!(
            "Tables that the plan changed after they were filled (sql_after_load): those of {}.",
            list_in_short(&altered)
        )
    })
}

/// Steps that did other work than they should have.
fn failed_checks(analysis: &Analysis<'_>) -> Option<String> {
    let failed: Vec<String> = analysis
        .steps
        .iter()
        .flat_map(|step| step.cells.iter().enumerate().map(move |(idx, cell)| (step, idx, cell)))
        .flat_map(|(step, idx, cell)| {
            let place = format!("{} on {}", step.title, analysis.label(idx));
            cell.failed_checks()
                .map(move |check| one_line(&format!("{place}: {}, {}", check.name, check.found)))
        })
        .collect();
    (!failed.is_empty()).then(|| {
        format!(
            "Checks failed: steps did other work than they should have: {}.",
            list_in_short(&failed)
        )
    })
}

/// What the intervals contain and what they do not.
pub(super) fn caveats(analysis: &Analysis<'_>) -> Vec<String> {
    let run = analysis.run;
    let mut out = super::imported::caveats(analysis);
    if analysis.joined.is_none() && analysis.is_all_imported() {
        return out;
    }
    if run.systems.len() > 1 {
        out.push(order_of_systems(analysis));
        out.push(super::restart::caveat(analysis));
        out.extend(super::width::half_widths(analysis));
    }
    let n_intervals = analysis.n_tests();
    if n_intervals > 1 {
        out.push(format!(
            "Each of the {n_intervals} intervals is a 95% interval on its own: about one in twenty \
             misses its true value. Verdicts are adjusted for their number, intervals are not."
        ));
    }
    if analysis.steps.iter().flat_map(|s| &s.cells).any(|c| c.lateness.is_some()) {
        out.push(
            "A rate was set: QPS and their ratios say whether it was held, not what a system can \
             do; compare response times and CPU per operation."
                .to_owned(),
        );
    }
    out.extend(super::calibrated::sentence(analysis));
    out.extend(unseen_disturbance(analysis));
    out.extend(unequal_limits(analysis));
    out.extend(unequal_allocators(analysis));
    out.extend(super::own_config::sentence(analysis));
    out.extend(super::wall::sentence(analysis));
    if analysis.host().virtual_machine && !run.systems.is_empty() {
        out.push(
            "The host is a virtual machine: its neighbours can slow it down without leaving a \
             trace in its counters."
                .to_owned(),
        );
    }
    if run.n_resumed > 0 {
        let times = count(usize::try_from(run.n_resumed).unwrap_or(usize::MAX), "time");
        out.push(format!("The run was interrupted and resumed {times}."));
    }
    out
}

/// What the order in which systems were measured puts into the intervals, and what it leaves out.
fn order_of_systems(analysis: &Analysis<'_>) -> String {
    if let Some(joined) = analysis.joined {
        return joined.order();
    }
    let run = analysis.run;
    let Schedule::Interleaved { slice_ms, .. } = run.schedule else {
        return "The systems were measured one after the other: an interval holds the spread between \
                the slices of one system, not the host's drift from one system to the next."
            .to_owned();
    };
    let is_ours = |s: &RunSystem| {
        !matches!(s.spec.source, SystemSource::External { .. } | SystemSource::Builtin)
    };
    let external: Vec<String> = run
        .systems
        .iter()
        .filter(|s| matches!(s.spec.source, SystemSource::External { .. }))
        .map(|s| one_line(s.spec.label.as_str()))
        .collect();
    let stopped =
        if run.systems.iter().any(is_ours) { " Servers that waited were stopped." } else { "" };
    let but = if external.is_empty() {
        String::new()
    } else {
        format!(
            " Not so {}, which rqps does not run: what {} while waiting is in the others' figures.",
            list_in_short(&external),
            if external.len() == 1 { "it did" } else { "they did" }
        )
    };
    let turns = turns(analysis, slice_ms);
    let filling = "Filling the tables came one system after the other.";
    let indexes = "Creating indexes came one system after the other, in an order drawn at random.";
    let alone = match &analysis.insert {
        None => filling.to_owned(),
        Some(own) if own.steps.len() == analysis.steps.len() => indexes.to_owned(),
        Some(_) => format!("{filling} {indexes}"),
    };
    format!(
        "The systems took {turns} in an order drawn at random, and an interval is that \
         of the ratios of blocks measured in the same seconds: a host that becomes slower or faster \
         slows or speeds all systems alike. {alone}{stopped}{but}"
    )
}

/// How long the turns of an interleaved run are, in words. Those of the Insert Benchmark are its own:
/// rates are held by the second, and inserts are cut by their number.
pub(crate) fn turns(analysis: &Analysis<'_>, slice_ms: u32) -> String {
    let own = "of a second, or of a part of the work where that is fixed,";
    match &analysis.insert {
        None => format!("turns of {slice_ms} ms"),
        Some(tables) if tables.steps.len() == analysis.steps.len() => format!("turns {own}"),
        Some(_) => format!("turns of {slice_ms} ms, in the Insert Benchmark {own}"),
    }
}

/// Where servers were there already, their CPU time is not known, and so is that of everybody else.
fn unseen_disturbance(analysis: &Analysis<'_>) -> Option<String> {
    let systems = analysis.run.systems.iter();
    let external: Vec<String> = systems
        .filter(|s| matches!(s.spec.source, SystemSource::External { .. }))
        .map(|s| one_line(s.spec.label.as_str()))
        .collect();
    let (its, it) = if external.len() == 1 { ("its", "it") } else { ("their", "them") };
    (!external.is_empty()).then(|| {
        format!(
            "rqps did not start {}: {its} CPU time is not known, so other programs that disturbed {it} would \
             leave no warning.",
            list_in_short(&external)
        )
    })
}

/// Ratios between servers that may use different shares of the host say as much of the shares.
fn unequal_limits(analysis: &Analysis<'_>) -> Option<String> {
    let limits = || analysis.run.systems.iter().map(|s| &s.spec.variant.limits);
    let first = limits().next()?;
    let mut what = Vec::new();
    if limits().any(|l| l.cpus != first.cpus) {
        what.push("CPUs".to_owned());
    }
    if limits().any(|l| l.memory_bytes != first.memory_bytes) {
        what.push("memory".to_owned());
    }
    (!what.is_empty()).then(|| {
        format!(
            "The plan limits the systems' {} differently, so ratios between them hold that \
             difference, too.",
            list(&what)
        )
    })
}

/// Allocators that differ, by what was found in the processes, between systems of which the plan
/// asked for the same: builds bring their own.
fn unequal_allocators(analysis: &Analysis<'_>) -> Option<String> {
    let systems = &analysis.run.systems;
    let found = |system: &RunSystem| system.process.get("malloc").cloned();
    let differs = |system: &RunSystem| {
        let alike = |other: &&RunSystem| other.spec.variant.malloc == system.spec.variant.malloc;
        let others = systems.iter().filter(alike).filter_map(found);
        found(system).is_some_and(|own| others.into_iter().any(|other| other != own))
    };
    let told: Vec<String> = systems
        .iter()
        .enumerate()
        .filter(|(_, system)| differs(system))
        .filter_map(|(idx, system)| {
            Some(format!("{} has {}", analysis.label(idx), one_line(&found(system)?)))
        })
        .collect();
    (!told.is_empty()).then(|| {
        format!(
            "The allocators differ with the builds: {}; `malloc` of a plan makes them the same.",
            list_in_short(&told)
        )
    })
}

/// Steps, systems and metrics without figures.
pub(super) fn not_measured(analysis: &Analysis<'_>) -> Vec<String> {
    let mut out = Vec::new();
    let run = analysis.run;
    match run.status {
        RunStatus::Finished => {}
        RunStatus::Running => out.push("The run had not ended when it was reported.".to_owned()),
        RunStatus::Interrupted => out.push("The run was interrupted before its end.".to_owned()),
        RunStatus::Failed => out.push("An error kept the run from finishing.".to_owned()),
    }
    for idx in 0..run.systems.len() {
        let label = analysis.label(idx);
        let titles = |wanted: fn(&CellState) -> bool| -> Vec<String> {
            let is = |s: &&StepAnalysis<'_>| s.cells.get(idx).is_some_and(|c| wanted(&c.state));
            analysis.steps.iter().filter(is).map(|s| s.title.clone()).collect()
        };
        let failed = titles(|state| matches!(state, CellState::Failed { .. }));
        if !failed.is_empty() {
            out.push(format!("Failed on {label}: {}.", list_in_short(&failed)));
        }
        let is_pending =
            |s: &&StepAnalysis<'_>| s.cells.get(idx).is_some_and(|c| c.state == CellState::Pending);
        let has_step = |s: &&StepAnalysis<'_>| {
            analysis.joined.is_none_or(|joined| joined.has_step(&s.step, idx))
        };
        let (pending, absent): (Vec<_>, Vec<_>) =
            analysis.steps.iter().filter(is_pending).partition(has_step);
        let titles = |steps: Vec<&StepAnalysis<'_>>| -> Vec<String> {
            steps.iter().map(|s| s.title.clone()).collect()
        };
        if !pending.is_empty() {
            out.push(format!("Not reached on {label}: {}.", list_in_short(&titles(pending))));
        }
        if let Some(source) = analysis.joined.and_then(|joined| joined.source(idx))
            && !absent.is_empty()
        {
            out.push(format!(
                "Not measured on {label}, as run {} has no such step: {}.",
                source.id,
                list_in_short(&titles(absent))
            ));
        }
    }
    for idx in (0..run.systems.len()).filter(|&idx| !analysis.is_imported(idx)) {
        out.extend(missing_metrics(analysis, idx));
    }
    out.extend(super::imported::not_measured(analysis));
    out.extend(single_slices(analysis));
    out.extend(without_ratio(analysis));
    out.extend(failed_warm_ups(analysis));
    if !analysis.warm_ups.is_empty() {
        out.push(format!(
            "Run and left out of the tables, because they only warm caches: {}.",
            list_in_short(&analysis.warm_ups)
        ));
    }
    out
}

/// A sentence per step that warms caches and failed: it has no row in which this could stand.
fn failed_warm_ups(analysis: &Analysis<'_>) -> Vec<String> {
    let mut out = Vec::new();
    for step in analysis.run.steps.iter().filter(|s| s.info.kind == StepKind::WarmUp) {
        for (idx, system) in step.systems.iter().enumerate() {
            let StepOutcome::Failed { reason } = &system.outcome else { continue };
            let name = one_line(&step.info.name);
            let first = one_line(reason.lines().next().unwrap_or_default());
            // A log stands below the step that failed alone.
            let first = first.split("; the end of its log").next().unwrap_or_default();
            out.push(format!(
                "{name}, which warms caches, failed on {}: {first}; what follows may have begun with \
                 colder ones.",
                analysis.label(idx)
            ));
        }
    }
    out
}

/// A part of the metrics: its name, whether a cell lacks it, and why it would.
type Part = (&'static str, fn(&super::Cell) -> bool, &'static str);

/// A sentence per part of the metrics that a system lacks on any of its measured steps.
fn missing_metrics(analysis: &Analysis<'_>, idx: usize) -> Vec<String> {
    let measured: Vec<_> = analysis
        .steps
        .iter()
        .filter_map(|s| Some((s, s.cells.get(idx)?)))
        .filter(|(_, c)| c.state == CellState::Measured && c.totals.n_operations > 0)
        .collect();
    let label = analysis.label(idx);
    let parts: [Part; 3] = [
        (
            "server CPU",
            |c| c.per_operation.get(Metric::ServerCpu).is_none(),
            "the server's processes are not known to rqps",
        ),
        (
            "storage",
            |c| c.per_operation.get(Metric::Reads).is_none(),
            "the data directory has no block device of its own that can be read",
        ),
        ("response times", |c| c.response.is_none(), "a histogram is missing or cannot be read"),
    ];
    let mut out = Vec::new();
    for (what, lacks, because) in parts {
        let titles: Vec<String> =
            measured.iter().filter(|(_, c)| lacks(c)).map(|(s, _)| s.title.clone()).collect();
        if titles.is_empty() {
            continue;
        }
        let scope = if titles.len() == measured.len() {
            String::new()
        } else {
            format!(" on {}", list_in_short(&titles))
        };
        let what = capital(what);
        out.push(format!("{what} of {label} was not measured{scope}: {because}."));
    }
    out
}

fn single_slices(analysis: &Analysis<'_>) -> Option<String> {
    let single: Vec<String> = analysis
        .steps
        .iter()
        .filter(|s| s.is_compared())
        .filter(|s| {
            s.cells.iter().any(|c| c.rqps.is_some_and(|r| r.interval.is_none()) && !c.is_imported)
        })
        .map(|s| s.title.clone())
        .collect();
    (!single.is_empty()).then(|| {
        format!(
            "No interval (n=1) for {}: a ratio of single slices says nothing about its noise.",
            list_in_short(&single)
        )
    })
}

/// Steps measured on base and candidate that still have no ratio: a slice did nothing.
fn without_ratio(analysis: &Analysis<'_>) -> Option<String> {
    // A block that ratios leave out takes none away.
    let has_none = |step: &&StepAnalysis<'_>| {
        let measured = |cell: &super::Cell| cell.state == CellState::Measured;
        let lacks = |idx: usize| measured(&step.cells[idx]) && step.cells[idx].rqps.is_none();
        step.cells.iter().any(|cell| measured(cell) && cell.did_nothing())
            && (0..step.cells.len()).any(|idx| idx != analysis.base && lacks(idx))
    };
    let nothing: Vec<String> =
        analysis.steps.iter().filter(has_none).map(|step| step.title.clone()).collect();
    (!nothing.is_empty()).then(|| {
        format!("No ratio where a slice finished no operation: {}.", list_in_short(&nothing))
    })
}
