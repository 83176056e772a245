//! The summary table: every step, the base's figure, and each candidate's rQPS with its verdict.

use maud::{Markup, html};

use super::label::{self, outside, prose};
use super::part::BasePart;
use super::{cause, filter};
use rqps_analysis::{Analysis, Cell, GROUPS, StepAnalysis};
use rqps_report::many;
use rqps_report::rule::{Signs, verdict_rule};
use rqps_report::{places, warning};
use rqps_text::number::{self, count, exact_percent};
use rqps_text::words::capital;

/// The section. What another base changes in it is a part.
pub(super) fn render(analysis: &Analysis<'_>) -> Markup {
    html! {
        section #rqps aria-labelledby="rqps-title" {
            h2 #rqps-title { "Relative QPS" }
            @if !analysis.steps.is_empty() { (filter::render(analysis)) }
            (part(analysis).placed())
            (absolute(analysis))
        }
    }
}

/// The figure of every system, which no base changes; one candidate's stand in the summary itself.
fn absolute(analysis: &Analysis<'_>) -> Markup {
    if analysis.steps.is_empty() || analysis.candidates().count() < 2 || many::is_many(analysis) {
        return html! {};
    }
    html! {
        details.absolute {
            summary { "Absolute QPS of all systems" }
            div.scroll tabindex="0" role="region" aria-label="Absolute QPS of every step" {
                table.numbers.all {
                    thead { tr {
                        th scope="col" { "Step" }
                        @for idx in 0..analysis.run.systems.len() {
                            th scope="col" { (outside(analysis.label(idx))) }
                        }
                        th.word scope="col" { "Unit" }
                    } }
                    tbody { @for (at, step) in analysis.steps.iter().enumerate() {
                        tr class=(filter::classes(step).trim_start()) data-step=(at) {
                            th scope="row" { a href={ "#step-" (at) } { (outside(&step.title)) } }
                            @for cell in &step.cells { td { (label::figure(cell)) } }
                            td.word { (step.step.info.figure.unit()) }
                        }
                    } }
                }
            }
        }
    }
}

/// The table with what explains it.
pub(super) fn part(analysis: &Analysis<'_>) -> BasePart {
    let markup = html! {
        p {
            "rQPS is the QPS of a system divided by the QPS of "
            strong { (outside(analysis.base_label())) }
            ": above 1 is faster. Next to it are its 95% interval and the verdict for a bound of "
            (exact_percent(analysis.judging.bound)) "."
        }
        @if analysis.steps.is_empty() {
            p.warning { "This run has no step that is reported." }
        } @else {
            (legend(analysis))
            @if many::is_many(analysis) { (by_system(analysis)) } @else { (table(analysis)) }
            p.hint { (prose(&capital(&verdict_rule(analysis, SIGNS)))) }
            (footnotes(analysis))
        }
    };
    BasePart::new("summary", markup)
}

/// The page's signs of a tendency.
const SIGNS: Signs = Signs { less: '▼', more: '▲' };

fn legend(analysis: &Analysis<'_>) -> Markup {
    let has_barred = analysis.steps.iter().flat_map(|step| &step.cells).any(Cell::is_barred);
    html! {
        ul.legend aria-label="Colours" {
            li { span.swatch.lower {} "rQPS below 0.95" }
            li { span.swatch.higher {} "above 1.05" }
            li { span.swatch.lower.pale {} span.swatch.higher.pale {} "the same, not confirmed by the interval" }
            @if has_barred { li { span.swatch.unheld {} "no verdict: the SLA or a check failed, starts ran different plans, a set rate was held, or the host was busy" } }
        }
    }
}

fn table(analysis: &Analysis<'_>) -> Markup {
    let candidates: Vec<usize> = analysis.candidates().collect();
    let is_wide = candidates.len() == 1;
    html! {
        div.scroll tabindex="0" role="region" aria-label="Relative QPS of every step" {
            table.numbers.summary {
                thead {
                    tr {
                        th scope="col" rowspan="2" { "Step" }
                        @for &idx in &candidates {
                            th.first scope="colgroup" colspan=(if is_wide { "5" } else { "2" }) {
                                (outside(analysis.label(idx)))
                            }
                        }
                        th.num.first scope="col" { (outside(analysis.base_label())) }
                    }
                    tr {
                        @for _ in &candidates {
                            th.num.first scope="col" { "rQPS" }
                            @if is_wide {
                                th scope="col" { "95% interval" }
                                th scope="col" { "Verdict" }
                            }
                            th.num scope="col" { "Server CPU per operation" }
                            @if is_wide { th.num scope="col" { "QPS" } }
                        }
                        th.num.first scope="col" { "QPS" }
                    }
                }
                @for group in GROUPS {
                    @let steps: Vec<(usize, &StepAnalysis<'_>)> = analysis
                        .steps.iter().enumerate().filter(|(_, s)| s.group() == group).collect();
                    @if !steps.is_empty() {
                        tbody {
                            (group_row(analysis, group, &candidates, is_wide))
                            @for (at, step) in steps { (row(analysis, at, step, &candidates)) }
                        }
                    }
                }
            }
        }
    }
}

/// A row for each of many systems, two columns for each step.
fn by_system(analysis: &Analysis<'_>) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="Relative QPS of every system" {
            table.numbers.summary {
                thead {
                    tr {
                        th scope="col" rowspan="2" { "System" }
                        @for (at, step) in analysis.steps.iter().enumerate() {
                            th.first scope="colgroup" colspan="2" {
                                a href={ "#step-" (at) } { (outside(&step.title)) }
                            }
                        }
                    }
                    tr {
                        @for step in &analysis.steps {
                            th.num.first scope="col" { "rQPS" }
                            th.num scope="col" { (step.step.info.figure.unit()) }
                        }
                    }
                }
                tbody {
                    @for idx in 0..analysis.run.systems.len() {
                        tr.step {
                            th scope="row" {
                                (outside(analysis.label(idx)))
                                @if idx == analysis.base { " " span.badge { "base" } }
                            }
                            @for cell in analysis.steps.iter().filter_map(|s| s.cells.get(idx)) {
                                @if cell.rqps().is_some() {
                                    (stacked_cell(analysis, cell))
                                } @else {
                                    td.num.first { span.faint { "–" } }
                                }
                                td.num { (label::figure(cell)) }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn group_row(
    analysis: &Analysis<'_>,
    group: rqps_model::Group,
    candidates: &[usize],
    is_wide: bool,
) -> Markup {
    let mean =
        |idx: usize| analysis.groups.iter().find(|g| g.group == group && g.system_idx == idx);
    html! {
        tr.group {
            th scope="rowgroup" { (group.title()) }
            @for &idx in candidates {
                td.first colspan=(if is_wide { "5" } else { "2" }) {
                    @if let Some(mean) = mean(idx) {
                        (number::plain_ratio(mean.geometric_mean))
                        " geometric mean of " (count(mean.n_steps, "step"))
                    }
                }
            }
            td.first {}
        }
    }
}

fn row(
    analysis: &Analysis<'_>,
    at: usize,
    step: &StepAnalysis<'_>,
    candidates: &[usize],
) -> Markup {
    let unit = step.step.info.figure.unit();
    let is_wide = candidates.len() == 1;
    html! {
        tr class={ "step" (filter::classes(step)) } data-step=(at) data-group=(step.group().title()) {
            th scope="row" {
                a href={ "#step-" (at) } { (outside(&step.title)) }
                @if unit != "queries/s" { " " span.unit { (unit) } }
            }
            @for cell in candidates.iter().filter_map(|&idx| step.cells.get(idx)) {
                @if is_wide { (wide_cells(analysis, cell)) } @else { (stacked_cell(analysis, cell)) }
                td.num.cpu {
                    @if let Some(cpu) = &cell.server_cpu_ratio() {
                        span title={ "95% interval " (label::interval(cpu)) } { (label::ratio(cpu, "×")) }
                    } @else { span.faint { "–" } }
                }
                @if is_wide { td.num { (label::figure(cell)) (label::letters(analysis, cell)) } }
            }
            @if let Some(base) = step.cells.get(analysis.base) {
                td.num.first { (label::figure(base)) (label::letters(analysis, base)) }
            }
        }
    }
}

/// One candidate alone has room for ratio, interval and verdict side by side.
fn wide_cells(analysis: &Analysis<'_>, cell: &Cell) -> Markup {
    html! {
        @match &cell.rqps() {
            Some(ratio) => {
                td class={ "num first rqps " (label::ratio_class(cell)) } {
                    (label::ratio(ratio, "")) (label::letters(analysis, cell))
                }
                td.range { (label::interval(ratio)) }
            }
            None => { td.num.first { (label::figure(cell)) } td {} }
        }
        td { (label::judgement(cell)) (cause::short(cell)) }
    }
}

/// Several candidates stack ratio, interval and verdict in one cell each.
fn stacked_cell(analysis: &Analysis<'_>, cell: &Cell) -> Markup {
    html! {
        td class={ "num first rqps " (label::ratio_class(cell)) } {
            @match &cell.rqps() {
                Some(ratio) => {
                    strong { (label::ratio(ratio, "")) } (label::letters(analysis, cell))
                    span.below {
                        (label::interval(ratio)) " "
                        (label::judgement(cell)) (cause::short(cell))
                    }
                }
                None => { (label::figure(cell)) (label::letters(analysis, cell)) }
            }
        }
    }
}

fn footnotes(analysis: &Analysis<'_>) -> Markup {
    html! {
        @if !analysis.footnotes.is_empty() {
            dl.notes aria-label="Footnotes" {
                @for (idx, note) in analysis.footnotes.iter().enumerate() {
                    div id={ "note-" (note.letter) } {
                        dt { (note.letter) }
                        dd {
                            code { (note.kind.key()) } " "
                            (prose(&capital(&warning::meaning(&note.kind)))) ". "
                            @if let Some(advice) = warning::advice(note.kind.key()) {
                                span.advice { "What to do: " (prose(advice)) } " "
                            }
                            span.places { @for place in &places::list(analysis, idx) { span { (outside(place)) } " " } }
                        }
                    }
                }
            }
        }
    }
}
