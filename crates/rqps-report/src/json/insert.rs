//! The Insert Benchmark in JSON reports: the summary's three tables, and what its steps have beside
//! the others.

use std::collections::BTreeMap;

use rqps_model::Role;
use serde::Serialize;

use super::numbers::{LatenessJson, RatioJson};
use crate::insert::{PERCENTILES, Summary};
use crate::response::percentile_heading;
use rqps_analysis::insert::field::FIELD_METRICS;
use rqps_analysis::response::{BUCKETS, ResponseTimes};
use rqps_analysis::{Analysis, Cell, InsertCell, Sla, StepAnalysis};

/// Per step, in the order of the run: the value by system; absent where there is none.
#[derive(Serialize)]
pub(super) struct SummaryJson<'a> {
    operations_per_s: Vec<TableJson<'a>>,
    relative: Vec<TableJson<'a>>,
    inserts_per_s: Vec<TableJson<'a>>,
}

#[derive(Serialize)]
struct TableJson<'a> {
    step: &'a str,
    systems: BTreeMap<&'a str, Option<f64>>,
}

#[derive(Serialize)]
pub(super) struct InsertJson {
    level: &'static str,
    sla: Option<SlaJson>,
    metrics: BTreeMap<&'static str, Option<f64>>,
    metrics_relative: Option<BTreeMap<&'static str, Option<RatioJson>>>,
    flows: Vec<FlowJson>,
}

#[derive(Serialize)]
struct SlaJson {
    held: bool,
    target_per_s: f64,
    average_per_s: f64,
    seconds: usize,
    seconds_held: usize,
    share_held: Option<f64>,
    longest_gap_s: Option<usize>,
}

#[derive(Serialize)]
struct FlowJson {
    role: Role,
    clients: u32,
    target_per_s: Option<f64>,
    rate_per_s: f64,
    operations: Option<u64>,
    operations_per_statement: Option<f64>,
    lateness: Option<LatenessJson>,
    late_p99_ns: Option<u64>,
    own_late_p99_ns: Option<u64>,
    response_times: Option<TimesJson>,
    seconds: Vec<Vec<f64>>,
}

#[derive(Serialize)]
struct TimesJson {
    n: u64,
    min_ns: Option<u64>,
    mean_ns: Option<f64>,
    max_ns: u64,
    percentiles_ns: BTreeMap<String, Option<u64>>,
    buckets: BTreeMap<&'static str, u64>,
}

/// The three tables.
pub(super) fn summary<'a>(analysis: &'a Analysis<'_>) -> Option<SummaryJson<'a>> {
    analysis.insert.as_ref()?;
    let table = |which: Summary, value: fn(&Cell) -> Option<f64>| -> Vec<TableJson<'a>> {
        let steps = which.steps(analysis).into_iter();
        let systems = |cells: &[Cell]| {
            let by_label = |(idx, cell): (usize, &Cell)| (analysis.label(idx), value(cell));
            cells.iter().enumerate().map(by_label).collect()
        };
        steps
            .map(|(_, step)| TableJson { step: &step.title, systems: systems(&step.cells) })
            .collect()
    };
    Some(SummaryJson {
        operations_per_s: table(Summary::Absolute, |cell| cell.figure().map(|f| f.point)),
        relative: table(Summary::Relative, |cell| cell.rqps().map(|r| r.point)),
        inserts_per_s: table(Summary::Rates, |cell| cell.sla().map(|s| s.average_per_s)),
    })
}

/// What a cell of the Insert Benchmark has beside others.
pub(super) fn cell(own: &InsertCell, step: &StepAnalysis<'_>, system_idx: usize) -> InsertJson {
    let against = step.cells[system_idx].against.as_ref();
    let relative = against.and_then(|against| against.field_relative.as_ref());
    let names = || FIELD_METRICS.iter().map(|metric| metric.name);
    InsertJson {
        level: step.level(system_idx).word(),
        sla: own.sla.as_ref().map(sla),
        metrics: names().zip(own.field.values).collect(),
        metrics_relative: relative.map(|relative| {
            names().zip(relative.values.map(|value| value.map(RatioJson::from))).collect()
        }),
        flows: own
            .flows
            .iter()
            .map(|flow| FlowJson {
                role: flow.role,
                clients: flow.clients,
                target_per_s: flow.target_per_s,
                rate_per_s: flow.rate_per_s,
                operations: (!flow.is_stated).then_some(flow.n_operations),
                operations_per_statement: (!flow.is_stated).then_some(flow.per_statement),
                lateness: flow.lateness.map(LatenessJson::from),
                late_p99_ns: flow.late_p99_ns,
                own_late_p99_ns: flow.own_late_p99_ns,
                response_times: flow.response.as_ref().map(times),
                seconds: flow.seconds.clone(),
            })
            .collect(),
    }
}

fn sla(sla: &Sla) -> SlaJson {
    SlaJson {
        held: sla.is_held,
        target_per_s: sla.target_per_s,
        average_per_s: sla.average_per_s,
        seconds: sla.n_seconds,
        seconds_held: sla.n_held,
        share_held: sla.share_held(),
        longest_gap_s: sla.longest_gap(),
    }
}

fn times(times: &ResponseTimes) -> TimesJson {
    let percentile = |p: f64| (percentile_heading(p), times.percentile_ns(p));
    TimesJson {
        n: times.n,
        min_ns: times.min_ns,
        mean_ns: times.mean_ns,
        max_ns: times.max_ns,
        percentiles_ns: PERCENTILES.into_iter().map(percentile).collect(),
        buckets: BUCKETS.iter().map(|(name, _)| *name).zip(times.buckets).collect(),
    }
}
