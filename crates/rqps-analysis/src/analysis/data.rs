//! Whether the systems held the same rows, and about as many bytes of them.

use super::Analysis;
use crate::join::{Condition, Topic, condition};
use rqps_audit::{Filled, Finding, Severity, data_size};
use rqps_text::words::one_line;

/// What has to be said of the data.
pub(super) fn findings(analysis: &Analysis<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    out.extend(rows(analysis));
    out.extend(bytes(analysis));
    out
}

/// Runs whose tables were not to have the same rows. Within a run every load is checked to have
/// written the plan's rows, and ends the run where it has not.
fn rows(analysis: &Analysis<'_>) -> Option<Finding> {
    let joined = analysis.joined?;
    let is_of_rows = |c: &&Condition| {
        c.topic == Topic::Work && [" rows", " tables"].iter().any(|end| c.name.ends_with(end))
    };
    let told: Vec<String> = joined
        .conditions
        .iter()
        .filter(is_of_rows)
        .map(|c| condition(&c.with_runs(&joined.sources)))
        .collect();
    (!told.is_empty()).then(|| Finding {
        severity: Severity::Severe,
        name: "rows".to_owned(),
        text: format!(
            "The runs did not fill their tables with the same rows: {}. Larger tables have deeper \
             indexes and fit less into caches.",
            one_line(&told.join("; "))
        ),
        remedy: "measure all systems with the same tables and rows".to_owned(),
    })
}

/// Tables of one engine that take more room than those of the base, where both are of one step.
fn bytes(analysis: &Analysis<'_>) -> Option<Finding> {
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
