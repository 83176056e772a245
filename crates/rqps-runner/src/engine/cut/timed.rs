//! Short slices of systems that are interleaved, as many in a block as its measured time takes.

use std::time::Duration;

/// Measured time of a block on each system, where the step's time gives enough of them: long enough
/// that blocks are nearly independent.
const BLOCK: Duration = Duration::from_secs(2);

/// Fewest and most blocks of a step on all starts together: with fewer than 8 the quantile of t widens the
/// interval, beyond 40 it no longer narrows it.
const N_BLOCKS: (u32, u32) = (8, 40);

/// Fewest blocks of each start, where there are several: their spread is pooled.
const N_BLOCKS_OF_START: u32 = 4;

/// Fewest blocks of a step that can end before its time, on all starts together and on each: the rule asks for 12
/// and 6 before it believes a width, and blocks may not grow with the time that is allowed.
const N_BLOCKS_TO_END: (u32, u32) = (20, 10);

/// Blocks of a step whose events take so long that its time would give fewer: what an interval that says
/// something takes.
const N_LONG_BLOCKS: u32 = 4;

/// The part of an event's usual time that makes a slice, where that is more than a slice should be: most
/// slices are then one event, and not two because the first was a little short.
const PART_OF_EVENT: f64 = 0.8;

/// How a step is cut into blocks and slices by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimedCut {
    /// Length of a slice.
    pub(crate) slice: Duration,
    /// Measured time of a block on each system.
    pub(crate) block: Duration,
    /// Blocks in all.
    pub(crate) n_blocks: u32,
    /// Measured time of the step on each system.
    pub(crate) total: Duration,
    /// Blocks that the step has even where they take longer than its time.
    least: u32,
}

impl TimedCut {
    /// For a step that is measured for `total` on each system, in slices of `slice`; `may_end` when it
    /// can end before. It is one of `n_starts` on which the step is measured.
    pub(crate) fn of(total: Duration, slice: Duration, may_end: bool, n_starts: u32) -> Self {
        // A step that is shorter than a slice is one short slice.
        let slice = slice.min(total);
        let of_start = |n: u32| n.div_ceil(n_starts).max(N_BLOCKS_OF_START);
        let (fewest, most) = (of_start(N_BLOCKS.0), of_start(N_BLOCKS.1));
        let to_end = N_BLOCKS_TO_END.0.div_ceil(n_starts).max(N_BLOCKS_TO_END.1);
        let (least, most) = if may_end { (to_end, u32::MAX) } else { (fewest, most) };
        let by_time = u32::try_from(total.as_millis() / BLOCK.as_millis()).unwrap_or(u32::MAX);
        let n_slices = whole_slices(total, slice);
        let n_blocks = by_time.clamp(least, most).min(n_slices).max(1);
        Self { slice, block: total / n_blocks, n_blocks, total, least: fewest }
    }

    /// For events that take so long. Where that is more than a slice, all systems have slices of about an
    /// event, and blocks of one at least.
    pub(crate) fn for_events_of(self, event: Duration) -> Self {
        let slice = event.mul_f64(PART_OF_EVENT);
        if slice <= self.slice {
            return self;
        }
        let n_slices = whole_slices(self.total, slice);
        let n_blocks = self.n_blocks.min(n_slices.max(N_LONG_BLOCKS));
        Self { slice, block: self.total / n_blocks, n_blocks, ..self }
    }

    /// What a system is to be measured for in a block: by half a slice less or more.
    pub(crate) fn enough_ns(&self) -> u64 {
        let enough = self.block.saturating_sub(self.slice / 2).as_nanos();
        u64::try_from(enough).unwrap_or(u64::MAX).max(1)
    }

    /// Whether a step is over after `n` blocks that have taken `spent`: where events last beyond the
    /// ends of slices, blocks take longer than they should, and fewer of them fill the step's time.
    pub(crate) fn is_over(&self, n: u32, spent: Duration) -> bool {
        n >= self.n_blocks || (n >= self.least && spent + self.block / 2 > self.total)
    }
}

fn whole_slices(total: Duration, slice: Duration) -> u32 {
    u32::try_from(total.as_nanos() / slice.as_nanos().max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(total_ms: u64, slice_ms: u64) -> (u128, u32) {
        cut_to(total_ms, slice_ms, false)
    }

    fn cut_to(total_ms: u64, slice_ms: u64, may_end: bool) -> (u128, u32) {
        let ms = Duration::from_millis;
        let cut = TimedCut::of(ms(total_ms), ms(slice_ms), may_end, 1);
        (cut.block.as_millis(), cut.n_blocks)
    }

    #[test]
    fn steps_are_cut_into_eight_to_forty_blocks() {
        assert_eq!(cut(9_000, 100), (1125, 8));
        assert_eq!(cut(60_000, 100), (2000, 30));
        assert_eq!(cut(600_000, 100), (15_000, 40));
        // A step too short for eight blocks of a slice each.
        assert_eq!(cut(300, 100), (100, 3));
        assert_eq!(cut(10, 100), (10, 1));
        // A step that may end earlier has blocks that do not grow with its time.
        assert_eq!(cut_to(600_000, 100, true), (2000, 300));
        assert_eq!(cut_to(10_000, 100, true), (500, 20));
    }

    #[test]
    fn a_step_that_is_shorter_than_a_slice_is_one_slice() {
        let ms = Duration::from_millis;
        for (total_ms, slice_ms) in [(1000, 5000), (40, 100), (1, 20)] {
            let cut = TimedCut::of(ms(total_ms), ms(slice_ms), false, 1);
            assert_eq!((cut.slice, cut.block, cut.n_blocks), (ms(total_ms), ms(total_ms), 1));
            assert!((1..=cut.block.as_nanos()).contains(&cut.enough_ns().into()));
        }
        assert!(TimedCut::of(Duration::ZERO, ms(100), true, 1).enough_ns() > 0);
    }

    #[test]
    fn events_that_are_longer_than_a_slice_make_longer_slices_and_fewer_blocks() {
        let s = Duration::from_secs;
        let minute = TimedCut::of(s(60), Duration::from_millis(100), false, 1);
        assert_eq!(minute.for_events_of(Duration::from_millis(100)), minute);
        // A scan of 3 s: slices of one event each.
        let scan = minute.for_events_of(s(3));
        assert_eq!((scan.slice, scan.n_blocks), (Duration::from_millis(2400), 25));
        assert!(scan.enough_ns() <= 2_400_000_000, "one slice makes a block");
        // They last to their ends, so that twenty of them are the minute.
        assert!(!scan.is_over(19, s(19 * 3)) && scan.is_over(20, s(60)));
        // Far too long for the time that it has.
        let slow = minute.for_events_of(s(100));
        assert_eq!((slow.n_blocks, slow.enough_ns()), (4, 1));
    }

    #[test]
    fn a_step_ends_with_its_time_but_not_before_there_are_enough_blocks() {
        let s = Duration::from_secs;
        let cut = TimedCut::of(s(60), Duration::from_millis(100), false, 1);
        assert!(!cut.is_over(29, s(58)) && cut.is_over(30, s(60)));
        // Each block took half as long again.
        assert!(!cut.is_over(19, s(57)) && cut.is_over(20, s(60)));
        // It ends with the block whose end is nearest to its time.
        assert!(!cut.is_over(20, Duration::from_millis(58_900)));
        assert!(cut.is_over(20, Duration::from_millis(59_100)));
        // Ten times as long.
        assert!(!cut.is_over(7, s(140)) && cut.is_over(8, s(160)));
    }
}
