//! The interleaved schedule: all systems are up, each with its own data, and take turns within
//! every step. Loads and warm-ups, which nothing is compared by, come one system after the other.

mod attempt;

use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use rqps_model::{Label, RunSystem, Slice, StepKind, StepOutcome};

use self::attempt::{Attempt, brakes_of_others, has_ended_partner, together};
use crate::failure::Broken;
use crate::guard::Guards;
use crate::insert;
use crate::installation::Installation;
use crate::measure::crew;
use crate::precision::Figures;
use crate::rounds::{Cut, Next, Rounds, There, Turn};
use crate::run::Lab;
use crate::seed;
use crate::system::Up;
use crate::waiting::{RAN_ON, Waiting};

/// A system that is up, and its place in the run.
pub(crate) type Member = (usize, Up);

/// The systems that are measured together.
pub(crate) struct Together<'r> {
    /// All that can be started, with their places in the run.
    pub(crate) ready: &'r [&'r (usize, Installation)],
    /// Those that are up.
    pub(crate) members: Vec<Member>,
    /// Those that had to be left out, and why.
    pub(crate) missing: Vec<(Label, anyhow::Error)>,
}

/// The systems, to be looked at only.
fn seen(members: &[Member]) -> Vec<(usize, &Up)> {
    members.iter().map(|(idx, up)| (*idx, up)).collect()
}

impl Together<'_> {
    /// A system that is up.
    pub(crate) fn up(&mut self, idx: usize) -> Option<&mut Up> {
        self.members.iter_mut().find(|member| member.0 == idx).map(|member| &mut member.1)
    }
}

impl Lab<'_> {
    /// All systems from their start to their stop; gives those that had to be left out, and why.
    pub(crate) fn interleaved(
        &mut self,
        ready: &[&(usize, Installation)],
    ) -> Result<Vec<(Label, anyhow::Error)>> {
        let mut all = Together { ready, members: Vec::new(), missing: Vec::new() };
        let result = self.with_all_up(&mut all);
        match result {
            Ok(()) => self.finish_all(all.members).map(|()| all.missing),
            Err(error) => Err(self.abandon_all(all.members, error)),
        }
    }

    fn finish_all(&mut self, members: Vec<Member>) -> Result<()> {
        let mut result = Ok(());
        for (idx, up) in members {
            // Whatever the first one's trouble, the others are stopped as well.
            let stopped = self.finish(idx, up);
            result = result.and(stopped);
        }
        result
    }

    /// Ends all servers after a failure, and says what the one that caused it tells of it. The data of the
    /// others stay for the same command: only those of a server that has failed are of no use.
    fn abandon_all(&mut self, mut members: Vec<Member>, error: anyhow::Error) -> anyhow::Error {
        // What failed may have failed because a server died, which shows a moment later.
        // Whoever interrupts is not made to wait for the answer of a server that hangs.
        if self.check_interrupt().is_ok() {
            for (_, up) in &mut members {
                let _ = up.answers();
            }
        }
        let mut error = error;
        for (idx, up) in members {
            if let Some(cause) = self.give_up(idx, up, true) {
                let label = &self.plan.systems[idx].label;
                error = anyhow!(cause).context(format!("measure {label}: {error:#}"));
            }
        }
        error
    }

    /// What all that are up say they are. One whose server has died since it was started is started anew.
    fn ask_all(&mut self, all: &mut Together<'_>) -> Result<Vec<RunSystem>> {
        let mut systems = self.run.systems.clone();
        for (idx, _) in all.ready {
            while let Some(up) = all.up(*idx) {
                match up.facts() {
                    Ok(facts) => {
                        systems[*idx] = facts;
                        break;
                    }
                    Err(error) => {
                        let label = &self.plan.systems[*idx].label;
                        let error = error.context(format!("ask {label} what it is"));
                        self.replace(all, (*idx, error))?;
                    }
                }
            }
        }
        Ok(systems)
    }

    fn with_all_up(&mut self, all: &mut Together<'_>) -> Result<()> {
        let (plan, ready) = (self.plan, all.ready);
        for (idx, installation) in ready {
            let label = &plan.systems[*idx].label;
            let up = self.start(*idx, installation);
            match up.with_context(|| format!("start {label}")) {
                Ok(up) => all.members.push((*idx, up)),
                Err(error) => all.missing.push(self.goes_on_without(*idx, error)?),
            }
        }
        self.make_alike(all)?;
        let systems = self.ask_all(all)?;
        // Before anything is stored of them: what is refused leaves no run.
        self.judge(&systems)?;
        for (idx, _) in ready {
            let Some(up) = all.up(*idx) else { continue };
            let label = &plan.systems[*idx].label;
            self.take_down(*idx, systems[*idx].clone())?;
            if let Err(error) = self.catch_up(*idx, up) {
                self.mend(all, (*idx, error.context(format!("bring {label} back"))))?;
            }
        }
        // Some data turn out to be of no use only when they are used.
        for idx in self.make_alike(all)? {
            let Some(up) = all.up(idx) else { continue };
            if let Err(error) = self.catch_up(idx, up) {
                let label = &plan.systems[idx].label;
                self.mend(all, (idx, error.context(format!("bring {label} back"))))?;
            }
        }
        for step_idx in self.steps_of_start() {
            self.check_interrupt()?;
            self.judge_sizes(step_idx)?;
            let is_new = all.members.iter().any(|(idx, _)| self.is_pending(step_idx, *idx));
            if is_new && self.steps[step_idx].fills() {
                let rest = self.profile_rest(step_idx, &seen(&all.members));
                self.or_mend(all, rest)?;
            }
            let kind = self.steps[step_idx].info.kind;
            if matches!(kind, StepKind::Load | StepKind::WarmUp) {
                self.one_by_one(step_idx, all)?;
                continue;
            }
            // The first attempt, and one more for each server that failed.
            let mut n = 0;
            while let Err(broken) = self.in_turns(step_idx, &mut all.members, n) {
                n += 1;
                match broken {
                    // Samples of a server that has died are missed first, by nobody's fault but its own.
                    Broken::Run(error) => self.or_mend(all, Err(error))?,
                    Broken::System(idx, error) => self.mend(all, (idx, error))?,
                }
            }
            if is_new {
                let read = self.profile_if_read(step_idx, &seen(&all.members));
                self.or_mend(all, read)?;
            }
        }
        let rest = self.profile_rest(self.steps.len(), &seen(&all.members));
        self.or_mend(all, rest)
    }

    /// Where the data of one system could not be used again, the others begin on new tables as well: ratios
    /// of tables that have aged and tables that have not would be of the tables. Gives those others.
    fn make_alike(&mut self, all: &mut Together<'_>) -> Result<Vec<usize>> {
        let is_left = |lab: &Self, idx: usize| lab.states[idx].caution.left;
        let is_refused = |(idx, _): &Member| self.goes_on(*idx).is_some() && !is_left(self, *idx);
        if !all.members.iter().any(is_refused) {
            return Ok(Vec::new());
        }
        let mut anew = Vec::new();
        for (idx, installation) in all.ready {
            let idx = *idx;
            let at = all.members.iter().position(|member| member.0 == idx && is_left(self, idx));
            let Some(at) = at else { continue };
            let what = "begins on new tables, as those of another system could not be used again";
            self.incident(Some(idx), what.to_owned())?;
            let (_, up) = all.members.remove(at);
            let _ = self.give_up(idx, up, false);
            match self.start_anew(idx, installation) {
                Ok(up) => {
                    all.members.insert(at, (idx, up));
                    anew.push(idx);
                }
                Err(error) => all.missing.push(self.goes_on_without(idx, error)?),
            }
        }
        Ok(anew)
    }

    /// A step that nothing is compared by: one system after the other.
    fn one_by_one(&mut self, step_idx: usize, all: &mut Together<'_>) -> Result<()> {
        for (idx, _) in all.ready {
            while self.is_pending(step_idx, *idx)
                && let Some(up) = all.up(*idx)
            {
                let label = &self.plan.systems[*idx].label;
                if let Err(error) = self.one_step(*idx, step_idx, up) {
                    self.mend(all, (*idx, error.context(format!("measure {label}"))))?;
                }
            }
        }
        Ok(())
    }

    /// A step on all systems that have not done it. `n` attempts were made before.
    fn in_turns(&mut self, step_idx: usize, members: &mut [Member], n: u32) -> Result<(), Broken> {
        let pending = members.iter().enumerate().filter(|(_, m)| self.is_pending(step_idx, m.0));
        let n_slices = |idx: usize| self.run.steps[step_idx].systems[idx].slices.len();
        for left in together(pending.map(|(m, (idx, _))| (m, n_slices(*idx)))) {
            self.those_in_turns(step_idx, members, (left, n))?;
        }
        Ok(())
    }

    /// A step on some members. One that fails by its own fault is out of the step, and the others go on with
    /// the blocks that they lack.
    fn those_in_turns(
        &mut self,
        step_idx: usize,
        members: &mut [Member],
        (left, n): (Vec<usize>, u32),
    ) -> Result<(), Broken> {
        let of_run = left.iter().map(|&m| self.attempt(members[m].0, step_idx)).max().unwrap_or(0);
        let mut attempt = Attempt { left, n: n << Attempt::BITS, of_run, ..Attempt::default() };
        while !attempt.left.is_empty() && !self.is_measured(step_idx, members, &attempt) {
            let left = &attempt.left;
            let idxs: Vec<usize> = left.iter().map(|&m| members[m].0).collect();
            self.announce(&self.name_of(&idxs), &idxs, step_idx);
            let result = if self.insert_job(step_idx).is_some() {
                let others = brakes_of_others(members, left).collect();
                let mut several: Vec<(usize, &mut Up)> = Vec::new();
                for (m, (idx, up)) in members.iter_mut().enumerate() {
                    if left.contains(&m) {
                        several.push((*idx, up));
                    }
                }
                self.insert_step(step_idx, &mut several, (true, others))
            } else {
                // All servers run now: those that wait are stopped later.
                for &m in left {
                    let (idx, up) = &members[m];
                    let kept = self.keep_plans(*idx, step_idx, up);
                    kept.map_err(|error| self.broken(*idx, error))?;
                }
                self.rounds(step_idx, members, &mut attempt)
            };
            let (failed, error) = match result {
                Ok(()) => break,
                Err(Broken::Run(error)) => {
                    let step = &self.steps[step_idx].info.name;
                    return Err(Broken::Run(error.context(format!("step {step}"))));
                }
                Err(Broken::System(idx, error)) => (idx, error),
            };
            attempt.left.retain(|&m| members[m].0 != failed);
            attempt.n += 1;
            if let Some((idx, up)) = members.iter_mut().find(|m| m.0 == failed) {
                let ended = self
                    .outcome(step_idx, up, Err(error))
                    .and_then(|outcome| self.end_step(*idx, step_idx, up, outcome));
                ended.map_err(|error| self.broken(*idx, error))?;
            }
        }
        for m in attempt.left {
            let (idx, up) = &mut members[m];
            let ended = self.end_step(*idx, step_idx, up, StepOutcome::Done);
            ended.map_err(|error| self.broken(*idx, error))?;
        }
        Ok(())
    }

    /// Whether those that are left of a step have nothing more to measure because a partner has ended it:
    /// systems end a step one by one, as each settles, and an interruption may come in between.
    fn is_measured(&mut self, step_idx: usize, members: &[Member], attempt: &Attempt) -> bool {
        let planned = &self.steps[step_idx];
        if planned.fills() || planned.info.kind == StepKind::Index {
            // The steps after it need its tables.
            return false;
        }
        let systems = &self.run.steps[step_idx].systems;
        let idxs = || attempt.left.iter().map(|&m| members[m].0);
        let is_measured = idxs().all(|idx| has_ended_partner(systems, idx));
        // After a failure of another system the tables of those that are left are still the step's.
        if is_measured && attempt.n == 0 {
            idxs().for_each(|idx| self.was_measured(idx, step_idx, insert::interrupted));
        }
        is_measured
    }

    /// What a step of several systems is announced as.
    fn name_of(&self, idxs: &[usize]) -> Label {
        match idxs {
            [idx] => self.plan.systems[*idx].label.clone(),
            several => Label(format!("{} systems", several.len())),
        }
    }

    fn rounds(
        &mut self,
        step_idx: usize,
        members: &[Member],
        attempt: &mut Attempt,
    ) -> Result<(), Broken> {
        let schedule = self.plan.schedule;
        let cut = self.cut(step_idx).map_err(Broken::Run)?;
        let seed = seed::of_step(self.run.seed, step_idx);
        let idxs: Vec<usize> = attempt.left.iter().map(|&m| members[m].0).collect();
        // An interrupted step goes on after the blocks that there are.
        let there = self.there(step_idx, &idxs);
        let state = &self.run.steps[step_idx].systems;
        let mut figures = Figures::of_step(self.plan.base, state, &idxs);
        let enough = |figures: &Figures| {
            schedule.half_width().is_some_and(|half_width| figures.are_enough(half_width))
        };
        if there.n_blocks > 0 && (enough(&figures) || cut.is_over(there.n_blocks, there.spent)) {
            if attempt.n == 0 {
                idxs.iter().for_each(|&idx| self.was_measured(idx, step_idx, insert::interrupted));
            }
            return Ok(());
        }
        let marks: Vec<_> = idxs.iter().map(|&idx| self.marks_of(idx, step_idx)).collect();
        let Self { steps, store, run, listen, cpus, context, .. } = self;
        let planned = &steps[step_idx];
        let mut turns = Vec::new();
        for &m in &attempt.left {
            let (idx, up) = &members[m];
            let bench = up.bench(cpus, &context.interrupt);
            let manned = crew(&bench, planned, seed).map_err(|e| Broken::System(*idx, e))?;
            let mut turn = Turn::of(*idx, manned, (up.samples(), up.counted()));
            turn.event = attempt.events.get(idx).copied();
            turns.push(turn);
        }
        let up = || attempt.left.iter().map(|&m| &members[m].1);
        let freezers = up().map(Up::freezer).chain(brakes_of_others(members, &attempt.left));
        let (freezers, is_slowed) = (freezers.collect(), up().any(Up::is_slowed));
        let mut waiting = Waiting::new(freezers, is_slowed, context).map_err(Broken::Run)?;
        let (seed, interrupt) = (attempt.seed(seed), &context.interrupt);
        let mut rounds = Rounds { turns, waiting: &mut waiting, planned, cut, seed, interrupt };
        let mut kept: Vec<(usize, Slice)> = Vec::new();
        let id = run.id.clone();
        let mut guards = Guards::new();
        let mut keep = |mut block: Vec<(usize, Slice)>| -> Result<Next> {
            guards.look(&mut block);
            for ((_, slice), marks) in block.iter_mut().zip(&marks) {
                slice.marks.extend(marks.iter().cloned());
            }
            let refs: Vec<(usize, &Slice)> = block.iter().map(|(idx, s)| (*idx, s)).collect();
            store.insert_block(&id, step_idx, &refs)?;
            figures.add(&block);
            kept.extend(block);
            Ok(if enough(&figures) { Next::Enough } else { Next::Block })
        };
        let result = rounds.run(there, *listen, &mut keep);
        attempt.events.extend(rounds.events());
        for (idx, slice) in kept {
            run.steps[step_idx].systems[idx].slices.push(slice);
        }
        if waiting.gave_up() {
            listen(crate::Event::Note(&format!("{}: {RAN_ON}", planned.info.name)));
        }
        result
    }

    fn cut(&self, step_idx: usize) -> Result<Cut> {
        let planned = &self.steps[step_idx];
        let cut = Cut::of_step(planned, self.plan.schedule);
        cut.with_context(|| format!("{} is not measured in turns", planned.info.name))
    }

    /// What there is of a step on the systems `idxs`.
    fn there(&self, step_idx: usize, idxs: &[usize]) -> There {
        let slices = |idx: &usize| &self.run.steps[step_idx].systems[*idx].slices;
        let n_blocks = idxs.iter().map(|idx| slices(idx).len()).max().unwrap_or(0);
        let ns = |idx: &usize| slices(idx).iter().map(|slice| slice.duration_ns).sum::<u64>();
        There {
            n_blocks: u32::try_from(n_blocks).unwrap_or(u32::MAX),
            spent: Duration::from_nanos(idxs.iter().map(ns).max().unwrap_or(0)),
        }
    }
}

#[cfg(test)]
mod tests;
