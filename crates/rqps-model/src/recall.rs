//! How many of the exact nearest neighbours searches find.

use serde::{Deserialize, Serialize};

/// The recall of a search on one start of a server: of each query the part of its exact nearest neighbours that its
/// answer has, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Recall {
    /// Nearest neighbours that a query asks for.
    pub k: u32,
    /// Queries whose answers were read.
    pub n_queries: u32,
    /// The mean over the queries.
    pub mean: f64,
    /// The standard deviation over the queries.
    pub sd: f64,
    /// The value below which 5% of the queries lie.
    pub p5: f64,
}

impl Recall {
    /// The recall of queries, each from 0 to 1; `None` without any.
    #[must_use]
    pub fn of(k: u32, mut recalls: Vec<f64>) -> Option<Self> {
        let n = recalls.len();
        let n_queries = u32::try_from(n).ok().filter(|n| *n > 0)?;
        let mean = recalls.iter().sum::<f64>() / n as f64;
        let squares: f64 = recalls.iter().map(|recall| (recall - mean).powi(2)).sum();
        let sd = (squares / (n - 1).max(1) as f64).sqrt();
        recalls.sort_by(f64::total_cmp);
        Some(Self { k, n_queries, mean, sd, p5: recalls[n.div_ceil(20) - 1] })
    }
}

#[cfg(test)]
mod tests {
    use super::Recall;

    #[test]
    fn mean_deviation_and_the_low_end() {
        let recalls: Vec<f64> = (1..=100).map(|n| f64::from(n) / 100.0).rev().collect();
        let found = Recall::of(10, recalls).unwrap();
        assert!(
            (found.mean - 0.505).abs() < 1e-12 && (found.sd - 0.290_115).abs() < 1e-6,
            "{found:?}"
        );
        assert!((found.p5 - 0.05).abs() < 1e-12 && found.n_queries == 100, "{found:?}");
        assert_eq!(Recall::of(10, Vec::new()), None);
        let one = Recall::of(10, vec![0.9]).unwrap();
        assert!((one.p5 - 0.9).abs() < 1e-12 && one.sd.abs() < 1e-12);
    }
}
