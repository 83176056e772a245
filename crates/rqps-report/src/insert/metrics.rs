//! The field's metrics of a step of the Insert Benchmark as grids, with our CPU per operation behind them.

use rqps_model::{Metric, StepKind};

use super::operations;
use crate::grid::{Grid, GridCell, Side, plain};
use rqps_analysis::insert::FieldMetric;
use rqps_analysis::insert::field::FIELD_METRICS;
use rqps_analysis::{Analysis, Cell, StepAnalysis};
use rqps_text::number::{self, NOTHING};

/// What each of [`FIELD_METRICS`] is.
const MEANINGS: [&str; FIELD_METRICS.len()] = [
    "rows inserted per second; in l.x rows indexed",
    "queries per second",
    "storage reads per second",
    "MB read from storage per second",
    "storage writes per second",
    "MB written to storage per second",
    "storage reads per query; per row where the step does not query",
    "KB read from storage per query or row, as rpq",
    "storage writes per row inserted",
    "KB written to storage per row inserted",
    "context switches of the host per second",
    "CPU of the whole host, user and system, all CPUs together are 100",
    "context switches of the host per query or row, as rpq",
    "CPU of the whole host per query or row, as rpq",
    "tables and indexes after the step",
    "data directory after the step",
    "resident memory of the server at the end of the step, one reading",
    "slowest of the operations that the rate counts",
    "rate that half of the seconds reached or exceeded",
    "rate that 99% of the seconds reached or exceeded",
];

/// The field's metrics in its order, each with what it is.
pub fn meanings() -> impl Iterator<Item = (FieldMetric, &'static str)> {
    FIELD_METRICS.into_iter().zip(MEANINGS)
}

/// CPU per operation of the server and the client, which the field does not have.
const OURS: [Metric; 2] = [Metric::ServerCpu, Metric::ClientCpu];

/// The field's metrics of one step, with our CPU per operation behind them: of all systems, or of the
/// candidates relative to the base. As many columns in each table as fit `columns`.
#[must_use]
pub fn metrics(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    is_relative: bool,
    columns: usize,
) -> Vec<Grid> {
    let rows = metric_rows(analysis, step, is_relative);
    if rows.is_empty() {
        return Vec::new();
    }
    let all: Vec<usize> = (0..FIELD_METRICS.len() + OURS.len()).collect();
    let grid = |chunk: &[usize]| {
        let mut heads: Vec<(&str, Side)> =
            chunk.iter().map(|&place| (metric_head(place), Side::Right)).collect();
        heads.push(("tag", Side::Left));
        let mut grid = Grid::new(&heads);
        for (label, values) in &rows {
            let mut row: Vec<GridCell> = chunk.iter().map(|&place| plain(&values[place])).collect();
            row.push(plain(label));
            grid.row(row);
        }
        grid
    };
    let fits = |n: usize| all.chunks(n).all(|chunk| grid(chunk).width() <= columns);
    let n = (1..=all.len()).rev().find(|&n| fits(n)).unwrap_or(1);
    // Tables of about one length.
    let n = all.len().div_ceil(all.len().div_ceil(n));
    all.chunks(n).map(grid).collect()
}

fn metric_head(place: usize) -> &'static str {
    match FIELD_METRICS.get(place) {
        Some(metric) => metric.name,
        None => OURS[place - FIELD_METRICS.len()].heading(),
    }
}

/// Label and values of each system that has them.
fn metric_rows(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    is_relative: bool,
) -> Vec<(String, Vec<String>)> {
    let row = |(idx, cell): (usize, &Cell)| {
        let own = cell.insert()?;
        let show = match (is_relative, own.is_stated) {
            (true, _) => number::plain_ratio,
            (false, true) => stated,
            (false, false) => quantity,
        };
        let (field, ours) = if is_relative {
            let against = cell.against.as_ref()?;
            (against.field_relative.as_ref()?, &against.relative)
        } else {
            (&own.field, &cell.measurement()?.per_operation)
        };
        let values = field.values.into_iter().chain(OURS.map(|metric| ours.get(metric)));
        let mut texts: Vec<String> =
            values.map(|v| v.map_or_else(|| NOTHING.to_owned(), show)).collect();
        // One thing has one figure, in the same digits.
        if let Some(figure) = cell.figure().filter(|_| !is_relative) {
            let name = if step.step.info.kind == StepKind::Mixed { "qps" } else { "ips" };
            let place = FIELD_METRICS.iter().position(|metric| metric.name == name);
            if let Some(text) = place.and_then(|place| texts.get_mut(place)) {
                *text = operations(cell, &figure);
            }
        }
        Some((analysis.short_label(idx).to_owned(), texts))
    };
    step.cells.iter().enumerate().filter_map(row).collect()
}

/// As an imported file states it.
fn stated(value: f64) -> String {
    value.to_string()
}

/// Four significant digits at most; two of what is small, a slowest operation of microseconds in
/// seconds.
fn quantity(value: f64) -> String {
    match value.abs() {
        v if v > 0.0 && v < 0.0001 => format!("{value:.6}"),
        v if v > 0.0 && v < 0.001 => format!("{value:.5}"),
        v if v > 0.0 && v < 0.01 => format!("{value:.4}"),
        _ => number::per_operation(value),
    }
}
