//! Query plans in JSON reports.

use std::collections::BTreeSet;

use rqps_analysis::{Cell, PlanVariation};
use rqps_model::query_plan::difference::Aspect;
use rqps_model::query_plan::{Asked, PlanCounts};
use rqps_model::warning::PlanOfStarts;
use rqps_model::{PlanDifference, PlanShape, QueryPlan};
use serde::Serialize;

use super::{EstimateJson, estimate};

#[derive(Serialize)]
pub(super) struct PlanJson<'a> {
    sql: &'a str,
    asked: Asked,
    words: String,
    shape: Option<&'a PlanShape>,
    reason: &'a str,
    server_text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<PlanCounts>,
}

#[derive(Serialize)]
pub(super) struct PlanDifferenceJson<'a> {
    sql: &'a str,
    aspects: &'a BTreeSet<Aspect>,
    base: &'a str,
    system: &'a str,
}

/// A statement that starts of the server ran by different plans.
#[derive(Serialize)]
pub(super) struct PlanVariationJson<'a> {
    sql: &'a str,
    plans: Vec<PlanOfStartsJson<'a>>,
}

#[derive(Serialize)]
struct PlanOfStartsJson<'a> {
    words: String,
    shape: &'a PlanShape,
    starts: &'a [u32],
}

/// The ratio over the starts of one plan.
#[derive(Serialize)]
pub(super) struct PlanRatioJson<'a> {
    starts: &'a [u32],
    rqps: EstimateJson,
    sql: &'a str,
    base: String,
    system: String,
    is_same: bool,
}

/// The statements that the starts of a system ran by different plans.
pub(super) fn variations(variations: &[PlanVariation]) -> Vec<PlanVariationJson<'_>> {
    variations.iter().map(variation).collect()
}

fn variation(own: &PlanVariation) -> PlanVariationJson<'_> {
    PlanVariationJson { sql: &own.sql, plans: own.plans.iter().map(plan_of_starts).collect() }
}

fn plan_of_starts(own: &PlanOfStarts) -> PlanOfStartsJson<'_> {
    PlanOfStartsJson { words: own.shape.words(), shape: &own.shape, starts: &own.starts }
}

/// The ratios of a system per plan.
pub(super) fn ratios(cell: &Cell) -> Vec<PlanRatioJson<'_>> {
    let own = cell.plan_ratios().iter();
    own.map(|own| PlanRatioJson {
        starts: &own.starts,
        rqps: estimate(&own.rqps),
        sql: &own.sql,
        base: own.base.words(),
        system: own.system.words(),
        is_same: own.is_same,
    })
    .collect()
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
            counts: plan.counts,
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
