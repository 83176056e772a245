//! Parts of the metrics that a cell lacks.

use rqps_model::Metric;
use rqps_model::warning::MetricsPart;

use super::Cell;

/// Whether a cell lacks a part of the metrics.
pub(super) fn lacks(cell: &Cell, part: MetricsPart) -> bool {
    match part {
        MetricsPart::ServerCpu => cell.per_operation(Metric::ServerCpu).is_none(),
        MetricsPart::Storage => cell.per_operation(Metric::Reads).is_none(),
        MetricsPart::ResponseTimes => cell.response().is_none(),
        MetricsPart::Memory => cell.server_rss_bytes().is_none(),
        MetricsPart::PerOperation => {
            cell.measurement().is_some_and(|own| own.per_operation.values.is_empty())
        }
        MetricsPart::Sizes => cell.sizes.database_bytes.is_none(),
    }
}

/// The parts that none of some imported cells has.
pub(super) fn missing_in(cells: &[&Cell]) -> Vec<MetricsPart> {
    let parts = [
        MetricsPart::Memory,
        MetricsPart::PerOperation,
        MetricsPart::ResponseTimes,
        MetricsPart::Sizes,
    ];
    parts.into_iter().filter(|part| cells.iter().all(|cell| lacks(cell, *part))).collect()
}
