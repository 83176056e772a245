//! Blocks as they may come: log ratios with mean 0 and, but for those that drift, variance 1.

use rqps_stats::random::Random;

/// How the log ratios of blocks are drawn.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Shape {
    Normal,
    /// 1 minus an exponential: every block is slowed down by some amount.
    Skewed,
    /// Normal, and one block in ten is slowed down by three standard deviations more on average.
    Contaminated,
    /// Two levels 2 apart, each with standard deviation 0.3; the share at the lower one.
    Levels(f64),
    /// Normal, and the mean moves by this much from the first to the last block.
    Drifting(f64),
    /// Neighbours correlate by this much (a first-order autoregression).
    Correlated(f64),
}

impl Shape {
    pub(crate) const ALL: [Self; 9] = [
        Self::Normal,
        Self::Skewed,
        Self::Contaminated,
        Self::Levels(0.5),
        Self::Levels(0.2),
        Self::Drifting(1.0),
        Self::Drifting(2.0),
        Self::Correlated(0.2),
        Self::Correlated(0.4),
    ];
}

/// `n` log ratios of blocks in order of time.
pub(crate) fn blocks(n: usize, shape: Shape, random: &mut Random) -> Vec<f64> {
    let mut last = random.normal();
    (0..n)
        .map(|i| match shape {
            Shape::Normal => random.normal(),
            Shape::Skewed => 1.0 - random.exponential(),
            Shape::Contaminated => {
                let calm = random.normal() + 0.3;
                if random.uniform() < 0.1 { calm - 3.0 * random.exponential() } else { calm }
            }
            Shape::Levels(share) => {
                let level = if random.uniform() < share { -2.0 } else { 0.0 };
                level + 2.0 * share + 0.3 * random.normal()
            }
            Shape::Drifting(by) => by * (i as f64 / (n as f64 - 1.0) - 0.5) + random.normal(),
            Shape::Correlated(r) => {
                last = r * last + (1.0 - r * r).sqrt() * random.normal();
                last
            }
        })
        .collect()
}
