//! What a handicap was in the end, as it was measured.

use rqps_model::{Mark, Slice};

/// How the threads of a system were stopped on purpose, and for how much of the time of `slices`.
pub(super) fn note(slices: &[Slice]) -> Option<(String, String)> {
    let all = slices.iter().flat_map(|slice| &slice.marks).filter_map(|mark| match mark {
        Mark::Handicapped { share_bp, way } => Some((f64::from(*share_bp), way)),
        _ => None,
    });
    let all: Vec<(f64, &String)> = all.collect();
    let (_, way) = all.first()?;
    let mean_bp = all.iter().map(|(share_bp, _)| share_bp).sum::<f64>() / all.len() as f64;
    let kind = format!("stopped on purpose (handicap), {way}");
    Some((kind, format!("{:.2}% of the counted time", mean_bp / 100.0)))
}
