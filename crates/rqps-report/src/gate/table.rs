//! The gate's table: one row per step and candidate; and what stands below it.

use super::{warnings, words};
use crate::causes::sentence;
use crate::comparison;
use crate::grid::{Grid, GridCell, Side, plain, toned};
use crate::layout;
use crate::rule::{TEXT_SIGNS, verdict_rule};
use crate::tone::Tone;
use rqps_analysis::gate::{Gate, Outcome};
use rqps_analysis::{Analysis, Cell};
use rqps_text::number;
use rqps_text::words::{NAME_COLUMNS, list_in_short, one_line, shorten};

/// The rows whose outcome is `wanted`; the column of candidates only where there are several.
pub(super) fn grid(gate: &Gate<'_>, wanted: impl Fn(&Outcome) -> bool) -> Grid {
    let analysis = gate.analysis;
    let several = analysis.candidates().nth(1).is_some();
    let mut grid = Grid::new(&[
        ("step", Side::Left),
        ("candidate", Side::Left),
        ("rQPS", Side::Point),
        ("95% interval", Side::Left),
        ("srvcpu/o", Side::Point),
        ("verdict", Side::Left),
        ("", Side::Left),
    ]);
    for (judged, step, cell) in gate.rows().filter(|(j, ..)| wanted(&j.outcome)) {
        let label = if several { analysis.short_label(judged.system_idx) } else { "" };
        grid.row(vec![
            plain(shorten(&step.title, NAME_COLUMNS)),
            plain(label),
            cell.rqps().map_or_else(GridCell::default, |_| layout::rqps(cell)),
            layout::interval(cell),
            layout::server_cpu(cell),
            verdict(cell, &judged.outcome),
            plain(warnings::letters(analysis, step, cell)),
        ]);
    }
    grid
}

/// The outcome's word; with what a verdict leaves open as reports write it: `same <`, `unclear +4 min`.
fn verdict(cell: &Cell, outcome: &Outcome) -> GridCell {
    match outcome {
        Outcome::Slower | Outcome::RateNotHeld | Outcome::Error(_) => {
            toned(words::outcome(outcome), Tone::Strong)
        }
        Outcome::NotReached { .. } => toned(words::outcome(outcome), Tone::Faint),
        Outcome::NotJudged(_) => plain(words::outcome(outcome)),
        Outcome::Unclear(_) | Outcome::Faster | Outcome::Same => {
            plain(comparison::verdict(cell).unwrap_or_else(|| words::outcome(outcome).to_owned()))
        }
    }
}

/// The causes of rows that are slower, and why others are errors, unclear, not judged or not reached, in a
/// sentence for each.
pub(super) fn reasons(gate: &Gate<'_>) -> Vec<String> {
    let analysis = gate.analysis;
    let slower = gate.rows().filter(|(judged, ..)| judged.outcome == Outcome::Slower);
    let causes = slower.filter_map(|(judged, step, cell)| {
        let cause = sentence::of_cell(cell)?;
        let is_named = analysis.candidates().nth(1).is_some();
        let on = if is_named {
            format!(" on {}", analysis.label(judged.system_idx))
        } else {
            String::new()
        };
        Some(format!("slower: {}{on}: {}", step.title, cause))
    });
    let causes: Vec<String> = causes.collect();
    let mut told: Vec<(&str, String, Vec<String>)> = Vec::new();
    for (judged, step, _) in gate.rows() {
        let Some(reason) = words::reason(gate, &judged.outcome) else { continue };
        let label = analysis.label(judged.system_idx);
        // Errors name their system themselves.
        let names_none = matches!(judged.outcome, Outcome::Unclear(_) | Outcome::NotJudged(_));
        let is_named = !names_none || words::noun(gate) == "step";
        let name = if is_named { step.title.clone() } else { format!("{} on {label}", step.title) };
        let word = words::outcome(&judged.outcome);
        match told.iter_mut().find(|(w, r, _)| *w == word && *r == reason) {
            Some((_, _, names)) => names.push(name),
            None => told.push((word, reason, vec![name])),
        }
    }
    let reasons = told
        .into_iter()
        .map(|(word, reason, names)| format!("{word}: {}: {reason}", list_in_short(&names)));
    causes.into_iter().chain(reasons).collect()
}

/// How to read the table, in sentences.
pub(super) fn legend(gate: &Gate<'_>) -> Vec<String> {
    let mut out = vec![verdict_rule(gate.analysis, TEXT_SIGNS)];
    if gate.rows().any(|(_, _, cell)| cell.settle().is_some()) {
        out.push(
            "+ after unclear: how much more measuring would settle it with a chance of 80%."
                .to_owned(),
        );
    }
    if warnings::has_base_warnings(gate) {
        out.push(format!(
            "letters in brackets: warnings of the base {}.",
            one_line(gate.analysis.base_label())
        ));
    }
    out
}

/// The run in a line: id, plan, start, host.
pub(super) fn facts(analysis: &Analysis<'_>) -> String {
    let run = analysis.run;
    let started = number::utc(run.started_unix_ms);
    format!("run {} ({}), {started}, on {}", run.id, run.name, layout::host(analysis))
}
