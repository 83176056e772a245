//! Another base in the page: what depends on the base, made for every system that could be it.
//!
//! Ratios, intervals and verdicts are not computed in the browser: for each other base the parts of the
//! page are rendered here, as the page itself is, and put beside it, compressed. The script takes them
//! from there. Parts are named, and every element of the page that a part fills has its name.

use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::label::outside;
use super::packed::{base64, gzip};
use super::room::Room;
use super::{chart, step, summary, verdict};
use crate::analysis::Analysis;
use crate::many;
use crate::parallel;
use crate::words::one_line;

/// A part of the page that depends on the base.
pub(super) struct Part {
    /// Its name: `ratios-3`.
    pub(super) name: String,
    /// What stands in it.
    pub(super) markup: Markup,
}

impl Part {
    pub(super) fn new(name: impl Into<String>, markup: Markup) -> Self {
        Self { name: name.into(), markup }
    }

    /// The part in the page, in an element of its own.
    pub(super) fn placed(self) -> Markup {
        html! { div data-part=(self.name) { (self.markup) } }
    }

    /// The same within a line.
    pub(super) fn placed_in_line(self) -> Markup {
        html! { span data-part=(self.name) { (self.markup) } }
    }
}

/// What the page says relative to other bases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// Everything.
    All,
    /// All but the steps' details.
    Overview,
}

/// The parts of a page for other bases as the script reads them.
#[derive(Serialize)]
struct Packed<'b> {
    /// Indices of the systems.
    bases: &'b [usize],
    /// Whether the steps' details are among the parts.
    details: bool,
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

/// The other bases of a page; nothing where there is none, or where systems are so many that theirs
/// would have no room.
pub(super) fn others(analysis: &Analysis<'_>, room: &mut Room) -> Others {
    let bases = analysis.other_bases();
    let has_any = !bases.is_empty() && !many::is_many(analysis);
    let Some(packed) = has_any.then(|| packed(analysis, &bases, room)).flatten() else {
        return Others { choice: html! {}, parts: html! {} };
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

/// The parts for `bases`, as deep as there is room; `None` where there is none.
fn packed(analysis: &Analysis<'_>, bases: &[usize], room: &mut Room) -> Option<String> {
    let others: Vec<Analysis<'_>> = parallel::map(bases, |&idx| analysis.rebased(idx));
    [Depth::All, Depth::Overview].into_iter().find_map(|depth| {
        let mut parts: Vec<(String, Vec<String>)> = Vec::new();
        for parts_of_base in parallel::map(&others, |other| of(other, depth)) {
            for (at, part) in parts_of_base.into_iter().enumerate() {
                if parts.len() <= at {
                    parts.push((part.name, Vec::new()));
                }
                parts[at].1.push(part.markup.into_string());
            }
        }
        let packed = Packed { bases, details: depth == Depth::All, parts };
        // Texts and numbers: nothing in it fails to be written.
        room.take(base64(&gzip(&serde_json::to_string(&packed).unwrap_or_default())))
    })
}

/// The parts in the order of the page.
fn of(analysis: &Analysis<'_>, depth: Depth) -> Vec<Part> {
    let mut parts = vec![
        verdict::warned(analysis),
        verdict::part(analysis),
        super::systems_part(analysis),
        summary::part(analysis),
        super::sizes_part(analysis),
        chart::part(analysis),
        super::method_part(analysis),
    ];
    for (at, found) in analysis.steps.iter().enumerate() {
        parts.push(step::chips(analysis, at, found));
        if depth == Depth::All {
            parts.extend(step::parts(analysis, at, found));
        }
    }
    parts
}

/// In each step, where its details may be relative to another base than the rest of the page.
pub(super) fn note(analysis: &Analysis<'_>) -> Markup {
    html! {
        p.other-base hidden { "Relative to " (outside(analysis.base_label())) ", not to the base chosen above." }
    }
}
