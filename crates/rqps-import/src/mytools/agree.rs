//! Whether the metrics of a group are of its QPS.

use std::path::Path;

use rqps_model::Metric;

use super::met::Met;
use super::qps::{Qps, Row};
use super::rates::{is_other, is_within, last_digit};
use crate::Error;

/// How many rows the figure of a scan may stand for: tables have rows, thousands or millions of them.
const SCAN_UNITS: [f64; 3] = [1.0, 1e3, 1e6];

/// QPS of a step on a system, and the rate of its metrics.
struct Compared {
    label: String,
    qps: f64,
    rate: f64,
}

/// A rate that is not that of the QPS.
struct Difference {
    step: String,
    compared: Compared,
}

/// Leaves out the metrics that are of other runs than the QPS, and names them. Systems that the QPS lack are named.
pub(super) fn exclude_others(met: &mut Met, qps: &Qps, path: &Path, skipped: &mut Vec<Error>) {
    if qps.rows.is_empty() {
        return;
    }
    for label in met.labels.iter().filter(|label| !qps.labels.contains(label)) {
        let known = qps.labels.join(", ");
        let problem = format!(
            "system {label} is not in the table of QPS ({known}): its QPS are the rates of its \
             metrics (o/s)"
        );
        skipped.push(Error::file(path, problem));
    }
    let (mut n_compared, mut differences) = (0, Vec::new());
    for row in &qps.rows {
        let compared = compared(row, qps, met);
        n_compared += compared.len();
        let others = if row.step.is_scan() {
            differences_of_scan(compared, row)
        } else {
            compared.into_iter().filter(|own| is_other(own.qps, own.rate)).collect()
        };
        let step = row.step.row_name();
        differences
            .extend(others.into_iter().map(|compared| Difference { step: step.clone(), compared }));
    }
    let Some(first) = differences.first() else { return };
    if differences.len() * 2 > n_compared {
        let n = differences.len();
        let problem = format!(
            "it is from another run than the QPS: {n} of {n_compared} rates differ, for example \
             {}; make it again",
            first.told()
        );
        skipped.push(Error::file(path, problem));
        met.exclude_all(|step| qps.find_step(step).is_some());
        return;
    }
    for difference in &differences {
        let problem = format!("{}: these metrics are from another run", difference.told());
        skipped.push(Error::file(path, problem));
    }
    for row in &qps.rows {
        let name = row.step.row_name();
        let is_out = |label: &str| {
            differences.iter().any(|one| one.step == name && one.compared.label == label)
        };
        met.exclude(&row.step, is_out);
    }
}

impl Difference {
    fn told(&self) -> String {
        let Compared { label, qps, rate } = &self.compared;
        format!("step {} of {label} has {qps} QPS, but o/s {rate}", self.step)
    }
}

/// What both tables say of a step.
fn compared(row: &Row, qps: &Qps, met: &Met) -> Vec<Compared> {
    let Some(step) = met.find_step(&row.step) else { return Vec::new() };
    let of_label = |(label, value): (&String, &Option<f64>)| {
        let metrics = step.metrics_of(label);
        let (_, rate) = metrics.iter().find(|(metric, _)| *metric == Metric::Rate)?;
        Some(Compared { label: label.clone(), qps: (*value)?, rate: *rate })
    };
    qps.labels.iter().zip(&row.values).filter_map(of_label).collect()
}

/// The systems whose scan has another unit than that of most. A unit that no table names may be any.
fn differences_of_scan(compared: Vec<Compared>, row: &Row) -> Vec<Compared> {
    let last_digit = last_digit(&row.values);
    let fits = |own: &Compared, unit: f64| is_within(own.qps * unit, own.rate, last_digit * unit);
    let own_units = compared.iter().filter(|own| own.qps > 0.0).map(|own| own.rate / own.qps);
    let units: Vec<f64> = SCAN_UNITS.into_iter().chain(own_units).collect();
    let n_fitting = |unit: &f64| compared.iter().filter(|own| fits(own, *unit)).count();
    // Of units that as many systems have, the first counts.
    let best = units.iter().rev().copied().max_by_key(n_fitting).unwrap_or(1.0);
    compared.into_iter().filter(|own| !fits(own, best)).collect()
}
