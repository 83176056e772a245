//! All ratios of a step to the base with their tests, in the step's details.

use maud::{Markup, html};

use super::label::{metric, outside, prose};
use super::table::framed;
use rqps_analysis::{Analysis, StepAnalysis};
use rqps_report::comparison;
use rqps_report::grid::Grid;

/// The table, and what its ratios leave open.
pub(super) fn render(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let notes = comparison::notes(analysis, step);
    html! {
        @if let Some(grid) = comparison::grid(analysis, step) {
            (framed("Ratios to the base", step, table(analysis, &grid)))
            @for note in &notes { p.hint { (prose(note)) } }
        }
    }
}

/// A grid of ratios whose last column, the system, is said once above its rows, where there are several.
pub(super) fn table(analysis: &Analysis<'_>, grid: &Grid) -> Markup {
    let is_told = analysis.candidates().count() > 1;
    let rows: Vec<_> = grid.rows().filter_map(|row| row.split_last()).collect();
    let n = grid.heads().len().saturating_sub(1);
    html! {
        thead { tr {
            @for (head, _) in grid.heads().iter().take(n) { th scope="col" { (head) } }
        } }
        @for of_system in rows.chunk_by(|a, b| a.0 == b.0) {
            tbody {
                @if let Some((system, _)) = of_system.first().filter(|_| is_told) {
                    tr.group { th scope="rowgroup" colspan=(n) { (outside(system.text())) } }
                }
                @for (_, cells) in of_system { tr {
                    @for (at, cell) in cells.iter().enumerate() {
                        @if at == 0 { th scope="row" { (metric(cell.text())) } } @else { td { (cell.text()) } }
                    }
                } }
            }
        }
    }
}
