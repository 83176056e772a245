//! The gate's answer as a comment of a merge request: open results in a table, the rest folded
//! away.

use super::{table, warnings, words};
use crate::grid::escape_markdown;
use crate::warning::InWords;
use rqps_analysis::gate::{Gate, Outcome};
use rqps_text::number::count;

/// The comment.
#[must_use]
pub fn render(gate: &Gate<'_>) -> String {
    let analysis = gate.analysis;
    let mut out = String::new();
    let told = InWords::of(analysis);
    for warning in &told.severe {
        out.push_str(&format!("> **Warning:** {}\n\n", escape_markdown(warning)));
    }
    out.push_str(&format!("### rqps gate: {}\n\n", gate.passage().word()));
    let mut paragraph = |text: &str| {
        if !text.is_empty() {
            out.push_str(text);
            out.push_str("\n\n");
        }
    };
    paragraph(&format!("**{}**", escape_markdown(&words::sentence(gate))));
    for warning in &told.others {
        paragraph(&format!("> **Warning:** {}", escape_markdown(warning)));
    }
    let is_open = |outcome: &Outcome| !matches!(outcome, Outcome::Same | Outcome::Faster);
    let open = table::grid(gate, is_open);
    if !open.is_empty() {
        paragraph(open.render_markdown().trim_end());
    }
    paragraph(&list(table::reasons(gate)));
    let rest = table::grid(gate, |outcome| !is_open(outcome));
    if !rest.is_empty() {
        let n = gate.counts().faster + gate.counts().same;
        let n = count(n, words::noun(gate));
        paragraph(&format!("<details><summary>{n} faster or the same</summary>"));
        paragraph(rest.render_markdown().trim_end());
        paragraph("</details>");
    }
    paragraph(&list(warnings::footnotes(gate).map(|(letter, text)| format!("{letter} {text}"))));
    paragraph(&format!(
        "rQPS: QPS of the candidate / QPS of {}; above 1 is faster. srvcpu/o: server CPU per operation \
         relative to the base. {}",
        escape_markdown(analysis.base_label()),
        escape_markdown(&table::legend(gate).join(" "))
    ));
    paragraph("<details><summary>How sure this is</summary>");
    paragraph(&list(&told.certainty));
    paragraph("</details>");
    let id = escape_markdown(&analysis.run.id);
    out.push_str(&format!(
        "{}. In full: rqps report {id} --full\n",
        escape_markdown(&table::facts(analysis))
    ));
    out
}

/// Texts as a list, escaped; empty without any.
fn list(texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let items: Vec<String> =
        texts.into_iter().map(|text| format!("- {}", escape_markdown(text.as_ref()))).collect();
    items.join("\n")
}
