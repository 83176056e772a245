//! Drift within a step and changes along a series: false alarms and power.

use rqps_model::Estimate;
use rqps_stats::change_point::{Method, change_points};
use rqps_stats::drift::{DRIFT_P, drift};
use rqps_stats::random::Random;

use crate::simulate::{Shape, blocks};
use crate::{assert_documented, percent};

#[test]
fn drifts_are_marked_and_noise_is_not() {
    const RUNS: u32 = 4000;
    let shapes = [
        ("normal", Shape::Normal),
        ("skewed (exponential)", Shape::Skewed),
        ("neighbours correlate by 0.2", Shape::Correlated(0.2)),
        ("neighbours correlate by 0.4", Shape::Correlated(0.4)),
        ("drifting by 2 standard deviations", Shape::Drifting(2.0)),
        ("drifting by 4", Shape::Drifting(4.0)),
    ];
    let mut rows = Vec::new();
    for (name, shape) in shapes {
        let shares = [8, 12, 20, 40].map(|n| {
            let mut random = Random::new(n as u64 + 51);
            let mut marked = 0;
            for _ in 0..RUNS {
                let figures: Vec<f64> =
                    blocks(n, shape, &mut random).iter().map(|e| 1e4 * (0.05 * e).exp()).collect();
                marked += u32::from(drift(&figures).unwrap().p.unwrap() < DRIFT_P);
            }
            f64::from(marked) / f64::from(RUNS)
        });
        if shape == Shape::Normal {
            assert!(shares.iter().all(|s| *s <= 0.015), "{shares:?}");
        }
        rows.push(format!("| {name} | {} |", shares.map(percent).join(" | ")));
    }
    assert_documented(&rows);
}

/// Share of series in which anything is found, and in which exactly one change within one place of
/// the right one is. Values spread by 1%; they lose `loss` at the middle.
fn found(n: usize, loss: f64, method: Method, has_intervals: bool) -> (f64, f64) {
    const SERIES: u32 = 400;
    let mut random = Random::new(n as u64 + 61);
    let (mut any, mut right) = (0, 0);
    for _ in 0..SERIES {
        let series: Vec<Estimate> = (0..n)
            .map(|i| {
                let level = if i < n / 2 { 1.0 } else { 1.0 - loss };
                let point = 1e4 * level * (0.01 * random.normal()).exp();
                // Twenty blocks with half-width 2.093 standard errors of 1%.
                let half: f64 = 2.093 * 0.01;
                let interval = has_intervals.then_some((point * (-half).exp(), point * half.exp()));
                Estimate { point, interval, n: if has_intervals { 20 } else { 1 } }
            })
            .collect();
        let changes = change_points(&series, method, 0.05).unwrap();
        any += u32::from(!changes.is_empty());
        right += u32::from(changes.len() == 1 && changes[0].at.abs_diff(n / 2) <= 1);
    }
    (f64::from(any) / f64::from(SERIES), f64::from(right) / f64::from(SERIES))
}

#[test]
fn changes_are_found_at_the_nominal_rate() {
    let methods = [
        ("permutation (199 orders)", Method::Permutation { orders: 199, seed: 5 }, false),
        ("t, values alone", Method::Student, false),
        ("t, values with intervals", Method::Student, true),
    ];
    let mut rows = Vec::new();
    for (name, method, has_intervals) in methods {
        for n in [6, 12, 30] {
            let (false_alarms, _) = found(n, 0.0, method, has_intervals);
            // 5% and three standard errors of 400 series.
            assert!(false_alarms <= 0.085, "{name} {n}: {false_alarms}");
            let losses = [0.02, 0.05].map(|loss| found(n, loss, method, has_intervals).1);
            let losses = losses.map(percent).join(" | ");
            rows.push(format!("| {name} | {n} | {} | {losses} |", percent(false_alarms)));
        }
    }
    assert_documented(&rows);
}
