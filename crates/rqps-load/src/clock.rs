//! HOT PATH: monotonic nanoseconds since a common start. Budget: one clock read, no division.

use std::time::{Duration, Instant};

/// Time since the common start of a slice.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that reads 0 at `start`, which may lie in the future.
    #[must_use]
    pub fn starting_at(start: Instant) -> Self {
        Self { start }
    }

    /// Nanoseconds since the start; 0 before it.
    #[must_use]
    #[inline]
    pub fn now_ns(&self) -> u64 {
        let since = Instant::now().saturating_duration_since(self.start);
        since.as_secs() * 1_000_000_000 + u64::from(since.subsec_nanos())
    }

    /// Waits until the clock reads `at_ns`. Sleeps; the caller sees how late it woke.
    pub fn wait_until(&self, at_ns: u64) {
        let target = self.start + Duration::from_nanos(at_ns);
        loop {
            let left = target.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            #[expect(clippy::disallowed_methods, reason = "a pause until a due time is the point")]
            std::thread::sleep(left);
        }
    }
}
