//! How far intervals include differences between starts of the servers, and how large these are.

use std::collections::BTreeSet;

use rqps_model::WarningKind;
use rqps_model::run::SystemStep;
use rqps_model::warning::{AssumedStartSd, StartSpread};
use rqps_stats::starts::StartPrior;

use super::median::median;
use super::start_prior;
use super::{Analysis, Comparison, StepAnalysis};

/// The starts of the servers, in a run that compares systems.
pub(super) fn starts(analysis: &Analysis<'_>) -> WarningKind {
    let n = analysis.n_starts;
    if n < 2 {
        let was_resumed = analysis.run.n_resumed > 0;
        return WarningKind::StartedOnce { was_resumed, assumed: assumed(analysis) };
    }
    let n_loads = analysis.run.n_loads();
    let seen = analysis.steps.iter().flat_map(|step| &step.step.systems).map(starts_of).max();
    let seen = seen.unwrap_or(0);
    let is_most = analysis.joined.is_some();
    let spreads: Vec<(f64, &StepAnalysis<'_>)> =
        comparisons(analysis).filter_map(|(s, c)| Some((c.rqps.found.start_sd?, s))).collect();
    let most = spreads.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0));
    let middle = median(spreads.iter().map(|(sd, _)| *sd).collect());
    WarningKind::SeveralStarts {
        n,
        n_loads,
        is_most,
        n_so_far: (!is_most && seen < n).then_some(seen),
        spread: most.zip(middle).map(|((most, step), median)| StartSpread {
            median,
            most,
            step: step.title.clone(),
        }),
        n_without: comparisons(analysis).filter(|(_, c)| !c.rqps.found.holds_starts).count(),
        assumed: assumed(analysis),
    }
}

/// On how many starts a system was measured.
fn starts_of(system: &SystemStep) -> u32 {
    let starts: BTreeSet<u32> = system.slices.iter().map(|slice| slice.start).collect();
    u32::try_from(starts.len()).unwrap_or(u32::MAX)
}

/// What the intervals of one start are widened by.
fn assumed(analysis: &Analysis<'_>) -> Option<AssumedStartSd> {
    let of_one = comparisons(analysis).filter(|(_, c)| !c.rqps.found.holds_starts);
    let priors: Vec<StartPrior> = of_one.filter_map(|(_, c)| c.rqps.found.prior).collect();
    let least = priors.iter().map(|prior| prior.sd).reduce(f64::min)?;
    let most = priors.iter().map(|prior| prior.sd).reduce(f64::max)?;
    let is_calibrated = priors.iter().all(|prior| start_prior::is_of_host(*prior));
    Some(AssumedStartSd { least, most, is_calibrated })
}

/// All candidates on all compared steps.
fn comparisons<'s, 'a>(
    analysis: &'s Analysis<'a>,
) -> impl Iterator<Item = (&'s StepAnalysis<'a>, &'s Comparison)> {
    let compared = analysis.steps.iter().filter(|step| step.is_compared());
    let cells = compared.flat_map(|step| step.cells.iter().map(move |cell| (step, cell)));
    cells.filter_map(|(step, cell)| Some((step, cell.comparison()?)))
}
