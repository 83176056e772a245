//! Two levels: blocks within a start of the servers, and starts.
//!
//! A start draws a memory layout that alone changes QPS by 1 to 2%, the same for all blocks of
//! that start. The observation is therefore the start: its mean log ratio, weighted by what is
//! known of it. The model is that of random effects, mean of start i = true mean + effect of the
//! start (variance τ²) + noise of its blocks (variance vᵢ); τ² by R. DerSimonian and N. Laird,
//! "Meta-analysis in clinical trials", Controlled Clinical Trials 7 (1986); the interval by J.
//! Hartung and G. Knapp, "A refined method for the meta-analysis of controlled clinical trials",
//! Statistics in Medicine 20 (2001), which for starts of equal size is Student's t on their means.
//!
//! Few starts tell little of their own spread, and one tells nothing of it. What starts of like servers have
//! differed by before is a [`StartPrior`]: the variance is then the mean of both, weighted by degrees of freedom, as
//! in G. K. Smyth, "Linear models and empirical Bayes methods for assessing differential expression", Statistical
//! Applications in Genetics and Molecular Biology 3 (2004). Starts that differ by more than the prior says are judged
//! by themselves: a prior that is too small for a host then makes no interval too narrow.

use rqps_model::Estimate;

use crate::correlation::inflation;
use crate::summary::{NO_VARIANCE, moments, p_without_spread};
use crate::tested::{Tested, count, of_log_ratios};
use crate::{CONFIDENCE, student};

/// How far starts differ, before those at hand are seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartPrior {
    /// Standard deviation of the log ratio from start to start: 0.01 is 1%.
    pub sd: f64,
    /// As how many degrees of freedom that counts: small where steps differ much in it.
    pub df: f64,
}

impl StartPrior {
    /// Both together, by degrees of freedom.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        let df = self.df + other.df;
        let variance = (self.df * self.sd.powi(2) + other.df * other.sd.powi(2)) / df;
        Self { sd: variance.sqrt(), df }
    }

    /// That of the ratio of two servers, each of whose starts draws its own; both are of ratios of two alike.
    #[must_use]
    pub fn of_both(self, other: Self) -> Self {
        let sd = (0.5 * (self.sd.powi(2) + other.sd.powi(2))).sqrt();
        Self { sd, df: self.df.min(other.df) }
    }
}

/// A ratio over several starts of the servers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StartsEstimate {
    /// The ratio, its interval and p-value; `estimate.n` is the number of blocks.
    pub tested: Tested,
    /// Starts that had blocks.
    pub starts: u32,
    /// Whether the interval holds what the starts at hand drew: not with one start, whose blocks tell nothing of
    /// that.
    pub holds_starts: bool,
    /// What was assumed of starts, where the interval goes by it.
    pub prior: Option<StartPrior>,
    /// What was measured tells by itself, without what was assumed.
    pub unassuming: Tested,
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
/// of time. Starts without blocks are excluded.
///
/// With one start the interval is that of its blocks ([`of_log_ratios`]). From two starts on it has
/// (starts − 1) degrees of freedom: with two, t is 12.7, and only differences of many times what
/// starts differ by are seen; three need 4.3, five 2.8. It is never narrower than the blocks alone
/// make it, so that two starts that happen to agree prove nothing. `None` without blocks, or with a
/// value that is not finite.
#[must_use]
pub fn of_starts(starts: &[Vec<f64>]) -> Option<StartsEstimate> {
    of_starts_with(starts, None)
}

/// The same with what is known of starts before: that adds its degrees of freedom where the starts at hand differ by
/// no more, and widens the interval of a single start ([`one_start`]).
#[must_use]
pub fn of_starts_with(starts: &[Vec<f64>], prior: Option<StartPrior>) -> Option<StartsEstimate> {
    let used: Vec<&Vec<f64>> = starts.iter().filter(|blocks| !blocks.is_empty()).collect();
    if let [only] = used.as_slice() {
        return Some(one_start(of_log_ratios(only)?, prior));
    }
    let measured = measured(starts)?;
    let n_blocks: usize = used.iter().map(|blocks| blocks.len()).sum();
    let alone = random_effects(&measured, None)?;
    let found = random_effects(&measured, prior)?;
    Some(StartsEstimate {
        tested: found.tested(n_blocks),
        starts: count(used.len()),
        holds_starts: true,
        prior: prior.filter(|_| found.is_by_prior),
        unassuming: alone.tested(n_blocks),
        start_sd: Some(found.start_sd),
        error: Some(found.error),
    })
}

/// A ratio that was measured on one start, whatever its test: with a prior as wide as blocks and starts make it
/// together, each with its own degrees of freedom (F. E. Satterthwaite, "An approximate distribution of estimates of
/// variance components", Biometrics Bulletin 2, 1946), and never narrower than the blocks alone.
#[must_use]
pub fn one_start(tested: Tested, prior: Option<StartPrior>) -> StartsEstimate {
    let alone = StartsEstimate {
        tested,
        starts: 1,
        holds_starts: false,
        prior: None,
        unassuming: tested,
        start_sd: None,
        error: None,
    };
    let Some(prior) = prior else { return alone };
    let (of_blocks, mean) = (tested.error(), tested.estimate.point.ln());
    let (Some(error), Some(df)) = (of_blocks, tested.df) else { return alone };
    let Some((low, high)) = tested.estimate.interval.filter(|_| mean.is_finite()) else {
        return alone;
    };
    let (blocks, starts) = (error.powi(2), prior.sd.powi(2));
    let whole = blocks + starts;
    if whole <= NO_VARIANCE {
        return alone;
    }
    let df = whole.powi(2) / (blocks.powi(2) / df + starts.powi(2) / prior.df);
    let half = student::quantile(CONFIDENCE, df) * whole.sqrt();
    let interval = Some((low.min((mean - half).exp()), high.max((mean + half).exp())));
    let p = tested.p.map(|p| p.max(student::two_sided_p((mean / whole.sqrt()).abs(), df)));
    let estimate = Estimate { interval, ..tested.estimate };
    let tested = Tested { estimate, p, df: Some(df) };
    StartsEstimate { tested, prior: Some(prior), ..alone }
}

impl StartsEstimate {
    /// With the width that counting leaves, where all blocks were alike ([`Tested::resolved`]).
    #[must_use]
    pub fn resolved(self, resolution: f64) -> Self {
        let unassuming = self.unassuming.resolved(resolution);
        if unassuming == self.unassuming {
            return self;
        }
        let Some(prior) = self.prior else {
            return Self { tested: unassuming, unassuming, ..self };
        };
        if !self.holds_starts {
            return Self { starts: self.starts, ..one_start(unassuming, Some(prior)) };
        }
        let (of, by) = (self.tested.estimate, unassuming.estimate);
        let interval = of.interval.zip(by.interval).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
        let p = self.tested.p.zip(unassuming.p).map(|(a, b)| a.max(b));
        let tested = Tested { estimate: Estimate { interval, ..of }, p, df: self.tested.df };
        Self { tested, unassuming, ..self }
    }
}

/// What each start counts in the mean of [`of_starts`]: shares that add up to 1, 0 for a start without
/// blocks. `None` without blocks, or with a value that is not finite.
#[must_use]
pub fn weights(starts: &[Vec<f64>]) -> Option<Vec<f64>> {
    let measured = measured(starts)?;
    let model = Model::of(&measured);
    let all: f64 = measured.iter().map(|s| model.weight(s)).sum();
    let share = |blocks: &Vec<f64>| start(blocks).map_or(0.0, |s| model.weight(&s) / all);
    Some(starts.iter().map(share).collect())
}

/// The mean over starts that count as `weights` say, in the unit of the values, which are no logarithms
/// here. Parts of a whole that all have the weights of the whole ([`weights`]) have means that add up to
/// that of the whole, which they have not where each has its own.
///
/// The model is that of [`of_starts`], with σᵢ² = τ² + v/nᵢ of these values for start i: with shares uᵢ
/// the mean ȳ = Σuᵢyᵢ has the variance Σuᵢ²σᵢ², and Σuᵢ(yᵢ − ȳ)² is Σuᵢ(1 − uᵢ)σᵢ² in the mean. Their
/// quotient times what the latter came out as is the variance that the interval is of, with (starts − 1)
/// degrees of freedom: Hartung and Knapp's with the weights of the values themselves, and Student's on
/// the means of starts that count alike. Never narrower than the blocks alone make it. `None` for fewer
/// than two starts with blocks, for another number of weights, and with a value that is not finite.
#[must_use]
pub fn of_weighted(starts: &[Vec<f64>], weights: &[f64]) -> Option<Estimate> {
    let all = measured(starts)?;
    if all.len() < 2 || starts.len() != weights.len() {
        return None;
    }
    let model = Model::of(&all);
    let has_blocks = starts.iter().zip(weights).filter(|(blocks, _)| !blocks.is_empty());
    let shares: Vec<f64> = has_blocks.map(|(_, share)| *share).collect();
    let sum = |of: &dyn Fn(&Start, f64) -> f64| -> f64 {
        all.iter().zip(&shares).map(|(start, &share)| of(start, share)).sum()
    };
    let mean = sum(&|start, share| share * start.mean);
    let spread = sum(&|start, share| share * (start.mean - mean).powi(2));
    let of_mean = sum(&|start, share| share * share * model.variance(start));
    let of_spread = sum(&|start, share| share * (1.0 - share) * model.variance(start));
    let of_blocks = sum(&|start, share| share * share * model.block_variance / start.n_blocks);
    let seen = Variance { of_mean: spread * of_mean / of_spread, df: model.n_starts - 1.0 };
    let (half, _) = model.half(seen, of_blocks.sqrt());
    let n_blocks: usize = starts.iter().map(Vec::len).sum();
    Some(Estimate { point: mean, interval: Some((mean - half, mean + half)), n: count(n_blocks) })
}

/// The starts that have blocks; `None` where none has, or a value is not finite.
fn measured(starts: &[Vec<f64>]) -> Option<Vec<Start>> {
    let is_finite = starts.iter().flatten().all(|v| v.is_finite());
    let found: Vec<Start> = starts.iter().filter_map(|blocks| start(blocks)).collect();
    (is_finite && !found.is_empty()).then_some(found)
}

fn start(blocks: &[f64]) -> Option<Start> {
    let (mean, variance, n_blocks) = moments(blocks)?;
    Some(Start { mean, n_blocks, squares: variance * (n_blocks - 1.0) * inflation(blocks) })
}

/// What the blocks tell of how unsure the mean of a start is.
struct Model {
    n_starts: f64,
    n_blocks: f64,
    /// Of one block: one variance for all starts, as that of few blocks is too unsure to weight by.
    block_variance: f64,
    /// τ².
    start_variance: f64,
}

impl Model {
    fn of(starts: &[Start]) -> Self {
        let n_starts = starts.len() as f64;
        let n_blocks: f64 = starts.iter().map(|s| s.n_blocks).sum();
        let df = n_blocks - n_starts;
        let squares: f64 = starts.iter().map(|s| s.squares).sum();
        let block_variance = if df > 0.0 { squares / df } else { 0.0 };
        let is_one = starts.len() < 2;
        let start_variance = if is_one { 0.0 } else { between(starts, block_variance, n_blocks) };
        Self { n_starts, n_blocks, block_variance, start_variance }
    }

    fn blocks_df(&self) -> f64 {
        self.n_blocks - self.n_starts
    }

    /// The variance of the mean of a start; 1 where nothing varies, so that all count alike.
    fn variance(&self, start: &Start) -> f64 {
        let variance = self.start_variance + self.block_variance / start.n_blocks;
        if variance > 0.0 { variance } else { 1.0 }
    }

    fn weight(&self, start: &Start) -> f64 {
        1.0 / self.variance(start)
    }

    /// The variance of the mean of the starts that a prior tells of, with the noise of their blocks.
    fn expected(&self, starts: &[Start], prior: StartPrior) -> Variance {
        let variance = |start: &Start| prior.sd.powi(2) + self.block_variance / start.n_blocks;
        let weights: f64 = starts.iter().map(|start| 1.0 / variance(start)).sum();
        Variance { of_mean: 1.0 / weights, df: prior.df }
    }

    /// Half-width of the interval of a mean that starts make unsure by `of_starts` and their blocks by
    /// `of_blocks`, a standard error; and the degrees of freedom of the t that it is of.
    fn half(&self, of_starts: Variance, of_blocks: f64) -> (f64, f64) {
        let df = of_starts.df;
        let half = student::quantile(CONFIDENCE, df) * of_starts.of_mean.sqrt();
        let blocks_df = self.blocks_df();
        if blocks_df > 0.0 {
            let least = student::quantile(CONFIDENCE, blocks_df) * of_blocks;
            return if least > half { (least, blocks_df) } else { (half, df) };
        }
        (half, df)
    }
}

/// A variance of a mean, and how well it is known.
#[derive(Debug, Clone, Copy)]
struct Variance {
    of_mean: f64,
    df: f64,
}

impl Variance {
    /// The mean of both, by degrees of freedom.
    fn with(self, other: Self) -> Self {
        let df = self.df + other.df;
        let of_mean = (self.df * self.of_mean + other.df * other.of_mean) / df;
        Self { of_mean, df }
    }
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
    is_by_prior: bool,
}

impl Found {
    fn tested(&self, n_blocks: usize) -> Tested {
        let interval = Some(((self.mean - self.half).exp(), (self.mean + self.half).exp()));
        let estimate = Estimate { point: self.mean.exp(), interval, n: count(n_blocks) };
        Tested { estimate, p: Some(self.p), df: Some(self.df) }
    }
}

fn random_effects(starts: &[Start], prior: Option<StartPrior>) -> Option<Found> {
    let model = Model::of(starts);
    let k = model.n_starts;
    let weights: f64 = starts.iter().map(|s| model.weight(s)).sum();
    let mean = starts.iter().map(|s| model.weight(s) * s.mean).sum::<f64>() / weights;
    if !mean.is_finite() {
        return None;
    }
    let spread: f64 = starts.iter().map(|s| model.weight(s) * (s.mean - mean).powi(2)).sum();
    let seen = Variance { of_mean: spread / ((k - 1.0) * weights), df: k - 1.0 };
    let expected = prior.map(|prior| model.expected(starts, prior));
    let expected = expected.filter(|expected| seen.of_mean <= expected.of_mean);
    let of_starts = expected.map_or(seen, |expected| seen.with(expected));
    let of_blocks = (model.block_variance / model.n_blocks).sqrt();
    let (half, df) = model.half(of_starts, of_blocks);
    let mut p = p_value(mean, of_starts.of_mean.sqrt(), of_starts.df);
    if model.blocks_df() > 0.0 {
        p = p.max(p_value(mean, of_blocks, model.blocks_df()));
    }
    let has_spread = model.start_variance + model.block_variance > 0.0;
    let error = if has_spread { (1.0 / weights).sqrt() } else { 0.0 };
    Some(Found {
        mean,
        half,
        df,
        p,
        start_sd: model.start_variance.sqrt(),
        error,
        is_by_prior: expected.is_some(),
    })
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
    fn starts_that_count_as_they_are_told_by_hand() {
        // Means 1 and 5; squares 2 and 4 over four degrees of freedom: v = 1.5. τ²: by blocks the mean is
        // 22/6, the spread 64/3, so (64/3 - 1.5) / (6 - 20/6) = 7.4375. σ² = 8.1875 and 7.8125.
        let starts = [vec![0.0, 2.0], Vec::new(), vec![4.0, 4.0, 6.0, 6.0]];
        let found = of_weighted(&starts, &[0.25, 0.0, 0.75]).unwrap();
        assert!((found.point - 4.0).abs() < 1e-12 && found.n == 6);
        // Spread 0.25 * 9 + 0.75 * 1 = 3, its mean 0.1875 * (8.1875 + 7.8125) = 3: the variance is
        // 8.1875 / 16 + 7.8125 * 9 / 16 = 4.90625; t(1) = 12.706.
        let half = 12.706_204_7 * 4.906_25_f64.sqrt();
        let (low, high) = found.interval.unwrap();
        assert!((high - 4.0 - half).abs() < 1e-6 && (4.0 - low - half).abs() < 1e-6, "{found:?}");
        assert!(of_weighted(&starts, &[0.25, 0.75]).is_none());
        assert!(of_weighted(&starts[..2], &[1.0, 0.0]).is_none());
    }

    #[test]
    fn weights_are_those_of_the_mean() {
        let starts =
            [vec![0.1, 0.2, 0.15], Vec::new(), vec![-0.05, 0.3], vec![0.2, 0.21, 0.18, 0.4]];
        let shares = weights(&starts).unwrap();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12 && shares[1].abs() < 1e-12);
        let by_them = of_weighted(&starts, &shares).unwrap();
        let own = of_starts(&starts).unwrap().tested.estimate;
        assert!((by_them.point - own.point.ln()).abs() < 1e-12 && by_them.n == own.n);
        // Far apart, the interval is Hartung and Knapp's; of starts of equal size it always was.
        for starts in [[vec![0.0, 0.01], vec![0.5, 0.51, 0.52]], [vec![0.0, 0.1], vec![0.02, 0.1]]]
        {
            let by_them = of_weighted(&starts, &weights(&starts).unwrap()).unwrap();
            let own = of_starts(&starts).unwrap().tested.estimate;
            let (low, high) = own.interval.unwrap();
            let found = by_them.interval.unwrap();
            assert!((found.0 - low.ln()).abs() < 1e-9 && (found.1 - high.ln()).abs() < 1e-9);
        }
        assert_eq!(weights(&[vec![0.1, 0.3]]), Some(vec![1.0]));
        assert!(weights(&[]).is_none() && weights(&[vec![f64::NAN]]).is_none());
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
