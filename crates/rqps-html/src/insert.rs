//! The Insert Benchmark on the page: the summary's three tables, and what its steps have.

use std::borrow::Cow;

use maud::{Markup, html};
use rqps_model::Role;

use super::distribution;
use super::label::{self, outside, prose};
use super::line::{Line, PointKind, Waits};
use super::table::framed;
use rqps_analysis::insert::flow::{Flow, ROLES};
use rqps_analysis::{Analysis, Level, StepAnalysis};
use rqps_report::comparison;
use rqps_report::grid::{Grid, Side};
use rqps_report::insert::{self as tables, Summary, meanings};
use rqps_report::tone::Tone;
use rqps_text::number;
use rqps_text::words::one_line;

/// The section with the three tables; nothing for other runs.
pub(super) fn render(analysis: &Analysis<'_>) -> Markup {
    html! {
        @if analysis.insert.is_some() {
            section #insert aria-labelledby="insert-title" {
                h2 #insert-title { "Insert Benchmark" }
                @for which in Summary::ALL {
                    @if !which.steps(analysis).is_empty() { (summary(analysis, which)) }
                }
            }
        }
    }
}

fn summary(analysis: &Analysis<'_>, which: Summary) -> Markup {
    let (title, hint) = match which {
        Summary::Absolute => (
            "Operations per second",
            "Inserted rows/s in l.i0, l.i1 and l.i2, indexed rows/s in l.x, queries/s in the others.",
        ),
        Summary::Relative => (
            "Relative to the base",
            "The ratios of the summary: of interleaved steps the mean over pairs of blocks, which is not quite \
             that of the two figures above.",
        ),
        Summary::Rates => (
            "Background inserts per second",
            "Rows that were inserted while others queried, on average.",
        ),
    };
    let steps = which.steps(analysis);
    html! {
        h3 { (title) }
        p.hint { (hint) }
        (legend(which))
        div.scroll tabindex="0" role="region" aria-label={ "Insert Benchmark: " (title) } {
            table.numbers.summary {
                thead { tr {
                    th scope="col" { "System" }
                    @for (at, step) in &steps {
                        th.num.first scope="col" {
                            a href={ "#step-" (at) } { (outside(&step.title)) }
                        }
                    }
                } }
                tbody {
                    @for idx in 0..analysis.run.systems.len() {
                        tr {
                            th scope="row" {
                                (outside(analysis.label(idx)))
                                @if idx == analysis.base { " " span.badge { "base" } }
                            }
                            @for (_, step) in &steps {
                                (summary_cell(analysis, which, step, idx))
                            }
                        }
                    }
                }
                @if which == Summary::Rates {
                    tfoot { tr {
                        th.faint scope="row" { "target" }
                        @for (_, step) in &steps {
                            td.num.first.faint { (tables::target(step)) }
                        }
                    } }
                }
            }
        }
    }
}

fn legend(which: Summary) -> Markup {
    html! {
        ul.legend aria-label="Colours" {
            @match which {
                Summary::Absolute => {
                    li { span.swatch.best {} "+ top quarter of the step's range" }
                    li { span.swatch.worst {}
                        "− bottom quarter; none where the smallest is at least 80% of the largest" }
                    li { span.swatch.unheld {} "SLA failed: the rate is not ranked" }
                }
                Summary::Relative => {
                    li { span.swatch.lower {} "below 0.95" }
                    li { span.swatch.higher {} "above 1.05" }
                    li { span.swatch.lower.pale {} span.swatch.higher.pale {}
                        "the same, not confirmed by the interval" }
                    li { span.swatch.unheld {} "SLA or a check failed, here or on the base: no verdict" }
                }
                Summary::Rates => {
                    li { span.swatch.worst {} "! below 95% of the target: the SLA failed" }
                }
            }
        }
    }
}

fn summary_cell(
    analysis: &Analysis<'_>,
    which: Summary,
    step: &StepAnalysis<'_>,
    idx: usize,
) -> Markup {
    let cell = &step.cells[idx];
    let Some(figure) = &cell.figure() else {
        return html! { td.num.first { (label::figure(cell)) } };
    };
    match which {
        Summary::Absolute => {
            let level = step.level(idx);
            let (sign, words) = match level {
                Level::Top => ("+", "top quarter"),
                Level::Bottom => ("−", "bottom quarter"),
                Level::Unheld => ("", "SLA failed"),
                Level::Middle => ("", ""),
            };
            let class = label::class(Tone::of_level(level));
            html! {
                td class={ "num first " (class) } title=[(!words.is_empty()).then_some(words)] {
                    (tables::operations(cell, figure))
                    @if !sign.is_empty() { span.level aria-hidden="true" { (sign) } }
                    @if !words.is_empty() { span.sr { " " (words) } }
                    (label::letters(analysis, cell))
                }
            }
        }
        Summary::Relative if idx == analysis.base => html! { td.num.first { "1.00" } },
        Summary::Relative => match &cell.rqps() {
            Some(ratio) => html! {
                td class={ "num first rqps " (label::ratio_class(cell)) } {
                    (number::ratio(ratio))
                    @if let Some(verdict) = cell.verdict() {
                        span.sign aria-hidden="true" { " " (label::sign(verdict)) }
                        span.sr { " " (verdict.word()) }
                        (label::lean(cell))
                    } @else if let Some(bar) = cell.bar() { span.sr { " " (comparison::bar(bar)) } }
                    (label::letters(analysis, cell))
                    span.below.range { (label::interval(ratio)) }
                }
            },
            None => html! { td.num.first { span.faint { "–" } } },
        },
        Summary::Rates => match cell.sla() {
            Some(sla) => html! {
                td class={ "num first " (if sla.is_held { "" } else { "worst" }) }
                    title={ (sla.shown_percent()) " of the target" } {
                    (tables::average(cell, sla))
                    @if !sla.is_held { " !" span.sr { " below 95% of the target" } }
                }
            },
            None => html! { td.num.first { span.faint { "–" } } },
        },
    }
}

/// A grid of texts as a table; its last column, the label, comes first.
fn table(grid: &Grid) -> Markup {
    let last = grid.heads().len().saturating_sub(1);
    let word = |at: usize| (grid.heads()[at].1 == Side::Left).then_some("word");
    html! {
        thead { tr {
            th scope="col" { "System" }
            @for at in 0..last { th scope="col" class=[word(at)] { (outside(label::metric(&grid.heads()[at].0))) } }
        } }
        tbody { @for row in grid.rows() { tr {
            th scope="row" { (outside(row.last().map_or("", |cell| cell.text()))) }
            @for (at, cell) in row.iter().take(last).enumerate() {
                @let tone = cell.tone();
                @let class = if tone == Tone::Plain { word(at) } else { Some(label::class(tone)) };
                td class=[class] { (cell.text()) }
            }
        } } }
    }
}

/// The 1 s series of inserts, deletes and queries; none where clients are of one kind.
pub(super) fn lines<'s>(step: &'s StepAnalysis<'_>) -> Vec<Line<'s>> {
    let line = |role: Role| {
        let flows: Vec<_> = flows_by_second(step, role).collect();
        let what = match role {
            Role::Query => "Queries",
            Role::Insert => "Inserted rows",
            Role::Delete => "Deleted rows",
            Role::Hold => "Transactions",
        };
        (!flows.is_empty()).then(|| Line {
            what,
            target: flows.iter().find_map(|(_, flow)| flow.target_per_s),
            kind: PointKind::of_seconds(flows.iter().any(|(_, flow)| flow.is_by_block)),
            left_out: Vec::new(),
            tracks: flows
                .iter()
                .map(|(idx, flow)| (*idx, Cow::Borrowed(flow.seconds.as_slice())))
                .collect(),
        })
    };
    ROLES.into_iter().filter_map(line).collect()
}

/// What the clients of a role did on each system that has some.
fn flows<'s>(
    step: &'s StepAnalysis<'_>,
    role: Role,
) -> impl Iterator<Item = (usize, &'s Flow)> + Clone {
    let cells = step.cells.iter().enumerate();
    cells.filter_map(move |(idx, cell)| Some((idx, cell.insert()?.flow(role)?)))
}

/// Those of them that are known second by second: imported ones are not.
fn flows_by_second<'s>(
    step: &'s StepAnalysis<'_>,
    role: Role,
) -> impl Iterator<Item = (usize, &'s Flow)> + Clone {
    flows(step, role).filter(|(_, flow)| !flow.is_stated)
}

fn response_time(role: Role) -> &'static str {
    match role {
        Role::Query => "Response time of queries",
        Role::Insert => "Response time of inserts",
        Role::Delete => "Response time of deletes",
        Role::Hold => "Response time of transactions",
    }
}

/// Response times second by second; none where clients are of one kind.
pub(super) fn waits<'s>(step: &'s StepAnalysis<'_>) -> Vec<Waits<'s>> {
    let waits = |role: Role| {
        let flows = flows_by_second(step, role);
        flows.clone().next().is_some().then(|| Waits {
            what: response_time(role),
            kind: PointKind::of_seconds(flows.clone().any(|(_, flow)| flow.is_by_block)),
            left_out: Vec::new(),
            tracks: flows.map(|(idx, flow)| (idx, Cow::Borrowed(flow.points.as_slice()))).collect(),
        })
    };
    ROLES.into_iter().filter_map(waits).collect()
}

/// Response times of inserts, deletes and queries, drawn.
pub(super) fn distributions(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let of = one_line(&step.title);
    let draw = |role: Role| {
        let times =
            flows(step, role).filter_map(|(idx, flow)| Some((idx, flow.response.as_ref()?)));
        distribution::draw(analysis, &times.collect::<Vec<_>>(), response_time(role), &of)
    };
    html! { @for role in ROLES { (draw(role)) } }
}

/// The field's metrics, rates, response times and buckets.
pub(super) fn details(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let metrics = |is_relative: bool| tables::metrics(analysis, step, is_relative, usize::MAX);
    html! {
        @for grid in metrics(false) { (framed("The field's metrics", step, table(&grid))) }
        @for grid in metrics(true) {
            (framed("The field's metrics relative to the base", step, table(&grid)))
        }
        @if let Some((grid, unit)) = tables::rates(analysis, step) {
            (framed(&format!("Rates; delays of the starts in {}, own: the client's own part", micro(unit)), step, table(&grid)))
        }
        @if let Some((grid, unit)) = tables::responses(analysis, step) {
            (framed(&format!("Response time, {}", micro(unit)), step, table(&grid)))
            @let grid = tables::buckets(analysis, step);
            (framed("Response time, percent of responses up to", step, table(&grid)))
        }
    }
}

/// The debt at a step's end.
pub(super) fn debt(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    html! {
        @if let Some(grid) = tables::debt(analysis, step) {
            (framed("Unfinished background work at the end", step, table(&grid)))
        }
    }
}

/// The checks of a step that failed.
pub(super) fn failed_checks(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let (failed, _) = tables::checks(analysis, step);
    html! {
        @if !failed.is_empty() {
            div.failure role="note" { @for text in failed { p { strong.failed { "✕ " (prose(&text)) } } } }
        }
    }
}

/// The checks of a step that passed.
pub(super) fn passed_checks(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let (_, passed) = tables::checks(analysis, step);
    html! {
        @if !passed.is_empty() {
            p.passed { "Checks passed (on n systems): " (prose(&passed)) }
        }
    }
}

fn micro(unit: &str) -> &str {
    if unit == "us" { "µs" } else { unit }
}

/// What the words and the field's metrics mean.
pub(super) fn reading(analysis: &Analysis<'_>) -> Markup {
    html! { @if analysis.insert.is_some() {
        h3 { "Insert Benchmark" }
        dl.words {
            div { dt { "Rate of l.i0, l.i1, l.i2" } dd {
                "Rows of all blocks / time of all blocks: the blocks are equal in work, and a stall counts "
                "as long as it took. rQPS is the ratio of these, its interval the jackknife's."
            } }
            div { dt { "SLA" } dd {
                "Background inserts reached 95% of their rate on average over the step. Where they did "
                "not, the system did less work than the others, and there is no verdict."
            } }
            div { dt { "Seconds held, gap" } dd {
                "Share of the whole seconds with at least 95% of the rate, in whole statements; the "
                "longest run of seconds below it."
            } }
            div { dt { "Delays, missed" } dd {
                "How late starts came after their intended time; starts that were still due at the end, "
                "which count with the time that they had waited. Response times count from the intended "
                "start."
            } }
        }
        div.scroll tabindex="0" role="region" aria-label="The field's metrics" { table.words {
            thead { tr {
                th scope="col" { "Heading" } th scope="col" { "Meaning" } th scope="col" { "Unit" }
            } }
            tbody { @for (metric, meaning) in meanings() { tr {
                th scope="row" { code { (metric.name) } }
                td { (meaning) }
                td { (micro(metric.unit)) }
            } } }
        } }
    } }
}
