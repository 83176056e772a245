//! Query plans in JSON reports.

use std::collections::BTreeSet;

use rqps_model::query_plan::Asked;
use rqps_model::query_plan::difference::Aspect;
use rqps_model::{PlanDifference, PlanShape, QueryPlan};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct PlanJson<'a> {
    sql: &'a str,
    asked: Asked,
    words: String,
    shape: Option<&'a PlanShape>,
    reason: &'a str,
    server_text: &'a str,
}

#[derive(Serialize)]
pub(super) struct PlanDifferenceJson<'a> {
    sql: &'a str,
    aspects: &'a BTreeSet<Aspect>,
    base: &'a str,
    system: &'a str,
}

/// The plans of a step on a system.
pub(super) fn plans(plans: &[QueryPlan]) -> Vec<PlanJson<'_>> {
    plans
        .iter()
        .map(|plan| PlanJson {
            sql: &plan.sql,
            asked: plan.asked,
            words: plan.words(),
            shape: plan.shape.as_ref(),
            reason: &plan.reason,
            server_text: &plan.text,
        })
        .collect()
}

/// How they differ from the base's.
pub(super) fn difference(difference: &PlanDifference) -> Vec<PlanDifferenceJson<'_>> {
    difference
        .statements
        .iter()
        .map(|s| PlanDifferenceJson {
            sql: &s.sql,
            aspects: &s.aspects,
            base: &s.base,
            system: &s.vs,
        })
        .collect()
}
