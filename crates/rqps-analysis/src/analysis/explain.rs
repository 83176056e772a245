//! The split of each pair's time and the cause of each verdict: what `rqps-explain` makes of the slices
//! and of what else the analysis knows.

use rqps_audit::{Audit, Explained, Severity, Shown};
use rqps_explain::{Cause, Question, Reason, Slots, Split, judge};
use rqps_model::query_plan::difference::{Aspect, StatementDifference};
use rqps_model::{PlanDifference, Run, RunStep, RunSystem, StepKind, Verdict};

use super::StepPlans;
use super::estimate::Pair;
use super::evidence::{Differing, Evidence, Hint, Moves};
use super::origin::Rule;
use super::system_pair::SystemPair;
use crate::join::Machine;

/// Facts of builds that must not be measured, beside optimisation, of which nothing is known of most.
const UNFIT: [&str; 3] = ["debug", "assertions", "sanitizer"];

/// What stands around the steps of a run.
pub(super) struct Around<'r> {
    pub(super) run: &'r Run,
    pub(super) rule: Rule<'r>,
    /// Per system how what it runs with differs from the base's.
    differences: Vec<Differences>,
}

/// How what a system runs with differs from the base's.
#[derive(Debug, Default)]
struct Differences {
    /// Its session, and in severe settings.
    settings: Vec<Explained>,
    /// Its build.
    builds: Vec<Hint>,
}

impl<'r> Around<'r> {
    pub(super) fn of(run: &'r Run, rule: Rule<'r>) -> Self {
        let differences = (0..run.systems.len())
            .map(|idx| differences(&run.systems, SystemPair { base: rule.base, candidate: idx }));
        Self { run, rule, differences: differences.collect() }
    }
}

/// A candidate's step against the base's, to be explained.
#[derive(Clone, Copy)]
pub(super) struct Subject<'s> {
    pub(super) step: &'s RunStep,
    pub(super) plans: &'s StepPlans,
    pub(super) system_idx: usize,
    pub(super) pair: &'s Pair<'s>,
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
    /// What was found beside the counters.
    pub(super) evidence: Evidence,
}

impl Around<'_> {
    /// Explains a ratio.
    pub(super) fn explain(&self, of: Subject<'_>) -> Explanation {
        let Subject { step, plans, system_idx, pair, verdict } = of;
        let Self { run, rule, differences } = self;
        let sides = pair.sides();
        let split = slots(run, step, rule, system_idx).and_then(|n| Split::of(&sides, n));
        let Some(verdict) = verdict else {
            return Explanation { split: split.map(Box::new), ..Explanation::default() };
        };
        let of_plans = plans.differences.get(system_idx).and_then(Option::as_ref);
        let kind = step.info.kind;
        let evidence = Evidence {
            plan: of_plans.and_then(other_access).cloned(),
            hints: differences.get(system_idx).map_or_else(Vec::new, |found| hints(found, kind)),
            off_cpu: None,
        };
        let systems = SystemPair { base: rule.base, candidate: system_idx };
        let cause = judge(&Question {
            sides: &sides,
            split: split.as_ref(),
            verdict,
            kind,
            figure: step.info.figure,
            is_comparable: is_comparable(&run.systems, systems),
            unlike: unlike(rule, system_idx),
            has_other_plan: evidence.plan.is_some(),
        });
        Explanation { split: split.map(Box::new), cause: cause.map(Box::new), evidence }
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
fn unlike(rule: &Rule<'_>, idx: usize) -> Option<Reason> {
    let source = |at: usize| rule.joined?.source(at);
    let (base, own) = (&source(rule.base)?.host, &source(idx)?.host);
    if Machine::of(base) != Machine::of(own) {
        return Some(Reason::OtherHosts);
    }
    (base.kernel != own.kernel).then_some(Reason::OtherKernels)
}

/// Whether the servers' own counters mean the same.
fn is_comparable(systems: &[RunSystem], pair: SystemPair) -> bool {
    let of = |at: usize| {
        let spec = &systems.get(at)?.spec;
        Some((spec.dbms.family(), spec.engine))
    };
    of(pair.base).is_some_and(|base| Some(base) == of(pair.candidate))
}

/// The first statement whose way to the rows, or whose index, is another one than the base's. What plans sort, and
/// what comes with a version, moves a figure too little to be its cause.
fn other_access(difference: &PlanDifference) -> Option<&StatementDifference> {
    let is_access = |s: &&StatementDifference| {
        s.aspects.iter().any(|aspect| matches!(aspect, Aspect::Path | Aspect::Index))
    };
    difference.statements.iter().find(is_access).filter(|_| difference.is_of_access())
}

/// How a system's session differs from the base's, and in which settings and builds severely so.
fn differences(systems: &[RunSystem], pair: SystemPair) -> Differences {
    let (Some(of_base), Some(own)) = (systems.get(pair.base), systems.get(pair.candidate)) else {
        return Differences::default();
    };
    if pair.base == pair.candidate {
        return Differences::default();
    }
    // Of these two alone: what weighs much between others is nothing to them.
    let audit = Audit::of(&[of_base.clone(), own.clone()]);
    let is_severe = |e: &Explained| e.severity == Severity::Severe;
    let is_of_session = |e: &Explained| audit.session.iter().any(|own| own.name == e.name);
    let settings = audit.settings.iter().filter(|e| is_severe(e) && !is_of_session(e));
    let settings = audit.session.iter().chain(settings).cloned().collect();
    Differences { settings, builds: of_builds(of_base, own) }
}

/// What one of two builds has and must not: see [`rqps_audit::severe`].
fn of_builds(base: &RunSystem, own: &RunSystem) -> Vec<Hint> {
    let hint = |name: &'static str| Hint {
        what: Differing::Build(name),
        base: base.build.get(name).cloned(),
        own: own.build.get(name).cloned(),
        moves: Moves::All,
    };
    UNFIT.into_iter().map(hint).filter(|hint| hint.base != hint.own).collect()
}

/// The differences that can move a step of a kind.
fn hints(of: &Differences, kind: StepKind) -> Vec<Hint> {
    let settings = of.settings.iter().filter_map(|explained| hint(explained, kind));
    settings.chain(of.builds.iter().cloned()).collect()
}

/// A difference between the base and one other; `None` where it can move no step of this kind.
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
        shown.map(|shown| shown.text.clone())
    };
    // What moves nothing but writes is about what commits wait for.
    let is_of_writes = explained.affects.iter().all(|a| a == "writes" || a == "loads");
    let moves = if is_of_writes { Moves::Writes } else { Moves::All };
    let what = Differing::Setting(explained.name.clone());
    Some(Hint { what, base: value(0), own: value(1), moves })
}
