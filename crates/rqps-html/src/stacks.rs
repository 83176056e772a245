//! Stack profiles of a step: tables of functions, flame graphs, where threads were.
//!
//! Graphs in a report leave out narrow frames, the more the more steps have graphs; the page of the step
//! beside the run ([`crate::stacks_page`]) has them.

use maud::{Markup, html};
use rqps_stacks::CallTree;
use rqps_stacks::flame::{self, Flame};
use rqps_stacks::function::in_common;

use super::label::{self, outside, prose};
use super::table::framed;
use rqps_analysis::{Analysis, StepAnalysis, StepStacks};
use rqps_report::grid::{Grid, Side};
use rqps_report::stacks::{self, LEGEND, Table};
use rqps_report::tone::Tone;

/// Narrowest frames of a report with few graphs, as a share of the width: a frame of two pixels.
const LEAST_SHARE: f64 = 0.002;

/// Graphs from which on the narrowest frames get wider, in proportion: what keeps a page loadable.
const FEW_GRAPHS: usize = 8;

/// Widest of the narrowest.
const MOST_SHARE: f64 = 0.02;

/// What the graph by common functions shows.
const COMMON: &str = "Inner frames are functions that both systems have, so that a function with another \
    name, or one more between two others, does not part what is the same. Functions of one system alone \
    have a frame where they work themselves.";

/// What the graph by whole stacks shows.
const WHOLE: &str = "Every function of every stack; below a caller that one system alone has, nothing is \
    compared.";

/// What grew and shrank on a step; nothing where no stacks were recorded.
pub(super) fn compared(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let Some(stacks) = analysis.stacks_of(step) else { return html! {} };
    html! {
        h4 { "Stacks: where CPU time went" }
        p.hint { (LEGEND) }
        (tables(analysis, step, stacks))
    }
}

/// The graphs, which say themselves what they compare, and what is of each system alone.
pub(super) fn graphs_and_rest(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let Some(stacks) = analysis.stacks_of(step) else { return html! {} };
    let graphs_per_step = analysis.run.systems.len() + 2 * stacks.pairs.len();
    let n_graphs = analysis.stacks.len() * graphs_per_step;
    let wider = (n_graphs as f64 / FEW_GRAPHS as f64).max(1.0);
    let least_share = (LEAST_SHARE * wider).min(MOST_SHARE);
    html! {
        (graphs(analysis, step, stacks, least_share))
        (rest(analysis, step, stacks))
    }
}

/// What grew and shrank on each candidate.
pub(crate) fn tables(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    stacks: &StepStacks<'_>,
) -> Markup {
    let operation = step.step.info.figure.operation();
    html! {
        @for pair in &stacks.pairs {
            p { (prose(&stacks::sentence(analysis, step, pair))) }
            @for table in Table::ALL {
                @if let Some(grid) = stacks::functions(analysis, pair, table) {
                    (framed(&format!("{}, µs", rqps_text::words::capital(&table.title(operation))), step, cells(&grid)))
                }
            }
        }
        @for (idx, times) in stacks.times.iter().enumerate().filter(|_| stacks.pairs.is_empty()) {
            @if let Some(grid) = stacks::times(times) {
                (framed(&format!("Functions with most CPU per {operation}, µs: {}", analysis.label(idx)), step, cells(&grid)))
            }
        }
    }
}

/// The differential graph of each candidate, then one graph per system.
pub(crate) fn graphs(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    stacks: &StepStacks<'_>,
    least_share: f64,
) -> Markup {
    let operation = step.step.info.figure.operation();
    let cpu = |idx: usize| stacks.profiles.get(idx).copied().flatten().and_then(|p| p.cpu());
    html! {
        @for pair in &stacks.pairs {
            @if let (Some(base), Some(candidate)) = (cpu(analysis.base), cpu(pair.system_idx)) {
                @let of = format!(
                    "{} against {}, µs per {operation}",
                    analysis.label(pair.system_idx), analysis.base_label()
                );
                @let us_per_sample = [base.us_per_sample, candidate.us_per_sample];
                @let [shared_base, shared_candidate] = in_common(base.stacks, candidate.stacks);
                @let tree = CallTree::of_pair(&shared_base, &shared_candidate);
                @let label = format!("Differential flame graph, by functions of both: {of}");
                (figure(&label, Some(COMMON), true, Flame {
                    tree: &tree, us_per_sample, is_pair: true, operation, least_share, label: &label,
                }))
                @let tree = CallTree::of_pair(base.stacks, candidate.stacks);
                @let label = format!("Differential flame graph, by whole stacks: {of}");
                (figure(&label, Some(WHOLE), false, Flame {
                    tree: &tree, us_per_sample, is_pair: true, operation, least_share, label: &label,
                }))
            }
        }
        @for idx in 0..stacks.profiles.len() {
            @if let Some(cpu) = cpu(idx) {
                @let tree = CallTree::of(cpu.stacks);
                @let label = format!("Flame graph: {}, µs per {operation}", analysis.label(idx));
                (figure(&label, None, stacks.pairs.is_empty(), Flame {
                    tree: &tree,
                    us_per_sample: [cpu.us_per_sample, 0.0],
                    is_pair: false, operation, least_share, label: &label,
                }))
            }
        }
    }
}

fn figure(title: &str, sides: Option<&str>, is_open: bool, flame: Flame<'_>) -> Markup {
    html! {
        details open[is_open] {
            summary { (outside(title)) }
            figure.flame-graph {
                figcaption.sr { (outside(title)) }
                (flame::legend(sides.is_some()))
                @if let Some(sides) = sides {
                    p.hint {
                        (sides) " "
                        "A frame is as wide as the longer of its two times, with all that it calls; its colour \
                         is the difference of everything it calls together. Point at a frame for the numbers."
                    }
                } @else {
                    p.hint { "A frame is as wide as its CPU time with all that it calls; callers are above." }
                }
                (flame::svg(flame))
            }
        }
    }
}

/// Where threads were, counters of the CPU, and how well it was recorded.
pub(crate) fn rest(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    stacks: &StepStacks<'_>,
) -> Markup {
    let operation = step.step.info.figure.operation();
    html! {
        @if let Some(grid) = stacks::waits(analysis, stacks) {
            (framed(&format!("Where threads were, µs per {operation}, and threads on average"), step, cells(&grid)))
        }
        @if let Some(grid) = stacks::counters(analysis, stacks) {
            (framed(&format!("Hardware counters per {operation}"), step, cells(&grid)))
        }
        ul.sentences {
            @for note in stacks::notes(analysis, step, stacks) { li { (prose(&note)) } }
        }
    }
}

/// A grid as the parts of a table; words of a column of words stand at its start.
fn cells(grid: &Grid) -> Markup {
    let side = |idx: usize| {
        let is_word = grid.heads().get(idx).is_some_and(|(_, side)| *side == Side::Left);
        is_word.then_some("word")
    };
    html! {
        thead { tr {
            @for (idx, (head, _)) in grid.heads().iter().enumerate() {
                th scope="col" class=[side(idx)] { (outside(head)) }
            }
        } }
        tbody { @for row in grid.rows() {
            tr { @for (idx, cell) in row.iter().enumerate() {
                @let tone = cell.tone();
                td class=[side(idx).or_else(|| (tone != Tone::Plain).then(|| label::class(tone)))] {
                    @if side(idx).is_some() { (outside(cell.text())) } @else { (cell.text()) }
                }
            } }
        } }
    }
}
