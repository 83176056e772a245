//! Arithmetic that keeps a process tree's counters complete and monotonic while processes end.
//!
//! What the tree used up to now is
//!
//! ```text
//!   sum over living processes of their own use
//! + what ended children had used before the first sample (the kernel's sum then)
//! + max( what the kernel says ended children used since,   complete, but rounded down to ticks;
//!        what was last seen of processes that ended )      exact, but misses their last moments
//! ```
//!
//! The kernel adds a child's use to its parent's `cutime`, `cstime`, `cminflt` and `cmajflt` when
//! the parent waits for it, with what that child had collected from its own children (`wait4(2)`,
//! `wait_task_zombie` in kernel/exit.c). Nothing is in two places, so that the sum over all living
//! processes, not only the root, is right.

/// CPU time and faults, which the kernel hands over to the parent when a process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Charge {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) total_ns: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
}

impl Charge {
    /// Applies `f` field by field.
    fn with(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self {
            user_ns: f(self.user_ns, other.user_ns),
            system_ns: f(self.system_ns, other.system_ns),
            total_ns: f(self.total_ns, other.total_ns),
            minor_faults: f(self.minor_faults, other.minor_faults),
            major_faults: f(self.major_faults, other.major_faults),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    pub(crate) fn max(self, other: Self) -> Self {
        self.with(other, u64::max)
    }

    fn minus(self, other: Self) -> Self {
        self.with(other, u64::saturating_sub)
    }
}

/// What a tree has used, over the life of all its processes.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The kernel's sum over ended children at the first sample.
    reaped_before: Option<Charge>,
    /// Sum of the last values seen of processes that ended.
    last_seen: Charge,
    /// The latest result, which the next is not to fall below.
    latest: Charge,
}

impl Tally {
    /// A process ended; `own` is what was last seen of it.
    pub(crate) fn ended(&mut self, own: Charge) {
        self.last_seen = self.last_seen.plus(own);
    }

    /// The tree's use, given the sums over living processes of their own use and of what the
    /// kernel says that their ended children used.
    pub(crate) fn total(&mut self, own: Charge, reaped: Charge) -> Charge {
        let before = *self.reaped_before.get_or_insert(reaped);
        let ended = reaped.minus(before).max(self.last_seen);
        self.latest = self.latest.max(own.plus(before).plus(ended));
        self.latest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charge(total_ns: u64) -> Charge {
        Charge { total_ns, ..Charge::default() }
    }

    #[test]
    fn a_child_that_ends_stays_counted_once() {
        let mut tally = Tally::default();
        // The root used 100 and a child 50; children before that 20.
        assert_eq!(tally.total(charge(150), charge(20)), charge(170));
        // The child uses 5 more and ends; the kernel has it, rounded down to 52.
        tally.ended(charge(50));
        assert_eq!(tally.total(charge(100), charge(72)), charge(172));
        // It ends and is not waited for yet: what was last seen stands.
        let mut tally = Tally::default();
        assert_eq!(tally.total(charge(150), charge(20)), charge(170));
        tally.ended(charge(50));
        assert_eq!(tally.total(charge(100), charge(20)), charge(170));
        // A child that came and went between two samples is known from the kernel alone.
        assert_eq!(tally.total(charge(100), charge(95)), charge(195));
    }

    #[test]
    fn never_falls() {
        let mut tally = Tally::default();
        assert_eq!(tally.total(charge(150), charge(0)), charge(150));
        assert_eq!(tally.total(charge(100), charge(0)), charge(150));
        assert_eq!(tally.total(charge(151), charge(0)), charge(151));
    }
}
