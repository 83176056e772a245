//! Query plans that differ, in lines of text.

use rqps_analysis::{Analysis, Cell, PlanRatio, PlanVariation, StepAnalysis};
use rqps_model::PlanDifference;
use rqps_model::warning::PlanOfStarts;
use rqps_text::number::ratio_with_interval;
use rqps_text::words::{clip, list, one_line};

/// Columns that a sentence gives to a statement.
const SQL_COLUMNS: usize = 100;

/// `LABEL: range on k_1, covering against full scan (SELECT ...)`, a line for each statement that a
/// candidate executes in another way than the base.
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

/// `start 3`, `starts 1, 2 and 4`: starts are counted from 1 in words.
#[must_use]
pub fn starts(starts: &[u32]) -> String {
    let numbers: Vec<String> = starts.iter().map(|start| (start + 1).to_string()).collect();
    let word = if numbers.len() == 1 { "start" } else { "starts" };
    format!("{word} {}", list(&numbers))
}

/// What starts of a server ran instead of the plan of most starts, a line for each system and statement. Then
/// the ratios per plan, a line for each candidate.
#[must_use]
pub fn of_starts(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Vec<String> {
    let plans = (0..step.cells.len()).flat_map(|idx| {
        let label = analysis.short_label(idx);
        let variations = step.plans.variations_of(idx).iter();
        variations.map(move |variation| format!("{label}: {}", varied(variation)))
    });
    let base = analysis.short_label(analysis.base);
    let ratios = step.cells.iter().enumerate().filter_map(|(idx, cell)| {
        let label = analysis.short_label(idx);
        Some(format!("{label} / {base}: {}", per_plan(cell)?))
    });
    plans.chain(ratios).collect()
}

/// `full scan on start 3 instead of lookup on PRIMARY on starts 1, 2 and 4 (SELECT ...)`.
fn varied(variation: &PlanVariation) -> String {
    let plan =
        |own: &PlanOfStarts| format!("{} on {}", one_line(&own.shape.words()), starts(&own.starts));
    let sql = clip(&variation.sql, SQL_COLUMNS);
    let plans: Vec<String> = variation.plans.iter().map(plan).collect();
    match plans.split_first() {
        Some((only, [])) => format!("{only} ({sql})"),
        Some((usual, others)) => format!("{} instead of {usual} ({sql})", list(others)),
        None => sql,
    }
}

/// The ratio over the starts with the base's plan, and over the others. `None` where there is one plan.
fn per_plan(cell: &Cell) -> Option<String> {
    let ratio = |own: &PlanRatio| {
        let plans = if own.is_same {
            format!("{} on both", one_line(&own.system.words()))
        } else {
            let (base, system) = (one_line(&own.base.words()), one_line(&own.system.words()));
            format!("{base} on the base, {system} here")
        };
        format!("{} on {} ({plans})", ratio_with_interval(&own.rqps), starts(&own.starts))
    };
    let ratios: Vec<String> = cell.plan_ratios().iter().map(ratio).collect();
    (!ratios.is_empty()).then(|| ratios.join("; "))
}

/// The same of all steps, with the step's name.
#[must_use]
pub fn summary_of_starts(analysis: &Analysis<'_>) -> Vec<String> {
    let of_step = |step: &StepAnalysis<'_>| {
        let lines = of_starts(analysis, step).into_iter();
        lines.map(|line| format!("{}, {line}", step.title)).collect::<Vec<_>>()
    };
    analysis.steps.iter().flat_map(of_step).collect()
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
