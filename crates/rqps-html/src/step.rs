//! The details of every step: slices, series, metrics, response times, marks, how to repeat it.

use maud::{Markup, html};

use super::label::{self, outside, prose};
use super::part::{self, BasePart};
use super::table::{framed, system_head};
use super::{cause, data, filter, insert, metrics, plans, ratios, series, stacks, times};
use rqps_analysis::{Analysis, Cell, CellState, CellWarning, StepAnalysis, parallel};
use rqps_report::warning;
use rqps_report::{layout, many, repeat};
use rqps_text::number::{self, count};
use rqps_text::words::lines;

/// What is folded away under each step's line.
pub(super) fn bodies(analysis: &Analysis<'_>) -> Vec<Markup> {
    let numbered: Vec<_> = analysis.steps.iter().enumerate().collect();
    parallel::map(&numbered, |(at, step)| body(analysis, *at, step))
}

/// The section with all steps; without `bodies` the script puts them in.
pub(super) fn render_all(analysis: &Analysis<'_>, bodies: Option<&[Markup]>) -> Markup {
    html! {
        section #steps aria-labelledby="steps-title" {
            h2 #steps-title { "Steps" }
            @if analysis.steps.is_empty() {
                p { "This run has no step that is reported." }
            } @else {
                p.tools hidden {
                    button type="button" #open-all { "Open all" } " "
                    button type="button" #close-all { "Close all" }
                }
            }
            @for (at, step) in analysis.steps.iter().enumerate() {
                details id={ "step-" (at) } class={ "step" (filter::classes(step)) }
                    data-step=(at) data-group=(step.group().title()) {
                    summary {
                        h3 { (outside(&step.title)) }
                        (chips(analysis, at, step).placed_in_line())
                    }
                    @match bodies {
                        Some(bodies) => { div.body { (bodies[at]) } }
                        None => { div.body data-packed { p.hint {
                            "This page is large, and the details of its steps are packed: its script unpacks "
                            "them. Without it, " code { (data::command(analysis, "terminal")) }
                            " writes them."
                        } } }
                    }
                }
            }
        }
    }
}

fn body(analysis: &Analysis<'_>, at: usize, step: &StepAnalysis<'_>) -> Markup {
    let info = &step.step.info;
    let clients = usize::try_from(step.step.clients).unwrap_or(usize::MAX);
    let has_flows = |cell: &Cell| cell.insert().is_some_and(|own| !own.flows.is_empty());
    let has_flows = step.cells.iter().any(has_flows);
    let [told, compared, per_operation, totals] = parts(analysis, at, step).map(BasePart::placed);
    html! {
        p.what {
            (outside(&info.what)) " · " (info.figure.unit()) " · " (count(clients, "client"))
            " · " (layout::placement(analysis, step))
        }
        (part::note(analysis))
        (told)
        (series::render(analysis, at, step))
        @if has_flows { (insert::distributions(analysis, step)) }
        @else { (times::curve(analysis, step)) }
        (compared)
        (per_operation)
        @if !has_flows {
            (times::responses(analysis, step))
            (times::starts(analysis, step))
        }
        (totals)
        (stacks::graphs_and_rest(analysis, step))
        (insert::debt(analysis, step))
        (insert::passed_checks(analysis, step))
        @if let Some(part) = repeated_part(analysis, at, step) { (part.placed()) }
        @else { (repeated(analysis, at, step)) }
    }
}

/// The commands that measure a step again; nothing where no system was measured.
fn repeated(analysis: &Analysis<'_>, at: usize, step: &StepAnalysis<'_>) -> Markup {
    let repeated = repeat::commands(analysis, step);
    if repeated.is_empty() {
        return html! {};
    }
    html! {
        h4 { "Repeat this step" }
        @for one in &repeated {
            @if let Some(run) = one.run { p.hint { "Run " (outside(run)) } }
            pre.command tabindex="0" { code { (one.command) } }
        }
        @if let Some(caution) = repeat::caution(analysis, at) { p.hint { (caution) } }
    }
}

/// The same where it depends on the base: of several runs that of the base's comes first.
pub(super) fn repeated_part(
    analysis: &Analysis<'_>,
    at: usize,
    step: &StepAnalysis<'_>,
) -> Option<BasePart> {
    analysis.joined.map(|_| BasePart::new(format!("repeat-{at}"), repeated(analysis, at, step)))
}

/// The ratios in a step's line, and its verdicts for the script; for each of many systems one ratio would be
/// a page.
pub(super) fn chips(analysis: &Analysis<'_>, at: usize, step: &StepAnalysis<'_>) -> BasePart {
    let markup = html! {
        span.chips data-verdicts=(filter::classes(step).trim_start()) {
            @if !many::is_many(analysis) {
                @for idx in analysis.candidates() {
                    @if let Some(cell) = step.cells.get(idx) { (chip(cell)) }
                }
            }
        }
    };
    BasePart::new(format!("chips-{at}"), markup)
}

/// What of a step's details depends on the base, from top to bottom.
pub(super) fn parts(analysis: &Analysis<'_>, at: usize, step: &StepAnalysis<'_>) -> [BasePart; 4] {
    let told = html! {
        (failures(analysis, step))
        (insert::failed_checks(analysis, step))
        (warnings(analysis, step))
        (cause::sentences(analysis, step))
    };
    let compared = html! {
        (figures(analysis, step))
        (ratios::render(analysis, step))
        (cause::tables(analysis, step))
    };
    let per_operation = html! {
        (insert::details(analysis, step))
        (metrics::render(analysis, step))
    };
    let totals = html! {
        (totals(analysis, step))
        (plans::render(analysis, step))
        (stacks::compared(analysis, step))
    };
    [
        BasePart::new(format!("told-{at}"), told),
        BasePart::new(format!("compared-{at}"), compared),
        BasePart::new(format!("operation-{at}"), per_operation),
        BasePart::new(format!("totals-{at}"), totals),
    ]
}

fn chip(cell: &Cell) -> Markup {
    html! {
        span class={ "chip " (label::ratio_class(cell)) } {
            @match (&cell.rqps(), cell.verdict()) {
                (Some(ratio), Some(_)) => {
                    strong { (number::ratio(ratio)) } " " (label::judgement(cell))
                }
                (Some(ratio), None) => { (number::ratio(ratio)) " " (label::judgement(cell)) }
                _ => { (label::figure(cell)) }
            }
        }
    }
}

fn failures(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    html! {
        @for (idx, cell) in step.cells.iter().enumerate() {
            @if let CellState::Failed { reason } = &cell.state {
                div.failure {
                    p { strong { "Failed on " (outside(analysis.label(idx))) "." } }
                    pre tabindex="0" { (lines(reason)) }
                }
            }
        }
    }
}

fn warnings(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    html! {
        @if step.cells.iter().any(|c| !c.warnings.is_empty()) {
            ul.warnings {
                @for (idx, cell) in step.cells.iter().enumerate() {
                    @for own in &cell.warnings {
                        @let detail = warning::detail(own);
                        li {
                            strong { (outside(analysis.label(idx))) } ": "
                            (name(analysis, own)) " "
                            (prose(&warning::meaning(&own.kind)))
                            @if !detail.is_empty() { " (" (prose(&detail)) ")" }
                        }
                    }
                }
            }
        }
    }
}

/// The name of a warning, which leads to its footnote.
fn name(analysis: &Analysis<'_>, own: &CellWarning) -> Markup {
    let key = html! { code { (own.kind.key()) } };
    html! {
        @match analysis.footnotes.get(own.footnote_idx) {
            Some(note) => a href={ "#note-" (note.letter) } { (key) },
            None => (key),
        }
    }
}

fn figures(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let n_slices = step.cells.iter().map(|c| c.slices().len()).max().unwrap_or(0);
    let title = format!("Rate, {}", step.step.info.figure.unit());
    let middle = if step.step.info.has_blocks_of_work() { "Total" } else { "Mean" };
    let part = if analysis.schedule().is_interleaved() { "Block" } else { "Slice" };
    framed(
        &title,
        step,
        html! {
            thead { tr {
                th scope="col" { "System" }
                th scope="col" { (middle) }
                th.word scope="col" { "95% interval" }
                th scope="col" { "rQPS" }
                th.word scope="col" { "95% interval" }
                th.word scope="col" { "Verdict" }
                th scope="col" { "Steady rate" }
                @for slice in 1..=n_slices { th scope="col" { (part) "\u{a0}" (slice) } }
            } }
            tbody { @for (idx, cell) in step.cells.iter().enumerate() {
                tr {
                    (system_head(analysis, idx))
                    td { strong { (label::figure(cell)) } (label::letters(analysis, cell)) }
                    td.range { @if let Some(figure) = &cell.figure() { (figure_interval(figure)) } }
                    @match &cell.rqps() {
                        Some(ratio) => {
                            td class={ "rqps " (label::ratio_class(cell)) } { (label::ratio(ratio, "")) }
                            td.range { (label::interval(ratio)) }
                        }
                        None => { td { @if idx == analysis.base { "base" } @else { "–" } } td {} }
                    }
                    td.word { (label::judgement(cell)) }
                    td { @if let Some(rate) = cell.steady_rate() { (number::plain_figure(rate)) } }
                    @for slice in 0..n_slices {
                        td { @if let Some(rate) = cell.slices().get(slice) { (number::plain_figure(*rate)) } }
                    }
                }
            } }
        },
    )
}

/// The ends of a figure's interval in the figure's own digits.
fn figure_interval(figure: &rqps_model::Estimate) -> String {
    figure.interval.map_or_else(
        || "n=1".to_owned(),
        |(low, high)| {
            let end = |point| number::figure(&rqps_model::Estimate { point, ..*figure });
            format!("[{}, {}]", end(low.max(0.0)), end(high))
        },
    )
}

fn totals(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    // Imported tables say neither how long was measured nor how much was done.
    let is_counted =
        |c: &Cell| c.figure().is_some() && (c.totals().duration_ns > 0 || !c.is_imported);
    if !step.cells.iter().any(is_counted) {
        return html! {};
    }
    let unit = step.step.info.figure.unit();
    framed(
        "Totals and windows",
        step,
        html! {
            thead { tr {
                th scope="col" { "System" }
                th scope="col" { "measured" span.unit { "s" } }
                th scope="col" { "events" }
                th scope="col" { "queries" }
                th scope="col" { "rows" }
                th scope="col" { "errors" }
                th scope="col" { "database" }
                th scope="col" { "server memory" }
                th scope="col" { "/\u{a0}base" }
                th scope="col" { "windows 5%" span.unit { (unit) } }
                th scope="col" { "median" span.unit { (unit) } }
                th scope="col" { "95%" span.unit { (unit) } }
            } }
            tbody { @for (idx, cell) in step.cells.iter().enumerate().filter(|(_, c)| c.figure().is_some()) {
                @let (own, totals) = (cell.measurement(), cell.totals());
                tr {
                    (system_head(analysis, idx))
                    td { (number::duration_in(totals.duration_ns as f64, 1e9)) }
                    td { (totals.n_events) }
                    td { (totals.n_queries) }
                    td { (totals.n_rows) }
                    td { (totals.n_errors) }
                    td { @match cell.sizes.database_bytes {
                        Some(bytes) => { (number::bytes(bytes)) },
                        None => { span.faint { "–" } },
                    } }
                    td { @match cell.server_rss_bytes() {
                        Some(bytes) => { (number::bytes(bytes)) },
                        None => { span.faint { "–" } },
                    } }
                    td { @if let Some(ratio) = cell.server_rss_ratio() { (number::plain_ratio(ratio)) } }
                    @for rate in own.and_then(|own| own.windows).map_or([None; 3], |w| [w.p05, w.median, w.p95].map(Some)) {
                        td { @match rate {
                            Some(rate) => { (number::plain_figure(rate)) },
                            None => { span.faint { "–" } },
                        } }
                    }
                }
            } }
        },
    )
}
