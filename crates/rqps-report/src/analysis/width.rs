//! How narrow a run's intervals are: what differences it could have seen.

use rqps_model::warning::{HalfWidth, StepClass};
use rqps_model::{StepKind, WarningKind};

use super::headline::median;
use super::{Analysis, StepAnalysis};

/// The median half-width of the intervals of rQPS, by kind of step.
pub(crate) fn half_widths(analysis: &Analysis<'_>) -> Option<WarningKind> {
    let kinds: [(StepClass, &[StepKind]); 3] = [
        (StepClass::Reads, &[StepKind::Read]),
        (StepClass::Writes, &[StepKind::Write, StepKind::Insert]),
        (StepClass::Others, &[StepKind::Mixed, StepKind::Index]),
    ];
    let of_kind = |(kind, kinds): (StepClass, &[StepKind])| {
        let is_of_kind = |step: &&StepAnalysis<'_>| kinds.contains(&step.step.info.kind);
        let cells = analysis.steps.iter().filter(is_of_kind).flat_map(|step| &step.cells);
        let widths = cells.filter_map(|cell| cell.comparable_rqps()?.half_width()).collect();
        Some(HalfWidth { kind, median: median(widths)? })
    };
    let medians: Vec<HalfWidth> = kinds.into_iter().filter_map(of_kind).collect();
    (!medians.is_empty()).then_some(WarningKind::HalfWidths { medians })
}
