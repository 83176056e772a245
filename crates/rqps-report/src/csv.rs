//! Reports as CSV: one row per step, number of clients and system, full precision, units in the
//! names of the columns.
//!
//! RFC 4180 with a header line. A text that a spreadsheet would take for a formula gets an
//! apostrophe in front.

mod cause;
mod comparison;
mod insert;

use rqps_model::{Estimate, Metric, Sizes};

use crate::compare;
use crate::response::percentile_heading;
use crate::warning;
use rqps_analysis::CellWarning;
use rqps_analysis::response;
use rqps_analysis::{Analysis, Cell, CellState, StepAnalysis};
use rqps_text::words::one_line;

/// Everything that a column's value is made from.
struct Row<'r, 'a> {
    analysis: &'r Analysis<'a>,
    step: &'r StepAnalysis<'a>,
    cell: &'r Cell,
    idx: usize,
}

/// One column: its name, what it means, and its value.
struct Column {
    name: String,
    meaning: String,
    value: Box<dyn Fn(&Row<'_, '_>) -> String>,
}

/// The report as CSV.
#[must_use]
pub fn render(analysis: &Analysis<'_>) -> String {
    let mut columns = columns();
    if analysis.insert.is_some() {
        columns.extend(insert::columns());
    }
    if (0..analysis.run.systems.len()).any(|idx| analysis.is_imported(idx)) {
        columns.extend(imported_columns());
    }
    let names: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
    let mut out = names.join(",") + "\r\n";
    for step in &analysis.steps {
        for (idx, cell) in step.cells.iter().enumerate() {
            let row = Row { analysis, step, cell, idx };
            let values: Vec<String> = columns.iter().map(|c| field(&(c.value)(&row))).collect();
            out.push_str(&values.join(","));
            out.push_str("\r\n");
        }
    }
    out
}

/// The columns' names and meanings as a markdown table, for the documentation.
#[must_use]
pub fn describe() -> String {
    table(&columns())
}

/// The columns that only runs of the Insert Benchmark have, after the others.
#[must_use]
pub fn describe_insert() -> String {
    table(&insert::columns())
}

/// The columns that only reports with imported systems have, after all others.
#[must_use]
pub fn describe_imported() -> String {
    table(&imported_columns())
}

fn table(columns: &[Column]) -> String {
    let mut out = String::from("| column | meaning |\n| --- | --- |\n");
    for column in columns {
        out.push_str(&format!("| `{}` | {} |\n", column.name, column.meaning));
    }
    out
}

pub(crate) fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// Text of a plan or a server; numbers do not pass here.
pub(crate) fn words(text: &str) -> String {
    let line = one_line(text);
    if line.starts_with(['=', '+', '-', '@']) { format!("'{line}") } else { line }
}

fn column(
    name: impl Into<String>,
    meaning: impl Into<String>,
    value: impl Fn(&Row<'_, '_>) -> String + 'static,
) -> Column {
    Column { name: name.into(), meaning: meaning.into(), value: Box::new(value) }
}

fn size(name: &str, meaning: &str, of: fn(&Sizes) -> Option<u64>) -> Column {
    column(name, meaning, move |r| of(&r.cell.sizes).map_or_else(String::new, |b| b.to_string()))
}

pub(crate) fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |v| v.to_string())
}

fn columns() -> Vec<Column> {
    let mut all = step_columns();
    all.extend(estimate_columns(
        "figure",
        "rate in `figure_unit`, mean over slices; of l.i0, l.i1 and l.i2: all rows / all time",
        |c| c.figure(),
    ));
    all.extend(estimate_columns(
        "rqps",
        "`figure` / `figure` of the base; above 1 is faster",
        |c| c.rqps(),
    ));
    all.push(column(
        "verdict",
        "slower, faster, same or unclear, adjusted for all ratios of the run; empty without a verdict",
        |r| r.cell.verdict().map_or_else(String::new, |v| v.word().to_owned()),
    ));
    let cpu = "server CPU per operation / that of the base; below 1 is better";
    all.extend(estimate_columns("server_cpu_ratio", cpu, |c| c.server_cpu_ratio()));
    for metric in Metric::ALL {
        let name = metric_name(metric);
        let unit = if metric.unit() == "us" { ", µs" } else { "" };
        let meaning = format!("{}{unit} ({})", metric.meaning(), metric.source());
        all.push(column(name, meaning, move |r| number(r.cell.per_operation(metric))));
    }
    for metric in Metric::ALL {
        let name = format!("{}_per_operation_ratio", metric.stem());
        let meaning = of_base(&metric_name(metric));
        all.push(column(name, meaning, move |r| {
            number(r.cell.relative().and_then(|p| p.get(metric)))
        }));
    }
    all.extend(response_columns());
    all.extend(total_columns());
    all.extend(comparison::columns());
    all.extend(cause::columns());
    all.push(column(
        "severe",
        "severe differences between the systems, the same in every row; empty without any",
        |r| {
            let severe = r.analysis.warnings_by_weight().0;
            words(&warning::sentences(r.analysis, severe).join(" "))
        },
    ));
    all.push(column(
        "plan_difference",
        "difference of the query plans from the base's; empty without any",
        |r| {
            let own = r.step.plans.differences.get(r.idx).and_then(Option::as_ref);
            own.map_or_else(String::new, |difference| words(&difference.sentence()))
        },
    ));
    all
}

fn imported_columns() -> Vec<Column> {
    let mut all = vec![column("imported", "true for an imported system, else false", |r| {
        r.analysis.is_imported(r.idx).to_string()
    })];
    for metric in [Metric::HostCpuShare, Metric::Rate] {
        all.push(column(metric_name(metric), metric.meaning(), move |r| {
            number(r.cell.per_operation(metric))
        }));
        let name = format!("{}_ratio", metric_name(metric));
        all.push(column(name, of_base(&metric_name(metric)), move |r| {
            number(r.cell.relative().and_then(|p| p.get(metric)))
        }));
    }
    all
}

/// What a column with the ratio of another column is.
fn of_base(name: &str) -> String {
    format!("`{name}` / that of the base")
}

/// `server_cpu_us_per_operation`.
fn metric_name(metric: Metric) -> String {
    if metric == Metric::Rate {
        return "metrics_per_s".to_owned();
    }
    let unit = match metric.unit() {
        "us" => "_us",
        "KB" => "_kb",
        _ => "",
    };
    format!("{}{unit}_per_operation", metric.stem())
}

fn step_columns() -> Vec<Column> {
    vec![
        column("run", "id of the run", |r| words(compare::run_id(r.analysis, r.idx))),
        column("step", "name of the step", |r| words(&r.step.step.info.name)),
        column("family", "name without arguments", |r| words(&r.step.step.info.family)),
        column("n", "range size or in-list length; empty for a step without one", |r| {
            r.step.step.info.n.map_or_else(String::new, |n| n.to_string())
        }),
        column("group", "group of steps in reports", |r| r.step.group().title().to_owned()),
        column("clients", "client threads", |r| r.step.step.clients.to_string()),
        column("placement", "free, split or paired; empty for imported systems", |r| {
            let placement = r.step.step.placement;
            if r.analysis.is_imported(r.idx) { String::new() } else { placement.to_string() }
        }),
        column("system", "label of the system", |r| words(r.analysis.label(r.idx))),
        column("base", "label of the base", |r| words(r.analysis.base_label())),
        column("outcome", "measured, pending, tables-reused or failed", |r| {
            outcome(r.cell).to_owned()
        }),
        column("reason", "reason of a failure", |r| match &r.cell.state {
            CellState::Failed { reason } => words(reason),
            _ => String::new(),
        }),
        column("footnotes", "warnings, separated by semicolons", |r| {
            words(&footnotes(r.analysis, r.cell).join("; "))
        }),
        column("figure_unit", "unit of `figure`", |r| r.step.step.info.figure.unit().to_owned()),
        column("n_slices", "slices behind `figure`", |r| r.cell.slices().len().to_string()),
    ]
}

/// `measured`, `pending`, `tables-reused` or `failed`.
pub(crate) fn outcome(cell: &Cell) -> &'static str {
    match cell.state {
        CellState::Measured(_) => "measured",
        CellState::Pending => "pending",
        CellState::TablesReused => "tables-reused",
        CellState::Failed { .. } => "failed",
    }
}

/// A cell's footnotes as `letter key: detail`.
pub(crate) fn footnotes(analysis: &Analysis<'_>, cell: &Cell) -> Vec<String> {
    let text = |own: &CellWarning| {
        let note = analysis.footnotes.get(own.footnote_idx)?;
        let facts = match warning::detail(own) {
            none if none.is_empty() => warning::meaning(&own.kind),
            facts => facts,
        };
        Some(format!("{} {}: {facts}", note.letter, own.kind.key()))
    };
    cell.warnings.iter().filter_map(text).collect()
}

fn estimate_columns(
    name: &'static str,
    meaning: &'static str,
    of: fn(&Cell) -> Option<Estimate>,
) -> Vec<Column> {
    let end = move |upper: bool| {
        move |r: &Row<'_, '_>| {
            let ends = of(r.cell).and_then(|e| e.interval);
            number(ends.map(|(low, high)| if upper { high } else { low }))
        }
    };
    vec![
        column(name, meaning, move |r| number(of(r.cell).map(|e| e.point))),
        column(format!("{name}_low"), "lower end of the 95% interval", end(false)),
        column(format!("{name}_high"), "upper end of the 95% interval", end(true)),
    ]
}

fn response_columns() -> Vec<Column> {
    let times = |r: &Row<'_, '_>| r.cell.response().cloned();
    let us = |ns: f64| (ns / 1e3).to_string();
    let mut all = vec![
        column("responses", "events with a recorded response time", move |r| {
            times(r).map_or_else(String::new, |t| t.n.to_string())
        }),
        column("response_mean_us", "mean response time of events, µs", move |r| {
            times(r).and_then(|t| t.mean_ns).map_or_else(String::new, us)
        }),
    ];
    for (idx, percentile) in response::PERCENTILES.into_iter().enumerate() {
        let name = format!("response_{}_us", percentile_heading(percentile).replace('.', "_"));
        let meaning = format!("{percentile}th percentile of the response times, µs");
        all.push(column(name, meaning, move |r| {
            let ns = times(r).and_then(|t| t.percentiles_ns[idx]);
            ns.map_or_else(String::new, |ns| us(ns as f64))
        }));
    }
    all.push(column("response_max_us", "longest response time, µs", move |r| {
        times(r).map_or_else(String::new, |t| us(t.max_ns as f64))
    }));
    all
}

/// Whether a count is known: an imported file tells some or none, and never that nothing was done.
fn is_told(row: &Row<'_, '_>, n: u64) -> bool {
    n > 0 || !row.analysis.is_imported(row.idx)
}

fn told(row: &Row<'_, '_>, n: u64) -> String {
    if is_told(row, n) { n.to_string() } else { String::new() }
}

fn total_columns() -> Vec<Column> {
    let windows = |f: fn(&rqps_analysis::WindowRates) -> f64| {
        move |r: &Row<'_, '_>| {
            number(r.cell.measurement().and_then(|own| own.windows.as_ref()).map(f))
        }
    };
    vec![
        column(
            "window_p05_per_s",
            "5th percentile of the rates in windows of 20 ms, operations/s",
            windows(|w| w.p05),
        ),
        column("window_median_per_s", "median of these rates, operations/s", windows(|w| w.median)),
        column(
            "window_p95_per_s",
            "95th percentile of these rates, operations/s",
            windows(|w| w.p95),
        ),
        column("measured_s", "measured time of all slices, seconds", |r| {
            let ns = r.cell.totals().duration_ns;
            if is_told(r, ns) { (ns as f64 / 1e9).to_string() } else { String::new() }
        }),
        column("events", "events finished", |r| told(r, r.cell.totals().n_events)),
        column("queries", "statements answered", |r| told(r, r.cell.totals().n_queries)),
        column("operations", "operations that `figure` counts", |r| {
            told(r, r.cell.totals().n_operations)
        }),
        column("rows", "rows received", |r| told(r, r.cell.totals().n_rows)),
        column("errors", "errors after which an event was retried", |r| {
            told(r, r.cell.totals().n_errors)
        }),
        size("database_bytes", "tables and indexes after the step, bytes", |s| s.database_bytes),
        size(
            "data_dir_bytes",
            "allocated blocks of the data directory after the step, bytes; empty for servers that \
             rqps did not start",
            |s| s.data_dir_bytes,
        ),
        size("redo_bytes", "part of `data_dir_bytes`: redo log or write-ahead log", |s| {
            s.redo_bytes
        }),
        size("binlog_bytes", "part of `data_dir_bytes`: binary log", |s| s.binlog_bytes),
        column(
            "server_rss_bytes",
            "resident memory of the server at the end of the step, bytes; a single reading",
            |r| r.cell.server_rss_bytes().map_or_else(String::new, |bytes| bytes.to_string()),
        ),
        column("server_rss_ratio", of_base("server_rss_bytes"), |r| {
            number(r.cell.server_rss_ratio())
        }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_column_has_the_name_of_another() {
        let all = columns().into_iter().chain(insert::columns()).chain(imported_columns());
        let mut names: Vec<String> = all.map(|c| c.name).collect();
        let n = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n);
    }

    #[test]
    fn fields_are_quoted_and_no_formula() {
        assert_eq!(field("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(words("=1+1"), "'=1+1");
        assert_eq!(words("scan"), "scan");
    }
}
