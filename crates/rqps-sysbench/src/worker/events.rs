//! HOT PATH: the beginning and the end of events. Budget: one clock read each at most.

use std::time::Duration;

use super::Worker;
use crate::run::control::Next;

/// The longest sleep until an event is due, so that a thread notices that another one failed.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

impl Worker {
    /// Begins an event, waiting until it is due; false when there is no further one.
    #[inline]
    pub(crate) fn begin_event(&mut self) -> bool {
        // An event begins when the one before it has ended.
        let now = if self.ended_ns > 0 { self.ended_ns } else { self.control.now_ns() };
        match self.control.next(now) {
            Next::Now => self.began_ns = now,
            Next::At(due) => {
                if !self.wait_until(due) {
                    return false;
                }
                self.began_ns = due;
            }
            Next::Stop => return false,
        }
        self.tally.set_busy(true);
        true
    }

    /// Ends the event under way and counts it.
    #[inline]
    pub(crate) fn end_event(&mut self) {
        let now = self.control.now_ns();
        self.tally.count_event(now.saturating_sub(self.began_ns));
        self.tally.set_busy(false);
        self.ended_ns = now;
    }

    /// Lets an event count from now on: for scripts that say themselves when events begin.
    pub(crate) fn restart_clock(&mut self) {
        if !self.control.has_rate() {
            self.began_ns = self.control.now_ns();
        }
    }

    /// Gives the event under way up: it is not counted.
    pub(crate) fn give_up_event(&mut self) {
        self.tally.set_busy(false);
        self.ended_ns = 0;
    }

    /// Waits until an event is due; false when the run is over before.
    fn wait_until(&self, due_ns: u64) -> bool {
        loop {
            let now_ns = self.control.now_ns();
            if now_ns >= due_ns {
                return true;
            }
            pause(self.control.until(due_ns, now_ns).min(LONGEST_SLEEP));
            if self.control.is_over() {
                return false;
            }
        }
    }
}

/// Does nothing for so long.
#[expect(clippy::disallowed_methods, reason = "until an event is due, or a server may be back")]
pub(super) fn pause(time: Duration) {
    std::thread::sleep(time);
}
