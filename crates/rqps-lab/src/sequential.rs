//! The sequential schedule: one system after the other, the whole suite each.

use anyhow::Result;

use crate::failure::{Broken, Kept};
use crate::installation::Installation;
use crate::run::Lab;
use crate::system::Up;

impl Lab<'_> {
    /// A system from its start to its stop, with every step that it has not done.
    pub(crate) fn one_system(
        &mut self,
        idx: usize,
        installation: &Installation,
    ) -> Result<(), Broken> {
        let up = self.start(idx, installation);
        let mut up = up.map_err(|error| self.broken(idx, error))?;
        loop {
            match self.with_server(idx, &mut up) {
                Ok(()) => break,
                Err(error) => up = self.after_failure(idx, installation, (up, error))?,
            }
        }
        self.finish(idx, up).map_err(|error| self.broken(idx, error))
    }

    pub(crate) fn broken(&self, idx: usize, error: anyhow::Error) -> Broken {
        if self.is_of_run(&error) { Broken::Run(error) } else { Broken::System(idx, error) }
    }

    /// Whether an error would meet every other system as well: results that cannot be written, the
    /// user's wish to stop; in turns, what keeps one of them from the data that it goes on with, as the
    /// others have to wait for it. The full disk of a server's data is that server's: others may have room.
    pub(crate) fn is_of_run(&self, error: &anyhow::Error) -> bool {
        let waits = self.plan.schedule.is_interleaved() && error.downcast_ref::<Kept>().is_some();
        waits
            || error.downcast_ref::<rqps_store::Error>().is_some()
            || self.check_interrupt().is_err()
    }

    fn with_server(&mut self, idx: usize, up: &mut Up) -> Result<()> {
        self.taken_back(idx, up)?;
        for step_idx in self.steps_of_start() {
            if !self.is_pending(step_idx, idx) {
                continue;
            }
            self.check_interrupt()?;
            self.judge_sizes(step_idx)?;
            if self.steps[step_idx].fills() {
                self.profile_rest(step_idx, &[(idx, &*up)])?;
                self.is_there(up)?;
            }
            self.one_step(idx, step_idx, up)?;
            self.profile_if_read(step_idx, &[(idx, &*up)])?;
            self.is_there(up)?;
        }
        self.profile_rest(self.steps.len(), &[(idx, &*up)])
    }
}
