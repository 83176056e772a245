//! A step on one system against the same step on the base.

use rqps_explain::{Cause, Split};
use rqps_model::{Estimate, PerOperation};

use super::bar::Bar;
use super::comparison::Comparison;
use super::evidence::Evidence;
use super::insert::FieldMetrics;
use super::plan_ratio::PlanRatio;

/// All values relative to the base.
#[derive(Debug, Clone)]
pub struct Against {
    /// rQPS: QPS / QPS of the base.
    pub rqps: Option<Estimate>,
    /// The tests behind it, and the other ratios; absent without a ratio, and for one of an imported 0.
    pub comparison: Option<Comparison>,
    /// Why there is no verdict although there is a ratio.
    pub bar: Option<Bar>,
    /// The ratio per plan, where starts of one of both ran different plans.
    pub plan_ratios: Vec<PlanRatio>,
    /// The metrics per operation relative to the base's; 0/0 is 1, x/0 is infinite.
    pub relative: PerOperation,
    /// The metrics of the Insert Benchmark likewise; absent for any other step.
    pub field_relative: Option<FieldMetrics>,
    /// Resident memory of the server at the end of the step over the base's.
    pub server_rss_ratio: Option<f64>,
    /// The time per operation against the base's, split into parts; absent where the server's
    /// processes are not known, or which threads serve the measured clients.
    pub split: Option<Box<Split>>,
    /// What explains a verdict of slower or faster; absent for any other.
    pub cause: Option<Box<Cause>>,
    /// What was found beside the counters; nothing without a verdict.
    pub evidence: Evidence,
}
