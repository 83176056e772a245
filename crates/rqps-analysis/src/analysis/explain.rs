//! The split of each pair's time and the cause of each verdict: what `rqps-explain` makes of the slices
//! and of what else the analysis knows.

use rqps_explain::summary::{StepCause, sentences};
use rqps_explain::{Cause, Evidence, Hint, Moves, Question, Slots, Split, judge};
use rqps_model::query_plan::difference::{Aspect, StatementDifference};
use rqps_model::{Estimate, PlanDifference, Run, RunStep, RunSystem, StepKind, Verdict};

use super::estimate::Pair;
use super::origin::Rule;
use super::system_pair::SystemPair;
use super::{Analysis, Cell, StepPlans};
use crate::join::Machine;
use rqps_audit::{Audit, Choice, Explained, Severity, Shown};
use rqps_text::number::count;
use rqps_text::words::clip;

/// Facts of builds that must not be measured, beside optimisation, of which nothing is known of most.
const UNFIT: [&str; 3] = ["debug", "assertions", "sanitizer"];

/// Columns that a sentence gives to a value.
const VALUE_COLUMNS: usize = 20;

/// Columns that it gives to the name of a setting.
const NAME_COLUMNS: usize = 40;

/// Columns that it gives to a query plan.
const PLAN_COLUMNS: usize = 60;

/// Settings that a cause's sentence names; more are counted.
const MOST_HINTS: usize = 3;

/// What stands around the steps of a run.
pub(super) struct Around<'r> {
    pub(super) run: &'r Run,
    pub(super) rule: Rule<'r>,
    /// Per system how what it runs with differs from the base's.
    hints: Vec<Vec<Explained>>,
}

impl<'r> Around<'r> {
    pub(super) fn of(run: &'r Run, rule: Rule<'r>) -> Self {
        let hints = (0..run.systems.len())
            .map(|idx| hints(&run.systems, SystemPair { base: rule.base, candidate: idx }));
        Self { run, rule, hints: hints.collect() }
    }
}

/// A candidate's step against the base's, to be explained.
#[derive(Clone, Copy)]
pub(super) struct Subject<'s> {
    pub(super) step: &'s RunStep,
    pub(super) plans: &'s StepPlans,
    pub(super) system_idx: usize,
    pub(super) pair: &'s Pair<'s>,
    pub(super) rqps: Estimate,
    /// Where there is none, there is no cause.
    pub(super) verdict: Option<Verdict>,
}

/// What explains a ratio to the base.
#[derive(Debug, Default)]
pub(super) struct Explanation {
    /// The time per operation taken apart.
    pub(super) split: Option<Box<Split>>,
    /// What explains the verdict.
    pub(super) cause: Option<Box<Cause>>,
}

impl Around<'_> {
    /// Explains a ratio. `off_cpu` tells where a slower system's threads waited longer than the base's, or a
    /// faster one's less long, where that was looked at.
    pub(super) fn explain(&self, of: Subject<'_>, off_cpu: Option<String>) -> Explanation {
        let Subject { step, plans, system_idx, pair, rqps, verdict } = of;
        let Self { run, rule, hints } = self;
        let sides = pair.sides();
        let split = slots(run, step, rule, system_idx).and_then(|n| Split::of(&sides, n));
        let cause = verdict.and_then(|verdict| {
            let differences = hints.get(system_idx).map_or(&[][..], Vec::as_slice);
            let of_plans = plans.differences.get(system_idx).and_then(Option::as_ref);
            let evidence = Evidence {
                plans: of_plans.map_or_else(Vec::new, told),
                audit: told_in_short(differences, step.info.kind),
                off_cpu,
            };
            let systems = SystemPair { base: rule.base, candidate: system_idx };
            judge(&Question {
                sides: &sides,
                split: split.as_ref(),
                verdict,
                rqps,
                kind: step.info.kind,
                operation: step.info.figure.operation(),
                is_comparable: is_comparable(&run.systems, systems),
                unlike: unlike(rule, system_idx),
                evidence: &evidence,
            })
        });
        Explanation { split: split.map(Box::new), cause: cause.map(Box::new) }
    }
}

/// How many operations of a step can be under way at once; `None` without a slice.
fn slots(run: &Run, step: &RunStep, rule: &Rule<'_>, idx: usize) -> Option<Slots> {
    let base = rule.base;
    let of_host = |at: usize| step.systems.get(at)?.slices.first().map(|s| s.usage.host.n_cpus);
    let limited = |at: usize| {
        let cpus = run.systems.get(at)?.spec.variant.limits.cpus.as_ref()?;
        u32::try_from(cpus.numbers().len()).ok()
    };
    // Clients of several roles work at once; those at a rate have no part in the figure's operations.
    let beside = |at: usize| -> Option<u32> {
        let streams = &step.systems.get(at)?.slices.first()?.streams;
        let is_rated = streams.iter().any(|stream| stream.target_per_s.is_some());
        Some(if is_rated { 0 } else { streams.iter().map(|stream| stream.clients).sum() })
    };
    let clients = step.clients + beside(base)?;
    let n_cpus = of_host(base)?.min(of_host(idx)?);
    let fewest = [limited(base), limited(idx)].into_iter().flatten().min();
    let n_cpus = fewest.map_or(n_cpus, |fewest| fewest.min(n_cpus));
    // /proc/stat counts the CPUs that rqps must not use as well.
    let host = |at: usize| rule.joined?.source(at).map(|source| &source.host);
    let hosts = host(idx).into_iter().chain([host(base).unwrap_or(&run.host)]);
    let allowed = hosts.map(|host| host.n_cpus);
    let n_cpus = allowed.filter(|n| *n > 0).fold(n_cpus, u32::min);
    Some(Slots::of(clients, step.placement, n_cpus))
}

/// How the machines differ that base and system were measured on.
fn unlike(rule: &Rule<'_>, idx: usize) -> Option<&'static str> {
    let source = |at: usize| rule.joined?.source(at);
    let (base, own) = (&source(rule.base)?.host, &source(idx)?.host);
    if Machine::of(base) != Machine::of(own) {
        return Some("measured on different hosts");
    }
    (base.kernel != own.kernel).then_some("measured on different kernels")
}

/// Whether the servers' own counters mean the same.
fn is_comparable(systems: &[RunSystem], pair: SystemPair) -> bool {
    let of = |at: usize| {
        let spec = &systems.get(at)?.spec;
        Some((spec.dbms.family(), spec.engine))
    };
    of(pair.base).is_some_and(|base| Some(base) == of(pair.candidate))
}

/// The plans whose way to the rows, or whose index, is another one than the base's: `full scan in place of
/// range on k_1`. What they sort, and what comes with a version, moves a figure too little to be its cause.
fn told(difference: &PlanDifference) -> Vec<String> {
    let is_access = |s: &&StatementDifference| {
        s.aspects.iter().any(|aspect| matches!(aspect, Aspect::Path | Aspect::Index))
    };
    if !difference.is_of_access() {
        return Vec::new();
    }
    let text = |s: &StatementDifference| {
        format!("{} in place of {}", clip(&s.vs, PLAN_COLUMNS), clip(&s.base, PLAN_COLUMNS))
    };
    difference.statements.iter().filter(is_access).map(text).collect()
}

/// How a system's session differs from the base's, and in which settings and builds severely so.
fn hints(systems: &[RunSystem], pair: SystemPair) -> Vec<Explained> {
    let (Some(of_base), Some(own)) = (systems.get(pair.base), systems.get(pair.candidate)) else {
        return Vec::new();
    };
    if pair.base == pair.candidate {
        return Vec::new();
    }
    // Of these two alone: what weighs much between others is nothing to them.
    let audit = Audit::of(&[of_base.clone(), own.clone()]);
    let is_severe = |e: &Explained| e.severity == Severity::Severe;
    let is_of_session = |e: &Explained| audit.session.iter().any(|own| own.name == e.name);
    let settings = audit.settings.iter().filter(|e| is_severe(e) && !is_of_session(e));
    let all = audit.session.iter().chain(settings).cloned();
    all.chain(of_builds(of_base, own)).collect()
}

/// What one of two builds has and must not: see [`rqps_audit::severe`].
fn of_builds(base: &RunSystem, own: &RunSystem) -> Vec<Explained> {
    let is_unlike = |name: &&&str| base.build.get(**name) != own.build.get(**name);
    let shown = |system: &RunSystem, name: &str| {
        let text = system.build.get(name).cloned().unwrap_or_else(|| "off".to_owned());
        Some(Shown { text, source: None, is_implied: false })
    };
    let explained = |name: &str| Explained {
        name: format!("build with {name}"),
        group: "build".to_owned(),
        affects: vec!["all".to_owned()],
        values: vec![shown(base, name), shown(own, name)],
        why: String::new(),
        choice: Choice::Mixed,
        severity: Severity::Severe,
    };
    UNFIT.iter().filter(is_unlike).map(|name| explained(name)).collect()
}

/// The differences that can move a step of a kind; of many the first.
fn told_in_short(differences: &[Explained], kind: StepKind) -> Vec<Hint> {
    let mut hints: Vec<Hint> = differences.iter().filter_map(|e| hint(e, kind)).collect();
    let n_more = hints.len().saturating_sub(MOST_HINTS);
    if n_more > 0 {
        hints.truncate(MOST_HINTS);
        let text = format!("{} more", count(n_more, "difference"));
        hints.push(Hint { text, moves: Moves::All });
    }
    hints
}

/// `tls TLSv1.3 against off`, of a difference between the base and one other; `None` where it can move
/// no step of this kind.
fn hint(explained: &Explained, kind: StepKind) -> Option<Hint> {
    let affects = |what: &str| explained.affects.iter().any(|a| a == what);
    let is_read = kind == StepKind::Read;
    let (own, others) = if is_read {
        (["reads", "scans"], ["writes", "loads"])
    } else {
        (["writes", "loads"], ["reads", "scans"])
    };
    let moves_this = affects("all") || own.into_iter().any(affects);
    if !moves_this && others.into_iter().any(affects) {
        return None;
    }
    let value = |at: usize| {
        let shown: Option<&Shown> = explained.values.get(at)?.as_ref();
        shown.map(|shown| clip(&shown.text, VALUE_COLUMNS))
    };
    let named = |value: Option<String>| {
        value.filter(|text| !text.is_empty()).unwrap_or_else(|| "none".to_owned())
    };
    let (of_base, own) = (named(value(0)), named(value(1)));
    let text = format!("{} {own} against {of_base}", clip(&explained.name, NAME_COLUMNS));
    // What moves nothing but writes is about what commits wait for.
    let is_of_writes = explained.affects.iter().all(|a| a == "writes" || a == "loads");
    let moves = if is_of_writes { Moves::Writes } else { Moves::All };
    (own != of_base).then_some(Hint { text, moves })
}

/// The causes of all compared steps of a candidate in sentences.
pub(super) fn summary(analysis: &Analysis<'_>, system_idx: usize) -> Vec<String> {
    let compared = analysis.steps.iter().filter(|step| step.is_compared());
    // Steps without a verdict are among them: nothing is said of all of a group without those.
    let steps: Vec<StepCause<'_>> = compared
        .map(|step| StepCause {
            title: &step.title,
            group: step.group(),
            operation: step.step.info.figure.operation(),
            cause: step.cells.get(system_idx).and_then(Cell::cause),
        })
        .collect();
    sentences(&steps)
}
