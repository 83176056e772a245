//! The Insert Benchmark in text reports: the summary's three tables and the details of its steps.

use super::Page;
use crate::insert::meanings;
use crate::insert::{self as tables, Summary};
use crate::layout;
use rqps_analysis::{Analysis, StepAnalysis};
use rqps_text::words::shorten;

/// The three tables.
pub(super) fn summary(page: &mut Page, analysis: &Analysis<'_>) {
    for table in Summary::ALL {
        if table.steps(analysis).is_empty() {
            continue;
        }
        page.title(&table.title(analysis));
        for (place, grid) in table.grids(analysis, page.width).iter().enumerate() {
            if place > 0 {
                page.line("");
            }
            page.grid(grid);
        }
        page.paragraph("", table.legend());
    }
}

/// What the metrics are, above the steps.
pub(super) fn legend(page: &mut Page, analysis: &Analysis<'_>) {
    if analysis.insert.is_none() {
        return;
    }
    let meanings: Vec<String> = meanings()
        .map(|(metric, meaning)| format!("{} {meaning} ({})", metric.name, metric.unit))
        .collect();
    page.paragraph(
        "",
        &format!(
            "Insert Benchmark: {}; srvcpu/o and clicpu/o CPU of the server and of the client per query \
             or row, as rpq (us); tag: the system. Relative: value / base value, 0/0 is 1, x/0 is inf.",
            meanings.join("; ")
        ),
    );
    page.paragraph(
        "",
        "Where a rate was set, response times count from the intended start, and a percentile is shown \
         where one response lies beyond it. Elsewhere 10 must lie beyond it.",
    );
}

/// Checks: what failed on lines of its own, what passed on one.
pub(super) fn checks(page: &mut Page, analysis: &Analysis<'_>, step: &StepAnalysis<'_>) {
    let (failed, passed) = tables::checks(analysis, step);
    for text in failed {
        page.paragraph("! ", &text);
    }
    if !passed.is_empty() {
        page.paragraph("", &format!("checks passed (on n systems): {passed}"));
    }
}

/// What a step of the Insert Benchmark has in place of the other steps' tables.
pub(super) fn step(page: &mut Page, analysis: &Analysis<'_>, step: &StepAnalysis<'_>) {
    for is_relative in [false, true] {
        let grids = tables::metrics(analysis, step, is_relative, page.width);
        if !grids.is_empty() && is_relative {
            page.line(&format!("--- relative to {}", shorten(analysis.base_label(), 60)));
        } else if !grids.is_empty() {
            page.line("--- absolute");
        }
        for grid in &grids {
            page.grid(grid);
        }
    }
    if let Some((grid, unit)) = tables::rates(analysis, step) {
        let text = format!(
            "rates; held: share of the seconds with at least 95% of the target; gap: longest time \
             below it; missed: starts still due at the end; mean, p99, max: delays, {unit}; own p99: \
             the client's own part of the delays, after it was free to send"
        );
        page.paragraph("--- ", &text);
        page.grid(&grid);
    }
    if let Some((grid, unit)) = tables::responses(analysis, step) {
        page.line(&format!("--- response time, {unit}"));
        page.grid(&grid);
        page.line("--- response time, percent of responses up to");
        page.grid(&tables::buckets(analysis, step));
    } else if let Some((grid, unit)) = layout::response_times(analysis, step) {
        page.line(&format!("--- response time of events, {unit}"));
        page.grid(&grid);
    }
    if let Some(grid) = tables::debt(analysis, step) {
        page.line("--- unfinished background work at the end");
        page.grid(&grid);
    }
}
