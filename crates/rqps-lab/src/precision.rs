//! Whether a step is measured precisely enough: the one statistic that a run asks for.

use rqps_model::{Estimate, Slice};
use rqps_stats::precision::{MIN_BLOCKS, is_reached};

/// The figures of a step's blocks on all its systems, in order of time.
pub(crate) struct Figures {
    /// The system that the others are compared with.
    base: usize,
    /// Per system of the step, its place in the run and its figures.
    systems: Vec<(usize, Vec<f64>)>,
}

impl Figures {
    /// With the blocks that are there already.
    pub(crate) fn of(base: usize, before: &[(usize, Vec<Slice>)]) -> Self {
        let figures = |slices: &[Slice]| slices.iter().map(Slice::figure).collect();
        let systems = before.iter().map(|(idx, slices)| (*idx, figures(slices))).collect();
        Self { base, systems }
    }

    /// Adds a block: a slice for each system.
    pub(crate) fn add(&mut self, block: &[(usize, Slice)]) {
        for (idx, slice) in block {
            if let Some((_, figures)) = self.systems.iter_mut().find(|(other, _)| other == idx) {
                figures.push(slice.figure());
            }
        }
    }

    /// Whether the interval of every candidate's rQPS is narrow enough. Never without a base or a
    /// candidate.
    pub(crate) fn are_precise(&self, half_width: f64) -> bool {
        let Some((_, base)) = self.systems.iter().find(|(idx, _)| *idx == self.base) else {
            return false;
        };
        let others = self.systems.iter().filter(|(idx, _)| *idx != self.base);
        let ratios: Option<Vec<Estimate>> =
            others.map(|(_, figures)| rqps_stats::paired_ratio(base, figures)).collect();
        ratios.is_some_and(|ratios| is_reached(&ratios, half_width, MIN_BLOCKS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(n: usize, spread: f64) -> Figures {
        let noisy =
            |i: usize| 100.0 * (1.0 + spread * if i.is_multiple_of(2) { 1.0 } else { -1.0 });
        let steady = vec![100.0; n];
        Figures { base: 1, systems: vec![(0, (0..n).map(noisy).collect()), (1, steady)] }
    }

    #[test]
    fn narrow_intervals_of_enough_blocks_are_precise() {
        assert!(figures(20, 0.005).are_precise(0.01));
        assert!(!figures(20, 0.1).are_precise(0.01));
        assert!(!figures(11, 0.005).are_precise(0.01));
    }

    #[test]
    fn without_a_partner_nothing_is_precise() {
        let mut alone = figures(20, 0.005);
        alone.systems.truncate(1);
        assert!(!alone.are_precise(0.5));
        alone.base = 0;
        assert!(!alone.are_precise(0.5));
    }
}
