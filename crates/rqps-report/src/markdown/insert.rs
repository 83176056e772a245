//! The Insert Benchmark in markdown reports: the summary's three tables, and the steps' folded away.

use super::paragraph;
use crate::grid::{Grid, escape_markdown};
use crate::insert::{self as tables, Summary};
use rqps_analysis::Analysis;

/// The three tables.
pub(super) fn summary(out: &mut String, analysis: &Analysis<'_>) {
    for table in Summary::ALL {
        for (place, grid) in table.grids(analysis, usize::MAX).iter().enumerate() {
            if place == 0 {
                paragraph(out, &format!("### {}", escape_markdown(&table.title(analysis))));
            }
            paragraph(out, grid.render_markdown().trim_end());
            paragraph(out, &escape_markdown(table.legend()));
        }
    }
}

/// Metrics, response times, rates, debt and checks of every step.
pub(super) fn steps(out: &mut String, analysis: &Analysis<'_>) {
    for step in &analysis.steps {
        let mut parts: Vec<(String, Grid)> = Vec::new();
        for (is_relative, title) in [(false, "Metrics"), (true, "Metrics relative to the base")] {
            let grids = tables::metrics(analysis, step, is_relative, usize::MAX);
            parts.extend(grids.into_iter().map(|grid| (title.to_owned(), grid)));
        }
        if let Some((grid, unit)) = tables::rates(analysis, step) {
            let title = format!(
                "Rates: seconds held, longest gap, missed starts, delays in {unit}; own: the client's own part"
            );
            parts.push((title, grid));
        }
        if let Some((grid, unit)) = tables::responses(analysis, step) {
            parts.push((format!("Response time, {unit}"), grid));
            let title = "Response time, percent of responses up to".to_owned();
            parts.push((title, tables::buckets(analysis, step)));
        }
        if let Some(grid) = tables::debt(analysis, step) {
            parts.push(("Unfinished background work at the end".to_owned(), grid));
        }
        let (failed, passed) = tables::checks(analysis, step);
        for text in failed {
            let title = escape_markdown(&step.title);
            paragraph(out, &format!("**{title}: {}**", escape_markdown(&text)));
        }
        if parts.is_empty() && passed.is_empty() {
            continue;
        }
        let title = escape_markdown(&step.title);
        paragraph(out, &format!("<details><summary>{title} in detail</summary>"));
        for (title, grid) in parts {
            paragraph(out, &title);
            paragraph(out, grid.render_markdown().trim_end());
        }
        if !passed.is_empty() {
            let text = format!("Checks passed (on n systems): {passed}");
            paragraph(out, &escape_markdown(&text));
        }
        paragraph(out, "</details>");
    }
}
