//! Another base in the page: what depends on the base, made for every system that could be it.
//!
//! Ratios, intervals and verdicts are not computed in the browser: for each other base the parts of the
//! page are rendered here, as the page itself is, and put beside it, compressed. The script takes them
//! from there. Parts are named, and every element of the page that a part fills has its name.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::label::outside;
use super::packed::{base64, gzip};
use super::part::BasePart;
use super::room::Room;
use super::{chart, step, summary, verdict};
use rqps_analysis::Analysis;
use rqps_analysis::parallel;
use rqps_report::many;
use rqps_text::words::one_line;

/// What the page says relative to other bases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Everything.
    All,
    /// All but the steps' details.
    Overview,
    /// Verdicts and tables: no charts, either.
    Tables,
}

impl Depth {
    /// From the one that takes most room to the one that takes least.
    const EVERY: [Self; 3] = [Self::All, Self::Overview, Self::Tables];
}

/// Other bases say much alike: packed together each of them takes at least this part of what it takes alone.
const LEAST_PART: usize = 5;

/// The parts of a page for other bases as the script reads them.
#[derive(Serialize)]
struct Packed<'b> {
    /// Indices of the systems.
    bases: &'b [usize],
    /// Whether the steps' details are among the parts.
    details: bool,
    /// Whether the charts are.
    charts: bool,
    /// Name of each part, and what stands in it for each of the bases.
    parts: Vec<(String, Vec<String>)>,
}

/// What is put into the page: the choice, and the parts.
pub(super) struct Others {
    /// The choice of a base, for the head of the page.
    pub(super) choice: Markup,
    /// The parts, for its end.
    pub(super) parts: Markup,
}

/// The other bases of a page; nothing where there is none. Where they have no room, not even in place of the
/// series, the command that takes one stands in place of the choice.
pub(super) fn others(
    analysis: &Analysis<'_>,
    room: &mut Room,
    series: &mut Option<String>,
) -> Others {
    let bases = analysis.other_bases();
    if bases.is_empty() {
        return Others { choice: html! {}, parts: html! {} };
    }
    let Some(packed) = packed(analysis, &bases, room, series) else {
        return Others { choice: no_room(analysis), parts: html! {} };
    };
    let mut choices = bases;
    choices.push(analysis.base);
    choices.sort_unstable();
    Others {
        choice: html! {
            p.base-choice hidden {
                label for="base" { "Base" } " "
                select #base data-own=(analysis.base) {
                    @for idx in choices {
                        option value=(idx) selected[idx == analysis.base] { (one_line(analysis.label(idx))) }
                    }
                }
                " " span #base-told role="status" {}
            }
        },
        // Base64 has no letter that ends a script or needs escaping.
        parts: html! { script type="text/plain" #bases { (PreEscaped(packed)) } },
    }
}

/// That there is no choice, and the command that takes another base.
fn no_room(analysis: &Analysis<'_>) -> Markup {
    let ids = one_line(&analysis.run.id);
    let command = match analysis.joined {
        None => format!("rqps report {ids} --base LABEL --format html"),
        Some(_) => format!("rqps compare {} --base RUN:LABEL --format html", ids.replace('+', " ")),
    };
    html! {
        p.hint {
            "Relative to " (outside(analysis.base_label())) ". This page has no room for other bases; "
            code { (command) } " takes another."
        }
    }
}

/// The parts for `bases`, as deep as there is room; `None` where there is none. Where there is none beside the
/// series, these give theirs to verdicts, tables and charts.
fn packed(
    analysis: &Analysis<'_>,
    bases: &[usize],
    room: &mut Room,
    series: &mut Option<String>,
) -> Option<String> {
    let most = room.left() + series.as_ref().map_or(0, String::len);
    let depths = depths(analysis, bases, most);
    if depths.is_empty() {
        return None;
    }
    let others: Vec<Analysis<'_>> = parallel::map(bases, |&idx| analysis.rebased(idx));
    let mut too_large = Vec::new();
    for depth in depths {
        let text = together(bases, depth, parallel::map(&others, |other| parts(other, depth)));
        if text.len() <= room.left() {
            return room.take(text);
        }
        too_large.push((depth, text));
    }
    let fits = |(depth, text): &(Depth, String)| *depth != Depth::All && text.len() <= most;
    let (_, text) = too_large.into_iter().find(fits)?;
    if let Some(series) = series.take() {
        room.give(&series);
    }
    room.take(text)
}

/// The depths that are worth trying within so many bytes. To say everything of many systems relative to each of
/// them takes long, so that one is tried first.
fn depths(analysis: &Analysis<'_>, bases: &[usize], room: usize) -> Vec<Depth> {
    let Some(first) = bases.first().filter(|_| many::is_many(analysis)) else {
        return Depth::EVERY.to_vec();
    };
    let first = analysis.rebased(*first);
    let may_fit = |depth: &Depth| {
        let alone = together(&bases[..1], *depth, vec![parts(&first, *depth)]).len();
        alone / LEAST_PART * bases.len() <= room
    };
    Depth::EVERY.into_iter().filter(may_fit).collect()
}

/// The parts of all bases, packed.
fn together(bases: &[usize], depth: Depth, of_bases: Vec<Vec<BasePart>>) -> String {
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for of_base in of_bases {
        for (at, part) in of_base.into_iter().enumerate() {
            if parts.len() <= at {
                parts.push((part.name, Vec::new()));
            }
            parts[at].1.push(part.markup.into_string());
        }
    }
    let (details, charts) = (depth == Depth::All, depth != Depth::Tables);
    let packed = Packed { bases, details, charts, parts };
    // Texts and numbers: nothing in it fails to be written.
    base64(&gzip(&serde_json::to_string(&packed).unwrap_or_default()))
}

/// The parts in the order of the page.
fn parts(analysis: &Analysis<'_>, depth: Depth) -> Vec<BasePart> {
    let mut parts = vec![
        verdict::warned(analysis),
        verdict::part(analysis),
        summary::part(analysis),
        super::causes_part(analysis),
        super::systems_part(analysis),
        super::sizes_part(analysis),
    ];
    if depth != Depth::Tables {
        parts.push(chart::part(analysis));
    }
    parts.push(super::method_part(analysis));
    for (at, found) in analysis.steps.iter().enumerate() {
        parts.push(step::chips(analysis, at, found));
        if depth == Depth::All {
            parts.extend(step::parts(analysis, at, found));
            parts.extend(step::repeated_part(analysis, at, found));
        }
    }
    parts
}
