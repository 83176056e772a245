//! Causes beside their verdicts, and the time per operation taken apart in the step's details.

use maud::{Markup, html};

use super::label::{outside, prose};
use super::ratios::table;
use super::table::framed;
use rqps_analysis::{Analysis, Cell, StepAnalysis};
use rqps_report::causes::{self, sentence};
use rqps_report::headline;
use rqps_text::words::one_line;

/// The cause in a word or two, with its sentence for who points at it.
pub(super) fn short(cell: &Cell) -> Markup {
    html! {
        @if let Some((cause, text)) = cell.cause().zip(sentence::of_cell(cell)) {
            " " span.cause title=(one_line(&text)) { (cause.short()) }
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
                    (prose(&text))
                }
            }
        }
    }
}

/// Why candidates are slower or faster, and what is unclear: a list for each of them.
pub(super) fn of_run(analysis: &Analysis<'_>) -> Markup {
    let told: Vec<(usize, Vec<String>)> = analysis
        .headlines
        .iter()
        .map(|own| {
            let causes = headline::causes(analysis, own).into_iter();
            (own.system_idx, causes.chain(headline::unclear(analysis, own)).collect())
        })
        .filter(|(_, sentences): &(usize, Vec<String>)| !sentences.is_empty())
        .collect();
    let is_several = analysis.headlines.len() > 1;
    html! {
        @if !told.is_empty() {
            section #causes aria-labelledby="causes-title" {
                h2 #causes-title { "Causes" }
                @for (system_idx, sentences) in &told {
                    @if is_several { h3 { (outside(analysis.label(*system_idx))) } }
                    ul.sentences {
                        @for sentence in sentences { li { (prose(sentence)) } }
                    }
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

/// The columns at the end of a row of ageing: step and system.
const NAMES: usize = 2;

/// How steps have aged.
pub(super) fn ageing(analysis: &Analysis<'_>) -> Markup {
    html! {
        @if let Some(grid) = causes::ageing(analysis) {
            section #ageing aria-labelledby="ageing-title" {
                h2 #ageing-title { "Ageing" }
                p { (causes::AGEING) "." }
                div.scroll tabindex="0" role="region" aria-label="Ageing" {
                    table.numbers.all {
                        // Step and system first: they stay in sight.
                        @let n = grid.heads().len().saturating_sub(NAMES);
                        thead { tr {
                            @for (head, _) in &grid.heads()[n..] { th.word scope="col" { (head) } }
                            @for (head, _) in &grid.heads()[..n] { th scope="col" { (head) } }
                        } }
                        tbody { @for row in grid.rows() { tr {
                            @for (at, cell) in row[n..].iter().enumerate() {
                                @if at == 0 { th scope="row" { (outside(cell.text())) } }
                                @else { td.word { (outside(cell.text())) } }
                            }
                            @for cell in &row[..n] { td { (cell.text()) } }
                        } } }
                    }
                }
                p.hint { (causes::AGEING_LEGEND) }
            }
        }
    }
}
