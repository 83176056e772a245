//! What calibrations are judged to say, by hand and where nothing differs.

use super::*;

/// A trial of 8 blocks whose average has an interval of that half-width.
fn trial(clients: u32, placement: Placement, slice_ms: u32, half_width: f64) -> Trial {
    located(clients, placement, slice_ms, &[("average", half_width)])
}

fn located(clients: u32, placement: Placement, slice_ms: u32, all: &[(&str, f64)]) -> Trial {
    let at = |(location, half_width): &(&str, f64)| {
        let interval = Some((1.0 - half_width, 1.0 + half_width));
        let ratio = Estimate { point: 1.0, interval, n: 8 };
        Located { location: (*location).to_owned(), ratio }
    };
    let located = all.iter().map(at).collect();
    Trial { clients, placement, slice_ms: Some(slice_ms), figure_per_s: 1.0, located }
}

#[test]
fn another_way_is_the_best_only_where_it_is_clearly_better() {
    let (paired, free) = (Placement::Paired, Placement::Free);
    let trials = [
        // One client: free is narrower by chance; two: by far.
        trial(1, paired, 50, 0.010),
        trial(1, paired, 20, 0.010),
        trial(1, free, 50, 0.006),
        trial(1, free, 20, 0.006),
        trial(2, paired, 50, 0.10),
        trial(2, paired, 20, 0.80),
        trial(2, free, 50, 0.01),
        trial(2, free, 20, 0.20),
    ];
    let (best, slice_ms) = super::best(&trials, &[1, 2]);
    let places: Vec<_> = best.iter().map(|best| (best.clients, best.placement)).collect();
    assert_eq!(places, [(1, paired), (2, free)]);
    // Widths of 1% and 1% against 1% and 20%: narrower by a factor of 4.5.
    assert_eq!(slice_ms, 50);
    assert_eq!(super::best(&trials[..4], &[1]).1, 20);
}

#[test]
fn without_intervals_everything_stays_as_it_is() {
    let (best, slice_ms) = super::best(&[], &[1, 4]);
    assert!(best.iter().all(|best| best.placement == Placement::Paired));
    assert_eq!(slice_ms, 20);
    assert_eq!(super::narrowest(&[]), None);
}

/// Numbers that are as good as normal: the sum of twelve uniform ones.
struct Normal(u64);

impl Normal {
    fn next(&mut self) -> f64 {
        let mut sum = 0.0;
        for _ in 0..12 {
            self.0 += 1;
            sum += (crate::plan::seed::mix(7, self.0) >> 11) as f64 / (1_u64 << 53) as f64;
        }
        sum - 6.0
    }
}

#[test]
fn where_nothing_differs_the_default_stays() {
    let mut normal = Normal(0);
    let (mut n_placed, mut n_cut, mut n_by_a_fifth, mut logs) = (0, 0, 0, Vec::new());
    let n = 400;
    for _ in 0..n {
        let mut trials = Vec::new();
        for clients in [1, 2] {
            for placement in [Placement::Paired, Placement::Free, Placement::Split] {
                for slice_ms in [20, 50, 100] {
                    let blocks: Vec<f64> = (0..8).map(|_| (0.05 * normal.next()).exp()).collect();
                    let ratio = paired_ratio(&[1.0; 8], &blocks).unwrap();
                    let half_width = ratio.half_width().unwrap();
                    logs.push(half_width.ln());
                    trials.push(trial(clients, placement, slice_ms, half_width));
                }
            }
        }
        let (best, slice_ms) = super::best(&trials, &[1, 2]);
        n_placed += u32::from(best.iter().any(|b| b.placement != Placement::Paired));
        n_cut += u32::from(slice_ms != 20);
        // What a rule of "narrower by a fifth" makes of the same trials, for one client.
        let mean = |of: &[Trial]| geometric_mean(of.iter().map(Trial::half_width));
        let placements = [Placement::Paired, Placement::Free, Placement::Split].into_iter();
        let widths = placements.zip(trials.chunks(3).map(mean));
        n_by_a_fifth += u32::from(clearly(DEFAULT.0, widths, 0.8) != DEFAULT.0);
    }
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    let variance = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / logs.len() as f64;
    let spread = variance.sqrt() * 7.0_f64.sqrt();
    let found = format!("spread {spread:.3}; of {n}: {n_placed}, {n_cut}, {n_by_a_fifth}");
    assert!((spread - SPREAD).abs() < 0.05, "{found}");
    assert!(n_placed * 20 <= n && n_cut * 20 <= n, "{found}");
    assert!(n_by_a_fifth * 4 > n, "{found}");
    eprintln!("{found}");
}

#[test]
fn the_narrowest_location_is_told_where_it_is_clearly_that() {
    let trials = |midmean: f64| -> Vec<Trial> {
        let widths = [("average", 0.010), ("median", 0.012), ("midmean", midmean), ("p90", 0.009)];
        let all = [0.9, 1.1].map(|of| widths.map(|(location, width)| (location, width * of)));
        (0..6).map(|n| located(1, Placement::Paired, 50 * (n + 1), &all[n as usize % 2])).collect()
    };
    let found = super::narrowest(&trials(0.004)).unwrap();
    assert_eq!((found.location.as_str(), found.n_trials), ("midmean", 6));
    assert!((found.share - 0.4).abs() < 1e-9);
    assert_eq!(super::narrowest(&trials(0.008)), None);
}

#[test]
fn finds_are_counted_on_the_right_side() {
    let order = rqps_load::Order {
        pace: rqps_load::Pace::Closed,
        stop: rqps_load::Stop::Events(0),
        seed: 1,
    };
    let tally = rqps_load::Tally::for_order(&order);
    let empty = crate::engine::window::slice_of(&tally, 0, 1, Default::default(), Vec::new());
    let slice =
        |n_operations: u64| Slice { n_operations, duration_ns: 1_000_000_000, ..empty.clone() };
    let side = |all: [u64; 4]| all.map(slice).to_vec();
    let slower: Sides = [side([1000, 1010, 1000, 1010]), side([900, 909, 901, 910])];
    let faster: Sides = [slower[1].clone(), slower[0].clone()];
    let a_little: Sides = [side([1000, 1010, 1000, 1010]), side([970, 980, 971, 979])];
    let looks = [slower, faster];
    let hidden = |percent| HiddenSlowdown { step: "x", clients: 1, percent };
    let counts = |power: Power| (power.n_found, power.n_judged, power.n_judged_at_half);
    assert_eq!(counts(power(&hidden(5), &looks).unwrap()), (1, Some(1), Some(1)));
    let false_finds = power(&hidden(0), &looks).unwrap();
    assert_eq!((false_finds.n, (false_finds.ratio.point - 1.0).abs() < 1e-9), (2, true));
    assert_eq!(counts(false_finds), (2, Some(2), None));
    // Beyond chance, and no `slower` at 5%: what a report says of 3% is `same`.
    let found = power(&hidden(4), &[a_little.clone(), a_little]).unwrap();
    assert_eq!(counts(found), (2, Some(0), Some(2)));
}
