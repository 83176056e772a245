//! Dots with whiskers: the rQPS of every step on one axis for all groups.
//!
//! A chart is a list of rows of text with a small drawing in each, so that labels keep their size on
//! a phone and a reader without pictures still gets every number.

mod lanes;

use maud::{Markup, html};
use rqps_model::{Estimate, Verdict};

use super::filter;
use super::label::{self, outside};
use super::part::{self, BasePart};
use super::scale::Scale;
use crate::dot::dot;
use rqps_analysis::{Analysis, Cell, GROUPS, StepAnalysis};
use rqps_report::comparison;
use rqps_report::many;
use rqps_report::tone::Tone;
use rqps_text::number;

/// Height of one whisker in a row, CSS pixels; the style's lines of values are as high.
const LANE_PX: usize = 18;

/// The section. What another base changes in it is a part.
pub(super) fn render(analysis: &Analysis<'_>) -> Markup {
    html! {
        section #charts aria-labelledby="charts-title" {
            h2 #charts-title { "Charts of relative QPS" }
            fieldset.filter #chart-order hidden {
                legend { "Order" }
                label { input type="radio" name="order" value="suite" checked; " as the suite" }
                label { input type="radio" name="order" value="effect"; " by effect, losses first" }
            }
            (part::note(analysis))
            (part(analysis).placed())
        }
    }
}

/// The charts with what explains them.
pub(super) fn part(analysis: &Analysis<'_>) -> BasePart {
    BasePart::new("charts", charts(analysis))
}

fn charts(analysis: &Analysis<'_>) -> Markup {
    let scale = Scale::of(analysis);
    let candidates: Vec<usize> = analysis.candidates().collect();
    let is_many = many::is_many(analysis);
    let has_ratio = |s: &StepAnalysis<'_>| s.cells.iter().any(|c| c.rqps().is_some());
    html! {
            @if !analysis.steps.iter().any(has_ratio) {
                p { "No step has a ratio to draw." }
            } @else {
                p {
                    "A dot is the rQPS, its whisker the 95% interval; left of the line is slower. "
                    "The band is 1 ± " (number::exact_percent(analysis.judging.bound)) "; the axis is logarithmic."
                }
                @if !is_many { (legend(analysis, &candidates)) }
                svg.defs width="0" height="0" aria-hidden="true" {
                    symbol #band overflow="visible" { (band(analysis, scale)) }
                }
                @for group in GROUPS {
                    @let steps: Vec<NumberedStep<'_>> = analysis
                        .steps.iter().enumerate()
                        .filter(|(_, s)| s.group() == group && has_ratio(s))
                        .map(|(at, step)| NumberedStep { at, step }).collect();
                    @if !steps.is_empty() && is_many {
                        (lanes::figure(analysis, scale, group, &steps, &candidates))
                    } @else if !steps.is_empty() {
                        figure.chart {
                            figcaption { (group.title()) }
                            (axis(scale))
                            ul.rows {
                                @for step in &steps { (row(analysis, scale, *step, &candidates)) }
                            }
                        }
                    }
                }
            }
    }
}

fn legend(analysis: &Analysis<'_>, candidates: &[usize]) -> Markup {
    html! {
        @if candidates.len() > 1 {
            ul.legend aria-label="Systems" {
                @for (lane, &idx) in candidates.iter().enumerate() {
                    li {
                        svg.key width="14" height="14" aria-hidden="true" {
                            svg.dot x="7" y="7" { (dot(lane)) }
                        }
                        (outside(analysis.label(idx)))
                    }
                }
            }
        }
    }
}

fn axis(scale: Scale) -> Markup {
    html! {
        div.axis aria-hidden="true" {
            span {}
            svg.plot width="100%" height="18" {
                @for tick in scale.ticks() {
                    text x=(pct(scale.percent(tick))) y="12" text-anchor="middle" { (tick) }
                }
            }
            span {}
        }
    }
}

/// The bound's band, the grid and the line at 1: drawn once, used behind every row.
fn band(analysis: &Analysis<'_>, scale: Scale) -> Markup {
    let (low, high) = (1.0 - analysis.judging.bound, 1.0 + analysis.judging.bound);
    let width = scale.percent(high) - scale.percent(low);
    html! {
        rect.band x=(pct(scale.percent(low))) y="0" width=(pct(width)) height="100%" {}
        @for tick in scale.ticks() {
            @let x = pct(scale.percent(tick));
            @let is_one = (tick - 1.0).abs() < 1e-9;
            line class=(if is_one { "one" } else { "tick" }) x1=(x) x2=(x) y1="0" y2="100%" {}
        }
    }
}

/// A step, and its place among all steps of the report.
#[derive(Clone, Copy)]
struct NumberedStep<'a> {
    at: usize,
    step: &'a StepAnalysis<'a>,
}

fn row(
    analysis: &Analysis<'_>,
    scale: Scale,
    step: NumberedStep<'_>,
    candidates: &[usize],
) -> Markup {
    let cells: Vec<&Cell> = candidates.iter().filter_map(|&idx| step.step.cells.get(idx)).collect();
    let drawn = |lane: usize, ratio: &Estimate, colour: &str| {
        whisker(scale, ratio, (lane, middle(lane)), colour)
    };
    let values = html! { @for cell in &cells { span.value { (value(analysis, cell)) } } };
    Row { step, cells: &cells, names: html! {}, values }.framed(&drawn)
}

/// The row of a step.
struct Row<'a> {
    step: NumberedStep<'a>,
    /// One per lane.
    cells: &'a [&'a Cell],
    /// What stands before the drawing.
    names: Markup,
    /// What stands behind it.
    values: Markup,
}

impl Row<'_> {
    /// The row, with what `drawn` makes of each lane's ratio and colour.
    fn framed(&self, drawn: &dyn Fn(usize, &Estimate, &str) -> Markup) -> Markup {
        let Self { step: NumberedStep { at, step }, cells, names, values } = self;
        html! {
            li class=(filter::classes(step).trim_start()) data-step=(at) data-group=(step.group().title())
                data-effect=[effect(cells)] {
                a.name href={ "#step-" (at) } { (outside(&step.title)) }
                (names)
                svg.plot width="100%" height=(height(cells.len())) aria-hidden="true" {
                    use href="#band" width="100%" height="100%" {}
                    @for (lane, cell) in cells.iter().enumerate() {
                        @if let Some(ratio) = &cell.rqps() { (drawn(lane, ratio, colour(cell))) }
                    }
                }
                span.values { (values) }
            }
        }
    }
}

/// Height of a row of so many lanes, CSS pixels.
fn height(n_lanes: usize) -> usize {
    LANE_PX * n_lanes + 8
}

/// The middle of a lane, from the top of its row.
fn middle(lane: usize) -> usize {
    lane * LANE_PX + LANE_PX / 2 + 4
}

/// What the charts can be ordered by: the mean logarithm of a step's ratios, in thousandths.
fn effect(cells: &[&Cell]) -> Option<String> {
    let logs: Vec<f64> = cells.iter().filter_map(|c| Some(c.rqps()?.point.ln())).collect();
    let mean = logs.iter().sum::<f64>() / logs.len() as f64;
    mean.is_finite().then(|| format!("{:.0}", mean * 1000.0))
}

fn value(analysis: &Analysis<'_>, cell: &Cell) -> Markup {
    html! {
        @if let Some(ratio) = &cell.rqps() {
            strong { (number::ratio(ratio)) }
            span.range { " " (label::interval(ratio)) }
            @if let Some(verdict) = cell.verdict() {
                span class={ "sign " (verdict.word()) } title=(verdict.word()) { " " (label::sign(verdict)) }
                span.sr { " " (verdict.word()) }
            } @else if let Some(bar) = cell.bar() {
                " " (comparison::bar(bar))
            }
        } @else { (label::figure(cell)) }
        // Links in lines this close would be too small to hit; the table has them.
        @let letters = analysis.letters(cell);
        @if !letters.is_empty() { sup { (letters) } }
    }
}

/// Confirmed losses and gains have the table's colours, everything else is grey.
fn colour(cell: &Cell) -> &'static str {
    match cell.verdict() {
        Some(Verdict::Slower) => label::class(Tone::Lower),
        Some(Verdict::Faster) => label::class(Tone::Higher),
        _ => label::class(Tone::Plain),
    }
}

/// Dot and whisker at height `y`; an end outside the axis becomes an arrow.
fn whisker(scale: Scale, ratio: &Estimate, (lane, y): (usize, usize), colour: &str) -> Markup {
    let ends = ratio.interval.map(|(low, high)| (scale.percent(low), scale.percent(high)));
    html! {
        g class={ "whisker " (colour) } {
            @if let Some((low, high)) = ends {
                line x1=(pct(low.max(0.5))) x2=(pct(high.min(99.5))) y1=(y) y2=(y) {}
                @for (end, path) in [(low, "M5,-4L0,0L5,4"), (high, "M-5,-4L0,0L-5,4")] {
                    @let is_outside = !(0.5..=99.5).contains(&end);
                    svg.end x=(pct(end.clamp(0.5, 99.5))) y=(y) {
                        path d=(if is_outside { path } else { "M0,-4V4" }) {}
                    }
                }
            }
            svg.dot x=(pct(scale.percent(ratio.point))) y=(y) { (dot(lane)) }
        }
    }
}

/// A position as SVG writes it.
fn pct(value: f64) -> String {
    format!("{value:.2}%")
}
