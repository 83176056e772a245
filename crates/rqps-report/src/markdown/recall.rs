//! Vector searches in markdown reports.

use super::paragraph;
use crate::grid::{Grid, escape_markdown};
use crate::recall as tables;
use rqps_analysis::Analysis;

/// The tables of each suite and number of clients.
pub(super) fn summary(out: &mut String, analysis: &Analysis<'_>) {
    for table in &analysis.recalls {
        let of = escape_markdown(&tables::title(table));
        let mut add = |title: &str, grid: &Grid| {
            paragraph(out, &format!("### {title}: {of}"));
            paragraph(out, grid.render_markdown().trim_end());
        };
        if let Some(grid) = tables::compared(analysis, table) {
            add("At equal recall", &grid);
        }
        add("Best QPS at a recall", &tables::best(analysis, table));
        add("QPS and recall", &tables::searches(analysis, table));
    }
    if !analysis.recalls.is_empty() {
        paragraph(out, &escape_markdown(tables::LEGEND));
    }
}
