//! The measurement of one step on one system.

use rqps_model::{Estimate, Lateness, PerOperation, RunStep, Slice, StepKind};

use super::estimate;
use super::insert::measured::Beside;
use super::insert::{self, InsertCell};
use super::memory;
use super::observed::ObservedSystem;
use super::per_operation;
use super::totals::Totals;
use super::windows::WindowRates;
use crate::response::ResponseTimes;

/// The measurement of a cell.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Operations per second: mean over the slices; of slices of equal work, operations of all over
    /// the time of all.
    pub figure: Option<Estimate>,
    /// Operations per second of each slice, in order of time.
    pub slices: Vec<f64>,
    /// Totals over the slices.
    pub totals: Totals,
    /// Metrics per operation over all slices together.
    pub per_operation: PerOperation,
    /// Response times of events over all slices together.
    pub response: Option<ResponseTimes>,
    /// How a set rate was held over all slices; absent where none was set.
    pub lateness: Option<Lateness>,
    /// Operations per second in short windows.
    pub windows: Option<WindowRates>,
    /// Steady rate ([`rqps_stats::steady`]), mean over the slices, operations per second; absent
    /// where a slice has too few windows, or too few events in them.
    pub steady_rate: Option<f64>,
    /// Resident memory of the server at the end of the step, bytes: one reading.
    pub server_rss_bytes: Option<u64>,
    /// What only steps of the Insert Benchmark have.
    pub insert: Option<Box<InsertCell>>,
}

impl Measurement {
    /// That of a step on a system that has slices.
    pub(super) fn of(
        step: &RunStep,
        ObservedSystem { system, observed }: ObservedSystem<'_>,
    ) -> Self {
        // Creating indexes is a handful of operations: its windows are empty.
        let is_index = step.info.kind == StepKind::Index;
        let figure = estimate::figure(step, system);
        let totals = Totals::of(&system.slices);
        let beside = Beside { figure, totals, response: observed.response.as_ref() };
        let insert = insert::is_step(step)
            .then(|| Box::new(insert::measured::measure(step, system, beside)));
        Self {
            figure,
            slices: system.slices.iter().map(Slice::figure).collect(),
            totals,
            per_operation: per_operation::sum(&system.slices),
            response: observed.response.clone(),
            lateness: lateness(&system.slices),
            windows: observed.windows.filter(|_| !is_index),
            steady_rate: observed.mean_steady_rate().filter(|_| !is_index),
            server_rss_bytes: memory::last_reading(&system.slices),
            insert,
        }
    }
}

fn lateness(slices: &[Slice]) -> Option<Lateness> {
    slices.iter().filter_map(|s| s.lateness.as_ref()).fold(None, |sum, one| {
        let mut sum = sum.unwrap_or_default();
        sum.add(one);
        Some(sum)
    })
}
