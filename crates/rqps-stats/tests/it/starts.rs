//! Coverage over restarts of the servers.

use rqps_stats::random::Random;
use rqps_stats::restarts::of_starts;

use crate::{assert_documented, percent};

/// Share of 10,000 runs whose interval covers 0: `sizes` blocks per start, noise of a block 1,
/// starts differ by `start_sd`. Also the median half-width.
fn measured(sizes: &[usize], start_sd: f64) -> (f64, f64) {
    const RUNS: u32 = 10_000;
    let mut random = Random::new(sizes.len() as u64 * 100 + 5);
    let mut covered = 0;
    let mut widths = Vec::new();
    for _ in 0..RUNS {
        let starts: Vec<Vec<f64>> = sizes
            .iter()
            .map(|n| {
                let drawn = start_sd * random.normal();
                (0..*n).map(|_| 0.01 * (drawn + random.normal())).collect()
            })
            .collect();
        let found = of_starts(&starts).unwrap().tested.estimate;
        let (low, high) = found.interval.unwrap();
        covered += u32::from(low <= 1.0 && 1.0 <= high);
        widths.push(50.0 * (high.ln() - low.ln()));
    }
    widths.sort_unstable_by(f64::total_cmp);
    (f64::from(covered) / f64::from(RUNS), widths[widths.len() / 2])
}

#[test]
fn coverage_over_restarts() {
    let mut rows = Vec::new();
    let cases: [(&str, &[usize]); 6] = [
        ("1", &[12]),
        ("2", &[12; 2]),
        ("3", &[12; 3]),
        ("3, of 6, 12 and 24 blocks", &[6, 12, 24]),
        ("5", &[12; 5]),
        ("10", &[12; 10]),
    ];
    for (name, sizes) in cases {
        let cells = [0.0, 0.5, 1.0, 2.0].map(|sd| {
            let (covered, width) = measured(sizes, sd);
            let least = if sizes.len() == 1 { 0.2 } else { 0.92 };
            assert!(covered >= least, "{name} {sd}: {covered}");
            format!("{} ({width:.1})", percent(covered))
        });
        rows.push(format!("| {name} | {} |", cells.join(" | ")));
    }
    assert_documented(&rows);
}
