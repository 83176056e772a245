//! The rate over the slices of a step, second by second, as a small drawing.

use maud::{Markup, html};
use rqps_model::Slice;

use super::label::outside;
use crate::analysis::{Analysis, CellState, StepAnalysis};
use crate::number;

/// Width and height of the drawing's own coordinates; whole numbers keep the page small.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// Points per system in one drawing; longer series are averaged over neighbouring seconds.
const MAX_POINTS: usize = 240;

/// What one kind of clients did, second by second.
pub(super) struct Line<'s> {
    /// What is counted: `Queries`.
    pub(super) what: &'static str,
    /// The rate that was asked for, per second.
    pub(super) target: Option<f64>,
    /// Whether some points are means of blocks in place of seconds.
    pub(super) is_by_block: bool,
    /// Index of each system, and per slice its operations in each whole second.
    pub(super) tracks: Vec<(usize, &'s [Vec<f64>])>,
}

/// One system's rates: per slice its points, each the mean of some seconds.
struct Track {
    idx: usize,
    slices: Vec<Vec<f64>>,
}

/// A drawing's words, and how long a point of it is.
struct Frame {
    caption: String,
    label: String,
    /// Seconds that a point is the mean of; blocks, where `by_block`.
    per_point: usize,
    by_block: bool,
    target: Option<f64>,
}

/// The drawing with its legend; nothing where no slice has two seconds.
pub(super) fn render(analysis: &Analysis<'_>, step: &StepAnalysis<'_>) -> Markup {
    let seconds = longest_total_s(step);
    let per_point = seconds.div_ceil(MAX_POINTS).max(1);
    let order = if analysis.run.schedule.is_interleaved() {
        "Queries per second, block by block"
    } else {
        "Queries per second over the slices"
    };
    let frame = Frame {
        caption: order.to_owned(),
        label: format!("Queries per second of {}", crate::words::one_line(&step.title)),
        per_point,
        by_block: false,
        target: None,
    };
    drawing(analysis, &tracks(step, per_point), &frame)
}

/// The same of one kind of clients, every second of counted time.
pub(super) fn line(analysis: &Analysis<'_>, step: &StepAnalysis<'_>, line: &Line<'_>) -> Markup {
    let total = |slices: &[Vec<f64>]| slices.iter().map(Vec::len).sum::<usize>();
    let seconds = line.tracks.iter().map(|(_, slices)| total(slices)).max().unwrap_or(0);
    let per_point = seconds.div_ceil(MAX_POINTS).max(1);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let tracks: Vec<Track> = line
        .tracks
        .iter()
        .map(|(idx, slices)| Track {
            idx: *idx,
            slices: slices.iter().map(|s| s.chunks(per_point).map(mean).collect()).collect(),
        })
        .collect();
    let target = line.target.map_or_else(String::new, |rate| {
        format!("; dotted: {}, the rate set", number::plain_figure(rate))
    });
    let by = if line.is_by_block { ", block by block" } else { "" };
    let frame = Frame {
        caption: format!("{} per second{by}{target}", line.what),
        label: format!("{} per second of {}", line.what, crate::words::one_line(&step.title)),
        per_point,
        by_block: line.is_by_block,
        target: line.target,
    };
    drawing(analysis, &tracks, &frame)
}

fn drawing(analysis: &Analysis<'_>, tracks: &[Track], frame: &Frame) -> Markup {
    let per_point = frame.per_point;
    let rates = tracks.iter().flat_map(|t| t.slices.iter().flatten()).copied();
    let max = rates.chain(frame.target).fold(0.0, f64::max);
    let longest = tracks.iter().flat_map(|t| t.slices.iter().map(Vec::len)).max().unwrap_or(0);
    if longest < 2 || max <= 0.0 {
        return html! {};
    }
    let n_slices = tracks.iter().map(|t| t.slices.len()).max().unwrap_or(1).max(1);
    let lane = WIDTH / n_slices as f64;
    html! {
        figure.series {
            figcaption {
                (frame.caption)
                @if per_point > 1 { ", means of " (per_point) (if frame.by_block { " blocks" } else { " s" }) }
                ul.legend {
                    @for track in tracks {
                        li {
                            svg.key width="26" height="10" aria-hidden="true" {
                                line class={ "track t" (track.idx % 6) } x1="0" x2="26" y1="5" y2="5" {}
                            }
                            (outside(analysis.label(track.idx)))
                        }
                    }
                }
            }
            div.frame {
                span.top { (number::plain_figure(max)) }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                    aria-label=(frame.label) {
                    @for slice in 1..n_slices {
                        @let x = format!("{:.0}", lane * slice as f64);
                        line.cut x1=(x) x2=(x) y1="0" y2=(HEIGHT) {}
                    }
                    @if let Some(target) = frame.target {
                        @let y = format!("{:.0}", height(target, max));
                        line.target x1="0" x2=(WIDTH) y1=(y) y2=(y) {}
                    }
                    @for track in tracks {
                        @for (at, points) in track.slices.iter().enumerate() {
                            polyline class={ "track t" (track.idx % 6) }
                                points=(polyline(points, (lane * at as f64, lane), longest, max)) {}
                        }
                    }
                }
                span.bottom { "0" }
            }
        }
    }
}

fn measured<'s>(step: &'s StepAnalysis<'_>) -> impl Iterator<Item = (usize, &'s [Slice])> {
    step.step.systems.iter().enumerate().filter_map(|(idx, system)| {
        let is_measured = step.cells.get(idx).is_some_and(|c| c.state == CellState::Measured);
        is_measured.then_some((idx, system.slices.as_slice()))
    })
}

fn longest_total_s(step: &StepAnalysis<'_>) -> usize {
    measured(step).map(|(_, s)| s.iter().map(|s| s.series.len()).sum()).max().unwrap_or(0)
}

/// The last second of a slice is usually not whole, and is left out.
fn tracks(step: &StepAnalysis<'_>, per_point: usize) -> Vec<Track> {
    let points = |slice: &Slice| -> Vec<f64> {
        let whole_s = usize::try_from(slice.duration_ns / 1_000_000_000).unwrap_or(0);
        let series = &slice.series[..slice.series.len().min(whole_s)];
        series
            .chunks(per_point)
            .map(|c| c.iter().map(|p| f64::from(p.queries)).sum::<f64>() / c.len() as f64)
            .collect()
    };
    // Blocks are short and many: their means, one after the other, are the line of a system.
    let track = |slices: &[Slice]| -> Vec<Vec<f64>> {
        if slices.iter().any(|s| s.n_rounds.is_some()) {
            let rate = |s: &Slice| rqps_model::slice::per_second(s.n_queries, s.duration_ns);
            return vec![slices.iter().map(rate).collect()];
        }
        slices.iter().map(points).collect()
    };
    measured(step).map(|(idx, slices)| Track { idx, slices: track(slices) }).collect()
}

/// Where a rate lies in the drawing, from its top.
fn height(rate: f64, max: f64) -> f64 {
    HEIGHT - rate / max * (HEIGHT - 2.0) - 1.0
}

fn polyline(points: &[f64], (left, lane): (f64, f64), longest: usize, max: f64) -> String {
    let inner = lane * 0.98;
    let step = inner / (longest.max(2) - 1) as f64;
    let text: Vec<String> = points
        .iter()
        .enumerate()
        .map(|(i, rate)| {
            format!("{:.0},{:.0}", left + lane * 0.01 + step * i as f64, height(*rate, max))
        })
        .collect();
    text.join(" ")
}
