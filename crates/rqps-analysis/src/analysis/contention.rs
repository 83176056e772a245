//! CPU time of the host that others took while a cell was measured.

use rqps_model::{Slice, WarningKind};

use super::footnote::{Book, CellWarning, SomeSlices};

impl Book {
    /// The warnings of steal and of other processes: the share of all slices together, which tells small
    /// ones that a slice alone cannot, else what was found in single ones.
    pub(super) fn contention(&mut self, slices: &[Slice]) -> Vec<CellWarning> {
        let usage = slices.iter().map(|s| s.usage).reduce(|sum, usage| sum.plus(&usage));
        let steal = Share {
            of_all: usage.and_then(|u| u.stolen_pct()),
            of_slice: |w| if let WarningKind::Steal { pct } = w { Some(*pct) } else { None },
            kind: |pct| WarningKind::Steal { pct },
        };
        let others = Share {
            of_all: usage.and_then(|u| u.others_pct()),
            of_slice: |w| {
                if let WarningKind::OtherProcesses { pct } = w { Some(*pct) } else { None }
            },
            kind: |pct| WarningKind::OtherProcesses { pct },
        };
        [steal, others].iter().filter_map(|share| self.share(slices, share)).collect()
    }

    fn share(&mut self, slices: &[Slice], share: &Share) -> Option<CellWarning> {
        if let Some(pct) = share.of_all {
            return Some(self.warn((share.kind)(pct)));
        }
        let warnings = slices.iter().flat_map(|s| &s.warnings);
        let found: Vec<u32> = warnings.filter_map(share.of_slice).collect();
        let some = SomeSlices { n: found.len(), n_all: slices.len() };
        found.into_iter().max().map(|pct| self.warn_of_slices((share.kind)(pct), some))
    }
}

/// A share of the CPU time that somebody else had.
struct Share {
    /// Of all slices together, percent.
    of_all: Option<u32>,
    /// That of a slice's warning.
    of_slice: fn(&WarningKind) -> Option<u32>,
    /// Its warning.
    kind: fn(u32) -> WarningKind,
}
