//! Parts of the page that depend on the base, and the words on a base that is not theirs.

use maud::{Markup, html};

use super::label::outside;
use rqps_analysis::Analysis;

/// A part of the page that depends on the base.
pub(super) struct BasePart {
    /// Its name: `ratios-3`.
    pub(super) name: String,
    /// What stands in it.
    pub(super) markup: Markup,
}

impl BasePart {
    pub(super) fn new(name: impl Into<String>, markup: Markup) -> Self {
        Self { name: name.into(), markup }
    }

    /// The part in the page, in an element of its own.
    pub(super) fn placed(self) -> Markup {
        html! { div data-part=(self.name) { (self.markup) } }
    }

    /// The same within a line.
    pub(super) fn placed_in_line(self) -> Markup {
        html! { span data-part=(self.name) { (self.markup) } }
    }
}

/// In each step and above the charts, where these may be relative to another base than the rest of the page.
pub(super) fn note(analysis: &Analysis<'_>) -> Markup {
    html! {
        p.other-base hidden { "Relative to " (outside(analysis.base_label())) ", not to the base chosen above." }
    }
}
