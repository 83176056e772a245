//! Whether rqps ran all the time: a thread that does nothing but look at the clock once a second.
//!
//! What stops rqps from outside (SIGSTOP, the pause of a virtual machine, its move to another host) stops whoever
//! reads the clocks, too, and all of them agree afterwards. What tells of it is that nobody has looked at
//! them for a while. A host that was suspended is told by its clocks ([`crate::engine::clocks`]).

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rqps_model::WarningKind;

/// How often the thread looks at the clock. It costs some microseconds of CPU time each time.
const EVERY: Duration = Duration::from_secs(1);

/// How much later than that a look may come: a thread that wants a CPU for microseconds has it within
/// milliseconds on a host that is busy, within a second on one that swaps.
const TOLERATED: Duration = Duration::from_secs(3);

/// How often in a row something is measured once more because rqps did not run meanwhile. On a host that is
/// paused again and again, what was measured then stays, with a warning.
const AT_MOST: u32 = 3;

/// Looks at the clock until it is dropped.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    shared: Arc<Shared>,
    /// Absent where it could not be started: nothing is known then.
    thread: Option<JoinHandle<()>>,
    /// How often in a row something was to be measured once more.
    n_again: u32,
}

/// What is to become of what was measured.
#[derive(Debug, PartialEq)]
pub(crate) enum Verdict {
    /// It counts, with this warning.
    Keep(Option<WarningKind>),
    /// It is measured once more, as nobody ran for so many seconds of it.
    Again(u32),
}

#[derive(Debug)]
struct Shared {
    beats: Mutex<Beats>,
    ended: Condvar,
}

#[derive(Debug)]
struct Beats {
    last: Instant,
    /// The time without a look since it was last asked for.
    lost: Duration,
    is_over: bool,
}

impl Beats {
    fn at(now: Instant) -> Self {
        Self { last: now, lost: Duration::ZERO, is_over: false }
    }

    fn beat(&mut self, now: Instant) {
        let gap = now.saturating_duration_since(self.last);
        if gap > EVERY + TOLERATED {
            self.lost += gap;
        }
        self.last = now;
    }
}

impl Heartbeat {
    pub(crate) fn start() -> Self {
        let beats = Mutex::new(Beats::at(Instant::now()));
        let shared = Arc::new(Shared { beats, ended: Condvar::new() });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("rqps-heartbeat".to_owned());
        let thread = thread.spawn(move || theirs.run()).ok();
        Self { shared, thread, n_again: 0 }
    }

    /// What was before is no part of what is measured now.
    pub(crate) fn begin(&self) {
        let _ = self.lost_s();
    }

    /// For how long nobody ran since this was called last, seconds; `None` where all was well.
    fn lost_s(&self) -> Option<u32> {
        let mut beats = self.shared.lock();
        // The thread may not have come to it yet.
        beats.beat(Instant::now());
        let lost = std::mem::take(&mut beats.lost);
        let is_known = self.thread.is_some() && !lost.is_zero();
        is_known.then(|| u32::try_from(lost.as_secs()).unwrap_or(u32::MAX))
    }

    /// What is to become of what was measured since [`Self::begin`], where it can be measured once more.
    pub(crate) fn verdict(&mut self) -> Verdict {
        let lost_s = self.lost_s();
        self.verdict_of(lost_s)
    }

    fn verdict_of(&mut self, lost_s: Option<u32>) -> Verdict {
        if let Some(seconds) = lost_s
            && self.n_again < AT_MOST
        {
            self.n_again += 1;
            return Verdict::Again(seconds);
        }
        let once_more =
            (std::mem::take(&mut self.n_again) > 0).then_some(WarningKind::MeasuredAgain);
        Verdict::Keep(lost_s.map(|seconds| WarningKind::Paused { seconds }).or(once_more))
    }

    /// The warning of what was measured since [`Self::begin`] and cannot be measured once more.
    pub(crate) fn warning(&self) -> Option<WarningKind> {
        self.lost_s().map(|seconds| WarningKind::Paused { seconds })
    }

    /// How often what comes next was measured before.
    pub(crate) fn n_again(&self) -> u32 {
        self.n_again
    }
}

/// What is told of a step of which something is measured once more.
pub(crate) fn told(step: &str, seconds: u32) -> String {
    format!(
        "{step}: rqps or the host was paused for {seconds} s; the measurement of that time is repeated"
    )
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.ended.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic in it was reported by the panic hook.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Beats> {
        self.beats.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut beats = self.lock();
        while !beats.is_over {
            let waited = self.ended.wait_timeout(beats, EVERY);
            beats = waited.unwrap_or_else(PoisonError::into_inner).0;
            beats.beat(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_that_come_late_are_time_that_was_lost() {
        let start = Instant::now();
        let at = |s: f64| start + Duration::from_secs_f64(s);
        let mut beats = Beats::at(start);
        // Whoever asks looks as well, and a busy host is late by a little.
        for s in [1.0, 1.2, 2.2, 6.1, 7.1] {
            beats.beat(at(s));
        }
        assert_eq!(beats.lost, Duration::ZERO);
        beats.beat(at(47.1));
        beats.beat(at(48.1));
        assert_eq!(beats.lost, Duration::from_secs(40));
    }

    #[test]
    fn what_was_hit_is_measured_once_more_and_not_for_ever() {
        let mut heartbeat = Heartbeat::start();
        assert_eq!(heartbeat.verdict(), Verdict::Keep(None));
        let once_more = WarningKind::MeasuredAgain;
        assert_eq!(heartbeat.verdict_of(Some(40)), Verdict::Again(40));
        assert_eq!(heartbeat.n_again(), 1);
        assert_eq!(heartbeat.verdict_of(None), Verdict::Keep(Some(once_more)));
        assert_eq!(heartbeat.verdict_of(None), Verdict::Keep(None));
        for _ in 0..AT_MOST {
            assert_eq!(heartbeat.verdict_of(Some(5)), Verdict::Again(5));
        }
        let paused = WarningKind::Paused { seconds: 5 };
        assert_eq!(heartbeat.verdict_of(Some(5)), Verdict::Keep(Some(paused)));
        assert_eq!(heartbeat.n_again(), 0);
    }

    #[test]
    fn a_heart_that_beats_tells_nothing() {
        let heartbeat = Heartbeat::start();
        heartbeat.begin();
        assert_eq!(heartbeat.warning(), None);
        // As if nobody had run for a while.
        let now = Instant::now();
        heartbeat.shared.lock().lost = Duration::from_secs(7);
        assert_eq!(heartbeat.warning(), Some(WarningKind::Paused { seconds: 7 }));
        assert_eq!(heartbeat.warning(), None);
        drop(heartbeat);
        assert!(now.elapsed() < EVERY * 10, "its end is waited for");
    }
}
