//! Vector searches in text reports.

use super::Page;
use crate::recall as tables;
use rqps_analysis::Analysis;

/// The tables of each suite and number of clients.
pub(super) fn summary(page: &mut Page, analysis: &Analysis<'_>) {
    for table in &analysis.recalls {
        let of = tables::title(table);
        if let Some(grid) = tables::compared(analysis, table) {
            page.title(&format!("At equal recall: {of}"));
            page.grid(&grid);
        }
        page.title(&format!("Best QPS at a recall: {of}"));
        page.grid(&tables::best(analysis, table));
        page.title(&format!("QPS and recall: {of}"));
        page.grid(&tables::searches(analysis, table));
    }
    if !analysis.recalls.is_empty() {
        page.paragraph("", tables::LEGEND);
    }
}
