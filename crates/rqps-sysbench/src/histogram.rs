//! Response times on a geometric grid: sysbench's, each of its buckets cut into five and without its
//! end at 100 s.
//!
//! Sysbench's bucket i stands for 0.001 ms times the i-th power of a factor, such that number 1023
//! is 100 s; a time counts for the nearest one. What is printed are values of that grid, so that they
//! compare with sysbench's; finer ones are in the JSON.

/// A grid of values from `low` on, each `e^step` times the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Grid {
    low: f64,
    step: f64,
    n_buckets: usize,
}

/// Buckets of ours to one of sysbench's: an odd number, so that the edges of its buckets are edges of
/// ours, and counts on this grid become exactly those of its own.
const FINER: usize = 5;
/// Sysbench's buckets from 0.001 ms to 100 s.
const N_COARSE: usize = 1024;
/// Its grid goes on to 0.001 ms times the factor to this power: some 11 days.
const N_ALL: usize = 1536;
/// Its first value, ms.
const LOW_MS: f64 = 0.001;
/// Its last value, ms.
const HIGH_MS: f64 = 100_000.0;

impl Grid {
    /// `n_buckets` values from `low` to `high`.
    pub(crate) fn new(n_buckets: usize, low: f64, high: f64) -> Self {
        let step = (high / low).ln() / (n_buckets.max(2) - 1) as f64;
        Self { low, step, n_buckets }
    }

    /// The grid on which response times are printed, in ms.
    pub(crate) fn printed() -> Self {
        Self { n_buckets: N_ALL, ..Self::new(N_COARSE, LOW_MS, HIGH_MS) }
    }

    /// The grid on which they are counted, in ms.
    pub(crate) fn counted() -> Self {
        let printed = Self::printed();
        Self { step: printed.step / FINER as f64, n_buckets: N_ALL * FINER, ..printed }
    }

    /// The number of buckets.
    pub(crate) fn len(&self) -> usize {
        self.n_buckets
    }

    /// The bucket nearest to a value.
    #[inline]
    pub(crate) fn bucket(&self, value: f64) -> usize {
        let exact = (value / self.low).ln() / self.step + 0.5;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "`as` keeps what is out of range at the ends, and NaN at 0"
        )]
        let bucket = exact as usize;
        bucket.min(self.n_buckets.saturating_sub(1))
    }

    /// The value of a bucket.
    pub(crate) fn value(&self, bucket: usize) -> f64 {
        self.low * (bucket as f64 * self.step).exp()
    }

    /// The value below which `percent` of the counts lie; 0 without counts. The rank is rounded to the
    /// nearest, as sysbench does: of 11 counts, 95% are 10 and 85% are 9.
    pub(crate) fn percentile(&self, counts: &[u64], percent: f64) -> f64 {
        let total: u64 = counts.iter().sum();
        if total == 0 {
            return 0.0;
        }
        let wanted = (total as f64 * percent / 100.0 + 0.5).floor();
        let mut seen = 0;
        for (bucket, count) in counts.iter().enumerate() {
            seen += count;
            if *count > 0 && seen as f64 >= wanted {
                return self.value(bucket);
            }
        }
        self.value(counts.len().saturating_sub(1))
    }

    /// The lines of a printed histogram, without empty buckets.
    pub(crate) fn drawn(&self, counts: &[u64]) -> String {
        const WIDTH: u64 = 40;
        let most = counts.iter().copied().max().unwrap_or(0).max(1);
        let mut text =
            String::from("       value  ------------- distribution ------------- count\n");
        for (bucket, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let stars = (count * WIDTH + most / 2) / most;
            let bar = "*".repeat(usize::try_from(stars).unwrap_or(0));
            text.push_str(&format!("{:12.3} |{bar:40} {count}\n", self.value(bucket)));
        }
        text
    }
}

/// Counts of the finer grid, on the printed one.
pub(crate) fn coarsen(counts: &[u64]) -> Vec<u64> {
    let mut coarse = vec![0; N_ALL];
    for (bucket, count) in counts.iter().enumerate() {
        if let Some(slot) = coarse.get_mut(coarse_bucket(bucket)) {
            *slot += count;
        }
    }
    coarse
}

/// The bucket of the printed grid that holds one of the finer: number 5i stands for the very value of
/// i, and two on either side are nearest to it.
fn coarse_bucket(fine: usize) -> usize {
    ((fine + FINER / 2) / FINER).min(N_ALL - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_that_sysbench_prints() {
        let grid = Grid::printed();
        for value in [0.989, 1.007, 12.081, 92.424, 601.29, 1327.91] {
            let nearest = grid.value(grid.bucket(value));
            assert!((nearest - value).abs() < 0.0006 * value.max(1.0), "{value}: {nearest}");
        }
        assert!((grid.value(1023) - 100_000.0).abs() < 1e-3);
    }

    #[test]
    fn times_beyond_100_s_have_buckets_of_their_own() {
        let grid = Grid::counted();
        let hour = grid.bucket(3_600_000.0);
        assert!((grid.value(hour) / 3_600_000.0 - 1.0).abs() < 0.003);
        assert!(hour < grid.len() - 1);
        assert_eq!(grid.bucket(0.0), 0);
        assert_eq!(grid.bucket(f64::INFINITY), grid.len() - 1);
    }

    #[test]
    fn percentiles_by_hand() {
        let grid = Grid::counted();
        let mut counts = vec![0; grid.len()];
        assert!(grid.percentile(&counts, 95.0).abs() < f64::EPSILON);
        for ms in 1..=100 {
            counts[grid.bucket(f64::from(ms))] += 1;
        }
        for (percent, ms) in [(50.0, 50.0), (95.0, 95.0), (99.9, 100.0), (100.0, 100.0)] {
            let found = grid.percentile(&counts, percent);
            assert!((found / ms - 1.0).abs() < 0.003, "{percent}%: {found}");
        }
        let coarse = coarsen(&counts);
        assert_eq!(coarse.iter().sum::<u64>(), 100);
        assert!((Grid::printed().percentile(&coarse, 95.0) / 95.0 - 1.0).abs() < 0.01);
    }

    #[test]
    fn few_counts_have_the_rank_that_sysbench_gives_them() {
        let grid = Grid::printed();
        let mut counts = vec![0; grid.len()];
        for ms in [5.0; 9].into_iter().chain([100.0; 2]) {
            counts[grid.bucket(ms)] += 1;
        }
        // As seen of sysbench 1.0.20: 9.35 and 10.45 of eleven.
        for (percent, ms) in [(50.0, 5.0), (85.0, 5.0), (95.0, 100.0), (1.0, 5.0)] {
            let found = grid.percentile(&counts, percent);
            assert!((found / ms - 1.0).abs() < 0.01, "{percent}%: {found}");
        }
    }

    #[test]
    fn counts_of_the_finer_grid_are_exactly_those_of_sysbench() {
        let (counted, printed) = (Grid::counted(), Grid::printed());
        // Every hundredth of a bucket but the edges, where rounding decides.
        for hundredth in (0..102_300_u32).filter(|n| n % 100 != 50) {
            let ms = LOW_MS * (f64::from(hundredth) / 100.0 * printed.step).exp();
            assert_eq!(coarse_bucket(counted.bucket(ms)), printed.bucket(ms), "{ms} ms");
        }
    }

    #[test]
    fn a_histogram_as_sysbench_draws_it() {
        let grid = Grid::new(20, 1.0, 100.0);
        let mut counts = vec![0; grid.len()];
        for value in 1..=4 {
            counts[grid.bucket(f64::from(value))] += 1;
        }
        counts[grid.bucket(1.0)] += 8;
        let drawn = grid.drawn(&counts);
        let lines: Vec<&str> = drawn.lines().collect();
        assert_eq!(lines[1], "       1.000 |**************************************** 9");
        assert_eq!(lines[2], "       2.069 |****                                     1");
        assert_eq!(lines.len(), 5);
    }
}
