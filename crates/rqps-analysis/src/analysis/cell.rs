//! One step on one system: its figure, its ratio to the base, and everything measured beside it.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rqps_explain::{Ageing, Cause, Split};
use rqps_model::run::Check;
use rqps_model::{Estimate, Lateness, PerOperation, Sizes, Verdict};

use super::bar::{Bar, Standing, holds_rate};
use super::comparison::Comparison;
use super::footnote::CellWarning;
use super::insert::{InsertCell, Sla};
use super::settle::Settle;
use super::windows::WindowRates;
use crate::response::ResponseTimes;

/// Whether a cell has a figure, and why not.
#[derive(Debug, Clone, PartialEq)]
pub enum CellState {
    /// It has slices.
    Measured,
    /// It was not reached.
    Pending,
    /// It failed and has no figure.
    Failed {
        /// What happened, and the end of the server's log.
        reason: String,
    },
}

/// One step on one system.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Whether there is a figure.
    pub state: CellState,
    /// Operations per second: mean over the slices; of slices of equal work, operations of all over
    /// the time of all.
    pub figure: Option<Estimate>,
    /// Operations per second of each slice, in order of time.
    pub slices: Vec<f64>,
    /// rQPS: figure over the base's figure; absent for the base.
    pub rqps: Option<Estimate>,
    /// What the rQPS says among all that were tried; absent for the base and without a ratio.
    pub verdict: Option<Verdict>,
    /// The tests behind it, and the other ratios to the base; absent for the base and without a ratio.
    pub comparison: Option<Box<Comparison>>,
    /// Metrics per operation over all slices together.
    pub per_operation: PerOperation,
    /// The time per operation against the base's, taken apart; absent for the base, where the server's
    /// processes are not known, and where it is not told which threads serve the figure's clients.
    pub split: Option<Box<Split>>,
    /// What explains a verdict of slower or faster; absent for any other.
    pub cause: Option<Box<Cause>>,
    /// How it has aged since its twin before the steps that write; absent where there is none.
    pub ageing: Option<Ageing>,
    /// These metrics relative to the base; 0/0 is 1, x/0 is infinite. Absent for the base.
    pub relative: Option<PerOperation>,
    /// Server CPU per operation over the base's, over slices as the rQPS; above 1 costs more.
    pub server_cpu_ratio: Option<Estimate>,
    /// Response times of events over all slices together.
    pub response: Option<ResponseTimes>,
    /// How a set rate was held over all slices; absent where none was set.
    pub lateness: Option<Lateness>,
    /// Operations per second in short windows.
    pub windows: Option<WindowRates>,
    /// Mean over the slices of the rate of their better windows ([`rqps_stats::steady`]), operations per
    /// second; absent where a slice has too few, or too few events in them.
    pub steady_rate: Option<f64>,
    /// Why its result is not to be taken at its face value.
    pub warnings: Vec<CellWarning>,
    /// Totals over the slices.
    pub totals: Totals,
    /// Sizes after the step.
    pub sizes: Sizes,
    /// Resident memory of the server at the end of the step, bytes: one reading.
    pub server_rss_bytes: Option<u64>,
    /// The same over the base's; absent for the base.
    pub server_rss_ratio: Option<f64>,
    /// What only steps of the Insert Benchmark have.
    pub insert: Option<Box<InsertCell>>,
    /// Why there is no verdict although there is a ratio.
    pub bar: Option<Bar>,
    /// Whether the figure is an imported file's, which is shown with the file's digits.
    pub is_stated: bool,
    /// Whether this figure or the base's was imported: then a ratio has no verdict.
    pub is_imported: bool,
    /// What the server had left to do when the step ended, by name, as the server counts it.
    pub debt: BTreeMap<String, u64>,
    /// What was checked of the step's work.
    pub checks: Vec<Check>,
}

impl Cell {
    /// How the rate of background inserts was held; `None` where none was set.
    #[must_use]
    pub fn sla(&self) -> Option<&Sla> {
        self.insert.as_ref()?.sla.as_ref()
    }

    /// Whether a rate of background inserts was set and not held.
    #[must_use]
    pub fn failed_sla(&self) -> bool {
        self.sla().is_some_and(|sla| !sla.is_held)
    }

    /// Whether something bars the ratio from a verdict.
    #[must_use]
    pub fn is_barred(&self) -> bool {
        self.bar.is_some()
    }

    /// What of it can bar its ratios.
    pub(super) fn standing(&self) -> Standing {
        let all = self.lateness.as_ref().filter(|_| self.insert.is_none());
        Standing {
            check_failed: self.failed_checks().next().is_some(),
            sla_failed: self.failed_sla(),
            rate_held: all.is_some_and(|late| holds_rate(late.n_due, late.n_missed)),
        }
    }

    /// The rQPS as far as it compares like with like and was not set: `None` where it is barred.
    #[must_use]
    pub fn comparable_rqps(&self) -> Option<Estimate> {
        self.rqps.filter(|_| !self.is_barred())
    }

    /// On which side of 1 the rQPS lies beyond chance, among all that were tried and be it by less than
    /// the practical bound: `Less` is slower; `None` where it may be chance.
    #[must_use]
    pub fn direction(&self) -> Option<Ordering> {
        let rqps = self.comparison.as_ref()?.rqps;
        rqps.estimate().point.partial_cmp(&1.0).filter(|_| rqps.is_significant())
    }

    /// What would settle an unclear verdict, where that can be told.
    #[must_use]
    pub fn settle(&self) -> Option<&Settle> {
        self.comparison.as_ref()?.settle.as_ref()
    }

    /// Whether the rQPS alone is slower or faster, and not among all that were tried.
    #[must_use]
    pub fn fell_short(&self) -> bool {
        let alone = self.comparison.as_ref().and_then(|comparison| comparison.alone);
        alone.is_some_and(|alone| alone != Verdict::Unclear)
            && self.verdict == Some(Verdict::Unclear)
    }

    /// Whether a slice finished no operation, so that it has no ratio.
    #[must_use]
    pub fn did_nothing(&self) -> bool {
        self.slices.iter().any(|figure| *figure <= 0.0)
    }

    /// The checks that failed.
    pub fn failed_checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.passed)
    }
}

/// Counts over all slices of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Measured time, nanoseconds.
    pub duration_ns: u64,
    /// Events finished.
    pub n_events: u64,
    /// Statements answered.
    pub n_queries: u64,
    /// What the figure counts.
    pub n_operations: u64,
    /// Rows received.
    pub n_rows: u64,
    /// Events that met an error that is ignored and retried, of all clients.
    pub n_errors: u64,
}
