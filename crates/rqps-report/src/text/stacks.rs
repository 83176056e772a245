//! Stack profiles as text: below the summary in short, with each step in full.

use super::Page;
use crate::stacks::{self, LEGEND, Table};
use rqps_analysis::{Analysis, StepAnalysis};
use rqps_text::words::shorten;

/// Steps whose tables the summary shows; of more, the full report has them.
const MOST_STEPS: usize = 3;

/// What grew most, for runs of a few steps.
pub(super) fn summary(page: &mut Page, analysis: &Analysis<'_>) {
    let steps = analysis.stacks.iter().filter_map(|s| Some((s, analysis.steps.get(s.step_at)?)));
    let steps: Vec<_> = steps.collect();
    if steps.is_empty() {
        return;
    }
    page.title("Stacks");
    if steps.len() > MOST_STEPS {
        page.paragraph("", "Many steps have stacks: see rqps report --full or the HTML report.");
        return;
    }
    page.paragraph("", LEGEND);
    for (stacks, step) in steps {
        let operation = step.step.info.figure.operation();
        for pair in &stacks.pairs {
            let sentence = stacks::sentence(analysis, step, pair);
            page.paragraph("", &format!("{}: {sentence}", shorten(&step.title, 50)));
            for table in [Table::GrownOwn, Table::GrownAll, Table::New] {
                if let Some(grid) = stacks::functions(analysis, pair, table) {
                    page.line(&format!("--- {}, us", table.title(operation)));
                    page.grid(&grid);
                }
            }
        }
        alone(page, analysis, step, stacks);
        for note in stacks::notes(analysis, step, stacks) {
            page.paragraph("- ", &note);
        }
    }
}

/// Everything about one step.
pub(super) fn step(page: &mut Page, analysis: &Analysis<'_>, step: &StepAnalysis<'_>) {
    let Some(stacks) = analysis.stacks_of(step) else { return };
    let operation = step.step.info.figure.operation();
    page.line("--- stacks");
    page.paragraph("", LEGEND);
    for pair in &stacks.pairs {
        page.paragraph("", &stacks::sentence(analysis, step, pair));
        for table in Table::ALL {
            if let Some(grid) = stacks::functions(analysis, pair, table) {
                page.line(&format!("--- {}, us", table.title(operation)));
                page.grid(&grid);
            }
        }
    }
    alone(page, analysis, step, stacks);
    if let Some(grid) = stacks::waits(analysis, stacks) {
        page.line(&format!("--- where threads were, us per {operation}, and threads on average"));
        page.grid(&grid);
    }
    if let Some(grid) = stacks::counters(analysis, stacks) {
        page.line(&format!("--- hardware counters per {operation}"));
        page.grid(&grid);
    }
    for note in stacks::notes(analysis, step, stacks) {
        page.paragraph("- ", &note);
    }
}

/// The functions of systems that are compared with nothing.
fn alone(
    page: &mut Page,
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    stacks: &rqps_analysis::StepStacks<'_>,
) {
    if !stacks.pairs.is_empty() {
        return;
    }
    for (idx, times) in stacks.times.iter().enumerate() {
        if let Some(grid) = stacks::times(times) {
            let operation = step.step.info.figure.operation();
            let label = shorten(analysis.label(idx), 60);
            page.line(&format!(
                "--- functions with most CPU of their own per {operation}, us: {label}"
            ));
            page.grid(&grid);
        }
    }
}
