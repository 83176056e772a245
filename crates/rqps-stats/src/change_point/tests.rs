//! Places, sizes and how sure they are, by hand.

use super::*;

const ORDERS: Method = Method::Permutation { orders: 199, seed: 1 };

fn plain(values: &[f64]) -> Vec<Value> {
    values.iter().copied().map(Value::alone).collect()
}

/// Values of one start each that blocks know to a share `error`.
fn with(values: &[f64], error: f64, starts: Starts) -> Vec<Value> {
    let known = Uncertainty { blocks: error * error, df: 19.0, starts };
    values.iter().map(|v| Value::known(*v, known)).collect()
}

fn places(found: &[ChangePoint]) -> Vec<usize> {
    found.iter().map(|c| c.at).collect()
}

#[test]
fn the_energy_by_hand() {
    // 0, 0, 1, 1 at 2: 2 * 2 / 4 * (2 / 4 * 4 - 0 - 0) = 2. At 1 and 3 less.
    let (at, energy) = best_split(&[0.0, 0.0, 1.0, 1.0], 1).unwrap();
    assert!(at == 2 && (energy - 2.0).abs() < 1e-12, "{at} {energy}");
    // 0, 1, 1 at 1: 1 * 2 / 3 * (2 / 2 * 2) = 4/3.
    let (at, energy) = best_split(&[0.0, 1.0, 1.0], 1).unwrap();
    assert!(at == 1 && (energy - 4.0 / 3.0).abs() < 1e-12, "{at} {energy}");
    assert!(best_split(&[0.0, 1.0, 1.0], 2).is_none() && best_split(&[], 1).is_none());
}

#[test]
fn one_step_is_found_at_its_place_and_size() {
    let values = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 92.0, 91.0, 93.0, 92.5, 91.5, 92.0];
    for method in [ORDERS, Method::Student] {
        let found = change_points(&plain(&values), method, 0.01).unwrap();
        assert_eq!(places(&found), [6], "{found:?}");
        let (low, high) = found[0].size.estimate.interval.unwrap();
        assert!((found[0].size.estimate.point - 0.92).abs() < 1e-3);
        assert!(low > 0.90 && high < 0.94 && found[0].p <= 0.01);
    }
}

#[test]
fn two_steps_are_found_and_their_sizes_are_between_neighbouring_levels() {
    let noise = [0.3, -0.5, 0.1, 0.4, -0.2, 0.0, -0.4, 0.5, 0.2, -0.3];
    let levels = [100.0, 80.0, 90.0];
    let values: Vec<f64> = levels.iter().flat_map(|level| noise.map(|e| level + e)).collect();
    for method in [ORDERS, Method::Student] {
        let found = change_points(&plain(&values), method, 0.01).unwrap();
        assert_eq!(places(&found), [10, 20]);
        assert!((found[0].size.estimate.point - 0.8).abs() < 2e-3);
        assert!((found[1].size.estimate.point - 1.125).abs() < 2e-3);
    }
}

#[test]
fn what_is_known_of_values_makes_a_short_series_speak() {
    // Three versions, known to half a percent: the last lost 8%.
    let values = [100.0, 100.2, 92.0];
    let of = |error, starts| {
        change_points(&with(&values, error, starts), Method::Student, 0.01).unwrap()
    };
    assert_eq!(places(&of(0.005, Starts::Assumed(START_SD))), [2]);
    assert_eq!(places(&of(0.005, Starts::Measured(1e-6))), [2]);
    // Known to 10% only, the same series says nothing; nor does it without intervals.
    assert!(of(0.1, Starts::Assumed(START_SD)).is_empty());
    assert!(change_points(&plain(&values), Method::Student, 0.05).unwrap().is_empty());
}

/// Half a percent of blocks' noise, and 2% apart: that is what two starts of one server draw.
#[test]
fn what_starts_draw_is_no_change() {
    let known = Uncertainty { blocks: 0.004 * 0.004, df: 11.0, starts: Starts::Assumed(START_SD) };
    let of = |values: &[Value]| change_points(values, Method::Student, 0.01).unwrap();
    let ratio = |point: f64, run: usize| Value::known(point, known).of_run(run);
    assert!(of(&[ratio(1.0, 0), ratio(0.98, 1)]).is_empty());
    assert!(of(&[Value::base(), ratio(0.98, 0)]).is_empty());
    let five: Vec<Value> = [0.98, 0.981, 0.979, 0.98, 0.98].map(|v| ratio(v, 0)).into();
    assert!(of(&[&[Value::base()][..], &five].concat()).is_empty());
    assert_eq!(places(&of(&[Value::base(), ratio(0.9, 0)])), [1]);
}

/// Twelve runs of one ratio each, and one run of twenty that all share what its base drew: 1.5% below.
#[test]
fn many_ratios_of_one_run_are_one_draw_of_its_base() {
    let known = Uncertainty { blocks: 0.001 * 0.001, df: 11.0, starts: Starts::Assumed(START_SD) };
    let noise = |i: usize| [0.0005, -0.0005, 0.0][i % 3];
    let ratio = |point: f64, run: usize| Value::known(point + noise(run), known).of_run(run);
    let runs = (0..12).map(|run| ratio(1.0, run));
    let one = (0..20).map(|i| Value::known(0.985 + noise(i), known).of_run(12));
    let series: Vec<Value> = runs.chain(one).collect();
    assert!(change_points(&series, Method::Student, 0.01).unwrap().is_empty());
    // As many runs on the other side show that it is none of a start.
    let apart: Vec<Value> = (0..24).map(|i| ratio(if i < 12 { 1.0 } else { 0.985 }, i)).collect();
    assert_eq!(places(&change_points(&apart, Method::Student, 0.01).unwrap()), [12]);
}

/// Values that agree within a tenth of what is assumed of their starts, and are many.
#[test]
fn many_values_speak_for_themselves() {
    let (low, high) = ([0.999, 1.001, 1.0, 0.9995, 1.0005, 1.0], 0.985);
    let values: Vec<f64> = low.iter().copied().chain(low.map(|v| v * high)).collect();
    let many =
        change_points(&with(&values, 0.0005, Starts::Assumed(START_SD)), Method::Student, 0.01);
    assert_eq!(places(&many.unwrap()), [6]);
    let few: Vec<f64> = values[3..9].to_vec();
    let few = change_points(&with(&few, 0.0005, Starts::Assumed(START_SD)), Method::Student, 0.01);
    assert!(few.unwrap().is_empty());
}

/// Rates hold what a host does from run to run, which only several of them tell.
#[test]
fn one_figure_is_no_level() {
    let of = |values: &[f64]| {
        let series = with(values, 0.001, Starts::Unknown);
        change_points(&series, Method::Student, 0.01).unwrap()
    };
    assert!(of(&[100.0, 90.0]).is_empty() && of(&[100.0, 100.1, 90.0]).is_empty());
    let four = of(&[100.0, 100.1, 90.0, 90.1]);
    assert_eq!(places(&four), [2]);
    assert!((four[0].size.df.unwrap() - 2.0).abs() < 1e-12, "{four:?}");
}

/// Versions against a base: each of the two changes makes the sides of the other unlike.
#[test]
fn changes_do_not_hide_one_another() {
    let mut series =
        with(&[1.0, 0.949, 0.951, 0.952, 0.851, 0.855], 0.0015, Starts::Assumed(START_SD));
    series[0] = Value::base();
    let found = change_points(&series, Method::Student, 0.01).unwrap();
    assert_eq!(places(&found), [1, 4], "{found:?}");
    let (low, high) = found[1].size.estimate.interval.unwrap();
    assert!(low > 0.86 && high < 0.93, "{found:?}");
}

#[test]
fn a_series_without_change_or_without_logarithm() {
    for method in [ORDERS, Method::Student] {
        assert!(change_points(&plain(&[5.0; 20]), method, 0.05).unwrap().is_empty());
        assert!(change_points(&[], method, 0.05).unwrap().is_empty());
        assert!(change_points(&plain(&[5.0]), method, 0.05).unwrap().is_empty());
        assert!(change_points(&plain(&[5.0, 0.0]), method, 0.05).is_none());
    }
}
