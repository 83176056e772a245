//! A step that is being measured: its ratio to the base from block to block, as a report would show
//! it then.
//!
//! It includes disturbed blocks and is of one start of the servers, so a report of the whole run
//! may differ.

use rqps_model::{Block, Estimate, Inserts, StepInfo, StepKind, slice};
use rqps_stats::totals::BlockTotals;

use crate::analysis::insert::{flow, sla};
use crate::analysis::pairing::{self, Pairing};
use crate::analysis::{Bar, Standing, holds_rate};

/// The most ratios that a course has: those of totals take time with the cube of the number of blocks.
const MOST_RATIOS: usize = 100;

/// A step on base and candidate.
#[derive(Debug, Clone, Copy)]
pub struct UnderWay<'a> {
    /// What the step is.
    pub info: &'a StepInfo,
    /// Whether the run's systems are interleaved.
    pub is_interleaved: bool,
    /// The base's blocks in order of time.
    pub base: &'a [Block],
    /// The candidate's.
    pub candidate: &'a [Block],
}

/// The ratio from block to block.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Course {
    /// Candidate / base after more and more blocks; the last is of all. Of very many blocks some
    /// are skipped.
    pub ratios: Vec<Estimate>,
    /// The blocks of the candidate in the last ratio; of interleaved systems those with a partner.
    pub n_blocks: usize,
}

impl UnderWay<'_> {
    /// The ratio from block to block. Of sequential systems, all blocks of the base come before the
    /// first of the candidate.
    #[must_use]
    pub fn course(&self) -> Course {
        self.course_of(MOST_RATIOS)
    }

    /// The same with at most so many ratios.
    fn course_of(&self, most: usize) -> Course {
        let pairing = Pairing::of(self.info, self.is_interleaved);
        let parts = |blocks: &[Block]| blocks.iter().map(part).collect::<Vec<BlockTotals>>();
        let (base, candidate): (Vec<BlockTotals>, Vec<BlockTotals>) = if pairing.is_interleaved {
            // A step of a day has tens of thousands of blocks, in order.
            let partner = |own: &Block| {
                let at = self.base.binary_search_by_key(&own.idx, |block| block.idx).ok()?;
                self.base.get(at).filter(|block| is_partner(block, own))
            };
            let pair = |own: &Block| Some((part(partner(own)?), part(own)));
            self.candidate.iter().filter_map(pair).unzip()
        } else {
            (parts(self.base), parts(self.candidate))
        };
        let one = |blocks: &[Block]| rqps_stats::of_counts(blocks.iter().map(|b| b.n_operations));
        let resolution = rqps_stats::of_ratio(one(self.base), one(self.candidate));
        let n_blocks = candidate.len();
        let every = n_blocks.div_ceil(most).max(1);
        let ratio = |n: usize| {
            let base = if pairing.is_interleaved { &base[..n] } else { &base[..] };
            let tested = pairing.ratio(base, &candidate[..n])?;
            Some(tested.resolved(resolution).estimate)
        };
        // A block in which nothing was done takes the ratio away, as in a report: what came before is none of all.
        if ratio(n_blocks).is_none() {
            return Course { ratios: Vec::new(), n_blocks };
        }
        // Counted from the end, so that the last is of all.
        let lengths = (1..=n_blocks).filter(|n| (n_blocks - n).is_multiple_of(every));
        Course { ratios: lengths.filter_map(ratio).collect(), n_blocks }
    }

    /// The ratio of all blocks so far; `None` where there is none.
    #[must_use]
    pub fn ratio(&self) -> Option<Estimate> {
        self.course_of(1).ratios.last().copied()
    }

    /// Why the ratio has no verdict by what is measured so far. Checks are made, and plans are
    /// asked, at the end of the step.
    #[must_use]
    pub fn bar(&self) -> Option<Bar> {
        Bar::between(self.standing(self.candidate), self.standing(self.base))
    }

    fn standing(&self, blocks: &[Block]) -> Standing {
        // What inserts itself has no background inserts.
        let has_others = self.info.kind != StepKind::Insert;
        let inserts: Vec<Inserts> =
            blocks.iter().filter_map(|block| block.inserts).filter(|_| has_others).collect();
        let target = flow::target(inserts.iter().map(|i| (i.target_per_s, i.duration_ns)));
        let sum = |of: fn(&Inserts) -> u64| inserts.iter().map(of).fold(0, u64::saturating_add);
        let average = slice::per_second(sum(|i| i.n_rows), sum(|i| i.duration_ns));
        let (n_due, n_missed) = blocks.iter().fold((0_u64, 0_u64), |(due, missed), block| {
            (due.saturating_add(block.n_due), missed.saturating_add(block.n_missed))
        });
        Standing {
            check_failed: false,
            plans_vary: false,
            sla_failed: target.is_some_and(|target| target > 0.0 && !sla::is_held(average, target)),
            host_busy: false,
            recall: None,
            rate_held: inserts.is_empty() && holds_rate(n_due, n_missed),
        }
    }
}

/// Operations per time of a block.
fn part(block: &Block) -> BlockTotals {
    pairing::rate(block.stated, block.n_operations, block.duration_ns)
}

/// Whether two blocks were measured in turns: all systems of a block begin it at one moment.
fn is_partner(one: &Block, other: &Block) -> bool {
    (one.idx, one.start_unix_ms) == (other.idx, other.start_unix_ms)
}

#[cfg(test)]
mod tests {
    use rqps_model::{Figure, Group};

    use super::*;

    fn info(name: &str, family: &str, kind: StepKind) -> StepInfo {
        StepInfo {
            name: name.to_owned(),
            family: family.to_owned(),
            n: None,
            kind,
            group: Group::Other,
            figure: Figure::Queries,
            what: String::new(),
        }
    }

    fn block(idx: u32, n_operations: u64, ms: u64) -> Block {
        let start_unix_ms = i64::from(idx) * 1000;
        Block { idx, start_unix_ms, n_operations, duration_ns: ms * 1_000_000, ..Block::default() }
    }

    fn last(course: &Course) -> f64 {
        course.ratios.last().unwrap().point
    }

    #[test]
    fn blocks_of_work_count_as_long_as_they_took() {
        // The candidate stalls for 2 s in one of four blocks of 1000 rows: 4000 rows in 2.3 s, not in 0.4 s.
        let base: Vec<Block> = (0..4).map(|idx| block(idx, 1000, 100)).collect();
        let mut candidate = base.clone();
        candidate[2].duration_ns = 2_000_000_000;
        let of = |info: &StepInfo, is_interleaved| {
            let (base, candidate) = (base.as_slice(), candidate.as_slice());
            UnderWay { info, is_interleaved, base, candidate }.course()
        };
        let load = info("l.i1", "l.i", StepKind::Insert);
        for is_interleaved in [true, false] {
            let course = of(&load, is_interleaved);
            assert!((last(&course) - 0.4 / 2.3).abs() < 1e-9, "{course:?}");
            assert_eq!((course.n_blocks, course.ratios.len()), (4, 4));
        }
        // Slices of equal time have figures of equal weight.
        let by_pairs = last(&of(&info("scan", "scan", StepKind::Read), true));
        assert!((by_pairs - 0.05_f64.powf(0.25)).abs() < 1e-9, "{by_pairs}");
    }

    #[test]
    fn partners_are_of_one_moment_and_indexes_have_none() {
        let base: Vec<Block> = (0..3).map(|idx| block(idx, 1000, 100)).collect();
        let mut candidate: Vec<Block> = (0..3).map(|idx| block(idx, 500, 100)).collect();
        candidate[1].start_unix_ms += 5;
        let of = |info: &StepInfo| {
            UnderWay { info, is_interleaved: true, base: &base, candidate: &candidate }.course()
        };
        assert_eq!(of(&info("scan", "scan", StepKind::Read)).n_blocks, 2);
        assert_eq!(of(&info("l.x", "l.x", StepKind::Index)).n_blocks, 3);
        // All blocks alike are as sure as one operation, no more.
        let read = info("scan", "scan", StepKind::Read);
        let (low, high) = of(&read).ratios.last().unwrap().interval.unwrap();
        assert!(low < 0.5 && high > 0.5);
    }

    /// A report has no ratio of such blocks; that of those before would hide the stall.
    #[test]
    fn a_block_in_which_nothing_was_done_takes_the_ratio_away() {
        let base: Vec<Block> = (0..4).map(|idx| block(idx, 1000, 100)).collect();
        let mut candidate = base.clone();
        let read = info("scan", "scan", StepKind::Read);
        let of = |candidate: &[Block]| {
            UnderWay { info: &read, is_interleaved: true, base: &base, candidate }.course()
        };
        assert_eq!(of(&candidate).ratios.len(), 4);
        candidate[2].n_operations = 0;
        assert_eq!(of(&candidate), Course { ratios: Vec::new(), n_blocks: 4 });
    }

    #[test]
    fn very_many_blocks_are_passed_over_but_for_the_last() {
        let side: Vec<Block> = (0..350).map(|idx| block(idx, 1000 + u64::from(idx), 100)).collect();
        let info = info("l.i1", "l.i", StepKind::Insert);
        let step = UnderWay { info: &info, is_interleaved: true, base: &side, candidate: &side };
        let course = step.course();
        assert!(course.ratios.len() <= MOST_RATIOS && course.n_blocks == 350);
        assert_eq!(course.ratios.last().unwrap().n, 350);
    }

    #[test]
    fn a_rate_that_is_not_held_bars() {
        let inserting = |n_rows: u64| {
            let inserts = Inserts { n_rows, duration_ns: 1_000_000_000, target_per_s: Some(100.0) };
            [Block { inserts: Some(inserts), ..block(0, 1000, 1000) }]
        };
        let mixed = info("qr100", "qr", StepKind::Mixed);
        let bar = |base: u64, candidate: u64| {
            let (base, candidate) = (inserting(base), inserting(candidate));
            let is_interleaved = true;
            UnderWay { info: &mixed, is_interleaved, base: &base, candidate: &candidate }.bar()
        };
        assert_eq!(bar(100, 95), None);
        assert_eq!(bar(100, 94), Some(Bar::Sla));
        assert_eq!(bar(94, 100), Some(Bar::Sla));
        // Events of the figure itself at a rate that both held.
        let at_rate = |n_missed| [Block { n_due: 100, n_missed, ..block(0, 1000, 1000) }];
        let read = info("scan", "scan", StepKind::Read);
        let bar = |base: u64, candidate: u64| {
            let (base, candidate) = (at_rate(base), at_rate(candidate));
            let is_interleaved = true;
            UnderWay { info: &read, is_interleaved, base: &base, candidate: &candidate }.bar()
        };
        assert_eq!((bar(0, 5), bar(0, 6)), (Some(Bar::Rate), None));
    }
}
