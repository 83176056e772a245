//! The host's clocks against one another: a wall clock that was set, a host that was suspended.
//!
//! All that is measured is measured by the monotonic clock, which neither changes. But rates of a host that
//! slept in between, or whose wall clock and so order of events is wrong, should say so.

use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use rqps_model::WarningKind;

/// How far the wall clock may go apart from the others in a block without having been set: it is corrected
/// by up to 500 parts in a million (adjtimex(2)), and three reads of clocks are not one.
const DRIFT: f64 = 0.001;

/// The same for short blocks.
const LEAST: Duration = Duration::from_millis(250);

/// A suspension shorter than this is the time between two reads.
const SUSPENDED: Duration = Duration::from_millis(50);

/// The clocks at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clocks {
    /// Time since 1970, as the host has it.
    wall: Duration,
    /// Time since boot, without that in which the host was suspended.
    awake: Duration,
    /// Time since boot.
    since_boot: Duration,
}

impl Clocks {
    /// Reads all; nothing where the kernel has no clock since boot (before 2.6.39).
    pub(crate) fn read() -> Option<Self> {
        let read = |id| clock_gettime(id).ok().map(Duration::from);
        Some(Self {
            wall: read(ClockId::CLOCK_REALTIME)?,
            awake: read(ClockId::CLOCK_MONOTONIC)?,
            since_boot: read(ClockId::CLOCK_BOOTTIME)?,
        })
    }

    /// What happened to them between `before` and now.
    pub(crate) fn since(self, before: Self) -> Vec<WarningKind> {
        let mut warnings = Vec::new();
        let passed = self.since_boot.saturating_sub(before.since_boot);
        let awake = self.awake.saturating_sub(before.awake);
        let asleep = passed.saturating_sub(awake);
        if asleep > SUSPENDED {
            warnings.push(WarningKind::HostSuspended { ms: whole_ms(asleep) });
        }
        let tolerated = LEAST.max(passed.mul_f64(DRIFT));
        let should_be = before.wall + passed;
        if self.wall > should_be + tolerated {
            let by_ms = whole_ms(self.wall - should_be).cast_signed();
            warnings.push(WarningKind::ClockSet { by_ms });
        } else if self.wall + tolerated < should_be {
            let by_ms = -whole_ms(should_be - self.wall).cast_signed();
            warnings.push(WarningKind::ClockSet { by_ms });
        }
        warnings
    }
}

fn whole_ms(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(wall_s: f64, awake_s: f64, since_boot_s: f64) -> Clocks {
        let [wall, awake, since_boot] =
            [wall_s, awake_s, since_boot_s].map(Duration::from_secs_f64);
        Clocks { wall, awake, since_boot }
    }

    #[test]
    fn clocks_that_agree_say_nothing() {
        let before = at(1e9, 500.0, 600.0);
        assert!(at(1e9 + 5.0, 505.0, 605.0).since(before).is_empty());
        // Corrected by the most that a kernel does: half a second in a quarter of an hour.
        assert!(at(1e9 + 1000.5, 1500.0, 1600.0).since(before).is_empty());
        assert!(at(1e9 + 4.9, 504.99, 605.0).since(before).is_empty());
        let now = Clocks::read().unwrap();
        assert!(Clocks::read().unwrap().since(now).is_empty());
    }

    #[test]
    fn a_clock_that_was_set_and_a_host_that_slept_are_told_apart() {
        let before = at(1e9, 500.0, 600.0);
        let forward = at(1e9 + 3605.0, 505.0, 605.0).since(before);
        assert_eq!(forward, [WarningKind::ClockSet { by_ms: 3_600_000 }]);
        let back = at(1e9 - 55.0, 505.0, 605.0).since(before);
        assert_eq!(back, [WarningKind::ClockSet { by_ms: -60_000 }]);
        // The wall clock goes on meanwhile.
        let slept = at(1e9 + 95.0, 505.0, 695.0).since(before);
        assert_eq!(slept, [WarningKind::HostSuspended { ms: 90_000 }]);
        assert_eq!(at(1e9, 505.0, 695.0).since(before).len(), 2);
    }
}
