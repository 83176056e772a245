//! The ratio per plan, where starts of a server ran different plans of a step's statements.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use rqps_model::query_plan::difference::aspects;
use rqps_model::query_plan::kind::PlanKind;
use rqps_model::{Estimate, PlanShape, QueryPlan, RunStep};

use super::estimate::Pair;
use super::plans::StepPlans;
use super::system_pair::SystemPair;

/// The ratio over the starts on which base and candidate each had the same plans.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRatio {
    /// The starts, from 0.
    pub starts: Vec<u32>,
    /// QPS / QPS of the base.
    pub rqps: Estimate,
    /// The first statement that had several plans on one of both.
    pub sql: String,
    /// The base's plan of it.
    pub base: PlanShape,
    /// The candidate's.
    pub system: PlanShape,
    /// Whether the candidate had the base's plan of every such statement.
    pub is_same: bool,
}

/// The starts of one set of plans.
struct Group<'p> {
    starts: BTreeSet<u32>,
    /// Of each statement, base and candidate.
    plans: Vec<(&'p QueryPlan, &'p QueryPlan)>,
}

/// The ratios of a pair per plan, most starts first. None where both had one plan of each statement, where the two were
/// not measured on the same starts, and of starts that ran generic and custom plans.
pub(super) fn plan_ratios(
    step: &RunStep,
    plans: &StepPlans,
    systems: SystemPair,
    pair: &Pair<'_>,
) -> Vec<PlanRatio> {
    let SystemPair { base, candidate } = systems;
    let varying = [base, candidate].into_iter().flat_map(|idx| plans.variations_of(idx));
    let statements: BTreeSet<usize> = varying.map(|variation| variation.statement_idx).collect();
    if statements.is_empty() || !pair.is_of_one_run() {
        return Vec::new();
    }
    let mut groups = groups(step, systems, &statements);
    groups.sort_by_key(|group| Reverse(group.starts.len()));
    groups.iter().filter_map(|group| ratio(group, pair)).collect()
}

fn groups<'s>(
    step: &'s RunStep,
    systems: SystemPair,
    statements: &BTreeSet<usize>,
) -> Vec<Group<'s>> {
    let plans_of = |idx: usize, start: u32| -> Option<Vec<&'s QueryPlan>> {
        let starts = &step.systems.get(idx)?.plans_of_starts;
        let own = starts.iter().find(|own| own.start == start)?;
        let known = |&at: &usize| own.plans.get(at).filter(|plan| plan.shape.is_some());
        statements.iter().map(known).collect()
    };
    let all = step.systems.get(systems.base).map_or(&[][..], |base| &base.plans_of_starts);
    let mut groups: Vec<Group<'s>> = Vec::new();
    for start in all.iter().map(|own| own.start) {
        let both = plans_of(systems.base, start).zip(plans_of(systems.candidate, start));
        let Some((base, candidate)) = both else { continue };
        let plans: Vec<_> = base.into_iter().zip(candidate).collect();
        let kinds = plans.iter().flat_map(|(a, b)| [&a.shape, &b.shape]).flatten();
        if kinds.into_iter().any(|shape| shape.kind == Some(PlanKind::Mixed)) {
            continue;
        }
        let is_like = |group: &&mut Group<'_>| {
            let mut both = group.plans.iter().zip(&plans);
            both.all(|(a, b)| aspects(a.0, b.0).is_empty() && aspects(a.1, b.1).is_empty())
        };
        match groups.iter_mut().find(is_like) {
            Some(group) => {
                group.starts.insert(start);
            }
            None => groups.push(Group { starts: BTreeSet::from([start]), plans }),
        }
    }
    groups
}

fn ratio(group: &Group<'_>, pair: &Pair<'_>) -> Option<PlanRatio> {
    let (base, system) = group.plans.first()?;
    Some(PlanRatio {
        starts: group.starts.iter().copied().collect(),
        rqps: pair.on_starts(&group.starts).rqps()?.tested.estimate,
        sql: base.sql.clone(),
        base: base.shape.clone()?,
        system: system.shape.clone()?,
        is_same: group.plans.iter().all(|(base, system)| aspects(base, system).is_empty()),
    })
}
