//! Vector searches on the page: QPS against recall as a chart, and the tables.

mod chart;

use maud::{Markup, html};

use super::label::{outside, prose};
use rqps_analysis::{Analysis, RecallTable};
use rqps_report::grid::{Grid, Side};
use rqps_report::recall as tables;
use rqps_text::words::one_line;

/// The section; nothing for other runs.
pub(super) fn render(analysis: &Analysis<'_>) -> Markup {
    html! {
        @if !analysis.recalls.is_empty() {
            section #recall aria-labelledby="recall-title" {
                h2 #recall-title { "QPS and recall" }
                @for table in &analysis.recalls { (one(analysis, table)) }
                p.hint { (prose(tables::LEGEND)) }
            }
        }
    }
}

fn one(analysis: &Analysis<'_>, table: &RecallTable) -> Markup {
    let compared = tables::compared(analysis, table);
    html! {
        h3 { (tables::title(table)) }
        (chart::render(analysis, table))
        @if let Some(grid) = &compared { (grid_table("At equal recall", grid)) }
        (grid_table("Best QPS at a recall", &tables::best(analysis, table)))
        (grid_table("All searches", &tables::searches(analysis, table)))
    }
}

fn grid_table(title: &str, grid: &Grid) -> Markup {
    let class = |side: Side| if side == Side::Left { "" } else { "num" };
    html! {
        h4 { (title) }
        div.scroll tabindex="0" role="region" aria-label=(one_line(title)) {
            table.numbers.all {
                thead { tr {
                    @for (head, side) in grid.heads() { th class=(class(*side)) scope="col" { (head) } }
                } }
                tbody {
                    @for row in grid.rows() {
                        tr {
                            @for ((_, side), cell) in grid.heads().iter().zip(row) {
                                td class=(class(*side)) { (outside(cell.text())) }
                            }
                        }
                    }
                }
            }
        }
    }
}
