//! Footnotes: the reasons why a figure is not to be taken at its face value, one letter per reason.

mod kind;

use rqps_model::slice::ErrorCount;
use rqps_model::{Mark, Run, Slice};

use super::place::{Place, places};
use super::{StepAnalysis, slowed};
use crate::number::count;

pub use kind::FootnoteKind;

/// A difference between the halves of a slice from which on the rate is said to have developed.
///
/// Below it halves differ by the noise of a shared host alone (slices of 1 s spread by 6 to 39%
/// there, halves of a slice of 30 s and more by a few percent).
const DEVELOPED: f64 = 0.10;

/// Seconds of series that a slice needs before its halves are compared.
const MIN_POINTS: usize = 8;

/// One reason for caution and where it applies.
#[derive(Debug, Clone, PartialEq)]
pub struct Footnote {
    /// `a`, `b`, ... in the order of first use.
    pub letter: String,
    /// What it is about.
    pub kind: FootnoteKind,
    /// Where and how much, in words: `my8033.small: scan (94%)`.
    pub places: Vec<String>,
}

/// A footnote in one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct CellMark {
    /// Index into [`super::Analysis::footnotes`].
    pub footnote_idx: usize,
    /// The facts of this cell: `94% of their CPUs`; empty when the kind says it all.
    pub detail: String,
}

/// Gives letters to reasons while cells are built.
#[derive(Debug, Default)]
pub(super) struct Book {
    kinds: Vec<FootnoteKind>,
}

/// Errors that were counted or marked, whichever are more.
fn n_errors(slices: &[Slice]) -> u64 {
    let marks = slices.iter().flat_map(|s| &s.marks);
    let n_marked: u64 = marks.map(|m| if let Mark::Errors { n } = m { *n } else { 0 }).sum();
    let n_counted: u64 = slices.iter().flat_map(slice_errors).map(|e| e.n).sum();
    n_marked.max(n_counted)
}

impl Book {
    /// A mark of a kind, with the facts of its cell.
    pub(super) fn mark(&mut self, kind: FootnoteKind, detail: String) -> CellMark {
        let footnote_idx = self.kinds.iter().position(|k| *k == kind).unwrap_or_else(|| {
            self.kinds.push(kind);
            self.kinds.len() - 1
        });
        CellMark { footnote_idx, detail }
    }

    /// A cell with fewer slices than planned: how many there are, in words.
    pub(super) fn incomplete(&mut self, detail: String) -> CellMark {
        self.mark(FootnoteKind::Incomplete, detail)
    }

    /// The marks of all slices of a cell, those of one kind added up; with `halves` also that the
    /// rate changed within the slices.
    pub(super) fn marks(&mut self, slices: &[Slice], halves: bool) -> Vec<CellMark> {
        let all = || slices.iter().flat_map(|s| &s.marks);
        let mut out = Vec::new();
        let n_errors = n_errors(slices);
        if n_errors > 0 {
            out.push(self.mark(FootnoteKind::Errors, errors(n_errors, slices)));
        }
        let bound = |m: &Mark| if let Mark::ClientBound { pct } = m { Some(*pct) } else { None };
        if let Some(pct) = all().filter_map(bound).max() {
            out.push(self.mark(FootnoteKind::ClientBound, format!("{pct}% of their CPUs")));
        }
        out.extend(self.contention(slices));
        let sum = |f: fn(&Mark) -> Option<u64>| all().filter_map(f).reduce(u64::saturating_add);
        if let Some(n) =
            sum(|m| if let Mark::RateMissed { n_missed } = m { Some(*n_missed) } else { None })
        {
            let n = usize::try_from(n).unwrap_or(usize::MAX);
            out.push(self.mark(FootnoteKind::RateMissed, count(n, "start") + " missed"));
        }
        if let Some(n) = sum(|m| if let Mark::Swapped { pages } = m { Some(*pages) } else { None })
        {
            out.push(self.mark(FootnoteKind::Swapped, format!("{n} pages")));
        }
        if let Some(n) = sum(|m| if let Mark::Throttled { n } = m { Some(*n) } else { None }) {
            out.push(self.mark(FootnoteKind::Throttled, format!("{n} times")));
        }
        let least = |f: fn(&Mark) -> Option<u32>| all().filter_map(f).min();
        if let Some(pct) =
            least(|m| if let Mark::FrequencyChanged { pct } = m { Some(*pct) } else { None })
        {
            let detail = format!("down to {pct}% of the highest");
            out.push(self.mark(FootnoteKind::FrequencyChanged, detail));
        }
        if let Some(n) = sum(|m| if let Mark::Colder { bytes } = m { Some(*bytes) } else { None }) {
            let detail = format!("{:.1} MB", n as f64 / f64::from(1 << 20));
            out.push(self.mark(FootnoteKind::Colder, detail));
        }
        let pause = |m: &Mark| if let Mark::Paused { seconds } = m { Some(*seconds) } else { None };
        if let Some(seconds) = all().filter_map(pause).max() {
            let n = slices.iter().filter(|s| s.marks.iter().any(|m| pause(m).is_some())).count();
            let detail = format!("{n} of {}, up to {seconds} s", count(slices.len(), "slice"));
            out.push(self.mark(FootnoteKind::Paused, detail));
        }
        let slowed = slowed::note(slices);
        out.extend(slowed.map(|(kind, detail)| self.mark(FootnoteKind::Note(kind), detail)));
        for mark in all() {
            let new = match mark {
                Mark::NotSettled { left } => self.mark(FootnoteKind::NotSettled, left.clone()),
                Mark::Resumed => self.mark(FootnoteKind::Resumed, String::new()),
                Mark::Note { text } => self.mark(FootnoteKind::Note(text.clone()), String::new()),
                Mark::Errors { .. }
                | Mark::ClientBound { .. }
                | Mark::Steal { .. }
                | Mark::OtherProcesses { .. }
                | Mark::RateMissed { .. }
                | Mark::Swapped { .. }
                | Mark::Throttled { .. }
                | Mark::FrequencyChanged { .. }
                | Mark::Colder { .. }
                | Mark::Paused { .. }
                | Mark::Handicapped { .. }
                | Mark::Failed { .. } => continue,
            };
            if !out.contains(&new) {
                out.push(new);
            }
        }
        let ratio = second_half_over_first(slices).filter(|_| halves);
        if let Some(ratio) = ratio.filter(|r| (r - 1.0).abs() > DEVELOPED) {
            let detail = format!("second half {ratio:.2} of the first");
            out.push(self.mark(FootnoteKind::Developed, detail));
        }
        out
    }

    /// The footnotes with the places where they apply.
    pub(super) fn close(self, steps: &[StepAnalysis<'_>], run: &Run) -> Vec<Footnote> {
        let on_systems = |idx: usize, kind: &FootnoteKind| -> Vec<String> {
            let systems = run.systems.iter().enumerate();
            let on_one = systems.filter_map(|(system_idx, system)| {
                let found = found_at(steps, system_idx, idx);
                let text = (!found.is_empty()).then(|| places(kind, &found))?;
                Some(format!("{}: {text}", system.spec.label))
            });
            on_one.collect()
        };
        let kinds = self.kinds.into_iter().enumerate();
        kinds
            .map(|(idx, kind)| Footnote {
                letter: letter(idx),
                places: on_systems(idx, &kind),
                kind,
            })
            .collect()
    }
}

/// The steps in which a system has a footnote, with its facts.
fn found_at<'a>(
    steps: &'a [StepAnalysis<'_>],
    system_idx: usize,
    footnote_idx: usize,
) -> Vec<Place<'a>> {
    let found = |step: &'a StepAnalysis<'_>| {
        let cell = step.cells.get(system_idx)?;
        let mark = cell.marks.iter().find(|m| m.footnote_idx == footnote_idx)?;
        Some(Place { title: &step.title, detail: &mark.detail })
    };
    steps.iter().filter_map(found).collect()
}

/// The errors of a slice's clients and of those beside them.
pub(super) fn slice_errors(slice: &Slice) -> impl Iterator<Item = &ErrorCount> {
    slice.errors.iter().chain(slice.streams.iter().flat_map(|stream| &stream.errors))
}

/// `12 errors: 1213 (11), 1205 (1)`.
fn errors(n: u64, slices: &[Slice]) -> String {
    let mut by_code: Vec<(&str, u64)> = Vec::new();
    for error in slices.iter().flat_map(slice_errors) {
        match by_code.iter_mut().find(|(code, _)| *code == error.code) {
            Some((_, sum)) => *sum = sum.saturating_add(error.n),
            None => by_code.push((&error.code, error.n)),
        }
    }
    let total = count(usize::try_from(n).unwrap_or(usize::MAX), "error");
    if by_code.is_empty() {
        return total;
    }
    let codes: Vec<String> = by_code.iter().map(|(code, n)| format!("{code} x{n}")).collect();
    format!("{total}: {}", codes.join(", "))
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
