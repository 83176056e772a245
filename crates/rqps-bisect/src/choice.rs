//! How much a probe is expected to tell about the culprits.

use crate::posterior::{Answer, Component, Model, Trend};
use crate::probe::Probe;

/// Places at which densities are summed.
const N_PLACES: usize = 400;

/// Standard deviations around a mean beyond which a density counts as nothing.
const REACH: f64 = 5.0;

/// Hypotheses less probable than this say next to nothing.
const LEAST: f64 = 1e-4;

/// What a hypothesis expects of the probe.
struct Expected {
    /// The answer's place.
    answer: usize,
    probability: f64,
    mean: f64,
    sd: f64,
}

/// Mutual information of the culprits and the ratio of a probe, in nats: of the step where that is most. The probe would
/// have the standard errors `sds`, by step.
pub(crate) fn information(
    last: usize,
    steps: &[Vec<Probe>],
    trends: &[Trend],
    commit: usize,
    sds: &[f64],
) -> f64 {
    let model = Model::of(last, steps, trends.to_vec(), Some(commit));
    let mut known: Vec<Answer> = Vec::new();
    let mut place_of = |answer: Answer| {
        known.iter().position(|one| *one == answer).unwrap_or_else(|| {
            known.push(answer);
            known.len() - 1
        })
    };
    let answers: Vec<(Component, usize, f64)> = model
        .answers(LEAST)
        .map(|(component, answer, p)| (component, place_of(answer), p))
        .collect();
    let n_answers = known.len();
    let of_step = |step_idx: usize| {
        let expected: Vec<Expected> = answers
            .iter()
            .map(|&(component, answer, probability)| {
                let (mean, variance) = model.predict(component, step_idx, commit, sds[step_idx]);
                Expected { answer, probability, mean, sd: variance.sqrt() }
            })
            .collect();
        of_expected(&expected, n_answers)
    };
    (0..sds.len()).map(of_step).fold(0.0, f64::max)
}

/// H(ratio) − Σ p(answer) H(ratio | answer), as a sum over p(ratio, answer) ln(p(ratio | answer) / p(ratio)).
fn of_expected(expected: &[Expected], n_answers: usize) -> f64 {
    let low = expected.iter().map(|e| e.mean - REACH * e.sd).fold(f64::INFINITY, f64::min);
    let high = expected.iter().map(|e| e.mean + REACH * e.sd).fold(f64::NEG_INFINITY, f64::max);
    let width = (high - low) / N_PLACES as f64;
    let mut joint = vec![vec![0.0; n_answers]; N_PLACES];
    for one in expected {
        for (place, row) in joint.iter_mut().enumerate() {
            let z = (low + (place as f64 + 0.5) * width - one.mean) / one.sd;
            if z.abs() <= REACH {
                row[one.answer] += one.probability * (-0.5 * z * z).exp() / one.sd;
            }
        }
    }
    let sum: f64 = joint.iter().flatten().sum();
    let mut of_answers = vec![0.0; n_answers];
    for row in &joint {
        row.iter().zip(&mut of_answers).for_each(|(own, all)| *all += own / sum);
    }
    let mut told = 0.0;
    for row in &joint {
        let of_place: f64 = row.iter().sum::<f64>() / sum;
        for (own, of_answer) in row.iter().zip(&of_answers) {
            let own = own / sum;
            if own > 0.0 {
                told += own * (own / (of_place * of_answer)).ln();
            }
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(answer: usize, mean: f64) -> Expected {
        Expected { answer, probability: 0.5, mean, sd: 0.01 }
    }

    #[test]
    fn answers_far_apart_are_told_apart_and_equal_ones_are_not() {
        let apart = of_expected(&[one(0, 0.0), one(1, 0.2)], 2);
        assert!((apart - std::f64::consts::LN_2).abs() < 1e-3, "{apart}");
        assert!(of_expected(&[one(0, 0.1), one(1, 0.1)], 2).abs() < 1e-9);
    }

    #[test]
    fn the_middle_tells_most() {
        let steps = [vec![Probe { commit: 16, log_ratio: -0.08, sd: 0.004 }]];
        let trends = [Trend { direction: -1.0, is_clear: true }];
        let told: Vec<f64> = [1, 4, 8, 12, 15]
            .map(|commit| information(16, &steps, &trends, commit, &[0.004]))
            .to_vec();
        assert!(told[2] > told[1] && told[1] > told[0], "{told:?}");
        assert!(told[2] > told[3] && told[3] > told[4], "{told:?}");
    }
}
