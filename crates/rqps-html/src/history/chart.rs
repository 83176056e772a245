//! Points with whiskers along versions or time, levels between changes, changes marked.
//!
//! Horizontal places are percentages and vertical ones pixels, so that texts and dots keep their size
//! on every screen.

use maud::{Markup, html};

use super::axis::{Axis, Band, Places, px};
use rqps_analysis::history::{Change, History, Order, Point, Series, levels};
use rqps_model::Estimate;
use rqps_report::history::text::{interval, value};
use rqps_report::history::words::change_in_short;
use rqps_text::number::utc;
use rqps_text::words::one_line;

/// Height of a drawing, of the room above its points with and without changes, and of that for the
/// labels below; pixels.
const HEIGHT: usize = 210;
const ABOVE: (f64, f64) = (34.0, 8.0);
const BELOW: f64 = 26.0;

/// Widths that labels below a drawing must have room in: of a page and of a phone; pixels.
const WIDTHS: [f64; 2] = [640.0, 260.0];

/// Digits of a commit below a drawing: as many as git shows.
const DIGITS: usize = 7;

/// Width of a character of such a label, and the space between two; pixels.
const CHARACTER: f64 = 6.5;
const SPACE: f64 = 12.0;

/// The drawing.
pub(super) fn render(history: &History, series: &Series) -> Markup {
    let above = if series.changes.is_empty() { ABOVE.1 } else { ABOVE.0 };
    let bottom = HEIGHT as f64 - BELOW;
    let values: Vec<Estimate> = series.points.iter().map(|point| point.value).collect();
    let axis = Axis::of(&values, Band { top_px: above, bottom_px: bottom });
    let place = Places { n: series.points.len() as f64 };
    let labels: Vec<String> = series.points.iter().map(|p| label(history, p)).collect();
    let described = format!(
        "{} of {}: {}",
        rqps_report::history::text::unit(series),
        series.title,
        rqps_text::number::count(series.points.len(), "point")
    );
    html! {
        div.plot-frame {
            svg width="100%" height=(HEIGHT) role="img" aria-label=(one_line(&described)) {
                @for (tick, text) in axis.ticks() {
                    @let y = px(axis.px(tick));
                    line.tick x1="0" x2="100%" y1=(y) y2=(y) {}
                    // In the room that the style leaves beside the drawing.
                    text.tick-label x="-6" y=(y) { (text) }
                }
                @for (from, to, level) in levels(series) {
                    @let y = px(axis.px(level));
                    line.level x1=(place.edge(from)) x2=(place.edge(to)) y1=(y) y2=(y) {}
                }
                @for (nth, change) in series.changes.iter().enumerate() {
                    (mark(place, change, nth, bottom))
                }
                @for (at, point) in series.points.iter().enumerate() {
                    (dot(series, point, &place.middle(at), axis))
                }
                @for (at, text) in labels.iter().enumerate() {
                    @if let Some(class) = room(&labels, at) {
                        text class=(class) x=(place.middle(at)) y=(HEIGHT - 6) text-anchor="middle" {
                            (text)
                        }
                    }
                }
            }
        }
    }
}

/// A change: a line from top to bottom with its size; sizes that follow one another stand in two rows.
fn mark(place: Places, change: &Change, nth: usize, bottom: f64) -> Markup {
    let class =
        if change.size.point < 1.0 { "change lower-change" } else { "change higher-change" };
    let is_right = change.at as f64 > 0.6 * place.n;
    let (anchor, dx) = if is_right { ("end", "-5") } else { ("start", "5") };
    let x = place.edge(change.at);
    html! {
        g class=(class) {
            line x1=(x) x2=(x) y1="0" y2=(px(bottom)) {}
            text x=(x) y=(12 + 14 * (nth % 2)) dx=(dx) text-anchor=(anchor) {
                (change_in_short(&change.size))
            }
        }
    }
}

fn dot(series: &Series, point: &Point, x: &str, axis: Axis) -> Markup {
    let y = px(axis.px(point.value.point));
    let words = format!(
        "{}, {}, run {}: {} {}",
        point.server,
        point.label,
        point.run_id,
        value(series, point),
        interval(series, point)
    );
    let class = match (point.is_base, point.warnings.is_empty()) {
        (true, _) => "point base",
        (false, true) => "point",
        (false, false) => "point marked",
    };
    html! {
        g class=(class) {
            title { (one_line(&words)) }
            @if let Some((low, high)) = point.value.interval {
                line x1=(x) x2=(x) y1=(px(axis.px(low))) y2=(px(axis.px(high))) {}
            }
            circle cx=(x) cy=(y) r="4.5" {}
        }
    }
}

/// What stands below a point: its commit, its version, or its day.
fn label(history: &History, point: &Point) -> String {
    match (history.order, &point.commit, &point.version) {
        (Order::Version, Some(commit), _) => commit.name.chars().take(DIGITS).collect(),
        (Order::Version, None, Some(version)) => version.to_string(),
        _ => utc(point.started_unix_ms).get(5..10).unwrap_or_default().to_owned(),
    }
}

/// Whether a label has room on every screen, on a page only, or nowhere.
fn room(labels: &[String], at: usize) -> Option<&'static str> {
    let longest = labels.iter().map(|l| l.chars().count()).max().unwrap_or(1) as f64;
    let fits = |width: f64| {
        let most = (width / (longest * CHARACTER + SPACE)).floor().max(1.0);
        let every = (labels.len() as f64 / most).ceil();
        // Labels stand at every so many points from the first on.
        (at as f64 % every).abs() < 0.5
    };
    // A label that repeats the one before it says nothing new.
    if at > 0 && labels[at] == labels[at - 1] {
        return None;
    }
    match WIDTHS.map(fits) {
        [_, true] => Some("below"),
        [true, false] => Some("below page-only"),
        [false, false] => None,
    }
}
