//! Query plans in text reports: where they differ, and how all systems go about a step.

use super::Page;
use crate::analysis::{Analysis, StepAnalysis, plans};
use crate::words::one_line;

/// Differences that the summary lists; the steps have all of them.
const MAX_LINES: usize = 12;

/// Statements of a step that are listed where all systems go about them alike.
const MAX_STATEMENTS: usize = 3;

/// The steps whose plans differ.
pub(super) fn summary(page: &mut Page, analysis: &Analysis<'_>) {
    let lines = plans::summary(analysis);
    if lines.is_empty() {
        return;
    }
    page.title("Query plans that differ from the base's (base against system)");
    for line in lines.iter().take(MAX_LINES) {
        page.paragraph("", line);
    }
    if lines.len() > MAX_LINES {
        page.line(&format!("{} more; all of them: rqps report", lines.len() - MAX_LINES));
    }
}

/// The plans of a step.
pub(super) fn step(page: &mut Page, analysis: &Analysis<'_>, step: &StepAnalysis<'_>) {
    let statements = &step.plans.statements;
    if statements.is_empty() {
        return;
    }
    if step.plans.differ() {
        page.line("--- query plans differ");
        let lines = plans::lines(analysis, step);
        for line in lines.iter().take(MAX_LINES) {
            page.paragraph("", line);
        }
        if lines.len() > MAX_LINES {
            page.line(&format!("{} more, which are in the other formats", lines.len() - MAX_LINES));
        }
        return;
    }
    let n = statements.len();
    if n > MAX_STATEMENTS {
        page.line(&format!("query plans: of {n} statements, none that matters differs"));
        return;
    }
    for statement in statements {
        let words = statement.words.iter().flatten().next().map_or("", String::as_str);
        page.paragraph("query plan: ", &format!("{words} ({})", one_line(&statement.sql)));
    }
}
