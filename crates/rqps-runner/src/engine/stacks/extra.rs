//! Extra slices of several systems, in rounds of short slices as measured blocks are, so that what the
//! host does meanwhile is in all of their profiles alike.
//!
//! perf records all of them all the time: of a server that is stopped there is nothing to sample. A slice
//! begins with the server waking up, which is recorded and counted as well.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use rqps_load::{Control, Live, PlaceInBlock, Stop};

use super::record::{Recorded, Recording, Wanted};
use crate::engine::bench::Bench;
use crate::engine::clients::StepClients;
use crate::engine::cut::ALONE;
use crate::engine::waiting::Waiting;
use crate::event::{Event, Listener};
use crate::plan::seed::{mix, shuffled};

/// Length of a slice. Of one system by itself or of many: a wake-up, which takes a millisecond or two, is
/// little of it, and the default time has fifty.
const SLICE: Duration = Duration::from_millis(100);

/// Warm-up of the connections; the caches are warm from the step itself.
const WARM_UP: Duration = Duration::from_millis(500);

/// A system that is to be recorded.
pub(crate) struct Side<'a> {
    /// Its place among those that wait.
    pub(crate) at: usize,
    pub(crate) bench: Bench<'a>,
    /// The server's first process.
    pub(crate) server: i32,
    pub(crate) clients: StepClients,
}

/// A step that is recorded.
pub(crate) struct Extra<'a> {
    /// Measured time of each system.
    pub(crate) time: Duration,
    /// Of all that is drawn.
    pub(crate) seed: u64,
    pub(crate) wanted: Wanted<'a>,
    /// Where perf's files are meanwhile.
    pub(crate) temp: &'a std::path::Path,
    pub(crate) interrupt: &'a AtomicBool,
}

/// A system while it is recorded.
struct UnderWay<'a> {
    side: Side<'a>,
    recording: Result<Recording>,
    /// How long it was recorded up to now, ns.
    spent_ns: u64,
    /// Whether the clock of a set rate has begun.
    is_on_clock: bool,
}

impl Extra<'_> {
    /// Records all members; one that fails does not keep the others from it. An error is that of all: it
    /// was interrupted, or servers could not be stopped.
    pub(crate) fn record(
        &self,
        systems: Vec<Side<'_>>,
        waiting: &mut Waiting,
        listen: &mut Listener<'_>,
    ) -> Result<Vec<Result<Recorded>>> {
        waiting.refresh()?;
        let mut sides = Vec::new();
        for side in systems {
            self.check()?;
            waiting.only_uncounted(side.at)?;
            sides.push(self.begin(side, listen));
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
    fn begin<'m>(&self, mut side: Side<'m>, listen: &mut Listener<'_>) -> UnderWay<'m> {
        let Side { server, clients, .. } = &mut side;
        let orders = clients.orders(Stop::Time(WARM_UP), ALONE, mix(self.seed, 0));
        let mut show = |live: Live| self.show(Duration::ZERO, live, listen);
        let warm = clients.pool.run_roles(&orders, &mut |_| {}, &mut show);
        let recording = warm.map_err(anyhow::Error::from).and_then(|_| {
            clients.placed.renew()?;
            Recording::start(*server, &clients.serving, self.wanted, self.temp)
        });
        UnderWay { side, recording, spent_ns: 0, is_on_clock: false }
    }

    /// Rounds until each has had its time, as in a block: events that last beyond the end of a slice use it
    /// up.
    fn rounds(
        &self,
        sides: &mut [UnderWay<'_>],
        waiting: &mut Waiting,
        listen: &mut Listener<'_>,
    ) -> Result<()> {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let enough_ns = ns(self.time.saturating_sub(SLICE / 2)).max(1);
        let is_due = |side: &UnderWay<'_>| side.recording.is_ok() && side.spent_ns < enough_ns;
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
                let is_last = side.spent_ns + ns(SLICE) >= enough_ns;
                let is_first = !std::mem::replace(&mut side.is_on_clock, true);
                let place = PlaceInBlock { is_first, is_last };
                let orders = side.side.clients.orders(Stop::Time(SLICE), place, seed);
                waiting.only_uncounted(side.side.at)?;
                let before = Duration::from_nanos(side.spent_ns);
                let mut show = |live: Live| {
                    waiting.look_at_the_clock();
                    self.show(before, live, listen)
                };
                let mut spent_ns = side.spent_ns;
                side.on(|recording, Side { bench, clients, .. }| {
                    spent_ns = recording.slice(clients, &orders, bench, &mut show)?;
                    Ok(())
                });
                side.spent_ns = spent_ns;
            }
        }
        Ok(())
    }

    /// Shows how far a slice has come, after so much time in others; tells whether it goes on.
    fn show(&self, before: Duration, live: Live, listen: &mut Listener<'_>) -> Control {
        let elapsed = before + live.elapsed;
        let qps = live.n_queries as f64 / live.elapsed.as_secs_f64().max(1e-9);
        listen(Event::Measuring { system: None, slice: None, elapsed, qps });
        if self.interrupt.load(Ordering::Relaxed) { Control::Stop } else { Control::Go }
    }
}

impl UnderWay<'_> {
    /// Does something with its recording, unless that has failed; and fails it where that fails.
    fn on(&mut self, what: impl FnOnce(&mut Recording, &mut Side<'_>) -> Result<()>) {
        if let Ok(recording) = &mut self.recording
            && let Err(error) = what(recording, &mut self.side)
        {
            self.recording = Err(error);
        }
    }
}
