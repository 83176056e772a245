//! Stack profiles as markdown: a table of functions per step and candidate, folded away.

use super::paragraph;
use crate::grid::escape_markdown;
use crate::stacks::{self, LEGEND, Table};
use rqps_analysis::Analysis;

/// All steps with stacks.
pub(super) fn steps(out: &mut String, analysis: &Analysis<'_>) {
    for (place, stacks) in analysis.stacks.iter().enumerate() {
        let Some(step) = analysis.steps.get(stacks.step_at) else { continue };
        if place == 0 {
            paragraph(out, "### Stacks");
            paragraph(out, &escape_markdown(LEGEND));
        }
        let operation = step.step.info.figure.operation();
        let title = escape_markdown(&format!("Stacks of {}", step.title));
        paragraph(out, &format!("<details><summary>{title}</summary>"));
        for pair in &stacks.pairs {
            paragraph(out, &escape_markdown(&stacks::sentence(analysis, step, pair)));
            for table in Table::ALL {
                if let Some(grid) = stacks::functions(analysis, pair, table) {
                    let title = rqps_text::words::capital(&table.title(operation));
                    paragraph(out, &escape_markdown(&format!("{title}, µs:")));
                    paragraph(out, grid.render_markdown().trim_end());
                }
            }
        }
        for (idx, times) in stacks.times.iter().enumerate().filter(|_| stacks.pairs.is_empty()) {
            if let Some(grid) = stacks::times(times) {
                let label = analysis.label(idx);
                let title = format!("Functions with most CPU per {operation}, µs: {label}");
                paragraph(out, &escape_markdown(&title));
                paragraph(out, grid.render_markdown().trim_end());
            }
        }
        if let Some(grid) = stacks::waits(analysis, stacks) {
            let title = format!("Where threads were, µs per {operation}, and threads on average:");
            paragraph(out, &title);
            paragraph(out, grid.render_markdown().trim_end());
        }
        if let Some(grid) = stacks::counters(analysis, stacks) {
            paragraph(out, &format!("Hardware counters per {operation}:"));
            paragraph(out, grid.render_markdown().trim_end());
        }
        for note in stacks::notes(analysis, step, stacks) {
            out.push_str(&format!("- {}\n", escape_markdown(&note)));
        }
        out.push('\n');
        paragraph(out, "</details>");
    }
}
