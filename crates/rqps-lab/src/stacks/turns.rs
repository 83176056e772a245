//! Extra slices of several systems, in rounds of short turns as measured blocks are, so that what the
//! host does meanwhile is in all of their profiles alike.
//!
//! perf records all of them all the time: of a server that is stopped there is nothing to sample. What a
//! turn begins with, the server waking up, is recorded as well, and counted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use rqps_load::{Control, Order, Pace, Stop};

use super::record::{Recorded, Recording, Wanted};
use crate::bench::Bench;
use crate::event::{Event, Listener};
use crate::measure::{Manned, pace, run_slice};
use crate::seed::{mix, shuffled};
use crate::steps::PlannedStep;
use crate::waiting::Waiting;

/// Length of a turn. Of one system by itself or of many: a wake-up, which takes a millisecond or two, is
/// little of it, and the default time has fifty.
const TURN: Duration = Duration::from_millis(100);

/// Warm-up of the connections; the caches are warm from the step itself.
const WARM_UP: Duration = Duration::from_millis(500);

/// A system that is to be recorded.
pub(super) struct Member<'a> {
    /// Its place among those that wait.
    pub(super) at: usize,
    pub(super) bench: Bench<'a>,
    /// The server's first process.
    pub(super) server: i32,
    pub(super) manned: Manned,
}

/// A step that is recorded.
pub(super) struct Extra<'a> {
    pub(super) planned: &'a PlannedStep,
    /// Measured time of each system.
    pub(super) time: Duration,
    /// Of all that is drawn.
    pub(super) seed: u64,
    pub(super) wanted: Wanted<'a>,
    /// Where perf's files are meanwhile.
    pub(super) temp: &'a std::path::Path,
    pub(super) interrupt: &'a AtomicBool,
}

/// A member and what has become of it.
struct Side<'a> {
    member: Member<'a>,
    recording: Result<Recording>,
    /// How long it was recorded up to now, ns.
    spent_ns: u64,
    /// Whether the clock of a set rate has begun.
    is_on_clock: bool,
}

impl Extra<'_> {
    /// Records all members; one that fails does not keep the others from it. An error is that of all: it
    /// was interrupted, or servers could not be stopped.
    pub(super) fn record(
        &self,
        members: Vec<Member<'_>>,
        waiting: &mut Waiting,
        listen: &mut Listener<'_>,
    ) -> Result<Vec<Result<Recorded>>> {
        waiting.refresh()?;
        let mut sides = Vec::new();
        for member in members {
            self.check()?;
            waiting.only_uncounted(member.at)?;
            sides.push(self.begin(member, listen));
        }
        for side in &mut sides {
            side.on(|recording, _| recording.enable());
        }
        let result = self.rounds(&mut sides, waiting, listen);
        for side in &mut sides {
            side.on(|recording, _| recording.disable());
        }
        // No answer is awaited, with the servers stopped.
        for recording in sides.iter_mut().filter_map(|side| side.recording.as_mut().ok()) {
            recording.stop_counting();
        }
        for recording in sides.iter().filter_map(|side| side.recording.as_ref().ok()) {
            recording.await_counting();
        }
        // What takes its time now is perf's work.
        waiting.thaw();
        result?;
        Ok(sides.into_iter().map(|side| side.recording.and_then(Recording::finish)).collect())
    }

    fn check(&self) -> Result<()> {
        ensure!(!self.interrupt.load(Ordering::Relaxed), "interrupted");
        Ok(())
    }

    /// Warms up a member's connections and gets ready to record it.
    fn begin<'m>(&self, mut member: Member<'m>, listen: &mut Listener<'_>) -> Side<'m> {
        let stop = Stop::Time(WARM_UP);
        let order = Order { pace: pace(self.planned), stop, seed: mix(self.seed, 0) };
        let Member { bench, server, manned, .. } = &mut member;
        let warm = run_slice(&mut manned.crew, &order, (bench, None), &mut |_| {}, listen);
        let recording = warm.map_err(anyhow::Error::from).and_then(|_| {
            manned.placed.renew()?;
            Recording::start(*server, &manned.serving, self.wanted, self.temp)
        });
        Side { member, recording, spent_ns: 0, is_on_clock: false }
    }

    /// Rounds until each has had its time, as in a block: events that last beyond the end of a turn use it
    /// up.
    fn rounds(
        &self,
        sides: &mut [Side<'_>],
        waiting: &mut Waiting,
        listen: &mut Listener<'_>,
    ) -> Result<()> {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let enough_ns = ns(self.time.saturating_sub(TURN / 2)).max(1);
        let is_due = |side: &Side<'_>| side.recording.is_ok() && side.spent_ns < enough_ns;
        let mut n_rounds = 0;
        while sides.iter().any(is_due) {
            n_rounds += 1;
            let seed = mix(self.seed, n_rounds);
            for k in shuffled(sides.len(), seed) {
                self.check()?;
                let side = &mut sides[k];
                if side.recording.is_err() {
                    continue;
                }
                let is_last = side.spent_ns + ns(TURN) >= enough_ns;
                let order = self.order(side, is_last, seed);
                waiting.only_uncounted(side.member.at)?;
                let before_ns = side.spent_ns;
                let mut show = |live: rqps_load::Live| {
                    waiting.look_at_the_clock();
                    let elapsed = Duration::from_nanos(before_ns) + live.elapsed;
                    let qps = live.n_queries as f64 / live.elapsed.as_secs_f64().max(1e-9);
                    listen(Event::Measuring { system: None, slice: None, elapsed, qps });
                    let is_over = self.interrupt.load(Ordering::Relaxed);
                    if is_over { Control::Stop } else { Control::Go }
                };
                let mut spent_ns = before_ns;
                side.on(|recording, Member { bench, manned, .. }| {
                    spent_ns = recording.turn(manned, &order, bench, &mut show)?;
                    Ok(())
                });
                side.spent_ns = spent_ns;
            }
        }
        Ok(())
    }

    /// The next turn's; the clock of a set rate goes on from turn to turn.
    fn order(&self, side: &mut Side<'_>, is_last: bool, seed: u64) -> Order {
        let pace = match pace(self.planned) {
            Pace::Rate { events_per_s } => {
                let is_first = !std::mem::replace(&mut side.is_on_clock, true);
                Pace::Ongoing { events_per_s, turn: rqps_load::Turn { is_first, is_last } }
            }
            pace => pace,
        };
        Order { pace, stop: Stop::Time(TURN), seed }
    }
}

impl Side<'_> {
    /// Does something with its recording, unless that has failed; and fails it where that fails.
    fn on(&mut self, what: impl FnOnce(&mut Recording, &mut Member<'_>) -> Result<()>) {
        if let Ok(recording) = &mut self.recording
            && let Err(error) = what(recording, &mut self.member)
        {
            self.recording = Err(error);
        }
    }
}
