//! How much more measuring would settle an unclear verdict.

use rqps_model::{RunStep, StepKind};
use rqps_stats::precision::{More, blocks_to_settle_among, starts_to_settle_among};
use rqps_stats::starts::StartsEstimate;

/// Longest time that is reported, seconds: nobody measures a single step for longer than an hour.
pub const MOST_S: f64 = 3600.0;

/// Most blocks that are thought of: an hour of them where each takes a fifth of a millisecond. Shorter ones are in
/// files that somebody made up.
const MOST_BLOCKS: u32 = 1 << 24;

/// Most starts of the servers that are told: the most that a plan takes.
const MOST_STARTS: u32 = 100;

/// What would settle a verdict with a chance of 80% ([`rqps_stats::precision`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Settle {
    /// More blocks (sequential: slices) on every system.
    Time {
        /// How many.
        more: More,
        /// Time of one of them on all systems together, seconds.
        block_s: f64,
    },
    /// More starts of the servers, each as long: differences between starts, seen or assumed,
    /// decide the interval.
    Starts {
        /// How many.
        more: More,
    },
}

/// By which rule a verdict is unclear, and what measuring takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// The practical bound.
    pub(super) bound: f64,
    /// The p-value that a difference needs.
    pub(super) p_needed: f64,
    /// Time of a block on all systems together, seconds.
    pub(super) block_s: f64,
    /// Whether the step can be measured for longer.
    pub(super) is_timed: bool,
    /// Whether it was measured on several loads of the tables: neither starts nor time are what is missing then.
    pub(super) has_loads: bool,
}

impl Settle {
    /// What would settle `ratio`; `None` where its spread is not known, or more time cannot be had: a
    /// step of a fixed amount of work on one start of the servers, and steps on several loads.
    pub(super) fn of(ratio: &StartsEstimate, rule: Rule) -> Option<Self> {
        let estimate = ratio.tested.estimate;
        let Rule { bound, p_needed, block_s, is_timed, has_loads } = rule;
        if has_loads {
            return None;
        }
        if ratio.holds_starts {
            let more = starts_to_settle_among(ratio, bound, p_needed, MOST_STARTS)?;
            return Some(Self::Starts { more });
        }
        if !is_timed || block_s <= 0.0 {
            return None;
        }
        if ratio.prior.is_some() {
            let more = starts_to_settle_among(ratio, bound, p_needed, MOST_STARTS)?;
            return Some(Self::Starts { more });
        }
        let more = blocks_to_settle_among(&estimate, bound, p_needed, limit(block_s))?;
        Some(Self::Time { more, block_s })
    }

    /// Seconds of measuring; `None` for more than an hour, and where it takes starts.
    #[must_use]
    pub fn seconds(&self) -> Option<f64> {
        match self {
            Self::Time { more, block_s } => more.seconds(*block_s).filter(|s| *s <= MOST_S),
            Self::Starts { .. } => None,
        }
    }

    /// Starts of the servers; `None` for more than a plan takes, and where it takes time.
    #[must_use]
    pub fn starts(&self) -> Option<u32> {
        match self {
            Self::Starts { more: More::Blocks(n) } => Some(*n),
            Self::Starts { more: More::MoreThan(_) } | Self::Time { .. } => None,
        }
    }
}

/// How many blocks take as long as is told at most: the next power of two.
fn limit(block_s: f64) -> u32 {
    let mut limit: u32 = 1;
    while limit < MOST_BLOCKS && f64::from(limit) * block_s < MOST_S {
        limit *= 2;
    }
    limit
}

/// Whether a step can be measured for longer: not one of a fixed amount of work.
pub(super) fn is_timed(step: &RunStep) -> bool {
    step.info.kind != StepKind::Index && !step.info.has_blocks_of_work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_no_length_come_to_an_end() {
        assert_eq!([4.0, 3600.0, 1e9].map(limit), [1024, 1, 1]);
        assert_eq!([1e-9, 5e-324, f64::NAN].map(limit), [MOST_BLOCKS, MOST_BLOCKS, 1]);
    }

    #[test]
    fn more_than_an_hour_is_no_number_of_seconds() {
        let time = |more| Settle::Time { more, block_s: 4.0 };
        assert!(time(More::Blocks(8)).seconds().is_some_and(|s| (s - 32.0).abs() < 1e-9));
        assert_eq!(time(More::Blocks(1000)).seconds(), None);
        assert_eq!(time(More::MoreThan(1024)).seconds(), None);
    }
}
