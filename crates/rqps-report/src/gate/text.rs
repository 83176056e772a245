//! The gate's answer for a terminal or the log of a CI job.

use super::{table, warnings, words};
use crate::tone::Tone;
use crate::warning::InWords;
use rqps_analysis::gate::Gate;
use rqps_text::words::{one_line, wrap};

/// The answer, the table, reasons and warnings, in lines of at most `width` columns; `colour` is for terminals that
/// want it.
#[must_use]
pub fn render(gate: &Gate<'_>, colour: bool, width: usize) -> String {
    let line = |first: &str, text: &str| wrap(first, text, width) + "\n";
    let mut out = String::new();
    let told = InWords::of(gate.analysis);
    for warning in &told.severe {
        out.push_str(&line("! ", warning));
    }
    let answer = wrap("", &format!("{}: {}", gate.passage().word(), words::sentence(gate)), width);
    let strong = if colour { (Tone::Strong.ansi(), "\u{1b}[0m") } else { ("", "") };
    out.push_str(&format!("{}{answer}{}\n", strong.0, strong.1));
    for warning in &told.others {
        out.push_str(&line("! ", warning));
    }
    out.push('\n');
    out.push_str(&table::grid(gate, |_| true).fitted(width).render_text(colour));
    out.push('\n');
    for reason in table::reasons(gate) {
        out.push_str(&line("- ", &reason));
    }
    for (letter, text) in warnings::footnotes(gate) {
        out.push_str(&line(&format!("{letter}  "), &text));
    }
    for text in table::legend(gate) {
        out.push_str(&line("", &text));
    }
    out.push_str("\nHow sure this is\n");
    for text in &told.certainty {
        out.push_str(&line("- ", text));
    }
    out.push('\n');
    out.push_str(&line("", &table::facts(gate.analysis)));
    out.push_str(&format!("in full: rqps report {} --full\n", one_line(&gate.analysis.run.id)));
    out
}
