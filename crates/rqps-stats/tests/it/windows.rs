//! Locations of the steady rate and the test for two levels, on simulated windows.

use rqps_model::Windows;
use rqps_stats::bimodal::levels;
use rqps_stats::random::Random;
use rqps_stats::steady::{Location, rate};

use crate::{assert_documented, percent};

/// What the host and the server do to windows whose calm rate is `calm` operations.
#[derive(Clone, Copy)]
struct Host {
    calm: f64,
    /// Standard deviation of a calm window's rate, relative.
    jitter: f64,
    /// Share of windows that are slowed down, on average; it differs from block to block by as much again.
    slowed: f64,
}

/// A block's windows: each rate is normal about the calm one, and some lose an exponential share of
/// 30% on average.
fn block(n: usize, host: Host, random: &mut Random) -> Windows {
    let slowed = (host.slowed * random.exponential()).min(0.9);
    let counts = (0..n)
        .map(|_| {
            let mut mean = host.calm * (1.0 + host.jitter * random.normal());
            if random.uniform() < slowed {
                mean *= (-0.3 * random.exponential()).exp();
            }
            whole(mean + random.uniform())
        })
        .collect();
    Windows { length_ns: 20_000_000, counts }
}

fn whole(value: f64) -> u32 {
    let mut count = 0;
    while f64::from(count + 1) <= value {
        count += 1;
    }
    count
}

#[test]
fn spread_of_the_locations() {
    let hosts = [
        ("calm host", Host { calm: 800.0, jitter: 0.05, slowed: 0.0 }),
        ("one window in ten slowed", Host { calm: 800.0, jitter: 0.05, slowed: 0.1 }),
        ("three in ten", Host { calm: 800.0, jitter: 0.05, slowed: 0.3 }),
        ("three in ten, jitter 15%", Host { calm: 800.0, jitter: 0.15, slowed: 0.3 }),
        ("three in ten, 10 operations", Host { calm: 10.0, jitter: 0.05, slowed: 0.3 }),
    ];
    let mut rows = Vec::new();
    for (name, host) in hosts {
        let mut random = Random::new(41);
        let measured: Vec<Windows> = (0..600).map(|_| block(100, host, &mut random)).collect();
        let spreads = Location::ALL.map(|location| {
            let logs: Vec<f64> = measured.iter().map(|w| rate(w, location).unwrap().ln()).collect();
            let mean = logs.iter().sum::<f64>() / logs.len() as f64;
            let squares: f64 = logs.iter().map(|v| (v - mean).powi(2)).sum();
            (squares / (logs.len() as f64 - 1.0)).sqrt()
        });
        if host.slowed > 0.0 {
            assert!(spreads[4] < 0.7 * spreads[0], "{name}: {spreads:?}");
        }
        let cells = spreads.map(|sd| format!("{:.2}%", sd * 100.0));
        rows.push(format!("| {name} | {} |", cells.join(" | ")));
    }
    assert_documented(&rows);
}

/// Share of 300 steps of `n` windows that are marked as bimodal.
fn marked(n: usize, mut draw: impl FnMut(&mut Random) -> f64) -> f64 {
    const STEPS: u32 = 300;
    let mut random = Random::new(n as u64 + 3);
    let mut found = 0;
    for _ in 0..STEPS {
        let counts = (0..n).map(|_| whole(draw(&mut random))).collect();
        let windows = Windows { length_ns: 20_000_000, counts };
        found += u32::from(levels(&windows).is_some_and(|l| l.is_bimodal()));
    }
    f64::from(found) / f64::from(STEPS)
}

/// A name, how a window's count is drawn, and the shares that may be marked.
type Case = (&'static str, fn(&mut Random) -> f64, std::ops::RangeInclusive<f64>);

#[test]
fn two_levels_are_marked_and_skew_is_not() {
    let cases: [Case; 8] = [
        ("uniform", |r| 60.0 + 80.0 * r.uniform(), 0.0..=0.02),
        ("normal", |r| 100.0 + 10.0 * r.normal(), 0.0..=0.0),
        ("exponential", |r| 100.0 * r.exponential(), 0.0..=0.0),
        (
            "slowed now and then",
            |r| {
                let calm = 100.0 + 5.0 * r.normal();
                if r.uniform() < 0.3 { calm * (-0.3 * r.exponential()).exp() } else { calm }
            },
            0.0..=0.01,
        ),
        ("five operations", |r| 5.0 + r.normal(), 0.0..=0.01),
        (
            "half at 100, half at 120, spread 5",
            |r| 5.0 * r.normal() + if r.uniform() < 0.5 { 100.0 } else { 120.0 },
            0.6..=1.0,
        ),
        (
            "one in five at 80, else at 120, spread 8",
            |r| 8.0 * r.normal() + if r.uniform() < 0.2 { 80.0 } else { 120.0 },
            0.4..=1.0,
        ),
        (
            "half at 100, half at 110, spread 5 (one mode)",
            |r| 5.0 * r.normal() + if r.uniform() < 0.5 { 100.0 } else { 110.0 },
            0.0..=0.02,
        ),
    ];
    let mut rows = Vec::new();
    for (name, draw, expected) in cases {
        let shares = [200, 1000].map(|n| marked(n, draw));
        for share in shares {
            assert!(expected.contains(&share), "{name}: {shares:?}");
        }
        rows.push(format!("| {name} | {} |", shares.map(percent).join(" | ")));
    }
    assert_documented(&rows);
}

/// The table of `rqps_stats::bimodal` at 5%: uniform values exceed it in at most 5% of samples.
#[test]
fn dips_of_uniform_values() {
    for n in [100, 1000] {
        let mut random = Random::new(n as u64);
        let samples = 2000;
        let above = (0..samples)
            .filter(|_| {
                let mut values: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
                values.sort_unstable_by(f64::total_cmp);
                rqps_stats::dip::dip(&values) * (n as f64).sqrt() > 0.545
            })
            .count();
        let share = above as f64 / f64::from(samples);
        assert!((0.02..0.06).contains(&share), "{n}: {share}");
    }
}
