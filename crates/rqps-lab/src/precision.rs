//! Whether a step is measured precisely enough: the one statistic that a run asks for.

use rqps_model::{Estimate, Slice};
use rqps_stats::precision::{MIN_BLOCKS, is_reached};

/// Blocks of a step that has no ratio: an interval of each figure is all that can come of it.
const BLOCKS_ALONE: usize = 8;

/// The figures of a step's blocks on all its systems, in order of time.
pub(crate) struct Figures {
    /// The system that the others are compared with.
    base: usize,
    /// Per system of the step, its place in the run and its figures.
    systems: Vec<(usize, Vec<f64>)>,
}

impl Figures {
    /// With the blocks that are there already, of all systems that have not failed in the step: one that
    /// ended it before an interruption is the others' partner.
    pub(crate) fn of<'a>(base: usize, before: impl Iterator<Item = (usize, &'a [Slice])>) -> Self {
        let figures = |slices: &[Slice]| slices.iter().map(Slice::figure).collect();
        Self { base, systems: before.map(|(idx, slices)| (idx, figures(slices))).collect() }
    }

    /// Adds a block: a slice for each system.
    pub(crate) fn add(&mut self, block: &[(usize, Slice)]) {
        for (idx, slice) in block {
            if let Some((_, figures)) = self.systems.iter_mut().find(|(other, _)| other == idx) {
                figures.push(slice.figure());
            }
        }
    }

    /// Whether no more blocks are wanted: the interval of every candidate's rQPS is narrow enough; or no
    /// ratio can come of them, without a base or a candidate, and there are some.
    pub(crate) fn are_enough(&self, half_width: f64) -> bool {
        let base = self.systems.iter().find(|(idx, _)| *idx == self.base);
        let (Some((_, base)), 2..) = (base, self.systems.len()) else {
            return self.systems.iter().all(|(_, figures)| figures.len() >= BLOCKS_ALONE);
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
    fn narrow_intervals_of_enough_blocks_are_enough() {
        assert!(figures(20, 0.005).are_enough(0.01));
        assert!(!figures(20, 0.1).are_enough(0.01));
        assert!(!figures(11, 0.005).are_enough(0.01));
    }

    #[test]
    fn without_a_partner_some_blocks_are_enough() {
        for base in [0, 1] {
            let alone = |n| {
                let mut alone = figures(n, 0.5);
                alone.systems.truncate(1);
                alone.base = base;
                alone
            };
            assert!(!alone(BLOCKS_ALONE - 1).are_enough(0.01));
            assert!(alone(BLOCKS_ALONE).are_enough(0.01), "no ratio will ever come of it");
        }
    }
}
