//! What the intervals hold of the starts of the servers, and by how much starts differ.

use super::headline::median;
use super::{Analysis, Comparison, StepAnalysis};
use crate::number::{count, small_percent};

/// A sentence on the starts of the servers, in a run that compares systems.
pub(super) fn caveat(analysis: &Analysis<'_>) -> String {
    if analysis.n_starts < 2 {
        let again =
            if analysis.run.n_resumed > 0 { ", and again when the run went on" } else { "" };
        return format!(
            "Each server was started once{again}; another start draws another memory layout, which \
             alone can move a figure by 1 to 2%."
        );
    }
    let times = |n: u32| count(usize::try_from(n).unwrap_or(usize::MAX), "time");
    let seen = comparisons(analysis).map(|(_, c)| c.rqps.found.starts).max().unwrap_or(0);
    let n = match analysis.joined {
        Some(_) => format!("up to {}", times(analysis.n_starts)),
        None if seen < analysis.n_starts => {
            format!("{} (ratios are of {seen} so far)", times(analysis.n_starts))
        }
        None => times(analysis.n_starts),
    };
    let spreads: Vec<(f64, &StepAnalysis<'_>)> =
        comparisons(analysis).filter_map(|(s, c)| Some((c.rqps.found.start_sd?, s))).collect();
    let lacking = comparisons(analysis).filter(|(_, c)| !c.rqps.found.holds_starts).count();
    let mut out = format!("The servers were started {n}, each time with tables filled anew");
    let most = spreads.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
    match (most, median(spreads.iter().map(|(sd, _)| *sd).collect())) {
        (Some((most, _)), _) if most <= 0.0 => out.push_str(
            ", and the intervals hold what a start draws: here starts differed no more than their \
             blocks explain.",
        ),
        (Some((most, step)), Some(middle)) => out.push_str(&format!(
            ", and the intervals hold what a start draws. From start to start rQPS differed by a \
             standard deviation of {} (median over the steps), at most {} ({}).",
            small_percent(middle),
            small_percent(most),
            step.title
        )),
        _ => out.push('.'),
    }
    if lacking > 0 {
        let ratios = count(lacking, "ratio");
        out.push_str(&format!(
            " The intervals of {ratios} are of one start alone and do not hold that."
        ));
    }
    out
}

/// All candidates on all compared steps.
fn comparisons<'s, 'a>(
    analysis: &'s Analysis<'a>,
) -> impl Iterator<Item = (&'s StepAnalysis<'a>, &'s Comparison)> {
    let compared = analysis.steps.iter().filter(|step| step.is_compared());
    let cells = compared.flat_map(|step| step.cells.iter().map(move |cell| (step, cell)));
    cells.filter_map(|(step, cell)| Some((step, cell.comparison.as_deref()?)))
}
