//! The fields of the JSON report, in the order in which they are written.

use std::collections::BTreeMap;

use rqps_model::run::Check;
use rqps_model::{
    Dbms, Engine, Group, Imported, Placement, RunStatus, Schedule, StepKind, Transport, Verdict,
};
use serde::Serialize;

use super::cause::{AgeingJson, CauseJson, SplitJson};
use super::comparison::ComparisonJson;
use super::host::HostJson;
use super::insert::{InsertJson, SummaryJson};
use super::joined::JoinedJson;
use super::numbers::{EstimateJson, LatenessJson, RatioJson};
use super::plans::{PlanDifferenceJson, PlanJson, PlanRatioJson, PlanVariationJson};
use super::stacks::StacksJson;
use rqps_audit::sheet::ExplainedJson;

/// Version of the format. From the first release on, a field that goes or changes its meaning makes a new number.
pub(super) const SCHEMA: u32 = 1;

#[derive(Serialize)]
pub(super) struct ReportJson<'a> {
    pub(super) schema: u32,
    /// What must be known before any figure is compared; the first of the warnings.
    pub(super) severe: Vec<String>,
    pub(super) rqps_version: &'a str,
    pub(super) run: RunJson<'a>,
    /// Only of several runs in one report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) compared_runs: Option<JoinedJson<'a>>,
    pub(super) base: &'a str,
    pub(super) bound: f64,
    pub(super) false_discovery_rate: f64,
    pub(super) verdict_rule: String,
    pub(super) systems: Vec<SystemJson<'a>>,
    pub(super) warnings: Vec<String>,
    pub(super) sizes: Vec<SizesJson<'a>>,
    pub(super) differences: DifferencesJson<'a>,
    pub(super) candidates: Vec<CandidateJson<'a>>,
    pub(super) certainty: Vec<String>,
    pub(super) not_measured: Vec<String>,
    pub(super) footnotes: Vec<FootnoteJson<'a>>,
    /// Only of runs with steps of the Insert Benchmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) insert_benchmark: Option<SummaryJson<'a>>,
    /// Only of runs whose stacks were recorded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) stacks: Vec<StacksJson<'a>>,
    pub(super) steps: Vec<StepJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct RunJson<'a> {
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) status: RunStatus,
    pub(super) started: String,
    pub(super) started_unix_ms: i64,
    pub(super) finished_unix_ms: Option<i64>,
    pub(super) n_resumed: u32,
    pub(super) warnings: Vec<RunWarningJson<'a>>,
    pub(super) n_starts: u32,
    pub(super) command_line: String,
    pub(super) plan: &'a str,
    /// As text: many readers of JSON round numbers above 2^53.
    pub(super) seed: String,
    pub(super) schedule: Option<Schedule>,
    /// Where it was taken from; only of a run that rqps did not measure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) imported: Option<&'a Imported>,
    pub(super) host: HostJson<'a>,
}

#[derive(Serialize)]
pub(super) struct RunWarningJson<'a> {
    pub(super) at: Option<String>,
    pub(super) at_unix_ms: Option<i64>,
    pub(super) system: Option<&'a str>,
    pub(super) kind: &'static str,
    pub(super) text: String,
}

#[derive(Serialize)]
pub(super) struct SystemJson<'a> {
    pub(super) label: &'a str,
    /// Only of several runs in one report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<&'a str>,
    pub(super) name: &'a str,
    pub(super) dbms: Dbms,
    pub(super) version: Option<String>,
    pub(super) version_text: &'a str,
    pub(super) source: &'static str,
    pub(super) origin: &'a str,
    pub(super) engine: Option<Engine>,
    pub(super) config: &'a str,
    pub(super) options: &'a BTreeMap<String, String>,
    pub(super) transport: Option<Transport>,
    pub(super) build: &'a BTreeMap<String, String>,
    pub(super) session: &'a BTreeMap<String, String>,
    pub(super) process: &'a BTreeMap<String, String>,
    pub(super) settings: &'a BTreeMap<String, String>,
}

/// Per name: the value by system.
pub(super) type ByName<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Option<&'a str>>>;

#[derive(Serialize)]
pub(super) struct DifferencesJson<'a> {
    pub(super) session: ByName<'a>,
    pub(super) process: ByName<'a>,
    pub(super) options: ByName<'a>,
    pub(super) explained: Vec<ExplainedJson<'a>>,
    pub(super) settings: ByName<'a>,
    pub(super) not_everywhere: ByName<'a>,
}

/// What a system's data took over the run.
#[derive(Serialize)]
pub(super) struct SizesJson<'a> {
    pub(super) system: &'a str,
    pub(super) first: Option<SizesEndJson<'a>>,
    pub(super) last: Option<SizesEndJson<'a>>,
    pub(super) filled_ratio: Option<f64>,
    pub(super) database_growth: Option<f64>,
    pub(super) database_ratio: Option<f64>,
    pub(super) data_dir_ratio: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct SizesEndJson<'a> {
    pub(super) step: &'a str,
    pub(super) database_bytes: Option<u64>,
    pub(super) data_dir_bytes: Option<u64>,
    pub(super) redo_bytes: Option<u64>,
    pub(super) binlog_bytes: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct CandidateJson<'a> {
    pub(super) system: &'a str,
    pub(super) verdict: String,
    pub(super) details: Vec<String>,
    pub(super) n_slower: usize,
    pub(super) n_faster: usize,
    pub(super) n_same: usize,
    pub(super) n_unclear: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) n_sla_failed: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) n_check_failed: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) n_rate_held: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) n_recall_differs: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) n_plans_vary: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) n_host_busy: usize,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) n_imported: usize,
    pub(super) n_failed: usize,
    pub(super) n_not_measured: usize,
    pub(super) median_rqps: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct FootnoteJson<'a> {
    pub(super) letter: &'a str,
    pub(super) kind: &'static str,
    pub(super) meaning: String,
    pub(super) places: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct StepJson<'a> {
    pub(super) name: &'a str,
    pub(super) family: &'a str,
    pub(super) n: Option<u32>,
    pub(super) kind: StepKind,
    pub(super) group: Group,
    pub(super) clients: u32,
    pub(super) placement: Option<Placement>,
    pub(super) figure_unit: &'static str,
    pub(super) what: &'a str,
    pub(super) repeat: Option<String>,
    /// By the runs' ids; of joined runs alone.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) repeat_of_runs: BTreeMap<&'a str, String>,
    /// What a step that is repeated alone finds otherwise than in the run.
    pub(super) repeat_caution: Option<&'static str>,
    pub(super) systems: Vec<ResultJson<'a>>,
}

#[derive(Serialize)]
pub(super) struct ResultJson<'a> {
    pub(super) system: &'a str,
    pub(super) outcome: &'static str,
    pub(super) reason: Option<&'a str>,
    pub(super) figure: Option<EstimateJson>,
    pub(super) rqps: Option<EstimateJson>,
    pub(super) verdict: Option<Verdict>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) no_verdict: Option<&'static str>,
    pub(super) comparison: Option<ComparisonJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cause: Option<CauseJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) split: Option<SplitJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) ageing: Option<AgeingJson>,
    pub(super) server_cpu_ratio: Option<EstimateJson>,
    pub(super) per_operation: BTreeMap<String, Option<f64>>,
    pub(super) per_operation_relative: Option<BTreeMap<String, Option<RatioJson>>>,
    pub(super) response_times: Option<ResponseJson>,
    pub(super) lateness: Option<LatenessJson>,
    pub(super) windows: Option<WindowsJson>,
    pub(super) steady_rate: Option<f64>,
    pub(super) warnings: Vec<CellWarningJson<'a>>,
    pub(super) totals: TotalsJson,
    pub(super) database_bytes: Option<u64>,
    pub(super) data_dir_bytes: Option<u64>,
    pub(super) redo_bytes: Option<u64>,
    pub(super) binlog_bytes: Option<u64>,
    pub(super) server_rss_bytes: Option<u64>,
    pub(super) server_rss_ratio: Option<f64>,
    /// Only of steps of the Insert Benchmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) insert: Option<InsertJson>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) debt: &'a BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub(super) checks: &'a [Check],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) plans: Vec<PlanJson<'a>>,
    /// Only of candidates whose plans differ from the base's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) plan_difference: Option<Vec<PlanDifferenceJson<'a>>>,
    /// Only of systems whose starts ran different plans.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) plan_variations: Vec<PlanVariationJson<'a>>,
    /// Only of candidates where a start of either side ran another plan.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) plan_ratios: Vec<PlanRatioJson<'a>>,
    pub(super) slices: Vec<SliceJson<'a>>,
}

fn is_zero(n: &usize) -> bool {
    *n == 0
}

fn is_first(start: &u32) -> bool {
    *start == 0
}

#[derive(Serialize)]
pub(super) struct ResponseJson {
    pub(super) n: u64,
    pub(super) min_ns: Option<u64>,
    pub(super) mean_ns: Option<f64>,
    pub(super) max_ns: u64,
    pub(super) percentiles_ns: BTreeMap<String, Option<u64>>,
}

#[derive(Serialize)]
pub(super) struct WindowsJson {
    pub(super) length_ms: f64,
    pub(super) n: usize,
    pub(super) p05: f64,
    pub(super) median: f64,
    pub(super) p95: f64,
}

#[derive(Serialize)]
pub(super) struct CellWarningJson<'a> {
    pub(super) footnote: &'a str,
    pub(super) detail: String,
}

#[derive(Serialize)]
pub(super) struct TotalsJson {
    pub(super) measured_s: Option<f64>,
    pub(super) events: Option<u64>,
    pub(super) queries: Option<u64>,
    pub(super) operations: Option<u64>,
    pub(super) rows: Option<u64>,
    pub(super) errors: Option<u64>,
}

#[derive(Serialize)]
pub(super) struct SliceJson<'a> {
    /// On which start of the servers, from 0; left out for the first.
    #[serde(skip_serializing_if = "is_first")]
    pub(super) start: u32,
    pub(super) start_unix_ms: i64,
    pub(super) duration_s: f64,
    pub(super) seed: String,
    pub(super) figure: f64,
    pub(super) errors: BTreeMap<&'a str, u64>,
    pub(super) queries_per_second: Vec<u32>,
}
