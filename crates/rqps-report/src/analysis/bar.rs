//! Why a ratio has no verdict, although it has an interval: what it compares is not the same work, or the
//! rate was set.

use super::Cell;

/// The share of starts that may be missed where a set rate counts as held, as of the field's SLA.
const MOST_MISSED: f64 = 0.05;

/// What stands in a verdict's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bar {
    /// The rate of background inserts was not held, here or on the base.
    Sla,
    /// A check of the step's work failed, here or on the base.
    Check,
    /// Events came at a set rate that both held: their number says nothing, their response times do.
    Rate,
}

impl Bar {
    /// What stands in the verdict's place.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Sla => "SLA failed",
            Self::Check => "check failed",
            Self::Rate => "rate held",
        }
    }

    /// What bars a candidate's cell beside the base's.
    pub(super) fn of(cell: &Cell, base: &Cell) -> Option<Self> {
        let either = |wanted: fn(&Cell) -> bool| wanted(cell) || wanted(base);
        if either(|c| c.failed_checks().next().is_some()) {
            return Some(Self::Check);
        }
        if either(Cell::failed_sla) {
            return Some(Self::Sla);
        }
        (held_rate(cell) && held_rate(base)).then_some(Self::Rate)
    }
}

/// Whether all that is counted came at a set rate, and nearly all of it came.
fn held_rate(cell: &Cell) -> bool {
    let all = cell.lateness.as_ref().filter(|_| cell.insert.is_none());
    all.is_some_and(|l| l.n_due > 0 && l.n_missed as f64 <= l.n_due as f64 * MOST_MISSED)
}
