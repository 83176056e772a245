//! What a cell of the Insert Benchmark says beside the others of its step: levels, relative metrics
//! and reasons for caution.

use super::{InsertCell, Sla, level, trend};
use crate::analysis::Cell;
use crate::analysis::footnote::{Book, CellMark, FootnoteKind};
use crate::number;

/// What a cell of the Insert Benchmark has beside the base's.
pub(in crate::analysis) fn with_base(cell: &mut Cell, base: &Cell, book: &mut Book) {
    if let (Some(own), Some(base)) = (&mut cell.insert, &base.insert) {
        own.field_relative = Some(own.field.relative_to(&base.field));
    }
    if let Some(sla) = base.sla().filter(|sla| !sla.is_held) {
        cell.marks.push(book.mark(FootnoteKind::SlaFailedOnBase, held(sla)));
    }
}

/// `812 of 1000 inserts/s`.
fn held(sla: &Sla) -> String {
    let [average, target] = [sla.shown_average(), sla.target_per_s].map(number::plain_figure);
    format!("{average} of {target} inserts/s")
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

/// The reasons for caution that only the Insert Benchmark has.
pub(in crate::analysis) fn marks(own: &InsertCell, book: &mut Book) -> Vec<CellMark> {
    let mut marks = Vec::new();
    if let Some(sla) = own.sla.filter(|sla| !sla.is_held) {
        marks.push(book.mark(FootnoteKind::SlaFailed, held(&sla)));
    }
    let flow = own.flows.iter().find(|flow| flow.is_own);
    if let Some(ratio) = flow.and_then(|flow| trend::trend(&flow.seconds, &flow.starts)) {
        let detail = format!("second half {} of the first", number::plain_ratio(ratio));
        marks.push(book.mark(FootnoteKind::Trend, detail));
    }
    marks
}
