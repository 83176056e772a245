//! Charts as files of their own: an SVG per group of steps, dots with whiskers, for posts and slides.
//!
//! Every shape says itself what it looks like, without a style sheet, so that programs other than browsers
//! draw it, too. Letters are those of any sans-serif font.

use std::ops::Range;

use maud::{Markup, html};
use rqps_model::{Estimate, Group, Verdict};

use crate::dot::dot;
use crate::scale::Scale;
use rqps_analysis::{Analysis, Cell, CellState, GROUPS, StepAnalysis};
use rqps_report::comparison;
use rqps_report::many;
use rqps_text::number;
use rqps_text::values::MANY;
use rqps_text::words::{clip, shorten};

/// Width of a chart, and of its parts from left to right, pixels.
const WIDTH: usize = 960;
const NAMES: usize = 250;
const PLOT: usize = 510;

/// Heights: of the title, of a line of the legend and of the axis, and of one whisker, pixels.
const TITLE: usize = 34;
const LINE: usize = 20;
const LANE: usize = 18;

/// Room between steps, pixels.
const GAP: usize = 8;

/// Colours that differ for people who see few, on white.
const INK: &str = "#1c2126";
const MUTED: &str = "#59626c";
const GRID: &str = "#d9dcd8";
const BAND: &str = "#eef0ec";
const LOWER: &str = "#a06a00";
const HIGHER: &str = "#1763ab";

/// One chart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chart {
    /// Name of the file without its ending: `point-queries`.
    pub name: String,
    /// The SVG.
    pub svg: String,
}

/// The charts of a run: one for each group of steps that has a ratio.
#[must_use]
pub fn render(analysis: &Analysis<'_>) -> Vec<Chart> {
    let scale = Scale::of(analysis);
    let chart = |group: Group| {
        let has_ratio = |s: &&StepAnalysis<'_>| s.cells.iter().any(|c| c.rqps().is_some());
        let steps: Vec<&StepAnalysis<'_>> = analysis.steps_of(group).filter(has_ratio).collect();
        (!steps.is_empty()).then(|| Chart {
            name: group.title().to_lowercase().replace(' ', "-"),
            svg: svg(analysis, scale, group, &steps),
        })
    };
    GROUPS.into_iter().filter_map(chart).collect()
}

fn svg(analysis: &Analysis<'_>, scale: Scale, group: Group, steps: &[&StepAnalysis<'_>]) -> String {
    let candidates: Vec<usize> = analysis.candidates().collect();
    // Many systems have their names beside their lanes, in place of a legend.
    let is_many = many::is_many(analysis);
    let (head, legend_lines) = if is_many { (LINE, 0) } else { (0, candidates.len()) };
    let row = head + LANE * candidates.len() + GAP;
    let top = TITLE + LINE * (legend_lines + 1);
    let bottom = top + row * steps.len();
    let height = bottom + 2 * LINE;
    let base = shorten(analysis.base_label(), 60);
    let title = format!("{}: QPS relative to {base}", group.title());
    let sure = if analysis.is_all_imported() {
        "imported, n=1: no intervals".to_owned()
    } else {
        format!(
            "whisker: 95% interval; band: 1 ± {}",
            number::exact_percent(analysis.judging.bound)
        )
    };
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(WIDTH) height=(height)
            viewBox=(format!("0 0 {WIDTH} {height}")) font-family="DejaVu Sans, Helvetica, Arial, sans-serif"
            font-size="12" fill=(INK) {
            title { (title) }
            rect width=(WIDTH) height=(height) fill="#ffffff" {}
            text x="12" y="22" font-size="15" font-weight="bold" { (title) }
            @if !is_many { (legend(analysis, &candidates)) }
            (frame(analysis, scale, top..bottom))
            @for (at, step) in steps.iter().enumerate() {
                @let y = top + at * row;
                line x1="12" x2=(WIDTH - 12) y1=(y) y2=(y) stroke=(GRID) stroke-width="0.5" {}
                @if is_many { (names(analysis, &step.title, &candidates, y)) }
                @else { (name(&step.title, y + row / 2 + 4)) }
                (lanes(scale, step, &candidates, y + head))
            }
            text x="12" y=(height - 10) fill=(MUTED) font-size="11" {
                "right of 1 is faster; " (sure) "; run " (clip(&analysis.run.id, 60))
            }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", picture.into_string())
}

fn legend(analysis: &Analysis<'_>, candidates: &[usize]) -> Markup {
    html! {
        @for (lane, &idx) in candidates.iter().enumerate() {
            @let y = TITLE + LINE * lane + 10;
            g transform=(format!("translate(20 {y})")) fill=(MUTED) { (dot(lane)) }
            text x="32" y=(y + 4) { (shorten(analysis.label(idx), 100)) }
        }
    }
}

/// The band of the bound, the grid and its values.
fn frame(
    analysis: &Analysis<'_>,
    scale: Scale,
    Range { start: top, end: bottom }: Range<usize>,
) -> Markup {
    let (low, high) =
        (x_of(scale, 1.0 - analysis.judging.bound), x_of(scale, 1.0 + analysis.judging.bound));
    let height = bottom - top;
    html! {
        rect x=(px(low)) y=(top) width=(px(high - low)) height=(height) fill=(BAND) {}
        @for tick in scale.ticks() {
            @let x = px(x_of(scale, tick));
            @let is_one = (tick - 1.0).abs() < 1e-9;
            line x1=(x) x2=(x) y1=(top) y2=(bottom) stroke=(if is_one { INK } else { GRID }) {}
            text x=(x) y=(top - 6) text-anchor="middle" fill=(MUTED) font-size="11" { (tick) }
        }
    }
}

/// The name of a step in the middle of its lanes.
fn name(title: &str, middle: usize) -> Markup {
    html! { text x=(NAMES - 10) y=(middle) text-anchor="end" { (shorten(title, 34)) } }
}

/// The name of a step above its lanes, and those of the systems beside them.
fn names(analysis: &Analysis<'_>, title: &str, candidates: &[usize], y: usize) -> Markup {
    html! {
        text x="12" y=(y + LINE - 4) font-weight="bold" { (shorten(title, 100)) }
        @for (lane, &idx) in candidates.iter().enumerate() {
            text x=(NAMES - 10) y=(middle(y + LINE, lane) + 4) text-anchor="end" font-size="11" {
                (analysis.short_label(idx))
            }
        }
    }
}

/// The lanes of a step below `y`.
fn lanes(scale: Scale, step: &StepAnalysis<'_>, candidates: &[usize], y: usize) -> Markup {
    // Beside names all have one mark.
    let is_named = candidates.len() > MANY;
    html! {
        @for (lane, &idx) in candidates.iter().enumerate() {
            @let y = middle(y, lane);
            @if let Some(cell) = step.cells.get(idx) {
                @if let Some(ratio) = &cell.rqps() {
                    (whisker(scale, (cell, ratio), (if is_named { 0 } else { lane }, y)))
                }
                text x=(NAMES + PLOT + 14) y=(y + 4) font-size="11" { (value(cell)) }
            }
        }
    }
}

/// The middle of a lane of those below `y`.
fn middle(y: usize, lane: usize) -> usize {
    y + GAP / 2 + LANE * lane + LANE / 2
}

/// `0.68 [0.66, 0.70] slower`, `0.68 n=1`, or with what stands in a verdict's way.
fn value(cell: &Cell) -> String {
    let Some(ratio) = &cell.rqps() else {
        let is_failed = matches!(cell.state, CellState::Failed { .. });
        return if is_failed { "failed" } else { "not measured" }.to_owned();
    };
    let barred = || cell.bar().map_or("", comparison::bar);
    let said = cell.verdict().map_or_else(barred, Verdict::word);
    let gap = if said.is_empty() { "" } else { " " };
    format!("{}{gap}{said}", number::ratio_with_interval(ratio))
}

/// Dot and whisker; an end outside the axis is an arrow's head.
fn whisker(scale: Scale, (cell, ratio): (&Cell, &Estimate), (lane, y): (usize, usize)) -> Markup {
    let colour = match cell.verdict() {
        Some(Verdict::Slower) => LOWER,
        Some(Verdict::Faster) => HIGHER,
        _ => MUTED,
    };
    let (left, right) = (NAMES as f64 + 2.0, (NAMES + PLOT) as f64 - 2.0);
    let ends = ratio.interval.map(|(low, high)| (x_of(scale, low), x_of(scale, high)));
    html! {
        g fill=(colour) stroke=(colour) {
            @if let Some((low, high)) = ends {
                line x1=(px(low.max(left))) x2=(px(high.min(right))) y1=(y) y2=(y) stroke-width="1.5" {}
                @for (end, head) in [(low, "M5,-4L0,0L5,4"), (high, "M-5,-4L0,0L-5,4")] {
                    @let is_outside = end < left || end > right;
                    g transform=(format!("translate({} {y})", px(end.clamp(left, right)))) {
                        path d=(if is_outside { head } else { "M0,-4V4" }) fill="none" stroke-width="1.5" {}
                    }
                }
            }
            @let at = format!("translate({} {y})", px(x_of(scale, ratio.point)));
            // One that has no verdict as it is not the same work is hollow.
            @if cell.is_barred() { g transform=(at) fill="#ffffff" { (dot(lane)) } }
            @else { g transform=(at) stroke="none" { (dot(lane)) } }
        }
    }
}

fn x_of(scale: Scale, ratio: f64) -> f64 {
    NAMES as f64 + scale.percent(ratio) / 100.0 * PLOT as f64
}

/// A position as SVG writes it.
fn px(value: f64) -> String {
    format!("{value:.1}")
}
