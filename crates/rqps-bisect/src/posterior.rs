//! How probable it is of each commit that it made the step slower.

use std::collections::BTreeMap;

use rqps_stats::normal;

use crate::evidence::{Evidence, Hypothesis, Scale};
use crate::gaps::{Gap, gaps};
use crate::probe::Probe;

/// Probabilities before the first probe, of no change, of one, of two.
const PRIOR: (f64, f64, f64) = (0.5, 0.4, 0.1);

/// What builds may differ by. The likelihood weighs these.
const BUILDS: [f64; 3] = [0.001, 0.004, 0.012];

/// How large changes may be: standard deviations of logarithms. The likelihood weighs both.
const SMALL_CHANGE: f64 = 0.02;
const LARGE_CHANGE: f64 = 0.1;

/// A change of this probability is worth a word.
const LEAST_PROBABLE: f64 = 0.5;

/// Weights below this part of the largest say nothing.
const LEAST_WEIGHT: f64 = 1e-9;

/// Of two changes, one is no culprit where the other is more than this times as large.
const MAX_SIZE_RATIO: f64 = 2.0;

/// Whether the bad end of a step is faster or slower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trend {
    /// -1 where it is slower, 1 where it is faster.
    pub(crate) direction: f64,
    /// Whether the ends differ by more than probes and builds do: other steps do not say which change is large.
    pub(crate) is_clear: bool,
}

/// Which gaps hold the culprits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// No commit changed the speed.
    Unchanged,
    /// One commit did, or one far more than another.
    One(usize),
    /// Two did, about as much.
    Two(usize, usize),
}

/// A hypothesis at a scale, with its probability.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Component {
    scale_idx: usize,
    hypothesis: Hypothesis,
    probability: f64,
}

/// All hypotheses with their probabilities.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) gaps: Vec<Gap>,
    /// By scale, then by step.
    evidence: Vec<Vec<Evidence>>,
    components: Vec<Component>,
    /// Of each step, by its bad end.
    trends: Vec<Trend>,
}

impl Model {
    /// The hypotheses over the commits 1 to `last`, given the probes of each step. The gaps end at the commits of
    /// probes, and at `extra`.
    pub(crate) fn of(
        last: usize,
        steps: &[Vec<Probe>],
        trends: Vec<Trend>,
        extra: Option<usize>,
    ) -> Self {
        let measured = steps.iter().flatten().map(|probe| probe.commit);
        let gaps = gaps(last, measured.chain(extra));
        let (mut evidence, mut components) = (Vec::new(), Vec::new());
        for build in BUILDS {
            for change in [SMALL_CHANGE, large_change(last, steps)] {
                let scale = Scale { build, change };
                let own: Option<Vec<Evidence>> =
                    steps.iter().map(|probes| Evidence::of(probes, &gaps, scale)).collect();
                let Some(own) = own else { continue };
                components.extend(hypotheses(&gaps).map(|(hypothesis, prior)| {
                    let fits: f64 = own.iter().map(|own| own.log_likelihood(hypothesis)).sum();
                    let (scale_idx, probability) = (evidence.len(), prior.ln() + fits);
                    Component { scale_idx, hypothesis, probability }
                }));
                evidence.push(own);
            }
        }
        normalise(&mut components);
        Self { gaps, evidence, components, trends }
    }

    /// The answers of all hypotheses that are as probable as `least`, with their probabilities.
    pub(crate) fn answers(
        &self,
        least: f64,
    ) -> impl Iterator<Item = (Component, Answer, f64)> + '_ {
        let likely = self.components.iter().filter(move |own| own.probability >= least);
        likely.flat_map(move |component| {
            let Component { scale_idx, hypothesis, probability } = *component;
            let parts = match hypothesis {
                Hypothesis::None => vec![(Answer::Unchanged, 1.0)],
                Hypothesis::One(gap) => vec![(Answer::One(gap), 1.0)],
                Hypothesis::Two(a, b) if a == b => vec![(Answer::One(a), 1.0)],
                Hypothesis::Two(a, b) => {
                    let (first, second) = self.find_only(scale_idx, a, b);
                    let both = 1.0 - first - second;
                    vec![
                        (Answer::One(a), first),
                        (Answer::One(b), second),
                        (Answer::Two(a, b), both),
                    ]
                }
            };
            let parts = parts.into_iter().filter(|(_, share)| *share > 0.0);
            parts.map(move |(answer, share)| (*component, answer, probability * share))
        })
    }

    /// Probabilities that the first of two changes is the only culprit, and that the second is: on every step more than
    /// `MAX_SIZE_RATIO` times the other, in the direction of the ends.
    fn find_only(&self, scale_idx: usize, a: usize, b: usize) -> (f64, f64) {
        let any_clear = self.trends.iter().any(|trend| trend.is_clear);
        let steps = self.evidence[scale_idx].iter().zip(&self.trends);
        let deciding = || steps.clone().filter(|(_, trend)| trend.is_clear || !any_clear);
        // The changes of a step are independent of those of the others.
        let product = |weights: [f64; 2]| {
            let in_step = |evidence: &Evidence, trend: &Trend| {
                let (mean, variance) = evidence.sum_of_two(a, b, weights);
                normal::cumulative(trend.direction * mean / variance.sqrt())
            };
            deciding().map(|(evidence, trend)| in_step(evidence, trend)).product::<f64>()
        };
        let (first, second) = (product([1.0, -MAX_SIZE_RATIO]), product([-MAX_SIZE_RATIO, 1.0]));
        // Two changes against the direction are both larger than twice the other.
        let sum = (first + second).max(1.0);
        (first / sum, second / sum)
    }

    /// Mean and variance of what a probe would give in a step, if a hypothesis were true.
    pub(crate) fn predict(
        &self,
        component: Component,
        step_idx: usize,
        commit: usize,
        sd: f64,
    ) -> (f64, f64) {
        let evidence = &self.evidence[component.scale_idx][step_idx];
        evidence.predict(component.hypothesis, &self.gaps, commit, sd)
    }
}

/// The large change: as large as the ends differ, where that is far more than changes usually are.
fn large_change(last: usize, steps: &[Vec<Probe>]) -> f64 {
    let of_step = |probes: &Vec<Probe>| {
        let of_end = probes.iter().filter(|probe| probe.commit == last);
        let n = of_end.clone().count().max(1) as f64;
        (of_end.map(|probe| probe.log_ratio).sum::<f64>() / n).abs()
    };
    let ends = steps.iter().map(of_step).fold(0.0, f64::max);
    if ends > 2.0 * LARGE_CHANGE { ends } else { LARGE_CHANGE }
}

/// All hypotheses with their probabilities before the first probe. Within a gap each commit is as probable.
fn hypotheses(gaps: &[Gap]) -> impl Iterator<Item = (Hypothesis, f64)> + '_ {
    let (none, one, two) = PRIOR;
    let n = gaps.iter().map(Gap::n).sum::<usize>() as f64;
    let n_pairs = (n * (n - 1.0) / 2.0).max(1.0);
    let ones = gaps
        .iter()
        .enumerate()
        .map(move |(idx, gap)| (Hypothesis::One(idx), one * gap.n() as f64 / n));
    let twos = gaps.iter().enumerate().flat_map(move |(a, first)| {
        gaps.iter().enumerate().skip(a).map(move |(b, second)| {
            let (n_first, n_second) = (first.n() as f64, second.n() as f64);
            let pairs = if a == b { n_first * (n_first - 1.0) / 2.0 } else { n_first * n_second };
            (Hypothesis::Two(a, b), two * pairs / n_pairs)
        })
    });
    let all = std::iter::once((Hypothesis::None, none)).chain(ones).chain(twos);
    all.filter(|(_, prior)| *prior > 0.0)
}

/// Makes probabilities of log weights.
fn normalise(components: &mut Vec<Component>) {
    let most = components.iter().map(|one| one.probability).fold(f64::NEG_INFINITY, f64::max);
    components.iter_mut().for_each(|one| one.probability = (one.probability - most).exp());
    components.retain(|one| one.probability >= LEAST_WEIGHT);
    let sum: f64 = components.iter().map(|one| one.probability).sum();
    components.iter_mut().for_each(|one| one.probability /= sum);
}

/// Commits that no probe tells apart, and the probability that a culprit is among them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GapProbability {
    /// The commits.
    pub gap: Gap,
    /// The probability that a culprit is one of them.
    pub probability: f64,
    /// The probability that one of them changed the speed, by however little.
    pub changed: f64,
}

impl GapProbability {
    /// The probability of each of them.
    #[must_use]
    pub fn of_commit(&self) -> f64 {
        self.probability / self.gap.n() as f64
    }
}

/// What is known of the commits.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// Commits that no probe tells apart, in order, with the probability that a culprit is among them. Two commits may
    /// both be culprits, so that these add up to more than 1.
    pub gaps: Vec<GapProbability>,
    /// Probability that no commit changed the speed.
    pub none: f64,
    /// Probabilities that a culprit is in each of two gaps, by their numbers.
    pairs: BTreeMap<(usize, usize), f64>,
}

/// A few commits that hold a culprit with a probability.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspects {
    /// The commits, the most probable first.
    pub gaps: Vec<GapProbability>,
    /// The probability that a culprit is one of them.
    pub probability: f64,
}

impl Suspects {
    /// How many commits they are.
    #[must_use]
    pub fn n(&self) -> usize {
        self.gaps.iter().map(|own| own.gap.n()).sum()
    }

    /// Their places, the most probable gap first.
    pub fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.gaps.iter().flat_map(|own| own.gap.first..=own.gap.last)
    }

    /// Whether a commit is one of them.
    #[must_use]
    pub fn has(&self, commit: usize) -> bool {
        self.gaps.iter().any(|own| own.gap.has(commit))
    }
}

impl Posterior {
    pub(crate) fn of(model: &Model) -> Self {
        let (mut none, mut pairs) = (0.0, BTreeMap::new());
        let mut of_gaps = vec![0.0; model.gaps.len()];
        let mut changed = of_gaps.clone();
        for Component { hypothesis, probability, .. } in &model.components {
            match *hypothesis {
                Hypothesis::None => {}
                Hypothesis::One(gap) => changed[gap] += probability,
                Hypothesis::Two(a, b) => {
                    changed[a] += probability;
                    if a != b {
                        changed[b] += probability;
                    }
                }
            }
        }
        for (_, answer, probability) in model.answers(0.0) {
            match answer {
                Answer::Unchanged => none += probability,
                Answer::One(gap) => of_gaps[gap] += probability,
                Answer::Two(first, second) => {
                    of_gaps[first] += probability;
                    of_gaps[second] += probability;
                    *pairs.entry((first, second)).or_default() += probability;
                }
            }
        }
        let gaps = model.gaps.iter().zip(of_gaps).zip(changed);
        let gaps =
            gaps.map(|((&gap, probability), changed)| GapProbability { gap, probability, changed });
        Self { gaps: gaps.collect(), none, pairs }
    }

    /// Probability that there are two culprits, which some probe tells apart.
    pub(crate) fn sum_of_pairs(&self) -> f64 {
        self.pairs.values().sum()
    }

    /// Commits beside a gap that changed the speed, too: the fewest that hold such a change if there is one, or `None`
    /// where there probably is none.
    pub(crate) fn others(&self, beside: &[Gap], confidence: f64) -> Option<Suspects> {
        let mut others: Vec<GapProbability> =
            self.gaps.iter().filter(|own| !beside.contains(&own.gap)).copied().collect();
        others.sort_by(|a, b| b.changed.total_cmp(&a.changed));
        let whole: f64 = others.iter().map(|own| own.changed).sum();
        if whole < LEAST_PROBABLE {
            return None;
        }
        let mut probability = 0.0;
        let is_needed = |own: &GapProbability| {
            let is_needed = probability < confidence * whole;
            probability += own.changed;
            is_needed
        };
        let gaps: Vec<GapProbability> = others.into_iter().take_while(is_needed).collect();
        let probability = gaps.iter().map(|own| own.changed).sum::<f64>().min(1.0);
        Some(Suspects { gaps, probability })
    }

    /// Few commits that hold a culprit with a probability of `confidence`, the most probable first, or all.
    #[must_use]
    pub fn suspects(&self, confidence: f64) -> Suspects {
        let mut order: Vec<usize> = (0..self.gaps.len()).collect();
        order.sort_by(|&a, &b| self.gaps[b].of_commit().total_cmp(&self.gaps[a].of_commit()));
        let mut taken: Vec<usize> = Vec::new();
        let mut probability = 0.0;
        for idx in order {
            if probability >= confidence {
                break;
            }
            // Where both gaps of a pair are taken, the pair counts once.
            let is_twice = |pair: &(usize, usize)| {
                (pair.0 == idx && taken.contains(&pair.1))
                    || (pair.1 == idx && taken.contains(&pair.0))
            };
            let twice: f64 =
                self.pairs.iter().filter(|(pair, _)| is_twice(pair)).map(|(_, p)| p).sum();
            probability += self.gaps[idx].probability - twice;
            taken.push(idx);
        }
        Suspects { gaps: taken.into_iter().map(|idx| self.gaps[idx]).collect(), probability }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posterior(last: usize, probes: &[(usize, f64)]) -> Posterior {
        of_steps(last, &[(-1.0, probes)])
    }

    /// With the direction of each step's ends; 0 where they do not differ.
    fn of_steps(last: usize, steps: &[(f64, &[(usize, f64)])]) -> Posterior {
        let probe = |&(commit, log_ratio): &(usize, f64)| Probe { commit, log_ratio, sd: 0.004 };
        let trend = |direction: f64| Trend { direction, is_clear: direction != 0.0 };
        let probes: Vec<Vec<Probe>> =
            steps.iter().map(|(_, probes)| probes.iter().map(probe).collect()).collect();
        let trends = steps.iter().map(|(direction, _)| trend(*direction)).collect();
        Posterior::of(&Model::of(last, &probes, trends, None))
    }

    /// Probes of the commits on both sides of 8 and 12, and of the ends, where these changed the speed by so much.
    fn probes_of(eighth: f64, twelfth: f64) -> Vec<(usize, f64)> {
        let at = |commit: usize| {
            let of = |from: usize, change: f64| if commit >= from { change } else { 0.0 };
            (commit, of(8, eighth) + of(12, twelfth))
        };
        [16, 14, 12, 11, 9, 8, 7, 4].map(at).to_vec()
    }

    #[test]
    fn culprits_of_several_steps_are_those_of_any() {
        for (first, second, wanted) in [
            // Both on one step, and one that nothing changed.
            ((-1.0, -0.05, -0.05), (0.0, 0.0, 0.0), [true, true]),
            ((-1.0, -0.02, -0.08), (0.0, 0.0, 0.0), [false, true]),
            // Each on a step of its own.
            ((-1.0, 0.0, -0.05), (-1.0, -0.05, 0.0), [true, true]),
            // One step is slower, the other one faster.
            ((-1.0, -0.03, -0.03), (1.0, 0.04, 0.04), [true, true]),
            ((-1.0, -0.08, -0.01), (-1.0, -0.01, -0.08), [true, true]),
            ((-1.0, -0.05, -0.05), (-1.0, -0.05, -0.05), [true, true]),
            ((-1.0, -0.05, 0.0), (1.0, 0.05, 0.0), [true, false]),
        ] {
            let probes = [first, second].map(|(_, eighth, twelfth)| probes_of(eighth, twelfth));
            let found = of_steps(16, &[(first.0, &probes[0]), (second.0, &probes[1])]);
            let probability = |place: usize| {
                found.gaps.iter().find(|own| own.gap.has(place)).map_or(0.0, |own| own.probability)
            };
            let found = [8, 12].map(probability);
            for (probability, wanted) in found.into_iter().zip(wanted) {
                let is_right = if wanted { probability > 0.95 } else { probability < 0.2 };
                assert!(is_right, "{first:?}, {second:?}: {found:?}");
            }
        }
    }

    #[test]
    fn probabilities_add_up() {
        for probes in [&[][..], &[(16, -0.05)], &[(16, -0.05), (8, -0.04), (4, 0.01), (8, -0.05)]] {
            let posterior = posterior(16, probes);
            let of_gaps: f64 = posterior.gaps.iter().map(|own| own.probability).sum();
            let sum = posterior.none + of_gaps - posterior.sum_of_pairs();
            let all = posterior.suspects(1.0).probability;
            assert!((posterior.none + all - 1.0).abs() < 1e-9, "{all}");
            assert!((sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }

    #[test]
    fn a_step_between_two_levels_is_found() {
        let found = posterior(16, &[(16, -0.051), (8, -0.049), (4, 0.001), (6, 0.002), (7, -0.05)]);
        let suspects = found.suspects(0.95);
        assert_eq!(suspects.gaps[0].gap, Gap { first: 7, last: 7 });
        assert!(suspects.probability > 0.95 && found.none < 0.01, "{found:?}");
    }

    /// Of two changes the larger one is the culprit; the small one is a tenth of it.
    #[test]
    fn of_two_changes_the_larger_is_the_culprit() {
        let probes = [(16, -0.11), (12, -0.11), (11, -0.01), (8, -0.01), (4, -0.01), (2, 0.0)];
        let suspects = posterior(16, &probes).suspects(0.9);
        assert!(suspects.has(12) && suspects.n() == 1, "{suspects:?}");
    }

    /// Which one is larger would need many probes.
    #[test]
    fn two_equal_changes_are_both_culprits() {
        let probes = [(16, -0.1), (12, -0.1), (11, -0.05), (8, -0.051), (7, -0.001), (4, 0.0)];
        let found = posterior(16, &probes);
        let suspects = found.suspects(0.9);
        assert!(suspects.n() == 1 && (suspects.has(8) || suspects.has(12)), "{suspects:?}");
        assert!(found.sum_of_pairs() > 0.9, "{found:?}");
    }

    #[test]
    fn ends_that_are_alike_have_no_culprit() {
        let found = posterior(64, &[(64, 0.0005), (64, -0.001), (32, 0.001)]);
        assert!(found.none > 0.9, "{}", found.none);
    }
}
