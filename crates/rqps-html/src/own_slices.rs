//! The seconds of blocks, for charts of systems that took turns.
//!
//! A second of a block is one of the time that was measured on its system: ten turns or fifty, the counts
//! of each spread evenly over the time that it took. All systems of a block get as many points as the one
//! that was measured shortest has seconds, so that what happened at the same time stands at the same place;
//! the last point of a block has what is left. Where turns are nearly as long as a second or blocks have no
//! two seconds, points would say no more than blocks, which are drawn in their place.

use std::collections::{BTreeMap, BTreeSet};

use rqps_model::slice::per_second;
use rqps_model::{SeriesPoint, Slice};

use super::line::PointKind;

const SECOND_NS: u64 = 1_000_000_000;

/// OwnSlices that a second must have: with fewer, neighbouring points are parts of the same turn.
const SLICES_PER_SECOND: u64 = 2;

/// How the blocks of a step are cut into points.
#[derive(Debug, Default)]
pub(super) struct OwnSlices {
    /// Whether any system has blocks.
    has_blocks: bool,
    /// Points of each block, by when it began: systems that took turns have that in common. Empty where
    /// a block is one point.
    n_points: BTreeMap<i64, usize>,
}

/// Whether a system's slices are blocks of turns.
pub(super) fn are_blocks(slices: &[Slice]) -> bool {
    slices.iter().any(|slice| slice.n_rounds.is_some())
}

impl OwnSlices {
    /// Of the slices of each system of a step; those that are no blocks are not looked at.
    pub(super) fn of<'s>(systems: impl Iterator<Item = &'s [Slice]>) -> Self {
        let mut turns = Self::default();
        let mut are_short = true;
        for blocks in systems.filter(|slices| are_blocks(slices)) {
            turns.has_blocks = true;
            are_short &= have_short_turns(blocks);
            for block in blocks {
                let n = n_seconds(block);
                let least = turns.n_points.entry(block.start_unix_ms).or_insert(n);
                *least = n.min(*least);
            }
        }
        if !are_short || turns.n_points.values().any(|n| *n < 2) {
            turns.n_points.clear();
        }
        turns
    }

    /// What a point of the step's charts is.
    pub(super) fn kind(&self) -> PointKind {
        match (self.has_blocks, self.n_points.is_empty()) {
            (false, _) => PointKind::Second,
            (true, false) => PointKind::OwnSecond,
            (true, true) => PointKind::Block,
        }
    }

    /// Queries per second in each point of a system's blocks.
    pub(super) fn rates(&self, blocks: &[Slice]) -> Vec<f64> {
        let of_block = |block: &Slice| match self.points_of(block) {
            // It may have been exported without its seconds.
            1 => vec![per_second(block.n_queries, block.duration_ns)],
            n => rates(&cut(&block.series, n), block.duration_ns),
        };
        blocks.iter().flat_map(of_block).collect()
    }

    /// What was counted in each of these points.
    pub(super) fn points(&self, blocks: &[Slice]) -> Vec<SeriesPoint> {
        blocks.iter().flat_map(|block| cut(&block.series, self.points_of(block))).collect()
    }

    /// How many points a system's blocks have.
    pub(super) fn n_points(&self, blocks: &[Slice]) -> usize {
        blocks.iter().map(|block| self.points_of(block)).sum()
    }

    /// From which point to which a system's blocks are among those given by start of the servers and
    /// number; neighbours as one.
    pub(super) fn spans(
        &self,
        blocks: &[Slice],
        wanted: &BTreeSet<(u32, u32)>,
    ) -> Vec<(usize, usize)> {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        let mut from = 0;
        for block in blocks {
            let to = from + self.points_of(block);
            if wanted.contains(&(block.start, block.idx)) {
                match spans.last_mut().filter(|last| last.1 == from) {
                    Some(last) => last.1 = to,
                    None => spans.push((from, to)),
                }
            }
            from = to;
        }
        spans
    }

    fn points_of(&self, block: &Slice) -> usize {
        self.n_points.get(&block.start_unix_ms).copied().unwrap_or(1)
    }
}

/// Whether the turns of a system leave a second more than its mean, on average: a single one that was
/// held up does not matter.
fn have_short_turns(blocks: &[Slice]) -> bool {
    let all_ns = blocks.iter().fold(0_u64, |sum, block| sum.saturating_add(block.duration_ns));
    let n_slices: u64 = blocks.iter().filter_map(|block| block.n_rounds).map(u64::from).sum();
    all_ns / n_slices.max(1) <= SECOND_NS / SLICES_PER_SECOND
}

/// Seconds of a block: the nearest number, as it may be half a turn shorter or longer than was planned.
fn n_seconds(block: &Slice) -> usize {
    let nearest = block.duration_ns.saturating_add(SECOND_NS / 2) / SECOND_NS;
    usize::try_from(nearest).unwrap_or(usize::MAX).min(block.series.len())
}

/// Seconds as `n` points, the last of which has all that are left.
fn cut(seconds: &[SeriesPoint], n: usize) -> Vec<SeriesPoint> {
    let (whole, rest) = seconds.split_at(seconds.len().min(n.saturating_sub(1)));
    whole.iter().copied().chain([SeriesPoint::sum(rest)]).collect()
}

/// Queries per second of points that together are of so many nanoseconds, all but the last of a second.
fn rates(points: &[SeriesPoint], duration_ns: u64) -> Vec<f64> {
    let Some((last, whole)) = points.split_last() else { return Vec::new() };
    let rest_ns = duration_ns.saturating_sub(whole.len() as u64 * SECOND_NS);
    let rest = per_second(u64::from(last.queries), rest_ns);
    whole.iter().map(|point| f64::from(point.queries)).chain([rest]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(queries: &[u32]) -> Vec<SeriesPoint> {
        queries.iter().map(|n| SeriesPoint { queries: *n, ..SeriesPoint::default() }).collect()
    }

    #[test]
    fn what_is_left_of_a_block_is_in_its_last_second() {
        let seconds = points(&[100, 110, 30]);
        // The second point is of 1.4 s.
        let two = cut(&seconds, 2);
        assert_eq!(two, points(&[100, 140]));
        assert_eq!(rates(&two, 2_400_000_000), [100.0, 100.0]);
        // The third is of half a second.
        assert_eq!(rates(&cut(&seconds, 3), 2_500_000_000), [100.0, 110.0, 60.0]);
        // Half a turn short of two seconds.
        assert_eq!(rates(&points(&[100, 95]), 1_950_000_000), [100.0, 100.0]);
    }

    #[test]
    fn a_block_without_seconds_is_a_point_all_the_same() {
        assert_eq!(cut(&[], 1), points(&[0]));
        assert_eq!(cut(&points(&[5, 6]), 1), points(&[11]));
        assert_eq!(rates(&[], 1), Vec::<f64>::new());
    }
}
