//! Measured coverage of the intervals, and the table of it in docs/statistics.md.

mod totals;

use rqps_stats::{paired_ratio, ratio};

/// Splitmix64 (Steele, Lea and Flood, 2014), enough for a simulation with a fixed seed.
struct Random(u64);

impl Random {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller, 1958).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (2.0 * std::f64::consts::PI * self.uniform()).cos()
    }
}

/// Share of 20,000 simulated runs whose interval covers the true ratio.
fn coverage(n: usize, base_sd: f64, candidate_sd: f64) -> f64 {
    const RUNS: u32 = 20_000;
    const TRUTH: f64 = 0.7;
    let mut random = Random(n as u64 * 1000 + 7);
    let mut covered = 0;
    for _ in 0..RUNS {
        let base: Vec<f64> = (0..n).map(|_| 1e4 * (base_sd * random.normal()).exp()).collect();
        let candidate: Vec<f64> =
            (0..n).map(|_| TRUTH * 1e4 * (candidate_sd * random.normal()).exp()).collect();
        let interval = ratio(&base, &candidate).and_then(|r| r.interval);
        let covers = interval.is_some_and(|(low, high)| low <= TRUTH && TRUTH <= high);
        covered += u32::from(covers);
    }
    f64::from(covered) / f64::from(RUNS)
}

#[test]
fn coverage_of_welch() {
    let docs = include_str!("../../../../docs/statistics.md");
    let mut rows = Vec::new();
    for n in [2, 3, 5, 10] {
        let equal = coverage(n, 0.05, 0.05);
        let unequal = coverage(n, 0.05, 0.15);
        // Two slices a side leave one to two degrees of freedom: wide intervals that cover too much.
        assert!((0.94..0.99).contains(&equal), "{n}: {equal}");
        assert!((0.93..0.99).contains(&unequal), "{n}: {unequal}");
        rows.push(format!("| {n} | {:.1}% | {:.1}% |", equal * 100.0, unequal * 100.0));
    }
    for row in &rows {
        assert!(docs.contains(row), "docs/statistics.md lacks its rows:\n{}", rows.join("\n"));
    }
}

/// How the log ratios of blocks are drawn: each has standard deviation 1.
#[derive(Clone, Copy)]
enum Shape {
    Normal,
    /// An exponential distribution: blocks that were slowed down now and then.
    Skewed,
    /// Neighbours correlate by this much (a first-order autoregression).
    Correlated(f64),
}

fn blocks(n: usize, shape: Shape, random: &mut Random) -> Vec<f64> {
    let mut last = random.normal();
    (0..n)
        .map(|_| match shape {
            Shape::Normal => random.normal(),
            Shape::Skewed => 1.0 + (1.0 - random.uniform()).ln(),
            Shape::Correlated(r) => {
                last = r * last + (1.0 - r * r).sqrt() * random.normal();
                last
            }
        })
        .collect()
}

/// Share of 20,000 simulated runs of `n` blocks whose interval covers the true ratio. The host
/// drifts by a third from block to block, for both systems alike.
fn paired_coverage(n: usize, shape: Shape) -> f64 {
    const RUNS: u32 = 20_000;
    const TRUTH: f64 = 0.7;
    let mut random = Random(n as u64 * 1000 + 11);
    let mut covered = 0;
    for _ in 0..RUNS {
        let base: Vec<f64> = (0..n).map(|_| 1e4 * (0.3 * random.normal()).exp()).collect();
        let noise = blocks(n, shape, &mut random);
        let candidate: Vec<f64> =
            base.iter().zip(noise).map(|(b, e)| TRUTH * b * (0.05 * e).exp()).collect();
        let interval = paired_ratio(&base, &candidate).and_then(|r| r.interval);
        let covers = interval.is_some_and(|(low, high)| low <= TRUTH && TRUTH <= high);
        covered += u32::from(covers);
    }
    f64::from(covered) / f64::from(RUNS)
}

#[test]
fn coverage_of_paired_blocks() {
    let docs = include_str!("../../../../docs/statistics.md");
    let shapes = [Shape::Normal, Shape::Skewed, Shape::Correlated(0.2), Shape::Correlated(0.4)];
    let mut rows = Vec::new();
    for n in [4, 8, 12, 20, 40] {
        let all = shapes.map(|shape| paired_coverage(n, shape));
        assert!((0.94..0.98).contains(&all[0]), "{n} normal: {}", all[0]);
        let cells = all.map(|c| format!("{:.1}%", c * 100.0));
        rows.push(format!("| {n} | {} |", cells.join(" | ")));
    }
    for row in &rows {
        assert!(docs.contains(row), "docs/statistics.md lacks its rows:\n{}", rows.join("\n"));
    }
}
