//! Many steps times many systems: which differences of a run survive that so many were tried.
//!
//! Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate: a practical and powerful
//! approach to multiple testing", Journal of the Royal Statistical Society B 57 (1995). Of the
//! differences called, a share of at most q is false on average; where nothing differs at all, at
//! most a share q of runs calls anything. It holds for independent tests, and for one-sided ones
//! that depend positively (Y. Benjamini and D. Yekutieli, 2001); for two-sided tests of candidates
//! that share a base, this crate's tests measure it.

use rqps_model::Verdict;

use crate::ratio::verdict;
use crate::tested::Tested;

/// The share of false differences among those called: 5%, the intervals' own level.
pub const DEFAULT_Q: f64 = 0.05;

/// p-values adjusted for their number, in the order given: the smallest q at which each survives.
///
/// One that is not a number counts as 1. Adjusted ones are in 0..=1 and in the order of the
/// p-values.
#[must_use]
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let clean = |p: f64| if p.is_nan() { 1.0 } else { p.clamp(0.0, 1.0) };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| clean(p_values[*b]).total_cmp(&clean(p_values[*a])));
    let m = p_values.len();
    let mut result = vec![1.0; m];
    let mut least: f64 = 1.0;
    for (from_top, position) in order.into_iter().enumerate() {
        let rank = (m - from_top) as f64;
        least = least.min(clean(p_values[position]) * m as f64 / rank);
        result[position] = least;
    }
    result
}

/// What a ratio says among all the ratios of its run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// The verdict; `Unclear` where the ratio alone is slower or faster, yet not among so many.
    pub verdict: Verdict,
    /// The verdict of the ratio alone.
    pub alone: Verdict,
    /// The p-value adjusted among all ratios, whatever their size; absent without an interval.
    pub adjusted_p: Option<f64>,
    /// The same where differences below the practical bound count as none, which the verdict goes
    /// by: at least `adjusted_p`; absent where the ratio alone is neither slower nor faster.
    pub verdict_p: Option<f64>,
    /// Whether the difference survives among all, be it larger or smaller than the practical bound.
    pub is_significant: bool,
}

/// Verdicts over all ratios of a run (every step times every candidate, QPS only, so that each
/// question is counted once), in the order given. `bound` as in [`verdict`], `q` in 0..1.
///
/// Ratios without an interval take no part. A verdict of `same` needs no test: it says that a
/// difference is small, and stands. Nor does it help others: a difference below the bound that is
/// seen beyond chance, as a start's memory layout makes them on precise steps, counts as a p-value
/// of 1 where differences of at least the bound are decided. As it is never smaller than the true
/// p-value, what the procedure promises holds. Whether a difference is significant, whatever its
/// size, is asked of all alike: what is slower or faster is, and what is unclear may be.
#[must_use]
pub fn decisions(ratios: &[Tested], bound: f64, q: f64) -> Vec<Decision> {
    let alone: Vec<Verdict> = ratios.iter().map(|r| verdict(&r.estimate, bound)).collect();
    let is_difference = |v: Verdict| matches!(v, Verdict::Slower | Verdict::Faster);
    let tested = || ratios.iter().zip(&alone).filter_map(|(r, v)| Some((r.p?, *v)));
    let all: Vec<f64> = tested().map(|(p, _)| p).collect();
    let large: Vec<f64> = tested().map(|(p, v)| if is_difference(v) { p } else { 1.0 }).collect();
    let mut adjusted = adjusted(&all).into_iter().zip(adjusted(&large));
    ratios
        .iter()
        .zip(alone)
        .map(|(ratio, alone)| {
            let found = ratio.p.and_then(|_| adjusted.next());
            let adjusted_p = found.map(|(among_all, _)| among_all);
            let among_large = found.map(|(_, among_large)| among_large);
            let verdict_p = among_large.filter(|_| is_difference(alone));
            let survives = |p: Option<f64>| p.is_some_and(|p| p <= q);
            let falls = is_difference(alone) && !survives(verdict_p);
            let verdict = if falls { Verdict::Unclear } else { alone };
            Decision { verdict, alone, adjusted_p, verdict_p, is_significant: survives(adjusted_p) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rqps_model::Estimate;

    use super::*;

    /// The 15 p-values of Benjamini and Hochberg (1995), section 4.1: thrombolytic treatments.
    const PAPER: [f64; 15] = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
        0.5719, 0.6528, 0.7590, 1.0000,
    ];

    #[test]
    fn the_example_of_the_paper() {
        // The paper rejects the four smallest at q = 0.05.
        let found = adjusted(&PAPER);
        assert_eq!(found.iter().filter(|p| **p <= 0.05).count(), 4);
        // 0.0095 * 15 / 4 = 0.035625; 0.0001 * 15 = 0.0015; 0.0201 * 15 / 5 = 0.0603.
        assert!((found[3] - 0.035_625).abs() < 1e-12 && (found[0] - 0.0015).abs() < 1e-12);
        assert!((found[4] - 0.0603).abs() < 1e-12 && (found[14] - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_order_given_does_not_matter() {
        let mut reversed = PAPER;
        reversed.reverse();
        let mut found = adjusted(&reversed);
        found.reverse();
        assert_eq!(found, adjusted(&PAPER));
        assert!(adjusted(&[]).is_empty());
        assert!((adjusted(&[f64::NAN])[0] - 1.0).abs() < 1e-12);
        // A larger p never gets a smaller adjusted one: both are 0.04 * 2 / 2.
        let tied = adjusted(&[0.03, 0.04]);
        assert!((tied[0] - 0.04).abs() < 1e-12 && (tied[1] - 0.04).abs() < 1e-12);
    }

    fn tested(low: f64, point: f64, high: f64, p: f64) -> Tested {
        let estimate = Estimate { point, interval: Some((low, high)), n: 12 };
        Tested { estimate, p: Some(p), df: Some(11.0) }
    }

    #[test]
    fn what_does_not_survive_is_unclear_and_what_is_small_stays_the_same() {
        let mut run = vec![
            tested(0.80, 0.90, 0.99, 0.04),
            tested(0.60, 0.70, 0.80, 1e-6),
            tested(0.97, 0.98, 0.99, 1e-4),
            Tested { estimate: Estimate::single(0.5), p: None, df: None },
        ];
        run.extend([tested(0.97, 1.0, 1.03, 0.9); 7]);
        let found = decisions(&run, 0.05, DEFAULT_Q);
        assert_eq!(found[0].alone, Verdict::Slower);
        assert_eq!(found[0].verdict, Verdict::Unclear);
        assert_eq!(found[1].verdict, Verdict::Slower);
        assert!(found[2].verdict == Verdict::Same && found[2].is_significant);
        assert!(found[3].verdict == Verdict::Unclear && found[3].adjusted_p.is_none());
        assert!(found[4].verdict == Verdict::Same && !found[4].is_significant);
        // Alone in its run the first one stands.
        assert_eq!(decisions(&run[..1], 0.05, DEFAULT_Q)[0].verdict, Verdict::Slower);
    }

    #[test]
    fn small_differences_that_are_certain_do_not_help_others() {
        // Twenty steps of 1%, certain, and one of 9% that one in thirty runs shows by chance.
        let mut run = vec![tested(0.985, 0.99, 0.995, 1e-6); 20];
        run.push(tested(0.83, 0.91, 0.99, 0.03));
        let found = decisions(&run, 0.05, DEFAULT_Q);
        assert!(found[0].verdict == Verdict::Same && found[0].is_significant);
        assert_eq!((found[20].alone, found[20].verdict), (Verdict::Slower, Verdict::Unclear));
        assert!((found[20].verdict_p.unwrap() - 0.63).abs() < 1e-9, "0.03 * 21 / 1");
        // Among all it is the largest of 21, and beyond chance as the small ones are.
        assert!((found[20].adjusted_p.unwrap() - 0.03).abs() < 1e-9 && found[20].is_significant);
        assert!((found[0].adjusted_p.unwrap() - 1.05e-6).abs() < 1e-12, "1e-6 * 21 / 20");
        assert!(found[0].verdict_p.is_none());
    }
}
