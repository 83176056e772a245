//! Metrics per operation of a cell, and over those of the base.

use rqps_model::{Metric, PerOperation, Slice, metric};

/// Summed usage over summed operations. A part that one slice lacks is not measured for the cell.
///
/// What a slice used in all is its metric for a single operation.
///
/// An imported file's metrics are taken as they stand there.
pub(super) fn sum(slices: &[Slice]) -> PerOperation {
    if let [Slice { stated: Some(stated), .. }] = slices {
        let values = stated.metrics.iter().map(|&(metric, value)| (metric, Some(value)));
        return PerOperation { values: values.collect() };
    }
    let n_all: u64 = slices.iter().map(|s| s.n_operations).sum();
    let values = Metric::ALL.iter().map(|&metric| {
        let total: Option<f64> = slices.iter().map(|s| metric.value(&s.usage, 1)).sum();
        let value = total.filter(|_| n_all > 0).map(|t| t / n_all as f64);
        (metric, value)
    });
    PerOperation { values: values.collect() }
}

/// The metrics over those of the base.
pub(super) fn relative(value: &PerOperation, base: &PerOperation) -> PerOperation {
    let metrics = value.values.iter().map(|(metric, _)| *metric);
    let values =
        metrics.map(|m| (m, value.get(m).zip(base.get(m)).map(|(v, b)| metric::relative(v, b))));
    PerOperation { values: values.collect() }
}
