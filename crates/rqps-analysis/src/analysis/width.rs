//! How narrow a run's intervals are: what differences it could have seen.

use rqps_model::warning::{HalfWidth, StepClass};
use rqps_model::{StepKind, WarningKind};

use super::headline::median;
use super::{Analysis, StepAnalysis};

/// The median half-width of the intervals of rQPS, by kind of step.
#[must_use]
pub fn half_widths(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let median_of = |kind: StepClass, kinds: &[StepKind]| {
        let is_of_kind = |step: &&StepAnalysis<'_>| kinds.contains(&step.step.info.kind);
        let cells = analysis.steps.iter().filter(is_of_kind).flat_map(|step| &step.cells);
        let widths = cells.filter_map(|cell| cell.comparable_rqps()?.half_width()).collect();
        Some(HalfWidth { kind, median: median(widths)? })
    };
    let medians = [
        median_of(StepClass::Reads, &[StepKind::Read]),
        median_of(StepClass::Writes, &[StepKind::Write, StepKind::Insert, StepKind::Load]),
        median_of(StepClass::Others, &[StepKind::Mixed, StepKind::Index]),
    ];
    let medians: Vec<HalfWidth> = medians.into_iter().flatten().collect();
    (!medians.is_empty()).then_some(WarningKind::HalfWidths { medians })
}
