//! The gate's answer as a JUnit XML file, which CI servers show as tests: one per step and candidate.
//!
//! Slower is a failure. Unclear, not judged and not reached are skipped. A step without a valid result is an
//! error. Whatever prevents a judgement is an error of the file, too: a reader of the file alone must not see a
//! pass. The form is that of the Ant task, which they all read.

use super::{table, warnings, words};
use crate::warning::InWords;
use rqps_analysis::gate::{Gate, Judged, Outcome};
use rqps_analysis::{Cell, StepAnalysis};
use rqps_text::number::ratio_with_interval;
use rqps_text::words::{lines, one_line};

/// The file.
#[must_use]
pub fn render(gate: &Gate<'_>) -> String {
    let analysis = gate.analysis;
    let run = analysis.run;
    let of_run = words::run_errors(gate);
    let n_skipped = gate.counts().unclear + gate.counts().not_judged + gate.counts().not_reached;
    let measured_s: f64 = gate.rows().map(|(_, _, cell)| seconds(cell)).sum();
    let suite = format!(
        "name=\"{}\" hostname=\"{}\" timestamp=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" \
         skipped=\"{n_skipped}\" time=\"{measured_s:.3}\"",
        escaped(&format!("rqps gate {}", run.id)),
        escaped(&run.host.hostname),
        timestamp(run.started_unix_ms),
        gate.judged.len() + of_run.len(),
        gate.counts().slower + gate.counts().sla_failed,
        gate.counts().errors + of_run.len(),
    );
    let mut out = String::from("    <properties>\n");
    let properties = [
        ("run", run.id.clone()),
        ("base", analysis.base_label().to_owned()),
        ("max_slowdown", analysis.judging.bound.to_string()),
        ("result", gate.passage().word().to_owned()),
    ];
    let told = InWords::of(analysis);
    let severe = told.severe.iter().map(|text| ("severe", text.clone()));
    for (name, value) in severe.chain(properties) {
        out.push_str(&format!("      <property name=\"{name}\" value=\"{}\"/>\n", escaped(&value)));
    }
    out.push_str("    </properties>\n");
    for (name, message) in &of_run {
        out.push_str(&of_the_run(name, message));
    }
    for (judged, step, cell) in gate.rows() {
        out.push_str(&test(gate, judged, step, cell));
    }
    let mut said = vec![words::sentence(gate)];
    said.extend(told.before_reading());
    said.extend(told.certainty);
    said.extend(table::legend(gate));
    said.push(table::facts(analysis));
    out.push_str(&format!("    <system-out>{}</system-out>\n", escaped_lines(&said)));
    file(&suite, &out)
}

/// The file where nothing can be judged: no such run, no candidate, no step.
#[must_use]
pub fn of_error(message: &str) -> String {
    let suite =
        "name=\"rqps gate\" tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\" time=\"0\"";
    file(suite, &of_the_run("the run can be judged", message))
}

fn file(suite: &str, body: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite {suite}>\n{body}  \
         </testsuite>\n</testsuites>\n"
    )
}

/// A test of the run as a whole, which it did not pass.
fn of_the_run(name: &str, message: &str) -> String {
    format!(
        "    <testcase classname=\"rqps\" name=\"{}\" time=\"0\">\n      <error type=\"no-judgement\" \
         message=\"{}\"/>\n    </testcase>\n",
        escaped(name),
        escaped(message)
    )
}

/// A step of a candidate, with its warnings whatever came out.
fn test(gate: &Gate<'_>, judged: &Judged, step: &StepAnalysis<'_>, cell: &Cell) -> String {
    let analysis = gate.analysis;
    let facts = warnings::facts(analysis, step, cell);
    let mut body = result(gate, &judged.outcome, cell)
        .map_or_else(String::new, |result| format!("      {result}\n"));
    if !facts.is_empty() {
        body.push_str(&format!("      <system-out>{}</system-out>\n", escaped_lines(&facts)));
    }
    let head = format!(
        "    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3}\"",
        escaped(analysis.label(judged.system_idx)),
        escaped(&step.title),
        seconds(cell)
    );
    if body.is_empty() { head + "/>\n" } else { format!("{head}>\n{body}    </testcase>\n") }
}

/// What stands inside a test that did not pass.
fn result(gate: &Gate<'_>, outcome: &Outcome, cell: &Cell) -> Option<String> {
    let base = gate.analysis.base_label();
    let ratio =
        cell.rqps().map_or_else(String::new, |r| format!("rQPS {}", ratio_with_interval(&r)));
    let reason = words::reason(gate, outcome).unwrap_or_default();
    match outcome {
        Outcome::Slower => {
            let cpu = cell.server_cpu_ratio().map_or_else(String::new, |r| {
                format!(", server CPU per operation {}x", ratio_with_interval(&r))
            });
            let message = escaped(&format!("{ratio} against {base}{cpu}"));
            Some(format!("<failure type=\"slower\" message=\"{message}\"/>"))
        }
        Outcome::RateNotHeld => {
            let message = escaped(&format!(
                "SLA failed: the system did not hold the insert rate, but {base} did"
            ));
            Some(format!("<failure type=\"sla-failed\" message=\"{message}\"/>"))
        }
        Outcome::Error(_) => {
            Some(format!("<error type=\"no-figure\" message=\"{}\"/>", escaped(&reason)))
        }
        Outcome::Unclear(_) | Outcome::NotJudged(_) | Outcome::NotReached { .. } => {
            let ratio = if ratio.is_empty() { ratio } else { format!(", {ratio}") };
            let settle =
                words::to_settle(cell).map_or_else(String::new, |text| format!("; {text}"));
            let message = escaped(&format!("{}{ratio}: {reason}{settle}", words::outcome(outcome)));
            Some(format!("<skipped message=\"{message}\"/>"))
        }
        Outcome::Faster | Outcome::Same => None,
    }
}

/// Measured time of a cell.
fn seconds(cell: &Cell) -> f64 {
    cell.totals().duration_ns as f64 / 1e9
}

/// ISO 8601 without a zone, as the form wants it.
fn timestamp(unix_ms: i64) -> String {
    rqps_text::number::utc(unix_ms).trim_end_matches(" UTC").replace(' ', "T")
}

fn escaped(text: &str) -> String {
    of_xml(&one_line(text))
}

/// Texts with a line each.
fn escaped_lines(texts: &[String]) -> String {
    of_xml(&lines(&texts.join("\n")))
}

/// XML 1.0 has no form for most control characters: those have become U+FFFD before.
fn of_xml(text: &str) -> String {
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
