//! The tables in the details of a step: their frame, and the head of a row.

use maud::{Markup, html};

use super::label::outside;
use rqps_analysis::{Analysis, StepAnalysis};
use rqps_text::words::one_line;

/// A table that scrolls inside its own frame.
pub(super) fn framed(title: &str, step: &StepAnalysis<'_>, table: Markup) -> Markup {
    html! {
        h4 { (title) }
        div.scroll tabindex="0" role="region" aria-label={ (title) ": " (one_line(&step.title)) } {
            table.numbers.all { (table) }
        }
    }
}

pub(super) fn system_head(analysis: &Analysis<'_>, idx: usize) -> Markup {
    html! { th scope="row" { (outside(analysis.label(idx))) } }
}
