//! How much more measuring would settle an unclear verdict.

use rqps_model::{Estimate, RunStep, StepKind};
use rqps_stats::precision::{More, blocks_to_settle_among};
use rqps_stats::starts::StartsEstimate;
use rqps_stats::{CONFIDENCE, student};

use rqps_text::number;

/// Longest time that is told, seconds: nobody measures a single step for longer than an hour.
const MOST_S: f64 = 3600.0;

/// Most blocks that are thought of: an hour of them where each takes a fifth of a millisecond. Shorter ones are in
/// files that somebody made up.
const MOST_BLOCKS: u32 = 1 << 24;

/// Most starts of the servers that are told: the most that a plan takes.
const MOST_STARTS: u32 = 100;

/// Times are told in steps of so many seconds: they are projections.
const STEP_S: f64 = 10.0;

/// What it takes, with a chance of 80% ([`rqps_stats::precision`]).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Settle {
    /// More blocks (sequential: slices) on every system.
    Time {
        /// How many.
        more: More,
        /// Time of one of them on all systems together, seconds.
        block_s: f64,
    },
    /// More starts of the servers: with several, what they draw decides the interval.
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
}

impl Settle {
    /// What would settle `ratio`; `None` where its spread is not known, or more time cannot be had: a
    /// step of a fixed amount of work on one start of the servers.
    pub(super) fn of(ratio: &StartsEstimate, rule: Rule) -> Option<Self> {
        let estimate = ratio.tested.estimate;
        let Rule { bound, p_needed, block_s, is_timed } = rule;
        if ratio.holds_starts {
            // Over runs no start has a partner, and there is no model of starts: the error is the
            // interval's own.
            let error = ratio.error.or_else(|| ratio.tested.error())?;
            // The interval that so many starts have, whether these happen to agree or not.
            let half = student::quantile(CONFIDENCE, f64::from(ratio.starts) - 1.0) * error;
            let ends = (estimate.point * (-half).exp(), estimate.point * half.exp());
            let of_starts = Estimate { n: ratio.starts, interval: Some(ends), ..estimate };
            let more = blocks_to_settle_among(&of_starts, bound, p_needed, MOST_STARTS)?;
            return Some(Self::Starts { more });
        }
        if !is_timed || block_s <= 0.0 {
            return None;
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

    /// `about 4 min more`, `3 more starts of the servers`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Time { .. } => match self.seconds() {
                Some(_) => format!("about {} more", self.amount()),
                None => format!("more than {} more", self.amount()),
            },
            Self::Starts { more: More::Blocks(1) } => "another start of the servers".to_owned(),
            Self::Starts { more: More::Blocks(n) } => {
                format!("about {n} more starts of the servers")
            }
            Self::Starts { more: More::MoreThan(n) } => {
                format!("more than {n} more starts of the servers")
            }
        }
    }

    /// The same for a table: `+4 min`, `+3 starts`, `>+1 h`.
    #[must_use]
    pub fn short(&self) -> String {
        let is_beyond = match self {
            Self::Time { .. } => self.seconds().is_none(),
            Self::Starts { more } => matches!(more, More::MoreThan(_)),
        };
        format!("{}+{}", if is_beyond { ">" } else { "" }, self.amount())
    }

    fn amount(&self) -> String {
        match self {
            Self::Time { .. } => match self.seconds() {
                Some(s) => number::about((s / STEP_S).ceil().max(1.0) * STEP_S),
                None => number::about(MOST_S),
            },
            Self::Starts { more: More::Blocks(n) | More::MoreThan(n) } => {
                number::count(usize::try_from(*n).unwrap_or(usize::MAX), "start")
            }
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

/// `: about 40 s to 4 min more a step`, over several verdicts; nothing where none can be told.
pub(super) fn amounts(all: impl Iterator<Item = Settle>) -> String {
    let size = |settle: &Settle| match settle {
        Settle::Time { .. } => settle.seconds().unwrap_or(f64::INFINITY),
        Settle::Starts { more: More::Blocks(n) } => f64::from(*n),
        Settle::Starts { more: More::MoreThan(_) } => f64::INFINITY,
    };
    let mut all: Vec<Settle> = all.collect();
    all.sort_by(|a, b| size(a).total_cmp(&size(b)));
    let (Some(least), Some(most)) = (all.first(), all.last()) else { return String::new() };
    let beyond = |settle: &Settle| if size(settle).is_infinite() { "more than " } else { "" };
    if least.short() == most.short() {
        let about = if size(least).is_infinite() { "more than" } else { "about" };
        return format!(": {about} {} more", least.amount());
    }
    let from = match least {
        Settle::Starts { more: More::Blocks(n) } => n.to_string(),
        _ => least.amount(),
    };
    format!(": {from} to {}{} more, by the step", beyond(most), most.amount())
}

/// Whether a step can be measured for longer: not one of a fixed amount of work.
pub(super) fn is_timed(step: &RunStep) -> bool {
    !matches!(step.info.kind, StepKind::Load | StepKind::Index) && !step.info.has_blocks_of_work()
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
    fn in_words_and_in_short() {
        let time = |more| Settle::Time { more, block_s: 4.0 };
        assert_eq!(time(More::Blocks(8)).words(), "about 40 s more");
        assert_eq!(time(More::Blocks(61)).short(), "+4 min");
        assert_eq!(time(More::Blocks(1000)).short(), ">+60 min");
        assert_eq!(time(More::MoreThan(1024)).words(), "more than 60 min more");
        let starts = |more| Settle::Starts { more };
        assert_eq!(starts(More::Blocks(1)).words(), "another start of the servers");
        assert_eq!(starts(More::Blocks(3)).short(), "+3 starts");
        assert_eq!(starts(More::MoreThan(100)).short(), ">+100 starts");
        let several = [time(More::MoreThan(9)), time(More::Blocks(8)), time(More::Blocks(61))];
        assert_eq!(amounts(several.into_iter()), ": 40 s to more than 60 min more, by the step");
        let of_starts = [starts(More::Blocks(21)), starts(More::Blocks(2))];
        assert_eq!(amounts(of_starts.into_iter()), ": 2 to 21 starts more, by the step");
        assert_eq!(amounts([time(More::Blocks(8)); 2].into_iter()), ": about 40 s more");
        assert_eq!(amounts(std::iter::empty()), "");
        assert!(time(More::Blocks(8)).seconds().is_some_and(|s| (s - 32.0).abs() < 1e-9));
    }
}
