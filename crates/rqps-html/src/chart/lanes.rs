//! Charts of many systems: in each step of a group a lane for each of them, with its name beside it.
//!
//! Nothing has to be told apart by shape or colour, however many systems there are. The geometric means of the
//! group come first.

use maud::{Markup, html};
use rqps_model::{Estimate, Group};

use super::{NumberedStep, Row, axis, height, middle, pct, value};
use crate::dot::dot;
use crate::label::outside;
use crate::scale::Scale;
use rqps_analysis::{Analysis, Cell, GroupSummary};
use rqps_text::number::{self, count};
use rqps_text::words::one_line;

/// A name longer than this has no room in its column, letters: it is told by a title, too.
const NAME: usize = 28;

/// The mark of all systems, and that of means.
const DOT: usize = 0;
const MEAN: usize = 2;

/// The figure of a group and its steps.
pub(super) fn figure(
    analysis: &Analysis<'_>,
    scale: Scale,
    group: Group,
    steps: &[NumberedStep<'_>],
    candidates: &[usize],
) -> Markup {
    html! {
        figure.chart.lanes {
            figcaption { (group.title()) }
            (axis(scale))
            (means(analysis, scale, group, candidates))
            ul.rows {
                @for step in steps { (row(analysis, scale, *step, candidates)) }
            }
        }
    }
}

/// The geometric mean of each system over the steps of a group; nothing where each has but one.
fn means(analysis: &Analysis<'_>, scale: Scale, group: Group, candidates: &[usize]) -> Markup {
    let of_group: Vec<&GroupSummary> =
        analysis.groups.iter().filter(|summary| summary.group == group).collect();
    if of_group.iter().all(|summary| summary.n_steps < 2) {
        return html! {};
    }
    let mean = |idx: usize| of_group.iter().find(|summary| summary.system_idx == idx);
    html! {
        ul.rows { li {
            span.name { "Geometric mean of the group" }
            (names(analysis, candidates))
            svg.plot width="100%" height=(height(candidates.len())) aria-hidden="true" {
                use href="#band" width="100%" height="100%" {}
                @for (lane, &idx) in candidates.iter().enumerate() {
                    @if let Some(summary) = mean(idx) {
                        g.whisker.even {
                            svg.dot x=(pct(scale.percent(summary.geometric_mean))) y=(middle(lane)) {
                                (dot(MEAN))
                            }
                        }
                    }
                }
            }
            span.values { @for &idx in candidates {
                span.value {
                    (whose(analysis, idx))
                    @if let Some(summary) = mean(idx) {
                        strong { (number::plain_ratio(summary.geometric_mean)) }
                        span.range { " of " (count(summary.n_steps, "step")) }
                    } @else { span.faint { "–" } }
                }
            } }
        } }
    }
}

/// A step with a lane for each of the systems.
fn row(
    analysis: &Analysis<'_>,
    scale: Scale,
    step: NumberedStep<'_>,
    candidates: &[usize],
) -> Markup {
    let cells: Vec<&Cell> = candidates.iter().filter_map(|&idx| step.step.cells.get(idx)).collect();
    let drawn = |lane: usize, ratio: &Estimate, colour: &str| whisker(scale, ratio, lane, colour);
    let values = html! {
        @for (&idx, cell) in candidates.iter().zip(&cells) {
            span.value { (whose(analysis, idx)) (value(analysis, cell)) }
        }
    };
    Row { step, cells: &cells, names: names(analysis, candidates), values }.framed(&drawn)
}

/// The names of the lanes for those who see them beside one another; the values have them for those who do not.
fn names(analysis: &Analysis<'_>, candidates: &[usize]) -> Markup {
    html! {
        span.names aria-hidden="true" {
            @for &idx in candidates {
                @let label = analysis.label(idx);
                @let is_long = label.chars().count() > NAME;
                span.value title=[is_long.then(|| one_line(label))] { (outside(label)) }
            }
        }
    }
}

fn whose(analysis: &Analysis<'_>, idx: usize) -> Markup {
    html! { span.sr { (outside(analysis.label(idx))) ": " } }
}

/// Dot and whisker of a lane as plainly as can be, as there are thousands; an end outside the axis is an arrow.
fn whisker(scale: Scale, ratio: &Estimate, lane: usize, colour: &str) -> Markup {
    let ends = ratio.interval.map(|(low, high)| (scale.percent(low), scale.percent(high)));
    let y = middle(lane);
    html! {
        g class={ "whisker " (colour) } {
            @if let Some((low, high)) = ends {
                line x1=(pct(low.max(0.5))) x2=(pct(high.min(99.5))) y1=(y) y2=(y) {}
                @for (end, arrow) in [(low, "M5,-4L0,0L5,4"), (high, "M-5,-4L0,0L-5,4")] {
                    @if !(0.5..=99.5).contains(&end) {
                        svg.end x=(pct(end.clamp(0.5, 99.5))) y=(y) { path d=(arrow) {} }
                    }
                }
            }
            svg.dot x=(pct(scale.percent(ratio.point))) y=(y) { (dot(DOT)) }
        }
    }
}
