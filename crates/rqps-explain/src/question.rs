//! A verdict to explain, with all that is known of it.

use rqps_model::{Figure, StepKind, Verdict};

use crate::reason::Reason;
use crate::sides::Sides;
use crate::split::Split;

/// A verdict to explain.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The slices of both sides.
    pub sides: &'a Sides<'a>,
    /// Their split; absent where the server's processes are not known.
    pub split: Option<&'a Split>,
    /// The verdict.
    pub verdict: Verdict,
    /// What kind of work the step does.
    pub kind: StepKind,
    /// What its rate counts.
    pub figure: Figure,
    /// Whether the server's own counters mean the same on both sides: one family and one engine.
    pub is_comparable: bool,
    /// The difference between the hosts or kernels of both sides, where there is one: then the
    /// system is not the cause.
    pub unlike: Option<Reason>,
    /// Whether the candidate executes a statement by another access path or index.
    pub has_other_plan: bool,
}
