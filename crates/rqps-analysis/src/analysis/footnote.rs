//! Warnings of the cells of a table. Warnings of one kind share a footnote and its letter.

use rqps_model::{ErrorCount, Slice, WarningKind};

use super::slowed;

/// A difference between the halves of a slice from which on the rate is said to have developed.
///
/// Below it halves differ by the noise of a shared host alone (slices of 1 s spread by 6 to 39%
/// there, halves of a slice of 30 s and more by a few percent).
const DEVELOPED: f64 = 0.10;

/// Seconds of series that a slice needs before its halves are compared.
const MIN_POINTS: usize = 8;

/// A kind of warning that cells have.
#[derive(Debug, Clone, PartialEq)]
pub struct Footnote {
    /// `a`, `b`, ... in the order of first use.
    pub letter: String,
    /// The first warning of the kind.
    pub kind: WarningKind,
}

/// A warning of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellWarning {
    /// Index into [`super::Analysis::footnotes`].
    pub footnote_idx: usize,
    /// What happened: sums or the worst of the slices.
    pub kind: WarningKind,
    /// The slices that have it; absent where it is of all of them together.
    pub slices: Option<SomeSlices>,
}

/// Some slices of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SomeSlices {
    /// How many.
    pub n: usize,
    /// All slices of the cell.
    pub n_all: usize,
}

/// Gives letters to reasons while cells are built.
#[derive(Debug, Default)]
pub(super) struct Book {
    kinds: Vec<WarningKind>,
}

/// Whether a warning of a slice is one of its cell as it is. The others are added up over the slices, or are no
/// warning of the cell.
fn is_told_as_it_is(kind: &WarningKind) -> bool {
    !matches!(
        kind,
        WarningKind::Errors { .. }
            | WarningKind::Failed { .. }
            | WarningKind::ClientBound { .. }
            | WarningKind::Steal { .. }
            | WarningKind::OtherProcesses { .. }
            | WarningKind::RateMissed { .. }
            | WarningKind::Swapped { .. }
            | WarningKind::Throttled { .. }
            | WarningKind::FrequencyChanged { .. }
            | WarningKind::Colder { .. }
            | WarningKind::Paused { .. }
            | WarningKind::InjectedSlowdown { .. }
    )
}

/// Errors that slices counted or warn of, whichever are more.
fn n_errors(slices: &[Slice]) -> u64 {
    let warnings = slices.iter().flat_map(|s| &s.warnings);
    let n_warned: u64 =
        warnings.map(|w| if let WarningKind::Errors { n, .. } = w { *n } else { 0 }).sum();
    let n_counted: u64 = slices.iter().flat_map(slice_errors).map(|e| e.n).sum();
    n_warned.max(n_counted)
}

impl Book {
    /// A warning of a cell.
    pub(super) fn warn(&mut self, kind: WarningKind) -> CellWarning {
        let is_same = |known: &WarningKind| known.key() == kind.key();
        let footnote_idx = self.kinds.iter().position(is_same).unwrap_or_else(|| {
            self.kinds.push(kind.clone());
            self.kinds.len() - 1
        });
        CellWarning { footnote_idx, kind, slices: None }
    }

    /// A warning that some slices of a cell have.
    pub(super) fn warn_of_slices(&mut self, kind: WarningKind, slices: SomeSlices) -> CellWarning {
        CellWarning { slices: Some(slices), ..self.warn(kind) }
    }

    /// The warnings of all slices of a cell, those of one kind added up; with `halves` also that the
    /// rate changed within the slices.
    pub(super) fn of_slices(&mut self, slices: &[Slice], halves: bool) -> Vec<CellWarning> {
        let all = || slices.iter().flat_map(|s| &s.warnings);
        let mut out = Vec::new();
        let n = n_errors(slices);
        if n > 0 {
            out.push(self.warn(WarningKind::Errors { n, by_code: errors_by_code(slices) }));
        }
        let bound = |w: &WarningKind| {
            if let WarningKind::ClientBound { pct } = w { Some(*pct) } else { None }
        };
        if let Some(pct) = all().filter_map(bound).max() {
            out.push(self.warn(WarningKind::ClientBound { pct }));
        }
        out.extend(self.contention(slices));
        let sum =
            |f: fn(&WarningKind) -> Option<u64>| all().filter_map(f).reduce(u64::saturating_add);
        if let Some(n_missed) =
            sum(
                |w| {
                    if let WarningKind::RateMissed { n_missed } = w {
                        Some(*n_missed)
                    } else {
                        None
                    }
                },
            )
        {
            out.push(self.warn(WarningKind::RateMissed { n_missed }));
        }
        if let Some(pages) =
            sum(|w| if let WarningKind::Swapped { pages } = w { Some(*pages) } else { None })
        {
            out.push(self.warn(WarningKind::Swapped { pages }));
        }
        if let Some(n) = sum(|w| if let WarningKind::Throttled { n } = w { Some(*n) } else { None })
        {
            out.push(self.warn(WarningKind::Throttled { n }));
        }
        let least = |f: fn(&WarningKind) -> Option<u32>| all().filter_map(f).min();
        if let Some(pct) =
            least(|w| if let WarningKind::FrequencyChanged { pct } = w { Some(*pct) } else { None })
        {
            out.push(self.warn(WarningKind::FrequencyChanged { pct }));
        }
        if let Some(bytes) =
            sum(|w| if let WarningKind::Colder { bytes } = w { Some(*bytes) } else { None })
        {
            out.push(self.warn(WarningKind::Colder { bytes }));
        }
        let pause = |w: &WarningKind| {
            if let WarningKind::Paused { seconds } = w { Some(*seconds) } else { None }
        };
        if let Some(seconds) = all().filter_map(pause).max() {
            let is_paused = |s: &&Slice| s.warnings.iter().any(|w| pause(w).is_some());
            let some =
                SomeSlices { n: slices.iter().filter(is_paused).count(), n_all: slices.len() };
            out.push(self.warn_of_slices(WarningKind::Paused { seconds }, some));
        }
        out.extend(slowed::over(slices).map(|kind| self.warn(kind)));
        for kind in all().filter(|kind| is_told_as_it_is(kind)) {
            let new = self.warn(kind.clone());
            if !out.contains(&new) {
                out.push(new);
            }
        }
        let ratio = second_half_over_first(slices).filter(|_| halves);
        if let Some(second_half) = ratio.filter(|r| (r - 1.0).abs() > DEVELOPED) {
            out.push(self.warn(WarningKind::Developed { second_half }));
        }
        out
    }

    /// The footnotes of all kinds.
    pub(super) fn close(self) -> Vec<Footnote> {
        let kinds = self.kinds.into_iter().enumerate();
        kinds.map(|(idx, kind)| Footnote { letter: letter(idx), kind }).collect()
    }
}

/// The errors of a slice's clients and of those beside them.
pub(super) fn slice_errors(slice: &Slice) -> impl Iterator<Item = &ErrorCount> {
    slice.errors.iter().chain(slice.streams.iter().flat_map(|stream| &stream.errors))
}

/// The errors of all slices by code.
fn errors_by_code(slices: &[Slice]) -> Vec<ErrorCount> {
    let mut by_code: Vec<ErrorCount> = Vec::new();
    for error in slices.iter().flat_map(slice_errors) {
        match by_code.iter_mut().find(|known| known.code == error.code) {
            Some(known) => known.n = known.n.saturating_add(error.n),
            None => by_code.push(error.clone()),
        }
    }
    by_code
}

/// Queries in the second half of the slices over those in the first half, from the 1 s series.
///
/// `None` for short slices. The middle second of an odd number is left out, and so is the last one,
/// which may be incomplete. `None` for blocks as well: their seconds are taken from the turns of a
/// longer time, in which the host may have changed for all systems alike.
fn second_half_over_first(slices: &[Slice]) -> Option<f64> {
    let (mut first, mut second) = (0_u64, 0_u64);
    for slice in slices {
        if slice.n_rounds.is_some() {
            return None;
        }
        let points = slice.series.split_last().map_or(&[][..], |(_, before)| before);
        if points.len() < MIN_POINTS {
            return None;
        }
        let half = points.len() / 2;
        let sum = |part: &[rqps_model::SeriesPoint]| -> u64 {
            part.iter().map(|p| u64::from(p.queries)).sum()
        };
        first += sum(&points[..half]);
        second += sum(&points[points.len() - half..]);
    }
    (first > 0).then(|| second as f64 / first as f64)
}

/// `a` to `z`, then `aa`, `ab`, ...
fn letter(idx: usize) -> String {
    let last = char::from(b"abcdefghijklmnopqrstuvwxyz"[idx % 26]);
    match idx / 26 {
        0 => last.to_string(),
        more => format!("{}{last}", letter(more - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([letter(0), letter(25), letter(26), letter(27)], ["a", "z", "aa", "ab"]);
    }
}
