//! The sequential schedule: one system after the other, the whole suite each.

use anyhow::{Result, anyhow};

use crate::installation::Installation;
use crate::run::Lab;
use crate::system::Up;

impl Lab<'_> {
    /// A system from its start to its stop, with every step that it has not done.
    pub(crate) fn one_system(&mut self, idx: usize, installation: &Installation) -> Result<()> {
        let log = self.log_path(idx)?;
        let mut up = self.start(idx, installation)?;
        let result = self.with_server(idx, &mut up);
        // What failed may have failed because the server died, which shows a moment later.
        // Whoever interrupts is not made to wait for the answer of a server that hangs.
        let interrupted = self.check_interrupt().is_err();
        let _ = result.is_err() && !interrupted && up.answers();
        match result {
            Ok(()) => self.finish(idx, up),
            // What the server tells is the cause of what was seen, and its log reads best at the end.
            Err(error) => {
                self.tell_stop(idx);
                Err(match up.abandon(&log) {
                    Some(cause) => anyhow!(cause).context(format!("{error:#}")),
                    None => error,
                })
            }
        }
    }

    fn with_server(&mut self, idx: usize, up: &mut Up) -> Result<()> {
        self.record_facts(idx, up)?;
        self.catch_up(idx, up)?;
        for step_idx in 0..self.steps.len() {
            if self.is_pending(step_idx, idx) {
                self.check_interrupt()?;
                self.one_step(idx, step_idx, up)?;
            }
        }
        Ok(())
    }
}
