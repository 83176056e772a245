//! Groups of steps summed up in one number, which says less than its steps and is labelled so.

use rqps_model::Group;

use super::{Analysis, GROUPS};

/// The rQPS of one candidate over the steps of a group.
///
/// The geometric mean weighs unlike steps the same and has no interval; it is a signpost to the
/// steps, not a result. Reports print it with its extremes and the number of steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GroupSummary {
    /// The group.
    pub group: Group,
    /// Index of the candidate.
    pub system_idx: usize,
    /// Steps with a ratio.
    pub n_steps: usize,
    /// Geometric mean of their rQPS.
    pub geometric_mean: f64,
    /// Smallest rQPS.
    pub min: f64,
    /// Largest rQPS.
    pub max: f64,
}

/// All groups and candidates that have a ratio; loading and warming are no group to sum up.
pub(super) fn groups(analysis: &Analysis<'_>) -> Vec<GroupSummary> {
    let mut out = Vec::new();
    for group in GROUPS.into_iter().filter(|g| *g != Group::Other) {
        for system_idx in analysis.candidates() {
            let ratios: Vec<f64> = analysis
                .steps_of(group)
                .filter_map(|step| step.cells.get(system_idx)?.comparable_rqps().map(|r| r.point))
                .collect();
            if ratios.is_empty() {
                continue;
            }
            let mean_log = ratios.iter().map(|r| r.ln()).sum::<f64>() / ratios.len() as f64;
            out.push(GroupSummary {
                group,
                system_idx,
                n_steps: ratios.len(),
                geometric_mean: mean_log.exp(),
                min: ratios.iter().copied().fold(f64::INFINITY, f64::min),
                max: ratios.iter().copied().fold(0.0, f64::max),
            });
        }
    }
    out
}
