//! What a cell of the Insert Benchmark says beside the others of its step: levels, relative metrics
//! and warnings.

use rqps_model::WarningKind;
use rqps_model::warning::HeldRate;

use super::{InsertCell, Sla, level, trend};
use crate::analysis::Cell;
use crate::analysis::footnote::{Book, CellWarning};

/// What a cell of the Insert Benchmark has beside the base's.
pub(in crate::analysis) fn with_base(cell: &mut Cell, base: &Cell, book: &mut Book) {
    if let (Some(own), Some(base)) = (&mut cell.insert, &base.insert) {
        own.field_relative = Some(own.field.relative_to(&base.field));
    }
    if let Some(sla) = base.sla().filter(|sla| !sla.is_held) {
        let kind = WarningKind::SlaFailedOnBase { rate: held(sla) };
        cell.warnings.push(book.warn(kind));
    }
}

fn held(sla: &Sla) -> HeldRate {
    HeldRate { average_per_s: sla.shown_average(), target_per_s: sla.target_per_s }
}

/// Sets where each figure of a step lies.
pub(in crate::analysis) fn set_levels(cells: &mut [Cell]) {
    let figure = |cell: &Cell| cell.figure.map(|figure| (figure.point, !cell.failed_sla()));
    let figures: Vec<_> = cells.iter().map(figure).collect();
    for (cell, level) in cells.iter_mut().zip(level::levels(&figures)) {
        if let Some(insert) = &mut cell.insert {
            insert.level = level;
        }
    }
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
