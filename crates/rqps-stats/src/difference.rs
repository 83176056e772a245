//! Differences of candidate and base in the unit of what was measured, with the intervals of ratios:
//! how many microseconds more an operation takes, and not only how many times as long.
//!
//! The method is that of the logarithms of ratios, which are differences, too: of blocks that were
//! interleaved the mean of their differences ([`crate::interval::skew_adjusted`]), over several
//! starts of the servers that of the starts ([`crate::starts`]); of two samples Welch's t
//! ([`crate::ratio`]).

use rqps_model::Estimate;

use crate::starts::{StartPrior, of_starts, of_weighted};
use crate::summary::moments;
use crate::tested::count;
use crate::{CONFIDENCE, student};

/// The mean of the differences that each start of the servers has, in order of time; starts without
/// any are excluded. `None` without a difference, or with one that is not finite.
#[must_use]
pub fn of_pairs(starts: &[Vec<f64>]) -> Option<Estimate> {
    let scale = starts.iter().flatten().fold(0.0_f64, |most, v| most.max(v.abs()));
    // In units of the largest one they are of the size that logarithms of ratios have.
    let scale = if scale > 0.0 { scale } else { 1.0 };
    let scaled: Vec<Vec<f64>> =
        starts.iter().map(|start| start.iter().map(|v| v / scale).collect()).collect();
    let ratio = of_starts(&scaled)?.tested.estimate;
    let back = |value: f64| value.ln() * scale;
    Some(Estimate {
        point: back(ratio.point),
        interval: ratio.interval.map(|(low, high)| (back(low), back(high))),
        n: ratio.n,
    })
}

/// The same of starts that count as `weights` say ([`crate::starts::weights`]) and not by what their own
/// differences tell of how sure they are: the differences of a whole's parts, all with the weights of the
/// whole, then add up to that of the whole.
#[must_use]
pub fn of_weighted_pairs(starts: &[Vec<f64>], weights: &[f64]) -> Option<Estimate> {
    let n_starts = starts.iter().filter(|start| !start.is_empty()).count();
    if n_starts < 2 { of_pairs(starts) } else { of_weighted(starts, weights) }
}

/// Mean of `candidate` less mean of `base`, measured one after the other: Welch's interval. A side of
/// one value leaves no interval; `None` for a side without values or with one that is not finite.
#[must_use]
pub fn of_two(base: &[f64], candidate: &[f64]) -> Option<Estimate> {
    if base.iter().chain(candidate).any(|v| !v.is_finite()) {
        return None;
    }
    let (b_mean, b_variance, b_n) = moments(base)?;
    let (c_mean, c_variance, c_n) = moments(candidate)?;
    let (point, n) = (c_mean - b_mean, count(base.len().min(candidate.len())));
    if n < 2 {
        return Some(Estimate { point, interval: None, n });
    }
    let (b_part, c_part) = (b_variance / b_n, c_variance / c_n);
    let variance = b_part + c_part;
    if variance <= 0.0 {
        return Some(Estimate { point, interval: Some((point, point)), n });
    }
    let df = variance * variance / (b_part * b_part / (b_n - 1.0) + c_part * c_part / (c_n - 1.0));
    let half = student::quantile(CONFIDENCE, df) * variance.sqrt();
    Some(Estimate { point, interval: Some((point - half, point + half)), n })
}

/// A difference that was measured on one start of the servers, of values of the size `value`: with what starts are assumed
/// to move the value by.
#[must_use]
pub fn of_one_start(found: Estimate, value: f64, prior: StartPrior) -> Estimate {
    let Some((low, high)) = found.interval else { return found };
    let of_starts = student::quantile(CONFIDENCE, prior.df) * prior.sd * value.abs();
    let wider = |half: f64| half.hypot(of_starts);
    let (below, above) = (wider(found.point - low), wider(high - found.point));
    Estimate { interval: Some((found.point - below, found.point + above)), ..found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_start_is_as_unsure_as_starts_differ() {
        let found = Estimate { point: 3.0, interval: Some((-1.0, 7.0)), n: 9 };
        // t(4) = 2.776 times 1% of 108.07 is 3: with 4 it makes 5.
        let prior = StartPrior { sd: 0.01, df: 4.0 };
        let (low, high) = of_one_start(found, -108.067, prior).interval.unwrap();
        assert!((low + 2.0).abs() < 1e-3 && (high - 8.0).abs() < 1e-3, "{low} {high}");
        let none = Estimate { interval: None, ..found };
        assert_eq!(of_one_start(none, 1.0, prior), none);
    }

    #[test]
    fn pairs_by_hand_in_any_unit() {
        for unit in [1e-6, 1.0, 1e9] {
            // 0, 1 and 2: mean 1, standard error 1/sqrt(3), t(2) = 4.303.
            let found = of_pairs(&[vec![0.0, unit, 2.0 * unit]]).unwrap();
            let half = 4.302_652_7 / 3.0_f64.sqrt() * unit;
            let (low, high) = found.interval.unwrap();
            assert!((found.point / unit - 1.0).abs() < 1e-9 && found.n == 3);
            assert!((low - unit + half).abs() < 1e-6 * unit);
            assert!((high - unit - half).abs() < 1e-6 * unit);
        }
    }

    #[test]
    fn starts_are_the_observation() {
        let blocks = of_pairs(&[vec![1.0, 1.1, 0.9, 1.0]]).unwrap();
        let starts = of_pairs(&[vec![1.0, 1.1, 0.9], vec![3.0, 3.1, 2.9]]).unwrap();
        assert!((starts.point - 2.0).abs() < 1e-6);
        let width = |e: &Estimate| e.interval.unwrap().1 - e.interval.unwrap().0;
        assert!(width(&starts) > 10.0 * width(&blocks));
    }

    #[test]
    fn parts_add_up_to_their_whole_with_its_weights() {
        let a = [vec![3.0, 9.0], vec![1.0, -2.0, 1.5, 0.5]];
        let b = [vec![0.2, 0.1], vec![-0.1, -0.3, -0.2, -0.2]];
        let plus = |(a, b): (&Vec<f64>, &Vec<f64>)| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| a + b).collect()
        };
        let whole: Vec<Vec<f64>> = a.iter().zip(&b).map(plus).collect();
        let weights = crate::starts::weights(&whole).unwrap();
        let of = |starts: &[Vec<f64>]| of_weighted_pairs(starts, &weights).unwrap().point;
        assert!((of(&a) + of(&b) - of(&whole)).abs() < 1e-12);
        assert!((of(&whole) - of_pairs(&whole).unwrap().point).abs() < 1e-9);
        // Each with its own they do not.
        let own = |starts: &[Vec<f64>]| of_pairs(starts).unwrap().point;
        assert!((own(&a) + own(&b) - own(&whole)).abs() > 0.005);
        assert_eq!(of_weighted_pairs(&a[..1], &[1.0]), of_pairs(&a[..1]));
    }

    #[test]
    fn starts_of_equal_size_count_alike_in_parts_and_whole() {
        let starts = [vec![3.0, 9.0, 4.0], vec![1.0, -2.0, 0.5]];
        let (by_them, own) = (of_weighted_pairs(&starts, &[0.5, 0.5]), of_pairs(&starts));
        let (by_them, own) = (by_them.unwrap(), own.unwrap());
        let (found, wanted) = (by_them.interval.unwrap(), own.interval.unwrap());
        assert!((by_them.point - own.point).abs() < 1e-9 && by_them.n == own.n);
        assert!((found.0 - wanted.0).abs() < 1e-6 && (found.1 - wanted.1).abs() < 1e-6);
    }

    #[test]
    fn two_samples_by_hand() {
        // Means 1 and 4, variances 1: Welch's t with 4 degrees of freedom, 2.776.
        let found = of_two(&[0.0, 1.0, 2.0], &[3.0, 4.0, 5.0]).unwrap();
        let half = 2.776_445 * (2.0_f64 / 3.0).sqrt();
        let (low, high) = found.interval.unwrap();
        assert!((found.point - 3.0).abs() < 1e-12);
        assert!((low - 3.0 + half).abs() < 1e-5 && (high - 3.0 - half).abs() < 1e-5);
    }

    #[test]
    fn nothing_and_no_spread() {
        assert!(of_pairs(&[]).is_none() && of_pairs(&[vec![f64::NAN, 1.0]]).is_none());
        assert!(of_pairs(&[vec![2.0]]).unwrap().interval.is_none());
        let none = of_pairs(&[vec![0.0; 5]]).unwrap();
        assert!(none.point.abs() < 1e-12 && none.interval.unwrap().1.abs() < 1e-12);
        assert!(of_two(&[], &[1.0]).is_none());
        assert!(of_two(&[1.0], &[2.0, 3.0]).unwrap().interval.is_none());
        let same = of_two(&[1.0; 3], &[2.0; 3]).unwrap().interval.unwrap();
        assert!((same.0 - 1.0).abs() < 1e-12 && (same.1 - 1.0).abs() < 1e-12);
    }
}
