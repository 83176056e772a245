//! Servers that fail in the middle of a run: their step is recorded as failed, they are started anew on
//! tables filled anew, and the run goes on; one that fails again and again is taken out of it.

use anyhow::{Context as _, Result, anyhow, ensure};
use rqps_model::{Label, StepKind, StepOutcome};

use crate::failure::Broken;
use crate::insert;
use crate::installation::Installation;
use crate::interleaved::{Member, Together};
use crate::run::Lab;
use crate::system::Up;

/// How often the server of a system may fail before it is taken out of the run. Once or twice may be
/// chance, or the fault of a single step; a server that fails everywhere would make a day of failures.
pub(crate) const FAULTS_AT_MOST: u32 = 3;

/// What is said of a server that has ended beside the steps.
const GONE: &str = "its server ended while stacks were recorded";

impl Lab<'_> {
    /// What becomes of a system after `error`: where its server has ended, hangs, was killed for lack of
    /// memory or has no room left for its data, the step under way is recorded as failed and the server is
    /// started with new data. Its tables are filled by whoever takes it back ([`Lab::catch_up`]).
    ///
    /// # Errors
    /// [`Broken::Run`] for what would meet every other system as well; [`Broken::System`] when the server is
    /// not to blame, cannot be started, or has failed too often.
    pub(crate) fn after_failure(
        &mut self,
        idx: usize,
        installation: &Installation,
        (mut up, error): (Up, anyhow::Error),
    ) -> Result<Up, Broken> {
        // What failed may have failed because the server died, which shows a moment later.
        // Whoever interrupts is not made to wait for the answer of a server that hangs.
        let is_interrupted = self.check_interrupt().is_err();
        let is_gone = !is_interrupted && !up.answers();
        // A server without room for its data may go on to answer.
        let is_full = up.is_out_of_space();
        // Told by the error itself, of which only words are left below.
        let is_of_run = self.is_of_run(&error);
        // What the server tells is the cause of what was seen, and its log reads best at the end.
        let error = match self.give_up(idx, up, is_of_run || is_interrupted) {
            Some(cause) => anyhow!(cause).context(format!("{error:#}")),
            None => error,
        };
        if is_of_run || is_interrupted {
            return Err(Broken::Run(error));
        }
        let is_ours = matches!(installation, Installation::Local(..));
        // What makes tables and fills the disk would fill it again.
        let is_mended_by_start = if is_full { !self.makes_tables(idx) } else { is_gone };
        if !is_ours || !is_mended_by_start {
            return Err(Broken::System(idx, error));
        }
        self.states[idx].n_faults += 1;
        let n = self.states[idx].n_faults;
        let label = self.plan.systems[idx].label.clone();
        let error = if n >= FAULTS_AT_MOST {
            error.context(format!(
                "{label} is taken out of the run after {n} failures of its server"
            ))
        } else {
            error
        };
        self.record_fault(idx, &error).map_err(Broken::Run)?;
        if n >= FAULTS_AT_MOST {
            return Err(Broken::System(idx, error));
        }
        let what = format!(
            "its server failed ({n} of at most {FAULTS_AT_MOST} times) and is started anew: {}",
            format!("{error:#}").trim_end()
        );
        self.incident(Some(idx), what).map_err(Broken::Run)?;
        let up = self.start(idx, installation);
        up.map_err(|error| {
            let doing = format!("start {label} again after its server failed");
            self.broken(idx, error.context(doing))
        })
    }

    /// Whether a server that did not start is started once more: when somebody killed it. It counts as a
    /// failure of it.
    pub(crate) fn is_worth_another_start(
        &mut self,
        idx: usize,
        error: &anyhow::Error,
    ) -> Result<bool> {
        if !was_killed(error) || self.check_interrupt().is_err() {
            return Ok(false);
        }
        self.states[idx].n_faults += 1;
        let n = self.states[idx].n_faults;
        if n >= FAULTS_AT_MOST {
            return Ok(false);
        }
        let error = format!("{error:#}");
        let what = format!(
            "its server was killed before it answered ({n} of at most {FAULTS_AT_MOST} failures) and is \
             started anew: {}",
            error.trim_end()
        );
        self.incident(Some(idx), what)?;
        Ok(true)
    }

    /// Whether a system is in a load or has its indexes made, or is between steps, where tables are filled
    /// anew.
    fn makes_tables(&self, idx: usize) -> bool {
        self.states[idx].under_way.is_none_or(|step_idx| self.is_repeated(step_idx))
    }

    /// Whether a step is done again after a failure: a load or the making of indexes, without whose tables
    /// no step after it means anything.
    fn is_repeated(&self, step_idx: usize) -> bool {
        let planned = &self.steps[step_idx];
        planned.fills() || planned.info.kind == StepKind::Index
    }

    /// Records the step that a system was in as failed, but for one that is done again. One that was
    /// measured to its end is done: what comes after it, settling and sizes, is no part of its figure.
    fn record_fault(&mut self, idx: usize, error: &anyhow::Error) -> Result<()> {
        let Some(step_idx) = self.states[idx].under_way.take() else { return Ok(()) };
        if self.is_repeated(step_idx) || !self.is_pending(step_idx, idx) {
            return Ok(());
        }
        let outcome = if self.states[idx].caution.measured == Some(step_idx) {
            self.was_measured(idx, step_idx, insert::server_failed);
            self.judged(step_idx, idx, StepOutcome::Done)
        } else {
            let reason = format!("{error:#}").trim_end().to_owned();
            StepOutcome::Failed { reason }
        };
        self.tell_end(idx, step_idx, &outcome);
        let state = &mut self.run.steps[step_idx].systems[idx];
        state.outcome = outcome;
        self.store.set_outcome(&self.run.id, step_idx, idx, state)?;
        Ok(())
    }

    /// Asks a server that was just started what it is, and brings its tables to where the run is.
    pub(crate) fn taken_back(&mut self, idx: usize, up: &mut Up) -> Result<()> {
        let label = &self.plan.systems[idx].label;
        let facts = up.facts().with_context(|| format!("ask {label} what it is"))?;
        self.judge_if_new(idx, &facts)?;
        self.take_down(idx, facts)?;
        let label = &self.plan.systems[idx].label;
        self.catch_up(idx, up).with_context(|| format!("bring {label} back"))
    }

    /// Starts the server of a member anew that has failed with an error, and brings its tables to where
    /// the run is; goes on without it where that does not help and the others are of use.
    pub(crate) fn mend(
        &mut self,
        all: &mut Together<'_>,
        (idx, mut error): (usize, anyhow::Error),
    ) -> Result<()> {
        loop {
            self.replace(all, (idx, error))?;
            let Some(up) = all.up(idx) else { return Ok(()) };
            match self.taken_back(idx, up) {
                Ok(()) => return Ok(()),
                Err(again) => error = again,
            }
        }
    }

    /// The same without its tables, which are filled by whoever takes it back.
    pub(crate) fn replace(
        &mut self,
        all: &mut Together<'_>,
        (idx, error): (usize, anyhow::Error),
    ) -> Result<()> {
        let at = all.members.iter().position(|member| member.0 == idx);
        let (Some(at), Some((_, installation))) = (at, all.ready.iter().find(|one| one.0 == idx))
        else {
            return Err(error);
        };
        let (_, up) = all.members.remove(at);
        match self.after_failure(idx, installation, (up, error)) {
            Ok(up) => all.members.insert(at, (idx, up)),
            Err(Broken::System(_, error)) if self.is_of_use_without(idx) => {
                let out = self.out(idx, error)?;
                all.missing.push(out);
            }
            Err(Broken::System(_, error) | Broken::Run(error)) => return Err(error),
        }
        Ok(())
    }

    /// Passes on what came of something done beside the steps; servers that are gone after it are started
    /// anew, whether it failed or not.
    pub(crate) fn or_mend(&mut self, all: &mut Together<'_>, result: Result<()>) -> Result<()> {
        if result.is_ok() && !self.may_have_lost_servers() {
            return Ok(());
        }
        if result.as_ref().is_err_and(|error| self.is_of_run(error)) {
            return result;
        }
        // One that has nothing more to do is left as it is.
        let is_gone = |(idx, up): &mut Member| {
            (self.first_pending(*idx).is_some() && !up.answers()).then_some(*idx)
        };
        let gone: Vec<usize> = all.members.iter_mut().filter_map(is_gone).collect();
        if gone.is_empty() {
            return result;
        }
        let words = match result {
            Ok(()) => GONE.to_owned(),
            Err(error) => format!("{error:#}"),
        };
        for idx in gone {
            self.mend(all, (idx, anyhow!("{words}")))?;
        }
        Ok(())
    }

    /// An error where a server has ended while stacks were recorded, which tells of no server: it would
    /// cost the next step.
    pub(crate) fn is_there(&self, up: &mut Up) -> Result<()> {
        ensure!(!self.may_have_lost_servers() || up.answers(), GONE);
        Ok(())
    }

    /// Whether something is done beside the steps that takes no notice of a server's end.
    fn may_have_lost_servers(&self) -> bool {
        self.plan.profiling.is_some() && self.check_interrupt().is_ok()
    }

    /// Leaves out a system that could not be started, where the others are of use without it.
    ///
    /// # Errors
    /// The error itself, with why the run does not go on without the system.
    pub(crate) fn goes_on_without(
        &mut self,
        idx: usize,
        error: anyhow::Error,
    ) -> Result<(Label, anyhow::Error)> {
        if self.is_of_run(&error) {
            return Err(error);
        }
        if self.is_of_use_without(idx) {
            return self.out(idx, error);
        }
        Err(match self.plan.systems.as_slice() {
            [_] => error,
            systems if idx == self.plan.base => {
                let label = &systems[idx].label;
                error.context(format!("the run ends without {label}, which is its base"))
            }
            systems => {
                let (label, base) = (&systems[idx].label, &systems[self.plan.base].label);
                error.context(format!("without {label} nothing is left to be compared with {base}"))
            }
        })
    }

    /// Whether the others can go on without a system: with the base, and with one to compare with it.
    pub(crate) fn is_of_use_without(&self, idx: usize) -> bool {
        idx != self.plan.base && self.plan.systems.len() - self.n_out > 2
    }

    /// Notes that a system is not measured further.
    pub(crate) fn out(
        &mut self,
        idx: usize,
        error: anyhow::Error,
    ) -> Result<(Label, anyhow::Error)> {
        self.n_out += 1;
        let words = format!("{error:#}").trim_end().to_owned();
        self.incident(Some(idx), format!("left out: {words}")).context(words)?;
        Ok((self.plan.systems[idx].label.clone(), error))
    }
}

/// Whether a server did not come up because somebody killed it, or what made its data directory.
fn was_killed(error: &anyhow::Error) -> bool {
    error.downcast_ref::<rqps_server::Error>().is_some_and(rqps_server::Error::was_killed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_killed_while_it_came_up_is_started_again() {
        let init = |was_killed| rqps_server::Error::InitFailed {
            server: "MySQL 8.0.33".to_owned(),
            path: "/data".into(),
            detail: "it was killed by signal 9 (SIGKILL)".to_owned(),
            was_killed,
            log: String::new(),
        };
        let start = |was_killed| rqps_server::Error::StartFailed {
            server: "MySQL 8.0.33".to_owned(),
            detail: "it was killed by signal 9 (SIGKILL)".to_owned(),
            was_killed,
            lacked_memory: false,
            log: String::new(),
        };
        for is_so in [false, true] {
            for error in [init(is_so), start(is_so)] {
                let told = anyhow::Error::new(error).context("start a");
                assert_eq!(was_killed(&told), is_so, "{told:#}");
            }
        }
        assert!(!was_killed(&anyhow!("no port")));
    }
}
