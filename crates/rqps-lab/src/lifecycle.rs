//! How the systems of a run come up and go down.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::event::Event;
use crate::installation::Installation;
use crate::run::Lab;
use crate::system::{Data, Left, Start, Up};

impl Lab<'_> {
    /// Starts a system: on the data that an earlier attempt has left where the run can go on with these,
    /// else on new ones.
    pub(crate) fn start(&mut self, idx: usize, installation: &Installation) -> Result<Up> {
        let name = format!("{}-{idx}", self.run.id);
        if let Some(up) = self.start_again((idx, &name), installation)? {
            return Ok(up);
        }
        self.start_anew(idx, installation)
    }

    /// Starts a system on new data.
    pub(crate) fn start_anew(&mut self, idx: usize, installation: &Installation) -> Result<Up> {
        let name = format!("{}-{idx}", self.run.id);
        self.states[idx].caution.left = false;
        loop {
            let how = Start { context: self.context, name: &name, data: Data::New };
            match Up::start(self.plan, idx, installation, how, self.listen) {
                Err(error) if self.is_worth_another_start(idx, &error)? => {}
                other => return other,
            }
        }
    }

    /// Stops a system after a failure. With `is_of_run` it is not to blame: its data stay for when the run goes
    /// on. Gives what the server's end tells of the cause.
    pub(crate) fn give_up(&mut self, idx: usize, up: Up, is_of_run: bool) -> Option<String> {
        let label = &self.plan.systems[idx].label;
        (self.listen)(Event::Preparing { label, doing: up.ending() });
        // Without a place for its log it is stopped all the same.
        let log = self.log_path(idx).ok();
        if !is_of_run {
            return up.abandon(log.as_deref());
        }
        let Left { cause, dir } = up.leave(log.as_deref());
        if let Some(dir) = dir {
            (self.listen)(Event::Note(&format!(
                "{label}: its data stay in {} until the run goes on or is removed",
                dir.display()
            )));
        }
        cause
    }

    /// Stops a system for good and keeps its log.
    pub(crate) fn finish(&mut self, idx: usize, up: Up) -> Result<()> {
        let log = self.log_path(idx)?;
        let label = &self.plan.systems[idx].label;
        (self.listen)(Event::Preparing { label, doing: up.ending() });
        match up.finish(Some(&log))? {
            Some(what) => self.incident(Some(idx), what),
            None => Ok(()),
        }
    }

    /// Where a run keeps what belongs to one of its systems.
    pub(crate) fn log_path(&self, system_idx: usize) -> Result<PathBuf> {
        self.log_of_start(self.start_idx, system_idx)
    }

    /// The same of any start of the servers.
    pub(crate) fn log_of_start(&self, start_idx: u32, system_idx: usize) -> Result<PathBuf> {
        let artifacts: &Path = &self.store.artifact_dir(&self.run.id)?;
        Ok(artifacts.join(match start_idx {
            0 => format!("server-{system_idx}.log"),
            start => format!("server-{system_idx}-start-{}.log", start + 1),
        }))
    }
}
