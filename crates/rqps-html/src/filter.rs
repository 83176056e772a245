//! Which steps are shown: the choices, and what each step is filtered by.
//!
//! Verdicts are filtered by the style alone, which needs no script; text and group need the script.

use maud::{Markup, html};
use rqps_model::Verdict;

use rqps_analysis::{Analysis, Cell, GROUPS, StepAnalysis};

/// The choices. They stand outside of what another base replaces, so that they stay as they are.
pub(super) fn render(analysis: &Analysis<'_>) -> Markup {
    let choices = [
        ("all", "all"),
        ("slower", "slower"),
        ("faster", "faster"),
        ("open", "unclear or without a verdict"),
    ];
    let groups = || GROUPS.into_iter().filter(|group| analysis.steps_of(*group).next().is_some());
    html! {
        div.controls {
            fieldset.filter {
                legend { "Show steps" }
                @for (idx, (key, words)) in choices.into_iter().enumerate() {
                    label {
                        input type="radio" name="show" id={ "show-" (key) } checked[idx == 0];
                        " " (words)
                    }
                }
            }
            p.filter-more hidden {
                label { "Named " input #filter-text type="search" autocomplete="off" spellcheck="false"; }
                @if groups().count() > 1 {
                    label { "Group " select #filter-group {
                        option value="" { "all" }
                        @for group in groups() { option { (group.title()) } }
                    } }
                }
                span #filter-told role="status" {}
            }
        }
    }
}

/// The verdicts on a step, as classes of its row.
pub(super) fn classes(step: &StepAnalysis<'_>) -> String {
    let any = |wanted: fn(&Cell) -> bool| step.cells.iter().any(wanted);
    let mut out = String::new();
    if any(|c| c.verdict() == Some(Verdict::Slower)) {
        out.push_str(" any-slower");
    }
    if any(|c| c.verdict() == Some(Verdict::Faster)) {
        out.push_str(" any-faster");
    }
    if any(|c| c.verdict() == Some(Verdict::Unclear) || c.is_barred() || !c.state.is_measured()) {
        out.push_str(" any-open");
    }
    out
}
