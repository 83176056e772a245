//! Causes beside their verdicts, and the time per operation taken apart in the step's details.

use maud::{Markup, html};

use super::label::outside;
use super::ratios::table;
use super::table::framed;
use rqps_analysis::{Analysis, Cell, StepAnalysis};
use rqps_report::causes::{self, sentence};
use rqps_text::words::one_line;

/// The cause in a word or two, with its sentence for who points at it.
pub(super) fn short(cell: &Cell) -> Markup {
    html! {
        @if let Some((cause, text)) = cell.cause().zip(sentence::of_cell(cell)) {
            " " span.cause title=(one_line(&text)) { (cause.kind.short()) }
        }
    }
}

/// The causes of a step in sentences.
pub(super) fn sentences(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let is_several = analysis.candidates().count() > 1;
    html! {
        @for (idx, cell) in step.cells.iter().enumerate() {
            @if let Some(text) = sentence::of_cell(cell) {
                p.why {
                    @if is_several { strong { (outside(analysis.label(idx))) } " " }
                    (outside(&text))
                }
            }
        }
    }
}

/// The parts of the time, and every quantity.
pub(super) fn tables(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let op = step.step.info.figure.operation();
    html! {
        @if let Some(grid) = causes::parts(analysis, step) {
            (framed(&format!("Time per {op} against the base, µs"), step, table(analysis, &grid)))
        }
        @if let Some(grid) = causes::quantities(analysis, step) {
            (framed(&format!("Everything per {op} against the base"), step, table(analysis, &grid)))
        }
    }
}

/// How steps have aged.
pub(super) fn ageing(analysis: &Analysis<'_>) -> Markup {
    html! {
        @if let Some(grid) = causes::ageing(analysis) {
            section #ageing aria-labelledby="ageing-title" {
                h2 #ageing-title { "Ageing" }
                p { (causes::AGEING) "." }
                div.scroll tabindex="0" role="region" aria-label="Ageing" {
                    table.numbers.all {
                        thead { tr { @for (head, _) in grid.heads() { th scope="col" { (head) } } } }
                        tbody { @for row in grid.rows() {
                            tr { @for cell in row { td { (outside(cell.text())) } } }
                        } }
                    }
                }
                p.hint { (causes::AGEING_LEGEND) }
            }
        }
    }
}
