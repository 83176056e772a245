//! Query plans on the page: the steps where they differ, and the statements of each step.

use maud::{Markup, html};

use super::label::{outside, prose};
use rqps_analysis::{Analysis, StepAnalysis};
use rqps_report::plans;
use rqps_text::words::{list_in_short, one_line};

/// The steps whose plans differ from start to start, and from the base's.
pub(super) fn summary(analysis: &Analysis<'_>) -> Markup {
    let lines = plans::summary(analysis);
    let of_starts = plans::summary_of_starts(analysis);
    html! {
        @if !of_starts.is_empty() {
            section #start-plans aria-labelledby="start-plans-title" {
                h2 #start-plans-title { "Query plans that differ from start to start" }
                p.hint { "Such a step has no verdict: its ratio is of a mixture. The sentences have the ratio per plan." }
                ul.sentences { @for line in &of_starts { li { (prose(line)) } } }
            }
        }
        @if !lines.is_empty() {
            section #plans aria-labelledby="plans-title" {
                h2 #plans-title { "Query plans that differ from the base's" }
                p.hint { "The base's plan against the system's; costs and estimates of rows are not compared." }
                ul.sentences { @for line in &lines { li { (prose(line)) } } }
            }
        }
    }
}

/// The statements of a step and how the systems go about them; those that do alike share a line.
pub(super) fn render(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let differs = |at: usize, systems: &[usize]| {
        let differences =
            systems.iter().filter_map(|&idx| step.plans.differences.get(idx)?.as_ref());
        differences.flat_map(|d| &d.statements).any(|s| s.statement_idx == at)
    };
    let who = |systems: &[usize]| {
        let labels: Vec<String> =
            systems.iter().map(|&idx| one_line(analysis.label(idx))).collect();
        list_in_short(&labels)
    };
    html! {
        @if !step.plans.statements.is_empty() {
            h4 { "Query plans" }
            div.scroll tabindex="0" role="region" aria-label={ "Query plans: " (one_line(&step.title)) } {
                table.words {
                    thead { tr {
                        th scope="col" { "Statement" }
                        th scope="col" { "Systems" }
                        th scope="col" { "Plan" }
                    } }
                    tbody { @for (at, statement) in step.plans.statements.iter().enumerate() {
                        @for (words, systems) in statement.groups() { tr {
                            td { code { (outside(&statement.sql)) } }
                            td { (outside(&who(&systems))) }
                            td {
                                @if differs(at, &systems) { strong { "differs: " } }
                                (outside(words))
                            }
                        } }
                    } }
                }
            }
            @let of_starts = plans::of_starts(analysis, step);
            @if !of_starts.is_empty() {
                p { "From start to start:" }
                ul.sentences { @for line in &of_starts { li { (prose(line)) } } }
            }
        }
    }
}
