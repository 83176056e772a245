//! How narrow a run's intervals are: what differences it could have seen.

use rqps_model::warning::{HalfWidth, StepClass};
use rqps_model::{StepKind, WarningKind};

use super::median::median;
use super::{Analysis, StepAnalysis};

/// The median half-widths of the intervals of rQPS, by kind of step.
#[must_use]
pub fn half_widths(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let medians = medians(analysis, |_| true);
    (!medians.is_empty()).then_some(WarningKind::HalfWidths { medians })
}

/// The same of some systems, by their index.
pub(super) fn medians(analysis: &Analysis<'_>, is_of: impl Fn(usize) -> bool) -> Vec<HalfWidth> {
    let median_of = |kind: StepClass, kinds: &[StepKind]| {
        let is_of_kind = |step: &&StepAnalysis<'_>| kinds.contains(&step.step.info.kind);
        let cells = analysis.steps.iter().filter(is_of_kind).flat_map(|step| {
            step.cells.iter().enumerate().filter(|(idx, _)| is_of(*idx)).map(|(_, cell)| cell)
        });
        let widths = cells.filter_map(|cell| cell.comparable_rqps()?.half_width()).collect();
        Some(HalfWidth { kind, median: median(widths)? })
    };
    let medians = [
        median_of(StepClass::Reads, &[StepKind::Read]),
        median_of(StepClass::Writes, &[StepKind::Write, StepKind::Insert, StepKind::Load]),
        median_of(StepClass::Others, &[StepKind::Mixed, StepKind::Index]),
    ];
    medians.into_iter().flatten().collect()
}
