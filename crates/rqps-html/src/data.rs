//! The figures as data, one click away: files inside the page, which need neither script nor network.

use maud::{Markup, html};

use super::label::outside;
use super::packed::{base64, gzip};
use super::room::Room;
use rqps_analysis::Analysis;
use rqps_report::{csv, json};
use rqps_text::number;
use rqps_text::words::one_line;

/// A file for the page.
pub(super) struct File {
    ending: &'static str,
    what: &'static str,
    /// Bytes of the file itself.
    length: usize,
    packed: String,
}

/// The files, packed.
pub(super) fn files(analysis: &Analysis<'_>) -> [File; 2] {
    let file = |ending, what, text: String| File {
        ending,
        what,
        length: text.len(),
        packed: base64(&gzip(&text)),
    };
    [
        file("csv", "One row per step, number of clients and system", csv::render(analysis)),
        file("json", "Everything in this report, by a published schema", json::render(analysis)),
    ]
}

/// The section. A file that has no room is left out: the command that writes it stands in its place.
pub(super) fn render(analysis: &Analysis<'_>, files: [File; 2], room: &mut Room) -> Markup {
    let run = analysis.run;
    let files = files.map(|file| (file.ending, file.what, file.length, room.take(file.packed)));
    html! {
        section #data aria-labelledby="data-title" {
            h2 #data-title { "Raw data" }
            p { "Relative to " strong { (outside(analysis.base_label())) } ", with all digits." }
            ul.data {
                @for (ending, what, length, packed) in &files { li {
                    @if let Some(packed) = packed {
                        a download={ (file_name(&run.id)) "." (ending) ".gz" }
                            href={ "data:application/gzip;base64," (packed) } {
                            (ending.to_uppercase())
                        }
                        span.unit { (number::bytes(*length as u64)) ", gzip" }
                        ": " (what) "."
                    } @else {
                        (ending.to_uppercase()) ", " (number::bytes(*length as u64)) ": " (what) "; "
                        code { (command(analysis, ending)) } " writes it."
                    }
                } }
                @if analysis.joined.is_none() { li {
                    "Every slice, window and second: "
                    code { "rqps runs export " (one_line(&run.id)) " --format csv" }
                    ", or " code { "json" } ", or " code { "parquet" } "."
                } }
            }
        }
    }
}

/// The command that writes the same in a format.
pub(super) fn command(analysis: &Analysis<'_>, format: &str) -> String {
    let run = analysis.run;
    let Some(joined) = analysis.joined else {
        let base = if analysis.base == run.base {
            String::new()
        } else {
            format!(" --base {}", rqps_report::command::shown(analysis.base_label()))
        };
        return format!("rqps report {}{base} --format {format}", one_line(&run.id));
    };
    let ids = run.id.replace('+', " ");
    let base = rqps_report::command::shown(joined.name(analysis.base));
    format!("rqps compare {} --base {base} --format {format}", one_line(&ids))
}

/// The id of a run as the name of a file.
fn file_name(id: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    id.chars().map(|c| if is_safe(c) { c } else { '_' }).take(100).collect()
}
