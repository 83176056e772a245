//! The report as JSON: what the text says, with names that say their units, and finer percentiles.

use serde_json::{Value, json as object};

use super::Reported;
use crate::lua::SYSBENCH_VERSION;
use crate::settings::Settings;

/// What was reported before the end, on its way into the JSON: without the counts by response time, of
/// which a run of days has too many to keep.
#[derive(Debug, Default)]
pub(crate) struct Earlier {
    intermediate: Vec<Value>,
    checkpoints: Vec<Value>,
}

impl Earlier {
    /// Takes note of an intermediate report. Extremes are those since the last checkpoint, not of one
    /// interval, and are skipped.
    pub(crate) fn push_intermediate(&mut self, of: &Reported, percentiles: &[f64]) {
        let mut value = counts(of, percentiles);
        if let Some(latency) = value.get_mut("latency_ms").and_then(Value::as_object_mut) {
            latency.remove("min");
            latency.remove("max");
        }
        self.intermediate.push(value);
    }

    /// Takes note of a checkpoint.
    pub(crate) fn push_checkpoint(&mut self, of: &Reported, percentiles: &[f64]) {
        self.checkpoints.push(counts(of, percentiles));
    }
}

/// A report in JSON.
fn counts(of: &Reported, percentiles: &[f64]) -> Value {
    let all: serde_json::Map<String, Value> = percentiles
        .iter()
        .map(|percent| (percent.to_string(), object!(of.percentile_ms(*percent))))
        .collect();
    object!({
        "time_s": of.total_s,
        "interval_s": of.interval_s,
        "events": of.sum.events,
        "events_per_s": of.per_second(of.sum.events),
        "queries": {
            "read": of.sum.reads,
            "write": of.sum.writes,
            "other": of.sum.others,
            "total": of.sum.queries(),
        },
        "queries_per_s": of.per_second(of.sum.queries()),
        "ignored_errors": of.sum.errors,
        "reconnects": of.sum.reconnects,
        "latency_ms": {
            "min": of.min_ms(),
            "mean": of.mean_ms(),
            "max": of.max_ms(),
            "sum": of.sum_ms(),
            "percentiles": all,
        },
    })
}

/// The whole report; intermediate reports and checkpoints come before the end.
pub(crate) fn json(test: &str, settings: &Settings, end: &Reported, earlier: &Earlier) -> String {
    let mut report = counts(end, &settings.percentiles);
    if let Some(report) = report.as_object_mut() {
        let head = object!({
            "sysbench_version": SYSBENCH_VERSION,
            "rqps_version": env!("CARGO_PKG_VERSION"),
            "test": test,
            "threads": settings.n_threads,
            "rate_per_s": settings.limits.rate,
            "latency_from": if settings.limits.rate > 0.0 { "intended start" } else { "start" },
            "seed": settings.seed,
            "threads_events": end.threads.iter().map(|one| one.events).collect::<Vec<_>>(),
            "threads_time_s": end.threads.iter().map(|one| one.sum_s).collect::<Vec<_>>(),
            "intermediate": earlier.intermediate,
            "checkpoints": earlier.checkpoints,
        });
        if let Value::Object(head) = head {
            report.extend(head);
        }
    }
    format!("{report:#}")
}
