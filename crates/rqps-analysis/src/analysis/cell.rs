//! One step on one system: its state, its measurement, and how it compares with the base.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rqps_explain::{Ageing, Cause, Split};
use rqps_model::run::Check;
use rqps_model::{Estimate, Lateness, Metric, PerOperation, Sizes, Verdict};

use super::against::Against;
use super::bar::Bar;
use super::comparison::Comparison;
use super::footnote::CellWarning;
use super::insert::{InsertCell, Sla};
use super::measurement::Measurement;
use super::plan_ratio::PlanRatio;
use super::settle::Settle;
use super::totals::Totals;
use crate::response::ResponseTimes;

/// Whether a cell was measured, and why not.
#[derive(Debug, Clone)]
pub enum CellState {
    /// It was measured, with this result.
    Measured(Box<Measurement>),
    /// It was not reached.
    Pending,
    /// A load that was not done: the tables are copies of an earlier run's.
    TablesReused,
    /// It failed and has no result.
    Failed {
        /// What happened, and the end of the server's log.
        reason: String,
    },
}

impl CellState {
    /// Whether it has slices.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        matches!(self, Self::Measured(_))
    }
}

/// One step on one system.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its state, with the measurement.
    pub state: CellState,
    /// How it compares with the base; absent for the base, and where one of both was not measured.
    pub against: Option<Box<Against>>,
    /// Its ageing since its twin before the steps that write; absent without one.
    pub ageing: Option<Ageing>,
    /// Its warnings.
    pub warnings: Vec<CellWarning>,
    /// Sizes after the step.
    pub sizes: Sizes,
    /// Unfinished background work of the server at the end of the step, by name, as the server
    /// counts it.
    pub debt: BTreeMap<String, u64>,
    /// The checks of the step's work.
    pub checks: Vec<Check>,
    /// Whether the rate is an imported file's, which is shown with the file's digits.
    pub is_stated: bool,
    /// Whether this rate or the base's was imported: then a ratio has no verdict.
    pub is_imported: bool,
}

impl Cell {
    /// Its measurement; `None` where it was not reached or failed.
    #[must_use]
    pub fn measurement(&self) -> Option<&Measurement> {
        match &self.state {
            CellState::Measured(measurement) => Some(measurement),
            CellState::Pending | CellState::TablesReused | CellState::Failed { .. } => None,
        }
    }

    /// Operations per second.
    #[must_use]
    pub fn figure(&self) -> Option<Estimate> {
        self.measurement()?.figure
    }

    /// A metric per operation over all slices together.
    #[must_use]
    pub fn per_operation(&self, metric: Metric) -> Option<f64> {
        self.measurement()?.per_operation.get(metric)
    }

    /// Counts over its slices; zeros where there are none.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.measurement().map(|own| own.totals).unwrap_or_default()
    }

    /// Operations per second of each slice, in order of time.
    #[must_use]
    pub fn slices(&self) -> &[f64] {
        self.measurement().map_or(&[], |own| &own.slices)
    }

    /// Response times of events over all slices together.
    #[must_use]
    pub fn response(&self) -> Option<&ResponseTimes> {
        self.measurement()?.response.as_ref()
    }

    /// How a set rate was held; `None` where none was set.
    #[must_use]
    pub fn lateness(&self) -> Option<Lateness> {
        self.measurement()?.lateness
    }

    /// Steady rate, mean over the slices, operations per second.
    #[must_use]
    pub fn steady_rate(&self) -> Option<f64> {
        self.measurement()?.steady_rate
    }

    /// Resident memory of the server at the end of the step, bytes.
    #[must_use]
    pub fn server_rss_bytes(&self) -> Option<u64> {
        self.measurement()?.server_rss_bytes
    }

    /// The same over the base's; `None` for the base.
    #[must_use]
    pub fn server_rss_ratio(&self) -> Option<f64> {
        self.against.as_ref()?.server_rss_ratio
    }

    /// What only steps of the Insert Benchmark have.
    #[must_use]
    pub fn insert(&self) -> Option<&InsertCell> {
        self.measurement()?.insert.as_deref()
    }

    /// How the rate of background inserts was held; `None` where none was set.
    #[must_use]
    pub fn sla(&self) -> Option<&Sla> {
        self.insert()?.sla.as_ref()
    }

    /// Whether a rate of background inserts was set and not held.
    #[must_use]
    pub fn failed_sla(&self) -> bool {
        self.sla().is_some_and(|sla| !sla.is_held)
    }

    /// rQPS: QPS / QPS of the base; `None` for the base.
    #[must_use]
    pub fn rqps(&self) -> Option<Estimate> {
        self.against.as_ref()?.rqps
    }

    /// The tests behind the rQPS, and the other ratios to the base; `None` for the base and without a ratio.
    #[must_use]
    pub fn comparison(&self) -> Option<&Comparison> {
        self.against.as_ref()?.comparison.as_ref()
    }

    /// The metrics per operation relative to the base's; `None` for the base.
    #[must_use]
    pub fn relative(&self) -> Option<&PerOperation> {
        Some(&self.against.as_ref()?.relative)
    }

    /// Server CPU per operation / that of the base; above 1 costs more.
    #[must_use]
    pub fn server_cpu_ratio(&self) -> Option<Estimate> {
        Some(self.comparison()?.server_cpu?.estimate())
    }

    /// The verdict, adjusted for all ratios of the run; `None` for the base, without a ratio, and
    /// where it is barred.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        Some(self.comparison()?.decision?.verdict)
    }

    /// The time per operation against the base's, split into parts; `None` for the base, and where
    /// it is not known.
    #[must_use]
    pub fn split(&self) -> Option<&Split> {
        self.against.as_ref()?.split.as_deref()
    }

    /// What explains a verdict of slower or faster; `None` for any other.
    #[must_use]
    pub fn cause(&self) -> Option<&Cause> {
        self.against.as_ref()?.cause.as_deref()
    }

    /// Why there is no verdict although there is a ratio.
    #[must_use]
    pub fn bar(&self) -> Option<Bar> {
        self.against.as_ref()?.bar
    }

    /// The ratio per plan, where starts of this system or of the base ran different plans.
    #[must_use]
    pub fn plan_ratios(&self) -> &[PlanRatio] {
        self.against.as_ref().map_or(&[], |against| &against.plan_ratios)
    }

    /// Whether the ratio has no verdict for a reason of [`Bar`].
    #[must_use]
    pub fn is_barred(&self) -> bool {
        self.bar().is_some()
    }

    /// The rQPS; `None` where it is barred.
    #[must_use]
    pub fn comparable_rqps(&self) -> Option<Estimate> {
        self.rqps().filter(|_| !self.is_barred())
    }

    /// On which side of 1 the rQPS lies beyond chance after adjustment, however small the
    /// difference: `Less` is slower; `None` where it may be chance.
    #[must_use]
    pub fn direction(&self) -> Option<Ordering> {
        let rqps = self.comparison()?.rqps;
        rqps.estimate().point.partial_cmp(&1.0).filter(|_| rqps.is_significant())
    }

    /// What would settle an unclear verdict, where known.
    #[must_use]
    pub fn settle(&self) -> Option<Settle> {
        self.comparison()?.decision?.settle
    }

    /// The verdict without adjustment, where it is slower or faster and does not hold after
    /// adjustment.
    #[must_use]
    pub fn fallen_verdict(&self) -> Option<Verdict> {
        let decision = self.comparison()?.decision?;
        let fell = decision.alone != Verdict::Unclear && decision.verdict == Verdict::Unclear;
        fell.then_some(decision.alone)
    }

    /// Whether a slice finished no operation, so that it has no ratio.
    #[must_use]
    pub fn did_nothing(&self) -> bool {
        self.slices().iter().any(|figure| *figure <= 0.0)
    }

    /// The checks that failed.
    pub fn failed_checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.passed)
    }
}
