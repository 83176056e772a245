//! What the rules found, before any words.

use crate::cause::Kind;
use crate::part::TimePart;
use crate::quantity::Quantity;
use crate::reason::Reason;

/// What the rules found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Finding {
    pub(crate) kind: Kind,
    /// The parts that carry the change.
    pub(crate) parts: Vec<TimePart>,
    pub(crate) share: Option<f64>,
    /// The quantities that carry it.
    pub(crate) quantities: Vec<Quantity>,
    /// Why nothing is explained.
    pub(crate) reason: Option<Reason>,
}

impl Finding {
    pub(crate) fn of(kind: Kind, parts: &[TimePart], share: f64) -> Self {
        let parts = parts.to_vec();
        Self { kind, parts, share: Some(share), quantities: Vec::new(), reason: None }
    }

    pub(crate) fn with(self, quantities: Vec<Quantity>) -> Self {
        Self { quantities, ..self }
    }

    pub(crate) fn none(reason: Option<Reason>) -> Self {
        let (parts, quantities) = (Vec::new(), Vec::new());
        Self { kind: Kind::NotExplained, parts, share: None, quantities, reason }
    }
}
