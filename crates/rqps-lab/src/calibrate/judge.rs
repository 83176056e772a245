//! What the slices of a calibration say: pure.

use rqps_model::calibration::{Best, Located, Power, Trial};
use rqps_model::{Estimate, Placement, Slice};
use rqps_stats::steady::{Location, rate};
use rqps_stats::{paired_ratio, paired_test};

use super::bench::{Sides, Way};
use crate::plan::schedule::DEFAULT_SLICE_MS;

/// How much narrower than by the default an interval must be for another way to be the best: half-widths
/// of a few blocks differ by a fifth by chance.
const CLEARLY: f64 = 0.8;

/// What runs are measured with without a calibration.
const DEFAULT: (Placement, u32) = (Placement::Paired, DEFAULT_SLICE_MS);

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

/// The second side over the first, by their figures.
pub(super) fn average([base, other]: &Sides) -> Option<Estimate> {
    paired_ratio(&figures(base), &figures(other))
}

/// The best placement for each number of clients and the best length of a turn: the narrowest interval
/// of the average, and the default unless another is clearly narrower.
pub(super) fn best(trials: &[Trial], clients: &[u32]) -> (Vec<Best>, u32) {
    let width = |clients: u32, placement: Placement, slice_ms: u32| {
        let of = |t: &&Trial| {
            t.clients == clients && t.placement == placement && t.slice_ms == Some(slice_ms)
        };
        trials.iter().find(of).and_then(Trial::half_width)
    };
    let mut placements: Vec<Placement> = trials.iter().map(|t| t.placement).collect();
    placements.dedup();
    let mut slices: Vec<u32> = trials.iter().filter_map(|t| t.slice_ms).collect();
    slices.sort_unstable();
    slices.dedup();
    // Over all lengths of turns, and then over all numbers of clients: the more that is compared, the
    // less is left to chance.
    let over_slices = |clients: u32, placement: Placement| {
        geometric_mean(slices.iter().map(|&ms| width(clients, placement, ms)))
    };
    let best: Vec<Best> = clients
        .iter()
        .map(|&clients| {
            let widths = placements.iter().map(|&p| (p, over_slices(clients, p)));
            Best { clients, placement: clearly(DEFAULT.0, widths) }
        })
        .collect();
    let widths = slices
        .iter()
        .map(|&ms| (ms, geometric_mean(best.iter().map(|b| width(b.clients, b.placement, ms)))));
    let slice_ms = clearly(DEFAULT.1, widths);
    (best, slice_ms)
}

/// The one with the smallest width, or `default` where none is clearly better.
fn clearly<T: Copy + PartialEq>(default: T, widths: impl Iterator<Item = (T, Option<f64>)>) -> T {
    let known: Vec<(T, f64)> = widths.filter_map(|(of, width)| Some((of, width?))).collect();
    let own = known.iter().find(|(of, _)| *of == default).map_or(f64::INFINITY, |(_, w)| *w);
    let least = known.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
    least.filter(|(_, width)| *width < own * CLEARLY).map_or(default, |(of, _)| of)
}

fn geometric_mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let logs: Option<Vec<f64>> =
        values.map(|value| value.filter(|v| *v > 0.0).map(f64::ln)).collect();
    let logs = logs.filter(|logs| !logs.is_empty())?;
    Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

/// How often a handicap was found; `None` when nothing was measured.
pub(super) fn power((step, clients, percent): (&str, u32, u32), looks: &[Sides]) -> Option<Power> {
    let mut n_found = 0;
    let mut logs = Vec::new();
    for [base, other] in looks {
        let tested = paired_test(&figures(base), &figures(other))?;
        let (low, high) = tested.estimate.interval?;
        let is_found = if percent > 0 { high < 1.0 } else { high < 1.0 || low > 1.0 };
        n_found += u32::from(is_found);
        logs.push(tested.estimate.point.ln());
    }
    Some(Power {
        step: step.to_owned(),
        clients,
        handicap_pct: f64::from(percent),
        n: u32::try_from(looks.len()).unwrap_or(u32::MAX),
        n_found,
        ratio: rqps_stats::of_log_ratios(&logs)?.estimate,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(clients: u32, placement: Placement, slice_ms: u32, half_width: f64) -> Trial {
        let interval = Some((1.0 - half_width, 1.0 + half_width));
        let ratio = Estimate { point: 1.0, interval, n: 8 };
        let located = vec![Located { location: "average".to_owned(), ratio }];
        Trial { clients, placement, slice_ms: Some(slice_ms), figure_per_s: 1.0, located }
    }

    #[test]
    fn another_way_is_the_best_only_where_it_is_clearly_better() {
        let (paired, free) = (Placement::Paired, Placement::Free);
        let trials = [
            // One client: free is narrower by chance; two: by far.
            trial(1, paired, 50, 0.010),
            trial(1, paired, 20, 0.010),
            trial(1, free, 50, 0.009),
            trial(1, free, 20, 0.009),
            trial(2, paired, 50, 0.02),
            trial(2, paired, 20, 0.10),
            trial(2, free, 50, 0.01),
            trial(2, free, 20, 0.02),
        ];
        let (best, slice_ms) = super::best(&trials, &[1, 2]);
        let places: Vec<_> = best.iter().map(|best| (best.clients, best.placement)).collect();
        assert_eq!(places, [(1, paired), (2, free)]);
        assert_eq!(slice_ms, 50);
        assert_eq!(super::best(&trials[..4], &[1]).1, 20);
    }

    #[test]
    fn without_intervals_everything_stays_as_it_is() {
        let (best, slice_ms) = super::best(&[], &[1, 4]);
        assert!(best.iter().all(|best| best.placement == Placement::Paired));
        assert_eq!(slice_ms, 20);
    }

    #[test]
    fn finds_are_counted_on_the_right_side() {
        let order = rqps_load::Order {
            pace: rqps_load::Pace::Closed,
            stop: rqps_load::Stop::Events(0),
            seed: 1,
        };
        let tally = rqps_load::Tally::for_order(&order);
        let empty = crate::measure::slice_of(&tally, (1, 0, 0), Default::default(), Vec::new());
        let slice =
            |n_operations: u64| Slice { n_operations, duration_ns: 1_000_000_000, ..empty.clone() };
        let side = |all: [u64; 4]| all.map(slice).to_vec();
        let slower: Sides = [side([1000, 1010, 1000, 1010]), side([900, 909, 901, 910])];
        let faster: Sides = [slower[1].clone(), slower[0].clone()];
        let looks = [slower, faster];
        assert_eq!(power(("x", 1, 5), &looks).unwrap().n_found, 1);
        let false_finds = power(("x", 1, 0), &looks).unwrap();
        assert_eq!((false_finds.n_found, false_finds.n), (2, 2));
        assert!((false_finds.ratio.point - 1.0).abs() < 1e-9);
    }
}
