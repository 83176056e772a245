//! What the systems' data took, at the ends of the run and after every step.

use maud::{Markup, html};
use rqps_model::Sizes;

use super::label::outside;
use rqps_analysis::Analysis;
use rqps_report::layout;
use rqps_text::number;

/// The section; nothing where no size was recorded.
pub(super) fn render(analysis: &Analysis<'_>) -> Markup {
    html! {
        @if analysis.sizes.iter().any(|s| s.last.is_some()) {
            section #sizes aria-labelledby="sizes-title" {
                h2 #sizes-title { "Sizes" }
                (ends(analysis))
                p.hint { (outside(&layout::sizes_legend(analysis))) }
                details { summary { "After every step" } (steps(analysis)) }
            }
        }
    }
}

fn bytes(n: Option<u64>) -> Markup {
    html! { @match n {
        Some(n) => { (number::bytes(n)) }
        None => { span.faint { "–" } }
    } }
}

fn ratio(value: Option<f64>) -> Markup {
    html! { @match value {
        Some(value) => { (number::plain_ratio(value)) }
        None => { span.faint { "–" } }
    } }
}

fn ends(analysis: &Analysis<'_>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Sizes at the end" {
            table.numbers {
                thead { tr {
                    th scope="col" { "System" }
                    th.num scope="col" { "filled" }
                    th.num scope="col" { "/\u{a0}base" }
                    th.num scope="col" { "at end" }
                    th.num scope="col" { "growth" }
                    th.num scope="col" { "/\u{a0}base" }
                    th.num scope="col" { "data dir" }
                    th.num scope="col" { "/\u{a0}base" }
                    th.num scope="col" { "redo" }
                    th.num scope="col" { "binlog" }
                } }
                tbody {
                    @for (idx, sizes) in analysis.sizes.iter().enumerate() {
                        @let first = sizes.first.map_or_else(Sizes::default, |e| e.1);
                        @let last = sizes.last.map_or_else(Sizes::default, |e| e.1);
                        tr {
                            th scope="row" { (outside(analysis.label(idx))) }
                            td.num { (bytes(first.database_bytes)) }
                            td.num { (ratio(sizes.filled_ratio)) }
                            td.num { (bytes(last.database_bytes)) }
                            td.num { (ratio(sizes.growth)) }
                            td.num { (ratio(sizes.database_ratio)) }
                            td.num { (bytes(last.data_dir_bytes)) }
                            td.num { (ratio(sizes.data_dir_ratio)) }
                            td.num { (bytes(last.redo_bytes)) }
                            td.num { (bytes(last.binlog_bytes)) }
                        }
                    }
                }
            }
        }
    }
}

/// Tables and indexes, and the data directory, after each step; per system.
fn steps(analysis: &Analysis<'_>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Sizes after every step" {
            table.numbers {
                thead {
                    tr {
                        th scope="col" rowspan="2" { "Step" }
                        @for idx in 0..analysis.run.systems.len() {
                            th.first scope="colgroup" colspan="2" { (outside(analysis.label(idx))) }
                        }
                    }
                    tr {
                        @for _ in 0..analysis.run.systems.len() {
                            th.num.first scope="col" { "database" }
                            th.num scope="col" { "data dir" }
                        }
                    }
                }
                tbody {
                    @for step in &analysis.steps {
                        tr {
                            th scope="row" { (outside(&step.title)) }
                            @for cell in &step.cells {
                                td.num.first { (bytes(cell.sizes.database_bytes)) }
                                td.num { (bytes(cell.sizes.data_dir_bytes)) }
                            }
                        }
                    }
                }
            }
        }
    }
}
