//! The split of each pair's time and the cause of each verdict: what `rqps-explain` makes of the slices
//! and of what else the analysis knows.

use rqps_explain::summary::{StepCause, sentences};
use rqps_explain::{Evidence, Hint, Moves, Question, Slots, Split, judge};
use rqps_model::{Dbms, Run, RunStep, RunSystem};

use super::estimate::Pair;
use super::origin::Rule;
use super::{Analysis, Differences, StepAnalysis};
use crate::audit::{Explained, Shown};
use crate::words::clip;

/// Columns that a sentence gives to a value.
const VALUE_COLUMNS: usize = 20;

/// Gives every pair of a step its split and every verdict its cause.
pub(super) fn explain(
    run: &Run,
    steps: &mut [StepAnalysis<'_>],
    rule: Rule<'_>,
    differences: &Differences,
) {
    for step in steps {
        let StepAnalysis { step, cells, .. } = step;
        for (idx, cell) in cells.iter_mut().enumerate().filter(|(idx, _)| *idx != rule.base) {
            let pair = Pair::of(step, (rule.base, idx), rule.measured(run, idx));
            let (Some(pair), Some(rqps)) = (pair, cell.rqps) else { continue };
            let sides = pair.sides();
            let split = slots(run, step, (rule.base, idx)).and_then(|n| Split::of(&sides, n));
            let Some(verdict) = cell.verdict else {
                cell.split = split.map(Box::new);
                continue;
            };
            let evidence = evidence(differences, (rule.base, idx));
            let question = Question {
                sides: &sides,
                split: split.as_ref(),
                verdict,
                rqps,
                kind: step.info.kind,
                operation: step.info.figure.operation(),
                is_comparable: is_comparable(&run.systems, (rule.base, idx)),
                evidence: &evidence,
            };
            cell.cause = judge(&question).map(Box::new);
            cell.split = split.map(Box::new);
        }
    }
}

/// How many operations of a step can be under way at once; `None` without a slice.
fn slots(run: &Run, step: &RunStep, (base, idx): (usize, usize)) -> Option<Slots> {
    let of_host = |at: usize| step.systems.get(at)?.slices.first().map(|s| s.usage.host.n_cpus);
    let limited = |at: usize| {
        let cpus = run.systems.get(at)?.spec.variant.limits.cpus.as_ref()?;
        u32::try_from(cpus.numbers().len()).ok()
    };
    // Clients of several roles work at once.
    let beside = |at: usize| -> Option<u32> {
        let slice = step.systems.get(at)?.slices.first()?;
        Some(slice.streams.iter().map(|stream| stream.clients).sum())
    };
    let clients = step.clients + beside(base)?;
    let n_cpus = of_host(base)?.min(of_host(idx)?);
    let fewest = [limited(base), limited(idx)].into_iter().flatten().min();
    let n_cpus = fewest.map_or(n_cpus, |fewest| fewest.min(n_cpus));
    Some(Slots::of(clients, step.placement, n_cpus))
}

/// Whether the servers' own counters mean the same.
fn is_comparable(systems: &[RunSystem], (base, idx): (usize, usize)) -> bool {
    let of = |at: usize| {
        let spec = &systems.get(at)?.spec;
        let is_mysql = matches!(spec.dbms, Dbms::Mysql | Dbms::Mariadb);
        Some((is_mysql, spec.engine))
    };
    of(base).is_some_and(|base| Some(base) == of(idx))
}

/// What is known beside the counters: sessions that are not alike.
fn evidence(differences: &Differences, pair: (usize, usize)) -> Evidence {
    let audit = differences.audit.session.iter().filter_map(|e| hint(e, pair)).collect();
    Evidence { audit, ..Evidence::default() }
}

/// `tls TLSv1.3 against off`.
fn hint(explained: &Explained, (base, idx): (usize, usize)) -> Option<Hint> {
    let value = |at: usize| {
        let shown: Option<&Shown> = explained.values.get(at)?.as_ref();
        shown.map(|shown| clip(&shown.text, VALUE_COLUMNS))
    };
    let (of_base, own) = (value(base), value(idx));
    if of_base == own {
        return None;
    }
    let named = |value: Option<String>| {
        value.filter(|text| !text.is_empty()).unwrap_or_else(|| "none".to_owned())
    };
    let text = format!("{} {} against {}", explained.name, named(own), named(of_base));
    let affects = |what: &str| explained.affects.iter().any(|a| a == what);
    let moves = match (affects("reads"), affects("writes")) {
        (false, true) => Moves::Writes,
        (true, false) => Moves::Reads,
        _ => Moves::All,
    };
    Some(Hint { text, moves })
}

/// The causes of all compared steps of a candidate in sentences.
pub(super) fn summary(analysis: &Analysis<'_>, system_idx: usize) -> Vec<String> {
    let compared = analysis.steps.iter().filter(|step| step.is_compared());
    let of_step = |step: &'_ StepAnalysis<'_>| -> Option<usize> {
        step.cells.get(system_idx)?.verdict.map(|_| system_idx)
    };
    let steps: Vec<StepCause<'_>> = compared
        .filter(|step| of_step(step).is_some())
        .map(|step| StepCause {
            title: &step.title,
            group: step.group(),
            operation: step.step.info.figure.operation(),
            cause: step.cells.get(system_idx).and_then(|cell| cell.cause.as_deref()),
        })
        .collect();
    sentences(&steps)
}
