//! What a cell of the Insert Benchmark says beside the others of its step: levels and
//! warnings.

use rqps_model::WarningKind;
use rqps_model::warning::HeldRate;

use super::{InsertCell, Level, Sla, level, trend};
use crate::analysis::Cell;
use crate::analysis::footnote::{Book, CellWarning};

/// That the base did not hold its rate.
pub(in crate::analysis) fn warning_of_base(
    base: &InsertCell,
    book: &mut Book,
) -> Option<CellWarning> {
    let sla = base.sla.filter(|sla| !sla.is_held)?;
    Some(book.warn(WarningKind::SlaFailedOnBase { rate: held(&sla) }))
}

fn held(sla: &Sla) -> HeldRate {
    HeldRate { average_per_s: sla.shown_average(), target_per_s: sla.target_per_s }
}

/// Where each figure of a step lies among those of all systems.
pub(in crate::analysis) fn levels(cells: &[Cell]) -> Vec<Level> {
    let figure = |cell: &Cell| cell.figure().map(|figure| (figure.point, !cell.failed_sla()));
    level::levels(&cells.iter().map(figure).collect::<Vec<_>>())
}

/// The warnings that only the Insert Benchmark has.
pub(in crate::analysis) fn warnings(own: &InsertCell, book: &mut Book) -> Vec<CellWarning> {
    let mut warnings = Vec::new();
    if let Some(sla) = own.sla.filter(|sla| !sla.is_held) {
        warnings.push(book.warn(WarningKind::SlaFailed { rate: held(&sla) }));
    }
    let flow = own.flows.iter().find(|flow| flow.is_own);
    if let Some(second_half) = flow.and_then(|flow| trend::trend(&flow.seconds, &flow.starts)) {
        warnings.push(book.warn(WarningKind::Trend { second_half }));
    }
    warnings
}
