//! Query plans on the page: the steps where they differ, and the statements of each step.

use maud::{Markup, html};

use super::label::outside;
use crate::analysis::{Analysis, StepAnalysis, plans};
use crate::many;
use crate::words::one_line;

/// The steps whose plans differ from the base's.
pub(super) fn summary(analysis: &Analysis<'_>) -> Markup {
    let lines = plans::summary(analysis);
    html! {
        @if !lines.is_empty() {
            section #plans aria-labelledby="plans-title" {
                h2 #plans-title { "Query plans that differ from the base's" }
                p.hint { "The base's plan against the system's; costs and estimates of rows are left out." }
                ul.sentences { @for line in &lines { li { (outside(line)) } } }
            }
        }
    }
}

/// The statements of a step and how each system goes about them; systems that do alike share a line.
pub(super) fn render(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let differs = |at: usize, idx: usize| {
        let difference = step.plans.differences.get(idx).and_then(Option::as_ref);
        difference.is_some_and(|d| d.statements.iter().any(|s| s.statement_idx == at))
    };
    html! {
        @if !step.plans.statements.is_empty() {
            h4 { "Query plans" }
            div.scroll tabindex="0" role="region" aria-label={ "Query plans: " (one_line(&step.title)) } {
                table.words {
                    thead { tr {
                        th scope="col" { "Statement" }
                        th scope="col" { "System" }
                        th scope="col" { "Plan" }
                    } }
                    tbody { @for (at, statement) in step.plans.statements.iter().enumerate() {
                        @match statement.common().or(first_of_many(analysis, &statement.words)) {
                            Some(words) => { tr {
                                td { code { (outside(&statement.sql)) } }
                                td { "all" }
                                td { (outside(words)) }
                            } }
                            None => { @for (idx, words) in statement.words.iter().enumerate() {
                                @if let Some(words) = words { tr {
                                    td { code { (outside(&statement.sql)) } }
                                    td { (outside(analysis.label(idx))) }
                                    td {
                                        @if differs(at, idx) { strong { "differs: " } }
                                        (outside(words))
                                    }
                                } }
                            } }
                        }
                    } }
                }
            }
        }
    }
}

/// Of many systems a line for each would be a page: where none differs the first speaks for all.
fn first_of_many<'w>(analysis: &Analysis<'_>, words: &'w [Option<String>]) -> Option<&'w str> {
    let is_told = !many::is_many(analysis);
    if is_told { None } else { words.iter().flatten().next().map(String::as_str) }
}
