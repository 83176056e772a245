//! Flame graphs as SVG that a page holds: frames in percent of the width, names cut by their frame.
//!
//! Without a script the title of every frame has its numbers, and the whole graph can be read. With
//! [`SCRIPT`] a click widens a frame to the whole graph, and a line below the graph has the numbers
//! of the frame under the pointer. Keys and taps do the same, and names can be searched. The page
//! adds [`STYLE`], which has both themes.

use maud::{Markup, html};

use crate::function::{Change, Presence};
use crate::layout::{Frame, layout};
use crate::perf_text::KERNEL;
use crate::time::{signed_us, us};
use crate::tree::CallTree;

/// The style of flame graphs, for a page that has some.
pub const STYLE: &str = include_str!("flame/style.css");

/// The script for clicks, keys, taps and searches.
pub const SCRIPT: &str = include_str!("flame/script.js");

/// Height of a row, CSS pixels; a frame leaves one of them free.
const ROW_PX: usize = 18;

/// Frames narrower than this have no text: it could not be read. Percent of the width.
const TEXT_FROM_PCT: f64 = 1.2;

/// Shares of the largest difference from which on a colour is one step stronger.
const STRONGER_FROM: [f64; 3] = [0.07, 0.2, 0.5];

/// A flame graph to draw.
#[derive(Debug, Clone, Copy)]
pub struct Flame<'a> {
    /// The frames.
    pub tree: &'a CallTree,
    /// Microseconds per operation of a sample: base, candidate; of one system, itself and 0.
    pub us_per_sample: [f64; 2],
    /// Whether it is a differential one.
    pub is_pair: bool,
    /// The word for an operation: `query`.
    pub operation: &'a str,
    /// Frames below this share of the width are excluded.
    pub least_share: f64,
    /// A description of the graph for screen readers.
    pub label: &'a str,
}

/// The graph as SVG; empty where nothing was sampled.
#[must_use]
pub fn svg(flame: Flame<'_>) -> Markup {
    let frames = layout(flame.tree, flame.us_per_sample, flame.least_share);
    let Some(root) = frames.first() else { return html! {} };
    let total_us = root.width_us;
    let rows = frames.iter().map(|frame| frame.depth).max().unwrap_or(0) + 1;
    let largest_us = frames.iter().map(|f| f.all.difference_us().abs()).fold(0.0, f64::max);
    html! {
        svg.flame role="img" aria-label=(flame.label) width="100%" height=(rows * ROW_PX) {
            @for frame in &frames {
                @let width = frame.width_us / total_us * 100.0;
                svg x=(percent(frame.x_us / total_us * 100.0)) y=(frame.depth * ROW_PX)
                    width=(percent(width)) height=(ROW_PX - 1) {
                    title { (title(&flame, frame)) }
                    rect class=(class(&flame, frame, &Scale { largest_us, width_pct: width, n_frames: frames.len() })) width="100%" height="100%" {}
                    @if width >= TEXT_FROM_PCT { text x="3" y="12.5" { (text(&flame, frame)) } }
                }
            }
        }
    }
}

fn percent(value: f64) -> String {
    format!("{value:.3}%")
}

/// What stands in the frame: a sign for what only one side has, which needs no colour.
fn text(flame: &Flame<'_>, frame: &Frame) -> String {
    match frame.presence {
        _ if !flame.is_pair => frame.name.clone(),
        Presence::Both => frame.name.clone(),
        Presence::New => format!("+ {}", frame.name),
        Presence::Vanished => format!("− {}", frame.name),
    }
}

/// The name in the first line, then the numbers.
fn title(flame: &Flame<'_>, frame: &Frame) -> String {
    let operation = flame.operation;
    if !flame.is_pair {
        return format!(
            "{}\n{} µs/{operation} inclusive, {} own",
            frame.name,
            us(frame.all.base_us),
            us(frame.own.base_us)
        );
    }
    let side = |change: &Change| {
        format!(
            "{} → {} µs/{operation} ({} ± {})",
            us(change.base_us),
            us(change.candidate_us),
            signed_us(change.difference_us()),
            us(change.half_width_us)
        )
    };
    let mut title = format!("{}\ninclusive {}", frame.name, side(&frame.all));
    if frame.own.base_us + frame.own.candidate_us > 0.0 {
        title.push_str(&format!("\nown {}", side(&frame.own)));
    }
    if frame.presence != Presence::Both {
        title.push('\n');
        title.push_str(frame.presence.word());
    }
    title
}

/// What a frame is drawn against.
struct Scale {
    /// The largest difference of all frames.
    largest_us: f64,
    /// The frame's width.
    width_pct: f64,
    n_frames: usize,
}

/// The colour: of one system, by whose code it is; of two, by the inclusive difference, as far as it is
/// more than sampling alone explains.
fn class(flame: &Flame<'_>, frame: &Frame, scale: &Scale) -> String {
    if frame.depth == 0 {
        return "z".to_owned();
    }
    if !flame.is_pair {
        return if frame.name.ends_with(KERNEL) {
            "k".to_owned()
        } else if frame.name.starts_with('[') {
            "b".to_owned()
        } else {
            format!("u{}", hue(&frame.name))
        };
    }
    let difference_us = frame.all.difference_us();
    let strength = 1 + STRONGER_FROM
        .iter()
        .filter(|from| difference_us.abs() >= **from * scale.largest_us)
        .count();
    let mut class = if !frame.all.is_beyond_chance(scale.n_frames) {
        "z".to_owned()
    } else if difference_us > 0.0 {
        format!("m{strength}")
    } else {
        format!("l{strength}")
    };
    match frame.presence {
        // An edge would hide a frame that is no wider than two of them.
        _ if scale.width_pct < TEXT_FROM_PCT => {}
        Presence::Both => {}
        Presence::New => class.push_str(" new"),
        Presence::Vanished => class.push_str(" gone"),
    }
    class
}

/// One of three shades, the same for the same name, so that neighbours can be told apart.
fn hue(name: &str) -> u32 {
    name.bytes().fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte))) % 3
}

/// The meaning of the colours.
#[must_use]
pub fn legend(is_pair: bool) -> Markup {
    let entry = |class: &str, words: &str| {
        html! { li { svg.flame.swatch width="18" height="12" { rect class=(class) width="100%" height="100%" {} } (words) } }
    };
    html! {
        ul.legend {
            @if is_pair {
                (entry("m4", "more CPU per operation (inclusive)"))
                (entry("l4", "less"))
                (entry("z", "no difference beyond sampling"))
                (entry("m2 new", "+ new: only on the candidate"))
                (entry("l2 gone", "− vanished: only on the base"))
            } @else {
                (entry("u0", "the server and its libraries"))
                (entry("b", "code without a symbol"))
                (entry("k", "the kernel"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
