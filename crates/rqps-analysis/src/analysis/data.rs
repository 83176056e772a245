//! Whether the systems held the same rows, and about as many bytes of them.

use rqps_audit::{Filled, Finding, data_size};
use rqps_model::WarningKind;

use super::Analysis;

/// Runs whose tables were not to have the same rows. Within a run every load is checked to have
/// written the plan's rows, and ends the run where it has not.
pub(super) fn rows(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let joined = analysis.joined?;
    let sizes = joined.conditions.iter().filter(|c| c.condition.is_table_size());
    let sizes: Vec<_> = sizes.cloned().collect();
    (!sizes.is_empty()).then(|| WarningKind::RowsDiffer { runs: joined.run_ids(), sizes })
}

/// Tables of one engine that take more room than those of the base, where both are of one step.
pub(super) fn bytes(analysis: &Analysis<'_>) -> Option<Finding> {
    let filled = |idx: usize| {
        let bytes = analysis.sizes.get(idx)?.first?.1.database_bytes?;
        Some(Filled { spec: &analysis.run.systems.get(idx)?.spec, bytes })
    };
    let is_of_one_step =
        |idx: &usize| analysis.sizes.get(*idx).is_some_and(|sizes| sizes.filled_ratio.is_some());
    let others: Vec<Filled<'_>> =
        analysis.candidates().filter(is_of_one_step).filter_map(filled).collect();
    data_size(filled(analysis.base)?, &others)
}
