//! Query plans in text reports: where they differ, and how all systems execute a step.

use super::{Detail, Page};
use crate::plans;
use rqps_analysis::{Analysis, StatementPlans, StepAnalysis};
use rqps_text::words::{list_in_short, one_line};

/// Differences that a report without the steps lists.
const MAX_LINES: usize = 12;

/// Statements of a step that are listed where all systems execute them alike.
const MAX_STATEMENTS: usize = 3;

/// The steps whose plans differ from the base's, and from start to start.
pub(super) fn summary(page: &mut Page, analysis: &Analysis<'_>, detail: Detail) {
    let title = "Query plans that differ from the base's (base against system)";
    lines(page, title, &plans::summary(analysis), detail);
    let title = "Query plans that differ from start to start, and the ratio per plan";
    lines(page, title, &plans::summary_of_starts(analysis), detail);
}

fn lines(page: &mut Page, title: &str, lines: &[String], detail: Detail) {
    if lines.is_empty() {
        return;
    }
    page.title(title);
    let n = if detail == Detail::Full { lines.len() } else { MAX_LINES };
    for line in lines.iter().take(n) {
        page.paragraph("", line);
    }
    if lines.len() > n {
        page.line(&format!("{} more; all of them: rqps report --full", lines.len() - n));
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
        for line in plans::lines(analysis, step) {
            page.paragraph("", &line);
        }
    } else if statements.len() > MAX_STATEMENTS {
        page.line(&format!(
            "query plans: {} statements, no difference that matters",
            statements.len()
        ));
    } else {
        for statement in statements {
            statement_of_all(page, analysis, statement);
        }
    }
    let of_starts = plans::of_starts(analysis, step);
    if !of_starts.is_empty() {
        page.line("--- query plans differ from start to start");
    }
    for line in of_starts {
        page.paragraph("", &line);
    }
    not_compared(page, statements);
}

/// How the systems execute a statement; they are named where their plans differ.
fn statement_of_all(page: &mut Page, analysis: &Analysis<'_>, statement: &StatementPlans) {
    let groups = statement.groups();
    let told: Vec<String> = groups
        .iter()
        .map(|(words, systems)| {
            let labels: Vec<String> =
                systems.iter().map(|idx| analysis.short_label(*idx).to_owned()).collect();
            match groups.len() {
                1 => (*words).to_owned(),
                _ => format!("{words} on {}", list_in_short(&labels)),
            }
        })
        .collect();
    page.paragraph("query plan: ", &format!("{} ({})", told.join(" / "), one_line(&statement.sql)));
}

/// Statements that some system did not explain: that none differs says nothing of them.
fn not_compared(page: &mut Page, statements: &[StatementPlans]) {
    let n = statements
        .iter()
        .filter(|statement| {
            statement.words.len() > 1 && statement.n_explained < statement.words.len()
        })
        .count();
    if n > 0 {
        let of = statements.len();
        page.line(&format!(
            "not compared: {n} of {of} statements, which some systems did not explain"
        ));
    }
}
