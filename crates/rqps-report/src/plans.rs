//! Query plans that differ, in lines of text.

use rqps_analysis::{Analysis, StepAnalysis};
use rqps_model::PlanDifference;
use rqps_text::words::{clip, one_line};

/// Columns that a sentence gives to a statement.
const SQL_COLUMNS: usize = 100;

/// `LABEL: range on k_1, covering against full scan (SELECT ...)`, a line for each statement that a
/// candidate goes about in another way than the base.
#[must_use]
pub fn lines(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Vec<String> {
    let of_system = |(idx, difference): (usize, &Option<PlanDifference>)| {
        let label = analysis.short_label(idx);
        let statements = difference.iter().flat_map(|d| &d.statements);
        statements
            .map(|s| {
                let sql = clip(&s.sql, SQL_COLUMNS);
                format!("{label}: {} on the base, {} here ({sql})", s.base, s.vs)
            })
            .collect::<Vec<_>>()
    };
    step.plans.differences.iter().enumerate().flat_map(of_system).collect()
}

/// One line for each step and candidate whose plans differ from the base's.
#[must_use]
pub fn summary(analysis: &Analysis<'_>) -> Vec<String> {
    let of_step = |step: &StepAnalysis<'_>| {
        let each = step.plans.differences.iter().enumerate();
        each.filter_map(|(idx, difference)| {
            let sentence = one_line(&difference.as_ref()?.sentence());
            Some(format!("{}, {}: {sentence}", step.title, analysis.short_label(idx)))
        })
        .collect::<Vec<_>>()
    };
    analysis.steps.iter().flat_map(of_step).collect()
}
