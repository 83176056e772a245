//! The sequential schedule: one system after the other, the whole suite each.

use anyhow::{Result, anyhow};

use crate::installation::Installation;
use crate::rounds::Broken;
use crate::run::Lab;
use crate::system::Up;

impl Lab<'_> {
    /// A system from its start to its stop, with every step that it has not done.
    pub(crate) fn one_system(
        &mut self,
        idx: usize,
        installation: &Installation,
    ) -> Result<(), Broken> {
        let log = self.log_path(idx).map_err(|error| self.broken(idx, error))?;
        let up = self.start(idx, installation);
        let mut up = up.map_err(|error| self.broken(idx, error))?;
        let result = self.with_server(idx, &mut up);
        // What failed may have failed because the server died, which shows a moment later.
        // Whoever interrupts is not made to wait for the answer of a server that hangs.
        let interrupted = self.check_interrupt().is_err();
        let _ = result.is_err() && !interrupted && up.answers();
        match result {
            Ok(()) => self.finish(idx, up).map_err(|error| self.broken(idx, error)),
            // What the server tells is the cause of what was seen, and its log reads best at the end.
            Err(error) => {
                self.tell_stop(idx);
                // Told by the error itself, of which only words are left below.
                let is_of_run = self.is_of_run(&error) || up.is_out_of_space();
                let error = match up.abandon(&log) {
                    Some(cause) => anyhow!(cause).context(format!("{error:#}")),
                    None => error,
                };
                Err(if is_of_run { Broken::Run(error) } else { Broken::System(idx, error) })
            }
        }
    }

    fn broken(&self, idx: usize, error: anyhow::Error) -> Broken {
        if self.is_of_run(&error) { Broken::Run(error) } else { Broken::System(idx, error) }
    }

    /// Whether an error would meet every other system as well: results that cannot be written, a full
    /// disk, the user's wish to stop.
    pub(crate) fn is_of_run(&self, error: &anyhow::Error) -> bool {
        let of_server = error.downcast_ref::<rqps_server::Error>();
        error.downcast_ref::<rqps_store::Error>().is_some()
            || matches!(of_server, Some(rqps_server::Error::DiskFull { .. }))
            || self.check_interrupt().is_err()
    }

    fn with_server(&mut self, idx: usize, up: &mut Up) -> Result<()> {
        let facts = up.facts()?;
        self.judge_if_new(idx, &facts)?;
        self.record_facts(idx, facts)?;
        self.catch_up(idx, up)?;
        for step_idx in self.steps_of_start() {
            if !self.is_pending(step_idx, idx) {
                continue;
            }
            self.check_interrupt()?;
            if self.steps[step_idx].fills() {
                self.profile_rest(step_idx, &[(idx, &*up)])?;
            }
            self.one_step(idx, step_idx, up)?;
            self.profile_if_read(step_idx, &[(idx, &*up)])?;
        }
        self.profile_rest(self.steps.len(), &[(idx, &*up)])
    }
}
