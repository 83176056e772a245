//! What the probes of one step say of hypotheses, at one scale of noise and of changes.

use crate::gaps::Gap;
use crate::inverse::{Matrix, dot, invert, times};
use crate::probe::Probe;

/// Standard deviations of log ratios that are taken to be true.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    /// Of builds whose source does the same work: their code and data lie elsewhere.
    pub(crate) build: f64,
    /// Of changes.
    pub(crate) change: f64,
}

/// Where the speed changes, by the numbers of gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hypothesis {
    /// Nowhere.
    None,
    /// At one commit.
    One(usize),
    /// At two commits, in their order; they may be of one gap.
    Two(usize, usize),
}

/// What the changes of a hypothesis are, given the probes.
struct Effects {
    /// The gaps of the changes that can be told apart.
    gaps: Vec<usize>,
    mean: Vec<f64>,
    covariance: Matrix,
}

/// The probes of one step, and what all hypotheses share.
#[derive(Debug, Clone)]
pub(crate) struct Evidence {
    scale: Scale,
    commits: Vec<usize>,
    ratios: Vec<f64>,
    /// Inverse of the covariance of the ratios, without changes.
    inverse: Matrix,
    /// Of each gap: the inverse times which probes see a change in it.
    weighted: Matrix,
    /// Of each pair of gaps: the product of the same with which probes see a change in the other.
    products: Matrix,
    /// Of each gap: the product of the same with the ratios.
    fits: Vec<f64>,
    /// Log likelihood without a change.
    none: f64,
}

impl Evidence {
    /// `None` where a probe has no standard error above 0.
    pub(crate) fn of(probes: &[Probe], gaps: &[Gap], scale: Scale) -> Option<Self> {
        let build_variance = scale.build.powi(2);
        // All ratios are to the same build of the good end.
        let covariance = |row: usize, col: usize| {
            let of_build = if probes[row].commit == probes[col].commit { 2.0 } else { 1.0 };
            let of_probe = if row == col { probes[row].sd.powi(2) } else { 0.0 };
            of_build * build_variance + of_probe
        };
        let n = probes.len();
        let matrix: Matrix =
            (0..n).map(|row| (0..n).map(|col| covariance(row, col)).collect()).collect();
        let (inverse, log_det) = invert(&matrix)?;
        let ratios: Vec<f64> = probes.iter().map(|probe| probe.log_ratio).collect();
        let commits: Vec<usize> = probes.iter().map(|probe| probe.commit).collect();
        let seen: Matrix = gaps
            .iter()
            .map(|gap| commits.iter().map(|&commit| sees(commit, gap)).collect())
            .collect();
        let weighted: Matrix = seen.iter().map(|seen| times(&inverse, seen)).collect();
        let products: Matrix =
            weighted.iter().map(|own| seen.iter().map(|seen| dot(own, seen)).collect()).collect();
        let fits = weighted.iter().map(|own| dot(own, &ratios)).collect();
        let none = -0.5 * (log_det + dot(&ratios, &times(&inverse, &ratios)));
        Some(Self { scale, commits, ratios, inverse, weighted, products, fits, none })
    }

    /// Logarithm of the likelihood, without a constant that all hypotheses and scales share.
    pub(crate) fn log_likelihood(&self, hypothesis: Hypothesis) -> f64 {
        let precision = self.scale.change.powi(-2);
        match hypothesis {
            Hypothesis::None => self.none,
            Hypothesis::One(gap) => self.none + self.of_one(gap, precision),
            // Their sum is all that is seen.
            Hypothesis::Two(a, b) if a == b => self.none + self.of_one(a, precision / 2.0),
            Hypothesis::Two(a, b) => {
                let (aa, bb) = (precision + self.products[a][a], precision + self.products[b][b]);
                let ab = self.products[a][b];
                let det = aa * bb - ab * ab;
                let (f, g) = (self.fits[a], self.fits[b]);
                let explained = (bb * f * f - 2.0 * ab * f * g + aa * g * g) / det;
                self.none + 0.5 * (explained - (det / precision.powi(2)).ln())
            }
        }
    }

    fn of_one(&self, gap: usize, precision: f64) -> f64 {
        let whole = precision + self.products[gap][gap];
        0.5 * (self.fits[gap].powi(2) / whole - (whole / precision).ln())
    }

    /// Mean and variance of a weighted sum of the two changes of a hypothesis.
    pub(crate) fn sum_of_two(&self, a: usize, b: usize, weights: [f64; 2]) -> (f64, f64) {
        let Effects { mean, covariance, .. } = self.effects(Hypothesis::Two(a, b));
        (dot(&weights, &mean), dot(&weights, &times(&covariance, &weights)))
    }

    /// Mean and variance of the ratio that a probe of a commit would give, whose standard error is `sd`.
    pub(crate) fn predict(
        &self,
        hypothesis: Hypothesis,
        gaps: &[Gap],
        commit: usize,
        sd: f64,
    ) -> (f64, f64) {
        let build_variance = self.scale.build.powi(2);
        let of_build = |&other: &usize| if other == commit { 2.0 } else { 1.0 };
        let shared: Vec<f64> =
            self.commits.iter().map(|other| of_build(other) * build_variance).collect();
        let weights = times(&self.inverse, &shared);
        let mut mean = dot(&weights, &self.ratios);
        let mut variance = 2.0 * build_variance + sd.powi(2) - dot(&weights, &shared);
        let effects = self.effects(hypothesis);
        // What a change adds to the ratio, beyond what the other probes already say of it.
        let adds: Vec<f64> = effects
            .gaps
            .iter()
            .map(|&gap| sees(commit, &gaps[gap]) - dot(&self.weighted[gap], &shared))
            .collect();
        mean += dot(&adds, &effects.mean);
        variance += dot(&adds, &times(&effects.covariance, &adds));
        (mean, variance)
    }

    fn effects(&self, hypothesis: Hypothesis) -> Effects {
        let precision = self.scale.change.powi(-2);
        let one = |gap: usize, precision: f64| {
            let whole = precision + self.products[gap][gap];
            Effects {
                gaps: vec![gap],
                mean: vec![self.fits[gap] / whole],
                covariance: vec![vec![1.0 / whole]],
            }
        };
        match hypothesis {
            Hypothesis::None => {
                Effects { gaps: Vec::new(), mean: Vec::new(), covariance: Vec::new() }
            }
            Hypothesis::One(gap) => one(gap, precision),
            Hypothesis::Two(a, b) if a == b => one(a, precision / 2.0),
            Hypothesis::Two(a, b) => {
                let (aa, bb) = (precision + self.products[a][a], precision + self.products[b][b]);
                let ab = self.products[a][b];
                let det = aa * bb - ab * ab;
                let covariance = vec![vec![bb / det, -ab / det], vec![-ab / det, aa / det]];
                let mean = times(&covariance, &[self.fits[a], self.fits[b]]);
                Effects { gaps: vec![a, b], mean, covariance }
            }
        }
    }
}

/// 1 where a change in a gap shows at a commit that ends a gap, else 0.
fn sees(commit: usize, gap: &Gap) -> f64 {
    f64::from(u8::from(commit >= gap.last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gaps::gaps;

    const SCALE: Scale = Scale { build: 0.003, change: 0.1 };

    fn probes() -> Vec<Probe> {
        [(8, -0.05), (4, -0.001), (6, -0.047), (6, -0.052)]
            .map(|(commit, log_ratio)| Probe { commit, log_ratio, sd: 0.004 })
            .to_vec()
    }

    /// The log likelihood by the whole covariance matrix, without the shortcuts.
    fn by_hand(probes: &[Probe], changes: &[usize], scale: Scale) -> f64 {
        let n = probes.len();
        let mut matrix = vec![vec![0.0; n]; n];
        for row in 0..n {
            for col in 0..n {
                let (one, other) = (&probes[row], &probes[col]);
                matrix[row][col] += scale.build.powi(2);
                if one.commit == other.commit {
                    matrix[row][col] += scale.build.powi(2);
                }
                if row == col {
                    matrix[row][col] += one.sd.powi(2);
                }
                for &change in changes {
                    if one.commit >= change && other.commit >= change {
                        matrix[row][col] += scale.change.powi(2);
                    }
                }
            }
        }
        let ratios: Vec<f64> = probes.iter().map(|probe| probe.log_ratio).collect();
        let (inverse, log_det) = invert(&matrix).unwrap();
        -0.5 * (log_det + dot(&ratios, &times(&inverse, &ratios)))
    }

    #[test]
    fn likelihoods_are_those_of_the_whole_matrix() {
        let probes = probes();
        let gaps = gaps(8, probes.iter().map(|probe| probe.commit));
        let evidence = Evidence::of(&probes, &gaps, SCALE).unwrap();
        for (hypothesis, changes) in [
            (Hypothesis::None, &[][..]),
            (Hypothesis::One(1), &[5]),
            (Hypothesis::One(2), &[7]),
            (Hypothesis::Two(0, 1), &[2, 6]),
            (Hypothesis::Two(1, 1), &[5, 6]),
        ] {
            let (fast, slow) =
                (evidence.log_likelihood(hypothesis), by_hand(&probes, changes, SCALE));
            assert!((fast - slow).abs() < 1e-9, "{hypothesis:?}: {fast}, not {slow}");
        }
    }

    /// The likelihood of one probe more, given the others, is that of all over that of the others.
    #[test]
    fn predictions_are_those_of_the_whole_matrix() {
        let known = probes();
        for commit in [3, 6] {
            let gaps = gaps(8, known.iter().map(|probe| probe.commit).chain([commit]));
            let evidence = Evidence::of(&known, &gaps, SCALE).unwrap();
            let next = Probe { commit, log_ratio: -0.02, sd: 0.005 };
            let all: Vec<Probe> = known.iter().copied().chain([next]).collect();
            for (hypothesis, changes) in [
                (Hypothesis::None, vec![]),
                (Hypothesis::One(0), vec![gaps[0].last]),
                (Hypothesis::Two(0, 2), vec![gaps[0].last, gaps[2].last]),
            ] {
                let (mean, variance) = evidence.predict(hypothesis, &gaps, commit, next.sd);
                let density = -0.5 * ((next.log_ratio - mean).powi(2) / variance + variance.ln());
                let wanted = by_hand(&all, &changes, SCALE) - by_hand(&known, &changes, SCALE);
                assert!((density - wanted).abs() < 1e-9, "{commit}, {hypothesis:?}");
            }
        }
    }
}
