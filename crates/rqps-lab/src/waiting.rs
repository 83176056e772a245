//! The servers of an interleaved step that wait for their turn: stopped, and never for long.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use nix::sys::signal::Signal;
use rqps_server::{Freezer, Watchdog};

use crate::run::Context;

/// Longest time that a server is stopped. Servers watch themselves: InnoDB ends itself when one of
/// its threads has waited 600 s for a latch, which a stop of its own would look like.
const STOPPED_AT_MOST: Duration = Duration::from_secs(20);

/// The servers of a step. All go on when this is dropped, whatever the reason.
pub(crate) struct Waiting {
    /// One per system of the step; absent for one that is not ours to stop.
    freezers: Vec<Option<(Freezer, Signal)>>,
    /// Absent where there is nothing to stop. Dropped after the servers go on.
    watchdog: Option<Watchdog>,
    /// When the first of those that are stopped now was stopped.
    since: Option<Instant>,
    gave_up: bool,
}

impl Waiting {
    /// With `is_slowed` also a single one may be stopped, by its handicap: the watchdog answers for it.
    pub(crate) fn new(
        freezers: Vec<Option<(Freezer, Signal)>>,
        is_slowed: bool,
        context: &Context,
    ) -> Result<Self> {
        let is_held = (freezers.len() > 1 || is_slowed) && freezers.iter().any(Option::is_some);
        let watchdog = match context.watchdog.split_first() {
            Some((program, arguments)) if is_held => {
                let mut command = Command::new(program);
                command.args(arguments);
                Some(Watchdog::start(command).context("start the watchdog of stopped servers")?)
            }
            _ => None,
        };
        Ok(Self { freezers, watchdog, since: None, gave_up: false })
    }

    /// Looks for the servers' processes anew. To be called when connections have been opened and
    /// now and then.
    pub(crate) fn refresh(&mut self) -> Result<()> {
        let Some(watchdog) = &mut self.watchdog else { return Ok(()) };
        for (freezer, death) in self.freezers.iter_mut().flatten() {
            freezer.refresh();
            watchdog.hold(freezer, *death).context("tell the watchdog of a server")?;
        }
        Ok(())
    }

    /// Stops all but one, which goes on.
    pub(crate) fn only(&mut self, at: usize) -> Result<()> {
        if self.watchdog.is_none() || self.gave_up {
            return Ok(());
        }
        self.look_at_the_clock();
        if self.gave_up {
            return Ok(());
        }
        for (idx, (freezer, _)) in
            self.freezers.iter_mut().enumerate().filter_map(|(i, f)| Some((i, f.as_mut()?)))
        {
            if idx != at {
                freezer.freeze().context("stop a server that waits for its turn")?;
            }
        }
        if let Some((freezer, _)) = &mut self.freezers[at] {
            freezer.thaw();
        }
        self.since = Some(Instant::now());
        Ok(())
    }

    /// Lets all go on, for the rest of the step, when a turn takes too long.
    pub(crate) fn look_at_the_clock(&mut self) {
        let n = u32::try_from(self.freezers.len()).unwrap_or(u32::MAX).max(2);
        // A server waits for the turns of all others.
        if self.since.is_some_and(|since| since.elapsed() > STOPPED_AT_MOST / (n - 1)) {
            self.thaw();
            self.gave_up = true;
        }
    }

    /// Lets all go on.
    pub(crate) fn thaw(&mut self) {
        self.since = None;
        for (freezer, _) in self.freezers.iter_mut().flatten() {
            freezer.thaw();
        }
    }

    /// Whether turns took so long that the servers that waited went on meanwhile.
    pub(crate) fn gave_up(&self) -> bool {
        self.gave_up
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.thaw();
    }
}
