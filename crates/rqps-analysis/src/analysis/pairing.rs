//! How the blocks of two systems make a ratio: in pairs or as two samples, of their rates or of totals.

use rqps_model::{StepInfo, StepKind};
use rqps_stats::totals::{self, BlockTotals};
use rqps_stats::{Tested, paired_test, ratio_test};

/// How a step's blocks of base and candidate go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pairing {
    /// Whether block i of one was measured in turns with block i of the other.
    pub(crate) is_interleaved: bool,
    /// Whether figures are ratios of totals, as the blocks are of equal work.
    pub(crate) of_totals: bool,
}

impl Pairing {
    /// That of a step of systems that are interleaved or are not. Indexes are never created
    /// measured in turns.
    pub(crate) fn of(info: &StepInfo, are_interleaved: bool) -> Self {
        let alone = info.kind == StepKind::Index;
        Self { is_interleaved: are_interleaved && !alone, of_totals: info.has_blocks_of_work() }
    }

    /// Candidate / base of the blocks of one start of the servers; in turns those with a partner, in the
    /// same order.
    pub(crate) fn ratio(self, base: &[BlockTotals], candidate: &[BlockTotals]) -> Option<Tested> {
        match (self.is_interleaved, self.of_totals) {
            (true, true) => totals::paired_test(base, candidate),
            (true, false) => paired_test(&ratios(base), &ratios(candidate)),
            (false, true) => ratio_test(&totals::figures(base)?, &totals::figures(candidate)?),
            (false, false) => ratio_test(&ratios(base), &ratios(candidate)),
        }
    }
}

/// Each part's own ratio.
pub(crate) fn ratios(parts: &[BlockTotals]) -> Vec<f64> {
    parts.iter().map(BlockTotals::ratio).collect()
}

/// Operations per second: what an imported file states, else what was counted; 0 when no time passed.
pub(crate) fn rate(stated: Option<f64>, n_operations: u64, duration_ns: u64) -> BlockTotals {
    match (stated, duration_ns) {
        (Some(figure), _) => BlockTotals { amount: figure, per: 1.0 },
        (None, 0) => BlockTotals { amount: 0.0, per: 1.0 },
        (None, ns) => BlockTotals { amount: n_operations as f64 * 1e9, per: ns as f64 },
    }
}
