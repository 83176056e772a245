//! The probes of a step over the commits in their order.

use maud::{Markup, html};

use rqps_model::Estimate;
use rqps_text::number::{count, ratio_with_interval};
use rqps_text::words::one_line;

use super::{Gap, Probe, Search};
use crate::history::axis::{Axis, Band, Places, px};

/// Height of the drawing, of the room above its points, and of that for the labels below; pixels.
const HEIGHT: usize = 230;
const ABOVE: f64 = 38.0;
const BELOW: f64 = 26.0;

/// Where the room for the labels begins.
const BOTTOM: f64 = HEIGHT as f64 - BELOW;

/// The drawing.
pub(super) fn render(search: &Search, step_idx: usize) -> Markup {
    let good = Estimate { point: 1.0, interval: None, n: 1 };
    let measured = search.probes.iter().filter_map(|probe| probe.ratio(step_idx).copied());
    let values: Vec<Estimate> = measured.chain([good]).collect();
    let axis = Axis::of(&values, Band { top_px: ABOVE, bottom_px: BOTTOM });
    let places = Places { n: search.commits.len() as f64 };
    let n_commits = search.commits.len().saturating_sub(1);
    let described =
        format!("rQPS of {} over {}", search.steps[step_idx], count(n_commits, "commit"));
    html! {
        div.plot-frame {
            svg width="100%" height=(HEIGHT) role="img" aria-label=(one_line(&described)) {
                @for (tick, text) in axis.ticks() {
                    @let y = px(axis.px(tick));
                    line.tick x1="0" x2="100%" y1=(y) y2=(y) {}
                    text.tick-label x="-6" y=(y) { (text) }
                }
                @for (nth, culprit) in search.culprits.iter().enumerate() {
                    (mark(search, step_idx, places, culprit, nth))
                }
                g.point.base {
                    title { "good end" }
                    circle cx=(places.middle(0)) cy=(px(axis.px(1.0))) r="4.5" {}
                }
                @for probe in &search.probes {
                    @if let Some(ratio) = probe.ratio(step_idx) {
                        (dot(search, axis, &places.middle(probe.place), probe, ratio))
                    }
                }
                text.below x="0" y=(HEIGHT - 6) { "good end" }
                text.below x="100%" y=(HEIGHT - 6) text-anchor="end" { "bad end" }
            }
        }
    }
}

/// A culprit: a line from top to bottom with its name; names that follow one another stand in two rows.
fn mark(search: &Search, step_idx: usize, places: Places, culprit: &Gap, nth: usize) -> Markup {
    let Gap { first, last } = *culprit;
    let is_right = first as f64 > 0.6 * places.n;
    let (anchor, dx) = if is_right { ("end", "-5") } else { ("start", "5") };
    let x = places.edge(first);
    let class =
        if is_faster(search, step_idx) { "change higher-change" } else { "change lower-change" };
    html! {
        g class=(class) {
            line x1=(x) x2=(x) y1="0" y2=(px(BOTTOM)) {}
            text x=(x) y=(12 + 14 * (nth % 2)) dx=(dx) text-anchor=(anchor) {
                @if first < last { "one of " (count(last + 1 - first, "commit")) }
                @else if let Some(commit) = search.commits.get(last) { (one_line(&commit.short)) }
            }
        }
    }
}

/// Whether the bad end of a step is faster, by the mean of its probes.
fn is_faster(search: &Search, step_idx: usize) -> bool {
    let last = search.commits.len().saturating_sub(1);
    let of_end = search.probes.iter().filter(|probe| probe.place == last);
    let logs: f64 =
        of_end.filter_map(|probe| probe.ratio(step_idx)).map(|ratio| ratio.point.ln()).sum();
    logs > 0.0
}

fn dot(search: &Search, axis: Axis, x: &str, probe: &Probe, ratio: &Estimate) -> Markup {
    let y = px(axis.px(ratio.point));
    let commit = search.commits.get(probe.place);
    let name = commit.map(|commit| format!("{} {}", commit.short, commit.subject));
    let words = format!(
        "{}: {}, run {}",
        name.unwrap_or_default(),
        ratio_with_interval(ratio),
        probe.run_id
    );
    html! {
        g.point {
            title { (one_line(&words)) }
            @if let Some((low, high)) = ratio.interval {
                line x1=(x) x2=(x) y1=(px(axis.px(low))) y2=(px(axis.px(high))) {}
            }
            circle cx=(x) cy=(y) r="4.5" {}
        }
    }
}
