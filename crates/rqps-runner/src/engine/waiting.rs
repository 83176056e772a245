//! The servers of an interleaved step that wait for their slice: stopped, and never for long.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use nix::sys::signal::Signal;
use rqps_server::{Freezer, Watchdog};

use crate::environment::Environment;
use crate::suspension::Suspension;

/// Longest time that a server is stopped. Servers watch themselves: InnoDB ends itself when one of
/// its threads has waited 600 s for a latch, which a stop of its own would look like.
const STOPPED_AT_MOST: Duration = Duration::from_secs(20);

/// How long all servers run between two slices when one of them would be stopped for longer than that:
/// enough for every thread to run once.
const BREATH: Duration = Duration::from_millis(20);

/// The warning about a slice that took so long that servers had to run while they waited.
pub(crate) const RAN_ON: &str = "slices took so long that the waiting servers were not stopped";

/// How a server is stopped; absent for one that is not ours to stop.
pub(crate) type Brake = Option<(Freezer, Signal)>;

/// The servers of a step and, behind them, those that have no part in it. All run again when this is
/// dropped, whatever the reason.
pub(crate) struct Waiting {
    freezers: Vec<Brake>,
    /// Absent where there is nothing to stop. Dropped after the servers go on.
    watchdog: Option<Watchdog>,
    suspension: Suspension,
    /// When the slice under way began, and whether it is counted.
    slice: Option<(Instant, bool)>,
    /// The longest counted slice so far.
    longest: Duration,
    gave_up: bool,
    /// [`STOPPED_AT_MOST`], but for tests.
    at_most: Duration,
}

/// What a step's slices so far say of those that follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlicesSoFar {
    longest: Duration,
    gave_up: bool,
}

impl Waiting {
    /// With `is_slowed` also a single one may be stopped, by its injected slowdown: the watchdog answers for it.
    pub(crate) fn new(
        freezers: Vec<Brake>,
        is_slowed: bool,
        environment: &Environment,
    ) -> Result<Self> {
        let is_held = (freezers.len() > 1 || is_slowed) && freezers.iter().any(Option::is_some);
        let watchdog = match environment.watchdog.split_first() {
            Some((program, arguments)) if is_held => {
                let mut command = Command::new(program);
                command.args(arguments);
                Some(Watchdog::start(command).context("start the watchdog of stopped servers")?)
            }
            _ => None,
        };
        let mut waiting = Self {
            freezers,
            watchdog,
            suspension: environment.suspension.clone(),
            slice: None,
            longest: Duration::ZERO,
            gave_up: false,
            at_most: STOPPED_AT_MOST,
        };
        // None is stopped that the watchdog does not know of.
        waiting.refresh()?;
        if waiting.watchdog.is_some() && waiting.freezers.len() > 1 {
            waiting.suspension.put_off();
        }
        Ok(waiting)
    }

    /// Looks for the servers' processes again. To be called when connections have been opened and
    /// now and then.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        let Some(watchdog) = &mut self.watchdog else { return Ok(()) };
        for (freezer, death) in self.freezers.iter_mut().flatten() {
            freezer.refresh();
            watchdog.hold(freezer, *death).context("register a server with the watchdog")?;
        }
        Ok(())
    }

    /// Stops all but one, which runs, for a slice that is counted.
    pub(crate) fn only(&mut self, at: usize) -> Result<()> {
        self.stop_others(at, true)
    }

    /// The same for a warm-up and for questions to the server, of which nothing is counted: where it takes too
    /// long the others go on until its end.
    pub(crate) fn only_uncounted(&mut self, at: usize) -> Result<()> {
        self.stop_others(at, false)
    }

    fn stop_others(&mut self, at: usize, is_counted: bool) -> Result<()> {
        self.end_slice();
        if self.watchdog.is_none() || self.gave_up {
            return Ok(());
        }
        if self.freezers.len() > 1 && self.suspension.is_asked() {
            // Nothing is counted now.
            self.thaw();
            self.suspension.take_effect();
        }
        let stop = self.longest_stop();
        let is_near = stop > self.at_most / 2 || stop + self.longest > self.at_most;
        if is_near && !stop.is_zero() {
            self.thaw();
            #[expect(clippy::disallowed_methods, reason = "to let the servers run is the point")]
            std::thread::sleep(BREATH);
        }
        for (idx, freezer) in self.freezers.iter_mut().enumerate() {
            let Some((freezer, _)) = freezer else { continue };
            if idx != at {
                freezer.freeze().context("stop a server that waits for its slice")?;
            }
        }
        if let Some((freezer, _)) = &mut self.freezers[at] {
            freezer.thaw();
        }
        self.slice = Some((Instant::now(), is_counted));
        Ok(())
    }

    /// Lets all go on when one has been stopped for too long, which only a single slice of half that length
    /// does: for the rest of the step where it is counted.
    pub(crate) fn look_at_the_clock(&mut self) {
        if self.longest_stop() <= self.at_most {
            return;
        }
        self.gave_up |= self.slice.is_some_and(|(_, is_counted)| is_counted);
        self.end_slice();
        self.thaw();
        if self.gave_up {
            self.suspension.allow();
        }
    }

    /// For how long the one that waits longest has been stopped.
    fn longest_stop(&self) -> Duration {
        let all = self.freezers.iter().flatten();
        all.map(|(freezer, _)| freezer.frozen_for()).max().unwrap_or_default()
    }

    fn end_slice(&mut self) {
        if let Some((since, true)) = self.slice.take() {
            self.longest = self.longest.max(since.elapsed());
        }
    }

    /// Lets all go on until the next slice: before anything that may take its time.
    pub(crate) fn thaw(&mut self) {
        self.end_slice();
        for (freezer, _) in self.freezers.iter_mut().flatten() {
            freezer.thaw();
        }
    }

    /// What is known of the length of slices.
    pub(crate) fn slices_so_far(&self) -> SlicesSoFar {
        SlicesSoFar { longest: self.longest, gave_up: self.gave_up }
    }

    /// Forgets the slices since then, whose length the servers did not cause. All run until the next.
    pub(crate) fn put_back(&mut self, known: SlicesSoFar) {
        self.thaw();
        if self.gave_up && !known.gave_up {
            self.suspension.put_off();
        }
        (self.longest, self.gave_up) = (known.longest, known.gave_up);
    }

    /// Whether slices took so long that the servers that waited went on meanwhile.
    pub(crate) fn gave_up(&self) -> bool {
        self.gave_up
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.thaw();
        self.suspension.allow();
    }
}

#[cfg(test)]
mod tests;
