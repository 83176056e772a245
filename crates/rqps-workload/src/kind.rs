//! Kinds of steps in words.

use rqps_model::StepKind;

/// A step's kind in words.
#[must_use]
pub fn kind_name(kind: StepKind) -> &'static str {
    match kind {
        StepKind::Load => "load",
        StepKind::Read => "read",
        StepKind::Write => "write",
        StepKind::Insert => "insert",
        StepKind::WarmUp => "warm-up",
        StepKind::Index => "index",
        StepKind::Mixed => "mixed",
    }
}
