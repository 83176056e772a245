//! The rate over the slices of a step, second by second, as a small drawing.

use std::borrow::Cow;
use std::collections::BTreeSet;

use maud::{Markup, html};
use rqps_model::{SeriesPoint, Slice};

use super::insert;
use super::line::{Line, PointKind, legend};
use super::own_slices::{OwnSlices, are_blocks};
use rqps_analysis::{Analysis, StepAnalysis};
use rqps_text::number;

/// Width and height of the drawing's own coordinates; whole numbers keep the page small.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// Points per system in one drawing; longer series are averaged over neighbouring seconds, and their
/// slowest second is drawn beside the mean: a stall of one second is no more than a dent in that.
const MAX_POINTS: usize = 240;

/// Points of all drawings of a page together, and fewest in one track: what large runs have for them.
const DRAWN_POINTS: usize = 15_000;
const FEWEST_POINTS: usize = 60;

/// What a step's charts show: queries, or of clients of several kinds what each does. Points that a ratio
/// to the system `base` leaves out are known of queries alone.
pub(super) fn lines<'s>(step: &'s StepAnalysis<'_>, base: usize) -> Vec<Line<'s>> {
    let of_roles = insert::lines(step);
    if !of_roles.is_empty() {
        return of_roles;
    }
    let turns = own_slices(step);
    let tracks =
        measured(step).map(|(idx, slices)| (idx, Cow::Owned(rates(slices, &turns)))).collect();
    vec![Line {
        what: "Queries",
        target: None,
        kind: turns.kind(),
        left_out: left_out(step, base, &turns),
        tracks,
    }]
}

/// How the blocks of a step's systems are cut into points.
pub(super) fn own_slices(step: &StepAnalysis<'_>) -> OwnSlices {
    OwnSlices::of(measured(step).map(|(_, slices)| slices))
}

/// The points of the base's blocks that the ratio of some candidate leaves out.
fn left_out(step: &StepAnalysis<'_>, base: usize, turns: &OwnSlices) -> Vec<(usize, usize)> {
    let compared = step.cells.iter().filter_map(|cell| cell.comparison());
    let blocks: BTreeSet<(u32, u32)> =
        compared.flat_map(|comparison| comparison.left_out.iter().copied()).collect();
    let of_base = measured(step).find(|(idx, _)| *idx == base);
    of_base.map_or_else(Vec::new, |(_, slices)| turns.spans(slices, &blocks))
}

/// The drawings of a step; the script puts charts that can be zoomed in their place.
pub(super) fn render(analysis: &Analysis<'_>, at: usize, step: &StepAnalysis<'_>) -> Markup {
    let n_tracks: usize = analysis.steps.iter().map(|s| s.cells.len()).sum();
    let max_points = (DRAWN_POINTS / n_tracks.max(1)).clamp(FEWEST_POINTS, MAX_POINTS);
    html! {
        div.charts data-charts=(at) {
            @for line in lines(step, analysis.base) { (draw(analysis, step, &line, max_points)) }
        }
    }
}

/// One system's rates: per slice its points, each the mean of some seconds.
struct Track {
    idx: usize,
    slices: Vec<Vec<f64>>,
    /// The slowest second of each point; empty where a point is one second.
    lows: Vec<Vec<f64>>,
}

impl Track {
    /// The rates of each slice's seconds (or blocks), so many to a point.
    fn of(idx: usize, slices: &[Vec<f64>], per_point: usize) -> Self {
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let low = |part: &[f64]| part.iter().copied().fold(f64::INFINITY, f64::min);
        let points = |of: &dyn Fn(&[f64]) -> f64| -> Vec<Vec<f64>> {
            slices.iter().map(|slice| slice.chunks(per_point).map(of).collect()).collect()
        };
        let lows = if per_point > 1 { points(&low) } else { Vec::new() };
        Self { idx, slices: points(&mean), lows }
    }
}

/// Seconds (or blocks) that a point stands for, so that the longest track has at most so many points.
fn seconds_per_point<'t>(tracks: impl Iterator<Item = &'t [Vec<f64>]>, max_points: usize) -> usize {
    let seconds = tracks.map(|slices| slices.iter().map(Vec::len).sum::<usize>()).max();
    seconds.unwrap_or(0).div_ceil(max_points).max(1)
}

/// A drawing's words, and how long a point of it is.
struct Frame {
    caption: String,
    label: String,
    /// Seconds or blocks, as `kind` says, that a point is the mean of.
    per_point: usize,
    kind: PointKind,
    left_out: Vec<(usize, usize)>,
    target: Option<f64>,
}

/// A line's drawing with its legend; nothing where no slice has two seconds.
fn draw(
    analysis: &Analysis<'_>,
    step: &StepAnalysis<'_>,
    line: &Line<'_>,
    max_points: usize,
) -> Markup {
    let per_point = seconds_per_point(line.tracks.iter().map(|(_, slices)| &**slices), max_points);
    let tracks: Vec<Track> =
        line.tracks.iter().map(|(idx, slices)| Track::of(*idx, slices, per_point)).collect();
    let target = line.target.map_or_else(String::new, |rate| {
        format!("; dotted: {}, the rate set", number::plain_figure(rate))
    });
    let by = match line.kind {
        PointKind::Second => "",
        PointKind::OwnSecond => " of its own slices",
        PointKind::Block => ", block by block",
    };
    let shaded = if line.left_out.is_empty() {
        ""
    } else {
        "; shaded: blocks of a disturbed host, which ratios leave out"
    };
    let frame = Frame {
        caption: format!("{} per second{by}{target}{shaded}", line.what),
        label: format!("{} per second of {}", line.what, rqps_text::words::one_line(&step.title)),
        per_point,
        kind: line.kind,
        left_out: line.left_out.clone(),
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
                @if per_point > 1 { (points(frame)) }
                (legend(analysis, tracks.iter().map(|track| track.idx)))
            }
            div.frame {
                span.top { (number::plain_figure(max)) }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                    aria-label=(frame.label) {
                    @for span in &frame.left_out {
                        @let (x, width) = band(*span, (lane, longest, per_point));
                        rect.left-out x=(x) y="0" width=(width) height=(HEIGHT) {}
                    }
                    @if n_slices > 1 { path.cut d=(cuts(n_slices, lane)) {} }
                    @if let Some(target) = frame.target {
                        @let y = format!("{:.0}", height(target, max));
                        line.target x1="0" x2=(WIDTH) y1=(y) y2=(y) {}
                    }
                    @for track in tracks.iter().filter(|track| !track.lows.is_empty()) {
                        path class={ "track t" (track.idx % 6) " low" }
                            d=(paths(&track.lows, lane, longest, max)) {}
                    }
                    @for track in tracks {
                        path class={ "track t" (track.idx % 6) }
                            d=(paths(&track.slices, lane, longest, max)) {}
                    }
                }
                span.bottom { "0" }
            }
        }
    }
}

/// The slices of each system that has a figure.
pub(super) fn measured<'s>(
    step: &'s StepAnalysis<'_>,
) -> impl Iterator<Item = (usize, &'s [Slice])> {
    step.step.systems.iter().enumerate().filter_map(|(idx, system)| {
        let is_measured = step.cells.get(idx).is_some_and(|c| c.state.is_measured());
        is_measured.then_some((idx, system.slices.as_slice()))
    })
}

/// What a point is, where it is more than one second or block.
fn points(frame: &Frame) -> String {
    let (unit, one) = match frame.kind {
        PointKind::Second | PointKind::OwnSecond => ("s", "second"),
        PointKind::Block => ("blocks", "block"),
    };
    format!("; means of {} {unit}, thin: the slowest {one} of each", frame.per_point)
}

/// Queries in each second of each slice. The last second of a slice is usually not whole, and is left
/// out. Blocks are short and many: one after the other they are the line of a system.
fn rates(slices: &[Slice], turns: &OwnSlices) -> Vec<Vec<f64>> {
    if are_blocks(slices) {
        return vec![turns.rates(slices)];
    }
    let seconds = |slice: &Slice| -> Vec<f64> {
        whole_seconds(slice).iter().map(|point| f64::from(point.queries)).collect()
    };
    slices.iter().map(seconds).collect()
}

/// The points of a slice's whole seconds.
pub(super) fn whole_seconds(slice: &Slice) -> &[SeriesPoint] {
    let whole_s = usize::try_from(slice.duration_ns / 1_000_000_000).unwrap_or(0);
    &slice.series[..slice.series.len().min(whole_s)]
}

/// Where a rate lies in the drawing, from its top.
fn height(rate: f64, max: f64) -> f64 {
    HEIGHT - rate / max * (HEIGHT - 2.0) - 1.0
}

/// The lines between slices, as one path.
fn cuts(n_slices: usize, lane: f64) -> String {
    (1..n_slices).map(|slice| format!("M{:.0} 0V{HEIGHT}", lane * slice as f64)).collect()
}

/// The lines of a track's slices, each in its lane, as one path: elements of their own would take more than
/// their points.
fn paths(slices: &[Vec<f64>], lane: f64, longest: usize, max: f64) -> String {
    let places = slices.iter().enumerate();
    places
        .map(|(at, points)| {
            path(points, Lane { left: lane * at as f64, width: lane }, longest, max)
        })
        .collect()
}

/// How far neighbouring points of a lane are apart.
fn spacing(lane: f64, longest: usize) -> f64 {
    lane * 0.98 / (longest.max(2) - 1) as f64
}

/// Left edge and width of what lies from one second (or block) of the first lane to another.
fn band(
    (from, to): (usize, usize),
    (lane, longest, per_point): (f64, usize, usize),
) -> (String, String) {
    let edge = |second: usize| {
        let point = second as f64 / per_point as f64 - 0.5;
        (lane * 0.01 + spacing(lane, longest) * point).clamp(0.0, lane)
    };
    (format!("{:.0}", edge(from)), format!("{:.0}", (edge(to) - edge(from)).max(1.0)))
}

/// Where a system's line is drawn.
struct Lane {
    left: f64,
    width: f64,
}

/// A line as a path whose points are told by their distance from the one before: a third shorter.
fn path(points: &[f64], Lane { left, width }: Lane, longest: usize, max: f64) -> String {
    let step = spacing(width, longest);
    let mut out = String::new();
    let mut before = (0.0, 0.0);
    for (i, rate) in points.iter().enumerate() {
        let to = ((left + width * 0.01 + step * i as f64).round(), height(*rate, max).round());
        let by = (to.0 - before.0, to.1 - before.1);
        match i {
            0 => out.push_str(&format!("M{} {}", by.0, by.1)),
            1 => out.push_str(&format!("l{} {}", by.0, by.1)),
            _ => out.push_str(&format!(" {} {}", by.0, by.1)),
        }
        before = to;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_band_lies_around_its_points() {
        // Eleven points, 98 apart from 10 on: the third and fourth.
        assert_eq!(band((2, 4), (1000.0, 11, 1)), ("157".to_owned(), "196".to_owned()));
        // The same seconds where points are of two each.
        assert_eq!(band((4, 8), (1000.0, 11, 2)), ("157".to_owned(), "196".to_owned()));
        assert_eq!(band((0, 11), (1000.0, 11, 1)), ("0".to_owned(), "1000".to_owned()));
    }

    #[test]
    fn a_stall_of_a_second_is_seen_among_many() {
        let mut seconds = vec![1000.0; 1920];
        seconds[777] = 0.0;
        let slices = [seconds, vec![1000.0; 30]];
        let per_point = seconds_per_point([&slices[..]].into_iter(), MAX_POINTS);
        assert_eq!(per_point, 9);
        let track = Track::of(0, &slices, per_point);
        let lowest = |rates: &[Vec<f64>]| rates.iter().flatten().copied().fold(1e9, f64::min);
        assert!(lowest(&track.slices) > 850.0 && lowest(&track.lows) < 1.0);
        assert_eq!((track.lows[0].len(), track.lows[1].len()), (214, 4));
        // A point for each second says it all.
        assert!(Track::of(0, &slices[1..], 1).lows.is_empty());
    }
}
