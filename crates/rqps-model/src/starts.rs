//! Runs with several starts of the servers: a step is stored once per start, and compared over all
//! starts as one.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::query_plan::difference::aspects;
use crate::run::{Check, StartPlans, SystemStep};
use crate::{QueryPlan, Run, RunStep, Sizes, Slice, StepOutcome};

/// The steps with those of all starts joined: one for each name and number of clients, in the order of
/// the first start, its slices with their [`Slice::start`].
///
/// A step that failed on one start has failed, one that is pending on one is pending. Sizes and debt
/// are those of the last start that has them; a check has passed when it passed on every start. Steps
/// of a run with one start are borrowed as they are.
#[must_use]
pub fn joined(steps: &[RunStep]) -> Vec<Cow<'_, RunStep>> {
    if steps.iter().all(|step| step.start == 0) {
        return steps.iter().map(Cow::Borrowed).collect();
    }
    let loads = loads(steps);
    let mut groups: Vec<Vec<&RunStep>> = Vec::new();
    for step in steps {
        // A start can have a step twice: the second is joined with the second of the other starts.
        let is_same = |other: &&RunStep| {
            other.info.name == step.info.name
                && other.clients == step.clients
                && other.start != step.start
        };
        match groups.iter_mut().find(|group| group.iter().all(is_same)) {
            Some(group) => group.push(step),
            None => groups.push(vec![step]),
        }
    }
    groups.iter().filter_map(|group| join(group, &loads)).map(Cow::Owned).collect()
}

/// On which starts tables were filled.
fn loads(steps: &[RunStep]) -> BTreeSet<u32> {
    steps.iter().filter(|step| step.info.fills_tables()).map(|step| step.start).collect()
}

/// Which tables a start was measured on, from 0.
fn load_of(start: u32, loads: &BTreeSet<u32>) -> u32 {
    u32::try_from(loads.range(..=start).count()).unwrap_or(u32::MAX).saturating_sub(1)
}

impl Run {
    /// On how many starts of the servers its steps were measured, or are to be.
    #[must_use]
    pub fn n_starts(&self) -> u32 {
        let of_slices = |step: &RunStep| {
            step.systems.iter().flat_map(|s| &s.slices).map(|slice| slice.start).max().unwrap_or(0)
        };
        let last = self.steps.iter().map(|step| step.start.max(of_slices(step))).max();
        last.unwrap_or(0).saturating_add(1)
    }
}

impl Run {
    /// How often its tables were filled: once for all starts of the servers, unless the plan asks for more.
    #[must_use]
    pub fn n_loads(&self) -> u32 {
        let loads = self.steps.iter().filter(|step| step.info.fills_tables());
        let starts: BTreeSet<u32> = loads
            .flat_map(|step| {
                let slices = step.systems.iter().flat_map(|s| &s.slices);
                slices.map(|slice| step.start.max(slice.start))
            })
            .collect();
        u32::try_from(starts.len()).unwrap_or(u32::MAX).max(1)
    }
}

fn join(group: &[&RunStep], loads: &BTreeSet<u32>) -> Option<RunStep> {
    let first = group.first()?;
    let n_systems = group.iter().map(|step| step.systems.len()).max().unwrap_or(0);
    let system = |idx: usize| {
        let of_starts = group.iter().filter_map(|step| Some((step.start, step.systems.get(idx)?)));
        join_system(&of_starts.collect::<Vec<_>>(), loads)
    };
    Some(RunStep {
        info: first.info.clone(),
        clients: first.clients,
        placement: first.placement,
        start: 0,
        systems: (0..n_systems).map(system).collect(),
    })
}

fn join_system(starts: &[(u32, &SystemStep)], loads: &BTreeSet<u32>) -> SystemStep {
    let slices = |&(start, system): &(u32, &SystemStep)| -> Vec<Slice> {
        let load = load_of(start, loads);
        system.slices.iter().map(|slice| Slice { start, load, ..slice.clone() }).collect()
    };
    let sizes = starts.iter().rev().map(|(_, s)| s.sizes).find(|s| *s != Sizes::default());
    let plans_of_starts = plans_of_starts(starts);
    let debt = starts.iter().rev().map(|(_, s)| &s.debt).find(|debt| !debt.is_empty());
    let states = starts.iter().rev().map(|(_, s)| &s.table_state).find(|state| !state.is_empty());
    SystemStep {
        outcome: outcome(starts),
        slices: starts.iter().flat_map(slices).collect(),
        sizes: sizes.unwrap_or_default(),
        debt: debt.cloned().unwrap_or_default(),
        checks: checks(starts),
        plans: usual_plans(&plans_of_starts),
        plans_of_starts,
        table_state: states.cloned().unwrap_or_default(),
        recalls: starts.iter().flat_map(|(_, s)| s.recalls.clone()).collect(),
    }
}

fn plans_of_starts(starts: &[(u32, &SystemStep)]) -> Vec<StartPlans> {
    let of_start = |(start, system): &(u32, &SystemStep)| {
        let plans = system.plans.clone();
        (!plans.is_empty()).then_some(StartPlans { start: *start, plans })
    };
    starts.iter().filter_map(of_start).collect()
}

/// Of each statement the plan that most starts have, the earliest of several.
fn usual_plans(starts: &[StartPlans]) -> Vec<QueryPlan> {
    let n = starts.iter().map(|start| start.plans.len()).max().unwrap_or(0);
    let usual = |at| {
        let most = plan_groups(starts, at).into_iter().next().map(|group| group.plan);
        most.or_else(|| starts.iter().find_map(|start| start.plans.get(at)))
    };
    (0..n).filter_map(usual).cloned().collect()
}

/// A plan of a statement, and the starts that have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanGroup<'p> {
    /// As the first of the starts has it.
    pub plan: &'p QueryPlan,
    /// The starts, from 0.
    pub starts: Vec<u32>,
}

/// The plans of a statement over the starts of a server, the most frequent first, then the earliest. Starts whose
/// plan is not known are in none.
#[must_use]
pub fn plan_groups(starts: &[StartPlans], statement_idx: usize) -> Vec<PlanGroup<'_>> {
    let mut groups: Vec<PlanGroup<'_>> = Vec::new();
    let plans = starts.iter().filter_map(|s| Some((s.start, s.plans.get(statement_idx)?)));
    for (start, plan) in plans.filter(|(_, plan)| plan.shape.is_some()) {
        match groups.iter_mut().find(|group| aspects(group.plan, plan).is_empty()) {
            Some(group) => group.starts.push(start),
            None => groups.push(PlanGroup { plan, starts: vec![start] }),
        }
    }
    groups.sort_by_key(|group| Reverse(group.starts.len()));
    groups
}

fn outcome(starts: &[(u32, &SystemStep)]) -> StepOutcome {
    let failed = starts.iter().find_map(|(start, system)| match &system.outcome {
        StepOutcome::Failed { reason } => Some(format!("start {}: {reason}", start + 1)),
        StepOutcome::Pending | StepOutcome::Done => None,
    });
    match failed {
        Some(reason) => StepOutcome::Failed { reason },
        None if starts.iter().all(|(_, s)| s.outcome == StepOutcome::Done) => StepOutcome::Done,
        None => StepOutcome::Pending,
    }
}

/// One of each name: the first that failed, else the first.
fn checks(starts: &[(u32, &SystemStep)]) -> Vec<Check> {
    let mut out: Vec<Check> = Vec::new();
    for check in starts.iter().flat_map(|(_, system)| &system.checks) {
        match out.iter_mut().find(|known| known.name == check.name) {
            Some(known) if known.passed && !check.passed => known.clone_from(check),
            Some(_) => {}
            None => out.push(check.clone()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query_plan::{Access, Path, PlanKind};
    use crate::{Dbms, Figure, Group, Placement, PlanShape, StepInfo, StepKind, Usage, Windows};

    fn slice(idx: u32) -> Slice {
        Slice {
            idx,
            start: 0,
            load: 0,
            n_rounds: Some(1),
            start_unix_ms: 0,
            duration_ns: 1,
            seed: 0,
            n_events: 0,
            n_queries: 0,
            n_operations: 1,
            n_rows: 0,
            errors: Vec::new(),
            lateness: None,
            windows: Windows::default(),
            series: Vec::new(),
            response_times: Vec::new(),
            usage: Usage::default(),
            samples: Vec::new(),
            warnings: Vec::new(),
            streams: Vec::new(),
            whole_operations: None,
            counters: std::collections::BTreeMap::new(),
            stated: None,
        }
    }

    fn step(name: &str, start: u32) -> RunStep {
        let info = StepInfo {
            name: name.to_owned(),
            family: name.to_owned(),
            n: None,
            kind: StepKind::Read,
            group: Group::Point,
            figure: Figure::Queries,
            what: String::new(),
        };
        let sizes = Sizes { database_bytes: Some(u64::from(start) + 1), ..Sizes::default() };
        let outcome = StepOutcome::Done;
        let slices = vec![slice(0), slice(1)];
        let system = SystemStep { outcome, slices, sizes, ..SystemStep::pending() };
        RunStep { info, clients: 1, placement: Placement::Free, start, systems: vec![system] }
    }

    fn names(steps: &[Cow<'_, RunStep>]) -> Vec<String> {
        steps.iter().map(|s| s.info.name.clone()).collect()
    }

    #[test]
    fn one_start_stays_as_it_is() {
        let steps = [step("a", 0), step("a", 0), step("b", 0)];
        let found = joined(&steps);
        assert_eq!(names(&found), ["a", "a", "b"]);
        assert!(found.iter().all(|s| matches!(s, Cow::Borrowed(_))));
    }

    #[test]
    fn slices_of_all_starts_follow_one_another_and_know_theirs() {
        let mut steps = vec![step("a", 0), step("b", 0), step("a", 0)];
        let again: Vec<RunStep> = steps.iter().map(|s| RunStep { start: 1, ..s.clone() }).collect();
        steps.extend(again);
        steps[3].systems[0].sizes = Sizes::default();
        steps[4].systems[0].outcome = StepOutcome::Pending;
        steps[5].systems[0].outcome = StepOutcome::Failed { reason: "gone".to_owned() };
        let found = joined(&steps);
        assert_eq!(names(&found), ["a", "b", "a"]);
        let system = |at: usize| &found[at].systems[0];
        let places: Vec<(u32, u32)> =
            system(0).slices.iter().map(|slice| (slice.start, slice.idx)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        assert_eq!(system(0).sizes.database_bytes, Some(1));
        assert_eq!(system(0).outcome, StepOutcome::Done);
        assert_eq!(system(1).outcome, StepOutcome::Pending);
        let reason = "start 2: gone".to_owned();
        assert_eq!(system(2).outcome, StepOutcome::Failed { reason });
        // Joined once, nothing is left to join.
        let again: Vec<RunStep> = found.iter().map(|s| s.clone().into_owned()).collect();
        assert_eq!(joined(&again), found);
    }

    fn plan(path: Path, kind: Option<PlanKind>) -> QueryPlan {
        let (table, index) = ("sbtest1".to_owned(), None);
        let accesses = vec![Access { table, path, index, is_covering: false }];
        let shape = Some(PlanShape { accesses, kind, ..PlanShape::default() });
        let plan = QueryPlan::without(Dbms::Postgres, "SELECT 1".to_owned(), "");
        QueryPlan { shape, ..plan }
    }

    #[test]
    fn the_plan_of_most_starts_is_the_step_s() {
        let (lookup, scan) = (plan(Path::Lookup, None), plan(Path::WholeTable, None));
        let unknown = QueryPlan::without(Dbms::Postgres, "SELECT 1".to_owned(), "busy");
        let of_starts = [&unknown, &scan, &lookup, &lookup, &lookup].into_iter().zip(0..);
        let steps: Vec<RunStep> = of_starts
            .map(|(plan, start)| {
                let mut step = step("a", start);
                step.systems[0].plans = vec![plan.clone()];
                step
            })
            .collect();
        let found = joined(&steps);
        let system = &found[0].systems[0];
        assert_eq!(system.plans, [lookup]);
        let starts: Vec<Vec<u32>> =
            plan_groups(&system.plans_of_starts, 0).into_iter().map(|g| g.starts).collect();
        assert_eq!(starts, [vec![2, 3, 4], vec![1]]);
    }

    #[test]
    fn plans_of_another_kind_are_another_group() {
        let kinds = [Some(PlanKind::Custom), Some(PlanKind::Generic), None];
        let starts: Vec<StartPlans> = kinds
            .into_iter()
            .zip(0..)
            .map(|(kind, start)| StartPlans { start, plans: vec![plan(Path::Lookup, kind)] })
            .collect();
        let groups = plan_groups(&starts, 0);
        let starts: Vec<&[u32]> = groups.iter().map(|group| group.starts.as_slice()).collect();
        assert_eq!(starts, [&[0, 2][..], &[1]]);
    }

    #[test]
    fn a_check_passes_where_it_passed_on_every_start() {
        let check = |name: &str, passed: bool, found: &str| Check {
            name: name.to_owned(),
            passed,
            found: found.to_owned(),
        };
        let mut steps = [step("a", 0), step("a", 1)];
        steps[0].systems[0].checks = vec![check("rows", true, "5"), check("order", true, "")];
        steps[1].systems[0].checks = vec![check("rows", false, "4"), check("order", true, "")];
        let found = joined(&steps);
        let expected = [check("rows", false, "4"), check("order", true, "")];
        assert_eq!(found[0].systems[0].checks, expected);
    }
}
