//! How narrow a run's intervals are, in one line: what differences it could have seen.

use rqps_model::StepKind;

use super::headline::median;
use super::{Analysis, StepAnalysis};
use crate::number;
use crate::words::list;

/// `Median half-width of the intervals of rQPS: 0.9% on read steps, 2.8% on write steps.`
pub(crate) fn half_widths(analysis: &Analysis<'_>) -> Option<String> {
    let kinds: [(&str, &[StepKind]); 3] = [
        ("read steps", &[StepKind::Read]),
        ("write steps", &[StepKind::Write, StepKind::Insert]),
        ("others", &[StepKind::Mixed, StepKind::Index]),
    ];
    let told: Vec<String> = kinds
        .iter()
        .filter_map(|(name, kinds)| {
            let of_kind = |step: &&StepAnalysis<'_>| kinds.contains(&step.step.info.kind);
            let cells = analysis.steps.iter().filter(of_kind).flat_map(|step| &step.cells);
            let widths = cells.filter_map(|cell| cell.comparable_rqps()?.half_width()).collect();
            median(widths).map(|half| format!("{} on {name}", number::small_percent(half)))
        })
        .collect();
    (!told.is_empty())
        .then(|| format!("Median half-width of the intervals of rQPS: {}.", list(&told)))
}
