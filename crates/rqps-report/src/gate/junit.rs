//! The gate's answer as a JUnit XML file, which CI servers show as tests: one per step and candidate.
//!
//! Slower is a failure, unclear and not reached are skipped, a step without a figure is an error. The
//! form is that of the Ant task, which they all read.

use super::{Gate, Outcome, table};
use crate::analysis::Cell;
use crate::number::ratio_with_interval;
use crate::words::one_line;

/// The file.
#[must_use]
pub fn render(gate: &Gate<'_>) -> String {
    let analysis = gate.analysis;
    let run = analysis.run;
    let n_skipped = gate.n("unclear") + gate.n("not-reached");
    // An unfinished run is an error even where every chosen step has its figure.
    let unfinished = gate.is_unfinished();
    let (n, errors) = (gate.judged.len() + usize::from(unfinished), gate.n("error"));
    let measured_s: f64 = gate.rows().map(|(_, _, cell)| seconds(cell)).sum();
    let counts = format!(
        "tests=\"{n}\" failures=\"{}\" errors=\"{}\" skipped=\"{n_skipped}\" time=\"{measured_s:.3}\"",
        gate.n("slower"),
        errors + usize::from(unfinished)
    );
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!(
        "<testsuites>\n  <testsuite name=\"{}\" hostname=\"{}\" timestamp=\"{}\" {counts}>\n",
        escaped(&format!("rqps gate {}", run.id)),
        escaped(&run.host.hostname),
        timestamp(run.started_unix_ms)
    ));
    out.push_str("    <properties>\n");
    let properties = [
        ("run", run.id.clone()),
        ("base", analysis.base_label().to_owned()),
        ("max_slowdown", analysis.bound.to_string()),
        ("result", gate.passage().word().to_owned()),
    ];
    let severe = analysis.warnings_by_weight().0.iter().map(|text| ("severe", text.clone()));
    for (name, value) in severe.chain(properties) {
        out.push_str(&format!("      <property name=\"{name}\" value=\"{}\"/>\n", escaped(&value)));
    }
    out.push_str("    </properties>\n");
    if unfinished {
        let message = gate.errors().into_iter().next().unwrap_or_default();
        out.push_str(&format!(
            "    <testcase classname=\"rqps\" name=\"the run is finished\" time=\"0\">\n      \
             <error message=\"{}\"/>\n    </testcase>\n",
            escaped(&message)
        ));
    }
    for (judged, step, cell) in gate.rows() {
        let label = analysis.label(judged.system_idx);
        out.push_str(&format!(
            "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
            escaped(label),
            escaped(&step.title),
            seconds(cell)
        ));
        match body(gate, &judged.outcome, cell) {
            Some(body) => out.push_str(&format!(">\n      {body}\n    </testcase>\n")),
            None => out.push_str("/>\n"),
        }
    }
    out.push_str(&format!(
        "    <system-out>{}</system-out>\n  </testsuite>\n</testsuites>\n",
        escaped(&format!("{} {}", gate.sentence(), table::facts(analysis)))
    ));
    out
}

/// What stands inside a test that did not pass.
fn body(gate: &Gate<'_>, outcome: &Outcome, cell: &Cell) -> Option<String> {
    let analysis = gate.analysis;
    let ratio = cell.rqps.map_or_else(String::new, |r| format!("rQPS {}", ratio_with_interval(&r)));
    match outcome {
        Outcome::Slower => {
            let cpu = cell.server_cpu_ratio.map_or_else(String::new, |r| {
                format!(", server CPU per operation {}x", ratio_with_interval(&r))
            });
            let sla = if cell.failed_sla() { ", SLA failed" } else { "" };
            let base = analysis.base_label();
            let message = format!("{ratio} against {base}{sla}{cpu}");
            let marks = crate::csv::footnotes(analysis, cell).join("\n");
            Some(format!(
                "<failure type=\"slower\" message=\"{}\">{}</failure>",
                escaped(&message),
                escaped_lines(&crate::words::lines(&marks))
            ))
        }
        Outcome::Error(reason) => {
            Some(format!("<error type=\"no-figure\" message=\"{}\"/>", escaped(reason)))
        }
        Outcome::Unclear(reason) | Outcome::NotReached(reason) => {
            let ratio = if ratio.is_empty() { ratio } else { format!(", {ratio}") };
            let message = format!("{}{ratio}: {reason}", outcome.word());
            Some(format!("<skipped message=\"{}\"/>", escaped(&message)))
        }
        Outcome::Faster | Outcome::Same => None,
    }
}

/// Measured time of a cell.
fn seconds(cell: &Cell) -> f64 {
    cell.totals.duration_ns as f64 / 1e9
}

/// ISO 8601 without a zone, as the form wants it.
fn timestamp(unix_ms: i64) -> String {
    crate::number::utc(unix_ms).trim_end_matches(" UTC").replace(' ', "T")
}

fn escaped(text: &str) -> String {
    escaped_lines(&one_line(text))
}

/// XML 1.0 has no form for most control characters: those have become U+FFFD before.
fn escaped_lines(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}
