//! Two levels: blocks within a start of the servers, and starts.
//!
//! A start draws a memory layout that alone moves a figure by 1 to 2%, the same for all blocks of
//! that start. The observation is therefore the start: its mean log ratio, weighted by what is
//! known of it. The model is that of random effects, mean of start i = true mean + effect of the
//! start (variance τ²) + noise of its blocks (variance vᵢ); τ² by R. DerSimonian and N. Laird,
//! "Meta-analysis in clinical trials", Controlled Clinical Trials 7 (1986); the interval by J.
//! Hartung and G. Knapp, "A refined method for the meta-analysis of controlled clinical trials",
//! Statistics in Medicine 20 (2001), which for starts of equal size is Student's t on their means.

use rqps_model::Estimate;

use crate::correlation::inflation;
use crate::summary::{NO_VARIANCE, moments, p_without_spread};
use crate::tested::{Tested, count, of_log_ratios};
use crate::{CONFIDENCE, student};

/// A ratio over several starts of the servers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Restarted {
    /// The ratio, its interval and p-value; `estimate.n` is the number of blocks.
    pub tested: Tested,
    /// Starts that had blocks.
    pub starts: u32,
    /// Whether the interval holds what a start draws: not with one start, whose blocks alone it is
    /// of.
    pub holds_starts: bool,
    /// Estimated standard deviation of the log ratio from start to start, blocks' noise removed (a
    /// relative difference: 0.01 is 1%); 0 where starts differ no more than their blocks explain,
    /// absent with one start.
    pub start_sd: Option<f64>,
    /// Standard error of the log ratio by that and the blocks' noise together; absent with one start.
    /// With it the interval of more starts can be foreseen: two that happen to agree have a narrower
    /// one, and two that do not a wider.
    pub error: Option<f64>,
}

/// A start: its mean log ratio and how many blocks it rests on.
struct Start {
    mean: f64,
    n_blocks: f64,
    /// Squared deviations of the blocks from their mean, times their inflation by correlation.
    squares: f64,
}

/// The ratio of which `starts` has, for each start of the servers, the blocks' log ratios in order
/// of time. Starts without blocks are left out.
///
/// With one start the interval is that of its blocks ([`of_log_ratios`]). From two starts on it has
/// (starts − 1) degrees of freedom: with two, t is 12.7, and only differences of many times what
/// starts differ by are seen; three need 4.3, five 2.8. It is never narrower than the blocks alone
/// make it, so that two starts that happen to agree prove nothing. `None` without blocks, or with a
/// value that is not finite.
#[must_use]
pub fn of_starts(starts: &[Vec<f64>]) -> Option<Restarted> {
    let used: Vec<&Vec<f64>> = starts.iter().filter(|blocks| !blocks.is_empty()).collect();
    if let [only] = used.as_slice() {
        let tested = of_log_ratios(only)?;
        return Some(Restarted {
            tested,
            starts: 1,
            holds_starts: false,
            start_sd: None,
            error: None,
        });
    }
    if used.iter().any(|blocks| blocks.iter().any(|v| !v.is_finite())) {
        return None;
    }
    let n_blocks: usize = used.iter().map(|blocks| blocks.len()).sum();
    let measured: Option<Vec<Start>> = used.iter().map(|blocks| start(blocks)).collect();
    let found = random_effects(&measured?, n_blocks)?;
    let interval = Some(((found.mean - found.half).exp(), (found.mean + found.half).exp()));
    let estimate = Estimate { point: found.mean.exp(), interval, n: count(n_blocks) };
    Some(Restarted {
        tested: Tested { estimate, p: Some(found.p), df: Some(found.df) },
        starts: count(used.len()),
        holds_starts: true,
        start_sd: Some(found.start_sd),
        error: Some(found.error),
    })
}

fn start(blocks: &[f64]) -> Option<Start> {
    let (mean, variance, n_blocks) = moments(blocks)?;
    Some(Start { mean, n_blocks, squares: variance * (n_blocks - 1.0) * inflation(blocks) })
}

/// The mean over starts, on the logarithmic scale.
struct Found {
    mean: f64,
    half: f64,
    /// Degrees of freedom of the t that `half` is of.
    df: f64,
    p: f64,
    start_sd: f64,
    error: f64,
}

fn random_effects(starts: &[Start], n_blocks: usize) -> Option<Found> {
    let k = starts.len() as f64;
    let blocks_df = n_blocks as f64 - k;
    // One variance for the blocks of all starts: that of few blocks is too unsure to weight by.
    let squares: f64 = starts.iter().map(|s| s.squares).sum();
    let block_variance = if blocks_df > 0.0 { squares / blocks_df } else { 0.0 };
    let total: f64 = starts.iter().map(|s| s.n_blocks).sum();
    let start_variance = between(starts, block_variance, total);
    let weight = |s: &Start| {
        let variance = start_variance + block_variance / s.n_blocks;
        if variance > 0.0 { 1.0 / variance } else { 1.0 }
    };
    let weights: f64 = starts.iter().map(weight).sum();
    let mean = starts.iter().map(|s| weight(s) * s.mean).sum::<f64>() / weights;
    if !mean.is_finite() {
        return None;
    }
    let spread: f64 = starts.iter().map(|s| weight(s) * (s.mean - mean).powi(2)).sum();
    let of_starts = (spread / ((k - 1.0) * weights)).sqrt();
    let of_blocks = (block_variance / total).sqrt();
    let mut half = student::quantile(CONFIDENCE, k - 1.0) * of_starts;
    let mut p = p_value(mean, of_starts, k - 1.0);
    let mut df = k - 1.0;
    if blocks_df > 0.0 {
        let least = student::quantile(CONFIDENCE, blocks_df) * of_blocks;
        (half, df) = if least > half { (least, blocks_df) } else { (half, df) };
        p = p.max(p_value(mean, of_blocks, blocks_df));
    }
    let has_spread = start_variance + block_variance > 0.0;
    let error = if has_spread { (1.0 / weights).sqrt() } else { 0.0 };
    Some(Found { mean, half, df, p, start_sd: start_variance.sqrt(), error })
}

/// Variance from start to start beyond what the blocks' noise explains, at least 0 (DerSimonian and
/// Laird's estimate of moments with weights in proportion to the number of blocks).
fn between(starts: &[Start], block_variance: f64, total: f64) -> f64 {
    let k = starts.len() as f64;
    let mean = starts.iter().map(|s| s.n_blocks * s.mean).sum::<f64>() / total;
    let spread: f64 = starts.iter().map(|s| s.n_blocks * (s.mean - mean).powi(2)).sum();
    let squares: f64 = starts.iter().map(|s| s.n_blocks * s.n_blocks).sum();
    ((spread - (k - 1.0) * block_variance) / (total - squares / total)).max(0.0)
}

fn p_value(mean: f64, error: f64, df: f64) -> f64 {
    if error * error > NO_VARIANCE {
        student::two_sided_p((mean / error).abs(), df)
    } else {
        p_without_spread(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_of_equal_size_are_students_t_on_their_means() {
        // Means 0, 0.1, 0.2 (as in the tests of pairs), blocks' noise far below their distance.
        let starts: Vec<Vec<f64>> =
            [0.0, 0.1, 0.2].iter().map(|m| vec![m - 0.001, *m, m + 0.001]).collect();
        let found = of_starts(&starts).unwrap();
        let (low, high) = found.tested.estimate.interval.unwrap();
        let half = 4.302_652_7 * 0.1 / 3.0_f64.sqrt();
        assert!((low.ln() - (0.1 - half)).abs() < 1e-6 && (high.ln() - (0.1 + half)).abs() < 1e-6);
        assert!((found.tested.p.unwrap() - 0.225_403_3).abs() < 1e-6);
        // τ² = variance of means less that of the blocks over three: 0.01 - 1e-6 / 3.
        assert!((found.start_sd.unwrap().powi(2) - (0.01 - 1e-6 / 3.0)).abs() < 1e-9);
        assert!(found.holds_starts && found.starts == 3 && found.tested.estimate.n == 9);
        // Of starts of equal size the error is that of their means.
        assert!((found.error.unwrap() - 0.1 / 3.0_f64.sqrt()).abs() < 1e-6);
        // Two degrees of freedom for nine blocks: half / t(8) would be an error twice as large.
        assert!((found.tested.df.unwrap() - 2.0).abs() < 1e-12);
        assert!((found.tested.error().unwrap() - 0.1 / 3.0_f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn starts_count_alike_when_they_differ_and_by_blocks_when_not() {
        let differ = [vec![0.0, 0.001, -0.001, 0.0, 0.0, 0.0], vec![0.1, 0.1]];
        let point = of_starts(&differ).unwrap().tested.estimate.point.ln();
        assert!((point - 0.05).abs() < 1e-4, "{point}");
        let alike = [vec![0.1, -0.1, 0.1, -0.1, 0.1, -0.1], vec![0.13, -0.07]];
        let point = of_starts(&alike).unwrap().tested.estimate.point.ln();
        assert!((point - 0.03 * 2.0 / 8.0).abs() < 1e-9, "{point}");
    }

    #[test]
    fn starts_that_agree_by_chance_leave_the_blocks_their_width() {
        let blocks = vec![-0.1, 0.1, -0.1, 0.1];
        let found = of_starts(&[blocks.clone(), blocks]).unwrap();
        let (low, high) = found.tested.estimate.interval.unwrap();
        // Eight squares of 0.01 over six degrees of freedom; t(6) = 2.447.
        let half = 2.446_912 * (0.08_f64 / 6.0 / 8.0).sqrt();
        assert!((high.ln() - half).abs() < 1e-5 && (low.ln() + half).abs() < 1e-5);
        assert!(found.start_sd.unwrap() < 1e-12 && found.tested.p.unwrap() > 0.99);
        assert!((found.tested.df.unwrap() - 6.0).abs() < 1e-12);
        assert!((found.error.unwrap() - (0.08_f64 / 6.0 / 8.0).sqrt()).abs() < 1e-9);
    }

    #[test]
    fn one_start_is_of_its_blocks_alone_and_says_so() {
        let blocks = vec![0.0, 0.1, 0.3];
        let found = of_starts(&[blocks.clone(), Vec::new()]).unwrap();
        assert_eq!(found.tested, of_log_ratios(&blocks).unwrap());
        assert!(!found.holds_starts && found.starts == 1 && found.start_sd.is_none());
        assert!(of_starts(&[]).is_none() && of_starts(&[Vec::new()]).is_none());
        assert!(of_starts(&[vec![0.0], vec![f64::NAN]]).is_none());
        // One block each: the starts' means are all there is.
        assert!(of_starts(&[vec![0.0], vec![0.1]]).unwrap().tested.estimate.interval.is_some());
    }

    #[test]
    fn swapping_sides_inverts() {
        let starts = [vec![0.1, 0.2, 0.15], vec![-0.05, 0.3], vec![0.2, 0.21, 0.18, 0.4]];
        let negated: Vec<Vec<f64>> =
            starts.iter().map(|b| b.iter().map(|v| -v).collect()).collect();
        let there = of_starts(&starts).unwrap().tested.estimate;
        let back = of_starts(&negated).unwrap().tested.estimate;
        assert!((there.point * back.point - 1.0).abs() < 1e-9);
        assert!((there.interval.unwrap().0 * back.interval.unwrap().1 - 1.0).abs() < 1e-9);
    }
}
