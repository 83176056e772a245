//! Small pieces that all sections use: outside text, ratios with their colours, footnote letters.

use maud::{Markup, html};
use rqps_model::{Estimate, Metric, Verdict};

use rqps_analysis::{Analysis, Cell, CellState};
use rqps_report::comparison;
use rqps_report::layout;
use rqps_report::settle;
use rqps_report::tone::Tone;
use rqps_report::warning;
use rqps_text::number;
use rqps_text::words::one_line;

/// A text of a plan, a server or a user: isolated, so that its direction cannot reorder ours.
pub(super) fn outside(text: &str) -> Markup {
    html! { bdi { (one_line(text)) } }
}

/// A sentence of ours: what it has in backticks is code.
pub(super) fn prose(text: &str) -> Markup {
    let text = one_line(text);
    let parts: Vec<&str> = text.split('`').collect();
    // One without its twin is no mark.
    if parts.len().is_multiple_of(2) {
        return html! { bdi { (text) } };
    }
    html! { bdi {
        @for (at, part) in parts.into_iter().enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (part) }
        }
    } }
}

/// The name of a metric in tables, for the heading that text reports have; any other heading as it is.
pub(super) fn metric(heading: &str) -> &str {
    let of_ours = Metric::ALL.iter().filter(|metric| !Metric::OF_FIELD.contains(metric));
    let known = of_ours.copied().find(|metric| metric.heading() == heading);
    known.map_or(heading, |metric| metric.words())
}

/// The CSS class of a colour.
pub(super) fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Lower => "lower",
        Tone::Higher => "higher",
        Tone::Worst => "worst",
        Tone::Best => "best",
        Tone::Unheld => "unheld",
        Tone::Failed => "failed",
        Tone::Faint => "faint",
        Tone::Plain | Tone::Strong => "even",
    }
}

/// The verdict's sign, which says without colour what the colour says.
pub(super) fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Slower => "▼",
        Verdict::Faster => "▲",
        Verdict::Same => "=",
        Verdict::Unclear => "?",
    }
}

/// The verdict as sign and word.
pub(super) fn verdict(verdict: Verdict) -> Markup {
    html! { span class={ "verdict-word " (verdict.word()) } {
        span.sign aria-hidden="true" { (sign(verdict)) } " " (verdict.word())
    } }
}

/// A cell's verdict, or why it has none.
pub(super) fn judgement(cell: &Cell) -> Markup {
    html! {
        @if let Some(found) = cell.verdict() {
            (verdict(found)) (lean(cell))
            @if let Some(settle) = cell.settle() {
                " " span.settle title={ (settle::words(&settle)) " would settle it" } { (settle::short(&settle)) }
            }
        }
        @else if let Some(bar) = cell.bar() { span.verdict-word.faint { (rqps_report::comparison::bar(bar)) } }
    }
}

/// The direction of a difference beyond chance, where the verdict does not say it.
pub(super) fn lean(cell: &Cell) -> Markup {
    let (sign, word) = match comparison::lean(cell) {
        Some("<") => ("▼", "slower beyond chance"),
        Some(_) => ("▲", "faster beyond chance"),
        None => return html! {},
    };
    html! {
        " " span.lean title=(word) aria-hidden="true" { (sign) }
        span.sr { ", " (word) }
    }
}

/// The colour class of a ratio's cell; paler where the verdict does not confirm the colour.
pub(super) fn ratio_class(cell: &Cell) -> String {
    let Some(ratio) = &cell.rqps() else { return String::new() };
    if cell.is_barred() {
        return class(Tone::Unheld).to_owned();
    }
    let tone = Tone::of_ratio(ratio.point);
    let confirmed = matches!(cell.verdict(), Some(Verdict::Slower | Verdict::Faster));
    format!("{}{}", class(tone), if confirmed || tone == Tone::Plain { "" } else { " pale" })
}

/// `[0.60, 0.64]`, or `n=1`.
pub(super) fn interval(estimate: &Estimate) -> String {
    number::interval(estimate).unwrap_or_else(|| "n=1".to_owned())
}

/// A ratio that the style fills up to three decimals, so that points stand under points.
pub(super) fn ratio(estimate: &Estimate, unit: &str) -> Markup {
    let text = number::ratio(estimate);
    let decimals = text.find('.').map_or(0, |at| text.len() - at - 1);
    html! { span class=[(decimals == 2).then_some("d2")] { (text) (unit) } }
}

/// A figure, or the word that stands for it.
pub(super) fn figure(cell: &Cell) -> Markup {
    match (&cell.state, cell.figure()) {
        (CellState::Failed { .. }, _) => html! { span.failed { "✕ failed" } },
        (CellState::Measured(_), Some(figure)) => html! { (layout::digits(cell, &figure)) },
        _ => html! { span.faint { "not run" } },
    }
}

/// The letters of a cell's footnotes as links to them.
pub(super) fn letters(analysis: &Analysis<'_>, cell: &Cell) -> Markup {
    let notes = analysis.footnotes_of(cell);
    html! {
        @if !notes.is_empty() {
            sup { @for note in notes {
                a href={ "#note-" (note.letter) } title=(one_line(&warning::meaning(&note.kind))) { (note.letter) }
            } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_of_a_sentence_are_code() {
        let shown = |text: &str| prose(text).into_string();
        assert_eq!(
            shown("more loads (`loads`) <b>"),
            "<bdi>more loads (<code>loads</code>) &lt;b&gt;</bdi>"
        );
        assert_eq!(shown("a ` alone"), "<bdi>a ` alone</bdi>");
        assert_eq!(shown("`a` and `b`"), "<bdi><code>a</code> and <code>b</code></bdi>");
    }
}
