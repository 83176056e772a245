//! Reports as JSON for programs. The format is versioned and described by `docs/reference/report.schema.json`.
//!
//! Within one `schema` number fields are only added. Numbers have full precision; values that were
//! not measured are `null`; a ratio to zero is the string `"inf"`.

mod cause;
mod comparison;
mod host;
mod insert;
mod joined;
mod numbers;
mod plans;
mod shape;
mod stacks;

use std::collections::BTreeMap;

use rqps_model::{Estimate, Metric, PerOperation, Sizes, SystemSource};
use rqps_stats::fdr::DEFAULT_Q;

use crate::headline;
use crate::response::percentile_heading;
use crate::rule::{TEXT_SIGNS, verdict_rule};
use crate::warning::InWords;
use crate::{csv, repeat};
use crate::{places, warning};
use host::HostJson;
use joined::JoinedJson;
pub(crate) use numbers::EstimateJson;
use numbers::{LatenessJson, RatioJson};
use rqps_analysis::response;
use rqps_analysis::{Analysis, Cell, CellState, StepAnalysis, SystemSizes};
use rqps_audit::Difference;
use rqps_audit::{Explained, Shown, sheet};
use rqps_text::number;
use shape::{
    CandidateJson, CellWarningJson, DifferencesJson, FootnoteJson, ReportJson, ResponseJson,
    ResultJson, RunJson, RunWarningJson, SCHEMA, SizesEndJson, SizesJson, SliceJson, StepJson,
    SystemJson, TotalsJson, WindowsJson,
};

/// The report as indented JSON with a line break at its end.
#[must_use]
pub fn render(analysis: &Analysis<'_>) -> String {
    // The shape has text keys only and no type whose serialisation can fail.
    let mut out = serde_json::to_string_pretty(&report(analysis)).unwrap_or_default();
    out.push('\n');
    out
}

fn report<'a>(analysis: &'a Analysis<'_>) -> ReportJson<'a> {
    let told = InWords::of(analysis);
    ReportJson {
        schema: SCHEMA,
        severe: told.severe.clone(),
        rqps_version: analysis.rqps_version(),
        run: run(analysis),
        compared_runs: analysis.joined.map(JoinedJson::of),
        base: analysis.base_label(),
        bound: analysis.judging.bound,
        false_discovery_rate: DEFAULT_Q,
        verdict_rule: verdict_rule(analysis, TEXT_SIGNS),
        systems: (0..analysis.run.systems.len()).map(|idx| system(analysis, idx)).collect(),
        warnings: told.before_reading(),
        sizes: analysis.sizes.iter().enumerate().map(|(idx, s)| sizes(analysis, idx, s)).collect(),
        differences: DifferencesJson {
            session: explained(analysis, &analysis.differences.audit.session),
            process: differences(analysis, &analysis.differences.process),
            explained: sheet::explained_json(&analysis.differences.audit.settings),
            options: differences(analysis, &analysis.differences.options),
            settings: differences(analysis, &analysis.differences.settings),
            not_everywhere: differences(analysis, &analysis.differences.partial),
        },
        candidates: analysis
            .headlines
            .iter()
            .map(|h| CandidateJson {
                system: analysis.label(h.system_idx),
                verdict: headline::sentence(analysis, h),
                details: headline::details(analysis, h),
                n_slower: h.counts.slower,
                n_faster: h.counts.faster,
                n_same: h.counts.same,
                n_unclear: h.counts.unclear,
                n_sla_failed: h.counts.sla_failed,
                n_check_failed: h.counts.check_failed,
                n_rate_held: h.counts.rate_held,
                n_recall_differs: h.counts.recall_differs,
                n_plans_vary: h.counts.plans_vary,
                n_host_busy: h.counts.host_busy,
                n_imported: h.counts.imported,
                n_failed: h.counts.failed,
                n_not_measured: h.counts.missing,
                median_rqps: h.median,
            })
            .collect(),
        certainty: told.certainty,
        not_measured: told.not_measured,
        footnotes: analysis
            .footnotes
            .iter()
            .enumerate()
            .map(|(idx, n)| FootnoteJson {
                letter: &n.letter,
                kind: n.kind.key(),
                meaning: warning::meaning(&n.kind),
                places: places::list(analysis, idx),
            })
            .collect(),
        insert_benchmark: insert::summary(analysis),
        stacks: stacks::all(analysis),
        steps: (0..analysis.steps.len()).map(|idx| step(analysis, idx)).collect(),
    }
}

fn run<'a>(analysis: &'a Analysis<'_>) -> RunJson<'a> {
    let run = analysis.run;
    RunJson {
        id: &run.id,
        name: &run.name,
        status: run.status,
        started: number::utc(run.started_unix_ms),
        started_unix_ms: run.started_unix_ms,
        finished_unix_ms: run.finished_unix_ms,
        n_resumed: run.n_resumed,
        warnings: run
            .warnings
            .iter()
            .map(|warning| RunWarningJson {
                at: warning.at_unix_ms.map(number::utc),
                at_unix_ms: warning.at_unix_ms,
                system: warning.scope.system().map(|idx| analysis.label(idx)),
                kind: warning.kind.key(),
                text: crate::warning::in_scope(warning),
            })
            .collect(),
        n_starts: analysis.n_starts,
        command_line: crate::command::line(&run.command_line),
        plan: &run.plan,
        seed: run.seed.to_string(),
        // An imported file does not tell it.
        schedule: run.imported.is_none().then_some(run.schedule),
        imported: run.imported.as_ref(),
        host: HostJson::of(&run.host),
    }
}

fn system<'a>(analysis: &'a Analysis<'_>, idx: usize) -> SystemJson<'a> {
    let system = &analysis.run.systems[idx];
    SystemJson {
        label: system.spec.label.as_str(),
        run: analysis.joined.and_then(|joined| joined.source(idx)).map(|s| s.id.as_str()),
        name: &analysis.names[idx],
        dbms: system.spec.dbms,
        version: system.version.as_ref().map(ToString::to_string),
        version_text: &system.version_text,
        source: match &system.spec.source {
            SystemSource::Catalogue { .. } => "catalogue",
            SystemSource::Basedir { .. } => "basedir",
            SystemSource::Built(_) => "built",
            SystemSource::External { .. } => "external",
            SystemSource::Builtin => "builtin",
            SystemSource::Imported => "imported",
        },
        origin: &system.origin,
        engine: (!analysis.is_imported(idx)).then_some(system.spec.engine),
        config: &system.spec.config,
        options: &system.spec.options,
        transport: (!analysis.is_imported(idx)).then_some(system.spec.transport),
        build: &system.build,
        session: &system.session,
        process: &system.process,
        settings: &system.settings,
    }
}

fn differences<'a>(
    analysis: &'a Analysis<'_>,
    all: &'a [Difference],
) -> BTreeMap<&'a str, BTreeMap<&'a str, Option<&'a str>>> {
    all.iter()
        .map(|d| {
            let values = d.values.iter().enumerate();
            let by_label = values.map(|(idx, v)| (analysis.label(idx), v.as_deref())).collect();
            (d.name.as_str(), by_label)
        })
        .collect()
}

/// Known differences as their values by system.
fn explained<'a>(
    analysis: &'a Analysis<'_>,
    all: &'a [Explained],
) -> BTreeMap<&'a str, BTreeMap<&'a str, Option<&'a str>>> {
    all.iter()
        .map(|e| {
            let value = |v: &'a Option<Shown>| v.as_ref().map(|v| v.text.as_str());
            let values = e.values.iter().enumerate();
            let by_label = values.map(|(idx, v)| (analysis.label(idx), value(v))).collect();
            (e.name.as_str(), by_label)
        })
        .collect()
}

fn sizes<'a>(analysis: &'a Analysis<'_>, idx: usize, sizes: &SystemSizes) -> SizesJson<'a> {
    let end = |end: Option<(usize, Sizes)>| {
        let (at, sizes) = end?;
        let step = &analysis.run.steps.get(at)?.info.name;
        let Sizes { database_bytes, data_dir_bytes, redo_bytes, binlog_bytes } = sizes;
        Some(SizesEndJson { step, database_bytes, data_dir_bytes, redo_bytes, binlog_bytes })
    };
    SizesJson {
        system: analysis.label(idx),
        first: end(sizes.first),
        last: end(sizes.last),
        filled_ratio: sizes.filled_ratio,
        database_growth: sizes.growth,
        database_ratio: sizes.database_ratio,
        data_dir_ratio: sizes.data_dir_ratio,
    }
}

fn step<'a>(analysis: &'a Analysis<'_>, step_idx: usize) -> StepJson<'a> {
    let step = &analysis.steps[step_idx];
    let info = &step.step.info;
    let repeated = repeat::commands(analysis, step);
    let source = analysis.joined.and_then(|joined| joined.source(analysis.base));
    let run = source.map(|source| source.id.as_str());
    let caution = repeat::caution(analysis, step_idx).filter(|_| !repeated.is_empty());
    let of_base = repeated.iter().find(|one| one.run == run).map(|one| one.command.clone());
    StepJson {
        name: &info.name,
        family: &info.family,
        n: info.n,
        kind: info.kind,
        group: step.group(),
        clients: step.step.clients,
        placement: (!analysis.is_all_imported()).then_some(step.step.placement),
        figure_unit: info.figure.unit(),
        what: &info.what,
        repeat: of_base,
        repeat_of_runs: repeated
            .into_iter()
            .filter_map(|one| Some((one.run?, one.command)))
            .collect(),
        repeat_caution: caution,
        systems: (0..step.cells.len()).map(|idx| result(analysis, step, idx)).collect(),
    }
}

fn result<'a>(
    analysis: &'a Analysis<'_>,
    step: &'a StepAnalysis<'_>,
    idx: usize,
) -> ResultJson<'a> {
    let cell = &step.cells[idx];
    let slices = step.step.systems.get(idx).map_or(&[][..], |s| &s.slices);
    // An imported file tells some of these or none; it never tells that nothing was done.
    let is_told = |n: u64| n > 0 || !analysis.is_imported(idx);
    let count = |n: u64| is_told(n).then_some(n);
    let (own, totals) = (cell.measurement(), cell.totals());
    let per_operation = own.map(|own| own.per_operation.clone()).unwrap_or_default();
    ResultJson {
        system: analysis.label(idx),
        outcome: csv::outcome(cell),
        reason: match &cell.state {
            CellState::Failed { reason } => Some(reason),
            _ => None,
        },
        figure: cell.figure().as_ref().map(estimate),
        rqps: cell.rqps().as_ref().map(estimate),
        verdict: cell.verdict(),
        no_verdict: cell.bar().map(crate::comparison::bar),
        comparison: cell.comparison().map(comparison::comparison),
        cause: cause::cause(cell),
        split: cell.split().map(cause::split),
        ageing: cell.ageing.as_ref().map(cause::ageing),
        server_cpu_ratio: cell.server_cpu_ratio().as_ref().map(estimate),
        per_operation: metrics(&per_operation, |v| v),
        per_operation_relative: cell.relative().map(|r| metrics(r, RatioJson::from)),
        response_times: cell.response().map(response_times),
        lateness: cell.lateness().map(LatenessJson::from),
        windows: own.and_then(|own| own.windows).map(|w| WindowsJson {
            length_ms: w.length_ns as f64 / 1e6,
            n: w.n,
            p05: w.p05,
            median: w.median,
            p95: w.p95,
        }),
        steady_rate: cell.steady_rate(),
        warnings: warnings(analysis, cell),
        totals: TotalsJson {
            measured_s: is_told(totals.duration_ns).then(|| totals.duration_ns as f64 / 1e9),
            events: count(totals.n_events),
            queries: count(totals.n_queries),
            operations: count(totals.n_operations),
            rows: count(totals.n_rows),
            errors: count(totals.n_errors),
        },
        database_bytes: cell.sizes.database_bytes,
        data_dir_bytes: cell.sizes.data_dir_bytes,
        redo_bytes: cell.sizes.redo_bytes,
        binlog_bytes: cell.sizes.binlog_bytes,
        server_rss_bytes: cell.server_rss_bytes(),
        server_rss_ratio: cell.server_rss_ratio(),
        insert: cell.insert().map(|own| insert::cell(own, step, idx)),
        debt: &cell.debt,
        checks: &cell.checks,
        plans: step.step.systems.get(idx).map_or_else(Vec::new, |s| plans::plans(&s.plans)),
        plan_difference: step
            .plans
            .differences
            .get(idx)
            .and_then(Option::as_ref)
            .map(plans::difference),
        plan_variations: plans::variations(step.plans.variations_of(idx)),
        plan_ratios: plans::ratios(cell),
        slices: slices
            .iter()
            .map(|s| SliceJson {
                start: s.start,
                start_unix_ms: s.start_unix_ms,
                duration_s: s.duration_ns as f64 / 1e9,
                seed: s.seed.to_string(),
                figure: s.figure(),
                errors: s.errors.iter().map(|e| (e.code.as_str(), e.n)).collect(),
                queries_per_second: s.series.iter().map(|p| p.queries).collect(),
            })
            .collect(),
    }
}

pub(crate) fn estimate(estimate: &Estimate) -> EstimateJson {
    EstimateJson {
        point: estimate.point,
        interval: estimate.interval.map(|(low, high)| [low.into(), high.into()]),
        n: estimate.n,
    }
}

/// A metric's name with its unit: `server_cpu_us`.
fn metric_name(metric: Metric) -> String {
    match metric.unit() {
        "us" => format!("{}_us", metric.stem()),
        "KB" => format!("{}_kb", metric.stem()),
        _ => metric.stem().to_owned(),
    }
}

fn metrics<T>(values: &PerOperation, show: fn(f64) -> T) -> BTreeMap<String, Option<T>> {
    let beside = values.values.iter().map(|(m, _)| *m).filter(|m| !Metric::ALL.contains(m));
    let all = Metric::ALL.into_iter().chain(beside);
    all.map(|m| (metric_name(m), values.get(m).map(show))).collect()
}

fn response_times(times: &response::ResponseTimes) -> ResponseJson {
    let percentiles = response::PERCENTILES.iter().zip(times.percentiles_ns);
    ResponseJson {
        n: times.n,
        min_ns: times.min_ns,
        mean_ns: times.mean_ns,
        max_ns: times.max_ns,
        percentiles_ns: percentiles.map(|(p, ns)| (percentile_heading(*p), ns)).collect(),
    }
}

fn warnings<'a>(analysis: &'a Analysis<'_>, cell: &'a Cell) -> Vec<CellWarningJson<'a>> {
    cell.warnings
        .iter()
        .filter_map(|own| {
            let note = analysis.footnotes.get(own.footnote_idx)?;
            Some(CellWarningJson { footnote: &note.letter, detail: warning::detail(own) })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::*;

    /// The objects of a schema that have a property.
    fn objects_with<'s>(schema: &'s Value, property: &str, found: &mut Vec<&'s Value>) {
        if schema["properties"].get(property).is_some() {
            found.push(schema);
        }
        match schema {
            Value::Object(map) => map.values().for_each(|v| objects_with(v, property, found)),
            Value::Array(all) => all.iter().for_each(|v| objects_with(v, property, found)),
            _ => {}
        }
    }

    #[test]
    fn the_schema_demands_every_metric() {
        let schema = include_str!("../../../docs/reference/report.schema.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        let mut objects = Vec::new();
        objects_with(&schema, &metric_name(Metric::ContextSwitches), &mut objects);
        // Values, and those relative to the base.
        assert_eq!(objects.len(), 2);
        let names: BTreeSet<String> = Metric::ALL.into_iter().map(metric_name).collect();
        for object in objects {
            let required = object["required"].as_array().unwrap().iter();
            let required: BTreeSet<String> =
                required.map(|name| name.as_str().unwrap().to_owned()).collect();
            assert_eq!(required, names);
            assert!(names.iter().all(|name| object["properties"].get(name).is_some()));
        }
    }
}
