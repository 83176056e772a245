//! The cause that the rules found, with the values that carry it.

use crate::cause::{Cause, HostShares};
use crate::finding::Finding;
use crate::part::{TimePart, others_in_user_mode};
use crate::question::Question;
use crate::split::{Change, Split};

/// The cause.
pub(crate) fn cause(question: &Question<'_>, finding: Finding) -> Cause {
    let split = question.split;
    let Finding { kind, parts, share, quantities, reason } = finding;
    let change_us = split.and_then(|split| split.change_us(&parts));
    let others = split.filter(|_| parts.contains(&TimePart::Taken)).and_then(|split| {
        let (base, candidate) = question.sides.means(&split.weights, others_in_user_mode)?;
        Some(HostShares { base, candidate })
    });
    Cause {
        kind,
        direction: question.verdict,
        figure: question.figure,
        share,
        quantities,
        reason,
        others,
        explained_us: split.map(|split| explained_us(question, split)),
        is_interleaved: question.sides.is_interleaved,
        times: split.and_then(|split| split.server_cpu(&parts)).and_then(Change::times),
        is_of_serving: split.is_some_and(|split| split.is_of_serving(&parts)),
        change_us: change_us.filter(|_| !parts.is_empty()),
        is_io_unchanged: split.and_then(Split::is_io_unchanged),
        parts,
    }
}

/// The change of the time per operation that is explained: for interleaved systems without the CPU that
/// others took.
fn explained_us(question: &Question<'_>, split: &Split) -> f64 {
    let sides = question.sides;
    let own = Change::of(sides, &split.weights, |slice| split.own_us(sides, slice));
    own.map_or(split.total.difference.point, |change| change.difference.point)
}
