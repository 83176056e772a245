//! What the slices of a calibration say: pure.

use rqps_model::calibration::{Best, Located, Narrowest, Power, Trial};
use rqps_model::{Estimate, Placement, Slice, Verdict};
use rqps_stats::steady::{Location, rate};
use rqps_stats::{DEFAULT_BOUND, paired_ratio, paired_test, verdict};

use super::bench::{Sides, Way};
use crate::plan::schedule::DEFAULT_SLICE_MS;

/// What runs are measured with without a calibration.
const DEFAULT: (Placement, u32) = (Placement::Paired, DEFAULT_SLICE_MS);

/// Standard deviations of what chance does to the ratio of two half-widths that another way must be
/// narrower by.
const CLEARLY: f64 = 2.5;

/// Standard deviation of the logarithm of a half-width of n blocks, times the root of n - 1. That of the
/// spread alone is 0.71; the effective number of blocks, an estimate too, adds to it (simulated with 8
/// blocks, test `where_nothing_differs_the_default_stays`).
const SPREAD: f64 = 1.24;

/// A trial from the slices of its sides.
pub(super) fn trial(way: Way, slice_ms: Option<u32>, sides: &Sides) -> Trial {
    let [base, other] = sides;
    let mut located = Vec::new();
    let first = match slice_ms {
        Some(_) => average(sides),
        None => rqps_stats::ratio(&figures(base), &figures(other)),
    };
    located.extend(first.map(|ratio| Located { location: "average".to_owned(), ratio }));
    for location in Location::ALL.into_iter().filter(|l| *l != Location::Mean && slice_ms.is_some())
    {
        let rates = |slices: &[Slice]| -> Option<Vec<f64>> {
            slices.iter().map(|slice| rate(&slice.windows, location)).collect()
        };
        let ratio = rates(base).zip(rates(other)).and_then(|(a, b)| paired_ratio(&a, &b));
        located.extend(ratio.map(|ratio| Located { location: word(location).to_owned(), ratio }));
    }
    let (n, ns) = base.iter().fold((0, 0), |(n, ns), s| (n + s.n_operations, ns + s.duration_ns));
    Trial {
        clients: way.clients,
        placement: way.placement,
        slice_ms,
        figure_per_s: rqps_model::slice::per_second(n, ns),
        located,
    }
}

fn word(location: Location) -> &'static str {
    match location {
        Location::Mean => "average",
        Location::Median => "median",
        Location::Midmean => "midmean",
        Location::Percentile90 => "p90",
        Location::UpperMean => "p80-95",
    }
}

fn figures(slices: &[Slice]) -> Vec<f64> {
    slices.iter().map(Slice::figure).collect()
}

/// The second side over the first, by their rates.
pub(super) fn average([base, other]: &Sides) -> Option<Estimate> {
    paired_ratio(&figures(base), &figures(other))
}

/// How far starts of the servers differ.
pub(super) struct StartSd {
    /// Those that have a ratio.
    pub(super) n_starts: u32,
    /// Standard deviation of the ratio's logarithm from one to the next.
    pub(super) sd: f64,
}

/// How far starts differ, with what the noise of their blocks adds: on a noisy host that is no small part. `None` for
/// less than two.
pub(super) fn start_sd(starts: &[Sides]) -> Option<StartSd> {
    let logs: Vec<f64> =
        starts.iter().filter_map(|sides| Some(average(sides)?.point.ln())).collect();
    let n = u32::try_from(logs.len()).ok().filter(|n| *n > 1)?;
    let mean = logs.iter().sum::<f64>() / f64::from(n);
    let squares: f64 = logs.iter().map(|log| (log - mean).powi(2)).sum();
    Some(StartSd { n_starts: n, sd: (squares / (f64::from(n) - 1.0)).sqrt() })
}

/// The best placement for each number of clients and the best length of a slice: the narrowest interval
/// of the average, and the default unless another is clearly narrower.
pub(super) fn best(trials: &[Trial], clients: &[u32]) -> (Vec<Best>, u32) {
    let width = |clients: u32, placement: Placement, slice_ms: u32| {
        let of = |t: &&Trial| {
            t.clients == clients && t.placement == placement && t.slice_ms == Some(slice_ms)
        };
        trials.iter().find(of).and_then(Trial::half_width)
    };
    let mut placements: Vec<Placement> = Vec::new();
    for trial in trials {
        if !placements.contains(&trial.placement) {
            placements.push(trial.placement);
        }
    }
    let mut slices: Vec<u32> = trials.iter().filter_map(|t| t.slice_ms).collect();
    slices.sort_unstable();
    slices.dedup();
    let n_blocks = n_blocks(trials);
    let best: Vec<Best> = clients
        .iter()
        .map(|&clients| {
            let mean =
                |placement| geometric_mean(slices.iter().map(|&ms| width(clients, placement, ms)));
            let widths = placements.iter().map(|&placement| (placement, mean(placement)));
            let placement = clearly(DEFAULT.0, widths, guard(n_blocks, slices.len()));
            Best { clients, placement }
        })
        .collect();
    let mean = |ms| geometric_mean(best.iter().map(|b| width(b.clients, b.placement, ms)));
    let widths = slices.iter().map(|&ms| (ms, mean(ms)));
    let slice_ms = clearly(DEFAULT.1, widths, guard(n_blocks, best.len()));
    (best, slice_ms)
}

/// The location of the windows whose interval is clearly narrower than the average's, by the same rule;
/// `None` where none is, or where blocks have too few windows.
pub(super) fn narrowest(trials: &[Trial]) -> Option<Narrowest> {
    let is_interleaved: Vec<&Trial> = trials.iter().filter(|t| t.slice_ms.is_some()).collect();
    let share = |location: &str| {
        geometric_mean(is_interleaved.iter().map(|trial| {
            let at = trial.located.iter().find(|located| located.location == location)?;
            Some(at.ratio.half_width()? / trial.half_width()?)
        }))
    };
    let words = Location::ALL.map(word).into_iter();
    let shares = words.filter_map(|location| Some((location, share(location)?)));
    let (location, share) = shares.min_by(|a, b| a.1.total_cmp(&b.1))?;
    let n_trials = is_interleaved.len();
    (share < guard(n_blocks(trials), n_trials)).then(|| Narrowest {
        location: location.to_owned(),
        share,
        n_trials: u32::try_from(n_trials).unwrap_or(u32::MAX),
    })
}

/// The fewest blocks of an interleaved trial.
fn n_blocks(trials: &[Trial]) -> u32 {
    let is_interleaved = trials.iter().filter(|t| t.slice_ms.is_some());
    is_interleaved.filter_map(|t| Some(t.located.first()?.ratio.n)).min().unwrap_or(0)
}

/// The share of the default's half-width below which another one is no chance, where both are means over
/// `n_trials` trials of so many blocks.
fn guard(n_blocks: u32, n_trials: usize) -> f64 {
    let n = f64::from(n_blocks.saturating_sub(1)) * n_trials as f64;
    (-CLEARLY * SPREAD * (2.0 / n).sqrt()).exp()
}

/// The one with the smallest width, or `default` where none is below the share `guard` of its width.
fn clearly<T: Copy + PartialEq>(
    default: T,
    widths: impl Iterator<Item = (T, Option<f64>)>,
    guard: f64,
) -> T {
    let known: Vec<(T, f64)> = widths.filter_map(|(of, width)| Some((of, width?))).collect();
    let own = known.iter().find(|(of, _)| *of == default).map_or(f64::INFINITY, |(_, w)| *w);
    let least = known.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
    least.filter(|(_, width)| *width < own * guard).map_or(default, |(of, _)| of)
}

fn geometric_mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let logs: Option<Vec<f64>> =
        values.map(|value| value.filter(|v| *v > 0.0).map(f64::ln)).collect();
    let logs = logs.filter(|logs| !logs.is_empty())?;
    Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// An injected slowdown that is looked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct HiddenSlowdown<'a> {
    pub(super) step: &'a str,
    pub(super) clients: u32,
    /// 0 for none.
    pub(super) percent: u32,
}

/// How often an injected slowdown was found, and called so; `None` when nothing was measured.
pub(super) fn power(hidden: &HiddenSlowdown<'_>, looks: &[Sides]) -> Option<Power> {
    let HiddenSlowdown { step, clients, percent } = *hidden;
    let (mut n_found, mut n_judged, mut n_judged_at_half) = (0, 0, 0);
    let mut logs = Vec::new();
    for [base, other] in looks {
        let estimate = paired_test(&figures(base), &figures(other))?.estimate;
        let (low, high) = estimate.interval?;
        let is_found = if percent > 0 { high < 1.0 } else { high < 1.0 || low > 1.0 };
        // Without an injected slowdown whatever is called different is called so falsely.
        let is_called = |bound| match verdict(&estimate, bound) {
            Verdict::Slower => true,
            Verdict::Faster => percent == 0,
            Verdict::Same | Verdict::Unclear => false,
        };
        n_found += u32::from(is_found);
        n_judged += u32::from(is_called(DEFAULT_BOUND));
        n_judged_at_half += u32::from(is_called(f64::from(percent) / 200.0));
        logs.push(estimate.point.ln());
    }
    Some(Power {
        step: step.to_owned(),
        clients,
        injected_slowdown_pct: f64::from(percent),
        n: u32::try_from(looks.len()).unwrap_or(u32::MAX),
        n_found,
        n_judged: Some(n_judged),
        n_judged_at_half: (percent > 0).then_some(n_judged_at_half),
        ratio: rqps_stats::of_log_ratios(&logs)?.estimate,
    })
}

#[cfg(test)]
mod tests;
