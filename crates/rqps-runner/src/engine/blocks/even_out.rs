//! Makes the tables of interleaved systems equal again: in a time, a slower system has written less.
//!
//! The clients of a step that writes draw from one stream each, so that client i has the same events on every
//! system. After the warm-up and after each block, those with fewer events do the rest, which is not counted.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rqps_load::Control;
use rqps_model::SystemIdx;

use super::Blocks;
use crate::engine::observer::Observer;
use crate::event::Event;
use crate::failure::Broken;
use crate::plan::seed::mix;

/// Longest time that evening out takes on a system, over the time of what it follows. It suffices for a
/// server that writes at a fifth of the rate of the fastest one.
const MOST: u32 = 4;

/// How long a part of the rest takes, about: an interrupt is looked for in between.
const PART: Duration = Duration::from_millis(200);

/// Events of a client in the first part of the rest, which tells how many fill a part's time.
const FIRST_PART: u64 = 16;

impl Blocks<'_, '_> {
    /// Lets every system except `failed` do what the furthest has done, after something that took `took`.
    pub(super) fn even_out(
        &mut self,
        failed: Option<SystemIdx>,
        took: Duration,
        observer: &mut dyn Observer,
    ) -> Result<(), Broken> {
        let concerns = |system: SystemIdx| Some(system) != failed;
        let lanes = || self.lanes.iter().filter(|lane| concerns(lane.system));
        if !self.planned.changes_rows() || lanes().any(|lane| !lane.clients.is_closed()) {
            return Ok(());
        }
        let events = lanes().flat_map(|lane| lane.clients.pool.events_of_stream());
        let target = events.copied().max().unwrap_or(0);
        for at in 0..self.lanes.len() {
            if concerns(self.lanes[at].system) {
                self.do_rest(at, target, took * MOST, observer)?;
            }
        }
        self.waiting.thaw();
        Ok(())
    }

    /// Runs the clients of a system until each has had `target` events, for so long at most.
    fn do_rest(
        &mut self,
        at: usize,
        target: u64,
        limit: Duration,
        observer: &mut dyn Observer,
    ) -> Result<(), Broken> {
        let begun = Instant::now();
        let mut part = FIRST_PART;
        let mut done = self.lanes[at].least_events();
        while done < target {
            self.check().map_err(Broken::Run)?;
            if begun.elapsed() >= limit {
                let missing = 1.0 - done as f64 / target as f64;
                let (step, missing) = (&self.planned.info.name, missing * 100.0);
                let label = self.lanes[at].bench.label;
                let told = format!(
                    "{label}: {missing:.0}% of the writes of {step} are missing; the other systems stop waiting"
                );
                observer.tell(Event::Note(&told));
                break;
            }
            self.waiting.only_uncounted(at).map_err(Broken::Unattributed)?;
            let seed = mix(self.seed, 0);
            let Self { lanes, waiting, interrupt, .. } = &mut *self;
            let lane = &mut lanes[at];
            let part_begun = Instant::now();
            let ran = lane.clients.pool.run_up_to(target.min(done + part), seed, &mut |_| {
                waiting.look_at_the_clock();
                if interrupt.load(Ordering::Relaxed) { Control::Stop } else { Control::Go }
            });
            ran.map_err(|error| Broken::of_clients(lane.system, error))?;
            done = lane.least_events();
            if part_begun.elapsed() < PART {
                part *= 2;
            }
        }
        Ok(())
    }
}
