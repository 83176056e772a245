//! The interleaved schedule: all systems are up, each with its own data, and take turns within
//! every step. Loads and warm-ups, which nothing is compared by, come one system after the other.

use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context as _, Result, anyhow};
use rqps_model::{Label, Schedule, Slice, StepKind, StepOutcome};

use crate::guard::Guards;
use crate::installation::Installation;
use crate::measure::{Manned, crew, mix, of_file};
use crate::precision::Figures;
use crate::rounds::{Broken, Cut, Next, Rounds, Turn};
use crate::run::Lab;
use crate::system::Up;
use crate::waiting::Waiting;

/// A system that is up, and its place in the run.
type Member = (usize, Up);

impl Lab<'_> {
    /// All systems from their start to their stop.
    pub(crate) fn interleaved(&mut self, ready: &[&(usize, Installation)]) -> Result<()> {
        let mut members = Vec::new();
        let result = self.with_all_up(ready, &mut members);
        match result {
            Ok(()) => self.finish_all(members),
            Err(error) => Err(self.abandon_all(members, error)),
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

    /// Ends all servers after a failure, and says what the one that caused it tells of it.
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
            self.tell_stop(idx);
            let log = self.log_path(idx);
            if let Ok(log) = log
                && let Some(cause) = up.abandon(&log)
            {
                let label = &self.plan.systems[idx].label;
                error = anyhow!(cause).context(format!("measure {label}: {error:#}"));
            }
        }
        error
    }

    fn with_all_up(
        &mut self,
        ready: &[&(usize, Installation)],
        members: &mut Vec<Member>,
    ) -> Result<()> {
        let plan = self.plan;
        for (idx, installation) in ready {
            let label = &plan.systems[*idx].label;
            let up = self.start(*idx, installation);
            members.push((*idx, up.with_context(|| format!("start {label}"))?));
        }
        let mut systems = self.run.systems.clone();
        for (idx, up) in &mut *members {
            let label = &plan.systems[*idx].label;
            systems[*idx] = up.facts().with_context(|| format!("ask {label} what it is"))?;
        }
        // Before anything is stored of them: what is refused leaves no run.
        self.judge(&systems)?;
        for (idx, up) in &mut *members {
            let label = &plan.systems[*idx].label;
            self.record_facts(*idx, systems[*idx].clone())?;
            self.catch_up(*idx, up).with_context(|| format!("bring {label} back"))?;
        }
        for step_idx in self.steps_of_start() {
            self.check_interrupt()?;
            let kind = self.steps[step_idx].info.kind;
            let alone = matches!(kind, StepKind::Load | StepKind::WarmUp);
            if !alone {
                self.in_turns(step_idx, members)?;
                continue;
            }
            for (idx, up) in &mut *members {
                if self.is_pending(step_idx, *idx) {
                    let label = &plan.systems[*idx].label;
                    let done = self.one_step(*idx, step_idx, up);
                    done.with_context(|| format!("measure {label}"))?;
                }
            }
        }
        Ok(())
    }

    /// A step on all systems that have not done it. One that fails by its own fault is out of the
    /// step, and the others go on with the blocks that they lack.
    fn in_turns(&mut self, step_idx: usize, members: &mut [Member]) -> Result<()> {
        let mut left: Vec<usize> =
            (0..members.len()).filter(|&m| self.is_pending(step_idx, members[m].0)).collect();
        while !left.is_empty() {
            let idxs: Vec<usize> = left.iter().map(|&m| members[m].0).collect();
            self.announce(&self.name_of(&idxs), &idxs, step_idx);
            let result = if self.insert_job(step_idx).is_some() {
                let mut several: Vec<(usize, &mut Up)> = Vec::new();
                for (m, (idx, up)) in members.iter_mut().enumerate() {
                    if left.contains(&m) {
                        several.push((*idx, up));
                    }
                }
                self.insert_step(step_idx, &mut several, true)
            } else {
                // All servers run now: those that wait are stopped later.
                for &m in &left {
                    let (idx, up) = &members[m];
                    self.keep_plans(*idx, step_idx, up)?;
                }
                self.rounds(step_idx, members, &left)
            };
            let (failed, error) = match result {
                Ok(()) => break,
                Err(Broken::Run(error)) => {
                    let step = &self.steps[step_idx].info.name;
                    return Err(error.context(format!("step {step}")));
                }
                Err(Broken::System(idx, error)) => (idx, error),
            };
            left.retain(|&m| members[m].0 != failed);
            if let Some((idx, up)) = members.iter_mut().find(|m| m.0 == failed) {
                let outcome = self.outcome(step_idx, up, Err(error))?;
                self.end_step(*idx, step_idx, up, outcome)?;
            }
        }
        for m in left {
            let (idx, up) = &mut members[m];
            self.end_step(*idx, step_idx, up, StepOutcome::Done)?;
        }
        Ok(())
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
        left: &[usize],
    ) -> Result<(), Broken> {
        let schedule = self.plan.schedule;
        let Schedule::Interleaved { slice_ms, .. } = schedule else {
            return Err(Broken::Run(anyhow!("the schedule is not interleaved")));
        };
        let seed = mix(self.run.seed, step_idx as u64 + 1);
        let marks: Vec<_> =
            left.iter().map(|&m| (members[m].0, self.marks_of(members[m].0, step_idx))).collect();
        let Self { steps, store, run, listen, cpus, context, .. } = self;
        let planned = &steps[step_idx];
        let mut turns = Vec::new();
        for &m in left {
            let (idx, up) = &members[m];
            let bench = up.bench(cpus, &context.interrupt);
            let manned = crew(&bench, planned, seed);
            let Manned { crew, handicap } = manned.map_err(|error| Broken::System(*idx, error))?;
            let handicap = handicap.map(Rc::new);
            turns.push(Turn { system_idx: *idx, crew, handicap, samples: up.samples() });
        }
        let freezers = left.iter().map(|&m| members[m].1.freezer()).collect();
        let is_slowed = left.iter().any(|&m| members[m].1.is_slowed());
        let mut waiting = Waiting::new(freezers, is_slowed, context).map_err(Broken::Run)?;
        let (step, args, _) = of_file(planned).map_err(Broken::Run)?;
        let total = schedule.at_most(step.slice_time(args));
        let slice = Duration::from_millis(slice_ms.into());
        let cut = Cut::of(total, slice, schedule.half_width().is_some());
        // An interrupted step goes on after the blocks that there are.
        let n_there = |&m: &usize| run.steps[step_idx].systems[members[m].0].slices.len();
        let from = left.iter().map(n_there).max().unwrap_or(0);
        let from = u32::try_from(from).unwrap_or(u32::MAX);
        let interrupt = &context.interrupt;
        let mut rounds = Rounds { turns, waiting: &mut waiting, planned, cut, seed, interrupt };
        let mut kept: Vec<(usize, Slice)> = Vec::new();
        let id = run.id.clone();
        let (half_width, base) = (schedule.half_width(), self.plan.base);
        let before: Vec<(usize, Vec<Slice>)> = left
            .iter()
            .map(|&m| members[m].0)
            .map(|idx| (idx, run.steps[step_idx].systems[idx].slices.clone()))
            .collect();
        let mut figures = Figures::of(base, &before);
        let mut guards = Guards::new();
        let mut keep = |mut block: Vec<(usize, Slice)>| -> Result<Next> {
            guards.look(&mut block);
            for ((_, slice), (_, marks)) in block.iter_mut().zip(&marks) {
                slice.marks.extend(marks.iter().cloned());
            }
            let refs: Vec<(usize, &Slice)> = block.iter().map(|(idx, s)| (*idx, s)).collect();
            store.insert_block(&id, step_idx, &refs)?;
            figures.add(&block);
            kept.extend(block);
            let is_enough = half_width.is_some_and(|half_width| figures.are_precise(half_width));
            Ok(if is_enough { Next::Enough } else { Next::Block })
        };
        let result = rounds.run(from, *listen, &mut keep);
        for (idx, slice) in kept {
            run.steps[step_idx].systems[idx].slices.push(slice);
        }
        if waiting.gave_up() {
            let step = &planned.info.name;
            listen(crate::Event::Note(&format!(
                "{step}: turns took so long that the servers that waited were not stopped"
            )));
        }
        result
    }
}
