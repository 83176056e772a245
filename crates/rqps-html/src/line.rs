//! The lines of a step's charts: what they show, what a point of them is, and which is whose.

use std::borrow::Cow;

use maud::{Markup, html};
use rqps_model::SeriesPoint;

use super::label::outside;
use rqps_analysis::Analysis;

/// What a point of a chart is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PointKind {
    /// A second.
    Second,
    /// A second of its system's own turns.
    OwnSecond,
    /// A block or a slice as a whole, or a second.
    Block,
}

impl PointKind {
    /// Of a line in which some blocks or slices stand for their seconds, or none.
    pub(super) fn of_seconds(is_by_block: bool) -> Self {
        if is_by_block { Self::Block } else { Self::Second }
    }
}

/// What one kind of clients did, second by second.
pub(super) struct Line<'s> {
    /// What is counted: `Queries`.
    pub(super) what: &'static str,
    /// The rate that was asked for, per second.
    pub(super) target: Option<f64>,
    /// What its points are.
    pub(super) kind: PointKind,
    /// From which point to which ratios leave out what was measured, as the host was disturbed.
    pub(super) left_out: Vec<(usize, usize)>,
    /// Index of each system, and per slice its operations in each whole second.
    pub(super) tracks: Vec<(usize, Cow<'s, [Vec<f64>]>)>,
}

/// How long responses of one kind of clients took, second by second.
pub(super) struct Waits<'s> {
    /// Of what, in words.
    pub(super) what: &'static str,
    /// What its points are.
    pub(super) kind: PointKind,
    /// From which point to which ratios leave out what was measured, as the host was disturbed.
    pub(super) left_out: Vec<(usize, usize)>,
    /// Index of each system, and per slice its seconds.
    pub(super) tracks: Vec<(usize, Cow<'s, [Vec<SeriesPoint>]>)>,
}

/// Which line is whose.
pub(super) fn legend(analysis: &Analysis<'_>, systems: impl Iterator<Item = usize>) -> Markup {
    html! {
        ul.legend {
            @for idx in systems {
                li {
                    svg.key width="26" height="10" aria-hidden="true" {
                        line class={ "track t" (idx % 6) } x1="0" x2="26" y1="5" y2="5" {}
                    }
                    (outside(analysis.label(idx)))
                }
            }
        }
    }
}
