//! The gate's answer for programs; docs/how-to/ci.md has its fields.

use rqps_model::RunStatus;
use serde::Serialize;

use super::{warnings, words};
use crate::json::{EstimateJson, estimate};
use crate::warning::InWords;
use rqps_analysis::gate::{Gate, Judged};
use rqps_analysis::{Cell, StepAnalysis};

/// Version of the format. From the first release on, a field that goes or changes its meaning makes a new number.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct GateJson<'a> {
    schema: u32,
    rqps_version: &'a str,
    run: &'a str,
    run_status: RunStatus,
    base: &'a str,
    max_slowdown: f64,
    result: &'static str,
    sentence: String,
    errors: Vec<String>,
    severe: Vec<String>,
    warnings: Vec<String>,
    certainty: Vec<String>,
    n_slower: usize,
    n_sla_failed: usize,
    n_faster: usize,
    n_same: usize,
    n_unclear: usize,
    n_errors: usize,
    n_host_busy: usize,
    n_not_judged: usize,
    n_not_reached: usize,
    results: Vec<ResultJson<'a>>,
}

#[derive(Serialize)]
struct ResultJson<'a> {
    step: &'a str,
    clients: u32,
    system: &'a str,
    outcome: &'static str,
    reason: Option<String>,
    to_settle: Option<SettleJson>,
    rqps: Option<EstimateJson>,
    server_cpu_ratio: Option<EstimateJson>,
    footnotes: Vec<String>,
}

#[derive(Serialize)]
struct SettleJson {
    words: String,
    seconds: Option<f64>,
    starts: Option<u32>,
}

/// The answer as indented JSON with a line break at its end.
#[must_use]
pub fn render(gate: &Gate<'_>) -> String {
    let analysis = gate.analysis;
    let told = InWords::of(analysis);
    let answer = GateJson {
        schema: SCHEMA,
        rqps_version: &analysis.run.rqps_version,
        run: &analysis.run.id,
        run_status: analysis.run.status,
        base: analysis.base_label(),
        max_slowdown: analysis.judging.bound,
        result: gate.passage().word(),
        sentence: words::sentence(gate),
        errors: words::errors(gate),
        warnings: told.before_reading(),
        severe: told.severe,
        certainty: told.certainty,
        n_slower: gate.counts().slower,
        n_sla_failed: gate.counts().sla_failed,
        n_faster: gate.counts().faster,
        n_same: gate.counts().same,
        n_unclear: gate.counts().unclear,
        n_errors: gate.counts().errors,
        n_host_busy: gate.n_host_busy(),
        n_not_judged: gate.counts().not_judged,
        n_not_reached: gate.counts().not_reached,
        results: gate.rows().map(|(judged, step, cell)| result(gate, judged, step, cell)).collect(),
    };
    // The shape has text keys only and no type whose serialisation can fail.
    let mut out = serde_json::to_string_pretty(&answer).unwrap_or_default();
    out.push('\n');
    out
}

fn result<'g>(
    gate: &'g Gate<'_>,
    judged: &'g Judged,
    step: &'g StepAnalysis<'_>,
    cell: &Cell,
) -> ResultJson<'g> {
    let analysis = gate.analysis;
    ResultJson {
        step: &step.step.info.name,
        clients: step.step.clients,
        system: analysis.label(judged.system_idx),
        outcome: judged.outcome.key(),
        reason: words::reason(gate, &judged.outcome),
        to_settle: cell.settle().and_then(|settle| {
            let words = words::to_settle(cell)?;
            Some(SettleJson { words, seconds: settle.seconds(), starts: settle.starts() })
        }),
        rqps: cell.rqps().as_ref().map(estimate),
        server_cpu_ratio: cell.server_cpu_ratio().as_ref().map(estimate),
        footnotes: warnings::facts(analysis, step, cell),
    }
}
