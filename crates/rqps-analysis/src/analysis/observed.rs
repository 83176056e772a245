//! Values of slices that do not depend on the base: read once for all bases of a page.
//!
//! Histograms are decoded and windows sorted here, which is most of the time that an analysis takes.

use std::sync::Arc;

use rqps_model::{RunStep, Slice, SystemStep};
use rqps_stats::bimodal::{Levels, levels};

use super::windows::{self, WindowRates};
use crate::response::{self, BlockTimes, ResponseTimes};

/// One step, per system.
pub(super) type OfStep = Arc<[OfSystem]>;

/// One step on one system.
#[derive(Debug)]
pub(super) struct OfSystem {
    /// Per slice.
    slices: Vec<OfSlice>,
    /// Response times over all slices together.
    pub(super) response: Option<ResponseTimes>,
    /// Operations per second in short windows.
    pub(super) windows: Option<WindowRates>,
    /// The two levels of its windows, where they have two.
    pub(super) two_levels: Option<Levels>,
}

/// One slice.
#[derive(Debug)]
pub(super) struct OfSlice {
    /// The rate of its better windows, operations per second.
    pub(super) steady_rate: Option<f64>,
    /// Percentiles of its response times.
    pub(super) times: Option<BlockTimes>,
}

/// A system's step as it is stored, and what its slices tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct ObservedSystem<'a> {
    pub(super) system: &'a SystemStep,
    pub(super) observed: &'a OfSystem,
}

impl OfSystem {
    fn of(slices: &[Slice]) -> Self {
        let read = response::read(slices);
        let of_slice = |(slice, times)| OfSlice { steady_rate: windows::steady_rate(slice), times };
        Self {
            slices: slices.iter().zip(read.blocks).map(of_slice).collect(),
            response: read.all,
            windows: windows::window_rates(slices),
            two_levels: windows::joined(slices)
                .and_then(|windows| levels(&windows))
                .filter(Levels::is_bimodal),
        }
    }

    /// One of whose slices that is known.
    #[cfg(test)]
    pub(super) fn of_slices(slices: Vec<OfSlice>) -> Self {
        Self { slices, response: None, windows: None, two_levels: None }
    }

    /// What is known of the slice at a place.
    pub(super) fn slice(&self, at: usize) -> Option<&OfSlice> {
        self.slices.get(at)
    }

    /// The mean of the slices' steady rates; `None` where one has none.
    pub(super) fn mean_steady_rate(&self) -> Option<f64> {
        let rates: Vec<f64> = self.slices.iter().map(|s| s.steady_rate).collect::<Option<_>>()?;
        (!rates.is_empty()).then(|| rates.iter().sum::<f64>() / rates.len() as f64)
    }
}

/// What the slices of a step tell.
pub(super) fn of_step(step: &RunStep) -> OfStep {
    step.systems.iter().map(|system| OfSystem::of(&system.slices)).collect()
}
