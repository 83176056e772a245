//! Runs whose servers were started several times: a step is stored once for each start that it was measured on, and
//! is compared over all of them as one.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::run::{Check, SystemStep};
use crate::{Run, RunStep, Sizes, Slice, StepKind, StepOutcome};

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
    groups.iter().filter_map(|group| join(group)).map(Cow::Owned).collect()
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
        let loads = self.steps.iter().filter(|step| step.info.kind == StepKind::Load);
        let starts: BTreeSet<u32> = loads
            .flat_map(|step| {
                let slices = step.systems.iter().flat_map(|s| &s.slices);
                slices.map(|slice| step.start.max(slice.start))
            })
            .collect();
        u32::try_from(starts.len()).unwrap_or(u32::MAX).max(1)
    }
}

fn join(group: &[&RunStep]) -> Option<RunStep> {
    let first = group.first()?;
    let n_systems = group.iter().map(|step| step.systems.len()).max().unwrap_or(0);
    let system = |idx: usize| {
        let of_starts = group.iter().filter_map(|step| Some((step.start, step.systems.get(idx)?)));
        join_system(&of_starts.collect::<Vec<_>>())
    };
    Some(RunStep {
        info: first.info.clone(),
        clients: first.clients,
        placement: first.placement,
        start: 0,
        systems: (0..n_systems).map(system).collect(),
    })
}

fn join_system(starts: &[(u32, &SystemStep)]) -> SystemStep {
    let slices = |(start, system): &(u32, &SystemStep)| -> Vec<Slice> {
        system.slices.iter().map(|slice| Slice { start: *start, ..slice.clone() }).collect()
    };
    let sizes = starts.iter().rev().map(|(_, s)| s.sizes).find(|s| *s != Sizes::default());
    // Plans of the last start: those of the starts are alike, or a step's own difference tells.
    let plans = starts.iter().rev().map(|(_, s)| &s.plans).find(|plans| !plans.is_empty());
    let debt = starts.iter().rev().map(|(_, s)| &s.debt).find(|debt| !debt.is_empty());
    SystemStep {
        outcome: outcome(starts),
        slices: starts.iter().flat_map(slices).collect(),
        sizes: sizes.unwrap_or_default(),
        debt: debt.cloned().unwrap_or_default(),
        checks: checks(starts),
        plans: plans.cloned().unwrap_or_default(),
    }
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
    use crate::{Figure, Group, Placement, StepInfo, StepKind, Usage, Windows};

    fn slice(idx: u32) -> Slice {
        Slice {
            idx,
            start: 0,
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
