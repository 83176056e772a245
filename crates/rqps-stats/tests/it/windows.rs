//! Locations of the steady rate and the test for two levels, on simulated windows.

use rqps_model::Windows;
use rqps_stats::bimodal::levels;
use rqps_stats::random::Random;
use rqps_stats::steady::{
    Disagreement, Location, Rates, disagreement, disagreement_of_samples, rate, steady_rate,
};

use crate::{assert_documented, percent};

/// What the host and the server do to windows whose calm rate is `calm` operations.
#[derive(Clone, Copy)]
struct Host {
    calm: f64,
    /// Standard deviation of a calm window's rate, relative.
    jitter: f64,
    /// Share of windows that are slowed down, on average; it differs from block to block by as much
    /// again.
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

/// How two sides are compared.
type Compared = fn(Rates<'_>, Rates<'_>) -> Option<Disagreement>;

/// Share of 300 steps of `n` blocks in which average and steady rate are found to disagree.
fn disagreeing(n: usize, (base, candidate): (Host, Host), compared: Compared) -> f64 {
    const STEPS: u32 = 300;
    let mut random = Random::new(n as u64 + 43);
    let mut found = 0;
    for _ in 0..STEPS {
        let mut side = |host: Host| -> (Vec<f64>, Vec<f64>) {
            let measured: Vec<Windows> = (0..n).map(|_| block(100, host, &mut random)).collect();
            let average = measured.iter().map(|w| rate(w, Location::Mean).unwrap()).collect();
            (average, measured.iter().map(|w| steady_rate(w).unwrap()).collect())
        };
        let (base, candidate) = (side(base), side(candidate));
        let base = Rates { average: &base.0, steady: &base.1 };
        let candidate = Rates { average: &candidate.0, steady: &candidate.1 };
        found += u32::from(compared(base, candidate).unwrap().is_finding());
    }
    f64::from(found) / f64::from(STEPS)
}

#[test]
fn averages_and_steady_rates_disagree_where_one_side_stalls() {
    let host = |slowed| Host { calm: 200.0, jitter: 0.05, slowed };
    let cases = [
        ("both calm", host(0.0), host(0.0), false),
        ("one window in ten slowed, on both", host(0.1), host(0.1), false),
        ("three in ten, on both", host(0.3), host(0.3), false),
        ("one in ten, on one side alone", host(0.0), host(0.1), true),
        ("three in ten, on one side alone", host(0.0), host(0.3), true),
    ];
    let mut rows = Vec::new();
    for (name, base, candidate, is_expected) in cases {
        let shares = [8, 12, 20].map(|n| disagreeing(n, (base, candidate), disagreement));
        if is_expected {
            assert!(shares[2] > 0.4, "{name}: {shares:?}");
        } else {
            assert!(shares.iter().all(|s| *s <= 0.03), "{name}: {shares:?}");
        }
        rows.push(format!("| {name} | {} |", shares.map(percent).join(" | ")));
    }
    assert_documented(&rows);
}

#[test]
fn stalls_of_one_side_are_found_without_partners() {
    let host = |slowed| Host { calm: 200.0, jitter: 0.05, slowed };
    let cases = [
        ("one after the other, both calm", host(0.0), host(0.0), false),
        ("one after the other, three in ten, on both", host(0.3), host(0.3), false),
        ("one after the other, one in ten, on one side", host(0.0), host(0.1), true),
        ("one after the other, three in ten, on one side", host(0.0), host(0.3), true),
    ];
    let mut rows = Vec::new();
    for (name, base, candidate, is_expected) in cases {
        let sides = (base, candidate);
        let shares = [4, 6, 12].map(|n| disagreeing(n, sides, disagreement_of_samples));
        if is_expected {
            assert!(shares[2] > 0.1 && shares[2] > shares[0], "{name}: {shares:?}");
        } else {
            assert!(shares.iter().all(|s| *s <= 0.03), "{name}: {shares:?}");
        }
        rows.push(format!("| {name} | {} |", shares.map(percent).join(" | ")));
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

/// A name, how a window's count is drawn, and whether it has two modes.
type Case = (&'static str, fn(&mut Random) -> f64, bool);

#[test]
fn two_levels_are_marked_and_skew_is_not() {
    let cases: [Case; 8] = [
        ("uniform", |r| 60.0 + 80.0 * r.uniform(), false),
        ("normal", |r| 100.0 + 10.0 * r.normal(), false),
        ("exponential", |r| 100.0 * r.exponential(), false),
        (
            "slowed now and then",
            |r| {
                let calm = 100.0 + 5.0 * r.normal();
                if r.uniform() < 0.3 { calm * (-0.3 * r.exponential()).exp() } else { calm }
            },
            false,
        ),
        ("five operations", |r| 5.0 + r.normal(), false),
        (
            "half at 100, half at 120, spread 5",
            |r| 5.0 * r.normal() + if r.uniform() < 0.5 { 100.0 } else { 120.0 },
            true,
        ),
        (
            "one in five at 80, else at 120, spread 8",
            |r| 8.0 * r.normal() + if r.uniform() < 0.2 { 80.0 } else { 120.0 },
            true,
        ),
        (
            "half at 100, half at 110, spread 5 (one mode)",
            |r| 5.0 * r.normal() + if r.uniform() < 0.5 { 100.0 } else { 110.0 },
            false,
        ),
    ];
    let mut rows = Vec::new();
    for (name, draw, has_two) in cases {
        let shares = [200, 1000].map(|n| marked(n, draw));
        // With 200 windows only levels of like share are seen.
        let is_right = if has_two { shares[1] >= 0.8 } else { shares.iter().all(|s| *s <= 0.02) };
        assert!(is_right, "{name}: {shares:?}");
        rows.push(format!("| {name} | {} |", shares.map(percent).join(" | ")));
    }
    assert_documented(&rows);
}

/// The table of `rqps_stats::bimodal` at 5%: uniform values exceed it in at most 5% of samples.
#[test]
fn dips_of_uniform_values() {
    for n in [100_u32, 1000] {
        let mut random = Random::new(u64::from(n));
        let samples = 2000;
        let above = (0..samples)
            .filter(|_| {
                let mut values: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
                values.sort_unstable_by(f64::total_cmp);
                rqps_stats::dip::dip(&values) * f64::from(n).sqrt() > 0.545
            })
            .count();
        let share = above as f64 / f64::from(samples);
        assert!((0.02..0.06).contains(&share), "{n}: {share}");
    }
}
