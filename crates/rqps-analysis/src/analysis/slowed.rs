//! What an injected slowdown was in the end, as it was measured.

use rqps_model::{Slice, WarningKind};

/// How the threads of a system were stopped on purpose, and for how much of the time of `slices`.
pub(super) fn over(slices: &[Slice]) -> Option<WarningKind> {
    let all = slices.iter().flat_map(|slice| &slice.warnings).filter_map(|kind| match kind {
        WarningKind::InjectedSlowdown { share_bp, way } => Some((u64::from(*share_bp), *way)),
        _ => None,
    });
    let all: Vec<_> = all.collect();
    let (_, way) = *all.first()?;
    let (sum_bp, n) = (all.iter().map(|(share_bp, _)| share_bp).sum::<u64>(), all.len() as u64);
    let share_bp = u32::try_from((sum_bp + n / 2) / n).unwrap_or(u32::MAX);
    Some(WarningKind::InjectedSlowdown { share_bp, way })
}
