//! What others took of the host's CPU time while a cell was measured.

use rqps_model::{Mark, Slice};

use crate::number::count;

use super::footnote::{Book, CellMark, FootnoteKind};

impl Book {
    /// The marks of steal and of other processes: the share of all slices together, which tells small
    /// ones that a slice alone cannot, else what was found in single ones.
    pub(super) fn contention(&mut self, slices: &[Slice]) -> Vec<CellMark> {
        let usage = slices.iter().map(|s| s.usage).reduce(|sum, usage| sum.plus(&usage));
        let text = |of_all: Option<u32>, of_one: fn(&Mark) -> Option<u32>| {
            let marked: Vec<u32> =
                slices.iter().flat_map(|s| &s.marks).filter_map(of_one).collect();
            match (of_all, marked.iter().max()) {
                (Some(pct), _) => Some(format!("{pct}% of all CPU time")),
                (None, Some(pct)) => {
                    let (n, of) = (marked.len(), count(slices.len(), "slice"));
                    Some(format!("up to {pct}% of all CPU time in {n} of {of}"))
                }
                (None, None) => None,
            }
        };
        let steal = text(usage.and_then(|u| u.stolen_pct()), |m| {
            if let Mark::Steal { pct } = m { Some(*pct) } else { None }
        });
        let others = text(usage.and_then(|u| u.others_pct()), |m| {
            if let Mark::OtherProcesses { pct } = m { Some(*pct) } else { None }
        });
        let found = [(FootnoteKind::Steal, steal), (FootnoteKind::OtherProcesses, others)];
        let told = found.into_iter().filter_map(|(kind, text)| Some((kind, text?)));
        told.map(|(kind, text)| self.mark(kind, text)).collect()
    }
}
