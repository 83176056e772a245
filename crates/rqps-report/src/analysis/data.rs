//! Whether the systems held the same rows, and about as many bytes of them.

use super::Analysis;
use crate::audit::{Finding, Severity};
use crate::join::{Condition, Topic};
use crate::number;
use crate::words::{list_in_short, one_line};

/// Tables of one engine that are larger than others by this share may not fit where those do.
const LARGER: f64 = 1.25;

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
    let told: Vec<String> =
        joined.conditions.iter().filter(is_of_rows).map(|c| c.sentence(&joined.sources)).collect();
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

/// Tables of one engine that take more room than those of the base.
fn bytes(analysis: &Analysis<'_>) -> Option<Finding> {
    let engine = |idx: usize| {
        let spec = &analysis.run.systems[idx].spec;
        (spec.engine, spec.variant.compression)
    };
    let filled = |idx: usize| analysis.sizes.get(idx)?.first?.1.database_bytes;
    let base = filled(analysis.base)?;
    let told: Vec<String> = analysis
        .candidates()
        .filter(|&idx| engine(idx) == engine(analysis.base))
        .filter_map(|idx| {
            let ratio = analysis.sizes.get(idx)?.filled_ratio?;
            let is_far = ratio >= LARGER || ratio <= 1.0 / LARGER;
            let text = || {
                let bytes = number::bytes(filled(idx)?);
                let label = one_line(analysis.label(idx));
                Some(format!("{bytes} on {label} ({} times)", number::plain_ratio(ratio)))
            };
            is_far.then(text).flatten()
        })
        .collect();
    if told.is_empty() {
        return None;
    }
    Some(Finding {
        severity: Severity::Notable,
        name: "data size".to_owned(),
        text: format!(
            "Filled with the same rows, the tables are not of one size: {} on the base, {}. Where caches \
             hold one and not the other, storage decides.",
            number::bytes(base),
            list_in_short(&told)
        ),
        remedy: "give all systems caches that hold their tables".to_owned(),
    })
}
