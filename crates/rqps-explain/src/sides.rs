//! The slices of base and candidate that belong together, and comparisons of their values.

use rqps_model::{Estimate, Slice};
use rqps_stats::paired::log_ratios;
use rqps_stats::starts::{self, StartPrior, of_starts_with, one_start};
use rqps_stats::{difference, paired_test, ratio_test};

/// The slices of one start of the servers, or of all starts on the same tables where tables were filled several times. Of
/// interleaved systems, slice i of one is the partner of
/// slice i of the other.
#[derive(Debug, Clone, Default)]
pub struct Start<'a> {
    /// The base's.
    pub base: Vec<&'a Slice>,
    /// The candidate's.
    pub candidate: Vec<&'a Slice>,
}

/// One step on base and candidate.
#[derive(Debug, Clone, Default)]
pub struct Sides<'a> {
    /// Per start of the servers.
    pub starts: Vec<Start<'a>>,
    /// Whether slices are partners.
    pub is_interleaved: bool,
    /// Whether both sides are of one run. In different runs, starts of the two sides are no
    /// partners but two samples.
    pub is_one_run: bool,
    /// What is assumed of starts.
    pub prior: Option<StartPrior>,
}

/// The weights of the starts of one run in means and differences: shares that add up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights(Vec<f64>);

impl<'a> Sides<'a> {
    /// The slices of both sides.
    pub fn slices(&self) -> impl Iterator<Item = &'a Slice> {
        self.starts.iter().flat_map(|start| start.base.iter().chain(&start.candidate).copied())
    }

    /// The weights of the starts in the difference of a value. With them, means and differences of
    /// the value's parts add up to its own. `None` where a slice lacks it.
    pub fn weights(&self, value: impl Fn(&Slice) -> Option<f64>) -> Option<Weights> {
        let sides = self.all(value)?;
        if !self.is_one_run {
            // Starts are no partners, and on each side count alike.
            return Some(Weights(Vec::new()));
        }
        starts::weights(&self.differences(&sides)?).map(Weights)
    }

    /// The mean of a value on the base, and on the candidate; `None` where a slice lacks it or a side has
    /// none.
    pub fn means(
        &self,
        weights: &Weights,
        value: impl Fn(&Slice) -> Option<f64>,
    ) -> Option<(f64, f64)> {
        let sides = self.all(value)?;
        if !self.is_one_run {
            let (b, c) = samples(&sides);
            return mean(&b).zip(mean(&c));
        }
        let (mut base, mut candidate) = (0.0, 0.0);
        for ((b, c), weight) in sides.iter().zip(&weights.0).filter(|(_, weight)| **weight > 0.0) {
            base += weight * mean(b)?;
            candidate += weight * mean(c)?;
        }
        Some((base, candidate))
    }

    /// The difference of a value, candidate less base, in its unit; `None` where a slice lacks it.
    pub fn difference(
        &self,
        weights: &Weights,
        value: impl Fn(&Slice) -> Option<f64>,
    ) -> Option<Estimate> {
        self.contrast(weights, &value, &value)
    }

    /// The same of a value that is itself a difference, and may be small though starts move the `part` that it is of: on
    /// one start it is as unsure as this part.
    pub fn contrast(
        &self,
        weights: &Weights,
        value: impl Fn(&Slice) -> Option<f64>,
        part: impl Fn(&Slice) -> Option<f64>,
    ) -> Option<Estimate> {
        let sides = self.all(value)?;
        let found = if !self.is_one_run {
            let (b, c) = samples(&sides);
            difference::of_two(&b, &c)?
        } else if let ([(b, c)], false) = (sides.as_slice(), self.is_interleaved) {
            difference::of_two(b, c)?
        } else {
            difference::of_weighted_pairs(&self.differences(&sides)?, &weights.0)?
        };
        let Some(prior) = self.prior.filter(|_| self.n_starts() == 1) else { return Some(found) };
        let (b, c) = samples(&self.all(part)?);
        let largest = mean(&b)?.abs().max(mean(&c)?.abs());
        Some(difference::of_one_start(found, largest, prior))
    }

    /// On how many starts it rests: in different runs on those of the side that has fewer.
    fn n_starts(&self) -> usize {
        let of_base = self.starts.iter().filter(|start| !start.base.is_empty());
        let of_candidate = self.starts.iter().filter(|start| !start.candidate.is_empty());
        of_base.count().min(of_candidate.count())
    }

    /// The ratio of a value, candidate / base; `None` where a slice lacks it or has 0.
    pub fn ratio(&self, value: impl Fn(&Slice) -> Option<f64>) -> Option<Estimate> {
        let sides = self.all(value)?;
        if !self.is_one_run {
            let (b, c) = samples(&sides);
            let prior = self.prior.filter(|_| self.n_starts() == 1);
            return ratio_test(&b, &c).map(|tested| one_start(tested, prior).tested.estimate);
        }
        if let [(b, c)] = sides.as_slice() {
            let tested = if self.is_interleaved { paired_test(b, c) } else { ratio_test(b, c) };
            return tested.map(|tested| one_start(tested, self.prior).tested.estimate);
        }
        let of_start = |(b, c): &(Vec<f64>, Vec<f64>)| {
            if self.is_interleaved {
                return log_ratios(b, c);
            }
            ratio_test(b, c).map(|tested| vec![tested.estimate.point.ln()])
        };
        let logs: Option<Vec<Vec<f64>>> = sides.iter().map(of_start).collect();
        Some(of_starts_with(&logs?, self.prior)?.tested.estimate)
    }

    /// The differences that each start has.
    fn differences(&self, sides: &[(Vec<f64>, Vec<f64>)]) -> Option<Vec<Vec<f64>>> {
        let of_start = |(b, c): &(Vec<f64>, Vec<f64>)| -> Option<Vec<f64>> {
            if self.is_interleaved {
                return (b.len() == c.len()).then(|| c.iter().zip(b).map(|(c, b)| c - b).collect());
            }
            // Slices of two systems are no pairs: a start gives one difference, that of their means.
            difference::of_two(b, c).map(|found| vec![found.point])
        };
        sides.iter().map(of_start).collect()
    }

    fn all(&self, value: impl Fn(&Slice) -> Option<f64>) -> Option<Vec<(Vec<f64>, Vec<f64>)>> {
        self.starts.iter().map(|start| values(start, &value)).collect()
    }
}

/// The observations of base and candidate: the means of their starts, or the slices of the only one.
fn samples(sides: &[(Vec<f64>, Vec<f64>)]) -> (Vec<f64>, Vec<f64>) {
    let (base, candidate): (Vec<&[f64]>, Vec<&[f64]>) =
        sides.iter().map(|(b, c)| (b.as_slice(), c.as_slice())).unzip();
    (sample(base), sample(candidate))
}

fn sample(mut starts: Vec<&[f64]>) -> Vec<f64> {
    starts.retain(|of_start| !of_start.is_empty());
    match starts.as_slice() {
        [only] => only.to_vec(),
        all => all.iter().filter_map(|of| mean(of)).collect(),
    }
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// A value of the slices of a start, of the base and of the candidate.
fn values(
    start: &Start<'_>,
    value: &impl Fn(&Slice) -> Option<f64>,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let side = |slices: &[&Slice]| -> Option<Vec<f64>> {
        slices.iter().map(|slice| value(slice)).collect()
    };
    Some((side(&start.base)?, side(&start.candidate)?))
}
