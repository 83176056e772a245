//! Warnings of a ratio: those of the candidate, and those of the base.

use crate::csv;
use rqps_analysis::gate::Gate;
use rqps_analysis::{Analysis, Cell, StepAnalysis};
use rqps_model::WarningKind;

use crate::{places, warning};

/// The base's cell of a step.
fn base<'s>(analysis: &Analysis<'_>, step: &'s StepAnalysis<'_>) -> Option<&'s Cell> {
    step.cells.get(analysis.base)
}

/// The letters of a row, those on the base in brackets: `ac (b)`.
pub(super) fn letters(analysis: &Analysis<'_>, step: &StepAnalysis<'_>, cell: &Cell) -> String {
    let own = analysis.letters(cell);
    let of_base = base(analysis, step).map_or_else(String::new, |cell| analysis.letters(cell));
    match (own.is_empty(), of_base.is_empty()) {
        (_, true) => own,
        (true, false) => format!("({of_base})"),
        (false, false) => format!("{own} ({of_base})"),
    }
}

/// The same with their facts: `a client-bound: 96% of their CPUs`, `b developed: on the base, second
/// half 0.80 of the first`.
pub(super) fn facts(analysis: &Analysis<'_>, step: &StepAnalysis<'_>, cell: &Cell) -> Vec<String> {
    let of_base = base(analysis, step).map_or_else(Vec::new, |cell| csv::footnotes(analysis, cell));
    let on_base = of_base.into_iter().map(|text| text.replacen(": ", ": on the base, ", 1));
    csv::footnotes(analysis, cell).into_iter().chain(on_base).collect()
}

/// The footnotes of the rows, as letter and meaning; how much it is in each place is in the report.
pub(super) fn footnotes<'g>(gate: &'g Gate<'_>) -> impl Iterator<Item = (&'g str, String)> {
    let analysis = gate.analysis;
    let notes = analysis.footnotes.iter().enumerate();
    notes.filter(move |(idx, _)| is_used(gate, *idx)).map(|(idx, note)| {
        let meaning = format!("{}: {}", note.kind.key(), warning::meaning(&note.kind));
        let text = if is_incomplete_without_facts(&note.kind) {
            format!("{meaning}: {}", places::list(analysis, idx).join("; "))
        } else {
            meaning
        };
        (note.letter.as_str(), text)
    })
}

/// Whether the meaning of a kind alone tells little.
fn is_incomplete_without_facts(kind: &WarningKind) -> bool {
    matches!(
        kind,
        WarningKind::ImportedFault { .. }
            | WarningKind::HostSuspended { .. }
            | WarningKind::ClockSet { .. }
            | WarningKind::StartedAgain
            | WarningKind::BulkLoad { .. }
    )
}

/// Whether any row has letters in brackets.
pub(super) fn has_base_warnings(gate: &Gate<'_>) -> bool {
    let analysis = gate.analysis;
    gate.rows()
        .any(|(_, step, _)| base(analysis, step).is_some_and(|cell| !cell.warnings.is_empty()))
}

fn is_used(gate: &Gate<'_>, footnote_idx: usize) -> bool {
    let has = |cell: &Cell| cell.warnings.iter().any(|own| own.footnote_idx == footnote_idx);
    gate.rows().any(|(_, step, cell)| has(cell) || base(gate.analysis, step).is_some_and(has))
}
